//! Rules of single instructions: one per action and container, with the sources that an ALU has.

use super::source::{Bit, How, Result, results};
use super::{View, ones};
use crate::data::FieldSlice;
use sluice_asic::alu::AluOp;
use sluice_asic::phv::{AluClass, Container};
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{Action, Field, Home, Loc};
use std::collections::{BTreeMap, BTreeSet};

/// Instruction that one action needs for one container.
#[derive(Default)]
struct Instruction {
    loc: Loc,
    fields: Vec<Field>,
    /// Results that are not plain copies; those of one bitwise function with data count once.
    computed: usize,
    /// The bitwise function with data of the last result, and the results that join an earlier one.
    function: Option<AluOp>,
    joint: usize,
    /// Bits written.
    written: u32,
    /// PHV sources: container and rotation to the right, with the destination bits that they give.
    phv: BTreeMap<(Container, u32), u32>,
    /// Destination bits from constants and parameters.
    data: u32,
    /// Destination bits from hash results.
    hash: u32,
}

pub(super) fn check(view: &View) -> Vec<Diag> {
    let mut found = Vec::new();
    let actions: BTreeSet<Action> =
        view.cfgs.iter().flat_map(|f| f.nodes.keys().flat_map(|n| f.actions(view.program, n))).collect();
    for action in actions {
        let results = results(view.program, action);
        for r in &results {
            found.extend(owned(view, action, r));
        }
        for (container, instruction) in instructions(view, &results) {
            found.extend(groups(view, action, container, &instruction));
            found.extend(possible(view, action, container, &instruction));
        }
    }
    found
}

fn instructions(view: &View, results: &[Result]) -> BTreeMap<Container, Instruction> {
    let mut list: BTreeMap<Container, Instruction> = BTreeMap::new();
    for r in results {
        let reached = |s: &&FieldSlice| (s.lo..s.lo + s.width).any(|bit| r.sources(bit).is_some());
        for s in view.allocation.slices(r.field).iter().filter(reached) {
            let size = view.info(s.container).map_or(32, |i| i.size.bits());
            let i = list
                .entry(s.container)
                .or_insert_with(|| Instruction { loc: r.loc, ..Instruction::default() });
            i.fields.push(r.field);
            let function = if let How::Masked(function) = r.how { function } else { None };
            let joint = function.is_some() && i.function == function && i.fields.len() > 1;
            i.computed += usize::from(r.how != How::Copied && !joint);
            i.joint += usize::from(joint);
            i.function = function;
            for b in 0..s.width {
                let Some(sources) = r.sources(s.lo + b) else { continue };
                let to = u32::from(s.at) + u32::from(b);
                i.written |= 1 << to;
                for source in sources {
                    match *source {
                        // An operation on whole containers finds these zeros in its operand's padding.
                        Bit::Zero if r.how != How::Copied => {}
                        Bit::Data | Bit::Zero => i.data |= 1 << to,
                        Bit::Hash => i.hash |= 1 << to,
                        Bit::Phv(f, bit) => {
                            if let Some((container, from)) = locate(view, f, bit) {
                                *i.phv.entry((container, (from + size - to) % size)).or_default() |= 1 << to;
                            }
                        }
                    }
                }
            }
        }
    }
    list
}

fn locate(view: &View, field: Field, bit: u16) -> Option<(Container, u32)> {
    let s = view.allocation.slices(field).iter().find(|s| (s.lo..s.lo + s.width).contains(&bit))?;
    Some((s.container, u32::from(s.at) + u32::from(bit - s.lo)))
}

/// Checks that operands of whole-container operations have separate containers, and that numbers begin at bit 0 of
/// one container.
fn owned(view: &View, action: Action, r: &Result) -> Vec<Diag> {
    if matches!(r.how, How::Copied | How::Masked(_)) || r.how == How::Shifted && at_top(view, r) {
        return Vec::new();
    }
    let mut fields = r.operands();
    let own = r.bits.len() as u16;
    fields.push((r.field, r.lo, r.lo + own));
    fields.sort_unstable();
    fields.dedup();
    let who = sluice_ir::words::subject(&view.program.actions[action]);
    let mut found = Vec::new();
    for (f, lo, end) in fields {
        let var = Var::Field(f);
        let slices = view.allocation.slices(f);
        let taken: Vec<&FieldSlice> = slices.iter().filter(|s| s.lo < end && lo < s.lo + s.width).collect();
        let problem = if let Some((c, other)) = taken.iter().find_map(|s| beside(view, f, s)) {
            format!("shares {} with {}", view.name(c), view.var(other))
        } else if let Some(problem) =
            taken.iter().find_map(|s| unfilled(view, f, s)).filter(|_| r.how != How::Carried)
        {
            problem
        } else if matches!(r.how, How::Number | How::Shifted) && !matches!(taken.as_slice(), [s] if s.at == 0)
        {
            "is not in one container from bit 0".to_owned()
        } else if r.how == How::Carried {
            match uncarried(view, f) {
                Some(problem) => problem,
                None => continue,
            }
        } else {
            continue;
        };
        let text =
            format!("{} is an operand of a whole-container operation in {who}, but {problem}", view.var(var));
        let help = "use a field of 8, 16 or 32 bits on a byte boundary, or compute in a metadata field";
        found.push(view.error(var, text).also(r.loc, "the operation").help(help));
    }
    found
}

