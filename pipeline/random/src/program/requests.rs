//! Draws resubmits, mirror copies and digests.

use super::Writer;
use super::scope::Scope;
use super::value::Draft;
use super::wire::Wire;
use sluice_asic::gress::Gress;
use sluice_ir::{
    Block, Expr, Field, Home, Intrinsic, Loc, PrimitiveKind, Request, RequestKind, Stmt, StmtKind,
};

impl Writer<'_, '_> {
    /// Draws requests of the deparser and the conditional statements that make them.
    pub(super) fn requests(&mut self, scope: &mut Scope, wire: &Wire, control: &mut Block) -> Vec<Request> {
        let mut requests = Vec::new();
        if self.d.chance(1, 4) {
            let session = self.p.add_field(self.gress, "m.session", 10, Home::Metadata);
            scope.reserved.push(session);
            let number = self.d.below(1024) as u128;
            let extra = PrimitiveKind::Set(session, Expr::Const(number, 10));
            requests.push(self.request(RequestKind::Mirror(session), scope, wire, Some(extra), control));
        }
        if self.gress == Gress::Ingress && self.d.chance(1, 6) {
            requests.push(self.request(RequestKind::Digest, scope, wire, None, control));
        }
        if self.gress == Gress::Ingress && self.d.chance(1, 6) {
            requests.push(self.request(RequestKind::Resubmit, scope, wire, None, control));
        }
        requests
    }

    fn request(
        &mut self,
        kind: RequestKind,
        scope: &Scope,
        wire: &Wire,
        extra: Option<PrimitiveKind>,
        control: &mut Block,
    ) -> Request {
        // Under a flag, 0 is a type as well.
        let when = if self.d.chance(1, 3) {
            let flag = self.p.add_field(self.gress, format!("m.asks_{}", kind.word()), 1, Home::Metadata);
            Some(flag)
        } else {
            None
        };
        let selector = u8::from(when.is_none()) + self.d.below(7) as u8;
        let asks = self.p.add_intrinsic(self.gress, kind.type_field());
        let width = self.p.fields[asks].width;
        let mut body = vec![PrimitiveKind::Set(asks, Expr::Const(selector.into(), width))];
        body.extend(extra);
        body.extend(when.map(|flag| PrimitiveKind::Set(flag, Expr::Const(1, 1))));
        // A copy of what leaves, or of what came: Tofino 2 is told which.
        if matches!(kind, RequestKind::Mirror(_)) && self.gress == Gress::Egress && self.d.chance(1, 2) {
            let select = self.p.add_intrinsic(self.gress, Intrinsic::MirrorIoSelect);
            body.push(PrimitiveKind::Set(select, Expr::Const(1, 1)));
        }
        let header = match kind {
            // Small enough for any of them: what crosses to egress, or the first header.
            RequestKind::Digest => Some(wire.bridge.unwrap_or(wire.first)),
            RequestKind::Mirror(_) => wire.bridge,
            RequestKind::Resubmit | RequestKind::Pktgen => None,
        };
        let data = match header.filter(|_| self.d.chance(1, 2)) {
            Some(header) => self.p.header_list(header),
            None if kind == RequestKind::Resubmit => Vec::new(),
            None => self.list(wire, &mut body),
        };
        let action = self.push_action(body, Draft::default());
        let call = Stmt { kind: StmtKind::Call(action), loc: Loc::default() };
        let cond = self.condition(scope);
        control.push(Stmt { kind: StmtKind::If(cond, vec![call], Vec::new()), loc: Loc::default() });
        Request { kind, selector, when, data, loc: Loc::default() }
    }

    /// Draws a list of at most 12 bytes: metadata that only the list has, with zeros in front, which `body` sets; and fields of
    /// the first header on byte boundaries.
    fn list(&mut self, wire: &Wire, body: &mut Vec<PrimitiveKind>) -> Vec<Expr> {
        let mut list = Vec::new();
        let own: Vec<u16> = (0..1 + self.d.below(2)).map(|_| 1 + self.d.below(24) as u16).collect();
        for width in own {
            let number = self.p.fields.len();
            let field = self.p.add_field(self.gress, format!("m.told_{number}"), width, Home::Metadata);
            let value = self.d.below(1 << width) as u128;
            body.push(PrimitiveKind::Set(field, Expr::Const(value, width)));
            list.push(fill(width));
            list.push(Some(Expr::Field(field)));
        }
        let first = wire.first;
        let aligned = |w: &Self, f: Field| {
            let whole = w.p.fields[f].width.is_multiple_of(8) && w.p.fields[f].width <= 32;
            whole && w.p.field_offset(first, f).is_some_and(|at| at % 8 == 0)
        };
        let fields: Vec<Field> =
            self.p.headers[first].fields.iter().copied().filter(|f| aligned(self, *f)).collect();
        list.push(self.d.pick(&fields).map(Expr::Field));
        if self.d.chance(1, 3) {
            list.push(Some(Expr::Const(0, 8)));
        }
        list.into_iter().flatten().collect()
    }
}

/// Returns the zeros that fill the bytes of a field.
fn fill(width: u16) -> Option<Expr> {
    let zeros = width.next_multiple_of(8) - width;
    (zeros > 0).then_some(Expr::Const(0, zeros))
}
