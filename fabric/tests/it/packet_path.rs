//! The flow-level walk and the packets of the stage program select the same links.

use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_build::params::Params;
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, Verdict};
use sluice_exec::reference::Reference;
use sluice_fabric::flows::{Flow, Generator, Workload, extract};
use sluice_fabric::polarization::{Compared, Compiled, Picker, Question, compare, plan};
use sluice_fabric::topology::Clos;
use sluice_hashing::replicas::Order;
use sluice_hashing::scheme::{FlowFunction, Scheme, Terms};
use sluice_hashing::wcmp::Method;
use sluice_pcaps::capture::write::{TraceFormat, TraceWriter};
use sluice_pcaps::capture::{CaptureReader, CaptureTime};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, tcp, udp};
use sluice_place::place;
use sluice_programs::balance::{EcmpParams, Plan};
use sluice_programs::catalogue;

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

/// Returns the ports that frames are sent on, counted from the first port of their side; the frames arrive on a port of
/// the other side.
fn ports_out(params: &[(String, String)], up: bool, frames: &[Vec<u8>]) -> Vec<u16> {
    let catalogue = catalogue();
    let shipped = catalogue.get("ecmp").unwrap();
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
            let input = PassIn { port: dev(if up { 20 } else { 8 }), ..PassIn::default() };
            let mut passes: Vec<Pass> = frames.iter().map(|f| Pass::new(store.insert(f, 0), input)).collect();
            executor.run(Gress::Ingress, &mut passes, &mut store);
            for pass in passes {
                assert_eq!(pass.output.verdict, Verdict::Forward);
                let first = if up { 8 } else { 0 };
                sent.push((0..16).find(|n| dev(first + n) == pass.output.port).unwrap());
                store.remove(pass.packet);
            }
        }
        sent
    });
    assert_eq!(fast, slow);
    fast
}

/// One decision point of the Clos, and the parameters of the program at its switches.
struct Case {
    scheme: Scheme,
    picker: Picker,
    selection: &'static str,
    point: &'static str,
    functions: &'static str,
}

const ALL_NINE: &str = "crc16_xor8,crc32_hi,crc16_xor4,ccitt,crc32_lo,bisync,xor16,crc16_xor2,crc16_xor1";
const CRCS: &str = "crc_16,crc_32,crc_16_kermit";

const fn case(
    scheme: Scheme,
    picker: Picker,
    selection: &'static str,
    point: &'static str,
    functions: &'static str,
) -> Case {
    Case { scheme, picker, selection, point, functions }
}

const CASES: [Case; 13] = [
    case(Scheme::Plain, Picker::Fair, "fair", "s1-up", "crc32_lo"),
    case(Scheme::Plain, Picker::Modulo16, "plain-modulo", "s5", "crc_32"),
    case(Scheme::Ttl, Picker::Fair, "fair", "s3-up", CRCS),
    case(Scheme::PerStage, Picker::Modulo16, "plain-modulo", "s2-up", ALL_NINE),
    case(Scheme::PerStage, Picker::Resilient, "resilient", "s4-down", ALL_NINE),
    case(Scheme::PerPort, Picker::Resilient, "resilient", "s1-up", ALL_NINE),
    case(Scheme::PerPort, Picker::Modulo16, "plain-modulo", "s2-up", ALL_NINE),
    case(Scheme::PerPort, Picker::Modulo16, "plain-modulo", "s3-up", ALL_NINE),
    case(Scheme::PerPort, Picker::Fair, "fair", "s2-down", "crc32_hi,crc16_xor8,xor16"),
    case(Scheme::Recombine, Picker::Fair, "fair", "s4-up", "crc32_lo,ccitt,bisync,crc32_hi,xor16,crc16_xor8"),
    case(Scheme::Recombine, Picker::Modulo16, "plain-modulo", "s4-down", "crc32_lo,ccitt,bisync"),
    case(Scheme::Coprime, Picker::Resilient, "resilient", "s2-up", "bisync"),
    case(Scheme::Coprime, Picker::Modulo16, "plain-modulo", "s4-up", "crc32_hi"),
];

