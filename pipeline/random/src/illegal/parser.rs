//! Parser states and deparsers with every operation.

use super::Writer;
use sluice_asic::gress::Gress;
use sluice_ir::{
    ArmSet, ChecksumUpdate, CounterLoad, Expr, Loc, Lookahead, Next, ParserOp, ParserOpKind, Request,
    RequestKind, SelectArm, SelectKey, StateData,
};

impl Writer<'_, '_> {
    /// Adds to states, and adds states.
    pub(super) fn states(&mut self) {
        for state in self.p.states.keys() {
            if self.flip() {
                let data = self.p.states[state].clone();
                self.p.states[state] = self.state(data);
            }
        }
        for _ in 0..1 + self.below(2) {
            let data = StateData {
                name: self.name(),
                gress: self.gress(),
                ops: Vec::new(),
                select: Vec::new(),
                arms: Vec::new(),
                default: self.next(),
                doc: self.doc(),
                loc: Loc::default(),
            };
            let data = self.state(data);
            self.p.states.push(data);
        }
    }

    fn next(&mut self) -> Next {
        match self.below(3) {
            0 => Next::Accept,
            1 => Next::Reject,
            _ => Next::State(self.any(|p| &p.states)),
        }
    }

    fn state(&mut self, mut data: StateData) -> StateData {
        let ops = self.list(3, |w| ParserOp { kind: w.parser_op(), loc: Loc::default() });
        data.ops.extend(ops);
        data.select.extend(self.list(2, |w| match w.below(5) {
            0 => SelectKey::Field(w.field()),
            1 => SelectKey::Lookahead(Lookahead { at: w.below(300) as u16, width: 1 + w.below(128) as u16 }),
            2 => SelectKey::CounterIsZero,
            3 => SelectKey::CounterIsNegative,
            _ => SelectKey::Last(w.any(|p| &p.stacks), w.below(4) as u16),
        }));
        let select = data.select.clone();
        data.arms.extend(self.list(3, |w| {
            let full = |w: &Self, i: usize| {
                let width = select.get(i).and_then(|k| k.width(&w.p)).map_or(8, u32::from);
                sluice_asic::alu::width_mask(width)
            };
            let values = (0..w.below(3)).map(|i| {
                let mask = if w.flip() { full(w, i) } else { w.value() };
                (w.value(), mask)
            });
            let values = values.collect();
            let set = if !w.p.value_sets.is_empty() && w.below(4) == 0 {
                Some(ArmSet { set: w.any(|p| &p.value_sets), first: w.of(&[0, 0, 1, 300]) })
            } else {
                None
            };
            SelectArm { values, set, next: w.next() }
        }));
        data
    }

    fn load(&mut self) -> CounterLoad {
        match self.below(3) {
            0 => CounterLoad::Const(self.d.word() as u8),
            1 => CounterLoad::Ahead {
                at: self.below(200) as u16,
                max: self.d.word() as u8,
                rotate: self.below(8) as u8,
                mask: self.below(8) as u8,
                add: self.d.word() as u8,
            },
            _ => CounterLoad::Field {
                field: self.field(),
                max: self.d.word() as u8,
                rotate: self.below(8) as u8,
                mask: self.below(8) as u8,
                add: self.d.word() as u8,
            },
        }
    }

    fn summed(&mut self) -> Expr {
        if self.below(4) == 0 { Expr::Const(0, self.below(20) as u16) } else { Expr::Field(self.field()) }
    }

    fn parser_op(&mut self) -> ParserOpKind {
        match self.below(13) {
            0 => ParserOpKind::Extract(self.any(|p| &p.headers)),
            1 => ParserOpKind::Set(self.field(), self.expr(1)),
            2 => ParserOpKind::Advance(self.d.word() as u16),
            3 => ParserOpKind::Lookahead(self.field(), self.below(300) as u16),
            4 => ParserOpKind::SetCounter(self.load()),
            5 => ParserOpKind::AddCounter(self.d.word() as i8),
            6 => ParserOpKind::ExtractNext(self.any(|p| &p.stacks)),
            7 => ParserOpKind::PushCounter(CounterLoad::Const(self.d.word() as u8), self.flip()),
            8 => ParserOpKind::PopCounter,
            9 => ParserOpKind::SubtractChecksum(self.field(), self.list(2, Self::summed)),
            10 => {
                let lo = self.below(40) as u16;
                ParserOpKind::SetSlice(self.field(), lo + self.below(20) as u16, lo, self.expr(1))
            }
            11 => ParserOpKind::SetValid(self.any(|p| &p.headers), self.flip()),
            _ => ParserOpKind::VerifyChecksum(self.field(), self.list(2, Self::summed)),
        }
    }

    /// Adds to the control blocks and deparsers of both gresses and to the ghost control.
    pub(super) fn pipes(&mut self) {
        for gress in Gress::ALL {
            let (control, start) = (self.block(2), self.next());
            let checksums = self.list(1, |w| ChecksumUpdate {
                header: w.any(|p| &p.headers),
                when: w.flip().then(|| w.field()),
                field: w.field(),
                inputs: w.list(2, |w| w.expr(1)),
                zeros_as_ones: w.flip(),
                loc: Loc::default(),
            });
            let emit = self.list(2, |w| w.any(|p| &p.headers));
            let requests = self.list(2, Self::request);
            let move_start = self.flip();
            let pipe = &mut self.p.pipes[gress.index()];
            if move_start {
                pipe.start = start;
            }
            pipe.control.extend(control);
            pipe.deparser.checksums.extend(checksums);
            pipe.deparser.emit.extend(emit);
            pipe.deparser.requests.extend(requests);
        }
        if self.flip() {
            let more = self.block(2);
            self.p.ghost.extend(more);
        }
    }

    fn request(&mut self) -> Request {
        let kind = match self.below(4) {
            0 => RequestKind::Resubmit,
            1 => RequestKind::Mirror(self.field()),
            2 => RequestKind::Digest,
            _ => RequestKind::Pktgen,
        };
        let data = self.list(3, |w| w.expr(1));
        let when = self.flip().then(|| self.field());
        Request { kind, selector: self.below(16) as u8, when, data, loc: Loc::default() }
    }
}
