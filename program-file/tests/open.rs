//! Programs from texts in memory, with the declarations beside them and the programs that their roles name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use sluice_asic::chip::ChipSpec;
use sluice_catalogue::Catalogue;
use sluice_ir::verify::Severity;
use sluice_p4::source::{LoadError, Texts};
use sluice_program_file::{FileCatalogue, OpenError, ReadOptions, open};
use std::path::Path;

const P4: &str = include_str!("../../fuzz/corpus/p4/t2na.p4");

fn texts() -> Texts {
    Texts::new().with("net/My_Leaf.p4", P4)
}

#[test]
fn a_p4_program_is_a_program_of_a_catalogue() {
    let stage = open(&texts(), "net/My_Leaf.p4", &ReadOptions::default()).unwrap();
    assert_eq!((stage.name(), stage.summary()), ("my-leaf", "P4 program of net/My_Leaf.p4"));
    let program = stage.build(&[]).unwrap();
    assert_eq!(program.name, "my-leaf");
    let unknown = stage.build(&[("rows".to_owned(), "4".to_owned())]).unwrap_err().to_string();
    assert!(unknown.contains("`rows`"), "{unknown}");
}

#[test]
fn mistakes_are_values_with_their_lines() {
    let wrong = P4.replace("hdr.eth.dst : exact", "hdr.eth.dts : exact");
    let error = open(&texts().with("a.p4", &wrong), "a.p4", &ReadOptions::default()).err();
    let Some(OpenError::Mistakes { error, other_chip: None }) = error else { panic!("{error:?}") };
    let Some(mistake) = error.mistakes.first() else { panic!("{error}") };
    assert_eq!((mistake.severity, mistake.file.as_str(), mistake.line), (Severity::Error, "a.p4", 27));
    assert!(error.text.contains("key = { hdr.eth.dts : exact; }"), "{}", error.text);
}

#[test]
fn a_program_for_the_other_chip_is_recognised() {
    let options = ReadOptions { chip: ChipSpec::tofino(), ..ReadOptions::default() };
    let error = open(&texts(), "net/My_Leaf.p4", &options).err();
    let Some(OpenError::Mistakes { other_chip, .. }) = error else { panic!("{error:?}") };
    assert_eq!(other_chip.as_deref(), Some("tofino2"));
}

#[test]
fn a_missing_file_is_an_error_of_its_loader() {
    let error = open(&Texts::new(), "leaf.sluice", &ReadOptions::default()).err();
    let Some(OpenError::Unread { file, error: LoadError::NotFound { .. } }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(file, "leaf.sluice");
}

#[test]
fn declarations_beside_a_program_and_its_roles_are_opened() {
    let beside = "sluice 1;\n\nrole core = \"spine.p4\";\n";
    let texts = texts().with("net/My_Leaf.p4.sluice", beside).with("net/spine.p4", P4);
    let mut files = FileCatalogue::new(Catalogue::new(), texts, ReadOptions::default());
    let name = files.open("My_Leaf.p4", Path::new("net")).unwrap();
    assert_eq!(name, "my-leaf");
    let opened: Vec<&Path> = files.files().collect();
    assert_eq!(opened, [Path::new("net/My_Leaf.p4"), Path::new("net/spine.p4")]);
    let catalogue = files.into_catalogue();
    assert!(catalogue.get("my-leaf").is_ok());
    assert!(catalogue.get("spine").is_ok());
}

#[test]
fn a_name_that_is_taken_gives_way_to_the_path() {
    let mut files =
        FileCatalogue::new(Catalogue::new(), texts().with("My_Leaf.p4", P4), ReadOptions::default());
    assert_eq!(files.open("net/My_Leaf.p4", Path::new("")).unwrap(), "my-leaf");
    assert_eq!(files.open("My_Leaf.p4", Path::new("")).unwrap(), "My_Leaf.p4");
    assert_eq!(files.open("my-leaf", Path::new("")).unwrap(), "my-leaf");
}