#[test]
fn walks_and_packets_choose_alike() {
    let network = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    for case in CASES {
        let Case { scheme, picker, selection, point, functions } = case;
        let supply = functions.split(',').map(|f| f.parse::<FlowFunction>().unwrap()).collect();
        let (hash_bits, _) = picker.limits();
        let terms = Terms { supply, seed: 77, hash_bits, width: 120, target: 50, order: Order::Interleaved };
        let question = Question { scheme, terms, picker, members: None, method: Method::Split };
        let planned = plan(&network, &question).unwrap();
        let compiled = Compiled::new(&network, &planned, picker);
        let point = network.points.iter().position(|(name, _)| name == point).unwrap() as u32;
        let group = network.groups.iter().position(|g| g.point == point).unwrap();
        let members = planned.groups[group].table.len();
        let (name, stage) = &network.points[point as usize];
        let up = !name.ends_with("-down");
        let mut params: Vec<(String, String)> = [
            ("scheme", scheme.to_string()),
            ("stage", stage.to_string()),
            ("functions", functions.to_owned()),
            ("seed", "77".to_owned()),
            ("selection", selection.to_owned()),
        ]
        .map(|(k, v)| (k.to_owned(), v))
        .to_vec();
        if up {
            params.push(("members".to_owned(), members.to_string()));
        }
        let mut ecmp = EcmpParams::default();
        params.iter().for_each(|(k, v)| ecmp.set(k, v).unwrap());
        let program = Plan::ecmp(&ecmp, "ecmp").unwrap();
        let side = if up { &program.north } else { &program.south };
        assert_eq!(side.table, planned.groups[group].table, "{scheme} {name}");
        assert_eq!(side.setting, planned.groups[group].setting, "{scheme} {name}");

        let mut flows: Vec<Flow> = Generator::new(Workload::Uniform, &network, 400, 5).flows().collect();
        if !up {
            // Destinations that the program's entries send down.
            flows.iter_mut().for_each(|f| f.key[4..6].copy_from_slice(&[10, 1]));
        }
        let hop = |flow: &Flow| {
            let path = compiled.path(flow);
            let at = path.iter().position(|(g, _)| network.groups[*g as usize].point == point).unwrap();
            (at as u8, path[at].1 as u16)
        };
        let walked: Vec<u16> = flows.iter().map(|f| hop(f).1).collect();
        // Packets have made the same number of hops before the switch as flows.
        let late = |f: &Flow| {
            let mut flow = *f;
            flow.key[13] -= hop(f).0;
            frame(&flow)
        };
        let frames: Vec<Vec<u8>> = flows.iter().map(late).collect();
        assert_eq!(ports_out(&params, up, &frames), walked, "{scheme} {name} {functions}");
        let ports = network.groups[group].links.len() as u16;
        let reached = (0..ports).filter(|port| walked.contains(port)).count();
        assert!(reached > 1, "{scheme} {name}: {reached} of {ports} ports");
    }
}

/// Frames of a capture, one of each kind that the walk and the switches must read alike, or leave out.
fn capture() -> Vec<Vec<u8>> {
    let network = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    let mut frames: Vec<Vec<u8>> =
        Generator::new(Workload::Uniform, &network, 200, 9).flows().map(|flow| frame(&flow)).collect();
    // As a host captures what its NIC cuts to segments and gives a checksum: no total length, no checksum.
    frames[0][16..18].fill(0);
    frames[0][24..26].fill(0);
    // A TTL that ends at the third of eight switches: the walk's other six hops are not compared.
    frames[1][22] = 3;
    // ARP, and IPv4 with an option.
    frames[2][12..14].copy_from_slice(&[0x08, 0x06]);
    frames[3][14] = 0x46;
    frames
}

#[test]
fn packets_of_a_capture_take_the_links_of_their_flows_walk() {
    let network = Clos { blocks: 2, width: 8, parallel: 4 }.build().unwrap();
    let begin = CaptureTime::from_secs(1);
    let mut writer = TraceWriter::new(Vec::new(), TraceFormat::Pcap, begin).unwrap();
    capture().iter().for_each(|frame| writer.write(begin, frame).unwrap());
    let bytes = writer.finish().unwrap();
    let catalogue = catalogue();
    let ecmp = catalogue.get("ecmp").unwrap();
    let reader = || CaptureReader::from_bytes(&bytes, "made").unwrap();
    let flows = extract(&mut reader(), &network).unwrap().flows;
    for scheme in [Scheme::Plain, Scheme::PerStage, Scheme::PerPort, Scheme::Recombine, Scheme::Coprime] {
        let supply = ALL_NINE.split(',').map(|f| f.parse::<FlowFunction>().unwrap()).collect();
        let picker = Picker::Modulo16;
        let (hash_bits, width) = picker.limits();
        let terms = Terms { supply, seed: 3, hash_bits, width, target: 50, order: Order::Interleaved };
        let mut question = Question { scheme, terms, picker, members: None, method: Method::Split };
        let compared = compare(ecmp.as_ref(), &network, &question, &flows, &mut reader()).unwrap();
        let expected = Compared { packets: 198, left_out: 2, hops: 198 * 8 - 6, differing: 0, expired: 6 };
        assert_eq!(compared, expected, "{scheme}");
        // No chip has ranges of the hash.
        question.picker = Picker::Threshold;
        let refused = compare(ecmp.as_ref(), &network, &question, &flows, &mut reader()).unwrap_err();
        assert!(refused.contains("no emulated switch selects in this way"), "{refused}");
    }
}
