//! What a program asks of the device that it starts on: control-plane operations and port speeds.
//!
//! What may not live here: the entries of particular programs.

use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::salu::State as Element;
use sluice_asic::units::{BitRate, Duration};
use sluice_pipeline::control::{ControlOp, GroupMember, Then};
use sluice_pipeline::ir::{Action, ActionCall, KeyValue, Profile, Program, Table};
use std::net::{Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// How a device is configured before the first packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Operations in the order in which they must be applied.
    pub ops: Vec<ControlOp>,
    /// Front-panel ports that run slower than the port map says. The MAC's numbering does not change.
    pub port_speeds: Vec<(FrontPort, BitRate)>,
}

/// Why a setup could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// The program does not have an entity that the entries name.
    #[error("program `{program}` has no {kind} `{name}`; the default entries belong to another program")]
    NoEntity {
        /// The program.
        program: String,
        /// `table`, `action` or `action profile`.
        kind: &'static str,
        /// The name looked for.
        name: String,
    },
    /// The device has no front-panel port.
    #[error("the port map has no front-panel port, so the default entries have nowhere to send packets")]
    NoPorts,
    /// The device has no CPU port.
    #[error("the port map has no CPU port, which the default entries punt packets to")]
    NoCpuPort,
    /// A pipe has no port that its packet generator could use.
    #[error("pipe {pipe} has no recirculation port, by which packets of its generator would come in")]
    NoGeneratorPort {
        /// The pipe.
        pipe: u8,
    },
    /// The packet generator does not get round an array in time.
    #[error(
        "the packet generator cannot visit {elements} elements every {period}: a packet takes {line} of its line at \
         {rate}, {elements} of them {}; at most {most} elements, or a period of at least that", *.line * u64::from(*.elements)
    )]
    GeneratorTooSlow {
        /// Elements of the array.
        elements: u32,
        /// How often each of them must be visited.
        period: Duration,
        /// Time of one packet on the generator's line.
        line: Duration,
        /// Rate of that line.
        rate: BitRate,
        /// Elements that could be visited.
        most: u64,
    },
    /// The program, with these parameters, is not for this place in the network.
    #[error("program `{program}` cannot stand here: {why}")]
    Place {
        /// The program.
        program: String,
        /// What does not go together, and what to change.
        why: String,
    },
}

/// Collects operations on the entities of one program, named as its author named them.
#[derive(Debug)]
pub(crate) struct Ops<'p> {
    program: &'p Program,
    ops: Vec<ControlOp>,
}

impl<'p> Ops<'p> {
    pub(crate) fn new(program: &'p Program) -> Ops<'p> {
        Ops { program, ops: Vec::new() }
    }

    /// The program that the operations are for.
    pub(crate) const fn program(&self) -> &'p Program {
        self.program
    }

    /// The operations in the order in which they were asked for.
    pub(crate) fn into_vec(self) -> Vec<ControlOp> {
        self.ops
    }

    /// The operations asked for so far.
    pub(crate) fn so_far(&self) -> &[ControlOp] {
        &self.ops
    }

    /// Adds an operation on the device.
    pub(crate) fn push(&mut self, op: ControlOp) {
        self.ops.push(op);
    }

    fn missing(&self, kind: &'static str, name: &str) -> SetupError {
        SetupError::NoEntity { program: self.program.name.clone(), kind, name: name.to_owned() }
    }

    fn table(&self, name: &str) -> Result<Table, SetupError> {
        self.program.table_named(name).ok_or_else(|| self.missing("table", name))
    }

    fn profile(&self, name: &str) -> Result<Profile, SetupError> {
        self.program.profile_named(name).ok_or_else(|| self.missing("action profile", name))
    }

    fn call<const N: usize>(&self, name: &str, args: [u128; N]) -> Result<ActionCall, SetupError> {
        let action: Action = self.program.action_named(name).ok_or_else(|| self.missing("action", name))?;
        Ok(ActionCall { action, args: args.to_vec() })
    }

    /// Adds an entry without priority that runs an action.
    pub(crate) fn entry<const K: usize, const N: usize>(
        &mut self,
        table: &str,
        key: [KeyValue; K],
        action: &str,
        args: [u128; N],
    ) -> Result<(), SetupError> {
        let then = Then::Call(self.call(action, args)?);
        self.insert(table, key, 0, then)
    }

    /// Adds an entry of a ternary table; lower priorities win.
    pub(crate) fn ternary<const K: usize>(
        &mut self,
        table: &str,
        priority: u32,
        key: [KeyValue; K],
        action: &str,
    ) -> Result<(), SetupError> {
        let then = Then::Call(self.call(action, [])?);
        self.insert(table, key, priority, then)
    }

    /// As [`Ops::ternary`], with values for the action's parameters.
    pub(crate) fn ternary_with<const K: usize, const N: usize>(
        &mut self,
        table: &str,
        priority: u32,
        key: [KeyValue; K],
        action: &str,
        args: [u128; N],
    ) -> Result<(), SetupError> {
        let then = Then::Call(self.call(action, args)?);
        self.insert(table, key, priority, then)
    }

    /// Adds an entry that names a group of the table's action profile.
    pub(crate) fn group_entry(&mut self, table: &str, key: u128, group: u32) -> Result<(), SetupError> {
        self.insert(table, [KeyValue::Exact(key)], 0, Then::Group(group))
    }

