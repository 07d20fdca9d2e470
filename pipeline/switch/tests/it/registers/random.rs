//! Random register actions on random packets: the reference runs the statements, the engine what they were
//! mapped to.

use crate::registers::bench::{agree, placed};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::salu::{Half, MathOp, MathUnit, SaluOp, Sense};
use sluice_ir::salu;
use sluice_ir::text;
use sluice_ir::{CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, Expr, Loc, Program};
use sluice_place::Placement;
use sluice_random::{Draw, words};
use std::sync::OnceLock;

const FORMATS: [(&str, u32); 5] = [("8", 8), ("16", 16), ("32", 32), ("16x2", 16), ("32x2", 32)];

/// Four actions on one register: three behind a table, one behind a condition, so that a batch mixes them.
fn skeleton(element: &str, bits: u32) -> String {
    let mut text = format!(
        "program random;
        header h : ingress {{ bit<8> kind; bit<8> slot; bit<{bits}> a; bit<{bits}> b; bit<32> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        register cells : ingress {{ element = \"{element}\"; size = 6; initial = 3, 0; params = {{ p = 5, q = 100 }}; }}
        table pick : ingress {{
            key = {{ h.kind : exact; }}
            actions = {{ a0; a1; a2; }}
            default_action = a2();
            size = 4;
            const entries = {{ (0) : a0(); (1) : a1(); }}
        }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ if (h.kind == 8w3) {{ call a3; }} else {{ apply pick; }} }}
        deparser ingress {{ emit(h); }}\n"
    );
    for n in 0..4 {
        // Both operands are used, so that the placement brings both to the stateful ALU.
        text += &format!(
            "register_action r{n} (cells) {{ @lo = h.a; @out0 = h.b; }}
            action a{n} : ingress () {{
                h.out = execute(r{n}, h.slot);
                ig_tm.ucast_egress_port = 9w1;
            }}\n"
        );
    }
    text
}

type World = (ChipSpec, Program, Placement);

fn worlds() -> &'static [World] {
    static WORLDS: OnceLock<Vec<World>> = OnceLock::new();
    WORLDS.get_or_init(|| {
        let chips = [ChipSpec::tofino(), ChipSpec::tofino2()];
        let all = FORMATS.iter().flat_map(|f| chips.iter().map(move |c| (f, c)));
        all.map(|((element, bits), chip)| {
            let program = text::parse(&skeleton(element, *bits)).unwrap_or_else(|e| panic!("{e}"));
            let placement = placed(&program, chip);
            (chip.clone(), program, placement)
        })
        .collect()
    })
}

/// Draws bodies of register actions.
struct Bodies<'p, 'd> {
    program: &'p Program,
    d: &'p mut Draw<'d>,
}

impl Bodies<'_, '_> {
    fn below(&mut self, n: usize) -> usize {
        self.d.below(n)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.d.below(list.len())]
    }

    fn pair(&self) -> bool {
        self.program.registers.values().next().unwrap().format.has_hi()
    }

    fn half(&mut self) -> Half {
        if self.pair() { self.of(&[Half::Lo, Half::Hi]) } else { Half::Lo }
    }

    fn constant(&mut self) -> CellValue {
        if self.below(6) == 0 {
            return CellValue::Param(self.below(2) as u8);
        }
        let mask = self.program.registers.values().next().unwrap().format.half_mask();
        CellValue::Const(self.of(&[0, 1, 2, 3, 7, 8, 100, mask, mask - 1, mask / 2 + 1]) & mask)
    }

    fn field(&mut self) -> CellValue {
        let name = self.of(&["h.a", "h.b"]);
        CellValue::Phv(Expr::Field(self.program.field_named(Gress::Ingress, name).unwrap()))
    }

    fn leaf(&mut self) -> CellValue {
        match self.below(4) {
            0 => self.constant(),
            1 => self.field(),
            _ => CellValue::Half(self.half()),
        }
    }

    fn value(&mut self) -> CellValue {
        if self.below(2) == 0 {
            return self.leaf();
        }
        if self.below(6) == 0 {
            let of = if self.below(2) == 0 { self.field() } else { CellValue::Half(self.half()) };
            let unit = MathUnit::approximate(MathOp::Sqr, 3, 2).unwrap();
            return CellValue::Math(unit, Box::new(of));
        }
        let op = self.of(SaluOp::ALL);
        let (a, b) =
            (CellValue::Half(self.half()), if self.below(2) == 0 { self.field() } else { self.constant() });
        let (a, b) = if self.below(3) == 0 { (b, a) } else { (a, b) };
        CellValue::Op(op, Box::new(a), Box::new(b))
    }

    fn cond(&mut self, depth: usize) -> CellCond {
        match self.below(if depth == 0 { 2 } else { 5 }) {
            2 => CellCond::Not(Box::new(self.cond(depth - 1))),
            3 => CellCond::And(Box::new(self.cond(depth - 1)), Box::new(self.cond(depth - 1))),
            4 => CellCond::Or(Box::new(self.cond(depth - 1)), Box::new(self.cond(depth - 1))),
            _ => {
                let (op, sense) = (self.of(&CmpOp::ALL), self.of(&Sense::ALL));
                let left = if self.below(4) == 0 {
                    let (a, b) = (self.field(), CellValue::Half(self.half()));
                    CellValue::Op(self.of(&[SaluOp::Add, SaluOp::Sub]), Box::new(a), Box::new(b))
                } else {
                    CellValue::Half(self.half())
                };
                if self.below(8) == 0 {
                    let mask = self.of(&[1, 7, 0xf0, 0xffff_ffff]);
                    return CellCond::Match(self.half(), self.field(), mask);
                }
                // Tofino 2 compares under masks.
                let left = if self.below(8) == 0 {
                    let mask = CellValue::Const(self.of(&[1, 3, 15]));
                    CellValue::Op(SaluOp::And, Box::new(CellValue::Half(self.half())), Box::new(mask))
                } else {
                    left
                };
                let right = if self.below(2) == 0 { self.field() } else { self.constant() };
                let (left, right) = if self.below(2) == 0 { (left, right) } else { (right, left) };
                CellCond::Cmp(op, sense, left, right)
            }
        }
    }

    /// What only an output word shows.
    fn returned(&mut self) -> CellValue {
        match self.below(4) {
            0 => CellValue::Address,
            1 => {
                let count = 1 + self.below(3);
                CellValue::Predicate((0..count).map(|_| self.cond(0)).collect())
            }
            n => {
                let (a, b) = (Box::new(self.leaf()), Box::new(self.leaf()));
                if n == 2 { CellValue::Quotient(a, b) } else { CellValue::Remainder(a, b) }
            }
        }
    }

    fn body(&mut self, depth: usize) -> Vec<CellStmt> {
        let count = 1 + self.below(3);
        let stmt = |d: &mut Self| match d.below(if depth == 0 { 2 } else { 4 }) {
            0 => CellStmtKind::Write(d.half(), d.value()),
            1 if d.below(4) == 0 => CellStmtKind::Output(0, d.returned()),
            1 => CellStmtKind::Output(0, d.leaf()),
            _ => {
                let cond = d.cond(1);
                let otherwise = if d.below(2) == 0 { d.body(depth - 1) } else { Vec::new() };
                CellStmtKind::If(cond, d.body(depth - 1), otherwise)
            }
        };
        (0..count).map(|_| CellStmt { kind: stmt(self), loc: Loc::default() }).collect()
    }
}

/// The program with the first bodies that map put in place of its own; how many there were.
fn with_bodies(world: &World, words: &[u32]) -> (Program, usize) {
    let (chip, program, _) = world;
    let mut program = program.clone();
    let register = program.register_named("cells").unwrap();
    let (mut d, mut put) = (Draw::new(words), 0);
    for action in program.register_actions.keys() {
        for _ in 0..6 {
            let body = Bodies { program: &program, d: &mut d }.body(2);
            let old = std::mem::replace(&mut program.register_actions[action].body, body);
            if salu::map(&program, register, chip).is_ok() {
                put += 1;
                break;
            }
            program.register_actions[action].body = old;
        }
    }
    (program, put)
}

fn frames(seed: &[u32], bits: u32) -> Vec<Vec<u8>> {
    let bytes = bits as usize / 8;
    let mask = u32::MAX >> (32 - bits);
    let special = [0, 1, 2, 3, 4, 8, 99, 100, 101, mask, mask - 1, mask / 2, mask / 2 + 1];
    let value =
        |draw: u32| if draw & 1 == 0 { draw >> 1 } else { special[(draw >> 1) as usize % special.len()] };
    seed.chunks_exact(3)
        .map(|draw| {
            let mut frame = vec![draw[0] as u8 & 3, (draw[0] >> 8) as u8 % 7];
            for draw in &draw[1..] {
                frame.extend(&value(*draw).to_be_bytes()[4 - bytes..]);
            }
            frame.extend([0; 60]);
            frame
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn statements_and_stateful_alu_agree(
        choice in 0..10usize,
        words in proptest::collection::vec(any::<u32>(), 40..2000),
        packets in proptest::collection::vec(any::<u32>(), 3 * 130),
    ) {
        let world = &worlds()[choice];
        let (program, put) = with_bodies(world, &words);
        prop_assume!(put > 0);
        agree(&program, &world.2, &frames(&packets, FORMATS[choice / 2].1));
    }
}

/// The strategy is worth something: most bodies that it puts in place are random ones, with conditions among them.
#[test]
fn enough_random_bodies_map() {
    let (mut random, mut compared, mut all) = (0, 0, 0);
    for (n, world) in worlds().iter().enumerate() {
        let words: Vec<u32> = words(n as u64).take(3000).collect();
        let (program, put) = with_bodies(world, &words);
        random += put;
        all += 4;
        let register = program.register_named("cells").unwrap();
        let mapped = salu::map(&program, register, &world.0).unwrap();
        compared += mapped.actions.iter().filter(|(_, p)| p.comparators[0].is_some()).count();
    }
    assert!(random * 2 > all && compared > 4, "{random} of {all}, {compared} with comparisons");
}
