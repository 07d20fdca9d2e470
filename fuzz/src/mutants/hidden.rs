//! Hidden differences of a survivor: steps that packets took in the mutant and not in the program, although all results are
//! equal.

use super::harness::Harness;
use super::judge::Golden;
use crate::hunt::Subject;
use rustc_hash::FxHasher;
use sluice_exec::reference::{Event, TextTracer, Tracer};
use sluice_ir::{Header, Program};
use std::hash::{Hash, Hasher};

/// Hidden difference of a survivor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Number of inputs with a difference.
    pub inputs: usize,
    /// Step of the program at the first difference; empty if the program takes none.
    pub program: String,
    /// Step of the mutant at the first difference; empty if the mutant takes none.
    pub mutant: String,
}

impl std::fmt::Display for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The place is printed once if both steps have the same one.
        let parts = |step: &str| step.split_once("  [").map(|(s, at)| (s.to_owned(), format!(" [{at}")));
        let show = |step: &str, with_place: bool| match parts(step) {
            _ if step.is_empty() => "nothing".to_owned(),
            Some((what, at)) if with_place => format!("`{what}`{at}"),
            Some((what, _)) => format!("`{what}`"),
            None => format!("`{step}`"),
        };
        let place = |step: &str| parts(step).map(|(_, at)| at);
        let alike = place(&self.program) == place(&self.mutant);
        write!(f, "{} for {}", show(&self.mutant, !alike), show(&self.program, true))
    }
}

/// Compares the steps of the program and of a mutant in these inputs, whose results are equal; `None` if all steps are
/// equal.
pub(super) fn hidden(subject: &Subject<'_>, mutated: &Program, inputs: &[&Golden]) -> Option<Hidden> {
    let mut two = [&subject.program, mutated].map(|p| Harness::new(subject, p.clone(), Steps::default()));
    let mut found: Option<Hidden> = None;
    for golden in inputs {
        if !two.iter().all(|harness| harness.fits(&golden.input)) {
            continue;
        }
        let [program, mutant] = &mut two;
        let (theirs, ours) = (passes(program, golden, None).0, passes(mutant, golden, None).0);
        let Some(at) = (0..theirs.len().max(ours.len())).find(|at| theirs.get(*at) != ours.get(*at)) else {
            continue;
        };
        if let Some(found) = &mut found {
            found.inputs += 1;
            continue;
        }
        let (theirs, ours) = (passes(program, golden, Some(at)).1, passes(mutant, golden, Some(at)).1);
        let only = |of: &[String], not: &[String]| of.iter().find(|s| !not.contains(s)).cloned();
        found = Some(Hidden {
            inputs: 1,
            program: only(&theirs, &ours).unwrap_or_default(),
            mutant: only(&ours, &theirs).unwrap_or_default(),
        });
    }
    found
}

/// Returns a digest of the steps of each pass of an input, and the steps of pass `wanted` as text.
fn passes(
    harness: &mut Harness<'_, Steps>,
    golden: &Golden,
    wanted: Option<usize>,
) -> (Vec<u64>, Vec<String>) {
    *harness.tracer() = Steps { wanted, ..Steps::default() };
    if let Ok(ran) = harness.run(golden, None, None) {
        harness.keep(ran.memory);
    }
    let steps = std::mem::take(harness.tracer());
    (steps.passes, steps.texts)
}

/// Tracer of the steps that change something. A decision is not a step, because it shows in what is done next.
#[derive(Clone, Debug, Default)]
struct Steps {
    /// Digest of each pass so far.
    passes: Vec<u64>,
    /// Headers that are valid.
    valid: Vec<Header>,
    /// Pass whose steps are kept as text.
    wanted: Option<usize>,
    texts: Vec<String>,
}

impl Steps {
    /// Returns true if the header's validity changes to this value, and records the change.
    fn changes(&mut self, header: Header, valid: bool) -> bool {
        let was = self.valid.iter().position(|h| *h == header);
        match (was, valid) {
            (None, true) => self.valid.push(header),
            (Some(at), false) => _ = self.valid.swap_remove(at),
            _ => return false,
        }
        true
    }

    /// Returns the digest of a step that changes something; `None` for other events.
    fn number(&mut self, event: &Event<'_>) -> Option<u64> {
        let mut hasher = FxHasher::default();
        std::mem::discriminant(event).hash(&mut hasher);
        let h = &mut hasher;
        match *event {
            Event::Extracted { header, offset } => {
                self.changes(header, true);
                (header, offset).hash(h);
            }
            Event::Validity { header, valid, .. } if self.changes(header, valid) => (header, valid).hash(h),
            Event::Wrote { field, old, new, .. } if old != new => (field, new).hash(h),
            Event::Accessed { action, index, before, after, .. } if before != after => {
                (action, index, after.lo, after.hi).hash(h);
            }
            Event::Verified { field, wrong: true, .. } => field.hash(h),
            Event::Skipped { bytes, offset } => (bytes, offset).hash(h),
            Event::ParserCounter { value, .. } => value.hash(h),
            Event::ParserError { bits } => bits.hash(h),
            Event::Counted { counter, index, now, .. } => (counter, index, now.packets, now.bytes).hash(h),
            Event::Dropped { label, .. } => label.hash(h),
            Event::Checksum { field, value, .. } => (field, value).hash(h),
            Event::Emitted { header, offset } => (header, offset).hash(h),
            Event::Requested { data, .. } => data.hash(h),
            Event::Asked { meter, index, input, answer, .. } => (meter, index, input, answer).hash(h),
            Event::Drew { random, value, .. } => (random, value).hash(h),
            _ => return None,
        }
        Some(hasher.finish())
    }
}

