//! The stateful ALU: register actions of the programs in `docs/model`, and every access against a plain model on wide
//! integers.

use proptest::prelude::*;
use sluice_asic::chip::{ChipSpec, SaluSpec};
use sluice_asic::salu::*;

const ALWAYS: Predicate = Predicate::ALWAYS;

fn format(text: &str) -> Format {
    text.parse().unwrap()
}

fn tofino() -> SaluSpec {
    ChipSpec::tofino().salu
}

fn tofino2() -> SaluSpec {
    ChipSpec::tofino2().salu
}

fn compare(
    relation: Relation,
    sense: Sense,
    memory: Option<Term>,
    phv: Option<Term>,
    add: i64,
) -> Comparator {
    Comparator::Compare(Compare { relation, sense, memory, phv, constant: Constant::Value(add) })
}

fn phv(lo: u64, hi: u64) -> Operands {
    Operands { lo, hi, ..Operands::default() }
}

/// Model: flowlets §2.3 variant A: `c = now - lo > GAP; if c { hi := cand }; lo := now; out = new hi`.
fn flowlet(gap: i64) -> SaluProgram {
    let mut program = SaluProgram::new(format("32x2"));
    let (then, now) = (Term::minus(Half::Lo), Term::plus(Half::Lo));
    program.comparators[0] = Some(compare(Relation::Grt, Sense::Serial, Some(then), Some(now), -gap));
    program.lo[0] = Some(Update::set_phv(ALWAYS, Half::Lo));
    program.hi[0] = Some(Update::set_phv(Predicate::comparator(0), Half::Hi));
    program.outputs[0] = Some(Output::always(OutputSource::Alu(Half::Hi)));
    program
}

#[test]
fn flowlet_table_of_letflow() {
    let program = flowlet(500);
    assert_eq!(program.validate(&tofino(), 0), Ok(()));
    assert_eq!(program.validate(&tofino2(), 0), Ok(()));
    assert_eq!(program.phv_halves(), [true, true]);
    // The last eight bytes of a crossbar group on Tofino, the first eight on Tofino 2.
    assert_eq!((program.phv_bytes(&tofino()), program.phv_bytes(&tofino2())), (0xff00, 0x00ff));
    assert_eq!(register_file_rows(std::slice::from_ref(&program), &tofino()), 1);
    let mut state = State::pair(u64::from(u32::MAX) - 10, 3);
    for (now, candidate, port) in [(100, 7, 3), (600, 8, 3), (1101, 9, 9), (1601, 4, 9), (2102, 5, 5)] {
        let outcome = program.execute(state, &phv(now, candidate));
        assert_eq!((outcome.outputs[0], outcome.state), (port, State::pair(now, port.into())), "{now}");
        state = outcome.state;
    }
}

#[test]
fn conweaves_timer_is_a_latch() {
    // Model: conweave §2.4 reg_reply_timer, check: reg < now -> returns 1, reg = MAX.
    let mut program = SaluProgram::new(format("32"));
    let (memory, now) = (Term::plus(Half::Lo), Term::minus(Half::Lo));
    program.comparators[0] = Some(compare(Relation::Lss, Sense::Unsigned, Some(memory), Some(now), 0));
    let expired = Predicate::comparator(0);
    program.lo[0] = Some(Update { when: expired, op: SaluOp::Sethi, a: None, b: None });
    program.outputs[0] = Some(Output { when: expired, source: OutputSource::Flag { shift: 0 } });
    assert_eq!(program.validate(&tofino(), 0), Ok(()));
    let waiting = program.execute(State::single(500), &phv(500, 0));
    assert_eq!((waiting.outputs[0], waiting.state, waiting.written), (0, State::single(500), false));
    let fired = program.execute(State::single(499), &phv(500, 0));
    assert_eq!((fired.outputs[0], fired.state, fired.written), (1, State::single(0xffff_ffff), true));
    let never = program.execute(fired.state, &phv(0xffff_ffff, 0));
    assert_eq!((never.outputs[0], never.state), (0, fired.state));
}

