//! Writes of a parser to a field that it may have written before.
//!
//! Fields are zero and headers invalid at the start, so the first zeros need no operation. A parser of Tofino 1 sets bits
//! of a container and clears none: what it writes later adds ones.

use super::super::places::{Instance, Slot, SlotHome};
use super::made::{From, Made, Parsed, Written};
use super::write::starts_at_zero;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use sluice_asic::intrinsic::Architecture;
use sluice_ir::{Next, ParserOpKind, ParserState, Program};

/// What an operation writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Slot(Slot),
    Valid(Instance),
}

/// Operations by what they write other than zero, as positions of states and of operations in them.
type Writes = FxHashMap<What, Vec<(usize, usize)>>;

impl super::super::Lower<'_> {
    /// Leaves out zeros that a field has already, and adds ones where the chip does so.
    pub(super) fn write_once(&mut self, parsed: &mut Parsed) {
        let before = Before::of(&self.program, parsed);
        let writes = self.writes(parsed);
        for s in 0..parsed.states.len() {
            let ops = std::mem::take(&mut parsed.states[s].1);
            let kept = ops.into_iter().enumerate().filter_map(|(n, (op, at))| {
                let again = |what| {
                    let list: &[(usize, usize)] = writes.get(&what).map_or(&[], Vec::as_slice);
                    list.iter().any(|&earlier| before.precedes(earlier, (s, n)))
                };
                if let Made::Verify(slot, _, false) = op
                    && again(What::Slot(slot))
                {
                    self.replaces(slot, at);
                }
                let op = match op {
                    Made::Write(slot, written) if self.starts_at_zero(slot) => {
                        Made::Write(slot, self.write_of(slot, written, again(What::Slot(slot)), at)?)
                    }
                    Made::Valid(header, false) if !again(What::Valid(header)) => return None,
                    op => op,
                };
                Some((op, at))
            });
            parsed.states[s].1 = kept.collect();
        }
    }

    /// Refuses the result of a checksum that would replace an earlier value: checksum units add ones.
    fn replaces(&mut self, slot: Slot, at: Span) {
        let name = &self.storage.slots[slot].name;
        let text = format!("the result of a checksum replaces an earlier value of `{name}`");
        let help = "a checksum unit sets the bit if the sum is wrong, and never clears it: write `error = error | sum.verify()`";
        self.refuse(at, text, help);
    }

    /// Returns true if the storage is zero when a pass begins.
    fn starts_at_zero(&self, slot: Slot) -> bool {
        match self.storage.slots[slot].home {
            SlotHome::Intrinsic(which) => starts_at_zero(which),
            _ => true,
        }
    }

    /// Returns what is written to a field; `None` if nothing is. `again` is true if the parser may have written the field.
    fn write_of(&mut self, slot: Slot, written: Written, again: bool, at: Span) -> Option<Written> {
        let adds = self.chip == Architecture::Tna;
        if written.is_zero() && (!again || adds) {
            self.zeroed.push(slot);
            return None;
        }
        let Written::Parts(mut parts) = written else { return Some(written) };
        if !again {
            if parts.len() > 1 {
                let zeros = parts.iter_mut().filter(|part| part.from == From::Const(0));
                zeros.for_each(|part| part.from = From::Zero);
            }
            return Some(Written::Parts(parts));
        }
        if let (true, [part]) = (adds, parts.as_slice()) {
            let what = format!("`{}` is written a second time", self.storage.slots[slot].name);
            let effect = "the parser of Tofino 1 adds the ones of the second value to those of the first";
            self.note(at, what, effect);
            return Some(Written::Ones(*part));
        }
        Some(Written::Parts(parts))
    }

    /// Returns the writes of values other than zero.
    fn writes(&self, parsed: &Parsed) -> Writes {
        let mut writes = Writes::default();
        for (s, (_, ops)) in parsed.states.iter().enumerate() {
            for (n, (op, _)) in ops.iter().enumerate() {
                let mut add = |what| writes.entry(what).or_default().push((s, n));
                match op {
                    Made::Write(slot, written) if !written.is_zero() => add(What::Slot(*slot)),
                    Made::Verify(slot, ..) | Made::Subtract(slot, _) => add(What::Slot(*slot)),
                    Made::Valid(header, true) => add(What::Valid(*header)),
                    Made::Plain(ParserOpKind::Extract(header)) => {
                        let instances = self.storage.instances.iter();
                        for (instance, data) in instances.filter(|(_, data)| data.header == Some(*header)) {
                            add(What::Valid(instance));
                            data.slots.iter().for_each(|slot| add(What::Slot(*slot)));
                        }
                    }
                    Made::Plain(ParserOpKind::ExtractNext(stack)) => {
                        let of = |data: &super::super::places::InstanceData| {
                            data.stack.is_some_and(|of| self.storage.stacks[of].stack == Some(*stack))
                        };
                        for (instance, data) in self.storage.instances.iter().filter(|(_, data)| of(data)) {
                            add(What::Valid(instance));
                            data.slots.iter().for_each(|slot| add(What::Slot(*slot)));
                        }
                    }
                    _ => {}
                }
            }
        }
        writes
    }
}

/// States that can be before others on a path.
struct Before(Vec<FxHashSet<usize>>);

impl Before {
    fn of(program: &Program, parsed: &Parsed) -> Before {
        let number: FxHashMap<ParserState, usize> =
            parsed.states.iter().enumerate().map(|(n, (state, _))| (*state, n)).collect();
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); parsed.states.len()];
        for (n, (state, _)) in parsed.states.iter().enumerate() {
            let data = &program.states[*state];
            for next in data.arms.iter().map(|arm| arm.next).chain([data.default]) {
                if let Next::State(next) = next
                    && let Some(&to) = number.get(&next)
                {
                    from[to].push(n);
                }
            }
        }
        let all = (0..from.len()).map(|state| {
            let mut seen = FxHashSet::default();
            let mut open = from[state].clone();
            while let Some(earlier) = open.pop() {
                if seen.insert(earlier) {
                    open.extend(&from[earlier]);
                }
            }
            seen
        });
        Before(all.collect())
    }

    /// Returns true if a path can run the first operation before the second one.
    fn precedes(&self, first: (usize, usize), second: (usize, usize)) -> bool {
        first.0 == second.0 && first.1 < second.1 || self.0[second.0].contains(&first.0)
    }
}