impl Tracer for Steps {
    fn event(&mut self, program: &Program, event: &Event<'_>) {
        if let Event::PassStart { .. } = event {
            self.passes.push(0);
            self.valid.clear();
        }
        let Some(number) = self.number(event) else { return };
        if self.passes.is_empty() {
            self.passes.push(0);
        }
        let at = self.passes.len() - 1;
        if let Some(pass) = self.passes.last_mut() {
            *pass = (pass.rotate_left(7) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        if self.wanted == Some(at) {
            let mut text = TextTracer::default();
            text.event(program, event);
            self.texts.push(text.text.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::{Input, Shot};
    use crate::mutants::judge::Original;
    use crate::mutants::{Change, Edit};
    use sluice_asic::chip::ChipSpec;
    use sluice_asic::gress::Gress;
    use sluice_asic::port::PortMap;
    use sluice_catalogue::Catalogue;
    use sluice_control::ControlState;
    use sluice_ir::entity::Entity;
    use sluice_ir::text;
    use sluice_place::place;

    /// For packets of kind 7, a field is written that nothing reads.
    const PROGRAM: &str = "program found;
        header h : ingress { bit<8> kind; bit<8> rest; }
        metadata : ingress { bit<8> m.note; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        action to_port : ingress () { ig_tm.ucast_egress_port = 9w8; }
        action noted : ingress () { m.note = 8w5; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        control ingress { call to_port; if (h.kind == 8w7) { call noted; } }
        deparser ingress { emit(h); }\n";

    /// Returns the hidden difference of an edited program on one input with packets of kinds 0 to 15.
    fn parted(program: &str, edit: &Edit) -> Option<Hidden> {
        let program = text::parse(program).unwrap_or_else(|e| panic!("{e}"));
        let chip = ChipSpec::tofino2();
        let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{e}"));
        let ports = PortMap::default_for(&chip).unwrap();
        let control = ControlState::new(&program);
        let subject = Subject::new(&Catalogue::new(), program, placement, ports, control, Vec::new);
        let shot = |kind: u8| Shot { at: u64::from(kind) * 1000, port: 8, bytes: vec![kind; 60], piece: 0 };
        let input = Input { shots: (0..16).map(shot).collect(), pieces: vec![0], ..Input::default() };
        let golden = Original::new(&subject).unwrap().run(input).unwrap().unwrap();
        hidden(&subject, &edit.apply(&subject.program), &[&golden])
    }

    #[test]
    fn what_nobody_reads_is_told() {
        let negated = parted(PROGRAM, &Edit::Negate(Gress::Ingress, 1)).unwrap();
        let mutant = "m.note: 0 -> 5  [<text>:6]".to_owned();
        assert_eq!(negated, Hidden { inputs: 1, program: String::new(), mutant });
        assert_eq!(negated.to_string(), "`m.note: 0 -> 5` [<text>:6] for nothing");
        let dropped = parted(PROGRAM, &Edit::DropPrimitive(Entity::new(1), 0)).unwrap();
        assert_eq!(dropped.to_string(), "nothing for `m.note: 0 -> 5` [<text>:6]");
    }

    #[test]
    fn a_comparison_with_what_no_packet_has_changes_no_step() {
        let rare = PROGRAM.replace("8w7", "8w70");
        let edit = Edit::CondOffByOne(Gress::Ingress, 1, 0);
        assert_eq!(parted(&rare, &edit), None);
        assert!(parted(PROGRAM, &edit).is_some());
        let change = Change::of(&text::parse(&rare).unwrap(), &edit);
        assert_eq!(change.to_string(), "`if (h.kind == 8w0x47) {` for `if (h.kind == 8w0x46) {`");
    }

    #[test]
    fn a_place_is_said_once_if_it_is_the_same() {
        let hidden = |program: &str, mutant: &str| {
            Hidden { inputs: 1, program: program.to_owned(), mutant: mutant.to_owned() }.to_string()
        };
        assert_eq!(
            hidden("a: 0 -> 1  [x.rs:3]", "a: 0 -> 2  [x.rs:3]"),
            "`a: 0 -> 2` for `a: 0 -> 1` [x.rs:3]"
        );
        assert_eq!(hidden("a: 0 -> 1  [x.rs:3]", ""), "nothing for `a: 0 -> 1` [x.rs:3]");
        assert_eq!(hidden("", "a: 0 -> 1  [x.rs:3]"), "`a: 0 -> 1` [x.rs:3] for nothing");
    }
}
