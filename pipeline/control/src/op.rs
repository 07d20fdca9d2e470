//! Typed control-plane operations, and their effect on the state.

use super::check::Checker;
use super::{
    Change, ControlError, ControlState, DeviceOp, Entry, EntryId, GroupMember, MulticastNode, SetMember, Then,
};
use sluice_asic::salu::State as Element;
use sluice_asic::tm::MirrorSession;
use sluice_asic::units::{Duration, Time};
use sluice_ir::rows;
use sluice_ir::{
    ActionCall, Counter, KeyValue, Meter, MeterConfig, Profile, Program, Register, Table, ValueSet,
};

/// Operation of the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlOp {
    /// Adds an entry to a table.
    InsertEntry {
        /// The table.
        table: Table,
        /// One column per key.
        key: Vec<KeyValue>,
        /// Priority, the lowest first; 0 in tables without a ternary or range key.
        priority: u32,
        /// Action, member or group of the entry.
        then: Then,
    },
    /// Changes an entry's action, member or group. Its key, position in the order and counter stay.
    ModifyEntry {
        /// The table.
        table: Table,
        /// The entry.
        entry: EntryId,
        /// New action, member or group.
        then: Then,
    },
    /// Removes an entry.
    DeleteEntry {
        /// The table.
        table: Table,
        /// The entry.
        entry: EntryId,
    },
    /// Sets a table's default action.
    SetDefault {
        /// The table.
        table: Table,
        /// The action and its arguments.
        call: ActionCall,
    },
    /// Creates a member of a profile or changes its action.
    SetMember {
        /// The profile.
        profile: Profile,
        /// Its number.
        member: u32,
        /// Action of the member.
        call: ActionCall,
    },
    /// Deletes a member that nothing uses.
    DeleteMember {
        /// The profile.
        profile: Profile,
        /// Its number.
        member: u32,
    },
    /// Creates a group or replaces its members.
    SetGroup {
        /// The profile.
        profile: Profile,
        /// Its number.
        group: u32,
        /// Members in slot order.
        members: Vec<GroupMember>,
    },
    /// Deletes a group that no entry uses.
    DeleteGroup {
        /// The profile.
        profile: Profile,
        /// Its number.
        group: u32,
    },
    /// Takes a member of one group down or brings it up. The member keeps its slots.
    SetMemberActive {
        /// The profile.
        profile: Profile,
        /// The group.
        group: u32,
        /// The member.
        member: u32,
        /// True if the selector may select it.
        active: bool,
    },
    /// Sets a counter to zero.
    ClearCounter {
        /// The counter.
        counter: Counter,
        /// The cell; `None` for all.
        index: Option<u32>,
    },
    /// Adds an entry with its own time to live to a table that ages.
    InsertAgeing {
        /// The table.
        table: Table,
        /// One column per key.
        key: Vec<KeyValue>,
        /// Priority, the lowest first; 0 in tables without a ternary or range key.
        priority: u32,
        /// Action, member or group of the entry.
        then: Then,
        /// Time without a hit after which the entry expires; zero: never.
        ttl: Duration,
    },
    /// Sets the time to live of an entry, beginning with this operation.
    SetEntryTtl {
        /// The table.
        table: Table,
        /// The entry.
        entry: EntryId,
        /// Time without a hit after which the entry expires; zero: never; `None`: the time of the table.
        ttl: Option<Duration>,
    },
    /// Sets or deletes a mirror session.
    SetMirrorSession {
        /// Its number.
        id: u16,
        /// The session; `None` deletes it.
        session: Option<MirrorSession>,
    },
    /// Sets the nodes of a multicast group; an empty list deletes the group.
    SetMulticastGroup {
        /// Its number, from 1.
        id: u16,
        /// Its nodes, in the order of the copies.
        nodes: Vec<MulticastNode>,
    },
    /// Sets the ports that a level-2 exclusion id excludes.
    SetExclusionPorts {
        /// The id, 0 to 511.
        id: u16,
        /// dev_ports.
        ports: Vec<u16>,
    },
    /// Sets the port metadata of a port.
    SetPortMetadata {
        /// dev_port.
        port: u16,
        /// One value per field; all zeros delete the row.
        values: Vec<u128>,
    },
    /// Changes the packet generator, a port or a queue.
    Device(DeviceOp),
    /// Adds a member to a value set.
    InsertValue {
        /// The set.
        set: ValueSet,
        /// A value and a mask for each field of the set.
        value: SetMember,
    },
    /// Removes a member from a value set.
    DeleteValue {
        /// The set.
        set: ValueSet,
        /// The member.
        value: SetMember,
    },
    /// Writes elements of a register in all pipes.
    WriteRegister {
        /// The register.
        register: Register,
        /// The element; `None` for all.
        index: Option<u32>,
        /// New value; `None` is the register's initial value.
        value: Option<Element>,
    },
    /// Records the value of a cell at this time; see [`Reading`].
    Read {
        /// The array.
        array: ArrayRef,
        /// The cell; `None` for all cells that differ from their initial value.
        index: Option<u32>,
    },
    /// Configures cells of a meter, filter or WRED in all pipes, and resets their state.
    SetMeter {
        /// The array.
        meter: Meter,
        /// The cell; `None` for all.
        index: Option<u32>,
        /// The configuration; `None` removes it, so that every packet passes.
        config: Option<MeterConfig>,
    },
    /// Sets a parameter of a register, in all pipes.
    SetRegisterParam {
        /// The register.
        register: Register,
        /// The parameter, by position.
        param: u8,
        /// Its value.
        value: u32,
    },
    /// Clears a register in the background (Tofino 2). Until the clearing ends, accesses return an output
    /// word and change nothing; then every element has its initial value.
    FastClear {
        /// The register.
        register: Register,
        /// First output word of accesses until then; the other words are 0.
        busy: u32,
    },
    /// Applies an operation on entries, members, groups, defaults or cells to one pipe only.
    InPipe {
        /// The pipe.
        pipe: u8,
        /// The operation.
        op: Box<ControlOp>,
    },
}

