//! Packet tests on the interpreter.
//!
//! `SLUICE_REFERENCE_CASES` names a folder of packet tests in TOML, each with its P4 program, to run in addition.

use crate::tree::Tree;
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_asic::port::PortMap;
use sluice_reference::{Device, NamedCall, NamedEntry, Nothing, Reference, Value};
use sluice_replay::packet_test::{Call, CellCheck, Command, Pattern, Script, TestFile};
use std::collections::VecDeque;
use std::path::PathBuf;

/// A test under way.
struct Running<'t> {
    reference: Reference<'t>,
    device: Device,
    sent: VecDeque<(u16, Vec<u8>)>,
    failed: Vec<String>,
}

fn named(call: &Call) -> NamedCall<'_> {
    let args = call.args.iter().map(|(name, value)| (name.as_deref(), value.as_str())).collect();
    NamedCall { action: &call.action, args }
}

impl Running<'_> {
    fn step(&mut self, tree: &Tree, number: usize, command: &Command) -> Result<(), String> {
        match command {
            Command::Add { table, number: given, keys, call } => {
                let keys = keys.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                let priority = given.unwrap_or(number as u32);
                let entry = NamedEntry { table, keys, priority, call: named(call) };
                self.reference.add(&entry).map_err(|error| error.to_string())
            }
            Command::SetDefault { table, call } => {
                self.reference.set_default(table, &named(call)).map_err(|error| error.to_string())
            }
            Command::Packet { port, bytes } => {
                let fate = self.device.send(&mut self.reference, *port, bytes, &mut Nothing);
                let fate = fate.map_err(|missing| tree.show(&missing))?;
                self.sent.extend(fate.sent.into_iter().map(|sent| (sent.port, sent.bytes)));
                Ok(())
            }
            Command::Expect { port, pattern } => self.expect(*port, pattern),
            Command::Check { array, index, part, value } => self.check(array, *index, *part, *value),
            Command::AddValue { .. } | Command::Wait => Ok(()),
        }
    }

    fn expect(&mut self, port: Option<u16>, pattern: &Pattern) -> Result<(), String> {
        let at = self.sent.iter().position(|(sent, _)| port.is_none_or(|port| port == *sent));
        match at.and_then(|at| self.sent.remove(at)) {
            Some((_, bytes)) if pattern.matches(&bytes) => Ok(()),
            Some((_, bytes)) => Err(format!("found {bytes:02x?}, expected {pattern}")),
            None => Err(format!("no packet left; expected {pattern}")),
        }
    }

    fn check(&mut self, array: &str, index: u32, part: CellCheck, value: u64) -> Result<(), String> {
        let object = self.reference.object_named(array).map_err(|error| error.to_string())?;
        let count = self.reference.counter(object, index.into());
        let element = self.reference.register(object, index.into()).unwrap_or(Value::Nothing);
        let half = |at: usize| element.parts().get(at).and_then(Value::as_u64);
        let found = match part {
            CellCheck::Packets => Some(count.packets),
            // Tests count the 4 bytes of each packet's FCS.
            CellCheck::Bytes => Some(count.bytes + 4 * count.packets),
            CellCheck::Low => element.as_u64().or_else(|| half(0)),
            CellCheck::High => half(1),
        };
        if found == Some(value) { Ok(()) } else { Err(format!("{array}: found {found:?}, expected {value}")) }
    }
}

/// Runs a script on the interpreter and returns what did not come true.
fn run(tree: &Tree, script: &Script) -> Vec<String> {
    let mut running = Running {
        reference: tree.reference(),
        device: Device::default(),
        sent: VecDeque::new(),
        failed: Vec::new(),
    };
    for (number, step) in script.steps.iter().enumerate() {
        if let Err(text) = running.step(tree, number, &step.command) {
            running.failed.push(format!("line {}: {text}", step.line));
        }
    }
    running
        .failed
        .extend(running.sent.iter().map(|(port, bytes)| format!("unexpected on {port}: {bytes:02x?}")));
    running.failed
}

fn script(text: &str) -> Script {
    let file = TestFile::parse(text, &|_| Err("there is none".to_owned())).unwrap();
    file.script(&PortMap::default_for(&ChipSpec::tofino2()).unwrap()).unwrap()
}

const FORWARD: &str = include_str!("forward.p4");

#[test]
fn a_packet_test_in_toml() {
    let text = r#"
        [[step]]
        add = { table = "near", key = { dst = "0x0200000000aa" }, action = "mark", args = { v = 7 } }
        send = { port = "dev:3", hex = "0200000000aa 0200000000bb 9000 0000 11" }
        expect = { port = "dev:3", hex = "0200000000aa 0200000000bb 9000 0007 11" }
        check = { counter = "seen", index = 3, packets = 1, bytes = 21 }
        [[step]]
        send = [ { port = "dev:4", hex = "0200000000ab 0200000000bb 9000 0000 11" }, { port = 0, hex = "02" } ]
        expect = []
        check = { register = "last", index = 0, value = 3 }
    "#;
    for chip in Architecture::ALL {
        let tree = Tree::of(FORWARD, chip).unwrap();
        assert_eq!(run(&tree, &script(text)), [] as [String; 0]);
    }
}

#[test]
fn the_cases_of_a_folder() {
    let Some(folder) = std::env::var_os("SLUICE_REFERENCE_CASES").map(PathBuf::from) else {
        println!("skipped: SLUICE_REFERENCE_CASES names no folder of packet tests");
        return;
    };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut failures = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|of| of == "toml")) {
        let program = file.with_extension("p4");
        let (Ok(text), Ok(source)) = (std::fs::read_to_string(file), std::fs::read_to_string(&program))
        else {
            continue;
        };
        for chip in Architecture::ALL {
            let failed = match Tree::of(&source, chip) {
                Ok(tree) => run(&tree, &script(&text)),
                Err(messages) => vec![format!("the front end refuses it: {messages}")],
            };
            let name = file.file_stem().unwrap().to_string_lossy();
            println!("{name} {chip:?}: {}", if failed.is_empty() { "pass" } else { "FAIL" });
            failed.iter().for_each(|text| println!("    {text}"));
            failures += failed.len();
        }
    }
    println!("{failures} differences");
}
