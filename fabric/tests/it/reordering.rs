//! Reordering of flows over paths of different lengths: scenario 33 of model: flowlets §9, with senders of fixed rates.

use sluice_asic::chip::ChipSpec;
use sluice_asic::units::Duration;
use sluice_fabric::flowlets::through::{Candidate, Outcome, Trace, Uplinks, through};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, tcp};
use sluice_programs::catalogue;

/// Twenty TCP flows; each sends a window of ten segments at 10G once per round trip, 40 times. The pauses between
/// windows are longer than 100 us, and the delays of the paths differ by 50 us.
fn windows() -> Trace {
    const SEGMENT: u64 = 1_230_000;
    const ROUND_TRIP: u64 = 200_000_000;
    let mut frames: Vec<(u64, Vec<u8>)> = Vec::new();
    for flow in 0..20u64 {
        for n in 0..400u64 {
            let ps = flow * 7_000_000 + n / 10 * ROUND_TRIP + n % 10 * SEGMENT;
            let ports =
                tcp::Header { sequence: n as u32 * 1_460, ..tcp::Header::new(40_000 + flow as u16, 80) };
            let mut bytes = Vec::new();
            FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2))
                .ipv4(ipv4::Header::new([10, 1, 0, 1].into(), [10, 7, 0, flow as u8].into()))
                .tcp(ports)
                .build_len(1_514, &mut bytes)
                .unwrap();
            frames.push((ps, bytes));
        }
    }
    frames.sort();
    let mut trace = Trace::default();
    frames.iter().for_each(|(ps, bytes)| trace.push(*ps, bytes, bytes.len() as u32));
    trace
}

fn outcome(program: &str, params: &[(&str, &str)]) -> Outcome {
    let sets: Vec<(String, String)> =
        params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let (catalogue, chip) = (catalogue(), ChipSpec::tofino2());
    let stage = catalogue.get(program).unwrap().as_ref();
    let candidate = Candidate { catalogue: &catalogue, stage, chip: &chip, seed: 33 };
    let uplinks = Uplinks { step: Duration::from_micros(50), rate: None };
    through(&windows(), &candidate, &sets, &uplinks).unwrap()
}

#[test]
fn scenario_33_spray_has_senders_send_again_and_letflow_does_not() {
    let spray = outcome("spray", &[("weights", "1,1")]);
    assert_eq!((spray.reordering.packets, spray.lost), (8_000, 0));
    // Packets with three duplicate acknowledgements, the fast-retransmit threshold.
    assert!(spray.reordering.by_three > 500, "{spray:?}");
    let letflow = outcome("letflow", &[("weights", "1,1"), ("timeout", "100us")]);
    assert_eq!((letflow.reordering.reordered, letflow.reordering.by_three, letflow.lost), (0, 0, 0));
    // Both paths were used by all flows: a flow chooses a new path after every window.
    assert!(letflow.uplinks.iter().all(|packets| (3_500..4_500).contains(packets)), "{letflow:?}");
    // A timeout below the gaps within a window makes every packet a flowlet.
    let short = outcome("letflow", &[("weights", "1,1"), ("timeout", "1us")]);
    assert!(short.reordering.by_three > 500, "{short:?}");
}
