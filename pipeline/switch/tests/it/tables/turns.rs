//! More metadata than containers: fields that take turns in one, and the order of stages that turns require.

use crate::tables::bench::{both_chips, parsed, placed};
use sluice_asic::chip::ChipSpec;
use sluice_ir::{Field, Home, Program};
use sluice_place::{Placement, place};
use std::fmt::Write;

const ROUNDS: usize = 4;

/// Returns a program of rounds; each fills `fields` separate words from a table and hashes them into the header.
fn rounds(fields: usize, read_again: bool) -> Program {
    let mut text = String::from(
        "program rounds;
        header h : ingress { bit<8> sel; bit<8> pad; bit<32> out0; bit<32> out1; bit<32> out2; bit<32> out3; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        action send : ingress () { ig_tm.ucast_egress_port = 9w8; }
        parser ingress { start = first; state first { extract(h); transition accept; } }
        deparser ingress { emit(h); }\n",
    );
    let mut control = String::new();
    for round in 0..ROUNDS {
        let names: Vec<String> = (0..fields).map(|i| format!("m.t{round}_{i}")).collect();
        let list: String = names.iter().map(|n| format!("bit<32> {n}; ")).collect();
        let fill = |salt: usize| -> String {
            names.iter().enumerate().map(|(i, n)| format!("{n} = 32w{}; ", salt + round * 1000 + i)).collect()
        };
        // The last round may read a word of the first.
        let back = if read_again && round == ROUNDS - 1 { ", m.t0_0" } else { "" };
        let _ = write!(
            text,
            "metadata : ingress {{ {list} }}
            action one{round} : ingress () {{ {} }}
            action other{round} : ingress () {{ {} }}
            table pick{round} : ingress {{ key = {{ h.sel : exact; }} actions = {{ one{round}; other{round}; }}
                default_action = one{round}(); size = 16; const entries = {{ (7) : other{round}(); }} }}
            hash sum{round} : ingress {{ algorithm = crc_32; inputs = {{ {}{back} }}; width = 32; }}
            action put{round} : ingress () {{ h.out{round} = hash(sum{round}); }}\n",
            fill(5),
            fill(90_000),
            names.join(", "),
        );
        let _ = write!(control, "apply pick{round}; call put{round}; ");
    }
    let _ = write!(text, "control ingress {{ {control} call send; }}");
    parsed(&text)
}

fn containers(program: &Program, placement: &Placement) -> usize {
    let metadata = program.fields.iter().filter(|(_, f)| f.home == Home::Metadata);
    let used = metadata.flat_map(|(f, _)| placement.phv.slices(f)).map(|s| s.container);
    used.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn fields_take_turns_only_when_containers_run_out() {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let few = rounds(4, false);
        assert_eq!(containers(&few, &placed(&few, &chip)), 4 * ROUNDS, "{}", chip.name);
        let many = rounds(24, false);
        let used = containers(&many, &placed(&many, &chip));
        assert!((24..24 * ROUNDS).contains(&used), "{used} on {}", chip.name);
    }
}

#[test]
fn what_takes_turns_computes_the_same() {
    let frames: Vec<Vec<u8>> =
        (0..20u8).map(|i| [vec![i % 9], vec![0x11; 17], vec![0; 60]].concat()).collect();
    let ran = both_chips(&rounds(24, false), &[], &frames);
    let first = |i: usize| ran.packets[i].1[2..18].to_vec();
    assert_ne!(first(7), first(1));
    assert_eq!(first(16), first(7));
    // Each round hashes other words.
    let words: Vec<&[u8]> = ran.packets[0].1[2..18].chunks(4).collect();
    assert!(words.iter().enumerate().all(|(i, w)| !words[..i].contains(w)), "{words:02x?}");
}

#[test]
fn a_field_that_is_read_later_keeps_its_container() {
    let program = rounds(24, true);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&program, &chip);
        let field = |name: &str| program.fields.iter().find(|(_, f)| f.name == name).map(|(f, _)| f).unwrap();
        let own = placement.phv.slices(field("m.t0_0"))[0].container;
        let others: Vec<Field> = program.fields.keys().filter(|f| *f != field("m.t0_0")).collect();
        assert!(others.iter().all(|f| placement.phv.slices(*f).iter().all(|s| s.container != own)));
    }
}

/// Turns require an order of stages, which is checked from coordinates alone.
#[test]
fn the_verifier_sees_turns_that_overlap_in_time() {
    let chip = ChipSpec::tofino2();
    let program = rounds(24, true);
    let mut placement = placed(&program, &chip);
    let named = |name: &str| program.fields.iter().find(|(_, f)| f.name == name).map(|(f, _)| f).unwrap();
    // The word that the last round reads gets the container of a word that is written between.
    let (kept, between) = (named("m.t0_0"), named("m.t2_0"));
    placement.phv.fields[kept] = placement.phv.fields[between].clone();
    let found = sluice_place::verify(&program, &placement);
    assert!(
        found.iter().any(|d| d.text.contains("`m.t0_0` shares bits with `m.t2_0`, but a packet can read")),
        "{found:#?}"
    );
}

#[test]
fn what_never_ends_cannot_take_turns() {
    let mut program = rounds(24, false);
    // Words that no table fills on every path begin with the zero of the packet's arrival.
    for table in program.tables.values_mut() {
        let send = program.actions.iter().find(|(_, a)| a.name == "send").map(|(a, _)| a).unwrap();
        table.actions.push(send);
        table.default.action = send;
    }
    let Err(refused) = place(&program, &ChipSpec::tofino2()) else { panic!("fits") };
    assert!(refused.to_string().contains("PHV: ingress needs"), "{refused}");
}
