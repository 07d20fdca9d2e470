//! Acknowledgements and ConWeave's control packets go before data at every port, with every program that serves hosts.

use crate::network::deployed::defaults;
use crate::network::rdma::{GO_BACK_N, LINE, OneBuffer, Run, nic};
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_catalogue::StageProgram;
use sluice_fabric::deploy::deploy;
use sluice_fabric::host::message::Message;
use sluice_fabric::network::{LinkFrame, Observer, SwitchId};
use sluice_fabric::topology::built;
use sluice_programs::catalogue;
use sluice_switch::Left;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// A full data packet and its share of the line: 1000 bytes of payload, headers, FCS, preamble and gap.
const FULL: Bytes = Bytes(1_000 + 58 + 4 + 4 + 20);

/// Longest time that a packet of each class spent in a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    data: Duration,
    control: Duration,
    controls: u64,
}

impl Waits {
    fn see(&mut self, left: &Left, head: &[u8]) {
        match head.get(15).map(|byte| byte >> 2) {
            Some(48) => {
                self.control = self.control.max(left.queued);
                self.controls += 1;
            }
            // `int` writes another DSCP into data.
            _ => self.data = self.data.max(left.queued),
        }
    }
}

impl Observer for Waits {
    fn on_link(&mut self, _: SwitchId, frame: &LinkFrame, head: &[u8], _: &[u8]) {
        self.see(&frame.left, head);
    }

    fn delivered(&mut self, _: SwitchId, left: &Left, head: &[u8], _: &[u8]) {
        self.see(left, head);
    }
}

/// Returns `None` for a program without entries for networks, else the longest waits while all hosts send to the hosts of the other leaf: four hosts over two uplinks.
fn waits(stage: &dyn StageProgram) -> Option<Waits> {
    let program = stage.name();
    let plan = built("leaf-spine:leaves=2,spines=2,hosts=4,rate=100G").unwrap();
    let mut defaults = defaults(program);
    defaults.port_speed = Some(LINE);
    defaults.buffer = Some("one".to_owned());
    let deployed = deploy(&plan, &catalogue(), &defaults, &OneBuffer);
    let deployed = deployed.unwrap_or_else(|e| panic!("{program}: {e}"));
    let leaf = &deployed.network.switches[0];
    stage
        .setup_at(&leaf.placed.program, &leaf.ports, &deployed.positions[0])?
        .unwrap_or_else(|e| panic!("{e}"));
    let message = |from: usize, n: u32| {
        let [leaf, host] = [(from / 4) as u8, (from % 4) as u8];
        let to = Ipv4Addr::new(10, 0, 1 - leaf, host + 1);
        let pair = from as u32 * 8 + n + 1;
        Message {
            pair,
            transport: 0,
            workload: 0,
            start: Time::ORIGIN,
            to,
            port: 49_152 + n as u16,
            bytes: 100_000,
        }
    };
    let sends = (0..8).map(|from| (0..4).map(|n| message(from, n)).collect()).collect();
    let config = nic(GO_BACK_N).open();
    let mut network = Run::new(deployed, &config, sends).network;
    let mut observers = vec![Waits::default(); network.len()];
    let mut until = Time::ORIGIN;
    while network.is_busy() && until < Time::ORIGIN + Duration::from_micros(80) {
        until += Duration::from_micros(5);
        network.drain_parallel(until, 1, &mut observers).unwrap();
    }
    Some(observers.into_iter().fold(Waits::default(), |all, one| Waits {
        data: all.data.max(one.data),
        control: all.control.max(one.control),
        controls: all.controls + one.controls,
    }))
}

/// A control packet waits for the data packet on the line, and for control packets that came before it: no longer than
/// two data packets take in all.
#[test]
fn acknowledgements_wait_for_at_most_the_packet_on_the_line() {
    let frame = LINE.time_for(FULL);
    let mut tested = Vec::new();
    // `conweave-spine` runs under `conweave`; hosts of `hpcc-int` read telemetry, which these do not.
    let other = |stage: &&Arc<dyn StageProgram>| !["conweave-spine", "hpcc-int"].contains(&stage.name());
    for stage in catalogue().programs().iter().filter(other) {
        let Some(found) = waits(stage.as_ref()) else { continue };
        tested.push(stage.name().to_owned());
        assert!(found.controls > 500, "{}: {found:?}", stage.name());
        assert!(found.data > frame * 20, "{}: the lines are not full, {found:?}", stage.name());
        assert!(found.control <= frame * 2, "{}: {found:?}, a frame takes {frame}", stage.name());
    }
    assert!(tested.len() >= 10 && tested.iter().any(|name| name == "conweave"), "{tested:?}");
}