/// Array that the control plane can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArrayRef {
    /// A counter.
    Counter(Counter),
    /// A register.
    Register(Register),
}

/// Value of a cell, read at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Time of the reading.
    pub time: Time,
    /// The array.
    pub array: ArrayRef,
    /// The cell.
    pub index: u32,
    /// The pipe.
    pub pipe: u32,
    /// Register: its halves, low first. Counter: packets and bytes.
    pub values: [u64; 2],
}

impl ControlState {
    /// Checks an operation against the program and the present state, and applies it.
    ///
    /// # Errors
    /// Refuses an operation that breaks a rule, and names the first broken rule. A refused operation changes
    /// nothing.
    pub fn apply(&mut self, program: &Program, op: ControlOp) -> Result<Change, ControlError> {
        match op {
            ControlOp::InPipe { pipe, op } => self.apply_in(program, pipe, *op),
            op if self.pipes.is_empty() => self.apply_here(program, op),
            op => self.apply_in_all(program, op),
        }
    }

    /// Applies the operation to this state only.
    pub(super) fn apply_here(&mut self, program: &Program, op: ControlOp) -> Result<Change, ControlError> {
        let check = Checker { program, state: self };
        match op {
            ControlOp::InsertEntry { table, key, priority, then } => {
                check.new_entry(table, &key, priority, &then)?;
                self.insert(program, table, Entry { key, priority, seq: 0, then, ttl: None })
            }
            ControlOp::ModifyEntry { table, entry, then } => {
                check.old_entry(table, entry)?;
                check.then(table, &then)?;
                if let Some(Some(slot)) = self.tables[table].slots.get_mut(entry as usize) {
                    slot.then = then;
                }
                Ok(Change::Modified(table, entry))
            }
            ControlOp::DeleteEntry { table, entry } => {
                check.old_entry(table, entry)?;
                let index = &mut self.index[table];
                index.refresh(&self.tables[table]);
                let gone = index.remove(&mut self.tables[table], entry);
                if let Some(gone) = gone.filter(|_| rows::has_ranges(&program.tables[table])) {
                    index.free_rows(rows::of_entry(program, &program.tables[table], &gone));
                }
                Ok(Change::Deleted(table, entry))
            }
            ControlOp::SetDefault { table, call } => {
                check.default(table, &call)?;
                self.tables[table].default = call;
                Ok(Change::Default(table))
            }
            ControlOp::SetMember { profile, member, call } => {
                check.member(profile, member, &call)?;
                self.profiles[profile].members.insert(member, call);
                Ok(Change::Member(profile, member))
            }
            ControlOp::DeleteMember { profile, member } => {
                check.member_unused(profile, member)?;
                self.profiles[profile].members.remove(&member);
                Ok(Change::Member(profile, member))
            }
            ControlOp::SetGroup { profile, group, members } => {
                check.group(profile, group, &members)?;
                self.profiles[profile].groups.insert(group, members);
                Ok(Change::Group(profile, group))
            }
            ControlOp::DeleteGroup { profile, group } => {
                check.group_unused(profile, group)?;
                self.profiles[profile].groups.remove(&group);
                Ok(Change::Group(profile, group))
            }
            ControlOp::SetMemberActive { profile, group, member, active } => {
                check.in_group(profile, group, member)?;
                let members = self.profiles[profile].groups.get_mut(&group).into_iter().flatten();
                members.filter(|m| m.member == member).for_each(|m| m.active = active);
                Ok(Change::Group(profile, group))
            }
            ControlOp::ClearCounter { counter, index } => {
                check.counter(counter, index)?;
                Ok(Change::Counter(counter, index))
            }
            ControlOp::InsertAgeing { table, key, priority, then, ttl } => {
                check.new_entry(table, &key, priority, &then)?;
                check.ttl(table, Some(ttl))?;
                self.insert(program, table, Entry { key, priority, seq: 0, then, ttl: Some(ttl) })
            }
            ControlOp::SetEntryTtl { table, entry, ttl } => {
                check.old_entry(table, entry)?;
                check.ttl(table, ttl)?;
                if let Some(Some(slot)) = self.tables[table].slots.get_mut(entry as usize) {
                    slot.ttl = ttl;
                }
                Ok(Change::Modified(table, entry))
            }
            ControlOp::SetMirrorSession { id, session } => {
                self.replication.set_session(id, session);
                Ok(Change::Replication)
            }
            ControlOp::SetMulticastGroup { id, nodes } => {
                self.replication.set_group(id, nodes)?;
                Ok(Change::Replication)
            }
            ControlOp::SetExclusionPorts { id, ports } => {
                self.replication.set_exclusion(id, ports)?;
                Ok(Change::Replication)
            }
            ControlOp::SetPortMetadata { port, values } => {
                super::port::check(program, port, &values)?;
                if values.iter().all(|v| *v == 0) {
                    self.port_metadata.remove(&port);
                } else {
                    self.port_metadata.insert(port, values);
                }
                Ok(Change::PortMetadata)
            }
            ControlOp::InsertValue { set, value } => self.insert_value(program, set, value),
            ControlOp::DeleteValue { set, value } => self.delete_value(program, set, &value),
            ControlOp::Device(op) => {
                self.device.apply(op)?;
                Ok(Change::Device)
            }
            ControlOp::WriteRegister { register, index, value } => {
                check.register(register, index, value)?;
                self.arrays.write(register, index, value);
                Ok(Change::Register(register, index, value))
            }
            ControlOp::Read { array, index } => {
                match array {
                    ArrayRef::Counter(counter) => check.counter(counter, index)?,
                    ArrayRef::Register(register) => check.register(register, index, None)?,
                }
                Ok(Change::Read(array, index))
            }
            ControlOp::SetRegisterParam { register, param, value } => {
                check.register_param(register, param, value)?;
                self.arrays.params.insert((register, param), value);
                Ok(Change::Param(register, param, value))
            }
            ControlOp::FastClear { register, busy } => {
                check.register(register, None, None)?;
                self.arrays.write(register, None, None);
                Ok(Change::Clear(register, busy))
            }
            ControlOp::InPipe { pipe, .. } => {
                Err(ControlError::NotPerPipe { pipe, what: "operations of a pipe" })
            }
            ControlOp::SetMeter { meter, index, config } => {
                check.meter(meter, index, config.as_ref())?;
                self.arrays.configure(meter, index, config);
                Ok(Change::Meter(meter, index, config))
            }
        }
    }

