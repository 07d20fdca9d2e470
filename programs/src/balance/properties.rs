//! Properties of packets and of member tables: a packet is sent on the port that its hash picks, and members get even
//! shares of the hash values, whatever an equal switch before has picked.

use super::model::BalanceModel;
use super::params::{EcmpParams, WcmpParams};
use super::plan::Plan;
use crate::l3_ecmp::Selection;
use crate::model::Judge;
use sluice_asic::alu::width_mask;
use sluice_asic::select::{SelectorMode, WORD_SLOTS};
use sluice_catalogue::properties::{FrameKept, HopLimit, SameWay};
use sluice_control::{ControlState, Entry, GroupMember, Then};
use sluice_hashing::scheme::{Scheme, Setting};
use sluice_hashing::values::Members;
use sluice_ir::{KeyValue, Program, Table};
use sluice_pcaps::wire::{ethernet, ipv4};
use sluice_switch::property::{Departed, Finding, Property, Settled};
use std::collections::BTreeMap;

/// Returns the properties of both programs; the hash is checked only if there is a plan.
fn of_plan(plan: Option<&Plan>) -> Vec<Box<dyn Property>> {
    let mut list: Vec<Box<dyn Property>> = vec![
        Box::new(SameWay::default()),
        Box::new(HopLimit),
        Box::new(FrameKept),
        Box::new(Judge::new(BalanceModel)),
    ];
    list.extend(plan.map(|plan| Box::new(HashPick::new(plan)) as Box<dyn Property>));
    list
}

/// Returns the properties of `ecmp`.
pub(super) fn ecmp(p: &EcmpParams, plan: Option<&Plan>) -> Vec<Box<dyn Property>> {
    let mut list = of_plan(plan);
    if p.scheme == Scheme::Coprime && p.members == Members::Auto {
        let bits = bits_of(p.selection);
        list.push(Box::new(CoprimeShares {
            upstream: p.upstream.0.clone(),
            bits,
            size: None,
            changed: false,
        }));
    }
    list
}

/// Returns the properties of `wcmp`. Shares are checked only in groups of the planned size; the southern group differs.
pub(super) fn wcmp(p: &WcmpParams, plan: Option<&Plan>) -> Vec<Box<dyn Property>> {
    let mut list = of_plan(plan);
    if let Some(plan) = plan.filter(|_| p.members == Members::Auto) {
        let (bits, size) = (bits_of(p.selection), Some(plan.north.table.len()));
        list.push(Box::new(CoprimeShares { upstream: p.upstream.0.clone(), bits, size, changed: false }));
    }
    list
}

/// Returns the number of flow hash bits that the selector divides.
fn bits_of(selection: Selection) -> u32 {
    if selection.mode() == SelectorMode::PlainModulo { 16 } else { 14 }
}

/// Returns the table of this name.
fn table(program: &Program, name: &str) -> Option<Table> {
    program.tables.iter().find(|(_, data)| data.name == name).map(|(table, _)| table)
}

/// Returns the members of a group, each as often as its weight. `None` if one is down, or if they
/// exceed a selector word: then the choice depends on more than the hash.
fn plain(group: &[GroupMember]) -> Option<Vec<u32>> {
    let list: Vec<u32> =
        group.iter().flat_map(|m| std::iter::repeat_n(m.member, m.weight as usize)).collect();
    let fits = (1..=WORD_SLOTS as usize).contains(&list.len());
    (fits && group.iter().all(|m| m.active)).then_some(list)
}

/// A sent packet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    tag: u64,
    ingress: u16,
    egress: u16,
    key: [u8; 14],
}

/// A packet is sent on the port of the member that its flow hash picks in the group of its route. Not checked:
/// runs in which entries change, groups with members that are down, and groups of more than 120 members.
#[derive(Clone, Debug)]
struct HashPick {
    north: Setting,
    south: Setting,
    bits: u32,
    sent: Vec<Sent>,
    changed: bool,
}

/// Largest number of packets that are kept per run.
const MOST: usize = 1 << 16;

impl HashPick {
    fn new(plan: &Plan) -> HashPick {
        let (north, south) = (plan.north.setting, plan.south.setting);
        HashPick { north, south, bits: bits_of(plan.selection), sent: Vec::new(), changed: false }
    }
}

