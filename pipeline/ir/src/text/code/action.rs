//! Second pass: bodies of actions.

use super::{Code, Space};
use crate::text::cursor::Parsed;
use crate::{ParamData, Primitive, PrimitiveKind};

impl Code<'_> {
    pub(in crate::text) fn action_body(
        &mut self,
        params: Vec<ParamData>,
    ) -> Parsed<(Vec<Primitive>, Vec<ParamData>)> {
        self.params = params;
        let body = self.block(|code| {
            let loc = code.c.loc();
            Ok(Primitive { kind: code.primitive()?, loc })
        })?;
        Ok((body, std::mem::take(&mut self.params)))
    }

    fn primitive(&mut self) -> Parsed<PrimitiveKind> {
        let before = self.c.clone();
        if self.c.word() == Some("execute") && self.c.then("(") {
            return self.access(Vec::new());
        }
        let Some(word) = self.callee() else {
            let field = self.field()?;
            if self.c.at(",") || self.c.at(":") {
                return self.outputs(field);
            }
            if let Some((hi, lo)) = self.slice()? {
                self.c.expect("=")?;
                if self.c.word() == Some("hash") && self.c.then("(") {
                    self.callee();
                    let hash = self.reference(Space::Hash)?;
                    let from =
                        if self.c.eat(",") { self.c.number("the lowest bit of the result")? } else { 0 };
                    self.c.expect(")")?;
                    return Ok(PrimitiveKind::HashInto(field, hi, lo, hash, from));
                }
                return Ok(PrimitiveKind::SetSlice(field, hi, lo, self.expr()?));
            }
            self.c.expect("=")?;
            if self.c.word() == Some("execute") && self.c.then("(") {
                return self.access(vec![(0, field)]);
            }
            if self.c.word() == Some("meter") && self.c.then("(") {
                return self.question(field);
            }
            if self.c.word() == Some("random") && self.c.then("(") {
                return self.draw(field);
            }
            if self.c.word() == Some("hash") && self.c.then("(") {
                self.callee();
                let hash = self.reference(Space::Hash)?;
                let kind = if self.c.eat(",") {
                    PrimitiveKind::HashSlice(field, hash, self.c.number("the lowest bit of the result")?)
                } else {
                    PrimitiveKind::Hash(field, hash)
                };
                self.c.expect(")")?;
                return Ok(kind);
            }
            return Ok(PrimitiveKind::Set(field, self.expr()?));
        };
        let kind = match word {
            "set_valid" => PrimitiveKind::SetValid(self.reference(Space::Header)?, true),
            "set_invalid" => PrimitiveKind::SetValid(self.reference(Space::Header)?, false),
            "drop" => PrimitiveKind::Drop(self.reference(Space::Label)?),
            "set_drop_ctl" => {
                let field = self.field()?;
                self.c.expect(",")?;
                let value = self.expr()?;
                self.c.expect(",")?;
                PrimitiveKind::DropCtl(field, value, self.reference(Space::Label)?)
            }
            "set_masked" => {
                let field = self.field()?;
                self.c.expect(",")?;
                let value = self.expr()?;
                self.c.expect(",")?;
                PrimitiveKind::SetMasked(field, value, self.expr()?)
            }
            "copy_valid" => {
                let to = self.reference(Space::Header)?;
                self.c.expect(",")?;
                PrimitiveKind::CopyValid(to, self.reference(Space::Header)?)
            }
            "count" => {
                let counter = self.reference(Space::Counter)?;
                if self.c.eat(",") {
                    PrimitiveKind::Count(counter, self.expr()?)
                } else {
                    PrimitiveKind::CountDirect(counter)
                }
            }
            _ => {
                return Err(before.error(
                    "an assignment, `set_valid(…)`, `set_invalid(…)`, `copy_valid(…)`, `count(…)`, `execute(…)` or `drop(…)`",
                ));
            }
        };
        self.c.expect(")")?;
        Ok(kind)
    }
}
