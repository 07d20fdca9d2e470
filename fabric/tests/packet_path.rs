//! The flow-level walk and the packets of the stage program choose the same links.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::hash::rtag7::Rtag7Function;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_fabric::experiment::{Compiled, Picker, Question, plan};
use sluice_fabric::flows::{Flow, Generator, Workload};
use sluice_fabric::topology::Clos;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, tcp, udp};
use sluice_pipeline::build::params::Params;
use sluice_pipeline::control::ControlState;
use sluice_pipeline::engine::Engine;
use sluice_pipeline::packet::{HeadLayout, PacketStore};
use sluice_pipeline::pass::{Executor, Pass, PassIn, Verdict};
use sluice_pipeline::place::place;
use sluice_pipeline::reference::Reference;
use sluice_programs::balance::{EcmpParams, Plan};
use sluice_programs::by_name;
use sluice_programs::planning::replicas::Order;
use sluice_programs::planning::scheme::{FlowFunction, Scheme, Terms};
use sluice_programs::planning::wcmp::Method;

fn frame(flow: &Flow) -> Vec<u8> {
    let key = flow.key;
    let address = |at: usize| -> [u8; 4] { key[at..at + 4].try_into().unwrap() };
    let half = |at: usize| u16::from_be_bytes([key[at], key[at + 1]]);
    let ip = ipv4::Header { ttl: key[13], ..ipv4::Header::new(address(0).into(), address(4).into()) };
    let builder = FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2)).ipv4(ip);
    let mut out = Vec::new();
    let builder = match key[8] {
        6 => builder.tcp(tcp::Header::new(half(9), half(11))),
        _ => builder.udp(udp::Header::new(half(9), half(11))),
    };
    builder.build_len(90, &mut out).unwrap();
    out
}

/// Ports, from the first northern one on, that frames leave by.
fn ports_out(params: &[(String, String)], frames: &[Vec<u8>]) -> Vec<u16> {
    let shipped = by_name("ecmp").unwrap();
    let program = shipped.build(params).unwrap();
    let chip = ChipSpec::tofino2();
    let placement = place(&program, &chip).unwrap();
    let map = PortMap::default_for(&chip).unwrap();
    let mut control = ControlState::new(&program);
    for op in shipped.default_setup(&program, &map).unwrap().ops {
        control.apply(&program, op).unwrap();
    }
    let dev = |front: u16| map.front(FrontPort(front)).unwrap().dev_port.number();
    let mut executors: [Box<dyn Executor>; 2] = [
        Box::new(Engine::new(&program, &placement, &control).unwrap()),
        Box::new(Reference::new(&program, &control, Default::default())),
    ];
    let [fast, slow] = executors.each_mut().map(|executor| {
        let mut store = PacketStore::new(HeadLayout::default());
        let mut sent = Vec::new();
        for frames in frames.chunks(64) {
            let input = PassIn { port: dev(20), ..PassIn::default() };
            let mut passes: Vec<Pass> = frames.iter().map(|f| Pass::new(store.insert(f, 0), input)).collect();
            executor.run(Gress::Ingress, &mut passes, &mut store);
            for pass in passes {
                assert_eq!(pass.output.verdict, Verdict::Forward);
                sent.push((0..16).find(|n| dev(8 + n) == pass.output.port).unwrap());
                store.remove(pass.packet);
            }
        }
        sent
    });
    assert_eq!(fast, slow);
    fast
}

#[test]
fn walks_and_packets_choose_alike() {
    use Rtag7Function::{Bisync, Ccitt, Crc32Lo, Xor16};
    let network = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    let supply = [Crc32Lo, Ccitt, Bisync, Xor16].map(FlowFunction::Rtag7).to_vec();
    for (scheme, picker, selection) in [
        (Scheme::Plain, Picker::Fair, "fair"),
        (Scheme::PerStage, Picker::Modulo16, "plain-modulo"),
        (Scheme::PerPort, Picker::Resilient, "resilient"),
        (Scheme::Recombine, Picker::Fair, "fair"),
        (Scheme::Coprime, Picker::Resilient, "resilient"),
    ] {
        let (hash_bits, _) = picker.limits();
        let terms = Terms {
            supply: supply.clone(),
            seed: 77,
            hash_bits,
            width: 120,
            target: 50,
            order: Order::Interleaved,
        };
        let question = Question { scheme, terms, picker, members: None, method: Method::Split };
        let planned = plan(&network, &question).unwrap();
        let compiled = Compiled::new(&network, &planned, picker);
        // The S2 chips' groups to the north are what the program does at stage 2.
        let point = network.points.iter().position(|(name, _)| name == "s2-up").unwrap() as u32;
        let group = network.groups.iter().position(|g| g.point == point).unwrap();
        let members = planned.groups[group].table.len();
        let params: Vec<(String, String)> = [
            ("scheme", scheme.to_string()),
            ("stage", "2".to_owned()),
            ("seed", "77".to_owned()),
            ("selection", selection.to_owned()),
            ("members", members.to_string()),
        ]
        .map(|(k, v)| (k.to_owned(), v))
        .to_vec();
        let mut ecmp = EcmpParams::default();
        params.iter().for_each(|(k, v)| ecmp.set(k, v).unwrap());
        let program = Plan::ecmp(&ecmp, "ecmp").unwrap();
        assert_eq!(program.north.table, planned.groups[group].table, "{scheme}");
        assert_eq!(program.north.setting, planned.groups[group].setting, "{scheme}");

        let flows: Vec<Flow> = Generator::new(Workload::Uniform, &network, 600, 5).collect();
        let chosen = |flow: &Flow| {
            let path = compiled.path(flow);
            path.iter()
                .find(|(g, _)| network.groups[*g as usize].point == point)
                .map(|(_, port)| *port as u16)
        };
        let walked: Vec<u16> = flows.iter().map(|f| chosen(f).unwrap()).collect();
        let frames: Vec<Vec<u8>> = flows.iter().map(frame).collect();
        assert_eq!(ports_out(&params, &frames), walked, "{scheme}");
        assert!((0..8).all(|port| walked.contains(&port)), "{scheme}");
    }
}
