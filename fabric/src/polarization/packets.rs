//! Sends the frames of a capture through emulated switches, hop by hop, and compares the links that they take with those of
//! their flows' walk.
//!
//! Switches of a decision point have equal settings and tables, so one emulated switch stands for all of them.

use super::plan::{Picker, Plan, Question, plan};
use super::walk::Compiled;
use crate::flows::{Flow, frame_key};
use crate::topology::Network;
use serde::Serialize;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_catalogue::StageProgram;
use sluice_catalogue::position::{Neighbor, PortUse, Position, Prefix, Route};
use sluice_control::ControlState;
use sluice_exec::engine::Engine;
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, Pass, PassIn, Verdict};
use sluice_pcaps::capture::CaptureReader;

use sluice_pcaps::wire::{Checksum, ethernet, ipv4};
use sluice_place::place;
use std::net::Ipv4Addr;

/// Frames of a capture beside the walks of their flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Frames that were sent.
    pub packets: u64,
    /// Frames that were not sent: those that do not have IPv4 without options right after the Ethernet header.
    pub left_out: u64,
    /// Switches that the frames passed, together.
    pub hops: u64,
    /// Hops at which the switch sent the frame on another link than the walk of its flow, or dropped it.
    #[serde(rename = "differing_hops")]
    pub differing: u64,
    /// Hops that were left out, because the frame's TTL would have run out before.
    #[serde(rename = "expired_hops")]
    pub expired: u64,
}

/// Sends the frames of a capture along the walks of their flows, and compares at every hop the link that an emulated switch of
/// Tofino 2 chooses. `stage` has the parameters of `ecmp`: `scheme`, `stage`, `functions`, `seed`, `selection`, `members`.
/// `flows` are those that [`extract`](crate::flows::extract) returned for the same capture.
///
/// # Errors
/// If the scheme has no plan, if no chip has the selector, if switches of a decision point differ, if the program refuses its
/// parameters or place, or if the capture cannot be read.
pub fn compare(
    stage: &dyn StageProgram,
    network: &Network,
    question: &Question,
    flows: &[Flow],
    reader: &mut CaptureReader<'_>,
) -> Result<Compared, String> {
    let planned = plan(network, question).map_err(|e| e.to_string())?;
    let compiled = Compiled::new(network, &planned, question.picker);
    let mut switches = Switches::new(stage, network, question, &planned, &compiled)?;
    while let Some(frame) = reader.next_frame().map_err(|e| e.to_string())? {
        switches.send(frame.data, flows);
    }
    Ok(switches.finish())
}

/// Emulated switches of a network, one for each decision point.
struct Switches<'a> {
    network: &'a Network,
    compiled: &'a Compiled,
    points: Vec<Switch>,
    compared: Compared,
}

/// Frames that a switch takes at a time.
const BATCH: usize = 64;

/// First port of those that lead up; those that lead down begin at 0.
const UP: u16 = 8;

/// Port at which frames arrive from below; it is in no group.
const FROM_BELOW: u16 = 30;

/// Port at which frames arrive from above.
const FROM_ABOVE: u16 = 31;

struct Switch {
    engine: Engine,
    store: PacketStore,
    /// dev_port at which frames arrive.
    from: u16,
    /// dev_ports of the group's links, in their order.
    ports: Vec<u16>,
    /// Frames that wait to be sent, with the link that the walk took.
    waiting: Vec<(Vec<u8>, u32)>,
}

impl<'a> Switches<'a> {
    fn new(
        stage: &dyn StageProgram,
        network: &'a Network,
        question: &Question,
        plan: &Plan,
        compiled: &'a Compiled,
    ) -> Result<Switches<'a>, String> {
        let mut points = Vec::with_capacity(network.points.len());
        for (number, (name, _)) in network.points.iter().enumerate() {
            let mut groups =
                network.groups.iter().zip(&plan.groups).filter(|(g, _)| g.point as usize == number);
            let Some((group, planned)) = groups.next() else {
                return Err(format!("decision point {name} has no group"));
            };
            if groups.any(|(other, like)| like != planned || other.links.len() != group.links.len()) {
                return Err(format!(
                    "the groups of decision point {name} differ, so one emulated switch cannot stand for all; use a \
                     topology such as `clos` without failed links"
                ));
            }
            let weights = group.links.iter().map(|(_, weight)| *weight).collect();
            let switch = Switch::new(stage, question, &network.points[number], weights, planned.table.len());
            points.push(switch.map_err(|e| format!("decision point {name}: {e}"))?);
        }
        Ok(Switches { network, compiled, points, compared: Compared::default() })
    }

    /// Sends one frame along the walk of its flow; `flows` are in order of their keys.
    fn send(&mut self, frame: &[u8], flows: &[Flow]) {
        let link = ethernet::View::new(frame).ok().filter(|link| link.ethertype() == 0x0800);
        let plain = link.is_some_and(|link| link.payload().first() == Some(&0x45));
        let key = frame_key(frame).filter(|_| plain);
        let found = key.and_then(|key| flows.binary_search_by_key(&key, |flow| flow.key).ok());
        let Some(flow) = found.and_then(|at| flows.get(at)) else {
            self.compared.left_out += 1;
            return;
        };
        self.compared.packets += 1;
        let path = self.compiled.path(flow);
        for (hop, (group, link)) in path.iter().enumerate() {
            let Some(ttl) = flow.key[13].checked_sub(hop as u8).filter(|ttl| *ttl > 1) else {
                self.compared.expired += (path.len() - hop) as u64;
                return;
            };
            let point = self.network.groups[*group as usize].point as usize;
            let switch = &mut self.points[point];
            switch.waiting.push((with_ttl(frame, ttl), *link));
            if switch.waiting.len() == BATCH {
                switch.flush(&mut self.compared);
            }
        }
    }

    /// Sends what waits, and returns what was counted.
    fn finish(mut self) -> Compared {
        for switch in &mut self.points {
            switch.flush(&mut self.compared);
        }
        self.compared
    }
}

