//! Random operations against a model that scans lists.

use crate::{ControlError, ControlOp, ControlState, Entry, Then};
use proptest::prelude::*;
use sluice_ir::{ActionCall, KeyValue, Program};
use sluice_samples::router::router;

#[derive(Clone, Debug)]
enum Step {
    Insert { src: u8, priority: u32, vid: u16 },
    Modify { entry: u32, vid: u16 },
    Delete { entry: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0u8..6, 0u32..2, 0u16..5000).prop_map(|(src, priority, vid)| Step::Insert { src, priority, vid }),
        1 => (0u32..8, 0u16..5000).prop_map(|(entry, vid)| Step::Modify { entry, vid }),
        2 => (0u32..8).prop_map(|entry| Step::Delete { entry }),
    ]
}

/// Slots, and how many entries there ever were.
#[derive(Default)]
struct Model {
    slots: Vec<Option<Entry>>,
    born: u64,
}

impl Model {
    /// Applies the operation and returns true, or returns false if it is not allowed.
    fn apply(&mut self, op: &ControlOp, size: usize) -> bool {
        let fits = |then: &Then| matches!(then, Then::Call(c) if c.args[0] < 4096);
        match op {
            ControlOp::InsertEntry { key, priority, then, .. } => {
                let live = || self.slots.iter().flatten();
                let taken = live().any(|e| e.key == *key && e.priority == *priority);
                if taken || live().count() >= size || !fits(then) {
                    return false;
                }
                let entry = Entry {
                    key: key.clone(),
                    priority: *priority,
                    seq: self.born,
                    then: then.clone(),
                    ttl: None,
                };
                self.born += 1;
                match self.slots.iter_mut().find(|s| s.is_none()) {
                    Some(free) => *free = Some(entry),
                    None => self.slots.push(Some(entry)),
                }
                true
            }
            ControlOp::ModifyEntry { entry, then, .. } => match self.slots.get_mut(*entry as usize) {
                Some(Some(e)) if fits(then) => {
                    e.then = then.clone();
                    true
                }
                _ => false,
            },
            ControlOp::DeleteEntry { entry, .. } => {
                self.slots.get_mut(*entry as usize).is_some_and(|s| s.take().is_some())
            }
            _ => false,
        }
    }
}

fn op(program: &Program, step: &Step) -> ControlOp {
    let table = program.table_named("acl").unwrap();
    let action = program.action_named("push_vlan").unwrap();
    let then = |vid: u16| Then::Call(ActionCall { action, args: vec![vid.into()] });
    match *step {
        Step::Insert { src, priority, vid } => {
            let src = KeyValue::Ternary { value: src.into(), mask: 0xff };
            let key = vec![src, KeyValue::Ternary { value: 0, mask: 0 }];
            ControlOp::InsertEntry { table, key, priority, then: then(vid) }
        }
        Step::Modify { entry, vid } => ControlOp::ModifyEntry { table, entry, then: then(vid) },
        Step::Delete { entry } => ControlOp::DeleteEntry { table, entry },
    }
}

proptest! {
    #[test]
    fn tables_behave_like_lists(steps in proptest::collection::vec(step(), 0..60)) {
        let program = router();
        let table = program.table_named("acl").unwrap();
        let mut control = ControlState::new(&program);
        let mut model = Model::default();
        for step in &steps {
            let op = op(&program, step);
            let allowed = model.apply(&op, program.tables[table].size as usize);
            prop_assert_eq!(control.apply(&program, op).is_ok(), allowed, "{:?}", step);
            prop_assert_eq!(&control.tables[table].slots, &model.slots);
        }
        for (i, slot) in model.slots.iter().enumerate() {
            if let Some(e) = slot {
                prop_assert_eq!(control.find(table, &e.key, e.priority), Some(i as u32));
            }
        }
    }
}

#[test]
fn a_hundred_thousand_routes_and_then_a_duplicate() {
    let mut program = router();
    let table = program.table_named("host").unwrap();
    program.tables[table].size = 100_001;
    let action = program.action_named("forward").unwrap();
    let mut control = ControlState::new(&program);
    let route = |i: u128| ControlOp::InsertEntry {
        table,
        key: vec![KeyValue::Exact(i), KeyValue::Lpm { value: 0, len: 0 }],
        priority: 0,
        then: Then::Call(ActionCall { action, args: vec![1] }),
    };
    for i in 0..100_000 {
        control.apply(&program, route(i)).unwrap();
    }
    let error = control.apply(&program, route(77_777)).unwrap_err();
    assert!(matches!(error, ControlError::Duplicate { entry: 77_777, .. }), "{error}");
}

#[test]
fn entries_pushed_by_hand_are_noticed() {
    let program = router();
    let table = program.table_named("acl").unwrap();
    let mut control = ControlState::new(&program);
    let insert = op(&program, &Step::Insert { src: 1, priority: 0, vid: 1 });
    let ControlOp::InsertEntry { key, priority, then, .. } = insert.clone() else { unreachable!() };
    control.tables[table].slots.push(Some(Entry { key, priority, seq: 9, then, ttl: None }));
    assert!(control.apply(&program, insert).is_err());
    control.apply(&program, op(&program, &Step::Insert { src: 2, priority: 0, vid: 1 })).unwrap();
    assert_eq!(control.tables[table].entries().map(|(_, e)| e.seq).collect::<Vec<_>>(), [9, 10]);
}
