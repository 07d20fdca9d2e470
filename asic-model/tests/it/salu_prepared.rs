//! Actions prepared for many accesses have the results of the stateful ALU: random actions, including actions that no
//! chip would take, on random elements.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use sluice_asic::salu::*;

fn half() -> impl Strategy<Value = Half> {
    prop_oneof![Just(Half::Lo), Just(Half::Hi)]
}

/// Numbers near the places where widths and signs end.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        0u64..4,
        any::<u64>(),
        (0u32..64, 0u64..3).prop_map(|(bit, more)| (1u64 << bit).wrapping_add(more).wrapping_sub(1)),
    ]
}

fn constant() -> impl Strategy<Value = Constant> {
    prop_oneof![
        8 => word().prop_map(|v| Constant::Value(v as i64 >> 30)),
        8 => (-9i64..9).prop_map(Constant::Value),
        1 => (0u8..5).prop_map(Constant::Param),
    ]
}

fn predicate() -> impl Strategy<Value = Predicate> {
    prop_oneof![
        Just(Predicate::ALWAYS),
        (0usize..4).prop_map(Predicate::comparator),
        any::<u16>().prop_map(Predicate::from_table),
    ]
}

fn term() -> impl Strategy<Value = Option<Term>> {
    let mask = prop::option::weighted(0.2, word().prop_map(|w| w as u32));
    let term = (half(), any::<bool>(), mask).prop_map(|(half, negate, mask)| Term { half, negate, mask });
    prop::option::weighted(0.8, term)
}

fn comparator() -> impl Strategy<Value = Comparator> {
    let compare = (
        prop::sample::select(&Relation::ALL[..]),
        prop::sample::select(&Sense::ALL[..]),
        term(),
        term(),
        constant(),
    );
    prop_oneof![
        4 => compare.prop_map(|(relation, sense, memory, phv, constant)| {
            Comparator::Compare(Compare { relation, sense, memory, phv, constant })
        }),
        1 => (half(), half(), word())
            .prop_map(|(memory, phv, mask)| Comparator::Ternary(Ternary { memory, phv, mask })),
    ]
}

fn update() -> impl Strategy<Value = Update> {
    let a = prop_oneof![
        3 => half().prop_map(|h| Some(SourceA::Memory(h))),
        2 => constant().prop_map(|c| Some(SourceA::Constant(c))),
        1 => Just(None),
    ];
    let b = prop_oneof![
        6 => half().prop_map(|h| Some(SourceB::Phv(h))),
        4 => constant().prop_map(|c| Some(SourceB::Constant(c))),
        1 => half().prop_map(|h| Some(SourceB::MathMemory(h))),
        1 => half().prop_map(|h| Some(SourceB::MathPhv(h))),
        2 => Just(None),
    ];
    let op = prop::sample::select(SaluOp::ALL);
    (predicate(), op, a, b).prop_map(|(when, op, a, b)| Update { when, op, a, b })
}

fn output() -> impl Strategy<Value = Output> {
    let source = prop_oneof![
        4 => half().prop_map(OutputSource::Memory),
        2 => half().prop_map(OutputSource::Phv),
        4 => half().prop_map(OutputSource::Alu),
        2 => (0u8..34).prop_map(|shift| OutputSource::Flag { shift }),
        1 => Just(OutputSource::OneHot),
        1 => Just(OutputSource::Address),
        1 => Just(OutputSource::Quotient),
        1 => Just(OutputSource::LaneIndex),
    ];
    (predicate(), source).prop_map(|(when, source)| Output { when, source })
}

fn few<T: std::fmt::Debug + Clone, const N: usize>(
    of: impl Strategy<Value = T>,
    often: f64,
) -> impl Strategy<Value = [Option<T>; N]> {
    prop::collection::vec(prop::option::weighted(often, of), N).prop_map(|v| v.try_into().unwrap())
}

fn program() -> impl Strategy<Value = SaluProgram> {
    const FORMATS: [&str; 12] =
        ["1", "8", "16", "32", "8x2", "16x2", "32x2", "32", "32x2", "64", "128", "64x2"];
    let search = LaneSearch { op: LaneOp::Max8, from_phv: false, mask: LaneMask::Phv, post: None };
    let divide = Divide { dividend: DivideSource::Memory(Half::Lo), divisor: DivideSource::Phv(Half::Hi) };
    let rare = (
        prop::option::weighted(0.2, Just(MathUnit::approximate(MathOp::Sqrt, 3, 1).unwrap())),
        prop::option::weighted(0.1, Just(divide)),
        prop::option::weighted(0.1, prop::sample::select(&BitOp::ALL[..])),
        prop::option::weighted(0.1, Just(search)),
    );
    let parts = (few(comparator(), 0.4), few(update(), 0.5), few(update(), 0.4), few(output(), 0.4));
    (prop::sample::select(&FORMATS[..]), parts, rare).prop_map(|(format, parts, rare)| {
        let (comparators, lo, hi, outputs) = parts;
        let (math, divide, bit, lanes) = rare;
        let format = format.parse().unwrap();
        // Most one-bit elements have their instruction.
        let bit = if format == Format::BIT { bit.or(Some(BitOp::SetC)) } else { bit };
        SaluProgram { format, comparators, lo, hi, math, divide, bit, lanes, outputs }
    })
}

/// Accesses to one element, one after the other.
struct Chain<'a> {
    cell: State,
    operands: &'a [(u64, u64, u32)],
}

impl Accesses for Chain<'_> {
    type Result = Vec<(State, [u32; 4])>;

    fn each(mut self, access: impl Fn(&mut State, [u64; 2], u32) -> [u32; 4]) -> Self::Result {
        let mut list = Vec::new();
        for &(lo, hi, address) in self.operands {
            let words = access(&mut self.cell, [lo, hi], address);
            list.push((self.cell, words));
        }
        list
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn prepared_actions_do_what_the_salu_does(
        program in program(),
        first in (word(), word()),
        operands in prop::collection::vec((word(), word(), any::<u32>()), 1..6),
        params in [word(), word(), word(), word()],
    ) {
        let params = params.map(|w| w as i64 >> 30);
        let mut cell = State::pair(first.0, first.1);
        let chain = Chain { cell, operands: &operands };
        let found = Prepared::new(&program).make(&params, chain);
        for (&(lo, hi, address), found) in operands.iter().zip(found) {
            let expected = program.execute(cell, &Operands { lo, hi, address, params });
            prop_assert_eq!(found, (expected.state, expected.outputs));
            cell = expected.state;
        }
    }
}

#[test]
fn the_usual_actions_have_the_short_form() {
    let wide = SaluProgram::new("64".parse().unwrap());
    assert!(!Prepared::new(&wide).is_short());
    let mut counts = [0u32; 2];
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..2000 {
        let program = program().new_tree(&mut runner).unwrap().current();
        counts[usize::from(Prepared::new(&program).is_short())] += 1;
    }
    // Many random actions have the short form and many do not, so that the comparison covers both.
    assert!(counts.iter().all(|&n| n > 400), "{counts:?}");
}
