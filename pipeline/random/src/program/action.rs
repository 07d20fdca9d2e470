//! Draws actions.

use super::Writer;
use super::scope::Scope;
use super::value::Draft;
use super::wire::Wire;
use sluice_asic::hash::{HashAlgorithm, XorWidth};
use sluice_ir::entity::Entity;
use sluice_ir::{
    Action, ActionData, Counter, CounterHome, Expr, Field, Hash, HashData, Index, Intrinsic, Label, Loc,
    Meter, MeterAccess, Primitive, PrimitiveKind, Register, RegisterAccess, Stmt, StmtKind,
};

/// Arrays that the actions of one owner (a table or a call) may access.
#[derive(Default)]
pub(super) struct Owned {
    /// Direct counter of the table.
    pub(super) direct: Option<Counter>,
    /// Indirect counters and registers that no other owner accesses.
    pub(super) counters: Vec<Counter>,
    pub(super) registers: Vec<Register>,
    pub(super) meters: Vec<Meter>,
}

impl Writer<'_, '_> {
    pub(super) fn push_action(&mut self, body: Vec<PrimitiveKind>, draft: Draft) -> Action {
        let name = self.name("a");
        let body = body.into_iter().map(|kind| Primitive { kind, loc: Loc::default() }).collect();
        self.p.actions.push(ActionData {
            name,
            gress: self.gress,
            params: draft.params,
            body,
            doc: String::new(),
            loc: Loc::default(),
        })
    }

    /// Draws the first statement of ingress, which sets an output port and the bridged header.
    pub(super) fn first_step(&mut self, scope: &mut Scope, wire: &Wire) -> Stmt {
        let port = self.p.add_intrinsic(self.gress, Intrinsic::UcastEgressPort);
        let mut draft = Draft::default();
        let mut body = vec![PrimitiveKind::Set(port, self.port(scope))];
        if let Some(bridge) = wire.bridge {
            body.push(PrimitiveKind::SetValid(bridge, true));
            for field in self.p.headers[bridge].fields.clone() {
                let width = self.p.fields[field].width;
                body.push(PrimitiveKind::Set(field, self.leaf(scope, &mut draft, width)));
                draft.written.push(field);
            }
            scope.gain(bridge);
        }
        Stmt { kind: StmtKind::Call(self.push_action(body, Draft::default())), loc: Loc::default() }
    }

    /// Draws an output port: a constant, or low bits of the first header.
    fn port(&mut self, scope: &Scope) -> Expr {
        match self.phv(scope, &Draft::default(), 9) {
            Some(value) if self.d.chance(1, 3) => value,
            _ => Expr::Const(self.d.below(200) as u128, 9),
        }
    }

    /// Draws an action with at least one primitive.
    pub(super) fn action(&mut self, scope: &Scope, parametric: bool, owned: &Owned) -> Action {
        let mut draft = Draft { parametric, ..Draft::default() };
        let mut body = Vec::new();
        for _ in 0..1 + self.d.below(self.limits.primitives) {
            let kind = self.primitive(scope, &mut draft, owned, &body);
            body.extend(kind);
        }
        self.push_action(body, draft)
    }

