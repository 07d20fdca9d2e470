//! The deparser: checksums, then valid headers.

use super::checksum::ones_complement_sum;
use super::trace::Event;
use super::{ROOM, Run, Tracer};
use sluice_asic::hash::BitString;
use sluice_ir::{Field, Header, Home};

impl<T: Tracer> Run<'_, T> {
    /// Returns the bytes of the headers to emit.
    pub(super) fn deparse(&mut self) -> Vec<u8> {
        let deparser = &self.program.pipe(self.gress).deparser;
        // All sums are over the fields as the control block left them: no unit sees the result of another.
        let mut sums = Vec::new();
        for update in deparser.checksums.iter().filter(|u| self.phv.is_valid(u.header)).collect::<Vec<_>>() {
            // Fields of invalid headers are not summed.
            let present = |f: &Field| match self.program.fields[*f].home {
                Home::Header(h) => self.phv.is_valid(h),
                _ => true,
            };
            let inputs: Vec<Field> = update.inputs.iter().copied().filter(present).collect();
            let value = !ones_complement_sum(self.program, self.phv, &inputs);
            let value = if update.zeros_as_ones && value == 0 { u16::MAX } else { value };
            self.tell(&Event::Checksum { field: update.field, value, loc: update.loc });
            sums.push((update.field, value));
        }
        for (field, value) in sums {
            self.phv.set(self.program, field, value.into());
        }
        let mut bytes = Vec::new();
        for &header in &deparser.emit {
            if self.phv.is_valid(header) {
                self.tell(&Event::Emitted { header, offset: bytes.len() });
                self.emit(header, &mut bytes);
            }
        }
        bytes
    }

    pub(super) fn emit(&self, header: Header, bytes: &mut Vec<u8>) {
        let mut bits = BitString::with_capacity(ROOM);
        for &field in &self.program.headers[header].fields {
            bits.push(self.phv.field(field), self.program.fields[field].width.into());
        }
        bytes.extend(bits.words(8).map(|byte| byte as u8));
    }
}
