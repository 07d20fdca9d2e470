//! Parser graphs: shape, selects, extraction, and assignments of states.

use super::headers::Validity;
use super::possible::Possible;
use super::{Diag, Site, count, fits, values};
use crate::parser_unroll::{Successor, UnrollError, UnrolledParser};
use crate::{
    ArmSet, CounterLoad, Expr, Field, Home, Intrinsic, Loc, ParserOpKind, ParserState, ParserWrite, Program,
    SelectArm, SelectKey, StateData,
};
use sluice_asic::gress::Gress;
use sluice_asic::limits;
use std::collections::BTreeSet;

pub(super) fn check(p: &Program, gress: Gress, d: &mut Vec<Diag>) {
    for data in p.states.values().filter(|s| s.gress == gress) {
        select(p, data, d);
        effects(p, data, d);
    }
    match UnrolledParser::of(p, gress) {
        Err(UnrollError::Loop(cycle)) => d.push(loops(p, &cycle)),
        Err(UnrollError::TooMany) => {
            let limit = &limits::PARSER_NODES;
            let text = format!("the {gress} parser unrolls into more than {} states", limit.get());
            let help = format!(
                "bound its loops by a shorter stack or a smaller largest counter; {}",
                limit.advice()
            );
            d.push(Diag::error(Loc::default(), text).help(help));
        }
        Ok(unrolled) => {
            repeated(p, &unrolled, d);
            paths(p, gress, &unrolled, d);
        }
    }
}

/// Warns of headers that a loop extracts again, once for each operation.
fn repeated(p: &Program, unrolled: &UnrolledParser, d: &mut Vec<Diag>) {
    let mut known = BTreeSet::new();
    for (node, _) in unrolled.nodes.iter().zip(&unrolled.repeats).filter(|(_, again)| **again) {
        let data = &p.states[node.config.state];
        if !known.insert(node.config.state) {
            continue;
        }
        for op in &data.ops {
            let ParserOpKind::Extract(h) = op.kind else { continue };
            let name = &p.headers[h].name;
            let text = format!(
                "state `{}` extracts header `{name}` again each time that its loop repeats",
                data.name
            );
            let help = "only the last one stays, and the packet loses the others: extract the next element of a stack to keep all";
            d.push(Diag::warning(op.loc, text).help(help));
        }
    }
}

fn loops(p: &Program, cycle: &[ParserState]) -> Diag {
    let names: Vec<String> =
        cycle.iter().chain(cycle.first()).map(|&s| format!("`{}`", p.states[s].name)).collect();
    let at = cycle.first().map_or(Loc::default(), |&s| p.states[s].loc);
    let text = format!("the parser loops: {}", names.join(" -> "));
    Diag::error(at, text).help(
        "make every repetition extract or skip bytes of the packet, or count repetitions with the parser counter and select on it",
    )
}

fn select(p: &Program, data: &StateData, d: &mut Vec<Diag>) {
    let name = &data.name;
    for key in &data.select {
        match key {
            SelectKey::Lookahead(ahead) if !(1..=128).contains(&ahead.width) => {
                let text = format!("state `{name}` has a look-ahead of {} bits", ahead.width);
                d.push(Diag::error(data.loc, text).help("use 1 to 128 bits"));
            }
            SelectKey::Last(stack, position) if key.width(p).is_none() => {
                let text = format!(
                    "state `{name}` selects on field {position} of stack `{}`, which its elements lack",
                    p.stacks[*stack].name
                );
                d.push(Diag::error(data.loc, text).help("positions count from 0"));
            }
            _ => {}
        }
    }
    if data.select.is_empty() && !data.arms.is_empty() {
        let text = format!("state `{name}` has {} but selects on nothing", count(data.arms.len(), "arm"));
        d.push(Diag::error(data.loc, text).help("name the fields to select on, or use the default alone"));
        return;
    }
    for (n, arm) in data.arms.iter().enumerate() {
        if arm.values.len() != data.select.len() {
            let found = count(arm.values.len(), "value");
            let expected = count(data.select.len(), "selected field");
            let text = format!("arm {n} of state `{name}` has {found} for {expected}");
            d.push(
                Diag::error(data.loc, text)
                    .help("give one value and mask per field; mask 0 matches anything"),
            );
            continue;
        }
        for (&(value, mask), key) in arm.values.iter().zip(&data.select) {
            let Some(width) = key.width(p) else { continue };
            let field = key.name(p);
            if !fits(value, width) || !fits(mask, width) {
                let text = format!(
                    "arm {n} of state `{name}` compares `{field}` with {value:#x} under mask {mask:#x}, but it has {width} bits"
                );
                d.push(Diag::error(data.loc, text).help("use a value that the field can have"));
            } else if value & !mask != 0 {
                let text = format!(
                    "arm {n} of state `{name}` compares `{field}` with {value:#x}, which has bits outside its mask {mask:#x}"
                );
                d.push(
                    Diag::error(data.loc, text)
                        .help("it can never match: clear the value's bits that are not in the mask"),
                );
            }
        }
        if let Some(of) = arm.set {
            member_keys(p, data, n, of, d);
        }
        let covers = |a: &SelectArm| a.values == arm.values && (a.set.is_none() || a.set == arm.set);
        if let Some(first) = data.arms[..n].iter().position(covers) {
            let text = format!("arm {n} of state `{name}` never matches: arm {first} has the same values");
            d.push(Diag::warning(data.loc, text).help("remove one of the two"));
        }
    }
}