    /// Returns the entry of a table with this key and priority.
    pub fn find(&mut self, table: Table, key: &[KeyValue], priority: u32) -> Option<EntryId> {
        let state = self.tables.get(table)?;
        let index = &mut self.index[table];
        index.refresh(state);
        index.find(&(key.to_vec(), priority))
    }

    fn insert(&mut self, program: &Program, table: Table, entry: Entry) -> Result<Change, ControlError> {
        if let Some(old) = self.find(table, &entry.key, entry.priority) {
            return Err(Checker { program, state: self }.duplicate(table, old, &entry));
        }
        let size = program.tables[table].size;
        let index = &mut self.index[table];
        if index.live() >= size as usize {
            return Err(ControlError::TableFull { table: program.tables[table].name.clone(), size });
        }
        if !index.find_place(&self.tables[table], &entry.key) {
            let moves = index.layout().map_or(0, |l| l.moves);
            let (table, live) = (program.tables[table].name.clone(), index.live());
            return Err(ControlError::WaysFull { table, live, size, moves });
        }
        let data = &program.tables[table];
        if rows::has_ranges(data) {
            let (room, needed) = (rows::room(program, data), rows::of_entry(program, data, &entry.key));
            let taken = index.rows(program, data, &self.tables[table]);
            if taken.saturating_add(needed) > room {
                return Err(ControlError::RangeRows { table: data.name.clone(), room, taken, rows: needed });
            }
            index.add_rows(needed);
        }
        Ok(Change::Inserted(table, index.insert(&mut self.tables[table], entry)))
    }
}
