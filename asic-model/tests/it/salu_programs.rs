//! Register actions of published programs, as the pages of `docs/model` describe them: each fits both chips and does
//! what its one-line description says.

use sluice_asic::chip::ChipSpec;
use sluice_asic::salu::*;

const LO: Half = Half::Lo;
const HI: Half = Half::Hi;

fn program(format: &str) -> SaluProgram {
    SaluProgram::new(format.parse().unwrap())
}

fn test(relation: Relation, memory: Term, phv: Option<Term>, add: i64) -> Option<Comparator> {
    let (sense, memory, constant) = (Sense::Unsigned, Some(memory), Constant::Value(add));
    Some(Comparator::Compare(Compare { relation, sense, memory, phv, constant }))
}

fn flag(when: Predicate) -> Option<Output> {
    Some(Output { when, source: OutputSource::Flag { shift: 0 } })
}

fn phv(lo: u64, hi: u64) -> Operands {
    Operands { lo, hi, ..Operands::default() }
}

/// All actions of one register fit one SALU of both chips.
fn fits(programs: &[SaluProgram]) {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        assert_eq!(validate_register(programs, 0, &chip.salu), Ok(()), "{}", chip.name);
    }
}

#[test]
fn a_congested_port_is_remembered_for_a_while() {
    // model: conweave §2.4 reg_ecn_port: check: hi > now ? (lo == sample) : (hi = 0 -> 0); reset: lo = port,
    // hi = now + BUSY, the sum taken a stage before.
    let mut check = program("32x2");
    check.comparators[0] = test(Relation::Grt, Term::plus(HI), Some(Term::minus(HI)), 0);
    check.comparators[1] = test(Relation::Equ, Term::plus(LO), Some(Term::minus(LO)), 0);
    let [busy, same] = [0, 1].map(Predicate::comparator);
    check.hi[0] = Some(Update { when: !busy, op: SaluOp::Setz, a: None, b: None });
    check.outputs[0] = flag(busy & same);
    let mut reset = program("32x2");
    reset.lo[0] = Some(Update::set_phv(Predicate::ALWAYS, LO));
    reset.hi[0] = Some(Update::set_phv(Predicate::ALWAYS, HI));
    fits(&[check.clone(), reset.clone()]);
    let state = reset.execute(State::default(), &phv(7, 1000)).state;
    let asked = |sample, now| check.execute(state, &phv(sample, now));
    assert_eq!((asked(7, 999).outputs[0], asked(6, 999).outputs[0]), (1, 0));
    assert_eq!((asked(7, 1000).outputs[0], asked(7, 1000).state), (0, State::pair(7, 0)));
    assert_eq!(asked(7, 999).state, state);
}

#[test]
fn a_queue_is_owned_by_one_flow() {
    // model: conweave §2.4 reg_q_occupancy: register: 0 -> flowkey, 1; check: == flowkey; reset: if == flowkey 0.
    let mut register = program("32");
    register.comparators[0] = test(Relation::Equ, Term::plus(LO), None, 0);
    let holds = Predicate::comparator(0);
    register.lo[0] = Some(Update::set_phv(holds, LO));
    register.outputs[0] = flag(holds);
    let mut check = program("32");
    check.comparators[0] = test(Relation::Equ, Term::plus(LO), Some(Term::minus(LO)), 0);
    check.outputs[0] = flag(holds);
    let mut reset = check.clone();
    reset.lo[0] = Some(Update::set_constant(holds, Constant::ZERO));
    fits(&[register.clone(), check.clone(), reset.clone()]);
    let (first, second) = (phv(0xdead_beef, 0), phv(0x1234_5678, 0));
    let taken = register.execute(State::single(0), &first);
    assert_eq!((taken.outputs[0], taken.state), (1, State::single(0xdead_beef)));
    let refused = register.execute(taken.state, &second);
    assert_eq!((refused.outputs[0], refused.state, refused.written), (0, taken.state, false));
    assert_eq!([&first, &second].map(|key| check.execute(taken.state, key).outputs[0]), [1, 0]);
    assert_eq!([&first, &second].map(|key| reset.execute(taken.state, key).state.lo), [0, 0xdead_beef]);
}

#[test]
fn inactivity_is_a_comparison_of_three_terms() {
    // model: conweave §2.4 reg_active_time: (reg + EXP < now) ->; reg = now. EXP is in the register file.
    let mut active = program("32");
    active.comparators[0] = test(Relation::Lss, Term::plus(LO), Some(Term::minus(LO)), 300_000);
    active.lo[0] = Some(Update::set_phv(Predicate::ALWAYS, LO));
    active.outputs[0] = flag(Predicate::comparator(0));
    fits(std::slice::from_ref(&active));
    assert_eq!(register_file_rows(std::slice::from_ref(&active), &ChipSpec::tofino2().salu), 1);
    let mut state = State::single(1_000_000);
    let expired: Vec<u32> = [1_300_000, 1_600_001, 1_600_002]
        .into_iter()
        .map(|now| {
            let outcome = active.execute(state, &phv(now, 0));
            state = outcome.state;
            outcome.outputs[0]
        })
        .collect();
    assert_eq!(expired, [0, 1, 0]);
}

#[test]
fn a_flowcell_ends_after_64_kilobytes() {
    // model: flowlets §4, Presto: if bytes + len > 65536 {bytes := len; out wrap = 1} else add.
    let mut cell = program("32");
    cell.comparators[0] = test(Relation::Grt, Term::plus(LO), Some(Term::plus(LO)), -65_536);
    let wrap = Predicate::comparator(0);
    cell.lo[0] = Some(Update::set_phv(wrap, LO));
    cell.lo[1] = Some(Update::binary(!wrap, SaluOp::Add, SourceA::Memory(LO), SourceB::Phv(LO)));
    cell.outputs[0] = flag(wrap);
    fits(std::slice::from_ref(&cell));
    let (mut state, mut wraps) = (State::single(0), Vec::new());
    for packet in 1..=132 {
        let outcome = cell.execute(state, &phv(1500, 0));
        state = outcome.state;
        if outcome.outputs[0] == 1 {
            assert_eq!(state, State::single(1500));
            wraps.push(packet);
        }
    }
    // 43 packets are 64,500 bytes; the 44th starts the next cell.
    assert_eq!(wraps, [44, 87, 130]);
}

#[test]
fn counters_that_saturate_and_marks_above_a_threshold() {
    // model: conweave §2.4 reg_buffer_egress_cntr: saturating + 1; reg_ecn_marking_threshold: depth >= thr ->.
    let mut count = program("8");
    let one = SourceB::Constant(Constant::Value(1));
    count.lo[0] = Some(Update::binary(Predicate::ALWAYS, SaluOp::Saddu, SourceA::Memory(LO), one));
    count.outputs[0] = Some(Output::always(OutputSource::Alu(LO)));
    fits(std::slice::from_ref(&count));
    let run = |old| count.execute(State::single(old), &Operands::default());
    assert_eq!([run(254).outputs[0], run(255).outputs[0]], [255, 255]);
    assert_eq!(run(255).state, State::single(255));
    let mut mark = program("32");
    mark.comparators[0] = test(Relation::Leq, Term::plus(LO), Some(Term::minus(LO)), 0);
    mark.outputs[0] = flag(Predicate::comparator(0));
    fits(std::slice::from_ref(&mark));
    let marked = |depth| mark.execute(State::single(524_287), &phv(depth, 0)).outputs[0];
    assert_eq!([marked(524_286), marked(524_287)], [0, 1]);
}