#[test]
fn conweaves_epoch_counts_round_and_returns_the_new_value() {
    // Model: conweave §2.4 reg_epoch, increase 3 -> 0 else + 1, -> new.
    let mut program = SaluProgram::new(format("8"));
    program.comparators[0] =
        Some(compare(Relation::Equ, Sense::Unsigned, Some(Term::plus(Half::Lo)), None, -3));
    let last = Predicate::comparator(0);
    let one = SourceB::Constant(Constant::Value(1));
    program.lo[0] = Some(Update::set_constant(last, Constant::ZERO));
    program.lo[1] = Some(Update::binary(!last, SaluOp::Add, SourceA::Memory(Half::Lo), one));
    program.outputs[0] = Some(Output::always(OutputSource::Alu(Half::Lo)));
    assert_eq!(validate_register(std::slice::from_ref(&program), 0, &tofino()), Ok(()));
    let mut state = State::single(0);
    let mut seen = Vec::new();
    for _ in 0..6 {
        let outcome = program.execute(state, &Operands::default());
        state = outcome.state;
        seen.push(outcome.outputs[0]);
    }
    assert_eq!(seen, [1, 2, 3, 0, 1, 2]);
}

#[test]
fn read_and_clear_returns_the_old_value() {
    let mut program = SaluProgram::new(format("16"));
    program.lo[0] = Some(Update { when: ALWAYS, op: SaluOp::Setz, a: None, b: None });
    program.outputs[0] = Some(Output::always(OutputSource::Memory(Half::Lo)));
    let outcome = program.execute(State::single(0xbeef), &Operands::default());
    assert_eq!((outcome.outputs[0], outcome.state), (0xbeef, State::single(0)));
}

#[test]
fn both_alus_of_a_half_are_ored() {
    let mut program = SaluProgram::new(format("8"));
    program.lo[0] = Some(Update::set_phv(ALWAYS, Half::Lo));
    program.lo[1] = Some(Update::set_phv(ALWAYS, Half::Hi));
    assert_eq!(program.execute(State::single(0xff), &phv(0x101, 0x20)).state, State::single(0x21));
}

#[test]
fn math_unit_keeps_a_moving_average() {
    // lo := lo - lo/8 + sample/8 would need two operations; the chip's way is add with a math result.
    let mut program = SaluProgram::new(format("32"));
    program.math = Some(MathUnit::approximate(MathOp::Mul, 1, 8).unwrap());
    let scaled = SourceB::MathPhv(Half::Lo);
    program.lo[1] = Some(Update::binary(ALWAYS, SaluOp::Add, SourceA::Memory(Half::Lo), scaled));
    assert_eq!(program.validate(&tofino(), 0), Ok(()));
    assert_eq!(program.execute(State::single(100), &phv(96, 0)).state, State::single(112));
    program.lo.swap(0, 1);
    let errors = program.validate(&tofino(), 0).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].to_string().contains("only ALU2-lo can"), "{}", errors[0]);
}

#[test]
fn wide_halves_pass_their_upper_bits_through() {
    let mut program = SaluProgram::new(format("64"));
    let one = SourceB::Constant(Constant::Value(1));
    program.lo[0] = Some(Update::binary(ALWAYS, SaluOp::Add, SourceA::Memory(Half::Lo), one));
    program.outputs[0] = Some(Output::always(OutputSource::Alu(Half::Lo)));
    program.outputs[2] = Some(Output::always(OutputSource::Alu(Half::Lo)));
    assert_eq!(program.validate(&tofino2(), 0), Ok(()));
    let outcome = program.execute(State::single(0x1234_5678_ffff_ffff), &Operands::default());
    // No carry crosses bit 32.
    assert_eq!(outcome.state, State::single(0x1234_5678_0000_0000));
    assert_eq!(outcome.outputs, [0, 0, 0x1234_5678, 0]);
    program.lo[0] = Some(Update::set_phv(ALWAYS, Half::Hi));
    let outcome = program.execute(State::single(1), &phv(0, 0xfedc_ba98_7654_3210));
    assert_eq!(outcome.state, State::single(0xfedc_ba98_7654_3210));
    assert!(program.validate(&tofino(), 0).unwrap_err()[0].to_string().contains("pair of half the width"));
}

