//! Limits of a chip that are known without placement.

use super::headers::{self, Validity};
use super::values::has_param;
use super::{Diag, fits};
use crate::parser_unroll::{LOOP_REACH, Successor, UnrolledParser};
use crate::{
    ActionData, Block, CmpOp, Cond, Expr, Field, Header, Home, Intrinsic, Loc, MatchKind, ParserOpKind,
    PrimitiveKind, Program, StateData, StmtKind, TableData,
};
use sluice_asic::alu::{AluClass, width_mask};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

/// Bytes of two groups of the ternary crossbar: five each, and one that they share (model: chip §3.2).
const TERNARY_PAIR_BYTES: u32 = 11;

pub(super) fn check(p: &Program, chip: &ChipSpec, d: &mut Vec<Diag>) {
    super::ghost::for_chip(p, chip, d);
    for data in p.actions.values() {
        operations(p, chip, data, d);
        queue(p, chip, data, d);
        action_data(chip, data, d);
    }
    for data in p.tables.values() {
        table(p, chip, data, d);
    }
    for register in p.registers.keys() {
        d.extend(crate::salu::map(p, register, chip).err().unwrap_or_default());
    }
    selectors(p, chip, d);
    port_metadata(p, chip, d);
    super::requests::for_chip(p, chip, d);
    super::meters::for_chip(p, chip, d);
    for gress in Gress::ALL {
        conditions(gress, chip, &p.pipe(gress).control, d);
        depth(p, chip, gress, d);
        written_twice(p, chip, gress, d);
        counter_stack(p, chip, gress, d);
        emission(p, chip, gress, d);
    }
}

fn operations(p: &Program, chip: &ChipSpec, data: &ActionData, d: &mut Vec<Diag>) {
    for primitive in &data.body {
        let (PrimitiveKind::Set(dst, Expr::Alu(op, ..)) | PrimitiveKind::DropCtl(dst, Expr::Alu(op, ..), _)) =
            &primitive.kind
        else {
            continue;
        };
        if op.class() == AluClass::Compare && !chip.alu.compare {
            let (who, dst) = (crate::words::subject(data), &p.fields[*dst].name);
            let text = format!("{who} sets `{dst}` by `{op}`, but {} has no comparing ALU", chip.name);
            d.push(
                Diag::error(primitive.loc, text)
                    .help("decide it by an `if` and set the field in its branches")
                    .limit("alu.compare", 0u32, 1u32),
            );
        }
    }
}

/// Checks `qid`. Programs declare it at its widest; a chip with fewer queues ignores the upper bits (model:
/// chip §10).
fn queue(p: &Program, chip: &ChipSpec, data: &ActionData, d: &mut Vec<Diag>) {
    let bits = chip.tm.queues_per_group.next_power_of_two().trailing_zeros() as u16;
    for primitive in &data.body {
        let PrimitiveKind::Set(dst, value) = &primitive.kind else { continue };
        let field = &p.fields[*dst];
        if field.home != Home::Intrinsic(Intrinsic::Qid) || field.width <= bits {
            continue;
        }
        let (who, chip) = (crate::words::subject(data), &chip.name);
        let help = format!("use queues 0 to {}", (1u32 << bits) - 1);
        match value {
            Expr::Const(v, _) if !fits(*v, bits) => {
                let text = format!("{who} sends to queue {v}, but `qid` has {bits} bits on {chip}");
                d.push(Diag::error(primitive.loc, text).help(help));
            }
            Expr::Const(..) => {}
            _ if has_param(value) => {
                let text =
                    format!("{who} takes the queue from an entry, but `qid` has {bits} bits on {chip}");
                d.push(Diag::warning(primitive.loc, text).help(help));
            }
            _ => {}
        }
    }
}

fn action_data(chip: &ChipSpec, data: &ActionData, d: &mut Vec<Diag>) {
    let bits: u32 = data.params.iter().map(|x| u32::from(x.width)).sum();
    let most = chip.mau.action_data_bits;
    if bits > most {
        let text = format!(
            "action `{}` takes {bits} bits of action data; {} has {most} per entry",
            data.name, chip.name
        );
        d.push(Diag::error(data.loc, text).help("split it over two tables").limit(
            "mau.action_data_bits",
            most,
            bits,
        ));
    }
}

