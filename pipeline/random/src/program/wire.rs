//! Draws headers, parsers and deparsers.

use super::Writer;
use crate::Widths;
use sluice_asic::alu::AluOp;
use sluice_asic::gress::Gress;
use sluice_ir::{
    ArmSet, ChecksumUpdate, CounterLoad, Deparser, Expr, Field, Header, Home, Loc, Lookahead, Next,
    ParamData, ParserOp, ParserOpKind, ParserState, Request, SelectArm, SelectKey, StackData, StateData,
    ValueSetData,
};

/// A header type: widths of its fields after the 8 bits on which the parser selects.
pub(super) type Shape = Vec<u16>;

/// Headers of one gress.
pub(super) struct Wire {
    /// Header that every packet has.
    pub(super) first: Header,
    /// Headers that depend on a select.
    pub(super) rest: Vec<Header>,
    /// Header that ingress passes to egress.
    pub(super) bridge: Option<Header>,
    /// True if the parser extracts the bridged header.
    pub(super) bridged_in: bool,
}

/// Field widths that add up to bytes.
const GROUPS: [&[u16]; 9] = [&[16], &[8], &[32], &[4, 12], &[1, 7], &[3, 13], &[48], &[9, 7], &[20, 4]];

/// Field widths that are bytes.
pub(super) const BYTES: [u16; 6] = [16, 8, 32, 24, 48, 128];

impl Writer<'_, '_> {
    /// Draws the header types that both gresses have.
    pub(super) fn shapes(&mut self) -> Vec<Shape> {
        let headers = 1 + self.d.below(self.limits.headers + 1);
        (0..headers)
            .map(|_| {
                let groups = 1 + self.d.below(self.limits.header_fields);
                self.shape(groups)
            })
            .collect()
    }

    /// Draws the layout of a header stack and its number of elements.
    pub(super) fn stack_shape(&mut self) -> Option<(Shape, usize)> {
        let groups = self.d.of([1, 2]);
        let shape = self.shape(groups);
        self.d.chance(1, 5).then(|| (shape, 2 + self.d.below(2)))
    }

    /// Draws field widths that add up to bytes.
    fn shape(&mut self, groups: usize) -> Shape {
        match self.limits.widths {
            Widths::Usual => (0..groups).flat_map(|_| self.d.of(GROUPS).iter().copied()).collect(),
            Widths::Bytes => (0..groups).map(|_| self.d.of(BYTES)).collect(),
            Widths::Any => {
                let mut shape: Shape = (0..groups).map(|_| self.any_width()).collect();
                let rest = shape.iter().sum::<u16>() % 8;
                shape.extend((rest != 0).then_some(8 - rest));
                shape
            }
        }
    }

    /// Draws any width, mostly a small or a usual one.
    pub(super) fn any_width(&mut self) -> u16 {
        match self.d.below(8) {
            0..=3 => 1 + self.d.below(13) as u16,
            4..=6 => self.d.of([24, 32, 16, 8, 48, 128]),
            _ => 1 + self.d.below(64) as u16,
        }
    }

    fn header(&mut self, name: &str, shape: &[u16]) -> Header {
        let names: Vec<String> = (0..shape.len()).map(|n| format!("f{n}")).collect();
        let fields = names.iter().zip(shape).map(|(n, w)| (n.as_str(), *w));
        let fields: Vec<(&str, u16)> = [("kind", 8)].into_iter().chain(fields).collect();
        self.p.add_header(self.gress, name, &fields)
    }

