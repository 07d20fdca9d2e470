//! Control-plane operations: their effect on entries, state and the device.

use super::assemble::replicator;
use super::{Event, Memory, Mode, Switch, SwitchError};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::units::{Cycles, Time};
use sluice_control::{ArrayRef, Change, ControlError, ControlOp, ControlState, Entry, Reading};
use sluice_exec::pass::{Executor, State};
use sluice_ir::Register;
use sluice_ir::meter_array::{MeterCell, Origin};

impl Switch<'_> {
    /// Applies an operation at once, outside the order of events: for configuration before the run.
    ///
    /// # Errors
    /// Refuses an operation that does not fit the program or the state.
    pub fn apply(&mut self, op: ControlOp) -> Result<(), SwitchError> {
        self.straight = None;
        self.rounds.changed();
        if let ControlOp::InPipe { pipe, op } = op {
            return self.apply_in(pipe, *op);
        }
        let copies = matches!(
            op,
            ControlOp::SetMirrorSession { .. }
                | ControlOp::SetMulticastGroup { .. }
                | ControlOp::SetExclusionPorts { .. }
        );
        self.check_meter(&op)?;
        self.check_clear(&op)?;
        let device = if let ControlOp::Device(op) = &op { Some(op.clone()) } else { None };
        // If chip or ports do not allow the new sessions and groups, the old ones are restored.
        let before = copies.then(|| self.control.replication.clone());
        let refused = |e| SwitchError::Control(Box::new(e));
        let was = self.named_entry(&op);
        let settings = device.as_ref().map(|_| self.control.device.clone());
        let change = self.control.apply(&self.program, op).map_err(refused)?;
        for pipe in &mut self.pipes {
            pipe.state.apply(&self.program, change).map_err(SwitchError::Control)?;
        }
        tell(&mut *self.executor, change, was.as_ref(), &self.control);
        for (pipe, own) in (0..).zip(&mut self.own) {
            if let Some(own) = own {
                tell(&mut **own, change, was.as_ref(), self.control.of_pipe(pipe));
            }
        }
        match change {
            Change::Read(array, index) => self.read(array, index, None),
            Change::Clear(register, _) => {
                (0..self.pipes.len()).for_each(|pipe| self.clearing(pipe, register))
            }
            Change::Device => {
                if let Some(Err(e)) = device.map(|op| self.set_device(&op)) {
                    self.control.device = settings.unwrap_or_default();
                    return Err(SwitchError::Control(Box::new(ControlError::Device(e))));
                }
            }
            Change::Replication => match replicator(&self.control, &self.chip, &self.by_dev_port) {
                Ok(new) => self.replicator = new,
                Err(e) => {
                    self.control.replication = before.unwrap_or_default();
                    return Err(e);
                }
            },
            _ => {}
        }
        Ok(())
    }

    /// Applies an operation to one pipe.
    fn apply_in(&mut self, pipe: u8, op: ControlOp) -> Result<(), SwitchError> {
        self.has_pipe(pipe)?;
        self.check_meter(&op)?;
        self.check_clear(&op)?;
        let was = named_entry(self.control.of_pipe(pipe), &op);
        // The separate lookup is made before the operation is checked; if it is refused, the lookup has the
        // same entries.
        if looks_up(&op) {
            self.give_lookup(pipe)?;
        }
        let refused = |e| SwitchError::Control(Box::new(e));
        let change = self.control.apply(&self.program, op.in_pipe(Some(pipe))).map_err(refused)?;
        let at = usize::from(pipe);
        self.pipes[at].state.apply(&self.program, change).map_err(SwitchError::Control)?;
        if let Some(own) = &mut self.own[at] {
            tell(&mut **own, change, was.as_ref(), self.control.of_pipe(pipe));
        }
        match change {
            Change::Read(array, index) => self.read(array, index, Some(at)),
            Change::Clear(register, _) => self.clearing(at, register),
            _ => {}
        }
        Ok(())
    }

    /// Refuses a fast clear if the chip has none.
    fn check_clear(&self, op: &ControlOp) -> Result<(), SwitchError> {
        match op {
            ControlOp::FastClear { register, .. } if !self.chip.salu.fast_clear => {
                let data = self.program.registers.get(*register);
                let register = data.map_or_else(String::new, |d| d.name.clone());
                let refused = ControlError::NoFastClear { register, chip: self.chip.name.clone() };
                Err(SwitchError::Control(Box::new(refused)))
            }
            _ => Ok(()),
        }
    }

    /// Begins to clear a register.
    fn clearing(&mut self, pipe: usize, register: Register) {
        let takes = self.clock.span(Cycles(u64::from(self.chip.salu.fast_clear_cycles)));
        let until = self.now + takes;
        let key = EventKey {
            time: until,
            device: self.config.device,
            class: EventClass::ControlPlane,
            port: 0,
            seq: self.ops,
        };
        self.ops += 1;
        let event = Event::Cleared { pipe: pipe as u8, register };
        self.pipes[pipe].clearing.insert(register, until);
        // Functional mode clears at once. Otherwise the event is in the future and is not refused.
        if self.config.mode == Mode::Functional || self.events.push(key, event).is_err() {
            self.cleared(pipe, register, until);
        }
    }

    /// Ends a clear whose end is at this time, unless another clear began in the meantime.
    pub(super) fn cleared(&mut self, pipe: usize, register: Register, time: Time) {
        let at = &mut self.pipes[pipe];
        if at.clearing.get(&register).is_some_and(|until| *until <= time) {
            at.clearing.remove(&register);
            at.state.busy[register] = None;
        }
    }

    /// Checks that the device has this pipe.
    pub(super) fn has_pipe(&self, pipe: u8) -> Result<(), SwitchError> {
        let pipes = self.pipes.len();
        let refused = || SwitchError::Control(Box::new(ControlError::NoSuchPipe { pipe, pipes }));
        if usize::from(pipe) < pipes { Ok(()) } else { Err(refused()) }
    }

    /// Gives a pipe a separate lookup.
    pub(super) fn give_lookup(&mut self, pipe: u8) -> Result<(), SwitchError> {
        let at = usize::from(pipe);
        if self.own[at].is_some() {
            return Ok(());
        }
        let refused = || SwitchError::Control(Box::new(ControlError::OneLookup { pipe }));
        let mut own = self.executor.fork().ok_or_else(refused)?;
        let control = self.control.of_pipe(pipe);
        self.program.profiles.keys().for_each(|profile| own.profile_changed(profile, control));
        self.program.tables.keys().for_each(|table| own.table_changed(table, control));
        self.program.value_sets.keys().for_each(|set| own.value_set_changed(set, control));
        self.own[at] = Some(own);
        Ok(())
    }

    /// Refuses a meter configuration that the chip does not support, before anything changes.
    fn check_meter(&self, op: &ControlOp) -> Result<(), SwitchError> {
        if let ControlOp::SetMeter { meter, config, .. } = op
            && let Some(data) = self.program.meters.get(*meter)
            && let Err(error) = MeterCell::new(data.kind, config.as_ref(), &Origin::of(&self.chip))
        {
            let meter = data.name.clone();
            return Err(SwitchError::Control(Box::new(ControlError::Meter { meter, error })));
        }
        Ok(())
    }

    /// Returns the entry that an operation changes or deletes, in its present form.
    pub(super) fn named_entry(&self, op: &ControlOp) -> Option<Entry> {
        named_entry(&self.control, op)
    }

    /// Records the value of a cell, or of all cells that differ from their initial value, in one pipe or in
    /// every pipe.
    pub(super) fn read(&mut self, array: ArrayRef, index: Option<u32>, only: Option<usize>) {
        let pipes = self.pipes.iter().map(|p| &p.state).enumerate();
        for (pipe, state) in pipes.filter(|(pipe, _)| only.is_none_or(|only| only == *pipe)) {
            let (cells, first): (Vec<[u64; 2]>, _) = match array {
                ArrayRef::Counter(c) => {
                    (state.counters[c].iter().map(|c| [c.packets, c.bytes]).collect(), [0, 0])
                }
                ArrayRef::Register(r) => {
                    let cells = state.registers[r].iter().map(|e| [e.lo, e.hi]).collect();
                    (cells, self.program.registers[r].init)
                }
            };
            let wanted = |i: u32, values: [u64; 2]| index.map_or(values != first, |index| index == i);
            for (index, values) in (0..).zip(cells).filter(|(i, values)| wanted(*i, *values)) {
                self.readings.push(Reading { time: self.now, array, index, pipe: pipe as u32, values });
            }
        }
    }

    /// Returns the readings of the control plane so far, in order.
    #[must_use]
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// Returns the program's state in each pipe.
    pub fn pipe_states(&self) -> impl ExactSizeIterator<Item = &State> {
        self.pipes.iter().map(|p| &*p.state)
    }

    /// Returns the memory of a switch that is no longer needed, and the entries in force.
    pub fn into_parts(self) -> (Memory, ControlState) {
        let states = self.pipes.into_iter().map(|p| *p.state).collect();
        (Memory { states, tm: Some(self.tm) }, self.control)
    }
}

