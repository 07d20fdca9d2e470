//! Random layouts: whatever is allocated is legal.

use super::*;
use proptest::prelude::*;
use sluice_samples::sketch::param;

/// Field widths of a random header, padded to whole bytes.
fn widths() -> impl Strategy<Value = Vec<u16>> {
    let width = prop_oneof![1u16..=13, Just(8), Just(16), Just(24), Just(32), Just(48), Just(128)];
    proptest::collection::vec(width, 1..7).prop_map(|mut list| {
        let rest = list.iter().sum::<u16>() % 8;
        if rest != 0 {
            list.push(8 - rest);
        }
        list
    })
}

#[derive(Clone, Debug)]
enum Step {
    Param(usize),
    Copy(usize, usize),
    Low(usize, usize),
    Add(usize),
    Mask(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let f = || 0usize..64;
    prop_oneof![
        f().prop_map(Step::Param),
        (f(), f()).prop_map(|(a, b)| Step::Copy(a, b)),
        (f(), f()).prop_map(|(a, b)| Step::Low(a, b)),
        f().prop_map(Step::Add),
        f().prop_map(Step::Mask),
    ]
}

fn program(headers: &[Vec<u16>], metadata: &[u16], steps: &[Step]) -> Program {
    let mut s = Small::new();
    let mut fields = Vec::new();
    for (i, widths) in headers.iter().enumerate() {
        let names: Vec<String> = (0..widths.len()).map(|n| format!("f{n}")).collect();
        let list: Vec<(&str, u16)> = names.iter().map(String::as_str).zip(widths.iter().copied()).collect();
        fields.extend(s.header(&format!("h{i}"), &list).1);
    }
    fields.extend(metadata.iter().enumerate().map(|(i, w)| s.sketch.meta(&format!("m{i}"), *w)));
    let at = |i: &usize| fields[i % fields.len()];
    for step in steps {
        let width = |f: Field| s.sketch.program.fields[f].width;
        let (dst, value) = match step {
            Step::Param(d) => (at(d), param(0, width(at(d)))),
            Step::Copy(d, f) => (at(d), Expr::Cast(Box::new(field(at(f))), width(at(d)))),
            Step::Low(d, f) => {
                let low = width(at(d)).min(width(at(f)));
                (at(d), Expr::Cast(Box::new(Expr::Slice(Box::new(field(at(f))), low - 1, 0)), width(at(d))))
            }
            Step::Add(d) => (at(d), alu(AluOp::Add, field(at(d)), Expr::Const(1, width(at(d))))),
            Step::Mask(d) => (at(d), alu(AluOp::And, field(at(d)), param(0, width(at(d))))),
        };
        s.set(dst, value);
    }
    s.program()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn headers_alone_always_fit_and_are_clean(
        headers in proptest::collection::vec(widths(), 1..6),
        metadata in proptest::collection::vec(1u16..=64, 0..8),
        params in proptest::collection::vec(0usize..64, 0..6),
    ) {
        let steps: Vec<Step> = params.into_iter().map(Step::Param).collect();
        let program = program(&headers, &metadata, &steps);
        for chip in chips() {
            let allocation = allocated(&program, &chip);
            prop_assert_eq!(findings(&program, &chip, &allocation), Vec::<String>::new());
        }
    }

    /// With copies and arithmetic, a program may be rejected with a reason, but never allocated illegally.
    #[test]
    fn any_program_is_clean_or_refused(
        headers in proptest::collection::vec(widths(), 1..4),
        metadata in proptest::collection::vec(1u16..=64, 0..6),
        steps in proptest::collection::vec(step(), 0..6),
    ) {
        let program = program(&headers, &metadata, &steps);
        for chip in chips() {
            match allocate(&program, &chip, &Options::default(), &cfgs(&program)) {
                Ok(a) => prop_assert_eq!(findings(&program, &chip, &a), Vec::<String>::new()),
                Err(found) => prop_assert!(!found.is_empty() && found.iter().all(|d| !d.text.is_empty())),
            }
        }
    }

    /// Fields of whole bytes that are only copied as a whole are cut alike, so no program is rejected.
    #[test]
    fn whole_byte_fields_can_be_copied_to_metadata(
        bytes in proptest::collection::vec(prop_oneof![Just(1u16), Just(2), Just(4), Just(6), Just(16)], 1..6),
    ) {
        let widths: Vec<u16> = bytes.iter().map(|b| b * 8).collect();
        let steps: Vec<Step> = (0..widths.len()).map(|i| Step::Copy(widths.len() + i, i)).collect();
        let program = program(std::slice::from_ref(&widths), &widths, &steps);
        for chip in chips() {
            allocated(&program, &chip);
        }
    }
}
