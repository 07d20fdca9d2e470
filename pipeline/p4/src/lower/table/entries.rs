//! Constant entries.

use super::super::frame::Frame;
use super::super::{Lower, Res};
use crate::elaborate::TableId;
use crate::syntax::ast::{Entry, ExprId, ExprKind, TableDecl};
use sluice_asic::alu::width_mask;
use sluice_ir::{self as ir, ConstEntry, KeyValue, MatchKind};

impl<'a> Lower<'a> {
    pub(super) fn entries(
        &mut self,
        frame: &Frame,
        id: TableId,
        table: ir::Table,
        decl: &'a TableDecl,
    ) -> Res<()> {
        let mut refused = Ok(());
        for entry in decl.entries.iter().flat_map(|entries| &entries.list) {
            match self.entry(frame, id, table, entry) {
                Ok(entry) => self.program.tables[table].entries.push(entry),
                Err(error) => refused = Err(error),
            }
        }
        if let Some(entries) = &decl.entries
            && !entries.is_const
        {
            self.note(
                entries.span,
                "`entries` without `const`",
                "the control plane cannot change these entries",
            );
        }
        refused
    }

    fn entry(&mut self, frame: &Frame, id: TableId, table: ir::Table, entry: &'a Entry) -> Res<ConstEntry> {
        let keys = self.program.tables[table].keys.clone();
        let parts: Vec<ExprId> = match entry.keys.as_slice() {
            [one] if keys.len() != 1 => match &self.ast.exprs[*one].kind {
                ExprKind::List(parts) => parts.clone(),
                _ => vec![*one; keys.len()],
            },
            parts => parts.to_vec(),
        };
        if parts.len() != keys.len() {
            let text = format!("this entry has {} keys, and the table has {}", parts.len(), keys.len());
            return Err(self.refuse(entry.span, text, "give one value per key"));
        }
        let mut key = Vec::new();
        for (part, column) in parts.into_iter().zip(&keys) {
            let width = column.width(&self.program);
            key.push(self.entry_column(frame, part, column.kind, width, column.mask)?);
        }
        Ok(ConstEntry { key, then: self.action_call(frame, id, entry.action)? })
    }

    fn entry_column(
        &mut self,
        frame: &Frame,
        id: ExprId,
        kind: MatchKind,
        width: u16,
        under: Option<u128>,
    ) -> Res<KeyValue> {
        let all = width_mask(width.into());
        let (value, mask, range) = match &self.ast.exprs[id].kind {
            ExprKind::Any | ExprKind::Default => (Some(0), Some(0), Some((0, all))),
            ExprKind::Mask { value, mask } => (self.number(frame, *value), self.number(frame, *mask), None),
            ExprKind::Range { first, last } => {
                let bounds = self.number(frame, *first).zip(self.number(frame, *last));
                (bounds.map(|(first, _)| first), Some(all), bounds)
            }
            _ => {
                let value = self.number(frame, id);
                (value, Some(all), value.map(|value| (value & all, value & all)))
            }
        };
        let exact = mask.map(|mask| mask & all) == Some(all);
        let at = self.ast.exprs[id].span;
        let (Some(value), Some(mask)) = (value, mask) else {
            return Err(self.refuse(
                at,
                "this key has no constant value",
                "use numbers, masks and ranges of constants",
            ));
        };
        let (value, mask) = (value & all, mask & all & under.unwrap_or(all));
        let column = match (kind, range) {
            (MatchKind::Exact, _) if exact => Some(KeyValue::Exact(value & under.unwrap_or(all))),
            (MatchKind::Ternary, _) => Some(KeyValue::Ternary { value: value & mask, mask }),
            (MatchKind::Lpm, _) => {
                let len = mask.count_ones() as u16;
                let prefix = all & !width_mask(u32::from(width - len));
                (mask == prefix).then_some(KeyValue::Lpm { value: value & mask, len })
            }
            (MatchKind::Range, Some((lo, hi))) => Some(KeyValue::Range { lo: lo & all, hi: hi & all }),
            _ => None,
        };
        match column {
            Some(column) => Ok(column),
            None => Err(self.refuse(
                at,
                "this value is none of the key's match kind",
                "an exact key takes one value, an lpm key a mask with its ones in front, a range key a range",
            )),
        }
    }
}