/// Checks the keys that an arm compares with a value set.
fn member_keys(p: &Program, data: &StateData, arm: usize, of: ArmSet, d: &mut Vec<Diag>) {
    let (set, first) = (&p.value_sets[of.set], usize::from(of.first));
    let who = format!("arm {arm} of state `{}`", data.name);
    if data.select.len() < first + set.fields.len() {
        let text = format!(
            "{who} compares {} from key {first} on with value set `{}`, but the state has {}",
            count(set.fields.len(), "field"),
            set.name,
            count(data.select.len(), "key")
        );
        d.push(Diag::error(data.loc, text).help("select on one key for each field of the set"));
        return;
    }
    let values = data.arms[arm].values.iter().skip(first);
    for ((field, key), (_, mask)) in set.fields.iter().zip(&data.select[first..]).zip(values) {
        let name = key.name(p);
        if matches!(key, SelectKey::CounterIsZero | SelectKey::CounterIsNegative) {
            let text = format!("{who} compares the parser counter with value set `{}`", set.name);
            d.push(Diag::error(data.loc, text).help("compare it with values in arms without a value set"));
        } else if key.width(p).is_some_and(|width| width != field.width) {
            let text = format!(
                "{who} compares `{name}` with field `{}` of value set `{}`, which has {} instead of {}",
                field.name,
                set.name,
                count(field.width.into(), "bit"),
                key.width(p).unwrap_or_default()
            );
            d.push(Diag::error(data.loc, text).help("make both equally wide"));
        }
        if *mask != 0 {
            let text = format!("{who} compares `{name}` with a value and with value set `{}`", set.name);
            d.push(Diag::error(data.loc, text).help("leave one of the two out: mask 0 matches anything"));
        }
    }
}