fn table(p: &Program, chip: &ChipSpec, data: &TableData, d: &mut Vec<Diag>) {
    let bits: u32 = data.keys.iter().map(|k| k.compared(p).count_ones()).sum();
    let exact = data.keys.iter().all(|k| k.kind == MatchKind::Exact);
    let (crossbar, most) = if exact {
        ("exact", chip.mau.exact_xbar_bytes())
    } else {
        ("ternary", chip.mau.ternary_xbar_bytes())
    };
    let (name, chip_name) = (&data.name, &chip.name);
    if bits.div_ceil(8) > most {
        let found = bits.div_ceil(8);
        let text = format!(
            "the key of table `{name}` has {found} bytes; the {crossbar} crossbar of {chip_name} has {most}"
        );
        let groups =
            found.div_ceil(if exact { chip.mau.exact_xbar_group_bytes } else { TERNARY_PAIR_BYTES }.max(1));
        let limit = match exact {
            true => ("mau.exact_xbar_groups", chip.mau.exact_xbar_groups, groups),
            false => ("mau.ternary_xbar_groups", chip.mau.ternary_xbar_groups, groups * 2),
        };
        d.push(
            Diag::error(data.loc, text)
                .help("hash part of the key in an earlier stage, or split the table")
                .limit(limit.0, limit.1, limit.2),
        );
    }
    if let Some(pin) = data.pin.filter(|pin| u32::from(*pin) >= chip.mau.stages) {
        let stages = chip.mau.stages;
        let text = format!("table `{name}` is pinned to stage {pin}; {chip_name} has {stages} stages");
        let help = format!("pin it to 0 to {}, or remove the pin", stages.saturating_sub(1));
        d.push(Diag::error(data.loc, text).help(help).limit("mau.stages", stages, u32::from(pin) + 1));
    }
}

fn selectors(p: &Program, chip: &ChipSpec, d: &mut Vec<Diag>) {
    for data in p.profiles.values() {
        if data.selector.as_ref().is_some_and(|s| !s.mode.on_chip()) {
            let text = format!(
                "profile `{}` selects by plain modulo, which {} cannot compute",
                data.name, chip.name
            );
            d.push(
                Diag::warning(data.loc, text)
                    .help("for comparison only: use `fair` or `resilient` for what the chip does"),
            );
        }
    }
}

/// Checks that gateways order a field only against constants (model: chip §3.6).
fn conditions(gress: Gress, chip: &ChipSpec, block: &Block, d: &mut Vec<Diag>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Call(_) => {}
            StmtKind::Apply(_, arms) => {
                let run = arms.run.iter().map(|(_, b)| b);
                for block in [&arms.hit, &arms.miss].into_iter().chain(run) {
                    conditions(gress, chip, block, d);
                }
            }
            StmtKind::If(cond, then, otherwise) => {
                condition(gress, chip, cond, stmt.loc, d);
                conditions(gress, chip, then, d);
                conditions(gress, chip, otherwise, d);
            }
        }
    }
}

fn condition(gress: Gress, chip: &ChipSpec, cond: &Cond, loc: Loc, d: &mut Vec<Diag>) {
    match cond {
        Cond::Cmp(op, _, b) => {
            if !matches!(op, CmpOp::Eq | CmpOp::Ne) && !matches!(b, Expr::Const(..)) {
                let text = format!(
                    "a condition of {gress} orders two fields (`{}`); no gateway of {} can",
                    op.symbol(),
                    chip.name
                );
                d.push(Diag::error(loc, text).help("subtract them in an earlier action and test the result"));
            }
        }
        Cond::Valid(_) => {}
        Cond::Not(a) => condition(gress, chip, a, loc, d),
        Cond::And(a, b) | Cond::Or(a, b) => {
            condition(gress, chip, a, loc, d);
            condition(gress, chip, b, loc, d);
        }
    }
}

fn bytes(p: &Program, h: Header) -> u32 {
    p.header_bits(h).div_ceil(8)
}

/// Returns true for zeros in a field that the state extracts, for a sum that the state then subtracts from.
fn replaced(p: &Program, data: &StateData, op: &ParserOpKind) -> bool {
    let ParserOpKind::Set(field, Expr::Const(0, _)) = *op else { return false };
    let Home::Header(header) = p.fields[field].home else { return false };
    let sums = |op: &ParserOpKind| matches!(op, ParserOpKind::SubtractChecksum(to, _) if *to == field);
    data.ops.iter().any(|op| op.kind == ParserOpKind::Extract(header))
        && data.ops.iter().any(|op| sums(&op.kind))
}

