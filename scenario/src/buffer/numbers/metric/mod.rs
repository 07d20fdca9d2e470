//! The numbers that expectations can use, each declared once: name, arguments, unit, meaning, and getter.
//!
//! `port` is a front-panel port. `class` is a priority group, a queue, or a PFC priority; 3 if absent. Packets sent on
//! ports are counted since the last step `collect`, everything else since the start.

mod host;
mod memory;
mod packets;
mod pfc;
mod totals;

use crate::buffer::device::bench::Bench;
use sluice_asic::names::did_you_mean;
use sluice_asic::port::DevPort;
use sluice_switch::PortFlowView;

/// Documentation of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name in expectations; `NAME` and `REASON` are placeholders for a pool and a drop reason.
    pub name: &'static str,
    /// Arguments, in order.
    pub arguments: &'static str,
    /// Unit; empty for a plain number.
    pub unit: &'static str,
    /// Meaning.
    pub meaning: &'static str,
}

/// A number with its getter.
struct Number<F> {
    row: Row,
    get: F,
}

impl<F> Number<F> {
    const fn new(
        name: &'static str,
        arguments: &'static str,
        unit: &'static str,
        meaning: &'static str,
        get: F,
    ) -> Self {
        Self { row: Row { name, arguments, unit, meaning }, get }
    }
}

/// Returns the getter of this name in a list.
fn known<'a, F>(list: &'a [Number<F>], name: &str) -> Result<&'a F, String> {
    let found = list.iter().find(|number| number.row.name == name);
    found.map(|number| &number.get).ok_or_else(|| format!("`{name}` has no value"))
}

/// Returns all numbers, by family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    memory::rows().chain(pfc::rows()).chain(totals::rows()).chain(packets::rows()).chain(host::rows())
}

/// Returns the unit of a number; empty for a plain number.
#[must_use]
pub fn unit(name: &str) -> &'static str {
    let general = generic(name);
    rows().find(|row| row.name == name || row.name == general).map_or("", |row| row.unit)
}

/// Returns the name with the user's part replaced by the placeholder of the rows.
fn generic(name: &str) -> String {
    if let Some(rest) = name.strip_prefix("pool.") {
        let last = rest.rsplit_once('.').map_or(rest, |(_, last)| last);
        return format!("pool.NAME.{last}");
    }
    match name.starts_with("drops.") {
        true => "drops.REASON".to_owned(),
        false => name.to_owned(),
    }
}

impl Bench {
    /// Returns the value of a number, `None` if there is no such number.
    pub(super) fn number(&self, name: &str, args: &[i128]) -> Option<Result<i128, String>> {
        let general = generic(name);
        if !rows().any(|row| row.name == general) {
            return None;
        }
        let family = name.split_once('.').map_or(name, |(family, _)| family);
        Some(match family {
            "pg" => self.of_group(name, args),
            "queue" => self.of_queue(name, args),
            "pool" | "headroom_pool" => self.of_pool(name, args),
            "pfc" => self.of_pfc(name, args),
            "delivered" => self.of_delivered(name, args),
            "departed" => self.of_departed(name, args),
            "drops" if name != "drops" => self.of_reason(name),
            _ => self.of_device(name, args),
        })
    }

    fn port(&self, args: &[i128]) -> Result<DevPort, String> {
        let front = args.first().ok_or("a port is missing: the first argument is a front-panel port")?;
        self.dev(*front)
    }

    /// Returns the index of a port in the buffer's list, which starts with the front-panel ports in order, and the
    /// class.
    fn place(&self, args: &[i128]) -> Result<(u16, u8), String> {
        self.port(args)?;
        let index = args.first().and_then(|n| u16::try_from(*n).ok()).ok_or("a port is missing")?;
        Ok((index, class(args)?))
    }

    fn with_port<T>(&self, args: &[i128], of: impl Fn(&PortFlowView<'_>) -> T) -> Result<T, String> {
        let port = self.port(args)?.number();
        let view = self.view()?;
        let found = view.ports.iter().find(|p| p.dev_port == port).map(of);
        found.ok_or_else(|| format!("dev_port {port} has no flow control"))
    }

    fn of_reason(&self, name: &str) -> Result<i128, String> {
        let reason = name.strip_prefix("drops.").unwrap_or(name);
        let names = || self.switch.totals().reasons();
        let program = self.switch.program();
        let found = names().find(|(r, _)| r.name(program) == reason);
        found.map(|(_, n)| n.into()).ok_or_else(|| {
            let known = names().map(|(r, _)| r.name(program));
            format!("no drop reason `{reason}`{}", did_you_mean(reason, known))
        })
    }
}

fn class(args: &[i128]) -> Result<u8, String> {
    let class = args.get(1).copied().unwrap_or(3);
    let valid = u8::try_from(class).ok().filter(|c| *c < 8);
    valid.ok_or_else(|| format!("there is no class {class}; classes are 0 to 7"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<&str> = rows().map(|row| row.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!((unit("pool.egress_lossy_pool.used"), unit("drops.wred")), ("cells", "packets"));
        assert_eq!((unit("delivered.mbps"), unit("nothing")), ("Mb/s", ""));
    }
}
