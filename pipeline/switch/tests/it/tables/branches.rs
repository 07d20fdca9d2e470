//! Outcomes that cross stages with few carriers: random programs on chips with few tags and logical tables.

use crate::tables::bench::parsed;
use sluice_asic::chip::ChipSpec;
use sluice_ir::Program;
use sluice_place::{Carrier, Optimisation, Options, Resource, place_with, verify};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Numbers from a seed (SplitMix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let a = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let b = (a ^ a >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (b ^ b >> 31) % n
    }
}

/// Source text of tables that wait for each other, under conditions on fields some of which are written on the way.
struct Source {
    draw: Draw,
    declared: String,
    tables: u64,
}

impl Source {
    fn block(&mut self, depth: u64) -> String {
        let mut text = String::new();
        for _ in 0..=self.draw.below(3) {
            if self.tables >= 16 {
                break;
            }
            if self.tables > 0 && depth < 4 && self.draw.below(2) == 0 {
                let (field, value) = (self.draw.below(8), self.draw.below(3));
                let field = if field < 5 { format!("c{field}") } else { format!("v{}", field - 5) };
                let then = self.block(depth + 1);
                let _ = write!(text, "if (h.{field} == 8w{value}) {{ {then} }}");
                if self.draw.below(3) == 0 {
                    let other = self.block(depth + 1);
                    let _ = write!(text, " else {{ {other} }}");
                }
                text += "\n";
            } else {
                text += &self.table();
            }
        }
        text
    }

    fn table(&mut self) -> String {
        let (n, key, to) = (self.tables, self.draw.below(6), self.draw.below(6));
        self.tables += 1;
        let _ = write!(
            self.declared,
            "action a{n} : ingress () {{ h.v{to} = 8w{n}; }}
            table t{n} : ingress {{ key = {{ h.v{key} : exact; }} actions = {{ a{n}; }} default_action = a{n}(); size = 16; }}\n"
        );
        format!("apply t{n};\n")
    }
}

fn program(seed: u64) -> Program {
    let mut source = Source { draw: Draw(seed), declared: String::new(), tables: 0 };
    let mut control = String::new();
    while source.tables < 12 {
        control += &source.block(0);
    }
    parsed(&format!(
        "program branches;
        header h : ingress {{
            bit<8> c0; bit<8> c1; bit<8> c2; bit<8> c3; bit<8> c4;
            bit<8> v0; bit<8> v1; bit<8> v2; bit<8> v3; bit<8> v4; bit<8> v5;
        }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action send : ingress () {{ ig_tm.ucast_egress_port = 9w8; }}
        {}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ {control} call send; }}
        deparser ingress {{ emit(h); }}\n",
        source.declared
    ))
}

#[test]
fn outcomes_arrive_where_little_carries_them_or_are_named() {
    let (mut tags, mut pointed, mut again, mut relayed, mut refused) = (0, 0, 0, 0, 0);
    for seed in 0..60 {
        let mut chip = ChipSpec::tofino2();
        chip.mau.long_branch_tags = (seed % 2) as u32;
        chip.mau.logical_tables = [4, 6, 16][seed as usize % 3];
        let without = match seed % 5 {
            0 => BTreeSet::from([Optimisation::RetestedConditions]),
            1 => BTreeSet::from([Optimisation::RetestedConditions, Optimisation::NextTablePointer]),
            2 => BTreeSet::from([Optimisation::NextTablePointer]),
            _ => BTreeSet::new(),
        };
        let program = program(seed);
        let options = Options { without, ..Options::default() };
        match place_with(&program, &chip, &options) {
            Ok(placement) => {
                assert_eq!(verify(&program, &placement), [], "seed {seed}");
                for branch in &placement.long_branches {
                    match branch.by {
                        Carrier::Tag(_) => tags += 1,
                        Carrier::Pointer => pointed += 1,
                        Carrier::Retest(_) => again += 1,
                        Carrier::Relays(_) => relayed += 1,
                        Carrier::Nothing => panic!("seed {seed}: {branch:?}"),
                    }
                }
            }
            Err(why) => {
                let first = why.first_exhausted.as_ref().unwrap();
                if first.resource != Resource::LongBranches {
                    continue;
                }
                let named =
                    |name: &String| why.diags.iter().any(|d| d.text.contains(&format!("decides `{name}`")));
                assert!(
                    !first.contenders.is_empty() && first.contenders.iter().all(named),
                    "seed {seed}: {why}"
                );
                refused += 1;
            }
        }
    }
    eprintln!(
        "{tags} on tags, {pointed} on the pointer, {again} tested again, {relayed} relayed, {refused} refused"
    );
    assert!([tags, pointed, again, relayed, refused].iter().all(|n| *n > 0));
    // It would be five if branches never changed carriers and no node were delayed.
    assert!(refused <= 2, "{refused}");
}
