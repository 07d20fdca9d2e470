//! Plans the events of a schedule on the switches and cables of a network.

use crate::contest::file::contest::Contest;
use crate::contest::file::schedule::{ChangeName, ScheduleSetting};
use sluice_asic::names::nearest;
use sluice_asic::tm::ShaperConfig;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use sluice_control::{ControlOp, DeviceOp};
use sluice_fabric::network::{LinkChange, NetworkSetup, SwitchId, Way};
use sluice_fabric::topology::{Blueprint, Happening};

/// Bytes that a slowed cable sends at its full rate after a silence: one frame, because the last frame may exceed them.
const BURST: Bytes = Bytes(1);

/// Events of a schedule, for one program.
#[derive(Debug, Default)]
pub(super) struct PlannedEvents {
    /// Events that blueprints have.
    pub(super) happenings: Vec<(Time, Happening)>,
    /// Changed rates of cables: time, index of the cable, direction, and the rate or `None` for the full one.
    rates: Vec<(Time, u32, Option<Way>, Option<BitRate>)>,
}

impl ScheduleSetting {
    /// Adds the event to `into`.
    fn plan(&self, plan: &Blueprint, into: &mut PlannedEvents) -> Result<(), String> {
        let time = Time::ORIGIN + self.time()?;
        match (&self.cable, &self.switch, &self.op, &self.file) {
            (Some(ends), None, None, None) => self.plan_cable(plan, time, ends, into),
            (None, Some(switch), Some(line), None) => {
                let switch = switch_named(plan, switch)?;
                into.happenings.push((time, Happening::Control { switch, line: line.clone() }));
                Ok(())
            }
            (None, Some(switch), None, Some(_)) => {
                let switch = switch_named(plan, switch)?;
                let line = |(after, line): &(Duration, String)| {
                    (time + *after, Happening::Control { switch, line: line.clone() })
                };
                into.happenings.extend(self.lines.iter().map(line));
                Ok(())
            }
            _ => Err("an event needs either `cable` and `set`, or `switch` and `op` or `file`".into()),
        }
    }

    fn plan_cable(
        &self,
        plan: &Blueprint,
        time: Time,
        ends: &[String; 2],
        into: &mut PlannedEvents,
    ) -> Result<(), String> {
        let [a, b] = [switch_named(plan, &ends[0])?, switch_named(plan, &ends[1])?];
        let joins = |of: &[u32; 2]| *of == [a, b] || *of == [b, a];
        let all: Vec<u32> = (0..).zip(&plan.cables).filter(|(_, c)| joins(&c.ends)).map(|(n, _)| n).collect();
        let number = self.number.unwrap_or(0);
        let cable = *all.get(number as usize).ok_or_else(|| {
            format!(
                "there is no cable {number} between `{}` and `{}`; there are {}",
                ends[0],
                ends[1],
                all.len()
            )
        })?;
        let first = plan.cables[cable as usize].ends[0];
        let way = match &self.from {
            None => None,
            Some(from) if ends.contains(from) => {
                Some(if switch_named(plan, from)? == first { Way::Forth } else { Way::Back })
            }
            Some(from) => {
                return Err(format!(
                    "`from` is `{from}`; expected an end of the cable, `{}` or `{}`",
                    ends[0], ends[1]
                ));
            }
        };
        let set = self.set.ok_or("the event of a cable has no `set`")?;
        let text = || -> Result<String, String> {
            let to = self.to.as_ref().ok_or("this `set` needs `to`")?;
            Ok(to.as_str().map_or_else(|| to.to_string(), str::to_owned))
        };
        let change = match set {
            ChangeName::Down => LinkChange::Down,
            ChangeName::Up => LinkChange::Up,
            ChangeName::Loss => LinkChange::Loss(text()?.parse().map_err(|e| format!("{e}"))?),
            ChangeName::Corruption => LinkChange::Corruption(text()?.parse().map_err(|e| format!("{e}"))?),
            ChangeName::ExtraDelay => LinkChange::ExtraDelay(text()?.parse().map_err(|e| format!("{e}"))?),
            ChangeName::Rate => {
                let rate = match text()?.as_str() {
                    "full" => None,
                    text => Some(text.parse::<BitRate>().map_err(|e| format!("{e}, or `full`"))?),
                };
                if rate.is_some_and(|rate| rate.as_bps() == 0) {
                    return Err("`to` is 0; a cable that sends nothing is `set = \"down\"`".into());
                }
                into.rates.push((time, cable, way, rate));
                return Ok(());
            }
        };
        into.happenings.push((time, Happening::Cable { cable, way, change }));
        Ok(())
    }
}