    fn primitive(
        &mut self,
        scope: &Scope,
        draft: &mut Draft,
        owned: &Owned,
        body: &[PrimitiveKind],
    ) -> Option<PrimitiveKind> {
        let choice = self.d.below(20);
        match choice {
            18 | 19 => self.slice(scope, draft),
            16 => {
                let to = self.target(scope, draft, 32)?;
                let random = self.random(self.p.fields[to].width);
                draft.written.push(to);
                Some(PrimitiveKind::Random(to, random))
            }
            17 => self.ask(scope, draft, owned, body),
            0..=7 => {
                let to = self.target(scope, draft, 128)?;
                let value = match self.carried(scope, draft, to) {
                    Some(sum) => sum,
                    None => self.value(scope, draft, self.p.fields[to].width),
                };
                draft.written.push(to);
                Some(PrimitiveKind::Set(to, value))
            }
            8 if draft.parametric => {
                let to = self.target(scope, draft, 32)?;
                let width = self.p.fields[to].width;
                let (value, mask) = (self.data(draft, width), self.data(draft, width));
                draft.written.push(to);
                Some(PrimitiveKind::SetMasked(to, value, mask))
            }
            9 | 10 => {
                let to = self.target(scope, draft, 64)?;
                let hash = self.hash(scope, draft, self.p.fields[to].width)?;
                draft.written.push(to);
                Some(PrimitiveKind::Hash(to, hash))
            }
            11 => {
                let direct = owned.direct?;
                let fresh = !body.contains(&PrimitiveKind::CountDirect(direct));
                fresh.then_some(PrimitiveKind::CountDirect(direct))
            }
            12 => {
                let counter = self.d.pick(&owned.counters)?;
                let used = body.iter().any(|k| matches!(k, PrimitiveKind::Count(c, _) if *c == counter));
                let index = self.phv(scope, draft, 8)?;
                (!used).then_some(PrimitiveKind::Count(counter, index))
            }
            13 | 14 => self.access(scope, draft, owned, body),
            8 => None,
            _ => {
                let drops =
                    |k: &PrimitiveKind| matches!(k, PrimitiveKind::Drop(_) | PrimitiveKind::DropCtl(..));
                let dropped = body.iter().any(drops);
                let label = Label::new(self.d.below(2));
                match self.d.below(5) {
                    _ if dropped => None,
                    0 | 1 => {
                        draft.written.extend(self.p.intrinsic(self.gress, Intrinsic::DropCtl));
                        Some(PrimitiveKind::Drop(label))
                    }
                    2 => {
                        let field = self.p.add_intrinsic(self.gress, Intrinsic::DropCtl);
                        let value = match self.d.below(3) {
                            0 => Expr::Const(0, 3),
                            1 => Expr::Const(self.d.below(8) as u128, 3),
                            _ => self.leaf(scope, draft, 3),
                        };
                        draft.written.push(field);
                        Some(PrimitiveKind::DropCtl(field, value, label))
                    }
                    _ => None,
                }
            }
        }
    }

    /// Draws a write of a slice of a field.
    fn slice(&mut self, scope: &Scope, draft: &mut Draft) -> Option<PrimitiveKind> {
        let to = self.target(scope, draft, 128)?;
        let width = self.p.fields[to].width;
        let lo = self.d.below(usize::from(width)) as u16;
        let hi = lo + self.d.below(usize::from(width - lo)) as u16;
        let count = hi - lo + 1;
        if count <= 32 && self.d.chance(1, 4) {
            let from = self.d.below(8) as u16;
            let hash = self.hash(scope, draft, count + from)?;
            draft.written.push(to);
            return Some(PrimitiveKind::HashInto(to, hi, lo, hash, from));
        }
        let value = self.leaf(scope, draft, count);
        draft.written.push(to);
        Some(PrimitiveKind::SetSlice(to, hi, lo, value))
    }

    /// Draws an access to the owner's meter, at most one per action.
    fn ask(
        &mut self,
        scope: &Scope,
        draft: &mut Draft,
        owned: &Owned,
        body: &[PrimitiveKind],
    ) -> Option<PrimitiveKind> {
        let meter = self.d.pick(&owned.meters)?;
        if body.iter().any(|k| matches!(k, PrimitiveKind::Meter(a) if a.meter == meter)) {
            return None;
        }
        let index = match self.p.meters[meter].home {
            CounterHome::Direct(_) => Index::Entry,
            CounterHome::Indirect(_) => Index::At(self.phv(scope, draft, 3)?),
        };
        let input = match self.p.meters[meter].kind.is_coloured() {
            true if self.d.chance(1, 2) => None,
            coloured => Some(self.phv(scope, draft, if coloured { 2 } else { 16 })?),
        };
        let to = self.target(scope, draft, 32).filter(|f| self.p.fields[*f].width >= 2)?;
        draft.written.push(to);
        Some(PrimitiveKind::Meter(MeterAccess { meter, index, input, to }))
    }

