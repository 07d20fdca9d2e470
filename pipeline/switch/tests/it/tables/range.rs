//! Range keys: what matches, what they cost, what is refused.

use crate::tables::bench::{agree, both_chips, call, configured, entry, parsed, placed};
use proptest::prelude::*;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_build::{entries, exact, range, stage_program, *};
use sluice_control::{ControlState, lines, toml};
use sluice_ir::text;
use sluice_ir::verify::verify;
use sluice_ir::{KeyValue, Program};
use sluice_place::report::Report;

/// An access list over two ports and a protocol; `odd` crosses nibbles of its container.
fn ports(size: u32) -> Program {
    parsed(&format!(
        "program ports;
        header h : ingress {{ bit<8> proto; bit<16> src; bit<16> dst; bit<3> top; bit<10> odd; bit<3> end; bit<8> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        action mark : ingress (bit<8> value) {{ h.out = value; ig_tm.ucast_egress_port = 9w1; }}
        action none : ingress () {{ ig_tm.ucast_egress_port = 9w2; }}
        table acl : ingress {{
            key = {{ h.proto : ternary; h.src : range; h.dst : range; h.odd : range; }}
            actions = {{ mark; none; }}
            default_action = none();
            size = {size};
        }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ apply acl; }}
        deparser ingress {{ emit(h); }}"
    ))
}

fn frame(proto: u8, src: u16, dst: u16, odd: u16) -> Vec<u8> {
    let mut bytes = vec![proto];
    bytes.extend(src.to_be_bytes());
    bytes.extend(dst.to_be_bytes());
    bytes.extend((0x8007 | odd << 3 | 0x2000).to_be_bytes());
    bytes.push(0xee);
    bytes.extend([0x55; 56]);
    bytes
}

const fn between(lo: u128, hi: u128) -> KeyValue {
    KeyValue::Range { lo, hi }
}

const ANY16: KeyValue = between(0, 0xffff);
const ANY10: KeyValue = between(0, 0x3ff);
const TCP: KeyValue = KeyValue::Ternary { value: 6, mask: 0xff };

#[test]
fn the_entry_with_the_lowest_priority_number_whose_ranges_hold_wins() {
    let p = ports(512);
    let mark = |v| call(&p, "mark", &[v]);
    let ops = [
        entry(&p, "acl", &[TCP, ANY16, between(80, 443), ANY10], 20, mark(1)),
        entry(&p, "acl", &[TCP, between(1024, 0xffff), between(100, 100), ANY10], 10, mark(2)),
        entry(
            &p,
            "acl",
            &[KeyValue::Ternary { value: 0, mask: 0 }, ANY16, ANY16, between(5, 700)],
            30,
            mark(3),
        ),
    ];
    let rows = [
        ((6, 5, 79, 0), 0xee),
        ((6, 5, 80, 0), 1),
        ((6, 5, 443, 0), 1),
        ((6, 5, 444, 0), 0xee),
        ((6, 1023, 100, 0), 1),
        ((6, 1024, 100, 0), 2),
        ((6, 0xffff, 100, 0), 2),
        ((17, 0xffff, 100, 4), 0xee),
        ((17, 0xffff, 100, 5), 3),
        ((17, 0xffff, 100, 700), 3),
        ((17, 0xffff, 100, 701), 0xee),
        ((6, 1, 90, 6), 1),
    ];
    let frames: Vec<_> = rows.map(|((proto, src, dst, odd), _)| frame(proto, src, dst, odd)).to_vec();
    assert_eq!(both_chips(&p, &ops, &frames).byte(7), rows.map(|(_, out)| out));
}

#[derive(Header)]
struct Tagged {
    vid: Bits<16>,
    out: Bits<8>,
}

#[derive(params::Params, Default)]
struct NoParams {}

#[stage_program]
fn vlans(ig: &GressBuilder<'_>) {
    let h = ig.header::<Tagged>();
    let start = ig.state().extract(h);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    let pick = ig.action(|a, value: Arg<8>| {
        h.out = value;
        tm.ucast_egress_port = 1;
    });
    let class = ig
        .table([range(h.vid), exact(h.out)])
        .actions([pick])
        .entries(entries![
            (2 .. 99, 0) => pick(1),
            (100 .. 0x1000, 0) => pick(2),
            (_, 0) => pick(3),
            (7, 1) => pick(4),
        ])
        .build();
    ig.control(|c| class.apply());
    ig.deparser().emit(h);
}

#[test]
fn constant_ranges_of_the_builder_survive_their_text() {
    let b = Builder::new("vlans", "Classes of VLANs");
    vlans(&b.ingress());
    let program = b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"));
    let printed = text::print(&program);
    assert!(printed.contains("(0x64 .. 0x1000, 0) : pick(2);"), "{printed}");
    assert_eq!(text::print(&parsed(&printed)), printed);
    let rows =
        [(1, 0, 3), (2, 0, 1), (99, 0, 1), (100, 0, 2), (0x1000, 0, 2), (0x1001, 0, 3), (7, 1, 4), (8, 1, 1)];
    let frames: Vec<Vec<u8>> =
        rows.map(|(vid, tag, _): (u16, u8, u8)| [&vid.to_be_bytes()[..], &[tag], &[0; 60]].concat()).to_vec();
    assert_eq!(both_chips(&program, &[], &frames).byte(2), rows.map(|(.., out)| out));
}

#[test]
fn a_range_nibble_takes_a_tcam_byte_and_planned_rows() {
    let p = ports(1024);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&p, &chip);
        assert!(sluice_place::verify(&p, &placement).is_empty());
        let report = Report::new(&p, &placement);
        let table = report.tables.iter().find(|t| t.name == "acl").unwrap();
        // A quarter of 1024 entries are ranges of 8 rows each.
        assert_eq!((table.required, table.rows), (1024, 768 + 256 * 8));
        // One byte of protocol, 4 + 4 nibbles of ports, 4 nibbles under the ten bits: 13 bytes are 3 blocks.
        let blocks = (768_u32 + 256 * 8).div_ceil(512) * 3;
        assert_eq!(table.tcams, blocks, "{}", chip.name);
        let bytes = report.totals[Column::TernaryXbar.index()];
        assert!(bytes >= 13 && bytes.is_multiple_of(13), "{bytes} crossbar bytes");
    }
}

