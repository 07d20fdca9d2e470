//! The deparser: checksums, then valid headers.

use super::checksum::sum_of_values;
use super::trace::Event;
use super::{ROOM, Run, Tracer};
use sluice_asic::hash::BitString;
use sluice_ir::{Expr, Header, Home};

impl<T: Tracer> Run<'_, T> {
    /// Returns the bytes of the headers to emit.
    pub(super) fn deparse(&mut self) -> Vec<u8> {
        let deparser = &self.program.pipe(self.gress).deparser;
        // All sums are over the fields as the control block left them: no unit sees the result of another.
        let mut sums = Vec::new();
        for update in &deparser.checksums {
            let asked = update.when.is_none_or(|f| self.phv.field(f) == 1);
            if !asked || !self.phv.is_valid(update.header) {
                continue;
            }
            // Fields of invalid headers count as zeros.
            let value = |e: &Expr| match e {
                Expr::Field(f) => match self.program.fields[*f].home {
                    Home::Header(h) if !self.phv.is_valid(h) => 0,
                    _ => self.phv.field(*f),
                },
                _ => 0,
            };
            let inputs = update.inputs.iter().map(|e| (value(e), e.width(self.program)));
            let value = !sum_of_values(inputs);
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