#[test]
fn divider() {
    let mut program = SaluProgram::new(format("32"));
    program.divide =
        Some(Divide { dividend: DivideSource::Phv(Half::Lo), divisor: DivideSource::Memory(Half::Lo) });
    program.outputs[0] = Some(Output::always(OutputSource::Quotient));
    program.outputs[1] = Some(Output::always(OutputSource::Remainder));
    assert_eq!(program.validate(&tofino2(), 0), Ok(()));
    assert!(program.divides());
    assert!(matches!(
        program.validate(&tofino(), 0).unwrap_err()[..],
        [SaluError::Missing { .. }, SaluError::OutputWords { part: SaluPart::Output(1), limit: 1 },]
    ));
    let run = |a: i16, b: i16| {
        let outputs = program.execute(State::single(b as u16 as u64), &phv(a as u16 as u64, 0)).outputs;
        (outputs[0] as u16 as i16, outputs[1] as u16 as i16)
    };
    // The remainder has the divisor's sign; the model's four sign cases, and division by zero.
    assert_eq!([run(6, 16), run(6, -16), run(-6, 16), run(-6, -16)], [(0, 6), (0, -10), (0, 10), (0, -6)]);
    assert_eq!([run(100, 7), run(-100, 7), run(i16::MIN, -1)], [(14, 2), (-14, 5), (i16::MIN, 0)]);
    assert_eq!([run(5, 0), run(-5, 0), run(0, 0)], [(i16::MAX, 5), (i16::MIN, -5), (i16::MAX, 0)]);
}

#[test]
fn one_bit_register_and_lane_search() {
    let mut filter = SaluProgram::new(Format::BIT);
    filter.bit = Some(BitOp::Set);
    filter.outputs[0] = Some(Output::always(OutputSource::Alu(Half::Lo)));
    assert_eq!(filter.validate(&tofino(), 0), Ok(()));
    let first = filter.execute(State::single(0), &Operands::default());
    assert_eq!((first.outputs[0], first.state), (0, State::single(1)));
    assert_eq!(filter.execute(first.state, &Operands::default()).outputs[0], 1);

    let mut least = SaluProgram::new(format("128"));
    let post = LanePost { subtract: false, amount: PostAmount::Phv };
    least.lanes = Some(LaneSearch {
        op: LaneOp::Min16,
        from_phv: false,
        mask: LaneMask::Constant(0x0f),
        post: Some(post),
    });
    least.outputs[0] = Some(Output::always(OutputSource::LaneIndex));
    least.outputs[1] = Some(Output::always(OutputSource::LaneValue));
    assert_eq!(validate_register(std::slice::from_ref(&least), 0, &tofino2()), Ok(()));
    let outcome = least.execute(State::word(0x0003_0005_0004_0009_0006), &phv(40, 0));
    // The least of the four lowest lanes is lane 2 with 4; lane 4 does not take part.
    assert_eq!((outcome.outputs[0], outcome.outputs[1]), (2, 4));
    assert_eq!(outcome.state.to_word(), 0x0003_0005_002c_0009_0006);
}

#[test]
fn comparators_show_their_outcome() {
    let mut program = SaluProgram::new(format("32"));
    let term = Some(Term::plus(Half::Lo));
    program.comparators[0] = Some(compare(Relation::Grt, Sense::Unsigned, term, None, -7));
    program.comparators[1] = Some(compare(Relation::Equ, Sense::Unsigned, term, None, -8));
    program.outputs[0] = Some(Output::always(OutputSource::OneHot));
    assert_eq!(program.validate(&tofino(), 0), Ok(()));
    let shown = |value| program.execute(State::single(value), &Operands::default()).outputs[0];
    assert_eq!([shown(7), shown(9), shown(8)], [1 << 0, 1 << 1, 1 << 3]);
}