/// Returns true if a sum with data is at the upper end of its container, and its operand is at the same bits of a container: the
/// data are zeros in the bits below, so that nothing carries from there. The result is alone in its container.
fn at_top(view: &View, r: &Result) -> bool {
    let size = |s: &FieldSlice| view.info(s.container).map_or(0, |i| i.size.bits());
    let ends = |s: &FieldSlice| u32::from(s.at) + u32::from(s.width) == size(s);
    let [result] = view.allocation.slices(r.field) else { return false };
    let [(operand, 0, end)] = r.operands()[..] else { return false };
    let [source] = view.allocation.slices(operand) else { return false };
    let whole = r.bits.len() == usize::from(result.width) && end == source.width && end == result.width;
    let alone = beside(view, r.field, result).is_none();
    whole && ends(result) && ends(source) && result.at == source.at && size(result) == size(source) && alone
}

/// Returns the container of a slice of a field and the variable that other bits of it hold; `None` if they hold none. Variables that
/// take turns at the same bits do not count, other slices of the field do.
fn beside(view: &View, field: Field, slice: &FieldSlice) -> Option<(Container, Var)> {
    let own = ones(slice.width, slice.at);
    let mut held = view.held.get(&slice.container)?.iter();
    let other =
        held.find(|h| (h.var != Var::Field(field) || h.lo != slice.lo) && ones(h.width, h.at) & own == 0)?;
    Some((slice.container, other.var))
}

/// Returns a container in which a part of a wide intrinsic field has bytes beside it that the parser took with it. A carry goes up
/// into these bytes, and nothing reads the result above the field's width.
fn unfilled(view: &View, field: Field, slice: &FieldSlice) -> Option<String> {
    let data = &view.program.fields[field];
    let partial = view.info(slice.container).is_some_and(|i| i.size.bits() != u32::from(slice.width));
    let wide = matches!(data.home, Home::Intrinsic(_)) && data.width > 32;
    (wide && partial).then(|| {
        format!(
            "does not fill {}, which the parser fills with the bytes beside it",
            view.name(slice.container)
        )
    })
}

/// Returns the reason why a carry cannot go through a number; `None` if it can. The low 32 bits must fill a container
/// of even number, and the high bits, from bit 0 on, must be in the next one. A number of at most 32 bits is an
/// operand of the low part only.
fn uncarried(view: &View, field: Field) -> Option<String> {
    let full = |c: Container| view.info(c).filter(|i| i.alu() == AluClass::Full && i.size.bits() == 32);
    let found = match view.allocation.slices(field) {
        [s] if s.at == 0 && s.lo == 0 => true,
        [high, low] => {
            let cut = (low.lo, low.width, low.at, high.lo, high.at) == (0, 32, 0, 32, 0);
            let neighbours = full(low.container).zip(full(high.container)).is_some_and(|(l, h)| {
                l.number.is_multiple_of(2) && h.number == l.number + 1 && l.mau_group == h.mau_group
            });
            cut && neighbours
        }
        _ => false,
    };
    (!found).then(|| "is not in two neighbouring 32-bit containers, the low one of even number".to_owned())
}

/// Checks that sources are in the destination's MAU group.
fn groups(view: &View, action: Action, container: Container, i: &Instruction) -> Vec<Diag> {
    let group = |c: Container| view.info(c).and_then(|info| info.mau_group);
    let far: BTreeSet<Container> =
        i.phv.keys().map(|k| k.0).filter(|c| group(*c) != group(container)).collect();
    let diag = |c: Container| {
        let text = format!(
            "PHV: {} writes {} from {}, which is not in its MAU group",
            sluice_ir::words::subject(&view.program.actions[action]),
            view.name(container),
            view.name(c)
        );
        Diag::error(i.loc, text)
    };
    far.into_iter().map(diag).collect()
}

