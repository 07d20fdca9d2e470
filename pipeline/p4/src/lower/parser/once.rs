//! Writes of a parser to a field that it may have written before.
//!
//! Fields are zero and headers invalid at the start, so the first zeros need no operation. A parser of Tofino 1 sets bits
//! of a container and clears none: what it writes later adds ones.

use super::super::places::{Instance, Slot, SlotHome};
use super::made::{Made, Parsed, Part, Written};
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
        let mut dropped: FxHashSet<(usize, usize)> = FxHashSet::default();
        let mut ones: Vec<(usize, usize, Span)> = Vec::new();
        for (s, (_, ops)) in parsed.states.iter().enumerate() {
            for (n, (op, at)) in ops.iter().enumerate() {
                let (what, zero) = match op {
                    Made::Write(slot, written) => (What::Slot(*slot), written.is_zero()),
                    Made::Valid(header, valid) => (What::Valid(*header), !valid),
                    _ => continue,
                };
                let list = writes.get(&what).map_or(&[][..], Vec::as_slice);
                let again = list.iter().any(|&earlier| before.precedes(earlier, (s, n)));
                match (what, again) {
                    (_, false) if zero => _ = dropped.insert((s, n)),
                    (What::Slot(_), true) if self.chip == Architecture::Tna => ones.push((s, n, *at)),
                    _ => {}
                }
            }
        }
        for (s, n, at) in ones {
            let op = &mut parsed.states[s].1[n].0;
            let Made::Write(slot, written) = op else { continue };
            let name = self.storage.slots[*slot].name.clone();
            let (slot, value) = (*slot, written.clone());
            match value {
                Written::Parts(parts) if value_is_zero(&parts) => _ = dropped.insert((s, n)),
                Written::Parts(parts) => {
                    if let [part] = parts.as_slice() {
                        *op = Made::Write(slot, Written::Ones(*part));
                    }
                }
                _ => continue,
            }
            let what = format!("`{name}` is written a second time");
            self.note(
                at,
                what,
                "the parser of Tofino 1 adds the ones of the second value to those of the first",
            );
        }
        for (s, (_, ops)) in parsed.states.iter_mut().enumerate() {
            let mut n = 0;
            ops.retain(|_| {
                n += 1;
                !dropped.contains(&(s, n - 1))
            });
        }
    }

    /// Returns the writes of values other than zero.
    fn writes(&self, parsed: &Parsed) -> Writes {
        let mut writes = Writes::default();
        for (s, (_, ops)) in parsed.states.iter().enumerate() {
            for (n, (op, _)) in ops.iter().enumerate() {
                let mut add = |what| writes.entry(what).or_default().push((s, n));
                match op {
                    Made::Write(slot, written) if !written.is_zero() => add(What::Slot(*slot)),
                    Made::Verify(slot, _) | Made::Subtract(slot, _) => add(What::Slot(*slot)),
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
        // Intrinsic fields that are not zero at the start are written in any case.
        for (slot, data) in self.storage.slots.iter() {
            if matches!(data.home, SlotHome::Intrinsic(which) if !super::write::starts_at_zero(which)) {
                writes.remove(&What::Slot(slot));
            }
        }
        writes
    }
}

fn value_is_zero(parts: &[Part]) -> bool {
    parts.iter().all(|part| part.from == super::made::From::Const(0))
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
