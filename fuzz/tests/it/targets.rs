//! Runs every target on its corpus, `fuzz/corpus/TARGET/*`. A finding of a fuzzer is kept there as a file.

use sluice_fuzz::targets::{Programs, TARGETS};
use std::path::Path;
use std::sync::LazyLock;

/// The shipped programs, executed by steps.
static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| Programs::new(sluice_programs::catalogue()));

#[test]
fn every_target_passes_its_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, target) in TARGETS {
        let mut files: Vec<_> = std::fs::read_dir(corpus.join(name))
            .unwrap_or_else(|e| panic!("corpus of {name}: {e}"))
            .map(|f| f.unwrap().path())
            .collect();
        files.sort();
        assert!(files.len() >= 3, "{name} has {} inputs", files.len());
        for file in files {
            // If a target panics, the last name printed is that of its input.
            println!("{}", file.display());
            target(&PROGRAMS, &std::fs::read(&file).unwrap());
        }
    }
}

#[test]
fn every_target_has_a_file_for_libfuzzer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cargo-fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        let file = folder.join(format!("fuzz_targets/{name}.rs"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(text.contains(&format!("sluice_fuzz::targets::{name}(")), "{}", file.display());
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in the manifest");
    }
}

#[test]
fn targets_take_any_bytes() {
    let mut word = 1u32;
    for (name, target) in TARGETS {
        for len in [0usize, 1, 3, 40, 300] {
            let mut byte = || {
                word = word.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
                (word >> 24) as u8
            };
            let data: Vec<u8> = (0..len).map(|_| byte()).collect();
            println!("{name} {len}");
            target(&PROGRAMS, &data);
        }
    }
}

#[test]
fn packets_of_the_corpus_pass_every_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/programs");
    let programs = sluice_programs::catalogue().programs().len() as u8;
    for file in std::fs::read_dir(folder).unwrap() {
        let mut data = std::fs::read(file.unwrap().path()).unwrap();
        for number in 0..programs {
            data[0] = number;
            sluice_fuzz::targets::programs(&PROGRAMS, &data);
        }
    }
}