#[test]
fn files_spell_ranges_and_say_what_is_wrong_with_them() {
    let p = ports(16);
    let text = "[[table.acl]]\nkey = { proto = 6, dst = \"80..443\" }\naction = \"mark\"\nargs = [7]\npriority = 3\n";
    let mut by_toml = ControlState::new(&p);
    toml::parse(&p, text, "f.toml").unwrap().apply(&p, &mut by_toml).unwrap();
    let line = "table_add acl mark 6 * 80..443 * => 7 3\n";
    let mut by_lines = ControlState::new(&p);
    lines::parse(&p, line, "f").unwrap().apply(&p, &mut by_lines).unwrap();
    assert_eq!(by_toml, by_lines);
    let printed = sluice_control::entries::print(&p, &by_toml);
    assert!(printed.contains("\"h.dst\" = \"80..443\""), "{printed}");
    assert!(printed.contains("\"h.src\" = \"*\""), "{printed}");
    let mut again = ControlState::new(&p);
    toml::parse(&p, &printed, "f.toml").unwrap().apply(&p, &mut again).unwrap();
    assert_eq!(again, by_toml);

    let wrong = |line: &str| {
        let parsed = lines::parse(&p, line, "f").and_then(|s| s.apply(&p, &mut ControlState::new(&p)));
        parsed.unwrap_err()[0].text.clone()
    };
    assert_eq!(
        wrong("table_add acl mark 6 * 443..80 * => 7 3"),
        "key `h.dst` of table `acl` has the range 0x1bb..0x50, which is empty; write the lower bound first"
    );
    assert_eq!(
        wrong("table_add acl mark 6 * 80..70000 * => 7 3"),
        "key `h.dst` of table `acl` is 16 bits wide; 0x11170 does not fit"
    );
    assert_eq!(
        wrong("table_add acl mark 6..7 * * * => 7 3"),
        "key `h.proto`: `6..7` does not suit a key that is matched ternary"
    );
    assert_eq!(
        wrong("table_add acl mark 6 * 80..443 * => 7"),
        "table `acl` has a ternary key, so its entries need a priority, and there is none"
    );
    let template = sluice_control::template::print(&sluice_control::Schema::of(&p));
    assert!(template.contains("key h.src: range, 16 bits"), "{template}");
}