    fn insert<const K: usize>(
        &mut self,
        table: &str,
        key: [KeyValue; K],
        priority: u32,
        then: Then,
    ) -> Result<(), SetupError> {
        let table = self.table(table)?;
        self.ops.push(ControlOp::InsertEntry { table, key: key.to_vec(), priority, then });
        Ok(())
    }

    /// Says what a table does on a miss.
    pub(crate) fn default<const N: usize>(
        &mut self,
        table: &str,
        action: &str,
        args: [u128; N],
    ) -> Result<(), SetupError> {
        let op = ControlOp::SetDefault { table: self.table(table)?, call: self.call(action, args)? };
        self.ops.push(op);
        Ok(())
    }

    /// Writes an element of a register.
    pub(crate) fn register(&mut self, name: &str, index: u32, value: u64) -> Result<(), SetupError> {
        let register = self.program.register_named(name).ok_or_else(|| self.missing("register", name))?;
        let value = Some(Element::single(value));
        self.ops.push(ControlOp::WriteRegister { register, index: Some(index), value });
        Ok(())
    }

    /// Creates a member of an action profile.
    pub(crate) fn member<const N: usize>(
        &mut self,
        profile: &str,
        member: u32,
        action: &str,
        args: [u128; N],
    ) -> Result<(), SetupError> {
        let (profile, call) = (self.profile(profile)?, self.call(action, args)?);
        self.ops.push(ControlOp::SetMember { profile, member, call });
        Ok(())
    }

    /// Creates a group of members with their weights, all of them up.
    pub(crate) fn group(
        &mut self,
        profile: &str,
        group: u32,
        members: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<(), SetupError> {
        let profile = self.profile(profile)?;
        let members = members.into_iter();
        let members = members.map(|(member, weight)| GroupMember { member, weight, active: true }).collect();
        self.ops.push(ControlOp::SetGroup { profile, group, members });
        Ok(())
    }
}

/// An IPv4 prefix as a key of an lpm column; bits beyond `len` (0..=32) are cut off.
pub(crate) fn ipv4_prefix(address: Ipv4Addr, len: u16) -> KeyValue {
    let bits = u128::from(address.to_bits());
    KeyValue::Lpm { value: bits & mask(32, len), len }
}

/// An IPv6 prefix as a key of an lpm column; bits beyond `len` (0..=128) are cut off.
pub(crate) fn ipv6_prefix(address: Ipv6Addr, len: u16) -> KeyValue {
    KeyValue::Lpm { value: address.to_bits() & mask(128, len), len }
}

/// A ternary column that compares the first `len` of `width` bits.
pub(crate) fn ternary_prefix(value: u128, width: u16, len: u16) -> KeyValue {
    let mask = mask(width, len);
    KeyValue::Ternary { value: value & mask, mask }
}

/// A ternary column that compares nothing.
pub(crate) const ANY: KeyValue = KeyValue::Ternary { value: 0, mask: 0 };

/// Ones in the first `len` of `width` (at most 128) bits.
fn mask(width: u16, len: u16) -> u128 {
    let ones = |bits: u16| u128::MAX.checked_shr(u32::from(128u16.saturating_sub(bits))).unwrap_or(0);
    ones(width) & !ones(width.saturating_sub(len))
}

/// dev_port of the front-panel port `front`, counted round when the device has fewer ports.
///
/// Default entries are written for a device of 32 ports; on a smaller one they share ports.
pub(crate) fn front_port(ports: &PortMap, front: u16) -> Result<(FrontPort, u16), SetupError> {
    let known = ports.front_ports();
    let index = usize::from(front).checked_rem(known.len()).ok_or(SetupError::NoPorts)?;
    let port = known.get(index).ok_or(SetupError::NoPorts)?;
    Ok((FrontPort(index as u16), port.dev_port.number()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::chip::ChipSpec;

    #[test]
    fn prefixes_lose_the_bits_beyond_their_length() {
        let net = ipv4_prefix(Ipv4Addr::new(10, 1, 2, 3), 16);
        assert_eq!(net, KeyValue::Lpm { value: 0x0a01_0000, len: 16 });
        assert_eq!(ipv4_prefix(Ipv4Addr::BROADCAST, 0), KeyValue::Lpm { value: 0, len: 0 });
        let host = ipv6_prefix(Ipv6Addr::LOCALHOST, 128);
        assert_eq!(host, KeyValue::Lpm { value: 1, len: 128 });
        assert_eq!(ternary_prefix(23, 16, 16), KeyValue::Ternary { value: 23, mask: 0xffff });
        assert_eq!(ternary_prefix(0xff, 8, 4), KeyValue::Ternary { value: 0xf0, mask: 0xf0 });
        assert_eq!(ternary_prefix(0xff, 8, 0), ANY);
    }

    #[test]
    fn ports_count_round() {
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let last = ports.front_ports().len() as u16 - 1;
        assert_eq!(front_port(&ports, last).unwrap().0, FrontPort(last));
        assert_eq!(front_port(&ports, last + 1), front_port(&ports, 0));
    }

    #[test]
    fn entities_that_the_program_lacks_are_named() {
        let program = Program { name: "empty".to_owned(), ..Program::default() };
        let error = Ops::new(&program).default("route", "forward", [1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "program `empty` has no table `route`; the default entries belong to another program"
        );
    }
}
