//! The program on both chips.

use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_ir::Program;
use sluice_ir::verify;
use sluice_place::{Carrier, Placement, verify};
use sluice_programs::catalogue;
use sluice_switch::state_is_whole;

fn program(sets: &[(&str, &str)]) -> Program {
    let sets: Vec<(String, String)> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    catalogue().get("conweave").unwrap().build(&sets).unwrap_or_else(|e| panic!("{e}"))
}

fn placed(program: &Program) -> Placement {
    let chip = ChipSpec::tofino2();
    let findings = verify::for_chip(program, &chip);
    assert!(findings.is_empty(), "{findings:#?}");
    let placement = place(program, &chip).unwrap_or_else(|e| panic!("{e}"));
    let findings = verify(program, &placement);
    assert!(findings.is_empty(), "{findings:#?}");
    placement
}

#[test]
fn the_program_fits_tofino2() {
    placed(&program(&[]));
}

/// The next-table pointer holds one name, so it cannot carry all outcomes of the tags; a missing carrier is noticed.
#[test]
fn the_verifier_knows_what_the_next_table_pointer_carries() {
    let program = program(&[]);
    let placement = placed(&program);
    let carried = |carrier: &Carrier| placement.long_branches.iter().filter(|b| b.by == *carrier).count();
    assert!(carried(&Carrier::Pointer) > 8 && carried(&Carrier::Nothing) == 0);
    let findings = |at: usize, by: Carrier| {
        let mut broken = placement.clone();
        broken.long_branches[at].by = by;
        verify(&program, &broken).into_iter().map(|d| d.text).collect::<Vec<_>>().join("; ")
    };
    let tags = placement.long_branches.iter().enumerate().filter(|(_, b)| b.tag().is_some());
    let refused = tags.filter(|(at, _)| findings(*at, Carrier::Pointer).contains("next-table pointer"));
    assert!(refused.count() > 8, "tags that the pointer cannot stand in for");
    let pointed = placement.long_branches.iter().position(|b| b.by == Carrier::Pointer).unwrap();
    assert!(findings(pointed, Carrier::Nothing).contains("nothing carries its outcome"));
}

#[test]
fn tofino_has_no_flow_control_words() {
    let no_fit = place(&program(&[]), &ChipSpec::tofino()).unwrap_err();
    assert!(no_fit.diags.iter().any(|d| d.text.contains("adv_flow_ctl")), "{no_fit:?}");
}

#[test]
fn ports_of_several_pipes_are_refused() {
    let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
    assert!(state_is_whole(&program(&[]), &ports).is_ok());
    let refused = state_is_whole(&program(&[("uplinks", "8-11")]), &ports).unwrap_err().to_string();
    assert!(refused.contains("pipe 0 has 0, 1, 2, 3; pipe 1 has 8, 9, 10, 11"), "{refused}");
}

#[test]
fn parameters_that_do_not_go_together_are_refused() {
    let sets = [("hosts".to_owned(), "0-4".to_owned())];
    let refused = catalogue().get("conweave").unwrap().build(&sets).unwrap_err().to_string();
    assert!(refused.contains("`uplinks` is `4-7`"), "{refused}");
}