#[test]
fn parameters_and_addresses() {
    let mut program = SaluProgram::new(format("32"));
    let param = SourceB::Constant(Constant::Param(2));
    program.lo[0] = Some(Update::binary(ALWAYS, SaluOp::Minu, SourceA::Memory(Half::Lo), param));
    program.outputs[1] = Some(Output::always(OutputSource::Address));
    assert_eq!(program.validate(&tofino2(), 3), Ok(()));
    let operands = Operands { params: [0, 0, 40, 0], address: 77, ..Operands::default() };
    let outcome = program.execute(State::single(50), &operands);
    assert_eq!((outcome.state, outcome.outputs[1]), (State::single(40), 77));
    let errors = program.validate(&tofino2(), 2).unwrap_err();
    assert_eq!(errors[0].to_string(), "ALU1-lo: register parameter 2; the register has 2: declare it");
}

/// An action with at least its declared parts random; legal or not.
fn any_program() -> impl Strategy<Value = SaluProgram> {
    let half = prop_oneof![Just(Half::Lo), Just(Half::Hi)].boxed();
    let constant = prop_oneof![4 => -8..8i64, 1 => any::<i32>().prop_map(i64::from), 1 => 0..1i64 << 33]
        .prop_map(Constant::Value);
    let constant = prop_oneof![5 => constant, 1 => (0..4u8).prop_map(Constant::Param)].boxed();
    let table = prop_oneof![Just(0xffffu16), any::<u16>()].prop_map(Predicate::from_table).boxed();
    let term = (half.clone(), any::<bool>(), prop::option::weighted(0.2, any::<u32>()))
        .prop_map(|(half, negate, mask)| Term { half, negate, mask });
    let compare = (
        prop::sample::select(&Relation::ALL[..]),
        prop::sample::select(&Sense::ALL[..]),
        prop::option::of(term.clone()),
        prop::option::of(term),
        constant.clone(),
    )
        .prop_map(|(relation, sense, memory, phv, constant)| {
            Comparator::Compare(Compare { relation, sense, memory, phv, constant })
        });
    let ternary = (half.clone(), half.clone(), any::<u64>())
        .prop_map(|(memory, phv, mask)| Comparator::Ternary(Ternary { memory, phv, mask }));
    let comparator = prop_oneof![6 => compare, 1 => ternary];
    let a = prop_oneof![half.clone().prop_map(SourceA::Memory), constant.clone().prop_map(SourceA::Constant)];
    let b = prop_oneof![half.clone().prop_map(SourceB::Phv), constant.prop_map(SourceB::Constant)];
    let update = (table.clone(), prop::sample::select(SaluOp::ALL), a, b).prop_map(|(when, op, a, b)| {
        Update { when, op, a: op.uses_a().then_some(a), b: op.uses_b().then_some(b) }
    });
    let source = prop_oneof![
        half.clone().prop_map(OutputSource::Memory),
        half.clone().prop_map(OutputSource::Phv),
        half.prop_map(OutputSource::Alu),
        Just(OutputSource::OneHot),
        Just(OutputSource::Flag { shift: 4 }),
        Just(OutputSource::Address),
    ];
    let output = (table, source).prop_map(|(when, source)| Output { when, source });
    const FORMATS: [&str; 9] = ["8", "16", "32", "64", "128", "8x2", "16x2", "32x2", "64x2"];
    (
        prop::sample::select(&FORMATS[..]),
        prop::array::uniform4(prop::option::weighted(0.6, comparator)),
        prop::array::uniform4(prop::option::weighted(0.6, update)),
        prop::array::uniform4(prop::option::weighted(0.6, output)),
    )
        .prop_map(|(text, comparators, [lo1, lo2, hi1, hi2], outputs)| SaluProgram {
            comparators,
            lo: [lo1, lo2],
            hi: [hi1, hi2],
            outputs,
            ..SaluProgram::new(format(text))
        })
}

/// Makes the access on wide integers, one rule at a time.
struct Plain {
    bits: u32,
    memory: [i128; 2],
    phv: [i128; 2],
    params: [i64; 4],
}

/// `value` modulo 2^bits, from 0.
fn unsigned(value: i128, bits: u32) -> i128 {
    value.rem_euclid(1 << bits)
}

