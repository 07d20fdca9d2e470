//! Names and keys as packet tests write them, and a packet test of a deparser.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::{Command, PacketTest, Script, TestFile};
use crate::interpreter;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_build::{exact, lpm, ternary, *};
use sluice_control::named::{self, NamedCall, NamedEntry};
use sluice_control::{ControlOp, ControlState};
use sluice_exec::engine::Engine;
use sluice_fabric::network::Placed;
use sluice_ir::{KeyValue, Program};

/// All about the frame's head
#[derive(Header)]
struct Head {
    addr: Bits<48>,
    kind: Bits<16>,
    mark: Bits<8>,
}

#[stage_program]
fn keys(ig: &GressBuilder<'_>) {
    let h = ig.header::<Head>();
    let start = ig.state().extract(h);
    ig.start(start);
    let mark = ig.action(|a, value: Arg<8>| {
        h.mark = value;
    });
    let slices = ig
        .table([exact(h.addr.part::<47, 40>()), ternary(h.addr.part::<7, 0>()), exact(h.kind).under(0xff0)])
        .actions([mark])
        .size(64)
        .build();
    let prices = ig.table([lpm(h.addr.part::<39, 8>())]).actions([mark]).size(64).build();
    ig.control(|c| {
        slices.apply();
        prices.apply();
    });
    ig.deparser().emit(h);
}

fn program() -> Program {
    let b = Builder::new("keys", "Matches on parts of fields");
    keys(&b.ingress());
    b.finish(&()).unwrap_or_else(|d| panic!("{d:#?}"))
}

/// Returns the keys of the entry, which the control plane takes, or why there is no such entry.
fn entry(table: &str, keys: &[(&str, &str)]) -> Result<Vec<KeyValue>, String> {
    let program = program();
    let call = NamedCall { action: "mark", args: vec![(None, "1")] };
    let entry = NamedEntry { table, keys: keys.to_vec(), priority: 0, call };
    let op = named::insert(&program, &entry).map_err(|e| e.to_string())?;
    ControlState::new(&program).apply(&program, op.clone()).map_err(|e| e.to_string())?;
    let ControlOp::InsertEntry { key, .. } = op else { panic!("{op:?}") };
    Ok(key)
}

#[test]
fn any_end_of_a_name_names_it() {
    let keys = [("addr", "0x112233445566"), ("kind", "0")];
    assert!(entry("lices", &keys).is_ok() && entry("slices", &keys).is_ok());
    // Letters within a part find keys too.
    assert!(entry("lices", &[("dr", "0"), ("nd", "0")]).is_ok());
    assert_eq!(entry("3", &keys).unwrap_err(), "there is no table `3`; expected one of: slices, prices");
    assert_eq!(entry("ices", &keys).unwrap_err(), "table `ices` could be slices or prices");
}

#[test]
fn a_value_of_a_whole_field_is_cut_to_slices_and_masks() {
    let found = entry("slices", &[("h.addr", "0x112233445566"), ("kind", "0x1234")]).unwrap();
    let low = KeyValue::Ternary { value: 0x66, mask: 0xff };
    assert_eq!(found, [KeyValue::Exact(0x11), low, KeyValue::Exact(0x230)]);
    // A slice can have a value of its own, under a mask that leaves out some of its bits.
    let own = [("addr[47:40]", "0x11"), ("addr[7:0]", "0x66 &&& 0xf0"), ("kind", "0x1234")];
    let low = KeyValue::Ternary { value: 0x60, mask: 0xf0 };
    assert_eq!(entry("slices", &own).unwrap(), [KeyValue::Exact(0x11), low, KeyValue::Exact(0x230)]);
    // 24 bits of the field are 16 of the slice.
    let found = entry("rices", &[("addr", "0x112233445566/24")]).unwrap();
    assert_eq!(found, [KeyValue::Lpm { value: 0x2233_0000, len: 16 }]);
    let found = entry("rices", &[("addr", "0x112233445566")]).unwrap();
    assert_eq!(found, [KeyValue::Lpm { value: 0x2233_4455, len: 32 }]);
    let wide = entry("prices", &[("addr", "0x1112233445566")]).unwrap_err();
    assert_eq!(wide, "key `h.addr` of table `prices`: 0x1112233445566 has more than 48 bits");
    let wide = entry("slices", &[("addr", "0"), ("kind", "0x10000")]).unwrap_err();
    assert_eq!(wide, "key `h.kind` of table `slices` is 16 bits wide; 0x10000 does not fit");
}

/// Two words and their sum
#[derive(Header)]
struct Words {
    first: Bits<16>,
    second: Bits<16>,
    sum: Bits<16>,
}

#[stage_program]
fn sums(ig: &GressBuilder<'_>) {
    let h = ig.header::<Words>();
    let start = ig.state().extract(h);
    ig.start(start);
    let tm = ig.intrinsic::<tna::ForTm>();
    ig.control(|c| {
        tm.ucast_egress_port = 2;
        if h.first == 1 {
            h.sum = 0x10;
        }
    });
    ig.deparser().checksum(h, h.sum, list![h.first, h.second, h.sum]).emit(h);
}

#[test]
fn a_checksum_counts_its_own_value_before_the_update() {
    let b = Builder::new("sums", "Sums words with the sum");
    sums(&b.ingress());
    let program = b.finish(&()).unwrap_or_else(|d| panic!("{d:#?}"));
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placed = Placed::new(program.clone(), &chip).unwrap();
        // 0x1111 + 0x2222 + 0x3333 = 0x6666; with the value that ingress wrote, 1 + 0x2222 + 0x10 = 0x2233.
        let script = Script::parse(
            "packet 0 1111 2222 3333 aa\nexpect 2 1111 2222 9999 aa $\n\
             packet 0 0001 2222 3333 bb\nexpect 2 0001 2222 ddcc bb $",
        )
        .unwrap();
        let test = PacketTest::new(script, &placed, &chip).unwrap();
        let setup = test.setup();
        let engine = Engine::new(&placed.program, &placed.placement, &setup.control).unwrap();
        let runs = [test.run(Box::new(interpreter(setup))).unwrap(), test.run(Box::new(engine)).unwrap()];
        assert!(runs.iter().all(|run| run.failed.is_empty() && run.sent.len() == 2), "{runs:#?}");
    }
}

#[test]
fn ports_are_named_as_on_the_command_line() {
    let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
    let sent = |name: &str| {
        let text = format!("[[step]]\nsend = {{ port = {name}, hex = \"00\" }}\nexpect = []\n");
        let file = TestFile::parse(&text, &|_| Err("there is none".to_owned())).map_err(|e| e.to_string())?;
        let script = file.script(&ports).map_err(|e| e.to_string())?;
        let port = script.steps.iter().find_map(|step| match &step.command {
            Command::Packet { port, .. } => Some(*port),
            _ => None,
        });
        Ok::<_, String>(port)
    };
    for (name, dev) in [("1", 16), ("\"1\"", 16), ("\"2/0\"", 16), ("\"dev:137\"", 137)] {
        assert_eq!(sent(name), Ok(Some(dev)), "{name}");
    }
    for name in ["\"2/9\"", "\"99/0\"", "\"a/b\"", "\"dev:1/0\"", "\"x\"", "32"] {
        let said = sent(name).unwrap_err();
        assert!(said.contains(name.trim_matches('"')), "{name}: {said}");
    }
}
