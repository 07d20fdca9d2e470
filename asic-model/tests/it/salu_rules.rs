//! Register actions that the stateful ALU refuses, one small action per rule, on both chips.

use sluice_asic::chip::{ChipSpec, SaluSpec};
use sluice_asic::salu::*;

const ALWAYS: Predicate = Predicate::ALWAYS;
const LO: Half = Half::Lo;
const HI: Half = Half::Hi;

fn chips() -> [SaluSpec; 2] {
    [ChipSpec::tofino().salu, ChipSpec::tofino2().salu]
}

fn program(format: &str) -> SaluProgram {
    SaluProgram::new(format.parse().unwrap())
}

fn against(constant: i64) -> Comparator {
    Comparator::Compare(Compare {
        relation: Relation::Grt,
        sense: Sense::Unsigned,
        memory: Some(Term::plus(LO)),
        phv: None,
        constant: Constant::Value(constant),
    })
}

fn add(constant: i64) -> Update {
    let constant = SourceB::Constant(Constant::Value(constant));
    Update::binary(ALWAYS, SaluOp::Add, SourceA::Memory(LO), constant)
}

/// Returns the messages on Tofino and on Tofino 2, shortened to the part before the first colon.
fn messages(program: &SaluProgram) -> [Vec<String>; 2] {
    chips().map(|spec| {
        let errors = program.validate(&spec, 0).err().unwrap_or_default();
        errors
            .iter()
            .map(|error| {
                let text = error.to_string();
                assert!(text.contains(": "), "no remedy in {text}");
                text
            })
            .collect()
    })
}

fn check(program: &SaluProgram, tofino: &[&str], tofino2: &[&str]) {
    for (found, expected) in messages(program).iter().zip([tofino, tofino2]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}\n{expected}");
        }
    }
}

#[test]
fn formats() {
    for format in ["8", "16", "32", "8x2", "16x2", "32x2"] {
        check(&program(format), &[], &[]);
    }
    let refused = "register format 64: this chip has single elements of up to 32 bits";
    check(&program("64"), &[refused], &[]);
    check(&program("64x2"), &["register format 64x2"], &[]);
    check(&program("128"), &["register format 128"], &[]);
    check(&program("1"), &["a one-bit access has no instruction"], &["a one-bit access has no instruction"]);
}

#[test]
fn comparators_and_conditions() {
    let mut three = program("32");
    three.comparators = [Some(against(0)), Some(against(1)), Some(against(2)), None];
    check(&three, &["comparator 2 is used; this chip has 2"], &[]);
    three.lo[0] = Some(Update::set_constant(Predicate::comparator(3), Constant::ZERO));
    let undefined = "ALU1-lo depends on comparator 3, which compares nothing";
    check(&three, &["comparator 2", undefined], &[undefined]);
}

#[test]
fn masks_and_ternary_matches() {
    let mut masked = program("32");
    let term = Term { mask: Some(0xff), ..Term::plus(LO) };
    let compare = Compare {
        relation: Relation::Equ,
        sense: Sense::Unsigned,
        memory: Some(term),
        phv: None,
        constant: Constant::ZERO,
    };
    masked.comparators[0] = Some(Comparator::Compare(compare));
    check(&masked, &["comparator 0 masks an operand"], &[]);
    // A second row for the constant is more than the comparator can read.
    let large = Compare { constant: Constant::Value(-1000), ..compare };
    masked.comparators[0] = Some(Comparator::Compare(large));
    let rows = "comparator 0 needs 2 different register file rows";
    check(&masked, &["comparator 0 masks", rows], &[rows]);
    let mut ternary = program("64");
    let unit = Comparator::Ternary(Ternary { memory: LO, phv: LO, mask: !0 });
    ternary.comparators[2] = Some(unit);
    let refused = "comparator 2 is a ternary match; this chip has";
    check(&ternary, &["register format 64", "comparator 2 is used", refused], &[refused]);
}

#[test]
fn constants() {
    // The comparators' sums have 2 bits more on Tofino 2, so only there 8-bit values meet constants beyond 127.
    let mut byte = program("8");
    byte.comparators[0] = Some(against(-200));
    check(&byte, &["comparator 0: constant -200 is out of range, -128 to 127"], &[]);
    byte.comparators[0] = Some(against(-513));
    check(
        &byte,
        &["comparator 0: constant -513"],
        &["comparator 0: constant -513 is out of range, -512 to 511"],
    );
    let mut word = program("32");
    word.comparators[0] = Some(against(-0x9000_0000));
    check(&word, &["comparator 0: constant"], &[]);
    let mut update = program("16");
    update.lo[0] = Some(add(0x1_0000));
    let range = "ALU1-lo: constant 65536 is out of range, -32768 to 65535";
    check(&update, &[range], &[range]);
    update.lo[0] = Some(Update::binary(
        ALWAYS,
        SaluOp::Add,
        SourceA::Constant(Constant::Value(1)),
        SourceB::Constant(Constant::Value(2)),
    ));
    check(&update, &["ALU1-lo names two different constants"], &["ALU1-lo names two different constants"]);
}

