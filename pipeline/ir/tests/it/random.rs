//! Any program survives its text form, and neither parser nor verifier panics.

use crate::kinds::{Kinds, all_kinds};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_ir::Program;
use sluice_ir::text::{parse, print};
use sluice_ir::verify::{for_chip, verify};
use sluice_random::{Draw, Limits, References, illegal_program, words};

/// Small legal parts, so that most draws go to what is added to them.
fn limits() -> Limits {
    Limits { statements: 2, depth: 1, actions: 2, entries: 2, ..Limits::default() }
}

fn drawn(words: &[u32], references: References) -> Program {
    illegal_program(&mut Draw::new(words), &limits(), references)
}

fn programs(references: References) -> impl Strategy<Value = Program> {
    proptest::collection::vec(any::<u32>(), 64..1600).prop_map(move |words| drawn(&words, references))
}

proptest! {
    #[test]
    fn every_program_survives_its_text(program in programs(References::Dangling)) {
        let text = print(&program);
        let again = parse(&text);
        prop_assert!(again.is_ok(), "{}\n{text}", again.unwrap_err());
        prop_assert_eq!(again.unwrap(), program, "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(
        program in programs(References::Dangling),
        cut: usize,
        junk in "[ -~\n]{0,12}",
    ) {
        let mut text = print(&program);
        let at = (0..=cut % (text.len() + 1)).rev().find(|&i| text.is_char_boundary(i)).unwrap();
        text.insert_str(at, &junk);
        let _ = parse(&text);
        let _ = parse(&text[..at]);
    }

    #[test]
    fn no_program_makes_the_verifier_panic(program in programs(References::Sound)) {
        let diags = verify(&program);
        prop_assert!(diags.iter().all(|d| !d.text.is_empty() && !d.help.is_empty()));
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let _ = for_chip(&program, &chip);
        }
    }
}

/// The properties above mean nothing for what no program has.
#[test]
fn random_programs_have_every_operation() {
    for references in [References::Sound, References::Dangling] {
        let mut seen = Kinds::default();
        for n in 0..160 {
            let words: Vec<u32> = words(n).take(1600).collect();
            seen.program(&drawn(&words, references));
        }
        let missing: Vec<_> = all_kinds().into_iter().filter(|kind| !seen.0.contains(kind)).collect();
        assert_eq!(missing, Vec::<&str>::new(), "{references:?}");
    }
}
