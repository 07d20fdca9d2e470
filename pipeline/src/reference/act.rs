//! Action bodies: primitives in order. What may not live here: which action runs.

use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use crate::control::EntryId;
use crate::ir::{
    ActionCall, Counter, CounterHome, CounterKind, Expr, Field, Header, Intrinsic, Label, Loc, Primitive,
    PrimitiveKind, Table,
};
use sluice_asic::alu::width_mask;

/// `drop_ctl` bit 0: no unicast copy (facts: asic §10).
const DROP_CTL_NO_COPY: u128 = 1;

impl<T: Tracer> Run<'_, T> {
    /// Runs an action; `entry` is the table and entry that it was found by, `None` on a miss.
    pub(super) fn act(&mut self, call: &ActionCall, entry: Option<(Table, EntryId)>) {
        for primitive in &self.program.actions[call.action].body {
            self.primitive(primitive, &call.args, entry);
        }
    }

    fn primitive(&mut self, primitive: &Primitive, args: &[u128], entry: Option<(Table, EntryId)>) {
        let loc = primitive.loc;
        let env = Env { program: self.program, phv: self.phv, args };
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
                let home = self.program.counters[*counter].home;
                if let Some((table, id)) = entry
                    && home == CounterHome::Direct(table)
                {
                    self.count(*counter, id.into(), loc);
                }
            }
            PrimitiveKind::Register(access) => self.access(access, args, loc),
            PrimitiveKind::Drop(label) => self.drop_packet(*label, loc),
            PrimitiveKind::HashSlice(field, hash, lo) => {
                let value = env.hash(&self.program.hashes[*hash]);
                self.tell(&Event::Hashed { hash: *hash, value, loc });
                self.write(*field, u128::from(value) >> (*lo).min(64), loc);
            }
            PrimitiveKind::SetMasked(field, value, mask) => {
                let all = width_mask(self.program.fields[*field].width.into());
                let flag = matches!(mask, Expr::Param(_, 1));
                let (value, mask) = (env.value(value), env.value(mask));
                let mask = if flag { mask * all } else { mask };
                let new = self.phv.field(*field) & !mask | value & mask;
                self.write(*field, new, loc);
            }
        }
    }

    /// Writes a field and says so.
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
        if kind != CounterKind::Bytes {
            cell.packets = cell.packets.wrapping_add(1);
        }
        if kind != CounterKind::Packets {
            cell.bytes = cell.bytes.wrapping_add(self.bytes.into());
        }
        let now = *cell;
        self.tell(&Event::Counted { counter, index, now, loc });
    }

    fn drop_packet(&mut self, label: Label, loc: Loc) {
        self.label = Some(label);
        self.tell(&Event::Dropped { label, loc });
        if let Some(field) = self.program.intrinsic(self.gress, Intrinsic::DropCtl) {
            self.write(field, DROP_CTL_NO_COPY, loc);
        }
    }
}