/// Returns addresses, protocol, ports and TTL of an IPv4 packet without options; ports are 0 unless whole TCP or UDP.
fn key(frame: &[u8]) -> Option<[u8; 14]> {
    let ip = ethernet::HEADER_LEN;
    let at = |from: usize, len: usize| frame.get(ip + from..ip + from + len);
    if frame.get(12..14)? != ethernet::TYPE_IPV4.to_be_bytes() || *at(0, 1)? != [0x45] {
        return None;
    }
    let mut key = [0; 14];
    key[..8].copy_from_slice(at(12, 8)?);
    (key[8], key[13]) = (at(9, 1)?[0], at(8, 1)?[0]);
    let fragment = at(6, 2)?;
    let whole = fragment[0] & 0x3f == 0 && fragment[1] == 0;
    if whole && matches!(key[8], ipv4::PROTOCOL_TCP | ipv4::PROTOCOL_UDP) {
        key[9..13].copy_from_slice(at(20, 4)?);
    }
    Some(key)
}

/// Returns the entry of a table with one exact key.
fn exact(control: &ControlState, table: Table, value: u128) -> Option<&Entry> {
    let keyed = |e: &&Entry| e.key.first() == Some(&KeyValue::Exact(value));
    control.tables[table].entries().map(|(_, e)| e).find(keyed)
}

/// Returns the first argument of the call if its action has this name.
fn argument(program: &Program, then: &Then, action: &str) -> Option<u128> {
    let Then::Call(call) = then else { return None };
    (program.actions[call.action].name == action).then_some(call.args.first().copied()?)
}

impl HashPick {
    /// Returns the port that entries and hash give; `None` if the property does not cover the packet's group.
    fn expected(&self, program: &Program, control: &ControlState, packet: &Sent) -> Option<u16> {
        let [side, route, groups] = ["side", "ipv4_route", "group"].map(|name| table(program, name));
        let from_north = exact(control, side?, packet.ingress.into())
            .is_some_and(|e| matches!(&e.then, Then::Call(c) if program.actions[c.action].name == "north"));
        let setting = if from_north { self.south } else { self.north };
        let destination = packet.key[4..8].iter().fold(0, |value, byte| value << 8 | u128::from(*byte));
        let covers = |e: &&Entry| match e.key.first() {
            Some(KeyValue::Lpm { value, len }) => {
                let mask = !width_mask(32 - u32::from(*len)) & width_mask(32);
                destination & mask == *value
            }
            _ => false,
        };
        let length = |e: &&Entry| if let Some(KeyValue::Lpm { len, .. }) = e.key.first() { *len } else { 0 };
        let route = control.tables[route?].entries().map(|(_, e)| e).filter(covers).max_by_key(length)?;
        let group = argument(program, &route.then, "set_group")?;
        let groups = groups?;
        let Then::Group(number) = exact(control, groups, group)?.then else { return None };
        let profile = &control.profiles[program.tables[groups].profile?];
        let members = plain(profile.groups.get(&number)?)?;
        let hash = usize::from(setting.hash(&packet.key)) & ((1 << self.bits) - 1);
        let call = profile.members.get(members.get(hash % members.len())?)?;
        call.args.first().map(|port| *port as u16)
    }
}

impl Property for HashPick {
    fn name(&self) -> &'static str {
        "hash_pick"
    }

    fn changed(&mut self) {
        self.changed = true;
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let Some(from) = packet.from.filter(|_| !packet.left.made && self.sent.len() < MOST) else {
            return Ok(());
        };
        if let Some(key) = key(from.bytes) {
            let (tag, ingress, egress) = (packet.left.tag, from.port, packet.left.egress_port);
            self.sent.push(Sent { tag, ingress, egress, key });
        }
        Ok(())
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let sent = std::mem::take(&mut self.sent);
        if std::mem::take(&mut self.changed) {
            return Ok(());
        }
        for packet in &sent {
            let expected = self.expected(device.program, device.control, packet);
            if let Some(port) = expected.filter(|port| *port != packet.egress) {
                let (tag, found) = (packet.tag, packet.egress);
                return Err(format!(
                    "packet {tag} was sent on port {found}, expected {port}, which its hash picks"
                ));
            }
        }
        Ok(())
    }
}

/// Of the hash values for which an equal switch before picks any given member, the members of a replicated
/// group get equal shares, up to a difference of 1; so do the ports of members. Sizes with a common factor
/// would leave members idle. Not checked: runs in which entries change, and groups with members that are down.
#[derive(Clone, Debug)]
struct CoprimeShares {
    /// Group sizes of the switches before this one.
    upstream: Vec<u32>,
    bits: u32,
    /// Check only groups of this size; `None`: all groups.
    size: Option<usize>,
    changed: bool,
}

