//! Writes a parser as Rust: one function for each node and each leaf.

use super::load::Load;
use super::select::Select;
use super::{ParserCode, Step, Target};
use crate::engine::action::{ActionText, Entry};
use crate::engine::field::FieldAt;
use crate::engine::hash::HashPlan;
use crate::engine::rust_text::{Out, bits, read};
use sluice_ir::CounterLoad;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the call of a target's function.
fn go(target: Target) -> String {
    match target {
        Target::Node(n) => format!("n{n}(x, w)"),
        Target::Leaf(n) => format!("leaf{n}(w)"),
    }
}

impl ParserCode {
    /// Returns the call with which parsing begins.
    pub(in crate::engine) fn entrance(&self) -> String {
        self.start.map_or_else(|| "0".to_owned(), go)
    }

    /// Writes the functions of all nodes and leaves that packets can reach. A node with one predecessor is inlined.
    pub(in crate::engine) fn states(&self, out: &mut Out, hashes: &[HashPlan]) {
        let mut entries: BTreeMap<u32, u32> = BTreeMap::new();
        let mut leaves = BTreeSet::new();
        let mut open: Vec<Target> = self.start.into_iter().collect();
        while let Some(target) = open.pop() {
            let Target::Node(n) = target else {
                if let Target::Leaf(leaf) = target {
                    leaves.insert(leaf);
                }
                continue;
            };
            let times = entries.entry(n).or_default();
            *times += 1;
            if let (1, Some(node)) = (*times, self.nodes.get(n as usize)) {
                open.push(Target::Leaf(node.short));
                open.extend(node.select.targets());
            }
        }
        for (n, times) in entries {
            self.state(out, n, times == 1, hashes);
        }
        for leaf in leaves {
            out.line("#[inline]");
            out.open(&format!("fn leaf{leaf}(w: &W) -> u16"));
            for (slot, keep, value) in self.valid.get(usize::from(leaf)).iter().flat_map(|list| list.iter()) {
                out.deposit(*slot, *keep, &format!("{value:#x}"));
            }
            out.line(&leaf.to_string());
            out.close();
        }
    }

    fn state(&self, out: &mut Out, number: u32, inline: bool, hashes: &[HashPlan]) {
        let Some(node) = self.nodes.get(number as usize) else { return };
        out.line(if inline { "#[inline(always)]" } else { "#[inline(never)]" });
        out.open(&format!("fn n{number}(x: &mut Lane<'_>, w: &W) -> u16"));
        if node.need > 0 {
            out.open(&format!("if !x.has({})", node.need));
            out.line(&format!("return {};", go(Target::Leaf(node.short))));
            out.close();
        }
        node.loads.all().for_each(|load| load.write(out));
        node.steps.iter().for_each(|step| step.write(out, hashes));
        node.select.write(out, number);
        out.close();
    }
}

impl Load {
    fn write(self, out: &mut Out) {
        let (slot, from) = (self.slot, self.from);
        let value = match (self.up, self.right) {
            (0, 0) => format!("x.word({from})"),
            (0, 16) => format!("x.half({from})"),
            (0, 24) => format!("x.byte({from})"),
            (up, right) => format!("x.word({from}) << {} >> {}", up % 32, right % 32),
        };
        out.deposit(slot, 0, &value);
    }
}

/// Returns the Rust list of fields' values with their widths.
fn values(inputs: &[(FieldAt, u16)]) -> String {
    let values: Vec<String> =
        inputs.iter().map(|(at, width)| format!("({}, {width})", read(at, "u128"))).collect();
    format!("&[{}]", values.join(", "))
}

