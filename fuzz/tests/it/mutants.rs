//! Mutants are legal and different, and most of them are noticed.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_fuzz::hunt::{Campaign, Subject, hunt};
use sluice_fuzz::mutants::{Change, Check, Checked, Fate, Survival, check, mutants};
use sluice_ir::text;
use sluice_ir::verify::{has_errors, verify};
use sluice_place::place;
use std::collections::BTreeSet;
use std::sync::Arc;

#[test]
fn every_mutant_is_legal_and_differs_from_the_program_and_from_the_others() {
    let catalogue = sluice_programs::catalogue();
    for stage in ["ecmp", "letflow"].map(|name| catalogue.get(name).unwrap()) {
        let program = stage.build(&[]).unwrap();
        let (list, refused) = mutants(&program);
        assert!(list.len() >= 40, "{}: {} mutants, {refused} refused", stage.name(), list.len());
        let mut texts = BTreeSet::new();
        texts.insert(text::print(&program));
        let mut same = 0;
        for m in &list {
            let mutated = m.edit.apply(&program);
            assert!(!has_errors(&verify(&mutated)), "{m:?}");
            same += usize::from(!texts.insert(text::print(&mutated)));
            let change = Change::of(&program, &m.edit);
            assert_ne!(change.old, change.new, "{m:?}");
            assert!(m.edit.source(&program).file.ends_with(".rs"), "{m:?}");
        }
        // Different edits may give the same program, such as dropping a statement and dropping its only part.
        assert!(same * 20 <= list.len(), "{}: {same} of {} are alike", stage.name(), list.len());
    }
}

/// Returns a program with its default entries and properties.
fn subject(stage: &Arc<dyn StageProgram>) -> Subject<'static> {
    let program = stage.build(&stage.hunt()).unwrap();
    let chip = ChipSpec::tofino2();
    let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{e}"));
    let ports = PortMap::default_for(&chip).unwrap();
    let control = Subject::entries(&program, stage.default_setup(&program, &ports).unwrap().ops).unwrap();
    let (built, stage) = (program.clone(), Arc::clone(stage));
    Subject::new(&Catalogue::new(), program, placement, ports, control, move || stage.properties(&built))
}

/// By program: of all mutants that change bytes, port, fate or order of a packet, the per cent for which a property fails; of
/// all mutants, the per cent that a property or the comparison notices. Both are what was measured when this was written, less
/// two points. checks/mutants.py holds the shares of all programs.
const FLOORS: [(&str, usize, usize); 1] = [("ecmp", 96, 95)];

#[test]
fn most_mutants_of_a_program_are_noticed_and_survivors_have_reasons() {
    let catalogue = sluice_programs::catalogue();
    for (name, by_property, noticed) in FLOORS {
        let subject = subject(catalogue.get(name).unwrap());
        let campaign = Campaign { cases: Some(24), jobs: 2, ..Campaign::default() };
        let status = hunt(&subject, &campaign, |_| true).unwrap();
        let with =
            |jobs| Check { seed: 1, inputs: 4, jobs, corpus: &status.corpus, coverage: &status.coverage };
        let run = |jobs| check(&subject, mutants(&subject.program), &with(jobs), |_| {}).unwrap();
        let checked = run(2);
        let found = (checked.property_percent(), checked.percent());
        assert!(found.0 >= by_property && found.1 >= noticed, "{name}: {found:?} %");
        assert!(checked.by_property() > 0 && checked.by_comparison() > 0, "{name}");
        have_reasons(&checked);
        assert_eq!(checked, run(1), "threads do not matter");
    }
}

/// Asserts that survivors have reasons that agree with the inputs that were sent.
fn have_reasons(checked: &Checked) {
    for v in &checked.verdicts {
        let Fate::Survived(survival) = &v.fate else { continue };
        // At most four shared inputs, and twelve times as many made for the site.
        assert!(v.inputs <= 4 + 12 * 4, "{v:?}");
        match survival {
            Survival::Uncovered => {}
            Survival::Alike => assert!(v.inputs > 0, "{v:?}"),
            Survival::Hidden(h) => {
                assert!((1..=v.inputs).contains(&h.inputs) && h.program != h.mutant, "{v:?}")
            }
        }
    }
}
