//! The event queue against a sorted list.

use proptest::prelude::*;
use sluice_asic::event::{EventClass, EventKey, EventQueue, EventSource};
use sluice_asic::units::Time;
use std::collections::BTreeSet;

fn key() -> impl Strategy<Value = EventKey> {
    // Few distinct values, so that every field decides some comparison.
    let class = (0..6_usize).prop_map(|index| EventClass::ALL[index]);
    let wide = prop_oneof![4 => 0..3_u64, 1 => Just(u64::MAX)];
    let narrow = || prop_oneof![4 => 0..3_u32, 1 => Just(u32::MAX)];
    (wide.clone(), narrow(), class, narrow(), wide).prop_map(|(time, device, class, port, seq)| EventKey {
        time: Time::from_ps(time),
        device,
        class,
        port,
        seq,
    })
}

fn drain(keys: impl IntoIterator<Item = EventKey>) -> Vec<EventKey> {
    // A third of the events is in the heap and a third in each of two lanes, which must not change the order.
    let mut queue = EventQueue::with_lanes(2);
    for (n, key) in keys.into_iter().enumerate() {
        queue.push_in_lane(n % 3, key, key).unwrap();
    }
    std::iter::from_fn(|| queue.pop())
        .map(|(key, event)| {
            assert_eq!(key, event);
            key
        })
        .collect()
}

proptest! {
    #[test]
    fn any_insertion_order_gives_the_sorted_order(
        (first, second) in prop::collection::btree_set(key(), 0..60)
            .prop_map(|keys| keys.into_iter().collect::<Vec<_>>())
            .prop_flat_map(|keys| (Just(keys.clone()).prop_shuffle(), Just(keys).prop_shuffle()))
    ) {
        let sorted: Vec<EventKey> = first.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        prop_assert_eq!(drain(first), sorted.clone());
        prop_assert_eq!(drain(second), sorted);
    }

    #[test]
    fn pushes_and_pops_interleaved_follow_a_sorted_list(steps in prop::collection::vec((key(), any::<bool>(), 0..4_usize), 0..120)) {
        let mut queue = EventQueue::with_lanes(3);
        let mut oracle = BTreeSet::new();
        let mut last = None;
        for (key, pop, lane) in steps {
            if pop {
                let expected = oracle.pop_first();
                prop_assert_eq!(queue.pop().map(|(key, ())| key), expected);
                last = expected.or(last);
            } else if last.is_some_and(|last| key <= last) {
                let refused = queue.push_in_lane(lane, key, ()).unwrap_err();
                prop_assert_eq!((refused.pushed, Some(refused.last)), (key, last));
            } else if oracle.insert(key) {
                prop_assert!(queue.push_in_lane(lane, key, ()).is_ok());
            }
            prop_assert_eq!(queue.len(), oracle.len());
            prop_assert_eq!(queue.next_time(), oracle.first().map(|key| key.time));
        }
    }
}

#[test]
fn classes_order_what_happens_at_one_time() {
    let mut source = EventSource::new(1, 7);
    let now = Time::from_ps(10);
    let keys: Vec<EventKey> = EventClass::ALL.into_iter().rev().map(|class| source.key(now, class)).collect();
    let classes: Vec<EventClass> = drain(keys).into_iter().map(|key| key.class).collect();
    assert_eq!(classes, EventClass::ALL);
}

#[test]
fn the_horizon_is_exclusive() {
    let mut queue = EventQueue::default();
    let mut source = EventSource::new(0, 0);
    queue.push(source.key(Time::from_ps(5), EventClass::Timer), 'a').unwrap();
    assert_eq!(queue.pop_before(Time::from_ps(5)), None);
    assert_eq!(queue.pop_before(Time::from_ps(6)).map(|(_, event)| event), Some('a'));
    assert!(queue.is_empty());
}
