//! Entries of `drill` in addition to those of a leaf: members of every sample, and queues that the ghost control reads.

use super::{NAME, Params};
use crate::leaf;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::DevPort;
use sluice_asic::tm::AfcWord;
use sluice_catalogue::setup::{Ops, Setup, SetupError};
use sluice_control::{ControlOp, Then};
use sluice_ir::{KeyValue, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Adds these entries to the operations of a leaf, and returns the setup.
pub(super) fn complete(mut ops: Ops<'_>, program: &Program, p: &Params) -> Result<Setup, SetupError> {
    for sample in 1..p.samples {
        samples(&mut ops, program, sample)?;
    }
    let members = leaf::members(&ops, program);
    for port in members.values().flatten().map(|(_, port)| *port).collect::<BTreeSet<u16>>() {
        if let Some(key) = queue(port) {
            ops.entry("queue", key, "watch", [port.into()])?;
        }
    }
    if p.remember {
        memories(&mut ops, &members, p)?;
    }
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}

/// Returns the name of an object of the n-th further sample, from 1.
fn numbered(name: &str, sample: u32) -> String {
    if sample == 1 { name.to_owned() } else { format!("{name}_{}", sample - 1) }
}

/// Copies the members and groups of the first sample for a further one.
fn samples(ops: &mut Ops<'_>, program: &Program, sample: u32) -> Result<(), SetupError> {
    let (first, pick) = (program.profile_named("uplinks"), program.table_named("pick"));
    let (action, profile) = (numbered("sample_member", sample), numbered("sample_uplinks", sample));
    let table = numbered("sample", sample);
    for op in ops.so_far().to_vec() {
        match op {
            ControlOp::SetMember { profile: of, member, call } if Some(of) == first => {
                let args = [call.args.first().copied().unwrap_or(0), call.args.get(1).copied().unwrap_or(0)];
                ops.member(&profile, member, &action, args)?;
            }
            ControlOp::SetGroup { profile: of, group, members } if Some(of) == first => {
                ops.group(&profile, group, members.iter().map(|m| (m.member, m.weight)))?;
            }
            ControlOp::InsertEntry { table: of, key, then: Then::Group(group), .. } if Some(of) == pick => {
                if let [KeyValue::Exact(key)] = key.as_slice() {
                    ops.group_entry(&table, [KeyValue::Exact(*key)], group)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the key of queue 0 of a port in the ghost control: the pipe, and the queue within the pipe.
fn queue(port: u16) -> Option<[KeyValue; 2]> {
    let word = AfcWord::for_queue(&ChipSpec::tofino2(), DevPort::new(port)?, 0, 0).ok()?;
    let qid = u128::from(word.mac) << 7 | u128::from(word.queue);
    Some([KeyValue::Exact(word.pipe.into()), KeyValue::Exact(qid)])
}

/// Assigns each group to the first bank in which no other group has one of its uplinks. An uplink that
/// is several members of a group is represented by the first of them.
fn memories(
    ops: &mut Ops<'_>,
    groups: &BTreeMap<u32, Vec<(u128, u16)>>,
    p: &Params,
) -> Result<(), SetupError> {
    let mut taken: Vec<BTreeSet<u16>> = vec![BTreeSet::new(); p.banks as usize];
    for (group, members) in groups {
        let ports: BTreeSet<u16> = members.iter().map(|(_, port)| *port).collect();
        let Some((bank, used)) = (0u32..).zip(&mut taken).find(|(_, used)| used.is_disjoint(&ports)) else {
            let why = format!(
                "group {group} has uplinks in common with groups of all {} banks of memories; raise `banks`, or set \
                 remember=false",
                p.banks
            );
            return Err(SetupError::Place { program: NAME.to_owned(), why });
        };
        used.extend(&ports);
        ops.entry("bank", [KeyValue::Exact((*group).into())], "set_bank", [u128::from(bank) + 1])?;
        let (table, action) = match bank {
            0 => ("memory_queue".to_owned(), "concern".to_owned()),
            n => (format!("memory_queue_{n}"), format!("concern_{n}")),
        };
        for port in ports {
            let number = members.iter().find(|(_, of)| *of == port).map_or(0, |(number, _)| *number);
            if let Some(key) = queue(port) {
                ops.entry(&table, key, &action, [(*group).into(), number])?;
            }
        }
    }
    Ok(())
}
