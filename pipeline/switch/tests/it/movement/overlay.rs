//! Headers of which no packet has two, in the same containers: bytes are sent as they arrived, or as actions left
//! them, through both engines.

use crate::movement::device::{World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_place::{Optimisation, Options, place_with};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The byte says which header follows: `a` (1) and `b` (2) exclude each other, and `end` follows both.
fn program(out: &str) -> String {
    let fields = |name: &str| {
        (0..18).fold(String::new(), |mut text, i| {
            let _ = write!(text, "bit<8> {name}{i}; ");
            text
        })
    };
    let keys = |name: &str| (0..18).map(|i| format!("h_{name}.{name}{i} : exact; ")).collect::<String>();
    let entry = (0..18).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "program overlay;
        header first : ingress {{ bit<8> kind; bit<8> seen; }}
        header h_a : ingress {{ {} }}
        header h_b : ingress {{ {} }}
        header end : ingress {{ bit<8> mark; bit<8> more; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action send : ingress () {{ ig_tm.ucast_egress_port = 9w{out}; }}
        action in_a : ingress () {{ h_a.a0 = h_a.a1; h_a.a17 = 8w0xaa; }}
        action in_b : ingress () {{ h_b.b0 = h_b.b1; h_b.b17 = 8w0xbb; }}
        action without_a : ingress () {{ set_invalid(h_a); }}
        action told : ingress (bit<8> what) {{ first.seen = what; }}
        table by_a : ingress {{ key = {{ {} }} actions = {{ told; }} default_action = told(1);
            size = 16; const entries = {{ ({entry}) : told(0xa0); }} }}
        table by_b : ingress {{ key = {{ {} }} actions = {{ told; }} default_action = told(2);
            size = 16; const entries = {{ ({entry}) : told(0xb0); }} }}
        parser ingress {{
            start = parse_first;
            state parse_first {{ extract(first); select (first.kind) {{ (1) : parse_a; (2) : parse_b; (3) : parse_a;
                default : accept; }} }}
            state parse_a {{ extract(h_a); transition parse_end; }}
            state parse_b {{ extract(h_b); transition parse_end; }}
            state parse_end {{ extract(end); transition accept; }}
        }}
        control ingress {{
            call send;
            if (valid(h_a)) {{ apply by_a; call in_a; }}
            if (valid(h_b)) {{ apply by_b; call in_b; }}
            if (valid(h_a) && first.kind == 8w3 && h_a.a9 == 8w9) {{ call without_a; }}
        }}
        deparser ingress {{ emit(first); emit(h_a); emit(h_b); emit(end); }}",
        fields("a"),
        fields("b"),
        keys("a"),
        keys("b"),
    )
}

/// Returns a chip with so few containers that one of the headers has none left.
fn small(mut chip: ChipSpec) -> ChipSpec {
    chip.phv.groups_8 = 2;
    chip.phv.tagalong_collections = 0;
    chip.phv.mocha_per_group = 0;
    chip.phv.dark_per_group = 0;
    chip.phv.groups_16 = 2;
    chip.phv.groups_32 = 2;
    chip
}

fn worlds() -> [World; 2] {
    let world = |chip: ChipSpec| {
        World::new(&small(chip.clone()), &program(if chip.name == "tofino" { "4" } else { "16" }))
    };
    [world(ChipSpec::tofino2()), world(ChipSpec::tofino())]
}

#[test]
fn packets_of_either_kind_keep_their_bytes() {
    for w in worlds() {
        let of = |name: &str| {
            w.placement.phv.slices(w.program.fields.iter().find(|(_, f)| f.name == name).unwrap().0)
        };
        assert!(
            (0..18).any(|i| (0..18)
                .any(|j| of(&format!("h_a.a{i}"))[0].container == of(&format!("h_b.b{j}"))[0].container)),
            "{} has room for both",
            w.placement.chip.name
        );
        let bytes = |kind: u8, salt: u8| -> Vec<u8> {
            let body = if kind == 0 { 0 } else { 20 };
            let mut bytes = vec![kind, 0];
            bytes.extend((0..body).map(|i| i + salt));
            bytes.resize(64, 0xee);
            bytes
        };
        let sent: Vec<Vec<u8>> = [(1, 0), (2, 0), (0, 0), (2, 40), (3, 0), (3, 1), (1, 80), (2, 0)]
            .map(|(k, s)| bytes(k, s))
            .into();
        let frames: Vec<_> = (0..).zip(&sent).map(|(n, b)| frame(8, 100 + 200 * n, b)).collect();
        let changed = |b: &[u8]| -> Vec<u8> {
            let mut b = b.to_vec();
            let counts = (0..18).all(|i| b[2 + usize::from(i)] == i);
            let gone = b[0] == 3 && b[11] == 9;
            if b[0] != 0 {
                let other = b[0] == 2;
                b[1] = match (other, counts) {
                    (false, found) => {
                        if found {
                            0xa0
                        } else {
                            1
                        }
                    }
                    (true, found) => {
                        if found {
                            0xb0
                        } else {
                            2
                        }
                    }
                };
                b[2] = b[3];
                b[19] = if other { 0xbb } else { 0xaa };
            }
            if gone {
                b.drain(2..20);
            }
            b
        };
        let told = w.run(&frames);
        let mut found: Vec<Vec<u8>> = told.sent.iter().map(|(_, b)| b[..46].to_vec()).collect();
        let mut wanted: Vec<Vec<u8>> = sent.iter().map(|b| changed(b)[..46].to_vec()).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{}", w.placement.chip.name);
    }
}

#[test]
fn without_it_the_headers_find_no_place() {
    for w in worlds() {
        let without = BTreeSet::from([Optimisation::HeaderOverlay]);
        let options = Options { without, ..Options::default() };
        let refused = place_with(&w.program, &w.placement.chip, &options).unwrap_err();
        assert!(refused.reason().contains("short of phv"), "{}", refused.reason());
    }
}
