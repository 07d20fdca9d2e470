//! The flows of a list.

use super::fault::Fault;
use super::flow_list::{FlowList, FlowRow};
use super::plan::{ALL_PORTS, Builder, FIRST_PORT, Need, When};
use sluice_asic::units::Time;
use sluice_pcaps::generate::Draw;

/// The flows of a list that start before the workload's end.
///
/// UDP source ports that the list does not say, or that `ports` asks for, are drawn: another seed sends the same flows over
/// other paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Name of the file.
    pub file: String,
    /// The list; `None` while the file has not been read.
    pub list: Option<FlowList>,
    /// Number of ports that the flows draw, from the first one on.
    pub ports: Option<u16>,
}

impl Listed {
    /// Reads the list.
    pub(super) fn open(&mut self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<(), Fault> {
        let bytes = read(&self.file).map_err(|why| Fault::new("flows", why))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Fault::new("flows", format!("{} is not a text", self.file)))?;
        self.list = Some(FlowList::parse(&self.file, &text).map_err(|e| Fault::new("flows", e.to_string()))?);
        Ok(())
    }

    pub(super) fn plan(&self, transports: &[String], into: &mut Builder<'_>) -> Result<(), Fault> {
        let Some(list) = &self.list else { return Ok(()) };
        let streams = into.hosts.len() as u32;
        let mut draws: Vec<Draw> = (0..streams).map(|host| into.draw(host)).collect();
        let first = list.flows.iter().map(|flow| flow.start).min().filter(|_| list.from_first);
        let first = first.unwrap_or_default();
        // Place of each flow in the plan, if it is sent.
        let mut places: Vec<Option<u32>> = Vec::with_capacity(list.flows.len());
        for flow in &list.flows {
            let at = |what: String| Fault::new("flows", format!("{}:{}: {what}", list.origin, flow.line));
            let from = into.hosts.one(&flow.from).map_err(|what| at(format!("from: {what}")))?;
            let to = into.hosts.one(&flow.to).map_err(|what| at(format!("to: {what}")))?;
            if from == to {
                return Err(at("to: the flow goes to its own sender".to_owned()));
            }
            let port = match (self.ports, flow.port) {
                (None, Some(port)) => port,
                (ports, _) => {
                    FIRST_PORT + draws[from as usize].below(ports.unwrap_or(ALL_PORTS).into()) as u16
                }
            };
            if let Some(name) = &flow.transport {
                into.transport =
                    transport(name, transports).map_err(|what| at(format!("transport: {what}")))?;
            }
            let needs = needs(flow, from, &places, into).map_err(at)?;
            let start = into.begin + (flow.start - first);
            let (Some(needs), true) = (needs, start < into.end) else {
                places.push(None);
                continue;
            };
            let gate = (!needs.is_empty()).then(|| into.plan.gate(&needs));
            let until = flow.until.map(|until| absolute(until, into.begin));
            let sent = into.send_from(port, from, to, flow.bytes, When { start, gate, until })?;
            places.push(Some(sent));
        }
        Ok(())
    }
}

/// Returns a limit that counts from the workload's begin as a time of the run.
fn absolute(until: Time, begin: Time) -> Time {
    if until == Time::MAX { until } else { begin + until.since_origin() }
}

/// Returns what a flow waits for; `None` if that includes a flow that is not sent.
fn needs(
    flow: &FlowRow,
    from: u32,
    places: &[Option<u32>],
    into: &Builder<'_>,
) -> Result<Option<Vec<Need>>, String> {
    let mut needs = Vec::with_capacity(flow.after.len());
    for (other, delay) in &flow.after {
        let Some(message) = places.get(*other as usize).copied().flatten() else { return Ok(None) };
        let needed = &into.plan.messages[message as usize];
        if needed.from != from && needed.to != from {
            return Err(format!(
                "after: flow number {} neither ends at {} nor starts there; a host knows only of its own flows",
                other + 1,
                into.hosts.describe(from)
            ));
        }
        needs.push(Need { message, delay: *delay });
    }
    Ok(Some(needs))
}

/// Returns the index of a transport.
pub(super) fn transport(name: &str, transports: &[String]) -> Result<u8, String> {
    let found = transports.iter().position(|known| known == name).and_then(|n| u8::try_from(n).ok());
    found.ok_or_else(|| match transports {
        [] => format!("found `{name}`, but the hosts have no named transports"),
        names => format!("found `{name}`, expected {}", names.join(", ")),
    })
}
