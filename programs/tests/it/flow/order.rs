//! Invariants of a device: order within a flow (model: buffer §8, I10), and the packet's colour.

use crate::flow::aim::{config, line, packet, pfc, port, switch, train, world};
use crate::switch::world::{Frame, run};
use proptest::prelude::*;
use sluice_asic::tm::ShaperConfig;
use sluice_asic::units::{BitRate, Bytes};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// I10: packets of one flow are sent in the order of arrival, whatever is paused and resumed meanwhile.
    #[test]
    fn pauses_reorder_no_flow(
        pauses in prop::collection::vec((0u64..60_000_000, 0u8..=0x18, 0u16..20_000), 0..20),
        sizes in prop::collection::vec(60usize..3_000, 8..9),
        shaped in prop::option::of(1u64..100),
    ) {
        let mut frames: Vec<Frame> = pauses.iter().map(|&(at, bits, q)| Frame::new(9, at, pfc(bits, q))).collect();
        // Flows: input port and class; the number of a packet is in its last bytes.
        for (flow, (from, dscp)) in (0..).zip([(0, 3), (1, 3), (2, 4), (3, 0)]) {
            for n in 0..120u64 {
                let mut bytes = packet(9, dscp, 0, sizes[(n % 8) as usize].max(64));
                let at = bytes.len() - 9;
                bytes[at] = flow;
                bytes[at + 1..].copy_from_slice(&n.to_be_bytes());
                frames.push(Frame::new(from, n * (line(3_000) + 500_000 / 3), bytes));
            }
        }
        frames.sort_by_key(|f| (f.ps, f.front));
        let mut device = switch(config(&[]));
        if let Some(gbps) = shaped {
            let most = ShaperConfig { rate: BitRate::from_gbps(gbps * 4), burst: Bytes(3_000) };
            device.shape_queue(port(9), 3, Some(most)).unwrap();
        }
        let seen = run(world(), &mut device, &frames, 16);
        prop_assert_eq!(seen.lost().count(), 0);
        let mut last = [None; 4];
        let mut sent: Vec<_> = seen.sent().filter(|(left, _)| left.tag != u64::MAX).collect();
        sent.sort_by_key(|(left, _)| left.first_bit);
        for (_, bytes) in &sent {
            let (flow, number) = bytes[bytes.len() - 9..].split_first().unwrap();
            let number = u64::from_be_bytes(number.try_into().unwrap());
            prop_assert!(last[usize::from(*flow)] < Some(number), "flow {}: {} after {:?}", flow, number, last);
            last[usize::from(*flow)] = Some(number);
        }
        prop_assert_eq!(sent.len(), 4 * 120);
    }
}

/// I8: at the end nothing is charged, held or paused.
#[test]
fn a_train_leaves_nothing_behind() {
    let mut device = switch(config(&[]));
    run(world(), &mut device, &train(0, 0, 300, &packet(9, 3, 0, 900)), 8);
    let view = device.flow(device.time()).unwrap();
    assert!(view.buffer.all_groups().all(|(_, _, g)| !g.is_xoff()));
    assert_eq!((view.buffer.total().current().get(), device.held().total()), (0, 0));
}
