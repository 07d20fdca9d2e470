//! Choice of the least congested uplink for each flowlet.

use super::Params;
use super::feedback::Known;
use super::params::UPLINKS;
use crate::flowlet::OLDER;
use crate::leaf::{Leaf, slot};
use sluice_build::*;

/// Congestion of an uplink that does not lead to the destination's leaf; above every measured value (8 to 15).
pub(super) const NOWHERE: u64 = 31;

/// Comparison of an uplink with the least congested one
#[derive(Header, Debug)]
struct Distance {
    /// Lower congestion of a pair of uplinks; in the first instance, at the end, the lowest of all uplinks
    least: Bits<32>,
    /// Congestion above the lowest; 0 = among the least congested, never 0 for an uplink that does not exist
    beyond: Bits<32>,
}

/// Uplinks that may carry a new flowlet
#[derive(Header, Debug)]
pub(super) struct Best {
    /// Random number, 0 to 255, that picks one of several least congested uplinks
    coin: Bits<8>,
    /// 1 if three or four uplinks are least congested
    many: Bits<1>,
    /// Generation and number of the least congested uplink that the coin picks
    first: Bits<32>,
    /// If two uplinks are least congested: the other one; if three are: the one that is not; if all four are: 4 = none
    second: Bits<32>,
    /// 1 if the gap since the last packet ended the flowlet, so that the packet begins a new one
    fresh: Bits<1>,
}

/// Finds the least congested uplinks. An uplink's congestion is the larger of its link's and the rest of its path's.
#[stage_program]
pub(super) fn least(ig: &GressBuilder<'_>, leaf: Leaf, known: &Known, p: &Params) -> Best {
    let m = leaf.m;
    let best = ig.metadata::<Best>();
    let mut ways = Vec::new();
    for _ in 0..UPLINKS {
        let way = ig.metadata::<Distance>();
        ways.push(way);
    }
    let uplinks = &known.uplinks;
    /// Lower bound of each uplink's congestion: 0 if the uplink leads to the leaf, 31 if it does not
    let set_reach = ig.action(|a, first: Arg<32>, second: Arg<32>, third: Arg<32>, fourth: Arg<32>| {
        for (uplink, base) in uplinks.iter().zip([first, second, third, fourth]) {
            uplink.own = uplink.own.max(base);
        }
    });
    /// Destination leaf to the uplinks that lead to it; without an entry all uplinks do
    let reach = ig.table([exact(m.group)]).actions([set_reach]).size(p.groups()).build();
    /// Takes the larger of link congestion and path congestion, per uplink
    let worse = ig.action(|a| {
        for uplink in uplinks {
            uplink.path = uplink.path.max(uplink.own);
        }
    });
    /// Takes the lower congestion of each pair of uplinks
    let better = ig.action(|a| {
        for (way, pair) in ways.iter().zip(uplinks.chunks(2)) {
            way.least = pair[0].path.min(pair[pair.len() - 1].path);
        }
    });
    /// Takes the lowest congestion of all uplinks
    let least = ig.action(|a| ways[0].least = ways[0].least.min(ways[1].least));
    /// Subtracts the lowest congestion from each uplink's; an uplink that does not exist gets 1
    let compare = ig.action(|a| {
        for (number, way) in ways.iter().enumerate() {
            if number < uplinks.len() {
                way.beyond = uplinks[number].path - ways[0].least;
            } else {
                way.beyond = 1;
            }
        }
    });
    let coin = ig.random::<8>();
    let few = ig.action(|a, first: Arg<32>, second: Arg<32>| {
        best.first = m.generation | first;
        best.second = m.generation | second;
    });
    let many = ig.action(|a, first: Arg<32>, second: Arg<32>| {
        best.first = m.generation | first;
        best.second = m.generation | second;
        best.many = 1;
    });
    let rows: [Row<5>; 32] = rows(few, many);
    let columns =
        [ternary(ways[0].beyond), ternary(ways[1].beyond), ternary(ways[2].beyond), ternary(ways[3].beyond)];
    let [first, second, third, fourth] = columns;
    /// Set of least congested uplinks (those with 0) and coin to the uplink for a new flowlet
    let equals =
        ig.table([first, second, third, fourth, range(best.coin)]).actions([few, many]).entries(rows).build();
    ig.control(|c| {
        if m.group != 0 {
            best.coin = coin.get();
            reach.apply();
            worse.call();
            better.call();
            if uplinks.len() > 2 {
                least.call();
            }
            compare.call();
            equals.apply();
        }
    });
    best
}