impl Step {
    fn write(&self, out: &mut Out, hashes: &[HashPlan]) {
        match self {
            Step::Load(load) => load.write(out),
            Step::Set { slot, keep, value } => out.deposit(*slot, *keep, &format!("{value:#x}")),
            // Parsers do not access registers, and have no entries.
            Step::Do(code) => ActionText { hashes, accesses: &[] }.write(out, code, Entry::None),
            Step::Moves(list) => {
                for m in list {
                    let moved = format!("(w[{}].get() >> {} << {} & {:#x})", m.src, m.right, m.left, m.mask);
                    out.deposit(m.slot, m.keep, &moved);
                }
            }
            Step::VerifyBytes { to, at, len } => {
                let wrong = format!("{} | u32::from(x.sum_is_wrong::<{len}>({at}))", read(to, "u32"));
                out.write(to, &wrong, "u32");
            }
            Step::VerifyFields { to, inputs } => {
                let wrong =
                    format!("{} | u32::from(x.values_are_wrong({}))", read(to, "u32"), values(inputs));
                out.write(to, &wrong, "u32");
            }
            Step::Subtract { to, inputs } => {
                out.write(to, &format!("subtracted({}, {})", read(to, "u32"), values(inputs)), "u64");
            }
            Step::LoadCounter { slot, from, load } => {
                if let CounterLoad::Field { max, rotate, mask, add, .. }
                | CounterLoad::Ahead { max, rotate, mask, add, .. } = load
                {
                    let value = format!("counter({}, {max}, {rotate}, {mask}, {add})", read(from, "u32"));
                    out.deposit(*slot, 0, &value);
                }
            }
            Step::Took { slot, by } => {
                out.deposit(*slot, 0, &format!("w[{slot}].get().saturating_add({by})"));
            }
            Step::AddCounter { slot, by } => {
                out.deposit(*slot, 0, &format!("counter_plus(w[{slot}].get(), {by})"));
            }
            Step::CopyCounter { from, to } => out.deposit(*to, 0, &bits(*from, 0, u32::MAX)),
            Step::Cover(point) => out.line(&format!("x.reach({point});")),
        }
    }
}

impl Select {
    fn targets(&self) -> Vec<Target> {
        match self {
            Select::Always(target) => vec![*target],
            Select::Word { arms, default, .. } => arms.iter().map(|(.., t)| *t).chain([*default]).collect(),
            Select::Side { arms, default, .. } => arms.iter().map(|(.., t)| *t).chain([*default]).collect(),
            Select::Wide(wide) => wide.arms.iter().map(|(.., t)| *t).chain([wide.default]).collect(),
            Select::Sets(sets) => sets.arms.iter().map(|arm| arm.target).chain([sets.default]).collect(),
            Select::Above { then, above, .. } => vec![*then, *above],
        }
    }

    /// Writes the select of a node.
    fn write(&self, out: &mut Out, node: u32) {
        match self {
            Select::Always(target) => out.line(&go(*target)),
            Select::Word { slot, shift, mask, arms, default } => {
                out.line(&format!("let v: u32 = {};", bits(*slot, *shift, *mask)));
                by_arms(out, arms.iter().map(|(v, m, t)| ((*v).into(), (*m).into(), *t)), *default);
            }
            Select::Side { pieces, arms, default } => {
                let pieces: Vec<String> = pieces
                    .iter()
                    .map(|p| format!("u64::from{} << {}", bits(p.slot, p.shift, p.mask), p.up))
                    .collect();
                let value = if pieces.is_empty() { "0".to_owned() } else { pieces.join(" | ") };
                out.line(&format!("let v: u64 = {value};"));
                by_arms(out, arms.iter().map(|(v, m, t)| ((*v).into(), (*m).into(), *t)), *default);
            }
            Select::Wide(wide) => {
                concatenated(out, &wide.fields);
                by_arms(out, wide.arms.iter().copied(), wide.default);
            }
            Select::Sets(sets) => {
                concatenated(out, &sets.fields);
                for (number, arm) in sets.arms.iter().enumerate() {
                    let (value, mask) = (arm.value, arm.mask);
                    out.open(&match arm.set {
                        Some(_) => format!("if x.takes({node}, {number}, v)"),
                        None => format!("if v & {mask:#x} == {value:#x}"),
                    });
                    out.line(&format!("return {};", go(arm.target)));
                    out.close();
                }
                out.line(&go(sets.default));
            }
            Select::Above { at, max, then, above } => {
                let (then, above) = (go(*then), go(*above));
                out.line(&format!("if {} > {max} {{ {above} }} else {{ {then} }}", read(at, "u32")));
            }
        }
    }
}

/// Writes the value of concatenated fields of at most 128 bits.
fn concatenated(out: &mut Out, fields: &[(FieldAt, u16)]) {
    out.line("let v: u128 = 0;");
    for (at, width) in fields {
        // A field of 128 bits is the only one, and `v << 128` would overflow.
        let before = if *width < 128 { format!("v << {width} | ") } else { String::new() };
        out.line(&format!("let v: u128 = {before}{};", read(at, "u128")));
    }
}

/// Writes tests for the arms in order; the first arm that matches `v` is taken.
fn by_arms(out: &mut Out, arms: impl Iterator<Item = (u128, u128, Target)>, default: Target) {
    for (value, care, target) in arms {
        out.open(&format!("if v & {care:#x} == {value:#x}"));
        out.line(&format!("return {};", go(target)));
        out.close();
    }
    out.line(&go(default));
}