/// Checks the writes of a state, and their sources.
fn effects(p: &Program, data: &StateData, d: &mut Vec<Diag>) {
    let who = format!("state `{}`", data.name);
    for op in &data.ops {
        let site = Site { who: &who, gress: Some(data.gress), loc: op.loc };
        if let Some(write) = op.kind.write() {
            writable(p, write.to, site, d);
            source(p, write, site, d);
        }
        match &op.kind {
            ParserOpKind::Advance(0) => {
                let text = format!("{who} advances by 0 bytes");
                d.push(Diag::error(op.loc, text).help("remove it"));
            }
            ParserOpKind::Lookahead(dst, _) => writable(p, *dst, site, d),
            ParserOpKind::SetCounter(CounterLoad::Field { field, rotate, mask, .. })
            | ParserOpKind::PushCounter(CounterLoad::Field { field, rotate, mask, .. }, _) => {
                counter(p, *field, site, d);
                conversion((*rotate, *mask), site, d);
            }
            ParserOpKind::SetCounter(CounterLoad::Ahead { at, rotate, mask, .. })
            | ParserOpKind::PushCounter(CounterLoad::Ahead { at, rotate, mask, .. }, _) => {
                if !at.is_multiple_of(8) {
                    let text =
                        format!("{who} loads the counter from bit {at} ahead, which does not begin a byte");
                    d.push(Diag::error(op.loc, text).help("load it from a byte"));
                }
                conversion((*rotate, *mask), site, d);
            }
            ParserOpKind::Set(..)
            | ParserOpKind::SetSlice(..)
            | ParserOpKind::SetValid(..)
            | ParserOpKind::Extract(_)
            | ParserOpKind::Advance(_)
            | ParserOpKind::SetCounter(CounterLoad::Const(_))
            | ParserOpKind::PushCounter(CounterLoad::Const(_), _)
            | ParserOpKind::PopCounter
            | ParserOpKind::AddCounter(_)
            | ParserOpKind::ExtractNext(_) => {}
            ParserOpKind::VerifyChecksum(dst, inputs) => {
                writable(p, *dst, site, d);
                let (name, width) = (&p.fields[*dst].name, p.fields[*dst].width);
                if width != 1 {
                    let text = format!(
                        "{who} verifies a checksum into `{name}`, which has {width} bits instead of 1"
                    );
                    d.push(Diag::error(op.loc, text).help("use a 1-bit metadata field; 1 means wrong"));
                }
                summed(inputs, site, d);
                let bits: u32 = inputs.iter().map(|input| u32::from(input.width(p))).sum();
                if bits == 0 || !bits.is_multiple_of(8) {
                    let text = format!("{who} verifies a checksum over {bits} bits");
                    d.push(Diag::error(op.loc, text).help("sum whole bytes: name all fields of the header"));
                }
            }
            ParserOpKind::SubtractChecksum(dst, inputs) => {
                // A header takes a sum that the state begins: over zeros, or in a header without bytes of the packet.
                let begins = |op: &crate::ParserOp| match &op.kind {
                    ParserOpKind::Set(to, value) => *to == *dst && matches!(value, Expr::Const(0, _)),
                    ParserOpKind::SetValid(h, true) => p.fields[*dst].home == Home::Header(h.to_owned()),
                    _ => false,
                };
                if !(matches!(p.fields[*dst].home, Home::Header(_)) && data.ops.iter().any(begins)) {
                    metadata(p, *dst, site, d);
                }
                let (name, width) = (&p.fields[*dst].name, p.fields[*dst].width);
                if width != 16 {
                    let text = format!("{who} keeps a sum in `{name}`, which has {width} bits instead of 16");
                    d.push(Diag::error(op.loc, text).help("use a 16-bit metadata field"));
                }
                summed(inputs, site, d);
                let bits: u32 = inputs.iter().map(|input| u32::from(input.width(p))).sum();
                if bits == 0 || !bits.is_multiple_of(16) {
                    let text = format!("{who} subtracts {bits} bits from a sum");
                    let help = "subtract whole 16-bit words: also name the neighbouring fields";
                    d.push(Diag::error(op.loc, text).help(help));
                }
            }
        }
    }
}

fn counter(p: &Program, field: Field, site: Site<'_>, d: &mut Vec<Diag>) {
    let (who, data) = (site.who, &p.fields[field]);
    if data.width > 8 || !matches!(data.home, Home::Header(_)) {
        let text = format!("{who} loads the counter from `{}` ({} bits)", data.name, data.width);
        d.push(Diag::error(site.loc, text).help("load it from a header field of at most 8 bits"));
    }
}

fn conversion((rotate, mask): (u8, u8), site: Site<'_>, d: &mut Vec<Diag>) {
    let who = site.who;
    if rotate > 7 || mask > 7 {
        let text = format!("{who} loads the counter rotated by {rotate} under mask {mask}");
        d.push(
            Diag::error(site.loc, text).help("both are 0 to 7: the mask is the number of kept bits minus 1"),
        );
    }
}

/// Checks that a sum is over fields and zeros.
fn summed(inputs: &[Expr], site: Site<'_>, d: &mut Vec<Diag>) {
    let legal = |input: &Expr| matches!(input, Expr::Field(_) | Expr::Const(0, _));
    if !inputs.iter().all(legal) {
        let text = format!("{} sums something other than fields and zeros", site.who);
        d.push(Diag::error(site.loc, text).help("a checksum unit adds bytes of the packet"));
    }
}