#[test]
fn ranges_fill_the_rows_before_the_entries() {
    let p = ports(16);
    // 7 * 7 * 5 rows: three such entries are more than a block.
    let wide = |n| {
        let key = [
            KeyValue::Ternary { value: n, mask: 0xff },
            between(1, 0xfffe),
            between(1, 0xfffe),
            between(1, 0x3fe),
        ];
        entry(&p, "acl", &key, 1, call(&p, "mark", &[1]))
    };
    let mut control = configured(&p, &[wide(1), wide(2)]);
    assert_eq!(
        control.apply(&p, wide(3)).unwrap_err().to_string(),
        "table `acl` has 512 TCAM rows for its ranges, 490 are taken, and this entry takes 245; choose ranges with \
         bounds at multiples of 16, or raise the table's size"
    );
    let table = p.table_named("acl").unwrap();
    control.apply(&p, sluice_control::ControlOp::DeleteEntry { table, entry: 0 }).unwrap();
    control.apply(&p, wide(3)).unwrap();
}

#[test]
fn ranges_that_no_chip_can_do_are_refused() {
    let refused = |keys: &str| {
        let source = text::print(&ports(8))
            .replace("h.proto : ternary; h.src : range; h.dst : range; h.odd : range;", keys);
        let source = source.replace("bit<16> src;\n    bit<16> dst;", "bit<24> src;\n    bit<8> dst;");
        let program = text::parse(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        verify(&program).iter().map(|d| format!("{}: {}", d.text, d.help)).collect::<Vec<_>>()
    };
    assert_eq!(
        refused("h.src : range;"),
        [
            "table `acl` compares the 24 bits of `h.src` by range: a range takes at most 20 bits: slice the field, or \
          match it ternary by prefixes"
        ]
    );
    assert_eq!(
        refused("h.src : lpm; h.dst : range;"),
        [
            "table `acl` has an lpm key and a range key: make the lpm key ternary and give longer prefixes lower \
          priority numbers"
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn both_engines_agree_on_many_ranges(
        rules in prop::collection::vec((0..3_u8, any::<[u16; 6]>(), 0..50_u32), 1..90),
        picks in prop::collection::vec((0..3_u8, any::<[u16; 4]>()), 80),
    ) {
        let p = ports(4096);
        let mut control = ControlState::new(&p);
        for (i, (proto, r, priority)) in rules.iter().enumerate() {
            let pair = |a: u16, b: u16, mask: u16| {
                let (a, b) = (u128::from(a & mask), u128::from(b & mask));
                between(a.min(b), a.max(b))
            };
            let proto = KeyValue::Ternary { value: u128::from(*proto), mask: u128::from(*proto) };
            let key = [proto, pair(r[0], r[1], 0xffff), pair(r[2], r[3], 0xffff), pair(r[4], r[5], 0x3ff)];
            let full = control.apply(&p, entry(&p, "acl", &key, *priority, call(&p, "mark", &[i as u128])));
            // Doubles and a full block are refused.
            let _ = full;
        }
        // Bounds and their neighbours are the critical values of a lookup.
        let frames: Vec<_> = picks
            .iter()
            .map(|(proto, v)| {
                let near = |n: usize, at: usize, v: u16| {
                    let bound = rules[usize::from(v) % rules.len()].1[n + usize::from(v & 1)];
                    if at.is_multiple_of(3) { v } else { bound.wrapping_add((v >> 4) % 3).wrapping_sub(1) }
                };
                frame(*proto, near(0, v[3].into(), v[0]), near(2, (v[3] >> 2).into(), v[1]), near(4, (v[3] >> 4).into(), v[2]) & 0x3ff)
            })
            .collect();
        agree(&p, placement(), &control, &frames);
    }
}

fn placement() -> &'static sluice_place::Placement {
    static PLACED: std::sync::OnceLock<sluice_place::Placement> = std::sync::OnceLock::new();
    PLACED.get_or_init(|| placed(&ports(4096), &ChipSpec::tofino2()))
}
