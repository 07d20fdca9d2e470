//! What a packet costs in `conweave`, both gresses, in either role of a ToR.
//!
//! `cargo run --release -p sluice-benches --bin conweave [PACKETS [ROWS [BATCH]]]`: only rows whose name contains `ROWS`,
//! only batches of `BATCH`. Under an instruction counter, two runs with different `PACKETS` of one row at one batch size
//! give its instructions per packet.
#![allow(clippy::expect_used, reason = "a workload that cannot be built ends the benchmark")]

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::PortMap;
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, Verdict};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, roce, udp};
use sluice_place::place;
use sluice_programs::conweave::wire::{Header, opcode};
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::time::Instant;

/// DATA of the flows that the default entries know: from hosts of the ToR, or to them.
fn frame(n: u64, at_source: bool) -> Vec<u8> {
    let host = (n % 4) as u8 + 1;
    let (near, far) = (Ipv4Addr::new(10, 0, 1, host), Ipv4Addr::new(10, 0, 2, host));
    let (src, dst) = if at_source { (near, far) } else { (far, near) };
    let bth = roce::Bth::new(roce::opcode::RC_WRITE_MIDDLE, 7, n as u32 & roce::MAX_U24);
    let headers = roce::Headers { bth, extension: roce::Extension::None };
    let builder = FrameBuilder::new(MacAddr::from_u64(2), MacAddr::from_u64(4));
    let builder = builder.ipv4(ipv4::Header { ecn: 2, ..ipv4::Header::new(src, dst) });
    let port = 49_152 + (n / 4 % 4) as u16;
    let mut frame = Vec::new();
    builder
        .roce(udp::Header::new(port, roce::PORT), headers)
        .build(Payload::Zeros(1_000), &mut frame)
        .expect("a frame");
    if !at_source {
        let ts_tx = (n / 8) as u16;
        Header { path: 1, opcode: opcode::DATA, epoch: 1, ts_tx, ..Header::default() }.put(&mut frame);
    }
    frame
}

/// Packets of a workload that are there at once.
const LOADED: u64 = 4_096;

/// Sends `packets` packets, `batch` at a time, one every 125 ns. Gives how many went on to a port.
fn run(engine: &mut Engine, packets: u64, batch: usize, at_source: bool) -> u64 {
    let frames: Vec<Vec<u8>> = (0..LOADED).map(|n| frame(n, at_source)).collect();
    let mut store = PacketStore::new(HeadLayout::default());
    let (mut passes, mut sent, mut at) = (Vec::with_capacity(64), 0, 0);
    while at < packets {
        passes.clear();
        for n in at..(at + batch as u64).min(packets) {
            let packet = store.insert(&frames[(n % LOADED) as usize], 0);
            // A second after the clock's beginning.
            let port = if at_source { 8 } else { 40 };
            let input = PassIn { port, global_tstamp: 1_000_000_000 + n * 125, ..PassIn::default() };
            passes.push(Pass::new(packet, input));
        }
        at += passes.len() as u64;
        engine.run(Gress::Ingress, &mut passes, &mut store);
        for pass in &mut passes {
            let input = PassIn { port: pass.output.port, qid: pass.output.qid, ..pass.input };
            if pass.output.verdict == Verdict::Forward {
                sent += 1;
            }
            *pass = Pass::new(pass.packet, input);
        }
        engine.run(Gress::Egress, &mut passes, &mut store);
        passes.iter().for_each(|pass| store.remove(pass.packet));
    }
    sent
}

fn main() {
    let mut args = std::env::args().skip(1);
    let packets: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(500_000);
    let wanted = args.next().unwrap_or_default();
    let only: Option<usize> = args.next().and_then(|a| a.parse().ok());
    let catalogue = sluice_generated::catalogue();
    let stage = catalogue.get("conweave").expect("a shipped program");
    let program = stage.build(&[]).expect("the program builds");
    let chip = ChipSpec::tofino2();
    let placement = place(&program, &chip).expect("the program fits");
    let ports = PortMap::default_for(&chip).expect("the default port map");
    let mut control = ControlState::new(&program);
    for op in stage.default_setup(&program, &ports).expect("the default entries").ops {
        control.apply(&program, op).expect("the entries fit");
    }
    println!("{packets} DATA packets of 16 flows through both gresses, median of 3");
    let rows = [("conweave, SrcToR", true), ("conweave, DstToR", false)];
    for ((name, at_source), generated) in rows.into_iter().flat_map(|row| [(row, false), (row, true)]) {
        let catalogue = if generated { catalogue.clone() } else { sluice_programs::catalogue() };
        let code = if generated { "generated" } else { "steps" };
        for batch in [64usize, 1].into_iter().filter(|b| only.is_none_or(|o| o == *b)) {
            if !name.contains(&wanted) {
                continue;
            }
            let mut times: Vec<f64> = (0..3)
                .map(|_| {
                    let mut engine = catalogue.engine(&program, &placement, &control).expect("an engine");
                    let start = Instant::now();
                    black_box(run(&mut engine, packets, batch, at_source));
                    start.elapsed().as_nanos() as f64 / packets as f64
                })
                .collect();
            times.sort_by(f64::total_cmp);
            println!(
                "{name:<18} {code:<9} batch {batch:>2} {:>9.1} ns {:>7.3} M packets/s",
                times[1],
                1000.0 / times[1]
            );
        }
    }
}
