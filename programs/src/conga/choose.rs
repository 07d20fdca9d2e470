//! The least congested uplink, and flowlets.

use super::Params;
use super::feedback::Known;
use super::params::UPLINKS;
use crate::flowlet::OLDER;
use crate::leaf::{Leaf, slot};
use sluice_build::*;

/// What an uplink that does not lead to the leaf has for congestion.
pub(super) const NOWHERE: u64 = 31;

/// How far an uplink is from the least congested
#[derive(Header, Debug)]
struct Distance {
    /// The least of two uplinks; the first of these of all
    least: Bits<32>,
    /// Zero for the least congested
    beyond: Bits<32>,
}

/// Who may carry a new flowlet
#[derive(Header, Debug)]
pub(super) struct Best {
    /// Picks among equals
    coin: Bits<8>,
    /// 1 when three or all uplinks are equals
    many: Bits<1>,
    /// Generation and number of the member for a flowlet whose own is no equal
    first: Bits<32>,
    /// Of two equals the other one, of three the one that is none
    second: Bits<32>,
    /// 1 when the gap ended a flowlet
    fresh: Bits<1>,
}

/// Finds the least congested: the larger of link and path for each uplink, the least of those, and who has that.
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
    /// Congestion that uplinks have at least: 0 for one that leads to the leaf, 31 for one that does not
    let set_reach = ig.action(|a, first: Arg<32>, second: Arg<32>, third: Arg<32>, fourth: Arg<32>| {
        for (uplink, base) in uplinks.iter().zip([first, second, third, fourth]) {
            uplink.own = uplink.own.max(base);
        }
    });
    /// Leaf to the uplinks that lead there; all of them without an entry
    let reach = ig.table([exact(m.group)]).actions([set_reach]).size(p.groups()).build();
    /// Of link and path the one that is worse
    let worse = ig.action(|a| {
        for uplink in uplinks {
            uplink.path = uplink.path.max(uplink.own);
        }
    });
    /// The better one of neighbours
    let better = ig.action(|a| {
        for (way, pair) in ways.iter().zip(uplinks.chunks(2)) {
            way.least = pair[0].path.min(pair[pair.len() - 1].path);
        }
    });
    /// The best of all
    let least = ig.action(|a| ways[0].least = ways[0].least.min(ways[1].least));
    /// How far each is from that; uplinks that are not there are far
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
    /// Who is least congested, and whom the coin prefers among them
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

/// Sets of equals from the largest to the smallest, and for each of them an even share of the coin for each member: the
/// first match wins, so a smaller set is met only if no larger one is.
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
                // Of three the one that is none; of four nobody.
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

/// A flowlet that goes on keeps its member; a new one keeps it if that is one of the least congested.
#[stage_program]
pub(super) fn keep(ig: &GressBuilder<'_>, leaf: Leaf, best: Best, known: &Known, p: &Params) {
    let (m, t, gap) = (leaf.m, known.t, p.spec().longest_gap());
    /// Time of the flowlet's last packet
    let last_seen = ig.register::<32>(p.gaps.flowlets);
    /// Tells whether the gap was too long
    let touch = ig.register_action(last_seen, |r| {
        if t.now - r.value > gap {
            r.out = 1;
        }
        r.value = t.now;
    });
    /// Generation and number of the flowlet's member
    let flowlet_member = ig.register::<32>(p.gaps.flowlets);
    /// The flowlet goes on
    let hold = ig.register_action(flowlet_member, |r| {
        if r.value - best.first < OLDER {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// A new flowlet, and one or two are least congested
    let one_of_two = ig.register_action(flowlet_member, |r| {
        if r.value != best.first && r.value != best.second {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// A new flowlet, and all are but one at most
    let none_but = ig.register_action(flowlet_member, |r| {
        if r.value == best.second || r.value - best.first < OLDER {
            r.value = best.first;
        }
        r.out = r.value;
    });
    /// Packets that went on with a flowlet (0), and that began one because of a gap (1)
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

/// The link of a spine: by the hash of the outer addresses and ports.
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
