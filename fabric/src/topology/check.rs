//! Checks of a blueprint that need no chip: cables with two ends, hosts with links, and paths between all hosts.

use super::TopologyError;
use super::blueprint::Blueprint;

impl Blueprint {
    /// Checks that every cable joins two switches, that every host has a link, and that all hosts reach each other.
    ///
    /// # Errors
    /// The first cable or host that is wrong, with its place in the topology's file.
    pub fn check(&self) -> Result<(), TopologyError> {
        for cable in &self.cables {
            for end in cable.ends {
                if end as usize >= self.switches.len() {
                    return Err(TopologyError::NoSwitch { name: end.to_string() });
                }
            }
            if cable.ends[0] == cable.ends[1] {
                let name = self.switch_name(cable.ends[0]);
                let reason = format!("a cable joins switch `{name}` with itself; give it two different ends");
                return Err(TopologyError::Link { place: self.place(cable.line), reason });
            }
        }
        self.check_hosts()
    }

    fn check_hosts(&self) -> Result<(), TopologyError> {
        let parts = self.parts();
        let mut first: Option<(&str, u32)> = None;
        for host in &self.hosts {
            let Some(at) = host.at.first() else {
                let reason =
                    format!("host `{}` has no link; join it with a switch, or leave it out", host.name);
                return Err(TopologyError::Link { place: String::new(), reason });
            };
            let part = |switch: u32| parts.get(switch as usize);
            let Some(own) = part(at.switch) else {
                return Err(TopologyError::NoSwitch { name: at.switch.to_string() });
            };
            let (other, home) = *first.get_or_insert((&host.name, at.switch));
            if part(home) != Some(own) {
                let reason = format!(
                    "host `{}` at switch `{}` cannot reach host `{other}` at switch `{}`; join the two parts of the network \
                     with a cable",
                    host.name,
                    self.switch_name(at.switch),
                    self.switch_name(home)
                );
                return Err(TopologyError::Link { place: self.place(at.line), reason });
            }
        }
        Ok(())
    }

    /// Returns for each switch the number of its part: switches of one part reach each other, over cables or over the
    /// ports of a host that has several.
    fn parts(&self) -> Vec<u32> {
        let mut part: Vec<u32> = (0..self.switches.len() as u32).collect();
        let root = |part: &[u32], mut at: u32| {
            while part[at as usize] != at {
                at = part[at as usize];
            }
            at
        };
        for cable in &self.cables {
            let [a, b] = cable.ends.map(|end| root(&part, end));
            part[a.max(b) as usize] = a.min(b);
        }
        (0..part.len() as u32).map(|at| root(&part, at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::blueprint::CablePlan;
    use super::*;
    use sluice_asic::units::Duration;

    fn error(text: &str) -> String {
        Blueprint::from_ns3(text, "t.txt").unwrap().check().unwrap_err().to_string()
    }

    #[test]
    fn hosts_that_cannot_meet_are_named_with_their_line() {
        // Switches 2 and 3 without a cable between them.
        assert_eq!(
            error("4 2 2\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0"),
            "t.txt:4: host `h1` at switch `s3` cannot reach host `h0` at switch `s2`; join the two parts of the \
             network with a cable"
        );
        let joined = "4 2 3\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0";
        assert_eq!(Blueprint::from_ns3(joined, "t.txt").unwrap().check(), Ok(()));
    }

    #[test]
    fn a_cable_has_two_different_ends_that_exist() {
        let text = "3 1 3\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n2 2 100Gbps 1us 0";
        assert_eq!(error(text), "t.txt:5: a cable joins switch `s2` with itself; give it two different ends");
        let mut plan = super::super::built("chain").unwrap();
        plan.cables.push(CablePlan::new(0, 9, Duration::from_micros(1)));
        assert_eq!(plan.check().unwrap_err().to_string(), "there is no switch `9`");
    }
}