fn metadata(p: &Program, dst: Field, site: Site<'_>, d: &mut Vec<Diag>) {
    if p.fields[dst].home != Home::Metadata {
        let text = format!("{} writes `{}`, which is not metadata", site.who, p.fields[dst].name);
        d.push(Diag::error(site.loc, text).help(
            "the checksum units of a parser write metadata, or a field of a header that the state sets to 0 before",
        ));
    }
}

fn writable(p: &Program, dst: Field, site: Site<'_>, d: &mut Vec<Diag>) {
    let legal = match p.fields[dst].home {
        Home::Metadata | Home::Header(_) => true,
        Home::Intrinsic(which) => which.info().writable && which != Intrinsic::DropCtl,
        Home::PortMetadata => false,
    };
    if !legal {
        let text = format!("{} writes `{}`, which the hardware fills", site.who, p.fields[dst].name);
        d.push(
            Diag::error(site.loc, text)
                .help("a parser writes metadata, fields of headers, and intrinsic fields that actions write"),
        );
    }
}

fn source(p: &Program, write: ParserWrite<'_>, site: Site<'_>, d: &mut Vec<Diag>) {
    let (who, dst) = (site.who, &p.fields[write.to]);
    if let Some((hi, lo)) = write.bits.filter(|(hi, lo)| lo > hi || *hi >= dst.width) {
        let text = format!("{who} writes `{}[{hi}:{lo}]`, but the field has {} bits", dst.name, dst.width);
        d.push(Diag::error(site.loc, text).help("the higher bit comes first; bits count from 0"));
        return;
    }
    let bits = write.bits.map_or(dst.width, |(hi, lo)| hi - lo + 1);
    let Some(width) = values::width(p, write.value, site, &[], d) else { return };
    if width != bits {
        let text =
            format!("{who} sets {} of `{}` to a {width}-bit value", count(bits.into(), "bit"), dst.name);
        d.push(Diag::error(site.loc, text).help("make both equally wide"));
    }
    let legal = match write.source() {
        _ if write.is_constant() => true,
        Some((f, _)) => p.fields[f].home != Home::Metadata,
        None => false,
    };
    if !legal {
        let text = format!(
            "{who} sets `{}` from something other than a constant or bits that a parser reads",
            dst.name
        );
        let help = "copy bits of an extracted field, of an intrinsic field or of port metadata, or compute the value in \
                    an action";
        d.push(Diag::error(site.loc, text).help(help));
    }
}

/// Checks rules that depend on the path of a packet.
fn paths(p: &Program, gress: Gress, unrolled: &UnrolledParser, d: &mut Vec<Diag>) {
    let validity = Validity::new(p, gress);
    let parsed = validity.parse(unrolled);
    let mut written = written(p, unrolled);
    for (n, (node, before)) in unrolled.nodes.iter().zip(&parsed.before).enumerate() {
        let data = &p.states[node.config.state];
        let who = format!("state `{}`", data.name);
        let mut set = std::mem::take(&mut written[n]);
        let mut at = before.clone();
        let mut extracted = node.effect.extracted.iter();
        for op in &data.ops {
            let site = Site { who: &who, gress: Some(gress), loc: op.loc };
            let copied = op.kind.write().and_then(|write| write.source());
            if let Some((f, _)) = copied.filter(|(f, _)| p.fields[*f].home != Home::Metadata) {
                present(p, &validity, &at, f, "copies", site, d);
                if set.contains(&f) {
                    let text = format!("{who} copies `{}`, which the parser wrote before", p.fields[f].name);
                    let help = "a parser copies bytes of the packet: write the same value to both fields";
                    d.push(Diag::error(op.loc, text).help(help));
                }
            }
            set.extend(op.kind.written());
            match &op.kind {
                ParserOpKind::SetValid(h, valid) => at = at.with(validity.bit(*h), *valid),
                ParserOpKind::Extract(_) | ParserOpKind::ExtractNext(_) => {
                    let Some(&h) = extracted.next() else { break };
                    let bit = validity.bit(h);
                    // A repetition writes the header again.
                    if at.may(bit) && !unrolled.repeats[n] {
                        let text = format!("{who} extracts header `{}` a second time", p.headers[h].name);
                        let help = "a path extracts an instance once: declare a second instance for the inner header, or a stack";
                        d.push(Diag::error(op.loc, text).help(help));
                    }
                    at = at.with(bit, true);
                    set.retain(|f| p.fields[*f].home != Home::Header(h));
                }
                ParserOpKind::VerifyChecksum(_, inputs) | ParserOpKind::SubtractChecksum(_, inputs) => {
                    for input in inputs {
                        input.fields(&mut |f| present(p, &validity, &at, f, "sums", site, d));
                    }
                }
                ParserOpKind::SetCounter(CounterLoad::Field { field, .. })
                | ParserOpKind::PushCounter(CounterLoad::Field { field, .. }, _) => {
                    present(p, &validity, &at, *field, "loads the counter from", site, d);
                }
                _ => {}
            }
        }
        if node.effect.underflow {
            let text = format!("{who} pops the counter from its stack, which is empty on a path to it");
            d.push(Diag::error(data.loc, text).help("push the counter first on every path"));
        }
        if node.effect.full.is_some() {
            continue;
        }
        let site = Site { who: &who, gress: Some(gress), loc: data.loc };
        for &key in &data.select {
            match key {
                SelectKey::Field(f) => present(p, &validity, &at, f, "selects on", site, d),
                SelectKey::Last(stack, _) if node.effect.elements.last(p, stack).is_none() => {
                    let text = format!(
                        "{who} selects on the last element of stack `{}`, but there is none on every path to it",
                        p.stacks[stack].name
                    );
                    d.push(Diag::error(site.loc, text).help("extract an element first"));
                }
                _ => {}
            }
        }
    }
}