/// Returns the entry that an operation changes or deletes, in its present form.
fn named_entry(control: &ControlState, op: &ControlOp) -> Option<Entry> {
    let (ControlOp::ModifyEntry { table, entry, .. }
    | ControlOp::DeleteEntry { table, entry }
    | ControlOp::SetEntryTtl { table, entry, .. }) = op
    else {
        return None;
    };
    control.tables.get(*table)?.slots.get(*entry as usize)?.clone()
}

/// Returns true if an operation changes lookups.
const fn looks_up(op: &ControlOp) -> bool {
    !matches!(
        op,
        ControlOp::WriteRegister { .. }
            | ControlOp::SetRegisterParam { .. }
            | ControlOp::SetMeter { .. }
            | ControlOp::ClearCounter { .. }
            | ControlOp::FastClear { .. }
            | ControlOp::Read { .. }
    )
}

/// Notifies an executor of a change of lookups.
fn tell(executor: &mut dyn Executor, change: Change, was: Option<&Entry>, control: &ControlState) {
    match change {
        Change::Inserted(table, entry) | Change::Modified(table, entry) | Change::Deleted(table, entry) => {
            executor.entry_changed(table, entry, was, control);
        }
        Change::Default(table) => executor.default_changed(table, control),
        Change::Member(profile, member) => executor.member_changed(profile, member, control),
        Change::Group(profile, group) => executor.group_changed(profile, group, control),
        Change::PortMetadata => executor.port_metadata_changed(control),
        Change::ValueSet(set) => executor.value_set_changed(set, control),
        _ => {}
    }
}