/// Checks that the container's ALU can make the writes in one instruction.
fn possible(view: &View, action: Action, container: Container, i: &Instruction) -> Option<Diag> {
    let problem = problem(view, container, i)?;
    let mut names: Vec<String> = i.fields.iter().map(|f| view.var(Var::Field(*f))).collect();
    names.dedup();
    let text = format!(
        "PHV: {} writes {} in {}, but {problem}",
        sluice_ir::words::subject(&view.program.actions[action]),
        names.join(" and "),
        view.name(container)
    );
    let help = "split the work over two actions, or take the values from action parameters";
    Some(Diag::error(i.loc, text).help(help))
}

fn problem(view: &View, container: Container, i: &Instruction) -> Option<String> {
    let limit = view.chip.alu.max_sources as usize;
    let partial = i.written != view.occupied(container);
    let bus = usize::from(i.data != 0) + usize::from(i.hash != 0);
    let keeps = usize::from(partial && !i.phv.is_empty() && i.computed == 0);
    if bus > 1 {
        return Some("that takes two words of the action data bus, and an ALU reads one".to_owned());
    }
    if i.computed > 1 || i.computed == 1 && i.fields.len() - i.joint > 1 {
        return Some("that takes two instructions, and an action has one per container".to_owned());
    }
    if i.computed > 0 && i.phv.keys().any(|k| k.1 != 0) {
        return Some("its operands are not at the same bits of their containers".to_owned());
    }
    let containers: BTreeSet<Container> = i.phv.keys().map(|k| k.0).collect();
    let phv = if i.computed > 0 { containers.len() } else { i.phv.len() };
    if phv + bus + keeps > limit {
        return Some(format!("that takes {} sources, and an instruction has {limit}", phv + bus + keeps));
    }
    if i.computed == 0 && phv + bus + keeps == 2 && !mergeable(view, container, i) {
        return Some(
            "its sources cannot be merged: one may be rotated and fill one run of bits, or both by bytes"
                .to_owned(),
        );
    }
    moved_whole(view, container, i, partial)
}

/// Returns true if `deposit-field` or `byte-rotate-merge` can join the sources.
fn mergeable(view: &View, container: Container, i: &Instruction) -> bool {
    if i.phv.is_empty() {
        return true;
    }
    let size = view.info(container).map_or(32, |info| info.size.bits());
    let mut sources: Vec<(u32, u32)> = i.phv.iter().map(|((_, rotation), mask)| (*rotation, *mask)).collect();
    sources.extend([i.data, i.hash].into_iter().filter(|m| *m != 0).map(|m| (0, m)));
    let kept = view.occupied(container) & !i.written;
    if kept != 0 {
        sources.push((0, kept));
    }
    let run = |mask: u32| {
        let width = 32 - mask.leading_zeros() - mask.trailing_zeros().min(31);
        ones(width as u16, mask.trailing_zeros().min(31) as u8)
    };
    let others = |k: usize| sources.iter().enumerate().filter(move |(j, _)| *j != k).map(|(_, s)| *s);
    let deposit =
        (0..sources.len()).any(|k| others(k).all(|(r, mask)| r == 0 && mask & run(sources[k].1) == 0));
    let bytes =
        |mask: u32| (0..size / 8).fold(0, |m, b| if mask >> (8 * b) & 0xff != 0 { m | 1 << b } else { m });
    let merge = sources.iter().all(|(r, _)| r % 8 == 0)
        && sources
            .iter()
            .enumerate()
            .all(|(k, s)| others(k).all(|(_, mask)| bytes(mask) & bytes(s.1) == 0_u32));
    deposit || merge
}

/// Checks that mocha and dark containers are only set as a whole from one source, dark containers only from a
/// container.
fn moved_whole(view: &View, container: Container, i: &Instruction, partial: bool) -> Option<String> {
    let alu = view.info(container)?.alu();
    if alu == AluClass::Full {
        return None;
    }
    let one_source = match i.phv.iter().next() {
        None => alu == AluClass::Move,
        Some(((source, rotation), mask)) => {
            i.phv.len() == 1 && i.data | i.hash == 0 && *rotation == 0 && view.occupied(*source) == *mask
        }
    };
    if one_source && !partial && i.computed == 0 {
        return None;
    }
    Some("that container can only be set as a whole from one source".to_owned())
}