fn switch_named(plan: &Blueprint, name: &str) -> Result<u32, String> {
    plan.switch_named(name).map_err(|e| {
        let near = nearest(name, plan.switches.iter().map(|switch| switch.name.as_str()));
        near.map_or_else(|| e.to_string(), |near| format!("{e}; did you mean `{near}`?"))
    })
}

impl PlannedEvents {
    /// Returns the schedule of a contest for the program with this label.
    ///
    /// # Errors
    /// If an event names a switch, cable or program that is not there, lacks a key, or is after the end of the run.
    pub(super) fn of(contest: &Contest, plan: &Blueprint, label: &str) -> Result<PlannedEvents, String> {
        let mut planned = PlannedEvents::default();
        let end = contest.end();
        for event in &contest.schedule {
            let line = contest.line(event.span().start);
            let event = event.get_ref();
            let at = |e: String| format!("line {line}: {e}");
            if let Some(program) = &event.program {
                let labels: Vec<String> = contest.program.iter().map(|p| p.get_ref().label()).collect();
                if !labels.contains(program) {
                    let known = labels.join(", ");
                    return Err(at(format!("no program is called `{program}`; there are {known}")));
                }
                if program != label {
                    continue;
                }
            }
            event.plan(plan, &mut planned).map_err(at)?;
            if event.time().is_ok_and(|time| time > end) {
                return Err(at(format!("the event is later than the end of every run, {end}")));
            }
        }
        planned.happenings.sort_by_key(|(time, _)| *time);
        Ok(planned)
    }

