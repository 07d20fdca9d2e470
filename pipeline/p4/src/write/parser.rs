//! Parsers.
//!
//! The program has no bytes in front of the packet; P4 extracts and skips them first.

use super::names::Taken;
use super::value::number;
use super::{Writer, title};
use sluice_asic::alu::width_mask;
use sluice_asic::gress::Gress;
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::{
    CounterLoad, Expr, Field, Home, Intrinsic, Lookahead, Next, ParserOpKind, ParserState, Program,
    RequestKind, SelectArm, SelectKey, StateData, ValueSet, list_header,
};

/// The name of the first state.
const START: &str = "start";
/// The name of the parser counter.
const COUNTER: &str = "counter";

/// The state that passes the port metadata of packets that were not resubmitted.
const PORT_METADATA: &str = "parse_port_metadata";

/// The start of a parser that tells resubmitted packets from others.
pub(super) struct Resubmitted {
    /// The first state.
    start: ParserState,
    /// The flag that it selects on.
    flag: Field,
    /// The state that extracts the data of a resubmit.
    again: Next,
    /// The number of bits of the data.
    bits: u32,
    /// The state of other packets.
    first: Next,
}

/// Returns the start of the ingress parser if resubmits carry data, and `Some(None)` if none do. Returns `None` for a parser that has to read
/// the data in a way that P4 has not.
pub(super) fn resubmitted(p: &Program) -> Option<Option<Resubmitted>> {
    let requests = &p.pipe(Gress::Ingress).deparser.requests;
    let mut data = requests
        .iter()
        .filter(|request| request.kind == RequestKind::Resubmit)
        .filter_map(|r| list_header(p, &r.data));
    let Some(header) = data.next() else { return Some(None) };
    let Next::State(start) = p.pipe(Gress::Ingress).start else { return None };
    let state = &p.states[start];
    let (&[SelectKey::Field(flag)], [arm]) = (state.select.as_slice(), state.arms.as_slice()) else {
        return None;
    };
    let asks = p.fields[flag].home == Home::Intrinsic(Intrinsic::ResubmitFlag) && arm.values == [(1, 1)];
    let Next::State(again) = arm.next else { return None };
    let extracts = p.states[again].ops.first().map(|op| &op.kind) == Some(&ParserOpKind::Extract(header));
    let first = state.default;
    let known = asks && extracts && state.ops.is_empty() && data.next().is_none();
    let bits = p.header_bits(header);
    // The slot of the data has 16 bytes on Tofino 2.
    let known = known && bits <= 128;
    known.then_some(Some(Resubmitted { start, flag, again: arm.next, bits, first }))
}

/// The states of a parser, and its objects.
struct Parser {
    names: EntityMap<ParserState, String>,
    /// The checksums that states verify, with their names, in order of the operations.
    sums: Vec<String>,
    next_sum: usize,
    /// The value sets that are declared, with their names.
    sets: Vec<(ValueSet, String)>,
}