#[test]
fn operands() {
    let mut single = program("32");
    single.lo[0] = Some(Update::set_memory(ALWAYS, HI));
    single.outputs[0] = Some(Output::always(OutputSource::Memory(HI)));
    let both = ["ALU1-lo reads the high half", "output word 0 reads the high half"];
    check(&single, &both, &both);
    let mut missing = program("32");
    missing.lo[0] = Some(Update { when: ALWAYS, op: SaluOp::Add, a: None, b: Some(SourceB::Phv(LO)) });
    let count = "ALU1-lo: `add` takes both operands; found the second operand";
    let found: Vec<String> = chips()
        .iter()
        .flat_map(|spec| missing.validate(spec, 0).unwrap_err())
        .map(|e| e.to_string())
        .collect();
    assert_eq!(found, [count, count]);
    let mut wide = program("64x2");
    wide.hi[1] = Some(Update::binary(ALWAYS, SaluOp::Minu, SourceA::Memory(HI), SourceB::Phv(HI)));
    check(&wide, &["register format 64x2", "ALU2-hi: `minu`"], &["ALU2-hi: `minu` on a half of 64 bits"]);
    let mut math = program("32");
    math.lo[1] = Some(Update::binary(ALWAYS, SaluOp::AluB, SourceA::Memory(LO), SourceB::MathPhv(LO)));
    math.lo[1].as_mut().unwrap().a = None;
    check(&math, &["ALU2-lo uses the math unit, which has no table"], &["ALU2-lo uses the math unit"]);
}

#[test]
fn outputs() {
    let mut words = program("64x2");
    for (word, source) in
        [OutputSource::Memory(LO), OutputSource::Memory(HI), OutputSource::Memory(LO), OutputSource::Alu(HI)]
            .into_iter()
            .enumerate()
    {
        words.outputs[word] = Some(Output::always(source));
    }
    let tofino =
        ["register format", "output word 1 is used", "output word 2 is used", "output word 3 is used"];
    check(&words, &tofino, &[]);
    let mut narrow = program("32");
    narrow.outputs[2] = Some(Output::always(OutputSource::Memory(LO)));
    let high = "output word 2: memory has no bits above 32";
    check(&narrow, &["output word 2 is used", high], &[high]);
    let mut two = program("32");
    two.comparators[0] = Some(against(0));
    let source = OutputSource::Flag { shift: 0 };
    two.outputs[0] = Some(Output { when: Predicate::comparator(0), source });
    two.outputs[1] = Some(Output { when: !Predicate::comparator(0), source });
    let other = "output word 1 shows another condition than output word 0";
    check(&two, &["output word 1 is used", other], &[other]);
    let mut address = program("32");
    address.outputs[0] = Some(Output::always(OutputSource::Address));
    check(&address, &["output word 0: the address"], &[]);
    let mut lane = program("32");
    lane.outputs[0] = Some(Output::always(OutputSource::LaneIndex));
    check(&lane, &["output word 0: a lane needs"], &["output word 0: a lane needs"]);
}

#[test]
fn special_units_stand_alone() {
    let mut divide = program("32");
    divide.divide = Some(Divide { dividend: DivideSource::Phv(LO), divisor: DivideSource::Phv(HI) });
    divide.hi[1] = Some(add(1));
    check(
        &divide,
        &["divider is used; this chip has none", "the divider takes"],
        &["the divider takes the place"],
    );
    let mut lanes = program("64x2");
    lanes.lanes =
        Some(LaneSearch { op: LaneOp::Max16, from_phv: false, mask: LaneMask::Constant(0x1ff), post: None });
    lanes.lo[0] = Some(Update::set_phv(ALWAYS, LO));
    let expected = [
        "lane search `max16` is combined with updates",
        "lane search `max16` is used on narrower elements",
        "lane search: constant 511",
    ];
    check(
        &lanes,
        &["register format", expected[0], expected[1], "lane search is used", expected[2]],
        &expected,
    );
    let mut bit = program("1");
    bit.bit = Some(BitOp::Clr);
    bit.comparators[0] = Some(against(0));
    bit.lo[0] = Some(add(1));
    let expected = ["a one-bit access has comparators", "a one-bit access has updates"];
    check(&bit, &expected, &expected);
    let mut wide = program("8");
    wide.bit = Some(BitOp::Set);
    check(&wide, &["a one-bit access is used"], &["a one-bit access is used"]);
}

#[test]
fn a_registers_actions_together() {
    let large = |value| {
        let mut program = program("32");
        program.lo[0] = Some(add(value));
        program
    };
    for spec in chips() {
        let five: Vec<SaluProgram> = (0..5).map(large).collect();
        let errors = validate_register(&five, 0, &spec).unwrap_err();
        assert_eq!(errors, [SaluError::Actions { found: 5, limit: 4 }]);
        // Four rows: equal constants and those within -8..=7 cost nothing more.
        let four = [large(100), large(200), large(100), large(7)];
        assert_eq!(register_file_rows(&four, &spec), 2);
        assert_eq!(validate_register(&four, 2, &spec), Ok(()));
        let errors = validate_register(&four, 3, &spec).unwrap_err();
        assert!(
            errors[0].to_string().starts_with("5 register file rows are needed (2 large constants"),
            "{errors:?}"
        );
        // -9 and 2^32 - 9 differ on 34-bit rows only.
        let twins = [large(-9), large(0xffff_fff7)];
        assert_eq!(register_file_rows(&twins, &spec), if spec.register_file_bits == 32 { 1 } else { 2 });
        let other = program("16");
        let errors = validate_register(&[large(1), other], 0, &spec).unwrap_err();
        assert!(
            errors[0].to_string().starts_with("register actions 0 and 1 differ in element size"),
            "{errors:?}"
        );
    }
    // 32x2 and 64 are the same 64 bits: the chip lets actions differ there.
    let spec = &chips()[1];
    assert_eq!(validate_register(&[program("32x2"), program("64")], 0, spec), Ok(()));
    let unit = |factor| {
        let mut program = program("32");
        program.math = Some(MathUnit::approximate(MathOp::Sqrt, factor, 1).unwrap());
        program
    };
    assert_eq!(validate_register(&[unit(1), unit(1)], 0, spec), Ok(()));
    assert!(
        validate_register(&[unit(1), unit(2)], 0, spec).unwrap_err()[0].to_string().contains("math unit")
    );
}
