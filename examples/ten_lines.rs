//! Sluice as a library: place a program, send ten packets, look at what left and when, and print the report.
//!
//! `cargo run -p sluice-replay --example ten_lines`

use etherparse::PacketBuilder;
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::Duration;
use sluice_place::report::Report;
use sluice_replay::Bench;
use std::error::Error;
use std::io::{Write, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    ten_lines(&mut stdout().lock())
}

fn ten_lines(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut bench = Bench::new(&sluice_programs::catalogue(), "ecmp", &[], &ChipSpec::tofino2())?;
    for n in 0..10 {
        let (mut frame, packet) = (Vec::new(), PacketBuilder::ethernet2([2; 6], [4; 6]));
        packet.ipv4([10, 0, 0, 1], [10, 1, 0, 1], 64).udp(49_152 + n, 4791).write(&mut frame, &[0; 100])?;
        bench.send(Duration::from_nanos(100 * u64::from(n)), 0, &frame)?;
    }
    write!(out, "{}", sluice_report::text(&Report::new(bench.program(), bench.placement())))?;
    for packet in bench.finish()?.sent {
        writeln!(out, "packet {} left by dev_port {} at {}", packet.number, packet.port, packet.time)?;
    }
    Ok(())
}

/// The default entries of `ecmp` send 10.1.0.0/16 to front-panel ports 0 to 3, which are dev_ports 8, 16, 24 and 32.
#[test]
fn it_prints_the_report_and_ten_packets_over_equal_paths() -> Result<(), Box<dyn Error>> {
    let mut out = Vec::new();
    ten_lines(&mut out)?;
    let text = String::from_utf8(out)?;
    assert!(text.starts_with("ecmp on tofino2: fits, "), "{text}");
    let sent: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("packet "))
        .map(|line| line.split(' ').collect())
        .collect();
    let numbers: Vec<&str> = sent.iter().map(|words| words[1]).collect();
    assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    let ports: std::collections::BTreeSet<&str> = sent.iter().map(|words| words[5]).collect();
    assert!(ports.len() > 1 && ports.iter().all(|port| ["8", "16", "24", "32"].contains(port)), "{ports:?}");
    Ok(())
}
