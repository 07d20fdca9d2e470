//! Draws resubmits, mirror copies and digests.

use super::Writer;
use super::scope::Scope;
use super::value::Draft;
use super::wire::Wire;
use sluice_asic::gress::Gress;
use sluice_ir::{Block, Expr, Home, Intrinsic, Loc, PrimitiveKind, Request, RequestKind, Stmt, StmtKind};

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
        let selector = 1 + self.d.below(7) as u8;
        let asks = self.p.add_intrinsic(self.gress, kind.type_field());
        let width = self.p.fields[asks].width;
        let mut body = vec![PrimitiveKind::Set(asks, Expr::Const(selector.into(), width))];
        body.extend(extra);
        // A copy of what leaves, or of what came: Tofino 2 is told which.
        if matches!(kind, RequestKind::Mirror(_)) && self.gress == Gress::Egress && self.d.chance(1, 2) {
            let select = self.p.add_intrinsic(self.gress, Intrinsic::MirrorIoSelect);
            body.push(PrimitiveKind::Set(select, Expr::Const(1, 1)));
        }
        let action = self.push_action(body, Draft::default());
        let call = Stmt { kind: StmtKind::Call(action), loc: Loc::default() };
        let cond = self.condition(scope);
        control.push(Stmt { kind: StmtKind::If(cond, vec![call], Vec::new()), loc: Loc::default() });
        let header = match kind {
            // Small enough for any of them: what crosses to egress, or the first header.
            RequestKind::Digest => Some(wire.bridge.unwrap_or(wire.first)),
            RequestKind::Mirror(_) => wire.bridge,
            RequestKind::Resubmit | RequestKind::Pktgen => None,
        };
        Request { kind, selector, header, loc: Loc::default() }
    }
}
