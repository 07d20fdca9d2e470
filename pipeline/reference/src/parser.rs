//! Parsers: states, extraction, and keys of `select`.

use crate::bits::Bits;
use crate::place::Place;
use crate::program::Shape;
use crate::run::Run;
use crate::stop::{Res, Stop, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::check::{Builtin, Call, Resolution, TyKind};
use sluice_p4::elaborate::Binding;
use sluice_p4::syntax::ast::{DeclId, DeclKind, ExprId, ExprKind, Name, Select, Transition};

/// Bits of `parser_err`.
pub(crate) mod error {
    /// No case of a `select` matches, or the parser goes to `reject`.
    pub(crate) const NO_MATCH: u16 = 0x0001;
    /// The packet ends inside a header.
    pub(crate) const TOO_SHORT: u16 = 0x0002;
    /// The parser counter was loaded with a value above the greatest allowed one.
    pub(crate) const COUNTER_RANGE: u16 = 0x0004;
    /// The parser does not end.
    pub(crate) const TIMEOUT: u16 = 0x0010;
    /// An extractor takes bytes that the packet does not have (Tofino).
    pub(crate) const SOURCE: u16 = 0x0020;
    /// A header is extracted a second time, on a chip whose parser writes each field once.
    pub(crate) const SECOND_WRITE: u16 = 0x0100;
    /// A checksum that the parser verifies is wrong.
    pub(crate) const CHECKSUM: u16 = 0x1000;
}

/// Most states that a parser enters for a packet.
const MOST_STATES: u32 = 1 << 14;

impl<'a> Run<'_, 'a> {
    /// Runs the states of a parser from `start` on.
    pub(crate) fn states(&mut self, parser: DeclId) -> Res<()> {
        let ast = self.ast;
        let mut next = ast.names.find("start");
        for _ in 0..MOST_STATES {
            let state = next.and_then(|name| self.core.program.checked.states.get(&(parser, name)).copied());
            let Some(DeclKind::State(state)) = state.map(|state| &ast.decls[state].kind) else {
                return Err(Stop::Parser(error::NO_MATCH));
            };
            self.statements(&state.statements)?;
            let name = match &state.transition {
                None => return Err(Stop::Parser(error::NO_MATCH)),
                Some(Transition::Direct(name)) => *name,
                Some(Transition::Select(select)) => self.select(select)?,
            };
            match ast.text(name) {
                "accept" => return Ok(()),
                "reject" => return Err(Stop::Parser(error::NO_MATCH)),
                _ => next = Some(name.symbol),
            }
        }
        Err(Stop::Parser(error::TIMEOUT))
    }

    fn select(&mut self, select: &'a Select) -> Res<Name> {
        let keys: Vec<Value> = select.keys.iter().map(|&key| self.value(key)).collect::<Res<_>>()?;
        for case in &select.cases {
            if self.is_case(&case.keys, &keys)? {
                return Ok(case.next);
            }
        }
        Err(Stop::Parser(error::NO_MATCH))
    }

    /// Returns true if values match the keys of a case of a `select`, or of an entry of a table.
    pub(crate) fn is_case(&mut self, case: &'a [ExprId], keys: &[Value]) -> Res<bool> {
        let ast = self.ast;
        match case {
            [one] => match &ast.exprs[*one].kind {
                ExprKind::Default | ExprKind::Any => Ok(true),
                ExprKind::List(list) if keys.len() > 1 => self.is_case(list, keys),
                ExprKind::Name { .. } => match self.instance(*one) {
                    Some(Binding::ValueSet(set)) => Ok(self.core.control.has_value(set, keys)),
                    _ => self.is_key(*one, keys.first()),
                },
                _ => self.is_key(*one, keys.first()),
            },
            several => {
                for (&part, key) in several.iter().zip(keys) {
                    if !self.is_key(part, Some(key))? {
                        return Ok(false);
                    }
                }
                Ok(several.len() == keys.len())
            }
        }
    }

    fn is_key(&mut self, part: ExprId, key: Option<&Value>) -> Res<bool> {
        let at = self.span(part);
        let Some(key) = key else { return Err(unsupported(at, "a key without a value")) };
        let number = |value: &Value| value.as_number().ok_or_else(|| unsupported(at, "this key"));
        match self.ast.exprs[part].kind {
            ExprKind::Default | ExprKind::Any => Ok(true),
            ExprKind::Mask { value, mask } => {
                let (value, mask) = (self.value(value)?, self.value(mask)?);
                let mask = number(&mask)?;
                Ok(number(key)? & &mask == number(&value)? & &mask)
            }
            ExprKind::Range { first, last } => {
                let (first, last) = (self.value(first)?, self.value(last)?);
                let key = number(key)?;
                Ok(number(&first)? <= key && key <= number(&last)?)
            }
            ExprKind::Name { .. } => match self.instance(part) {
                Some(Binding::ValueSet(set)) => {
                    Ok(self.core.control.has_value(set, std::slice::from_ref(key)))
                }
                _ => Ok(crate::expr::equal(key, &self.value(part)?)),
            },
            _ => {
                let value = self.value(part)?;
                match (key.as_number(), value.as_number()) {
                    (Some(key), Some(value)) => Ok(key == value),
                    _ => Ok(crate::expr::equal(key, &value)),
                }
            }
        }
    }

    /// Calls a method of `packet_in`.
    pub(crate) fn packet_in(&mut self, expr: ExprId, name: &str, call: &Call) -> Res<Value> {
        let at = self.span(expr);
        let first = call.args.first().copied().flatten();
        match (name, first, call.args.len()) {
            ("extract", Some(header), 1) => self.extract(header),
            ("lookahead", ..) => {
                let ty = self.ty(expr);
                let width = self.core.program.width(ty, at)? as usize;
                if !self.packet.has(width) {
                    return Err(Stop::Parser(error::TOO_SHORT));
                }
                let mut ahead = self.packet.clone();
                self.core.program.unflatten(ty, &mut ahead, at)
            }
            ("advance", Some(bits), _) => {
                let bits = self.unsigned(bits)? as usize;
                if !self.packet.has(bits) {
                    return Err(Stop::Parser(error::TOO_SHORT));
                }
                self.packet.go(self.packet.at() + bits);
                Ok(Value::Nothing)
            }
            _ => Err(unsupported(at, format!("`{name}` of a packet"))),
        }
    }

    /// Extracts a header. A header that does not end with a byte has padding behind it.
    fn extract(&mut self, header: ExprId) -> Res<Value> {
        let at = self.span(header);
        self.skip_resubmit_padding();
        let next =
            matches!(self.core.program.checked.resolutions[header], Some(Resolution::Builtin(Builtin::Next)));
        let ty = self.ty(header);
        let bits = (self.core.program.width(ty, at)? as usize).next_multiple_of(8);
        if matches!(self.ast.exprs[header].kind, ExprKind::Any) {
            return self.skip(bits);
        }
        let place = self.place(header)?.ok_or_else(|| unsupported(at, "an extraction to this expression"))?;
        if !matches!(self.core.program.shape(ty), Shape::Header(_)) {
            return Err(unsupported(at, "an extraction of something other than a header"));
        }
        let is_intrinsic = match *self.core.program.checked.types.kind(ty) {
            TyKind::Header(decl, _) => self.is_intrinsic(decl),
            _ => false,
        };
        if self.packet.at() < self.front && !is_intrinsic && self.input.resubmitted.is_none() {
            return Err(unsupported(at, "a header in front of the packet"));
        }
        self.extracts(&place, bits)?;
        let begin = self.packet.at();
        let value = self.core.program.unflatten(ty, &mut self.packet, at)?;
        self.packet.go(begin + bits);
        self.deposit(&value, ty, at)?;
        self.set(&place, value, at)?;
        if let Some(stack) = self.stack_of(&place).filter(|_| next)
            && let Value::Stack { next, elements } = self.get(&stack)
        {
            self.set(&stack, Value::Stack { next: next + 1, elements }, at)?;
        }
        Ok(Value::Nothing)
    }

    /// Checks that a header can be extracted.
    fn extracts(&mut self, place: &Place, bits: usize) -> Res<()> {
        let once = self.core.writes_once();
        if once && self.extracted.contains(place) {
            return Err(Stop::Parser(error::SECOND_WRITE));
        }
        if !self.packet.has(bits) {
            let source = if once && bits > 0 { error::SOURCE } else { 0 };
            return Err(Stop::Parser(error::TOO_SHORT | source));
        }
        if once {
            self.extracted.push(place.clone());
        }
        Ok(())
    }

    fn skip(&mut self, bits: usize) -> Res<Value> {
        if !self.packet.has(bits) {
            return Err(Stop::Parser(error::TOO_SHORT));
        }
        self.packet.go(self.packet.at() + bits);
        Ok(Value::Nothing)
    }

    /// Goes to the packet, if the next bits are padding behind the data of a resubmit: the vendor's compiler pads the header of
    /// these data.
    fn skip_resubmit_padding(&mut self) {
        let at = self.packet.at();
        if let Some(data) = &self.input.resubmitted
            && !data.is_empty()
            && at < self.front
            && at >= self.core.intrinsic_bits(self.input.gress) + data.len() * 8
        {
            self.packet.go(self.front);
        }
    }

    /// Subtracts an extracted header from the residual sums that cover all that follows.
    fn deposit(&mut self, header: &Value, ty: sluice_p4::check::Ty, at: sluice_p4::source::Span) -> Res<()> {
        for deposit in self.deposits.clone() {
            let mut bits = Bits::default();
            self.core.program.flatten(ty, header, false, &mut bits, at)?;
            if !bits.len().is_multiple_of(16) {
                return Err(unsupported(at, "a residual sum over a header of an odd number of bytes"));
            }
            let rest = self.subtracted(deposit.object, &bits);
            self.set(&deposit.target, Value::Number(BigInt::from(rest)), at)?;
        }
        Ok(())
    }
}
