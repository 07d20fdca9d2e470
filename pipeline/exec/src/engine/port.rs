//! Port metadata: the values for packets of each port, as rows.

use super::batch::{Phv, for_lanes};
use super::field::{FieldAt, SlotMap};
use crate::pass::Pass;
use sluice_asic::gress::Gress;
use sluice_asic::port::DevPort;
use sluice_control::ControlState;
use sluice_ir::Program;

/// Port metadata fields in use, and their values by port.
#[derive(Clone, Debug, Default)]
pub(super) struct PortCode {
    /// Target of each field, and its column in a row.
    fields: Vec<(FieldAt, usize)>,
    /// Number of columns of a row.
    width: usize,
    /// Rows by dev_port.
    rows: Vec<u128>,
}

impl PortCode {
    pub(super) fn new(program: &Program, gress: Gress, slots: &mut SlotMap<'_>) -> PortCode {
        let width = program.port_metadata().count();
        let own = program.port_metadata().enumerate().filter(|(_, (_, d))| d.gress == gress);
        let fields = own.map(|(i, (f, _))| (slots.target(f), i)).filter(|(at, _)| !at.pieces.is_empty());
        PortCode { fields: fields.collect(), width, rows: Vec::new() }
    }

    pub(super) fn compile(&mut self, control: &ControlState) {
        if self.fields.is_empty() {
            return;
        }
        self.rows.clear();
        self.rows.resize(usize::from(DevPort::COUNT) * self.width, 0);
        for (port, values) in &control.port_metadata {
            let first = usize::from(*port) * self.width;
            if let Some(row) = self.rows.get_mut(first..first + values.len().min(self.width)) {
                row.copy_from_slice(&values[..row.len()]);
            }
        }
    }

    /// Sets the fields in the lanes of `mask`; they are zero in a resubmitted packet.
    #[inline]
    pub(super) fn run<const N: usize>(&self, mask: u64, batch: &[Pass], phv: &Phv<N>) {
        for (at, column) in &self.fields {
            for_lanes::<N>(mask, |l| {
                let input = &batch[l].input;
                let row = usize::from(input.port) * self.width + column;
                let value = self.rows.get(row).filter(|_| !input.resubmitted);
                at.write(phv, l, value.copied().unwrap_or(0));
            });
        }
    }
}
