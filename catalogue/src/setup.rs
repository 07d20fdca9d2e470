//! Initial configuration of the device that runs a program: control-plane operations and port speeds.
//!
//! [`Ops`] collects operations on tables, profiles and registers by name; the functions below make keys and find ports.

use crate::position::Position;
use crate::routes;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::salu::State as Element;
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::{BitRate, Duration};
use sluice_control::classes::is_class_table;
use sluice_control::marks::is_marking_table;
use sluice_control::{ControlOp, GroupMember, Then};
use sluice_ir::text::{RouteValue, RoutesDecl};
use sluice_ir::{Action, ActionCall, KeyValue, Loc, Profile, Program, Table};
use std::net::{Ipv4Addr, Ipv6Addr};
use thiserror::Error;

/// Configuration of a device before the first packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Operations, in the order in which they must be applied.
    pub ops: Vec<ControlOp>,
    /// Front-panel ports that run slower than in the port map, with their rates. Port numbers do not change.
    pub port_speeds: Vec<(FrontPort, BitRate)>,
}

/// Default entries that a device's buffer profile replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// None: the device has no profile.
    Nothing,
    /// Those of class tables, by the profile's maps ([`sluice_control::classes`]).
    Classes,
    /// Those of class tables, and those of marking tables, by the profile's ECN curves ([`sluice_control::marks`]).
    ClassesAndMarks,
}

impl Replaced {
    /// Returns what a profile replaces.
    #[must_use]
    pub fn by(profile: Option<&BufferFile>) -> Replaced {
        match profile {
            None => Replaced::Nothing,
            Some(profile) if profile.ecn.is_empty() => Replaced::Classes,
            Some(_) => Replaced::ClassesAndMarks,
        }
    }
}

impl Setup {
    /// Removes the entries that a buffer profile replaces.
    pub fn remove(&mut self, program: &Program, replaced: Replaced) {
        let is_removed = |table| match replaced {
            Replaced::Nothing => false,
            Replaced::Classes => is_class_table(program, table),
            Replaced::ClassesAndMarks => is_class_table(program, table) || is_marking_table(program, table),
        };
        self.ops.retain(|op| !matches!(op, ControlOp::InsertEntry { table, .. } if is_removed(*table)));
    }
}

/// Reason for which a setup cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// The program has no entity of a name that an operation uses.
    #[error("program `{program}` has no {kind} `{name}`; the default entries belong to another program")]
    NoEntity {
        /// Name of the program.
        program: String,
        /// `table`, `action`, `action profile` or `register`.
        kind: &'static str,
        /// The name used.
        name: String,
    },
    /// The entries that the program's file declares are refused.
    #[error("the entries in the file of program `{program}` are refused:\n{errors}")]
    File {
        /// Name of the program.
        program: String,
        /// All errors with their lines.
        errors: String,
    },
    /// The device has no front-panel port.
    #[error("the port map has no front-panel port, so the default entries have nowhere to send packets")]
    NoPorts,
    /// The device has no CPU port.
    #[error("the port map has no CPU port, to which the default entries send packets")]
    NoCpuPort,
    /// A pipe has no recirculation port, on which generated packets would arrive.
    #[error("pipe {pipe} has no recirculation port, on which the packets of its generator arrive")]
    NoGeneratorPort {
        /// The pipe.
        pipe: u8,
    },
    /// The packet generator cannot visit all elements of an array within a period.
    #[error(
        "the packet generator cannot visit {elements} elements every {period}: a packet takes {line} of its line at \
         {rate}, {elements} of them {}; at most {most} elements, or a period of at least that", *.line * u64::from(*.elements)
    )]
    GeneratorTooSlow {
        /// Elements of the array.
        elements: u32,
        /// Time within which each element must be visited.
        period: Duration,
        /// Time that one packet takes on the generator's line.
        line: Duration,
        /// Rate of that line.
        rate: BitRate,
        /// Number of elements that can be visited within the period.
        most: u64,
    },
    /// The program with these parameters cannot run at this place in the network.
    #[error("program `{program}` cannot run here: {why}")]
    Place {
        /// Name of the program.
        program: String,
        /// Parameter or property of the place that prevents it, and what to change.
        why: String,
    },
}

/// Control-plane operations on the entities of one program, by the names in the program.
///
/// Methods that name an entity return [`SetupError::NoEntity`] if the program has none of this name. Values are not checked
/// here: the control plane checks them when the operations are applied.
#[derive(Debug)]
pub struct Ops<'p> {
    program: &'p Program,
    ops: Vec<ControlOp>,
}

impl<'p> Ops<'p> {
    /// Returns an empty list of operations on this program.
    #[must_use]
    pub fn new(program: &'p Program) -> Ops<'p> {
        Ops { program, ops: Vec::new() }
    }

    /// Returns the program to which the operations belong.
    #[must_use]
    pub const fn program(&self) -> &'p Program {
        self.program
    }

    /// Returns the operations in the order in which they were added.
    #[must_use]
    pub fn into_vec(self) -> Vec<ControlOp> {
        self.ops
    }

    /// Returns the operations added so far, in order.
    #[must_use]
    pub fn so_far(&self) -> &[ControlOp] {
        &self.ops
    }