/// `value` modulo 2^bits, as two's complement.
fn signed(value: i128, bits: u32) -> i128 {
    let value = unsigned(value, bits);
    if value >= 1 << (bits - 1) { value - (1 << bits) } else { value }
}

impl Plain {
    fn math(&self) -> u32 {
        self.bits.min(32)
    }

    fn constant(&self, constant: Constant) -> i128 {
        match constant {
            Constant::Value(value) => value.into(),
            Constant::Param(row) => self.params[row as usize].into(),
        }
    }

    fn compare(&self, comparator: &Comparator) -> bool {
        match comparator {
            Comparator::Ternary(t) => (0..self.bits).all(|bit| {
                t.mask >> bit & 1 == 0
                    || self.memory[t.memory as usize] >> bit & 1 == self.phv[t.phv as usize] >> bit & 1
            }),
            Comparator::Compare(c) => {
                let term = |term: Option<Term>, halves: &[i128; 2]| {
                    term.map_or(0, |term| {
                        let cut = unsigned(halves[term.half as usize], self.math());
                        let cut = cut & i128::from(term.mask.unwrap_or(u32::MAX));
                        let value = if c.sense == Sense::Signed { signed(cut, self.math()) } else { cut };
                        if term.negate { -value } else { value }
                    })
                };
                let mut sum =
                    term(c.memory, &self.memory) + term(c.phv, &self.phv) + self.constant(c.constant);
                if c.sense == Sense::Serial {
                    sum = signed(sum, self.math());
                }
                match c.relation {
                    Relation::Equ => sum == 0,
                    Relation::Neq => sum != 0,
                    Relation::Grt => sum > 0,
                    Relation::Leq => sum <= 0,
                    Relation::Geq => sum >= 0,
                    Relation::Lss => sum < 0,
                }
            }
        }
    }

