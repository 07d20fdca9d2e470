//! Reordering metrics (RFC 4737).

use serde::Serialize;

/// Arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// Time of arrival, ps.
    pub ps: u64,
    /// Index of the flow, from 0.
    pub flow: u32,
    /// Sequence number within the flow in sending order, from 0.
    pub number: u32,
}

/// Reordering over all flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reordering {
    /// Packets that arrived.
    pub packets: u64,
    /// Packets that arrived after a later packet of their flow (type-P-reordered).
    pub reordered: u64,
    /// Packets that arrived after at least three later packets in a row: enough duplicate acknowledgements for a TCP
    /// fast retransmit (3-reordered).
    #[serde(rename = "reordered_by_three")]
    pub by_three: u64,
    /// Flows with at least one reordered packet.
    #[serde(rename = "flows_reordered")]
    pub flows: u64,
    /// Largest reordering extent: number of arrivals from the first later packet of the flow to the reordered packet.
    #[serde(rename = "extent_packets")]
    pub extent: u64,
    /// Longest time from the first later packet of the flow to the reordered packet, ps: the time that a reorder buffer
    /// must bridge.
    pub late_ps: u64,
}

/// Measures reordering over all flows. Packets that arrive at the same time count as in order of their numbers.
#[must_use]
pub fn measure(mut arrivals: Vec<Arrival>) -> Reordering {
    arrivals.sort_unstable_by_key(|a| (a.flow, a.ps, a.number));
    let mut found = Reordering { packets: arrivals.len() as u64, ..Reordering::default() };
    for flow in arrivals.chunk_by(|a, b| a.flow == b.flow) {
        let before = found.reordered;
        one_flow(flow, &mut found);
        found.flows += u64::from(found.reordered > before);
    }
    found
}

/// Measures one flow, in order of arrival.
fn one_flow(flow: &[Arrival], found: &mut Reordering) {
    // Running maxima of the sequence number with their positions. The first later packet is always one of them.
    let mut records: Vec<(u32, usize)> = Vec::new();
    for (at, packet) in flow.iter().enumerate() {
        let first_later = records.partition_point(|(number, _)| *number < packet.number);
        let Some((_, later_at)) = records.get(first_later) else {
            records.push((packet.number, at));
            continue;
        };
        found.reordered += 1;
        found.extent = found.extent.max((at - later_at) as u64);
        found.late_ps = found.late_ps.max(packet.ps - flow[*later_at].ps);
        let just_before = &flow[at.saturating_sub(3)..at];
        found.by_three +=
            u64::from(just_before.len() == 3 && just_before.iter().all(|p| p.number > packet.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arrive(numbers: &[u32]) -> Vec<Arrival> {
        (0..).zip(numbers).map(|(at, number)| Arrival { ps: at * 10, flow: 0, number: *number }).collect()
    }

    #[test]
    fn one_packet_that_overtakes_three() {
        let found = measure(arrive(&[0, 2, 3, 4, 1, 5]));
        let wanted = Reordering { packets: 6, reordered: 1, by_three: 1, flows: 1, extent: 3, late_ps: 30 };
        assert_eq!(found, wanted);
        assert_eq!(measure(arrive(&[0, 2, 1, 3])).by_three, 0);
        assert_eq!(measure(arrive(&[0, 1, 2])).reordered, 0);
        let of_two = [Arrival { ps: 0, flow: 1, number: 1 }, Arrival { ps: 1, flow: 0, number: 0 }];
        assert_eq!(measure(of_two.to_vec()).reordered, 0);
    }

    proptest! {
        /// Compares with the definition, packet by packet.
        #[test]
        fn as_defined(numbers in Just((0..40u32).collect::<Vec<_>>()).prop_shuffle()) {
            let found = measure(arrive(&numbers));
            let (mut reordered, mut extent, mut by_three) = (0, 0, 0);
            for (at, number) in numbers.iter().enumerate() {
                if let Some(first) = numbers[..at].iter().position(|n| n > number) {
                    reordered += 1;
                    extent = extent.max((at - first) as u64);
                    by_three += u64::from(at >= 3 && numbers[at - 3..at].iter().all(|n| n > number));
                }
            }
            prop_assert_eq!((found.reordered, found.extent, found.by_three), (reordered, extent, by_three));
        }
    }
}