/// Returns for each node the fields that the parser may have written, other than by extraction, before the node.
fn written(p: &Program, unrolled: &UnrolledParser) -> Vec<BTreeSet<Field>> {
    let mut written: Vec<BTreeSet<Field>> = vec![BTreeSet::new(); unrolled.nodes.len()];
    loop {
        let mut again = false;
        for (n, node) in unrolled.nodes.iter().enumerate() {
            let mut set = written[n].clone();
            let mut extracted = node.effect.extracted.iter();
            for op in &p.states[node.config.state].ops {
                set.extend(op.kind.written());
                if let ParserOpKind::Extract(_) | ParserOpKind::ExtractNext(_) = op.kind {
                    let Some(&h) = extracted.next() else { break };
                    set.retain(|f| p.fields[*f].home != Home::Header(h));
                }
            }
            for successor in &node.successors {
                if let Successor::Node(next) = *successor {
                    let before = written[next].len();
                    written[next].extend(&set);
                    again |= next <= n && written[next].len() > before;
                }
            }
        }
        if !again {
            return written;
        }
    }
}

/// Checks that the field was extracted on every path, or that the hardware filled it before.
fn present(
    p: &Program,
    v: &Validity<'_>,
    at: &Possible,
    f: Field,
    verb: &str,
    site: Site<'_>,
    d: &mut Vec<Diag>,
) {
    let (who, data) = (site.who, &p.fields[f]);
    let name = &data.name;
    let diag = match data.home {
        Home::Header(h) => {
            let Some(other) = at.example_without(v.bit(h)) else { return };
            let text = format!(
                "{who} {verb} `{name}`, but header `{}` is not extracted on every path to it",
                p.headers[h].name
            );
            let seen = v.names(other);
            Diag::error(site.loc, text)
                .help(format!("a packet parsed as [{seen}] gets here: extract the header first"))
        }
        Home::Metadata => Diag::error(site.loc, format!("{who} {verb} metadata field `{name}`"))
            .help("a parser compares packet bytes: use the header field itself"),
        Home::Intrinsic(which) if late(which) || verb == "sums" => {
            Diag::error(site.loc, format!("{who} {verb} `{name}`, which the parser cannot read"))
                .help("use it in the control block")
        }
        Home::PortMetadata if verb == "sums" => {
            Diag::error(site.loc, format!("{who} {verb} port metadata `{name}`"))
                .help("a checksum is over packet bytes")
        }
        Home::Intrinsic(_) | Home::PortMetadata => return,
    };
    d.push(diag);
}

/// Returns true for an intrinsic field without a value before the parser has run.
const fn late(which: Intrinsic) -> bool {
    which.info().writable
        || which.is_ghost()
        || matches!(which, Intrinsic::DropCtl | Intrinsic::ParserErr | Intrinsic::GlobalTstamp)
}
