//! The program on both chips, in both builds.

use crate::placed::place;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::port::PortMap;
use sluice_catalogue::ProgramError;
use sluice_ir::Program;
use sluice_ir::verify;
use sluice_place::{Carrier, Placement, verify};
use sluice_programs::catalogue;
use sluice_switch::state_is_whole;

fn program(sets: &[(&str, &str)]) -> Program {
    let sets: Vec<(String, String)> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    catalogue().get("conweave").unwrap().build(&sets).unwrap_or_else(|e| panic!("{e}"))
}

fn placed(build: &str) -> Placement {
    let chip = ChipSpec::tofino2();
    let program = program(&[("build", build)]);
    let findings = verify::for_chip(&program, &chip);
    assert!(findings.is_empty(), "{build}: {findings:#?}");
    let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{build}: {e}"));
    let findings = verify(&program, &placement);
    assert!(findings.is_empty(), "{build}: {findings:#?}");
    placement
}

#[test]
fn the_full_program_fits_tofino2() {
    placed("full");
}

/// The next-table pointer holds one name: what stands on a tag cannot all stand there too, and what nothing carries is seen.
#[test]
fn the_verifier_knows_what_the_next_table_pointer_carries() {
    let program = program(&[]);
    let placement = placed("full");
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

/// What a report prints above its matrix is what was placed: every parameter of the published build changes it, or is what
/// the build decides; those that the build has no use for are not named.
#[test]
fn the_published_build_names_the_parameters_that_it_has() {
    let build = |key: &str, value: &str| {
        let sets = [("build", "published"), (key, value)].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let mut program = catalogue().get("conweave").unwrap().build(&sets)?;
        let named = std::mem::take(&mut program.params);
        Ok::<_, ProgramError>((program, named))
    };
    let (published, named) = build("build", "published").unwrap();
    let value = |key: &str| named.iter().find(|p| p.key == key).map(|p| p.value.as_str());
    assert_eq!((value("flows"), value("ways"), value("path_busy")), (Some("65536"), Some("3"), Some("0")));
    let other = [
        ("flows", "1000"),
        ("ways", "3"),
        ("queues", "16"),
        ("groups", "100"),
        ("routes", "100"),
        ("reply", "9"),
        ("path_busy", "9"),
        ("inactive", "9"),
        ("resume_margin", "9"),
        ("resume_default", "9"),
        ("reply_bridge", "9"),
        ("patience", "9"),
        ("watchdog", "99"),
        ("tail_without_path", "true"),
        ("strict_deadline", "true"),
        ("idle_ms", "99"),
        ("known", "9"),
        ("pipe", "1"),
        ("hosts", "0-1"),
        ("uplinks", "4-5"),
    ];
    let params = catalogue().get("conweave").unwrap().params();
    assert_eq!(params.len(), other.len() + 1, "a value for every parameter but the build");
    for (key, text) in other {
        match build(key, text) {
            // What the build decides, and has this value.
            Ok((_, named)) if named.iter().any(|p| p.key == key && p.value != text) => {
                panic!("{key}={text} is lost")
            }
            Ok((program, named)) => {
                let changes = program != published || value(key) == Some(text);
                assert_eq!(named.iter().any(|p| p.key == key), changes, "{key}={text}");
            }
            Err(refused) => {
                let told = refused.to_string();
                assert!(told.contains(&format!("`{key}` is `{text}`; build=published has ")), "{told}");
            }
        }
    }
}

/// Units of a column in the published log and here.
#[test]
fn the_published_build_is_that_of_the_log() {
    let placement = placed("published");
    let used = |column| {
        let mut units: Vec<_> =
            placement.units.iter().filter(|u| u.unit.column == column).map(|u| u.unit).collect();
        units.sort_unstable();
        units.dedup();
        units.len()
    };
    assert_eq!(used(Column::MeterAlu), 35);
    assert_eq!(used(Column::MapRam), 223);
}
