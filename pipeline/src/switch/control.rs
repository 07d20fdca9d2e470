//! Operations of the control plane: applied to entries, state and the device. What may not live here: when they take
//! effect.

use super::assemble::replicator;
use super::{Switch, SwitchError};
use crate::control::{ArrayRef, Change, ControlError, ControlOp, Entry, Reading};
use crate::meters::{MeterCell, Origin};
use crate::pass::{Executor, State};

impl<E: Executor> Switch<E> {
    /// Applies an operation at once, outside the order of events: for configuration before the run.
    ///
    /// # Errors
    /// When the operation does not fit.
    pub fn apply(&mut self, op: ControlOp) -> Result<(), SwitchError> {
        self.straight = None;
        let copies = matches!(
            op,
            ControlOp::SetMirrorSession { .. }
                | ControlOp::SetMulticastGroup { .. }
                | ControlOp::SetExclusionPorts { .. }
        );
        if let ControlOp::SetMeter { meter, config, .. } = &op
            && let Some(data) = self.program.meters.get(*meter)
            && let Err(error) = MeterCell::new(data.kind, config.as_ref(), &Origin::of(&self.chip))
        {
            let meter = data.name.clone();
            return Err(SwitchError::Control(Box::new(ControlError::Meter { meter, error })));
        }
        let device = if let ControlOp::Device(op) = &op { Some(op.clone()) } else { None };
        // What chip and ports do not allow must not stay.
        let before = copies.then(|| self.control.replication.clone());
        let refused = |e| SwitchError::Control(Box::new(e));
        let was = self.named_entry(&op);
        let settings = device.as_ref().map(|_| self.control.device.clone());
        let change = self.control.apply(&self.program, op).map_err(refused)?;
        for pipe in &mut self.pipes {
            change.settle(&self.program, &mut pipe.state).map_err(refused)?;
        }
        match change {
            Change::Inserted(table, entry)
            | Change::Modified(table, entry)
            | Change::Deleted(table, entry) => {
                self.executor.entry_changed(table, entry, was.as_ref(), &self.control);
            }
            Change::Default(table) => self.executor.default_changed(table, &self.control),
            Change::Member(profile, member) => {
                self.executor.member_changed(profile, member, &self.control);
            }
            Change::Group(profile, group) => {
                self.executor.group_changed(profile, group, &self.control);
            }
            Change::Counter(..) | Change::Register(..) | Change::Meter(..) | Change::Param(..) => {}
            Change::Read(array, index) => self.read(array, index),
            Change::PortMetadata => self.executor.port_metadata_changed(&self.control),
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
        }
        Ok(())
    }

    /// The entry that an operation changes or takes out, as it is before.
    pub(super) fn named_entry(&self, op: &ControlOp) -> Option<Entry> {
        let (ControlOp::ModifyEntry { table, entry, .. }
        | ControlOp::DeleteEntry { table, entry }
        | ControlOp::SetEntryTtl { table, entry, .. }) = op
        else {
            return None;
        };
        self.control.tables.get(*table)?.slots.get(*entry as usize)?.clone()
    }

    /// Notes what a cell holds in every pipe, or all cells that differ from how they start.
    pub(super) fn read(&mut self, array: ArrayRef, index: Option<u32>) {
        for (pipe, state) in self.pipes.iter().map(|p| &p.state).enumerate() {
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

    /// What the control plane has read so far, in order.
    #[must_use]
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// What the program remembers in each pipe.
    pub fn pipe_states(&self) -> impl ExactSizeIterator<Item = &State> {
        self.pipes.iter().map(|p| &p.state)
    }
}