/// Returns the number of hash values that each member gets. The hash values have `bits` bits, and remainder `picked`
/// modulo `upstream`. The sequence of members repeats after at most `members` values.
fn shares_of(members: usize, picked: u32, upstream: u32, bits: u32) -> Vec<u32> {
    let values = (1u32 << bits).saturating_sub(picked).div_ceil(upstream);
    let mut shares = vec![0; members];
    let round = members as u32;
    for at in 0..round.min(values) {
        shares[(picked as usize + at as usize * upstream as usize) % members] +=
            (values - at).div_ceil(round);
    }
    shares
}

impl CoprimeShares {
    /// Checks a group, given the ports of its members.
    fn check(&self, ports: &[u128]) -> Finding {
        let members = ports.len();
        for upstream in self.upstream.iter().filter(|n| **n > 1) {
            for picked in 0..*upstream {
                let shares = shares_of(members, picked, *upstream, self.bits);
                let (least, most) = (shares.iter().min(), shares.iter().max());
                if let (Some(least), Some(most)) = (least, most)
                    && least + 1 < *most
                {
                    return Err(format!(
                        "{members} members after a group of {upstream}: of the hash values of its member {picked} one \
                         member gets {least} and another {most}; expected equal shares, but for one"
                    ));
                }
            }
        }
        let mut replicas: BTreeMap<u128, usize> = BTreeMap::new();
        ports.iter().for_each(|port| *replicas.entry(*port).or_default() += 1);
        match (self.size, replicas.values().min(), replicas.values().max()) {
            (None, Some(least), Some(most)) if least + 1 < *most => Err(format!(
                "one port has {least} of {members} members and another {most}; expected equal shares"
            )),
            _ => Ok(()),
        }
    }
}

impl Property for CoprimeShares {
    fn name(&self) -> &'static str {
        "coprime_shares"
    }

    fn changed(&mut self) {
        self.changed = true;
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        if std::mem::take(&mut self.changed) {
            return Ok(());
        }
        for profile in device.control.profiles.values() {
            for (number, group) in &profile.groups {
                let Some(list) = plain(group).filter(|l| self.size.is_none_or(|size| l.len() == size)) else {
                    continue;
                };
                let port = |member: &u32| profile.members.get(member)?.args.first().copied();
                let Some(ports) = list.iter().map(port).collect::<Option<Vec<u128>>>() else { continue };
                if ports.iter().any(|port| Some(port) != ports.first()) {
                    self.check(&ports).map_err(|text| format!("group {number}: {text}"))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(upstream: &[u32], members: usize, ports: u128) -> Finding {
        let property = CoprimeShares { upstream: upstream.to_vec(), bits: 14, size: None, changed: false };
        property.check(&(0..members as u128).map(|m| m % ports).collect::<Vec<_>>())
    }

    #[test]
    fn shares_are_those_of_all_hash_values() {
        for (members, upstream) in [(1, 1), (57, 8), (56, 8), (120, 16), (7, 300), (64, 3)] {
            for picked in [0, 1, upstream - 1] {
                let mut counted = vec![0; members];
                let hashes = (picked..1 << 14).step_by(upstream as usize);
                hashes.for_each(|hash| counted[hash as usize % members] += 1);
                assert_eq!(
                    shares_of(members, picked, upstream, 14),
                    counted,
                    "{members} {upstream} {picked}"
                );
            }
        }
    }

    #[test]
    fn a_size_that_shares_a_factor_leaves_members_idle() {
        assert_eq!(shares(&[8], 57, 8), Ok(()));
        assert_eq!(shares(&[], 8, 8), Ok(()));
        let text = shares(&[8], 56, 8).unwrap_err();
        assert!(text.contains("one member gets 0 and another 293"), "{text}");
        assert!(shares(&[57, 8], 6, 3).is_err());
    }

    #[test]
    fn ports_have_equal_numbers_of_members_but_for_one() {
        assert_eq!(shares(&[], 7, 3), Ok(()));
        let property = CoprimeShares { upstream: vec![8], bits: 14, size: None, changed: false };
        assert!(property.check(&[1, 1, 1, 1, 2, 2, 3]).unwrap_err().starts_with("one port has 1 of 7"));
    }

    #[test]
    fn a_key_has_ports_of_whole_packets_only() {
        let mut frame = vec![0; 60];
        frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
        (frame[22], frame[23]) = (64, 17);
        frame[26..38].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let whole = [1, 2, 3, 4, 5, 6, 7, 8, 17, 9, 10, 11, 12, 64];
        assert_eq!(key(&frame), Some(whole));
        frame[20] = 0x20;
        assert_eq!(key(&frame), Some([1, 2, 3, 4, 5, 6, 7, 8, 17, 0, 0, 0, 0, 64]));
        frame[14] = 0x46;
        assert_eq!(key(&frame), None);
    }
}