impl Switch {
    fn new(
        stage: &dyn StageProgram,
        question: &Question,
        (point, level): &(String, u32),
        weights: Vec<u32>,
        members: usize,
    ) -> Result<Switch, String> {
        let up = !point.ends_with("-down");
        let selection = match question.picker {
            Picker::Modulo16 => "plain-modulo",
            Picker::Fair => "fair",
            Picker::Resilient => "resilient",
            Picker::Threshold | Picker::Ideal => {
                return Err("no emulated switch selects in this way".to_owned());
            }
        };
        let functions: Vec<String> = question.terms.supply.iter().map(ToString::to_string).collect();
        let mut sets = vec![
            ("scheme", question.scheme.to_string()),
            ("stage", level.to_string()),
            ("functions", functions.join(",")),
            ("seed", question.terms.seed.to_string()),
            ("selection", selection.to_owned()),
        ];
        sets.push(("ports", weights.len().to_string()));
        sets.push(("members", members.to_string()));
        let sets: Vec<(String, String)> = sets.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        let program = stage.build(&sets).map_err(|e| e.to_string())?;
        let chip = ChipSpec::tofino2();
        let placement = place(&program, &chip).map_err(|e| e.to_string())?;
        let map = PortMap::default_for(&chip).map_err(|e| e.to_string())?;
        let at = position(&map, up, &weights)?;
        let setup = stage.setup_at(&program, &map, &at).ok_or("the program has no entries for networks")?;
        let mut control = ControlState::new(&program);
        for op in setup.map_err(|e| e.to_string())?.ops {
            control.apply(&program, op).map_err(|e| e.to_string())?;
        }
        let ports = at.routes.iter().flat_map(|route| &route.ports);
        let ports = ports.map(|(port, _)| dev_port(&map, port.0)).collect::<Result<_, _>>()?;
        let engine = Engine::new(&program, &placement, &control).map_err(|e| e.to_string())?;
        let store = PacketStore::new(HeadLayout::default());
        let from = dev_port(&map, if up { FROM_BELOW } else { FROM_ABOVE })?;
        Ok(Switch { engine, store, from, ports, waiting: Vec::with_capacity(BATCH) })
    }

    fn flush(&mut self, compared: &mut Compared) {
        let input = PassIn { port: self.from, ..PassIn::default() };
        let store = &mut self.store;
        let passes = self.waiting.iter().map(|(frame, _)| Pass::new(store.insert(frame, 0), input));
        let mut passes: Vec<Pass> = passes.collect();
        self.engine.run(Gress::Ingress, &mut passes, &mut self.store);
        for (pass, (_, link)) in passes.into_iter().zip(self.waiting.drain(..)) {
            let port = self.ports.get(link as usize);
            let as_walked = pass.output.verdict == Verdict::Forward && port == Some(&pass.output.port);
            compared.hops += 1;
            compared.differing += u64::from(!as_walked);
            self.store.remove(pass.packet);
        }
    }
}

/// Returns the place of a switch with one group for all destinations, above or below it.
fn position(map: &PortMap, up: bool, weights: &[u32]) -> Result<Position, String> {
    // The switch is between stage 1 below and stage 3 above.
    let used = |port: u16, stage: u32| {
        let front = map.front(FrontPort(port)).ok_or_else(|| format!("the chip has no port {port}"))?;
        let neighbor = Neighbor::Switch { number: 1, stage, port: FrontPort(0) };
        Ok(PortUse { port: FrontPort(port), dev_port: front.dev_port.number(), speed: front.speed, neighbor })
    };
    let (first, stage) = if up { (UP, 3) } else { (0, 1) };
    let last = first + weights.len() as u16;
    if last > FROM_BELOW {
        return Err(format!(
            "a group has {} links; at most {} are possible here",
            weights.len(),
            FROM_BELOW - first
        ));
    }
    let mut ports = (first..last).map(|port| used(port, stage)).collect::<Result<Vec<_>, String>>()?;
    ports.push(used(FROM_BELOW, 1)?);
    ports.push(used(FROM_ABOVE, 3)?);
    let all = Prefix { address: Ipv4Addr::UNSPECIFIED, len: 0 };
    let hops = (first..last).zip(weights).map(|(port, weight)| (FrontPort(port), *weight)).collect();
    let routes = vec![Route { to: all, ports: hops, hops: 1 }];
    let name = "switch".to_owned();
    let (subnets, hosts) = (Vec::new(), Vec::new());
    Ok(Position { number: 0, name, stage: 2, block: 0, ports, routes, subnets, hosts })
}

fn dev_port(map: &PortMap, port: u16) -> Result<u16, String> {
    let front = map.front(FrontPort(port)).ok_or_else(|| format!("the chip has no port {port}"))?;
    Ok(front.dev_port.number())
}

/// Returns an IPv4 frame with another TTL and a right header checksum; captures of hosts that let their NIC compute it have wrong
/// ones.
fn with_ttl(frame: &[u8], ttl: u8) -> Vec<u8> {
    let mut out = frame.to_vec();
    let header = out.get_mut(ethernet::HEADER_LEN..).unwrap_or_default();
    let len = header.first().map_or(0, |first| usize::from(first & 0xf) * 4);
    if let Some(header) = header.get_mut(..len).filter(|header| header.len() >= ipv4::HEADER_LEN) {
        header[8] = ttl;
        header[10..12].fill(0);
        let sum = Checksum::new().with(header).finish();
        header[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    out
}
