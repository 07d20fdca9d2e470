//! Cost of a packet in `conweave`, both gresses, in either role of a ToR: DATA packets of 16 flows.

use crate::row::{Row, lazy};
use crate::{ENGINES, Make};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::PortMap;
use sluice_control::ControlState;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn};
use sluice_ir::Program;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, roce, udp};
use sluice_place::{Placement, place};
use sluice_programs::conweave::wire::{Header, opcode};
use std::net::Ipv4Addr;

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

/// Sends `packets` packets, `batch` at a time, one every 125 ns. Returns how many there were.
fn run(executor: &mut dyn Executor, frames: &[Vec<u8>], packets: u64, batch: usize, port: u16) -> u64 {
    let mut store = PacketStore::new(HeadLayout::default());
    let (mut passes, mut at) = (Vec::with_capacity(64), 0);
    while at < packets {
        passes.clear();
        for n in at..(at + batch as u64).min(packets) {
            let packet = store.insert(&frames[(n % LOADED) as usize], 0);
            // A second after the clock's beginning.
            let input = PassIn { port, global_tstamp: 1_000_000_000 + n * 125, ..PassIn::default() };
            passes.push(Pass::new(packet, input));
        }
        at += passes.len() as u64;
        executor.run(Gress::Ingress, &mut passes, &mut store);
        for pass in &mut passes {
            let input = PassIn { port: pass.output.port, qid: pass.output.qid, ..pass.input };
            *pass = Pass::new(pass.packet, input);
        }
        executor.run(Gress::Egress, &mut passes, &mut store);
        passes.iter().for_each(|pass| store.remove(pass.packet));
    }
    at
}

/// `conweave` on Tofino 2 with its default entries.
fn placed() -> (Program, Placement, ControlState) {
    let catalogue = sluice_programs::catalogue();
    let stage = catalogue.get("conweave").expect("a shipped program");
    let program = stage.build(&[]).expect("the program builds");
    let chip = ChipSpec::tofino2();
    let placement = place(&program, &chip).expect("the program fits");
    let ports = PortMap::default_for(&chip).expect("the default port map");
    let mut control = ControlState::new(&program);
    for op in stage.default_setup(&program, &ports).expect("the default entries").ops {
        control.apply(&program, op).expect("the entries fit");
    }
    (program, placement, control)
}

/// The rows of both roles.
pub(crate) fn rows(packets: u64) -> Vec<Row> {
    let placed = lazy(placed);
    let mut rows = Vec::new();
    for (role, at_source) in [("SrcToR", true), ("DstToR", false)] {
        for (code, make) in ENGINES {
            for batch in [64, 1] {
                let placed = placed.clone();
                rows.push(Row::new("conweave", format!("{role}{code}, batch {batch}"), move || {
                    prepare(&placed, make, packets, batch, at_source)
                }));
            }
        }
    }
    rows
}

fn prepare(
    (program, placement, control): &(Program, Placement, ControlState),
    make: Make,
    packets: u64,
    batch: usize,
    at_source: bool,
) -> Box<dyn FnMut() -> u64> {
    let mut engine = make().engine(program, placement, control).expect("an engine");
    let frames: Vec<Vec<u8>> = (0..LOADED).map(|n| frame(n, at_source)).collect();
    let port = if at_source { 8 } else { 40 };
    Box::new(move || run(&mut engine, &frames, packets, batch, port))
}
