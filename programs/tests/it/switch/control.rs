//! Operations of the control plane take effect at their time, between one PHV and the next.

use crate::switch::world::{Frame, Seen, World, run};
use sluice_asic::gress::Gress;
use sluice_asic::units::Time;
use sluice_control::ControlOp;
use sluice_exec::pass::Verdict;
use sluice_ir::ActionCall;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, udp};
use sluice_switch::SwitchConfig;

fn frames() -> Vec<Frame> {
    (0..300_u64)
        .map(|n| {
            let mut bytes = Vec::new();
            FrameBuilder::new(MacAddr::from_u64(0x02_00_00_00_00_01), MacAddr::from_u64(0x02_00_00_00_01_00))
                .ipv4(ipv4::Header::new([10, 0, 9, 9].into(), [10, 0, 0, 1].into()))
                .udp(udp::Header::new(n as u16, 80))
                .build_len(100, &mut bytes)
                .unwrap();
            Frame::new((n % 2) as u16, n * 1_300, bytes)
        })
        .collect()
}

/// From `at` on the route table has only its default action: all its entries are removed.
fn drop_all(world: &World) -> Vec<ControlOp> {
    let table = world.program.table_named("ipv4_route").unwrap();
    let slots: Vec<u32> = world.control.tables[table].entries().map(|(slot, _)| slot).collect();
    slots.into_iter().map(|entry| ControlOp::DeleteEntry { table, entry }).collect()
}

#[test]
fn an_operation_splits_the_stream_at_its_time() {
    let world = World::l3_ecmp();
    let frames = frames();
    for at in [0, 150_000, 300_001, 450_000] {
        for max_batch in [1, 7, 64] {
            let mut switch =
                world.switch(world.engine(), SwitchConfig { max_batch, ..SwitchConfig::default() });
            for op in drop_all(world) {
                switch.control(Time::from_ps(at), op).unwrap();
            }
            let seen = run(world, &mut switch, &frames, usize::MAX);
            let mut split = [0, 0];
            for s in &seen.seen {
                let Seen::Pass(pass) = s else { continue };
                if pass.gress == Gress::Ingress {
                    let old = pass.entered < Time::from_ps(at);
                    let routed = pass.output.verdict == Verdict::Forward;
                    assert_eq!(
                        routed, old,
                        "{:?} entered at {}, operation at {at}, batch {max_batch}",
                        pass.output, pass.entered
                    );
                    split[usize::from(old)] += 1;
                }
            }
            assert_eq!(split[0] + split[1], frames.len());
            assert!(at == 0 || at == 450_000 || split[0] > 20 && split[1] > 20, "{split:?} at {at}");
        }
    }
}

#[test]
fn operations_that_do_not_fit_are_refused_when_they_take_effect() {
    let world = World::l3_ecmp();
    let table = world.program.table_named("ipv4_route").unwrap();
    let mut switch = world.switch(world.engine(), SwitchConfig::default());
    let op = ControlOp::DeleteEntry { table, entry: 9_999 };
    switch.control(Time::from_ps(50), op).unwrap();
    let mut sink = crate::switch::world::Recorder::default();
    let refused = switch.advance(Time::from_ps(100), &mut sink).unwrap_err();
    assert!(refused.to_string().contains("9999"), "{refused}");
}

#[test]
fn the_present_is_the_earliest_time() {
    let world = World::l3_ecmp();
    let table = world.program.table_named("ipv4_route").unwrap();
    let mut switch = world.switch(world.engine(), SwitchConfig::default());
    let mut sink = crate::switch::world::Recorder::default();
    switch.advance(Time::from_ps(1_000), &mut sink).unwrap();
    let action = world.control.tables[table].default.action;
    let args = world.control.tables[table].default.args.clone();
    let op = ControlOp::SetDefault { table, call: ActionCall { action, args } };
    switch.control(Time::from_ps(5), op).unwrap();
    assert_eq!(switch.next_time(), Some(Time::from_ps(1_000)));
}
