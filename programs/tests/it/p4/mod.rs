//! The P4 that the writer writes for each program is the program again when it is lowered.

mod canonical;
mod ghost;

use canonical::canonical;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::verify::{Severity, for_chip, verify};
use sluice_ir::{ContainerDemand, ContainerRule, Loc, MatchKind, Program, TableData, TableRules};
use sluice_p4::lower::{Lowered, spare_stages};
use sluice_p4::prelude::WithPrelude;
use sluice_p4::source::{Include, LoadError, Loaded, Loader, Texts};
use sluice_p4::write::write;
use sluice_p4::{Options, parse};
use sluice_programs::catalogue;
use std::path::Path;

fn written(program: &Program) -> String {
    write(program).unwrap_or_else(|parts| {
        let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
        panic!("{}: {}", program.name, parts.join("; "))
    })
}

/// Reads the files of a P4 program from disk, each from the folder of the file that includes it.
struct Disk;

impl Loader for Disk {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        let folder = Path::new(include.from).parent().unwrap_or(Path::new(""));
        let path = folder.join(include.name);
        let text =
            std::fs::read_to_string(&path).map_err(|_| LoadError::NotFound { searched: Vec::new() })?;
        Ok(Loaded { name: path.display().to_string(), text: text.into() })
    }
}

/// Lowers the P4 program of a root file for Tofino 2.
pub(crate) fn lowered_files(root: &Path) -> Program {
    let root = root.display().to_string();
    lowered_from(&root, Disk, &root, Architecture::T2na).program
}

/// Lowers a P4 text for a chip.
fn lowered(name: &str, text: &str, chip: Architecture) -> Lowered {
    lowered_from(name, Texts::new().with("twin.p4", text), "twin.p4", chip)
}

/// Lowers a P4 program for a chip.
fn lowered_from(name: &str, loader: impl Loader, root: &str, chip: Architecture) -> Lowered {
    let mut parsed = parse(&WithPrelude::new(loader, chip), root, &Options { chip, ..Options::default() });
    parsed.lower(chip).unwrap_or_else(|_| panic!("{name} on {chip:?}:\n{}", parsed.messages()))
}

/// Checks that a program's P4 is the program again, on each chip that the program is for.
fn agrees(program: &Program) {
    let (name, text) = (&program.name, written(program));
    let again = lowered(name, &text, Architecture::T2na);
    assert_eq!(again.notes, [], "{name}: its P4 has nothing that the lowering leaves out or approximates");
    let mut expected = program.clone();
    spare_stages(&mut expected, Architecture::T2na);
    let (expected, found) = (canonical(&expected), canonical(&again.program));
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(found, expected, "{name}: line {} of the canonical text", number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{name}");
    let legal = |program: &Program| verify(program).iter().all(|diag| diag.severity != Severity::Error);
    assert!(legal(&again.program), "{name}");
    let tofino = ChipSpec::tofino();
    let runs = program.ghost.is_empty()
        && for_chip(program, &tofino).iter().all(|diag| diag.severity != Severity::Error);
    assert_eq!(
        runs,
        text.contains("<tna.p4>"),
        "{name}: it includes the architectures that have all it uses"
    );
    if runs {
        assert!(legal(&lowered(name, &text, Architecture::Tna).program), "{name} on Tofino");
    }
}

#[test]
fn twins_are_lowered_to_the_programs_that_they_were_written_from() {
    for stage in catalogue().programs() {
        agrees(&stage.build(&[]).unwrap());
    }
}

#[test]
fn demands_of_the_author_are_annotations() {
    let mut program = catalogue().get("l3-ecmp").unwrap().build(&[]).unwrap();
    let exact = |table: &TableData| table.keys.iter().all(|key| key.kind == MatchKind::Exact);
    let table = program.tables.iter().find(|(_, table)| !table.keys.is_empty() && exact(table)).unwrap().0;
    program.tables[table].rules =
        TableRules { pin_entries: None, ways: Some(2), pack: Some(1), priority: -3 };
    let ttl = program.field_named(Gress::Ingress, "ipv4.ttl").unwrap();
    for demand in [ContainerDemand::Sizes(vec![8]), ContainerDemand::Solitary, ContainerDemand::NoOverlay] {
        program.container_rules.push(ContainerRule { field: ttl, demand, loc: Loc::default() });
    }
    agrees(&program);
    let text = written(&program);
    for line in [
        "@ways(2)",
        "@pack(1)",
        "@placement_priority(-3)",
        "@pa_container_size(\"ingress\", \"hdr.ipv4.ttl\", 8)",
    ] {
        assert!(text.contains(line), "{line}");
    }
}

#[test]
fn a_twin_has_the_parameters_of_the_program() {
    for stage in catalogue().programs() {
        agrees(&stage.build(&stage.hunt()).unwrap());
    }
    // Seeds, rotations, other algorithms and modes of selectors.
    let others = [
        ("l3-ecmp", "hash_seed=77,hash_rotate=5,selection=resilient,hash_algorithm=crc_32c"),
        ("l3-ecmp", "hash_algorithm=xor16,hash_width=16,selection=plain-modulo,ipv4_routes=7"),
        ("ecmp", "scheme=per-port,seed=9,selection=fair"),
        ("ecmp", "scheme=recombine,stage=3"),
        ("hpcc-int", "layout=ns3"),
    ];
    let catalogue = catalogue();
    for (name, sets) in others {
        let set = |set: &str| set.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        let sets: Vec<(String, String)> = sets.split(',').filter_map(set).collect();
        agrees(&catalogue.get(name).unwrap().build(&sets).unwrap());
    }
}

#[test]
fn a_twin_counts_what_conweave_counts() {
    let program = catalogue().get("conweave").unwrap().build(&[]).unwrap();
    let text = written(&program);
    assert!(!program.counters.is_empty());
    for counter in program.counters.values() {
        assert!(text.contains(&format!("{}.count(", counter.name)), "{}", counter.name);
    }
}