    /// Declares the headers of the current gress and draws the parser: from each header to later ones.
    pub(super) fn parser(&mut self, shapes: &[Shape], stack: Option<&(Shape, usize)>, bridge: bool) -> Wire {
        let gress = self.gress;
        let headers: Vec<Header> =
            shapes.iter().enumerate().map(|(n, shape)| self.header(&format!("h{n}"), shape)).collect();
        let bridge = bridge.then(|| self.header("bridge", &[16, 8, 32]));
        let bridged_in = bridge.is_some() && gress == Gress::Egress;
        // The last header has no successor but the stack, so states are made from the back.
        let mut made: Vec<ParserState> = Vec::new();
        let mut rest = headers[1..].to_vec();
        let own = self.d.chance(1, 5).then(|| self.header("own", &[16, 8]));
        rest.extend(own);
        if let Some((shape, elements)) = stack {
            let elements: Vec<Header> =
                (0..*elements).map(|n| self.header(&format!("st_{n}"), shape)).collect();
            rest.extend(&elements);
            made.push(self.stack_state(elements));
        }
        for (n, &header) in headers.iter().enumerate().rev() {
            let state = self.state(&format!("s{n}"), header, own, &made);
            made.push(state);
        }
        let mut start = made.last().copied();
        if let (Some(bridge), true, Some(next)) = (bridge, bridged_in, start) {
            let state = self.plain_state("s_bridge", bridge, Next::State(next));
            start = Some(state);
        }
        self.p.pipes[gress.index()].start = start.map_or(Next::Accept, Next::State);
        // There is always a first one: `shapes` draws at least one.
        Wire { first: headers[0], rest, bridge, bridged_in }
    }

    /// Draws a state that extracts stack elements as long as each announces another one.
    fn stack_state(&mut self, headers: Vec<Header>) -> ParserState {
        let (name, gress, doc, loc) = ("st".to_owned(), self.gress, String::new(), Loc::default());
        let stack = self.p.stacks.push(StackData { name, gress, headers, doc, loc });
        let ops = vec![ParserOp { kind: ParserOpKind::ExtractNext(stack), loc: Loc::default() }];
        let state = self.p.states.next_key();
        let arms = vec![SelectArm::new(vec![(1, 1)], Next::State(state))];
        self.p.states.push(StateData {
            name: "s_st".to_owned(),
            gress,
            ops,
            select: vec![SelectKey::Last(stack, 0)],
            arms,
            default: Next::Accept,
            doc: String::new(),
            loc: Loc::default(),
        })
    }

    fn plain_state(&mut self, name: &str, header: Header, default: Next) -> ParserState {
        let ops = vec![ParserOp { kind: ParserOpKind::Extract(header), loc: Loc::default() }];
        self.p.states.push(StateData {
            name: name.to_owned(),
            gress: self.gress,
            ops,
            select: Vec::new(),
            arms: Vec::new(),
            default,
            doc: String::new(),
            loc: Loc::default(),
        })
    }

    /// Draws a state that extracts a header, may set metadata, and continues with states drawn before.
    /// It may make `own` valid, a header that no state extracts.
    fn state(
        &mut self,
        name: &str,
        header: Header,
        own: Option<Header>,
        made: &[ParserState],
    ) -> ParserState {
        let state = self.plain_state(name, header, Next::Accept);
        let fields = self.p.headers[header].fields.clone();
        if self.d.chance(1, 3) {
            let kind = self.parser_step(&fields);
            self.p.states[state].ops.extend(kind.map(|kind| ParserOp { kind, loc: Loc::default() }));
        }
        if let Some(own) = own.filter(|_| self.d.chance(1, 2)) {
            let kinds = self.make(own, &fields);
            self.p.states[state].ops.extend(kinds.map(|kind| ParserOp { kind, loc: Loc::default() }));
        }
        if made.is_empty() {
            return state;
        }
        let mut select = vec![SelectKey::Field(fields[0])];
        let what = self.d.below(8);
        match what {
            6 => select.extend(self.d.pick(&fields[1..]).map(SelectKey::Field)),
            7 => {
                let (at, width) = (self.d.of([0, 8, 3]), self.d.of([8, 4, 16]));
                select.push(SelectKey::Lookahead(Lookahead { at, width }));
            }
            5 => {
                self.count(state);
                select.push(self.d.of([SelectKey::CounterIsZero, SelectKey::CounterIsNegative]));
            }
            4 => select.extend(fields.get(1).copied().map(SelectKey::Field)),
            _ => {}
        }
        let next = |d: &mut crate::Draw<'_>| d.pick(made).map_or(Next::Accept, Next::State);
        let mut arms: Vec<SelectArm> = (0..1 + self.d.below(3))
            .map(|n| {
                let mut values = vec![(n as u128, 0xff)];
                if self.d.chance(1, 5) {
                    values = vec![(0x10, 0xf0)];
                }
                if let Some(&second) = select.get(1) {
                    let width = second.width(&self.p).unwrap_or(1);
                    let full = sluice_asic::alu::width_mask(u32::from(width));
                    let mask = self.d.of([0, full, 1]);
                    values.push((self.d.value(width) & mask, mask));
                }
                SelectArm::new(values, next(self.d))
            })
            .collect();
        if let 3 | 4 = what {
            self.in_set(&select, &mut arms);
        }
        let default = match self.d.below(5) {
            0..=2 => Next::Accept,
            3 => next(self.d),
            _ => Next::Reject,
        };
        let data = &mut self.p.states[state];
        (data.select, data.arms, data.default) = (select, arms, default);
        state
    }