impl Writer<'_> {
    /// Writes the parser of the gress.
    pub(super) fn parser(&mut self) {
        let (p, gress) = (self.p, self.gress);
        let side = match gress {
            Gress::Ingress => "ingress",
            Gress::Egress => "egress",
        };
        let prefix = super::layout::prefix(gress);
        let (headers, metadata) = (self.layout.headers_type(gress), self.layout.metadata_type(gress));
        let params = vec![
            "packet_in pkt".to_owned(),
            format!("out {headers} hdr"),
            format!("out {metadata} {prefix}_md"),
            format!("out {side}_intrinsic_metadata_t {prefix}_intr_md"),
        ];
        self.signature(&format!("parser {}Parser", title(gress)), &params);
        let start = p.pipe(gress).start;
        let mut parser = self.objects(start);
        self.page.gap();
        let inline = matches!(start, Next::State(state) if parser.names[state] == START);
        let resubmit = resubmitted(p).flatten().filter(|_| gress == Gress::Ingress);
        match &resubmit {
            Some(resubmit) => self.after_resubmit(&mut parser, resubmit),
            None if !inline => {
                self.page.open("state start");
                self.front();
                self.page.line(&format!("transition {};", parser.next(start)));
                self.page.close("");
            }
            None => {}
        }
        let written = |state: ParserState| resubmit.as_ref().is_some_and(|resubmit| resubmit.start == state);
        for (state, data) in p.states.iter().filter(|(state, data)| data.gress == gress && !written(*state)) {
            self.page.gap();
            self.page.comment(&data.doc);
            self.page.open(&format!("state {}", parser.names[state]));
            if inline && Next::State(state) == start {
                self.front();
            }
            let left = resubmit.as_ref().filter(|resubmit| resubmit.again == Next::State(state));
            self.state(&mut parser, data, left.map(|resubmit| resubmit.bits));
            self.page.close("");
        }
        self.page.close("");
    }

    /// Writes the statements that pass the bytes in front of the packet.
    fn front(&mut self) {
        self.page.line(&format!("pkt.extract({}_intr_md);", super::layout::prefix(self.gress)));
        if self.gress == Gress::Ingress {
            self.page.line("pkt.advance(PORT_METADATA_SIZE);");
        }
    }

    /// Writes the first states of a program whose resubmits leave data where other packets have port metadata.
    fn after_resubmit(&mut self, parser: &mut Parser, resubmit: &Resubmitted) {
        let flag = &self.layout.fields[resubmit.flag];
        let select = format!("transition select({flag})");
        self.page.open("state start");
        self.page.line("pkt.extract(ig_intr_md);");
        self.page.open(&select);
        self.page.line(&format!("1 : {};", parser.next(resubmit.again)));
        self.page.line(&format!("default : {PORT_METADATA};"));
        self.page.close("");
        self.page.close("");
        self.page.gap();
        self.page.open(&format!("state {PORT_METADATA}"));
        self.page.line("pkt.advance(PORT_METADATA_SIZE);");
        self.page.line(&format!("transition {};", parser.next(resubmit.first)));
        self.page.close("");
    }

    /// Names states and declares objects.
    fn objects(&mut self, start: Next) -> Parser {
        let (p, gress) = (self.p, self.gress);
        let mut taken = Taken::in_control();
        // Only a state that no transition leads to can begin with the bytes in front of the packet.
        let targets =
            |data: &StateData| data.arms.iter().map(|arm| arm.next).chain([data.default]).collect::<Vec<_>>();
        let again = p.states.values().any(|data| targets(data).contains(&start));
        let first = match start {
            Next::State(state)
                if !again && p.states[state].name == START && resubmitted(p).flatten().is_none() =>
            {
                Some(state)
            }
            _ => None,
        };
        taken.take(START, "state");
        taken.take(PORT_METADATA, "state");
        let mut names: EntityMap<ParserState, String> = p.states.values().map(|_| String::new()).collect();
        for (state, data) in p.states.iter().filter(|(_, data)| data.gress == gress) {
            names[state] =
                if Some(state) == first { START.to_owned() } else { taken.take(&data.name, "state").text };
        }
        let sets = self.declare_value_sets(&mut taken);
        let mut sums = Vec::new();
        let states = p.states.values().filter(|data| data.gress == gress);
        let mut counts = false;
        for op in states.flat_map(|data| &data.ops) {
            match &op.kind {
                ParserOpKind::VerifyChecksum(_, fields) => {
                    let first = fields.iter().find_map(field_of);
                    let of = first.map_or("packet", |field| self.owner(field));
                    let name = taken.numbered(&format!("{}_checksum", of.replace('.', "_")));
                    self.page.line(&format!("Checksum() {name};"));
                    sums.push(name);
                }
                ParserOpKind::SetCounter(_)
                | ParserOpKind::AddCounter(_)
                | ParserOpKind::PushCounter(..)
                | ParserOpKind::PopCounter => counts = true,
                _ => {}
            }
        }
        if counts {
            self.page.line(&format!("ParserCounter() {COUNTER};"));
        }
        Parser { names, sums, next_sum: 0, sets }
    }

    /// Returns the name of the header or structure of a field.
    fn owner(&self, field: Field) -> &str {
        match self.p.fields[field].home {
            Home::Header(header) => &self.p.headers[header].name,
            _ => self.p.fields[field].name.split('.').next().unwrap_or_default(),
        }
    }

    /// Writes a state; `left` is the number of bits that a resubmit leaves, which the first operation extracts.
    fn state(&mut self, parser: &mut Parser, data: &StateData, left: Option<u32>) {
        for (n, op) in data.ops.iter().enumerate() {
            self.op(parser, &op.kind);
            if let (0, Some(bits)) = (n, left) {
                // The data are where other packets have port metadata.
                self.page.line(&format!("pkt.advance(PORT_METADATA_SIZE - {bits});"));
            }
        }
        if data.select.is_empty() && data.arms.is_empty() {
            return self.page.line(&format!("transition {};", parser.next(data.default)));
        }
        let keys: Vec<String> = data.select.iter().map(|key| self.select_key(*key)).collect();
        self.page.open_filled(&format!("transition select({})", keys.join(", ")));
        for arm in &data.arms {
            let values = self.arm(parser, data, arm);
            self.page.line(&format!("{values} : {};", parser.next(arm.next)));
        }
        self.page.line(&format!("default : {};", parser.next(data.default)));
        self.page.close("");
    }

    fn op(&mut self, parser: &mut Parser, op: &ParserOpKind) {
        let text = match op {
            ParserOpKind::Extract(header) => format!("pkt.extract({})", self.layout.headers[*header]),
            ParserOpKind::ExtractNext(stack) => format!("pkt.extract({}.next)", self.layout.stacks[*stack]),
            ParserOpKind::Set(field, value) => {
                format!("{} = {}", self.layout.fields[*field], self.value(value))
            }
            ParserOpKind::SetSlice(field, hi, lo, value) => {
                format!("{}[{hi}:{lo}] = {}", self.layout.fields[*field], self.value(value))
            }
            ParserOpKind::SetValid(header, valid) => {
                let method = if *valid { "setValid" } else { "setInvalid" };
                format!("{}.{method}()", self.layout.headers[*header])
            }
            ParserOpKind::VerifyChecksum(field, fields) => {
                let sum = parser.sums.get(parser.next_sum).cloned().unwrap_or_default();
                parser.next_sum += 1;
                self.summed(&sum, fields);
                format!("{} = (bit<1>) {sum}.verify()", self.layout.fields[*field])
            }
            ParserOpKind::Advance(bytes) => format!("pkt.advance({})", u32::from(*bytes) * 8),
            ParserOpKind::Lookahead(field, at) => {
                let width = self.p.fields[*field].width;
                format!("{} = {}", self.layout.fields[*field], ahead(Lookahead { at: *at, width }))
            }
            ParserOpKind::SetCounter(load) => format!("{COUNTER}.set({})", self.load(*load)),
            ParserOpKind::PushCounter(load, linked) => {
                let linked = if *linked { ", true" } else { "" };
                format!("{COUNTER}.push({}{linked})", self.load(*load))
            }
            ParserOpKind::PopCounter => format!("{COUNTER}.pop()"),
            ParserOpKind::AddCounter(by) if *by < 0 => format!("{COUNTER}.decrement({})", by.unsigned_abs()),
            ParserOpKind::AddCounter(by) => format!("{COUNTER}.increment({by})"),
            // Refused before anything is written.
            ParserOpKind::SubtractChecksum(..) => return,
        };
        self.page.line(&format!("{text};"));
    }

    /// Adds fields to a sum: a header as a whole if they are all of its fields.
    fn summed(&mut self, sum: &str, fields: &[Expr]) {
        let header = match fields.first().and_then(field_of).map(|field| self.p.fields[field].home) {
            Some(Home::Header(header)) if self.p.header_list(header) == fields => Some(header),
            _ => None,
        };
        match header {
            Some(header) => {
                let text = format!("{sum}.add({});", self.layout.headers[header]);
                self.page.line(&text);
            }
            None => {
                let item = |input: &Expr| match field_of(input) {
                    Some(field) => self.layout.fields[field].clone(),
                    None => format!("{}w0", input.width(self.p)),
                };
                let items: Vec<String> = fields.iter().map(item).collect();
                self.page.list(&format!("{sum}.add({{ "), &items, " });");
            }
        }
    }

    fn load(&self, load: CounterLoad) -> String {
        // The mask of Tofino 2 has a bit for each bit of the field. That of eight bits means the same on Tofino.
        let bits = |mask: u8| format!("{:#x}", (2u32 << mask) - 1);
        match load {
            CounterLoad::Const(value) => format!("8w{value}"),
            CounterLoad::Field { field, max, rotate, mask, add } => {
                format!("{}, {max}, {rotate}, {}, {add}", self.layout.fields[field], bits(mask))
            }
            CounterLoad::Ahead { at, max, rotate, mask, add } => {
                format!("{}, {max}, {rotate}, {}, {add}", ahead(Lookahead { at, width: 8 }), bits(mask))
            }
        }
    }

    fn select_key(&self, key: SelectKey) -> String {
        match key {
            SelectKey::Field(field) => self.layout.fields[field].clone(),
            SelectKey::Lookahead(of) => ahead(of),
            SelectKey::CounterIsZero => format!("{COUNTER}.is_zero()"),
            SelectKey::CounterIsNegative => format!("{COUNTER}.is_negative()"),
            SelectKey::Last(stack, position) => {
                let first = self.p.stacks[stack].headers.first();
                let field =
                    first.and_then(|header| self.p.headers[*header].fields.get(usize::from(position)));
                let path = field.map_or("", |field| self.layout.fields[*field].as_str());
                let member = path.rsplit('.').next().unwrap_or_default();
                format!("{}.last.{member}", self.layout.stacks[stack])
            }
        }
    }

    fn arm(&self, parser: &Parser, data: &StateData, arm: &SelectArm) -> String {
        let mut values: Vec<String> = (arm.values.iter().zip(&data.select))
            .map(|(&(value, mask), key)| {
                let all = width_mask(key.width(self.p).unwrap_or(128).into());
                let flag = matches!(key, SelectKey::CounterIsZero | SelectKey::CounterIsNegative);
                match (value, mask) {
                    (_, 0) => "_".to_owned(),
                    (value, _) if flag => (value == 1).to_string(),
                    (value, mask) if mask == all => match key {
                        SelectKey::Field(field) => self.constant_of(*field, value),
                        _ => number(value),
                    },
                    (value, mask) => format!("{} &&& {mask:#x}", number(value)),
                }
            })
            .collect();
        if let Some(of) = arm.set
            && let Some((_, name)) = parser.sets.iter().find(|(set, _)| *set == of.set)
        {
            let fields = self.p.value_sets[of.set].fields.len();
            let first = usize::from(of.first).min(values.len());
            values.splice(first..(first + fields).min(values.len()), [name.clone()]);
        }
        match values.as_slice() {
            [one] => one.clone(),
            several => format!("({})", several.join(", ")),
        }
    }
}

impl Parser {
    fn next(&self, next: Next) -> &str {
        match next {
            Next::State(state) if state.index() < self.names.len() => &self.names[state],
            Next::Accept => "accept",
            Next::State(_) | Next::Reject => "reject",
        }
    }
}

/// Returns the field that a sum covers; `None` for zeros.
fn field_of(input: &Expr) -> Option<Field> {
    if let Expr::Field(field) = input { Some(*field) } else { None }
}

/// Returns bits of the packet in front of the parser.
fn ahead(of: Lookahead) -> String {
    let Lookahead { at, width } = of;
    let call = format!("pkt.lookahead<bit<{}>>()", at + width);
    if at == 0 { call } else { format!("{call}[{}:0]", width - 1) }
}