/// Checks that no path writes bits of a field twice if the parser cannot clear a container as it writes (model: chip
/// §6.1): the second write would be the parser error "second write". Ones may be added, for that is what such a parser does.
/// Whether a loop that only the packet bounds extracts a header again is up to the packet, which has the error then.
fn written_twice(p: &Program, chip: &ChipSpec, gress: Gress, d: &mut Vec<Diag>) {
    if chip.parser.clear_on_write {
        return;
    }
    let Ok(unrolled) = UnrolledParser::of(p, gress) else { return };
    let mut before: Vec<BTreeMap<Field, (u128, Loc)>> = vec![BTreeMap::new(); unrolled.nodes.len()];
    for (i, node) in unrolled.nodes.iter().enumerate() {
        let data = &p.states[node.config.state];
        let mut written = std::mem::take(&mut before[i]);
        let mut extracted = node.effect.extracted.iter();
        let mut once = false;
        for op in &data.ops {
            if let ParserOpKind::SetValid(h, false) = op.kind {
                let text = format!(
                    "state `{}` makes header `{}` invalid; a parser of {} sets bits and clears none",
                    data.name, p.headers[h].name, chip.name
                );
                let help = "decide before the header is extracted, or make it invalid in an action";
                d.push(Diag::error(op.loc, text).help(help).limit("parser.clear_on_write", 0u32, 1u32));
            }
            // A header that is extracted again ends parsing before the state's other writes.
            once |= matches!(op.kind, ParserOpKind::Extract(_));
            let constant = op.kind.write().is_some_and(|write| write.is_constant());
            let repeats = unrolled.repeats[i];
            // Bits of the packet that a sum of the state replaces are not extracted.
            if replaced(p, data, &op.kind) {
                continue;
            }
            for (f, bits) in fields_written(p, &op.kind, &mut extracted) {
                let (old, first) = *written.entry(f).or_insert((0, op.loc));
                written.insert(f, (old | bits, first));
                let twice = if repeats { !once && !constant } else { old & bits != 0 };
                if twice && !op.kind.write().is_some_and(|write| write.ors) {
                    let name = &p.fields[f].name;
                    let text = format!(
                        "state `{}` writes `{name}` a second time; a parser of {} writes a field once",
                        data.name, chip.name
                    );
                    let help = "write a second field and choose between them in the control block, or add ones with `or`";
                    let diag = Diag::error(op.loc, text).also(first, "the first time").help(help);
                    d.push(diag.limit("parser.clear_on_write", 0u32, 1u32));
                }
            }
        }
        for successor in &node.successors {
            if let Successor::Node(n) = successor {
                if *n <= i {
                    continue;
                }
                for (f, (bits, loc)) in &written {
                    before[*n].entry(*f).or_insert((0, *loc)).0 |= bits;
                }
            }
        }
    }
}

/// Returns the fields that an operation of a parser writes, each with the bits.
fn fields_written<'h>(
    p: &Program,
    kind: &ParserOpKind,
    extracted: &mut impl Iterator<Item = &'h Header>,
) -> Vec<(Field, u128)> {
    match kind {
        ParserOpKind::Extract(_) | ParserOpKind::ExtractNext(_) => {
            let fields = extracted.next().map_or(&[][..], |h| &p.headers[*h].fields);
            fields.iter().map(|f| (*f, u128::MAX)).collect()
        }
        // A sum stays in the checksum unit, and wrong ones add their errors.
        ParserOpKind::SubtractChecksum(..) | ParserOpKind::VerifyChecksum(..) => Vec::new(),
        ParserOpKind::SetSlice(f, hi, lo, _) => {
            vec![(*f, width_mask(u32::from(*hi) + 1) & !width_mask(u32::from(*lo)))]
        }
        kind => kind.written().map(|f| (f, u128::MAX)).into_iter().collect(),
    }
}

/// Checks that the counter's stack is deep enough, if there is one (model: chip §6.1).
fn counter_stack(p: &Program, chip: &ChipSpec, gress: Gress, d: &mut Vec<Diag>) {
    let Ok(unrolled) = UnrolledParser::of(p, gress) else { return };
    let most = chip.parser.counter_stack as usize;
    let Some(node) = unrolled.nodes.iter().find(|s| s.effect.pushed_most > most) else { return };
    let data = &p.states[node.config.state];
    let text = format!(
        "state `{}` pushes {} on the parser counter's stack; the stack of {} holds {most}",
        data.name,
        super::count(node.effect.pushed_most, "counter"),
        chip.name
    );
    d.push(Diag::error(data.loc, text).help("count with one counter, or unroll the inner loop").limit(
        "parser.counter_stack",
        chip.parser.counter_stack,
        node.effect.pushed_most as u64,
    ));
}