    /// Makes the last arm one of members of a new value set: they are compared with all keys, or with the last one.
    fn in_set(&mut self, select: &[SelectKey], arms: &mut [SelectArm]) {
        let first = arms.len() % select.len();
        let fields = select.iter().skip(first).enumerate().map(|(n, key)| {
            let width = key.width(&self.p).unwrap_or(1);
            ParamData { name: format!("f{n}"), width }
        });
        let (name, gress) = (format!("vs{}", self.p.value_sets.len()), self.gress);
        let (fields, size) = (fields.collect(), 1 + arms.len() as u32);
        let (doc, loc) = (String::new(), Loc::default());
        let set = self.p.value_sets.push(ValueSetData { name, gress, fields, size, doc, loc });
        if let Some(arm) = arms.last_mut() {
            arm.values.iter_mut().skip(first).for_each(|value| *value = (0, 0));
            arm.set = Some(ArmSet { set, first: first as u16 });
        }
    }

    /// Draws operations that make a header valid and write one of its fields, or make it invalid.
    fn make(&mut self, own: Header, fields: &[Field]) -> [ParserOpKind; 2] {
        let to = self.p.headers[own].fields[1 + self.d.below(2)];
        let width = self.p.fields[to].width;
        let same: Vec<Field> = fields.iter().copied().filter(|f| self.p.fields[*f].width == width).collect();
        let value = match self.d.pick(&same) {
            Some(f) => Expr::Field(f),
            None => Expr::Const(self.d.value(width), width),
        };
        let write = match self.d.below(3) {
            0 => ParserOpKind::SetSlice(to, 7, 0, Expr::Const(self.d.value(8), 8)),
            1 => ParserOpKind::Set(
                to,
                Expr::Alu(
                    AluOp::Or,
                    Box::new(Expr::Field(to)),
                    Box::new(Expr::Const(self.d.value(width), width)),
                ),
            ),
            _ => ParserOpKind::Set(to, value),
        };
        [ParserOpKind::SetValid(own, self.d.chance(5, 6)), write]
    }

    /// Draws an operation that sets the parser counter or adds to it.
    fn count(&mut self, state: ParserState) {
        let value = self.d.of([0, 1, 2, 0xff]);
        let kind = match self.d.below(2) {
            0 => ParserOpKind::SetCounter(CounterLoad::Const(value)),
            _ => ParserOpKind::AddCounter(self.d.of([-1, 1, -2])),
        };
        self.p.states[state].ops.push(ParserOp { kind, loc: Loc::default() });
    }