/// Returns a row for each set of least congested uplinks and each member of the set; the members get even shares of the
/// coin's range. The largest set is first: the first match wins, so a small set matches only if no larger one does.
fn rows(few: ActionRef, many: ActionRef) -> [Row<5>; 32] {
    let sets = (1..=UPLINKS as u32)
        .rev()
        .flat_map(|size| (1u8..1 << UPLINKS).filter(move |set| set.count_ones() == size));
    let mut rows = Vec::new();
    for set in sets {
        let members: Vec<u128> = (0..UPLINKS as u128).filter(|n| set >> n & 1 == 1).collect();
        let size = members.len();
        for (turn, first) in members.iter().enumerate() {
            let second = match size {
                1 => *first,
                2 => members[1 - turn],
                // Of three: the uplink that is not in the set. Of four: a number that no uplink has.
                _ => (0..UPLINKS as u128).find(|n| set >> n & 1 == 0).unwrap_or(UPLINKS as u128),
            };
            let coin = Cell::Between((turn * 256 / size) as u128, ((turn + 1) * 256 / size) as u128 - 1);
            let tied = |n: usize| if set >> n & 1 == 1 { Cell::Value(0) } else { Cell::Any };
            let action = if size > 2 { many } else { few };
            rows.push((([tied(0), tied(1), tied(2), tied(3), coin]), action, vec![*first, second]));
        }
    }
    std::array::from_fn(|at| {
        let (key, action, args) = rows[at].clone();
        Row::new(key, action, args)
    })
}

/// Chooses the member. A flowlet that continues keeps it; a new one keeps it if it is among the least congested.
#[stage_program]
pub(super) fn keep(ig: &GressBuilder<'_>, leaf: Leaf, best: Best, known: &Known, p: &Params) {
    let (m, t, gap) = (leaf.m, known.t, p.spec().longest_gap());
    /// Time of the flowlet's last packet, in units of the parameter `tick`
    let last_seen = ig.register::<32>(p.gaps.flowlets);
    /// Returns 1 if the gap since the last packet exceeds the timeout; stores the packet's time
    let touch = ig.register_action(last_seen, |r| {
        if t.now - r.value > gap {
            r.out = 1;
        }
        r.value = t.now;
    });
    /// Uplink of the flowlet: its group's generation in bits 31 to 16, its number in bits 15 to 0
    let flowlet_member = ig.register::<32>(p.gaps.flowlets);
    /// Continues a flowlet: keeps its uplink unless it is of an older generation
    let hold = ig.register_action(flowlet_member, |r| {
        if r.value - best.first < OLDER {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// Begins a flowlet if one or two uplinks are least congested: keeps the old uplink if it is one of them
    let one_of_two = ig.register_action(flowlet_member, |r| {
        if r.value != best.first && r.value != best.second {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// Begins a flowlet if three or four uplinks are least congested: keeps the old uplink if it is one of them
    let none_but = ig.register_action(flowlet_member, |r| {
        if r.value == best.second || r.value - best.first < OLDER {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// Packets that continued a flowlet (index 0), and packets that began one after a gap (index 1)
    let flowlets = ig.counter(2, CounterKind::Packets);
    ig.control(|c| {
        if m.group != 0 {
            best.fresh = touch.execute(slot(m.flow, p.gaps.flowlets));
            flowlets.count(best.fresh);
            if best.fresh {
                if best.many {
                    m.member = none_but.execute(slot(m.flow, p.gaps.flowlets));
                } else {
                    m.member = one_of_two.execute(slot(m.flow, p.gaps.flowlets));
                }
            } else {
                m.member = hold.execute(slot(m.flow, p.gaps.flowlets));
            }
        }
    });
}

/// Chooses the link of a spine by the hash of the outer addresses and ports.
#[stage_program]
pub(super) fn by_hash(ig: &GressBuilder<'_>, leaf: Leaf) {
    let m = leaf.m;
    let low = ig.hash::<16>(HashAlgorithm::Identity).inputs(list![m.flow.slice::<15, 0, 16>()]).build();
    let draw = ig.action(|a| m.draw = low.get());
    ig.control(|c| {
        if m.group != 0 {
            draw.call();
        }
    });
}