/// Checks that port metadata fits the slot in front of the packet (model: chip §6.3).
fn port_metadata(p: &Program, chip: &ChipSpec, d: &mut Vec<Diag>) {
    let bits: u32 = p.port_metadata().map(|(_, f)| u32::from(f.width)).sum();
    let most = chip.parser.port_metadata_bytes * 8;
    if bits > most {
        let at = p.port_metadata().next().map(|(_, f)| f.loc).unwrap_or_default();
        let text = format!("port metadata has {bits} bits; {} has {most} per port", chip.name);
        d.push(Diag::error(at, text).help("look the rest up in a table keyed by the port").limit(
            "parser.port_metadata_bytes",
            chip.parser.port_metadata_bytes,
            bits.div_ceil(8),
        ));
    }
}

/// Checks the deepest byte that a path reads.
fn depth(p: &Program, chip: &ChipSpec, gress: Gress, d: &mut Vec<Diag>) {
    let Ok(unrolled) = UnrolledParser::of(p, gress) else { return };
    let before = unrolled.max_before(|node| node.effect.bytes);
    let mut deepest = (0u32, None);
    for (node, before) in unrolled.nodes.iter().zip(before) {
        let after = before.saturating_add(node.effect.reach);
        if after > deepest.0 {
            deepest = (after, Some(node.config.state));
        }
    }
    let repeated = unrolled.nodes.iter().zip(&unrolled.repeats).find(|(_, repeats)| **repeats);
    if let Some((node, _)) = repeated.filter(|_| deepest.0 < LOOP_REACH) {
        deepest = (LOOP_REACH, Some(node.config.state));
    }
    let (key, most) = match gress {
        Gress::Ingress => ("parser.ingress_depth", chip.parser.ingress_depth),
        Gress::Egress => ("parser.egress_depth", chip.parser.egress_depth),
    };
    if let (found, Some(s)) = deepest
        && found > most
    {
        let (name, chip) = (&p.states[s].name, &chip.name);
        let text = format!(
            "the {gress} parser extracts up to byte {found} in state `{name}`; {chip} reaches byte {most}"
        );
        d.push(
            Diag::error(p.states[s].loc, text)
                .help("extract fewer headers; what is not extracted follows as payload")
                .limit(key, most, found),
        );
    }
}

fn emission(p: &Program, chip: &ChipSpec, gress: Gress, d: &mut Vec<Diag>) {
    let headers = p.headers.values().filter(|h| h.gress == gress).count() as u32;
    let most = chip.deparser.pov_bits;
    if let Some(beyond) = p.headers.values().filter(|h| h.gress == gress).nth(most as usize) {
        let text = format!(
            "{gress} has {headers} headers; the deparser of {} reads {most} validity bits",
            chip.name
        );
        let diag = Diag::error(beyond.loc, text).help("use fewer header instances");
        d.push(diag.limit("deparser.pov_bits", most, headers));
    }
    let Some(after) = headers::check(p, gress, &mut Vec::new()) else { return };
    let validity = Validity::new(p, gress);
    let emit = &p.pipe(gress).deparser.emit;
    let longest =
        after.largest(|set| emit.iter().filter(|h| set.has(validity.bit(**h))).map(|&h| bytes(p, h)).sum());
    let most = chip.deparser.max_header_bytes;
    // Of equals, the first.
    let largest = emit.iter().rev().max_by_key(|h| bytes(p, **h));
    if let Some(largest) = largest.filter(|_| longest > most) {
        let (at, name) = (p.headers[*largest].loc, &p.headers[*largest].name);
        let text = format!(
            "{gress} emits up to {longest} bytes of headers; the deparser of {} takes {most}",
            chip.name
        );
        d.push(
            Diag::error(at, text)
                .help(format!(
                    "emit fewer headers, or shorten `{name}`, which has {}; what is not extracted follows as payload",
                    super::count(bytes(p, *largest) as usize, "byte")
                ))
                .limit("deparser.max_header_bytes", most, longest),
        );
    }
}
