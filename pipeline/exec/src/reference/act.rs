//! Action bodies: primitives in order.

use super::eval::Env;
use super::phv::Phv;
use super::trace::Event;
use super::{Run, Tracer};
use sluice_asic::alu::width_mask;
use sluice_control::EntryId;
use sluice_ir::exchange::exchanged;
use sluice_ir::{
    ActionCall, Counter, Expr, Field, Header, Intrinsic, Label, Loc, Primitive, PrimitiveKind, Table,
};

/// `drop_ctl` bit 0: no unicast copy (model: chip §10).
const DROP_CTL_NO_COPY: u128 = 1;

impl<T: Tracer> Run<'_, T> {
    /// Runs an action. `entry` is the table and the entry that selected the action; `None` on a miss.
    pub(super) fn act(&mut self, call: &ActionCall, entry: Option<(Table, EntryId)>) {
        if self.tracer.watches_reads() {
            self.reads_of_action(call.action);
        }
        let body = &self.program.actions[call.action].body;
        // Moves that exchange values read all fields before one of them writes.
        let before = (!exchanged(self.program, body).is_empty()).then(|| self.phv.clone());
        for primitive in body {
            self.primitive(primitive, &call.args, entry, before.as_ref());
        }
    }

    fn primitive(
        &mut self,
        primitive: &Primitive,
        args: &[u128],
        entry: Option<(Table, EntryId)>,
        before: Option<&Phv>,
    ) {
        let loc = primitive.loc;
        let env = Env { program: self.program, phv: before.unwrap_or(self.phv), args };
        match &primitive.kind {
            PrimitiveKind::Set(field, value) => {
                let new = env.value(value);
                self.write(*field, new, loc);
            }
            PrimitiveKind::SetValid(header, valid) => self.set_valid(*header, *valid, loc),
            PrimitiveKind::Hash(field, hash) => {
                let value = env.hash(&self.program.hashes[*hash]);
                self.tell(&Event::Hashed { hash: *hash, value, loc });
                self.write(*field, value.into(), loc);
            }
            PrimitiveKind::Count(counter, index) => {
                let index = env.value(index);
                self.count(*counter, index, loc);
            }
            PrimitiveKind::CountDirect(counter) => {
                if let Some(index) = self.counted_entry(*counter, entry) {
                    self.count(*counter, index, loc);
                }
            }
            PrimitiveKind::Register(access) => self.access(access, args, entry, loc),
            PrimitiveKind::Drop(label) => self.drop_packet(*label, loc),
            PrimitiveKind::DropCtl(field, value, label) => {
                let new = env.value(value);
                self.write(*field, new, loc);
                let drops = new & DROP_CTL_NO_COPY != 0;
                self.label = drops.then_some(*label);
                if drops {
                    self.tell(&Event::Dropped { label: *label, loc });
                }
            }
            PrimitiveKind::HashSlice(field, hash, lo) => {
                let value = env.hash(&self.program.hashes[*hash]);
                self.tell(&Event::Hashed { hash: *hash, value, loc });
                self.write(*field, u128::from(value) >> (*lo).min(64), loc);
            }
            PrimitiveKind::HashInto(field, hi, lo, hash, from) => {
                let value = env.hash(&self.program.hashes[*hash]);
                self.tell(&Event::Hashed { hash: *hash, value, loc });
                let bits = width_mask(u32::from(*hi) + 1) & !width_mask((*lo).into());
                let part = u128::from(value) >> (*from).min(64) << lo;
                self.write(*field, self.phv.field(*field) & !bits | part & bits, loc);
            }
            PrimitiveKind::SetSlice(field, hi, lo, value) => {
                let bits = width_mask(u32::from(*hi) + 1) & !width_mask((*lo).into());
                let new = self.phv.field(*field) & !bits | env.value(value) << lo & bits;
                self.write(*field, new, loc);
            }
            PrimitiveKind::SetMasked(field, value, mask) => {
                let all = width_mask(self.program.fields[*field].width.into());
                let flag = matches!(mask, Expr::Param(_, 1));
                let (value, mask) = (env.value(value), env.value(mask));
                let mask = if flag { mask * all } else { mask };
                let new = self.phv.field(*field) & !mask | value & mask;
                self.write(*field, new, loc);
            }
            PrimitiveKind::CopyValid(to, from) => self.set_valid(*to, self.phv.is_valid(*from), loc),
            PrimitiveKind::Meter(access) => self.ask(access, args, entry, loc),
            PrimitiveKind::Random(field, random) => self.random(*field, *random, loc),
        }
    }

    /// Writes a field and reports the write to the tracer.
    pub(super) fn write(&mut self, field: Field, value: u128, loc: Loc) {
        let old = self.phv.set(self.program, field, value);
        let new = self.phv.field(field);
        self.tell(&Event::Wrote { field, old, new, loc });
    }

    fn set_valid(&mut self, header: Header, valid: bool, loc: Loc) {
        self.phv.set_valid(header, valid);
        self.tell(&Event::Validity { header, valid, loc });
    }

    /// Counts the packet in one cell; an index past the end counts nothing.
    fn count(&mut self, counter: Counter, index: u128, loc: Loc) {
        let kind = self.program.counters[counter].kind;
        let cells = &mut self.state.counters[counter];
        let Some(cell) = usize::try_from(index).ok().and_then(|i| cells.get_mut(i)) else { return };
        // A layout that does not exist (the verifier refuses it) counts nothing.
        if let Ok(layout) = self.program.counters[counter].cell.layout(kind) {
            cell.count(layout, self.bytes);
        }
        let now = *cell;
        self.tell(&Event::Counted { counter, index, now, loc });
    }

    fn drop_packet(&mut self, label: Label, loc: Loc) {
        self.label = Some(label);
        self.tell(&Event::Dropped { label, loc });
        if let Some(field) = self.phv.intrinsic(self.gress, Intrinsic::DropCtl) {
            self.write(field, DROP_CTL_NO_COPY, loc);
        }
    }
}