    /// Returns the operations that change the rates of cables.
    pub(super) fn rate_changes(&self, network: &NetworkSetup) -> Vec<(SwitchId, Time, ControlOp)> {
        let mut changes = Vec::new();
        for (time, cable, way, rate) in &self.rates {
            let Some(link) = network.links.get(*cable as usize) else { continue };
            for of in Way::ALL.into_iter().filter(|of| way.is_none_or(|way| way == *of)) {
                let end = link.ends[of as usize];
                let sender = network.switches.get(end.switch.0 as usize);
                let Some(port) = sender.and_then(|sender| sender.front(end.port.0)) else { continue };
                let most = rate.map(|rate| ShaperConfig { rate, burst: BURST });
                let op = DeviceOp::ShapePort { port: port.number(), most };
                changes.push((end.switch, *time, ControlOp::Device(op)));
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_fabric::topology::built;

    fn planned(schedule: &str) -> Result<PlannedEvents, String> {
        let text = format!(
            "name = \"n\"\ntopology = \"t\"\n[workload]\nsizes = \"solar\"\nload = 1\ntime = \"1ms\"\n[hosts]\ncable = \"1us\"\n\
             recovery = \"selective\"\n[[program]]\nname = \"ecmp\"\n{schedule}"
        );
        let contest = Contest::parse("f", &text).map_err(|e| e.to_string())?;
        let plan = built("leaf-spine:leaves=2,spines=2,hosts=1").unwrap();
        PlannedEvents::of(&contest, &plan, "ecmp")
    }

    #[test]
    fn cables_change_in_their_directions() {
        let all = planned(
            "[[schedule]]\nat = \"2us\"\ncable = [\"spine1\", \"leaf0\"]\nset = \"down\"\n\
             [[schedule]]\nat = \"1us\"\ncable = [\"leaf0\", \"spine1\"]\nfrom = \"leaf0\"\nset = \"loss\"\nto = 0.5\n\
             [[schedule]]\nat = \"3us\"\ncable = [\"leaf1\", \"spine0\"]\nset = \"rate\"\nto = \"25G\"\n",
        )
        .unwrap();
        let plan = built("leaf-spine:leaves=2,spines=2,hosts=1").unwrap();
        let cable =
            |time, cable: u32, way, change| (Time::from_nanos(time), Happening::Cable { cable, way, change });
        let find = |a: &str, b: &str| {
            let ends = [plan.switch_named(a).unwrap(), plan.switch_named(b).unwrap()];
            plan.cables.iter().position(|c| c.ends == ends || c.ends == [ends[1], ends[0]]).unwrap() as u32
        };
        let first = find("leaf0", "spine1");
        let leads = plan.cables[first as usize].ends[0] == plan.switch_named("leaf0").unwrap();
        let way = if leads { Way::Forth } else { Way::Back };
        let half = LinkChange::Loss("0.5".parse().unwrap());
        assert_eq!(
            all.happenings,
            [cable(1_000, first, Some(way), half), cable(2_000, first, None, LinkChange::Down)]
        );
        assert_eq!(
            all.rates,
            [(Time::from_nanos(3_000), find("leaf1", "spine0"), None, Some(BitRate::from_gbps(25)))]
        );
    }

    #[test]
    fn files_have_operations_with_times() {
        let mut event = ScheduleSetting { at: Some(Duration::from_micros(1)), ..ScheduleSetting::default() };
        (event.switch, event.file) = (Some("leaf0".into()), Some("f.txt".into()));
        event.take_lines("f.txt", "# a comment\n\n@2us port_down 8\n").unwrap();
        let mut into = PlannedEvents::default();
        event.plan(&built("leaf-spine:leaves=2,spines=2,hosts=1").unwrap(), &mut into).unwrap();
        let switch = 0;
        assert_eq!(
            into.happenings,
            [(Time::from_nanos(3_000), Happening::Control { switch, line: "port_down 8".into() })]
        );
        assert!(
            event
                .take_lines("f.txt", "port_down 8")
                .unwrap_err()
                .starts_with("f.txt:1: `port_down 8`; expected")
        );
        assert!(event.take_lines("f.txt", "\n@8 port_down 8").unwrap_err().starts_with("f.txt:2: "));
    }

    #[test]
    fn events_that_make_no_sense_are_refused_with_their_line() {
        for (event, said) in [
            (
                "at = \"1us\"\ncable = [\"leaf0\", \"leaf1\"]\nset = \"down\"",
                "no cable 0 between `leaf0` and `leaf1`; there are 0",
            ),
            ("at = \"1us\"\ncable = [\"laef0\", \"spine0\"]\nset = \"down\"", "did you mean `leaf0`?"),
            ("cable = [\"leaf0\", \"spine0\"]\nset = \"down\"", "no `at`"),
            ("at = \"1us\"\ncable = [\"leaf0\", \"spine0\"]\nset = \"rate\"", "needs `to`"),
            ("at = \"1us\"\ncable = [\"leaf0\", \"spine0\"]\nset = \"rate\"\nto = \"0G\"", "`to` is 0"),
            ("at = \"1us\"\ncable = [\"leaf0\", \"spine0\"]\nset = \"loss\"\nto = 2", "is not a probability"),
            (
                "at = \"1us\"\ncable = [\"leaf0\", \"spine0\"]\nset = \"down\"\nfrom = \"leaf1\"",
                "expected an end of the cable",
            ),
            ("at = \"1us\"\nswitch = \"leaf0\"", "an event needs either"),
            (
                "at = \"1us\"\nswitch = \"leaf0\"\nop = \"port_down 8\"\nprogram = \"ecpm\"",
                "no program is called `ecpm`",
            ),
            ("at = \"9s\"\nswitch = \"leaf0\"\nop = \"port_down 8\"", "later than the end of every run"),
        ] {
            let error = planned(&format!("[[schedule]]\n{event}\n")).unwrap_err();
            assert!(error.starts_with("line 12: ") && error.contains(said), "{event}: {error}");
        }
        let error = planned("[[schedule]]\nat = \"1us\"\nset = \"donw\"\n").unwrap_err();
        assert!(error.starts_with("f:14: ") && error.contains("down"), "{error}");
    }
}