    fn compute(&self, op: SaluOp, a: i128, b: i128) -> i128 {
        let bits = self.math();
        let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
        let (sa, sb) = (signed(a, bits), signed(b, bits));
        let (top, low, high) = ((1i128 << bits) - 1, -(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
        let result = match op {
            SaluOp::Add => ua + ub,
            SaluOp::Sub => ua - ub,
            SaluOp::Subr => ub - ua,
            SaluOp::Saddu => (ua + ub).min(top),
            SaluOp::Sadds => (sa + sb).clamp(low, high),
            SaluOp::Ssubu => (ua - ub).max(0),
            SaluOp::Ssubs => (sa - sb).clamp(low, high),
            SaluOp::Ssubru => (ub - ua).max(0),
            SaluOp::Ssubrs => (sb - sa).clamp(low, high),
            SaluOp::Minu => ua.min(ub),
            SaluOp::Mins => sa.min(sb),
            SaluOp::Maxu => ua.max(ub),
            SaluOp::Maxs => sa.max(sb),
            SaluOp::Setz => 0,
            SaluOp::Sethi => top,
            SaluOp::Nor => !(ua | ub),
            SaluOp::Andca => !ua & ub,
            SaluOp::Nota => !ua,
            SaluOp::Andcb => ua & !ub,
            SaluOp::Notb => !ub,
            SaluOp::Xor => ua ^ ub,
            SaluOp::Nand => !(ua & ub),
            SaluOp::And => ua & ub,
            SaluOp::Xnor => !(ua ^ ub),
            SaluOp::AluB => ub,
            SaluOp::Orca => !ua | ub,
            SaluOp::AluA => ua,
            SaluOp::Orcb => ua | !ub,
            SaluOp::Or => ua | ub,
        };
        unsigned(result, bits)
    }

    fn update(&self, update: &Update) -> i128 {
        let wide = |value: i128| if self.bits > 32 { unsigned(signed(value, 32), 64) } else { value };
        let a = update.a.map(|a| match a {
            SourceA::Memory(half) => (true, self.memory[half as usize]),
            SourceA::Constant(constant) => (false, wide(self.constant(constant))),
        });
        let b = update.b.map(|b| match b {
            SourceB::Phv(half) => self.phv[half as usize],
            SourceB::Constant(constant) => wide(self.constant(constant)),
            SourceB::MathMemory(_) | SourceB::MathPhv(_) => unreachable!("not generated"),
        });
        let low = self.compute(update.op, a.map_or(0, |a| a.1), b.unwrap_or(0));
        let upper = match (a, b) {
            (Some((true, a)), _) | (Some((false, a)), None) => a,
            (_, Some(b)) => b,
            (None, None) => 0,
        };
        if self.bits > 32 { (upper >> 32 << 32) + low } else { low }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_access_is_the_plain_models(
        program in any_program(), memory: (u64, u64), operands: (u64, u64), same: bool, params: [i32; 4], address: u32,
    ) {
        let format = program.format;
        let mask = format.half_mask();
        let operands = if same { memory } else { operands };
        let params = params.map(i64::from);
        let state = State::pair(memory.0 & mask, if format.has_hi() { memory.1 & mask } else { 0 });
        let outcome = program.execute(state, &Operands { lo: operands.0, hi: operands.1, address, params });

        let plain = Plain {
            bits: format.half_bits(),
            memory: [state.lo.into(), state.hi.into()],
            phv: [(operands.0 & mask).into(), (operands.1 & mask).into()],
            params,
        };
        let results: Vec<bool> =
            program.comparators.iter().map(|c| c.as_ref().is_some_and(|c| plain.compare(c))).collect();
        let number = results.iter().rev().fold(0, |number, result| 2 * number + usize::from(*result));
        prop_assert_eq!(usize::from(outcome.comparators), number);
        let holds = |when: Predicate| when.table() >> number & 1 == 1;
        let half = |updates: &[Option<Update>; 2]| {
            let acting: Vec<i128> =
                updates.iter().flatten().filter(|u| holds(u.when)).map(|u| plain.update(u)).collect();
            (!acting.is_empty()).then(|| acting.iter().fold(0, |all, one| all | one))
        };
        let (lo, hi) = (half(&program.lo), half(&program.hi));
        let new = [lo.unwrap_or(plain.memory[0]), hi.unwrap_or(plain.memory[1])];
        let stored_hi = if format.has_hi() { new[1] } else { 0 };
        prop_assert_eq!(
            (i128::from(outcome.state.lo), i128::from(outcome.state.hi)), (new[0], stored_hi), "{:?}", program
        );
        prop_assert_eq!(outcome.written, lo.is_some() || format.has_hi() && hi.is_some());
        for (word, output) in program.outputs.iter().enumerate() {
            let cut = |value: i128| (if word < 2 { value } else { value >> 32 }) & 0xffff_ffff;
            let expected = match output {
                Some(output) if holds(output.when) => match output.source {
                    OutputSource::Memory(half) => cut(plain.memory[half as usize]),
                    OutputSource::Phv(half) => cut(plain.phv[half as usize]),
                    OutputSource::Alu(half) => cut(new[half as usize]),
                    OutputSource::OneHot => 1 << number,
                    OutputSource::Flag { shift } => 1 << shift,
                    _ => address.into(),
                },
                _ => 0,
            };
            prop_assert_eq!(i128::from(outcome.outputs[word]), expected, "word {} of {:?}", word, program);
        }
    }

    #[test]
    fn values_never_leave_the_format(program in any_program(), lo: u64, hi: u64, phv: (u64, u64), params: [i64; 4]) {
        let outcome = program.execute(State::pair(lo, hi), &Operands { lo: phv.0, hi: phv.1, address: 0, params });
        let mask = program.format.half_mask();
        prop_assert_eq!(outcome.state.lo & !mask, 0);
        prop_assert_eq!(outcome.state.hi & if program.format.has_hi() { !mask } else { u64::MAX }, 0);
    }

    #[test]
    fn tofino_refuses_what_tofino_2_has_more_of(program in any_program()) {
        // Every limit of Tofino 2 is at least Tofino's.
        if program.validate(&tofino(), 4).is_ok() {
            prop_assert_eq!(program.validate(&tofino2(), 4), Ok(()));
        }
    }
}
