//! The crossbar against a search through all assignments of bytes to places.

use super::pool::{Content, Pool};
use super::xbar;
use crate::bits::ByteRef;
use crate::data::Owner;
use crate::purpose::Purpose;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sluice_asic::chip::{ChipSpec, Column, MauSpec};
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_ir::cfg::Node;
use sluice_ir::entity::Entity;
use std::collections::{BTreeMap, BTreeSet};

/// Groups and bytes of a group on the small crossbar.
const GROUPS: u16 = 3;
const BYTES: u16 = 4;

fn small() -> MauSpec {
    let mut mau = ChipSpec::tofino2().mau;
    mau.exact_xbar_groups = GROUPS.into();
    mau.exact_xbar_group_bytes = BYTES.into();
    mau
}

fn owner(n: usize) -> Owner {
    Owner { gress: Gress::Ingress, node: Node::new(n) }
}

/// Returns the fewest groups in which the bytes can be, with bytes that are there already: tries every place for every byte.
fn fewest(there: &BTreeMap<u16, ByteRef>, bytes: &[ByteRef]) -> Option<u32> {
    fn search(taken: &mut BTreeMap<u16, ByteRef>, bytes: &[ByteRef], used: u32, best: &mut Option<u32>) {
        let Some((byte, rest)) = bytes.split_first() else {
            let groups = used.count_ones();
            *best = Some(best.map_or(groups, |b| b.min(groups)));
            return;
        };
        for at in 0..GROUPS * BYTES {
            // A byte of a container keeps its position modulo the container's bytes.
            let in_lane = at % u16::from(byte.of) == u16::from(byte.lane);
            let group = used | 1 << (at / BYTES);
            match taken.get(&at) {
                Some(known) if known == byte => search(taken, rest, group, best),
                None if in_lane => {
                    taken.insert(at, *byte);
                    search(taken, rest, group, best);
                    taken.remove(&at);
                }
                _ => {}
            }
        }
    }
    let mut best = None;
    search(&mut there.clone(), bytes, 0, &mut best);
    best
}

fn byte() -> impl Strategy<Value = ByteRef> {
    (0_u16..6, prop::sample::select(vec![1_u8, 2, 4]), 0_u8..4).prop_map(|(container, of, lane)| ByteRef {
        // Containers of different sizes are different containers.
        container: Container(container * 8 + u16::from(of)),
        lane: lane % of,
        of,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, rng_seed: RngSeed::Fixed(26), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn the_crossbar_takes_bytes_exactly_if_some_assignment_is_legal_and_in_the_fewest_groups(
        before in prop::collection::btree_map(0..GROUPS * BYTES, byte(), 0..9),
        wanted in prop::collection::btree_set(byte(), 1..6),
        most in 1_u32..4,
    ) {
        let mau = small();
        let mut pool = Pool::new(0);
        let mut there: BTreeMap<u16, ByteRef> = BTreeMap::new();
        for (at, byte) in before {
            // Only legal contents, each byte once.
            if at % u16::from(byte.of) == u16::from(byte.lane) && there.values().all(|b| *b != byte) {
                let place = (Column::ExactXbar, at / BYTES, at % BYTES);
                pool.take(place, owner(0), Content::Byte(byte), Purpose::from(byte));
                there.insert(at, byte);
            }
        }
        let list: Vec<ByteRef> = wanted.iter().copied().collect();
        let best = fewest(&there, &list).filter(|groups| *groups <= most);
        let found = xbar::exact(&mut pool, &mau, owner(1), &wanted, &[], most);
        let groups = found.map(|groups| groups.len() as u32);
        prop_assert_eq!(groups, best);
        // All bytes are owned, each at a place in its lane.
        if best.is_some() {
            let own: BTreeSet<ByteRef> = (0..GROUPS * BYTES)
                .filter(|at| pool.owners_at(Column::ExactXbar, at / BYTES, at % BYTES).contains(&owner(1)))
                .filter_map(|at| match pool.content(Column::ExactXbar, at / BYTES, at % BYTES) {
                    Some(Content::Byte(b)) if at % u16::from(b.of) == u16::from(b.lane) => Some(b),
                    _ => None,
                })
                .collect();
            prop_assert_eq!(own, wanted);
        }
    }
}