    fn access(
        &mut self,
        scope: &Scope,
        draft: &mut Draft,
        owned: &Owned,
        body: &[PrimitiveKind],
    ) -> Option<PrimitiveKind> {
        let register = self.d.pick(&owned.registers)?;
        let actions: Vec<_> = self.p.actions_of(register).map(|(a, _)| a).collect();
        let action = self.d.pick(&actions)?;
        let of = |a| self.p.register_actions[a].register;
        if body.iter().any(|k| matches!(k, PrimitiveKind::Register(a) if of(a.action) == register)) {
            return None;
        }
        // What the stateful ALU reads must not have been written by this action.
        let mut reads = Vec::new();
        for e in self.p.register_actions[action].operands() {
            e.fields(&self.p, &mut |f| reads.push(f));
        }
        if reads.iter().any(|f| draft.written.contains(f)) {
            return None;
        }
        let index = match self.p.registers[register].home {
            CounterHome::Direct(_) => Index::Entry,
            CounterHome::Indirect(_) => Index::At(self.phv(scope, draft, 6)?),
        };
        let mut outputs = Vec::new();
        if super::stateful::has_output(&self.p.register_actions[action])
            && let Some(to) = self.target(scope, draft, 32)
        {
            draft.written.push(to);
            outputs.push((0, to));
        }
        Some(PrimitiveKind::Register(RegisterAccess { action, index, outputs }))
    }

    /// Draws a field of at most `most` bits that this action does not write yet.
    fn target(&mut self, scope: &Scope, draft: &Draft, most: u16) -> Option<Field> {
        let mut open = scope.writable(&self.p, self.gress);
        open.retain(|f| !draft.written.contains(f) && self.p.fields[*f].width <= most);
        self.d.pick(&open)
    }

    /// Draws a hash of this width.
    pub(super) fn hash(&mut self, scope: &Scope, draft: &Draft, width: u16) -> Option<Hash> {
        let mut inputs = Vec::new();
        for _ in 0..1 + self.d.below(3) {
            let bits = self.d.of([16, 8, 32]);
            inputs.push(self.phv(scope, draft, bits)?);
        }
        if self.d.chance(1, 4) {
            inputs.insert(0, Expr::Const(self.d.value(16), 16));
        }
        let crc = |name: &str| HashAlgorithm::from_name(name).unwrap_or(HashAlgorithm::Identity);
        let algorithm = match self.d.below(6) {
            0 => HashAlgorithm::Identity,
            1 => HashAlgorithm::Xor(self.d.of([XorWidth::W8, XorWidth::W16, XorWidth::W32])),
            2 => HashAlgorithm::Random { seed: u64::from(self.d.word()) },
            3 => crc("crc_16"),
            4 => crc("crc_8_darc"),
            _ => crc("crc_32"),
        };
        // Two inputs in whichever order, if they are alike.
        let last = inputs.len() - 1;
        let alike = last > 0 && inputs[last].width(&self.p) == inputs[last - 1].width(&self.p);
        let fields = !matches!(inputs[last - usize::from(alike)], Expr::Const(..));
        let symmetric = match alike && fields && self.d.chance(1, 3) {
            true => vec![[last as u16 - 1, last as u16]],
            false => Vec::new(),
        };
        let name = self.name("hash");
        let seed = if self.d.chance(1, 4) { self.d.value(width) as u64 } else { 0 };
        let rotate = if self.d.chance(1, 4) { self.d.below(usize::from(width)) as u16 } else { 0 };
        let (doc, loc) = (String::new(), Loc::default());
        let gress = self.gress;
        let hash = HashData { name, gress, algorithm, inputs, symmetric, width, seed, rotate, doc, loc };
        Some(self.p.hashes.push(hash))
    }
}