    /// Adds any operation, for example one on the device.
    pub fn push(&mut self, op: ControlOp) {
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

    /// Adds an entry without priority that runs `action` with these values of the action's parameters.
    ///
    /// # Errors
    /// If the program has no such table or action.
    pub fn entry<const K: usize, const N: usize>(
        &mut self,
        table: &str,
        key: [KeyValue; K],
        action: &str,
        args: [u128; N],
    ) -> Result<(), SetupError> {
        let then = Then::Call(self.call(action, args)?);
        self.insert(table, key, 0, then)
    }

    /// Adds an entry of a ternary table that runs an action without parameters. The entry of the lowest priority wins.
    ///
    /// # Errors
    /// If the program has no such table or action.
    pub fn ternary<const K: usize>(
        &mut self,
        table: &str,
        priority: u32,
        key: [KeyValue; K],
        action: &str,
    ) -> Result<(), SetupError> {
        let then = Then::Call(self.call(action, [])?);
        self.insert(table, key, priority, then)
    }

    /// Adds an entry of a ternary table that runs `action` with these values of the action's parameters. The entry of the
    /// lowest priority wins.
    ///
    /// # Errors
    /// If the program has no such table or action.
    pub fn ternary_with<const K: usize, const N: usize>(
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

    /// Adds an entry without priority that selects from a group of the table's action profile.
    ///
    /// # Errors
    /// If the program has no such table.
    pub fn group_entry<const K: usize>(
        &mut self,
        table: &str,
        key: [KeyValue; K],
        group: u32,
    ) -> Result<(), SetupError> {
        self.insert(table, key, 0, Then::Group(group))
    }

    /// Adds the routes of a place in a network to a table whose only key is an IPv4 or IPv6 destination. `action` has the
    /// dev_port of a next hop as its only parameter; [`routes`] says what the table gets.
    ///
    /// # Errors
    /// If the program has no such table or action.
    pub fn routes(&mut self, at: &Position, table: &str, action: &str) -> Result<(), SetupError> {
        let (table, action) = (self.table(table)?, self.call(action, [])?.action);
        let decl =
            RoutesDecl { table, keys: Vec::new(), action, args: vec![RouteValue::Port], loc: Loc::default() };
        self.ops.extend(routes::operations(&[decl], self.program, at));
        Ok(())
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

    /// Sets the default action of a table, which runs on a miss, with these values of the action's parameters.
    ///
    /// # Errors
    /// If the program has no such table or action.
    pub fn default<const N: usize>(
        &mut self,
        table: &str,
        action: &str,
        args: [u128; N],
    ) -> Result<(), SetupError> {
        let op = ControlOp::SetDefault { table: self.table(table)?, call: self.call(action, args)? };
        self.ops.push(op);
        Ok(())
    }

    /// Writes one element of a register.
    ///
    /// # Errors
    /// If the program has no such register.
    pub fn register(&mut self, name: &str, index: u32, value: u64) -> Result<(), SetupError> {
        let register = self.program.register_named(name).ok_or_else(|| self.missing("register", name))?;
        let value = Some(Element::single(value));
        self.ops.push(ControlOp::WriteRegister { register, index: Some(index), value });
        Ok(())
    }

    /// Creates a member of an action profile that runs `action` with these values of the action's parameters.
    ///
    /// # Errors
    /// If the program has no such action profile or action.
    pub fn member<const N: usize>(
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

    /// Creates a group of an action profile from members and their weights. All members are active.
    ///
    /// # Errors
    /// If the program has no such action profile.
    pub fn group(
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

/// Returns the key of an lpm column for an IPv4 prefix of `len` bits, at most 32. Later bits of the address are cleared.
#[must_use]
pub fn ipv4_prefix(address: Ipv4Addr, len: u16) -> KeyValue {
    lpm_prefix(address.to_bits().into(), 32, len)
}

/// Returns the key of an lpm column for an IPv6 prefix of `len` bits, at most 128. Later bits of the address are cleared.
#[must_use]
pub fn ipv6_prefix(address: Ipv6Addr, len: u16) -> KeyValue {
    lpm_prefix(address.to_bits(), 128, len)
}

/// Returns the key of an lpm column of `width` bits for a prefix of `len` bits, at most `width`. Later bits of the value are
/// cleared.
#[must_use]
pub fn lpm_prefix(value: u128, width: u16, len: u16) -> KeyValue {
    KeyValue::Lpm { value: value & mask(width, len), len }
}

/// Returns the key of a ternary column of `width` bits that compares the first `len` bits.
#[must_use]
pub fn ternary_prefix(value: u128, width: u16, len: u16) -> KeyValue {
    let mask = mask(width, len);
    KeyValue::Ternary { value: value & mask, mask }
}

/// The key of a ternary column that matches every value.
pub const ANY: KeyValue = KeyValue::Ternary { value: 0, mask: 0 };

/// Returns ones in the first `len` of `width` (at most 128) bits.
fn mask(width: u16, len: u16) -> u128 {
    let ones = |bits: u16| u128::MAX.checked_shr(u32::from(128u16.saturating_sub(bits))).unwrap_or(0);
    ones(width) & !ones(width.saturating_sub(len))
}

/// Returns the front-panel port of this number and its dev_port. Numbers are taken modulo the number of front-panel ports:
/// default entries are written for 32 ports, and on a smaller device they share ports.
///
/// # Errors
/// If the device has no front-panel port.
pub fn front_port(ports: &PortMap, front: u16) -> Result<(FrontPort, u16), SetupError> {
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