    /// Draws an operation: sets metadata to a constant, to a field of the header just extracted or to lookahead bits,
    /// verifies a checksum, or skips bytes.
    fn parser_step(&mut self, fields: &[Field]) -> Option<ParserOpKind> {
        if self.d.chance(1, 5) {
            return Some(ParserOpKind::Advance(1 + self.d.below(4) as u16));
        }
        let gress = self.gress;
        let metadata: Vec<Field> = self
            .p
            .fields
            .iter()
            .filter(|(_, d)| d.gress == gress && d.home == Home::Metadata)
            .map(|(f, _)| f)
            .collect();
        let to = self.d.pick(&metadata)?;
        let width = self.p.fields[to].width;
        let same: Vec<Field> = fields
            .iter()
            .copied()
            .filter(|f| self.p.fields[*f].width == width && width.is_multiple_of(8))
            .collect();
        if width == 1 && self.d.chance(1, 2) {
            let inputs = fields.iter().map(|&f| Expr::Field(f)).collect();
            return Some(ParserOpKind::VerifyChecksum(to, inputs));
        }
        let words: Vec<Field> =
            fields.iter().copied().filter(|f| self.p.fields[*f].width.is_multiple_of(16)).collect();
        if width == 16 && !words.is_empty() && self.d.chance(1, 6) {
            let mut inputs: Vec<Expr> = words.into_iter().map(Expr::Field).collect();
            if self.d.chance(1, 4) {
                inputs.insert(0, Expr::Const(0, 16));
            }
            return Some(ParserOpKind::SubtractChecksum(to, inputs));
        }
        if matches!(width, 8 | 16 | 32) && self.d.chance(1, 4) {
            return Some(ParserOpKind::Lookahead(to, self.d.of([0, 8, 16])));
        }
        let value = match self.d.pick(&same) {
            Some(f) => Expr::Field(f),
            None => Expr::Const(self.d.value(width), width),
        };
        Some(ParserOpKind::Set(to, value))
    }

    /// Adds another header and metadata to a checksum, if they are a multiple of 16 bits.
    fn sum_more(&mut self, header: Header, emit: &[Header], inputs: &mut Vec<Expr>) {
        let whole = |w: &Self, fields: &[Field]| {
            fields.iter().map(|f| w.p.fields[*f].width).sum::<u16>().is_multiple_of(16)
        };
        if !self.d.chance(1, 2) {
            return;
        }
        // Zeros fill a word, or move what follows to the other byte of its word.
        if self.d.chance(1, 3) {
            inputs.push(Expr::Const(0, 8));
        }
        let others: Vec<Header> = emit.iter().copied().filter(|h| *h != header).collect();
        if let Some(other) = self.d.pick(&others)
            && whole(self, &self.p.headers[other].fields)
        {
            inputs.extend(self.p.header_list(other));
        }
        let gress = self.gress;
        let metadata = self.p.fields.iter().filter(|(_, d)| d.gress == gress && d.home == Home::Metadata);
        let words: Vec<Field> = metadata.filter(|(_, d)| d.width == 16).map(|(f, _)| f).collect();
        inputs.extend(self.d.pick(&words).map(Expr::Field));
    }

    /// Returns a metadata field of 1 bit, if there is one.
    pub(super) fn flag(&mut self) -> Option<Field> {
        let gress = self.gress;
        let metadata = self.p.fields.iter().filter(|(_, d)| d.gress == gress && d.home == Home::Metadata);
        let bits: Vec<Field> = metadata.filter(|(_, d)| d.width == 1).map(|(f, _)| f).collect();
        self.d.pick(&bits)
    }

    /// Emits all headers; at ingress the bridged header comes first.
    pub(super) fn deparser(&mut self, wire: &Wire, requests: Vec<Request>) -> Deparser {
        let mut emit: Vec<Header> = wire.bridge.filter(|_| !wire.bridged_in).into_iter().collect();
        emit.push(wire.first);
        emit.extend(&wire.rest);
        let mut checksums = Vec::new();
        for &header in &emit {
            let fields = self.p.headers[header].fields.clone();
            let sums: Vec<Field> = fields.iter().copied().filter(|f| self.p.fields[*f].width == 16).collect();
            if let Some(field) = self.d.pick(&sums)
                && self.d.chance(1, 4)
            {
                let mut inputs: Vec<Expr> =
                    fields.into_iter().filter(|f| *f != field).map(Expr::Field).collect();
                self.sum_more(header, &emit, &mut inputs);
                let zeros_as_ones = self.d.chance(1, 4);
                let when = if self.d.chance(1, 3) { self.flag() } else { None };
                let loc = Loc::default();
                checksums.push(ChecksumUpdate { header, when, field, inputs, zeros_as_ones, loc });
            }
        }
        Deparser { checksums, emit, requests }
    }
}
