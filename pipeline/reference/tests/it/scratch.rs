//! Scratch, not committed.
use crate::tree::Tree;
use sluice_asic::intrinsic::Architecture;
use sluice_reference::{Device, NamedCall, NamedEntry, Nothing};

#[test]
fn run() {
    let Some(list) = std::env::var_os("SCRATCH_LIST") else { return };
    for line in std::fs::read_to_string(list).unwrap().lines() {
        let mut words = line.split_whitespace();
        let (p4, stf, chip) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let ports: Vec<u16> = words.next().unwrap_or("").split(',').filter_map(|p| p.parse().ok()).collect();
        println!("CASE {p4} {chip}");
        let chip = if chip == "tofino" { Architecture::Tna } else { Architecture::T2na };
        let tree = match Tree::of(&std::fs::read_to_string(p4).unwrap(), chip) {
            Ok(tree) => tree,
            Err(messages) => {
                println!("refused {}", messages.lines().next().unwrap_or(""));
                continue;
            }
        };
        one(&tree, &std::fs::read_to_string(stf).unwrap(), &ports);
    }
}

fn one(tree: &Tree, stf: &str, ports: &[u16]) {
    let mut reference = tree.reference();
    let mut device = Device { ports: Some(ports.iter().copied().collect()), ..Device::default() };
    let mut time = 1_000_000_000u64;
    for (number, line) in stf.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["add", table, rest @ ..] => {
                let (priority, rest) = match rest.first().and_then(|w| w.parse::<u32>().ok()) {
                    Some(p) => (p, &rest[1..]),
                    None => (number as u32, rest),
                };
                let (call, keys) = rest.split_last().unwrap();
                let keys = keys.iter().map(|k| k.rsplit_once(':').unwrap()).collect();
                let (action, args) = call.split_once('(').unwrap();
                let args = args.trim_end_matches(')').split(',').filter(|a| !a.is_empty());
                let args = args.map(|a| a.split_once(':').map(|(n, v)| (Some(n), v)).unwrap()).collect();
                let entry = NamedEntry { table, keys, priority, call: NamedCall { action, args } };
                if let Err(error) = reference.add(&entry) {
                    println!("entry {} {error}", number + 1);
                }
                time += 1000;
            }
            ["packet", port, hex @ ..] => {
                let hex: String = hex.concat();
                let bytes: Vec<u8> = (0..hex.len() / 2)
                    .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
                    .collect();
                device.fields = ["ingress_mac_tstamp", "global_tstamp", "enq_tstamp"]
                    .map(|name| (name.to_owned(), time))
                    .to_vec();
                time += 1000;
                match device.send(&mut reference, port.parse().unwrap(), &bytes, &mut Nothing) {
                    Ok(fate) => {
                        for sent in fate.sent {
                            let hex: String = sent.bytes.iter().map(|b| format!("{b:02x}")).collect();
                            println!("sent {} {} {hex}", number + 1, sent.port);
                        }
                    }
                    Err(missing) => {
                        println!(
                            "missing {} {}",
                            number + 1,
                            tree.show(&missing).lines().take(2).collect::<Vec<_>>().join(" ")
                        );
                    }
                }
            }
            _ => {}
        }
    }
}
