//! `flare`: sends a flowlet over the path whose traffic so far falls furthest short of its target.
//!
//! Every path of a group has an equal target (a path of weight 2 is two); bytes are counted by path, and a new
//! flowlet takes the path that has carried least. It is the control that shows why a random choice wins: the split
//! is as even as its targets, whatever the paths behind them can carry (Kandula et al., CCR 2007; model: flowlets
//! §4.5).
//!
//! A packet is charged after its member is known, but the candidate is needed before that. So a packet
//! cannot find the least charged path itself. The packet generator visits every group once per period:
//! its packet reads the charges, finds the least, and is resubmitted to store it in a register that
//! first packets of flowlets read. Between two visits all new flowlets of a group take one path.

use crate::flowlet::{self, Detect, Gaps, Spec};
use crate::leaf::generator::{MADE, generator, visit};
use crate::leaf::{self, Knows, Leaf, Sizes, TableSizes};
use crate::spray;
use sluice_asic::port::PortMap;
use sluice_asic::units::Duration;
use sluice_build::params;
use sluice_build::*;
use sluice_catalogue::ProgramDef;
use sluice_catalogue::ProgramError;
use sluice_catalogue::Setup;
use sluice_catalogue::SetupError;
use sluice_hashing::values::NumberList;
use sluice_ir::{KeyValue, Program};
use sluice_switch::property::Property;

const NAME: &str = "flare";

/// Largest number of paths in a group: the low three bits of a charge are the number of its path.
const PATHS: u32 = 8;
/// Value in place of the least charged path of a group that was never visited: no path has this number.
const UNVISITED: u64 = PATHS as u64;

/// Parameters of `flare`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Flowlet detection
    #[param(flatten)]
    pub gaps: Gaps,
    /// Period at which the packet generator determines the least charged path of each group
    #[param(expects = "a time such as 1us")]
    pub period: Duration,
    /// Targets of the uplinks, front-panel ports 8 and up: relative shares; a sum of 8 takes every stage of a Tofino
    #[param(expects = "a comma-separated list of 2 to 8 numbers that add up to at most 8")]
    pub weights: NumberList,
    /// Table sizes
    #[param(flatten)]
    pub tables: TableSizes,
    /// Number of groups that the packet generator visits, from group 0 on
    #[param(range = 2..=4_096)]
    pub visited: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            gaps: Gaps::default(),
            period: Duration::from_micros(1),
            weights: NumberList(vec![1; 4]),
            tables: TableSizes::default(),
            visited: 4,
        }
    }
}

impl Params {
    fn spec(&self) -> Spec {
        self.gaps.spec(Detect::Pair)
    }

    fn check(&self) -> Result<(), ProgramError> {
        self.spec().check(NAME)?;
        leaf::weights(NAME, &self.weights)?;
        let refuse =
            |key, found: String, expected: String| Err(ProgramError::conflict(NAME, key, found, expected));
        if self.weights.0.iter().sum::<u32>() > PATHS {
            let expected =
                format!("a charge has three bits for its path, so targets add up to at most {PATHS}");
            return refuse("weights", self.weights.to_string(), expected);
        }
        if self.visited > self.tables.groups {
            let expected = format!("there are {} groups", self.tables.groups);
            return refuse("visited", self.visited.to_string(), expected);
        }
        Ok(())
    }
}

/// Resubmit header of a generated packet
#[derive(Header, Debug)]
struct Found {
    /// Least charge of the group: bytes times 8
    floor: Bits<32>,
    /// Number of the path with the least charge, 0 to 7
    path: Bits<32>,
}

/// Charge of the packet
#[derive(Header, Debug)]
struct Meta {
    /// Least charged path at the last visit of the group, 0 to 7; 8 = the group was never visited
    behind: Bits<32>,
    /// Length of the packet in bytes, from the IPv4 length or IPv6 payload length, times 8
    charge: Bits<32>,
    /// Least charge at the previous visit of the group, which this visit subtracts from all its charges
    floor: Bits<32>,
}

/// Charge of one path, read by a generated packet
#[derive(Header, Debug)]
struct Visit {
    /// Charge of the path: bytes times 8, plus the path's number; each round replaces it by the lesser of two
    sent: Bits<32>,
}

/// Headers, metadata, tables and actions that the parts share.
#[derive(Clone, Copy, Debug)]
struct Parts {
    found: Hdr<Found>,
    t: Meta,
    generator: TableRef,
    path: RegisterActionRef,
    floor: RegisterActionRef,
    write: RegisterActionRef,
}

/// Declares the parser states of resubmitted packets, and the array of the least charges.
#[stage_program]
fn declare<'b>(ig: &GressBuilder<'b>, leaf: Leaf, first: StateRef<'b>, p: &Params) -> Parts {
    let found = ig.header::<Found>();
    let t = ig.metadata::<Meta>();
    let flag = ig.intrinsic::<tna::Resubmitted>();
    let start = ig.state().select(flag.resubmit_flag);
    let parse_found = ig.state().extract(found);
    start.on(1, parse_found).otherwise(first);
    parse_found.otherwise(first);
    ig.start(start);
    let generator = generator(ig, leaf);
    /// By group, at its last visit: lo = least charge of its paths, hi = that path's number (8 = never visited)
    let least = ig.register_pair::<32>(size(p.tables.groups).init_hi(UNVISITED));
    let path = ig.register_action(least, |r| r.out = r.hi);
    let floor = ig.register_action(least, |r| r.out = r.lo);
    let write = ig.register_action(least, |r| {
        r.lo = found.floor;
        r.hi = found.path;
    });
    Parts { found, t, generator, path, floor, write }
}

/// Adds the part before the candidate: packets read the least charged path, generated ones the previous least charge.
#[stage_program]
fn behind(ig: &GressBuilder<'_>, leaf: Leaf, f: Parts) {
    let (m, t, found) = (leaf.m, f.t, f.found);
    let (ethernet, ipv4, ipv6) = (leaf.h.ethernet, leaf.h.ipv4, leaf.h.ipv6);
    let noted = ig.consume_label("A generated packet that stored a group's least charged uplink");
    // Only the hash unit moves a 16-bit container into a 32-bit one; it also multiplies by eight.
    let ipv4_length = ig
        .hash::<32>(HashAlgorithm::Identity)
        .inputs(list![constant::<13>(0), ipv4.total_len, constant::<3>(0)])
        .build();
    let ipv6_length = ig
        .hash::<32>(HashAlgorithm::Identity)
        .inputs(list![constant::<13>(0), ipv6.payload_len, constant::<3>(0)])
        .build();
    let ipv4_charge = ig.action(|a| t.charge = ipv4_length.get());
    let ipv6_charge = ig.action(|a| t.charge = ipv6_length.get());
    ig.control(|c| {
        if m.group != 0 {
            t.behind = f.path.execute(m.group);
            if ipv4.is_valid() {
                ipv4_charge.call();
            } else if ipv6.is_valid() {
                ipv6_charge.call();
            }
        } else if ethernet.ether_type == MADE {
            if f.generator.apply().hit() {
                if found.is_valid() {
                    f.write.execute(ethernet.dst.slice::<15, 0, 16>());
                    drop(noted);
                } else {
                    t.floor = f.floor.execute(ethernet.dst.slice::<15, 0, 16>());
                }
            }
        }
    });
}

/// Adds the part after the random candidate: the least charged path replaces the candidate if that path is up.
#[stage_program]
fn prefer(ig: &GressBuilder<'_>, leaf: Leaf, f: Parts, sizes: Sizes) {
    let (m, t) = (leaf.m, f.t);
    let prefer = ig.action(|a| m.candidate = m.generation | t.behind);
    /// Group and path, for paths that are up; without an entry for the least charged path the random candidate is used
    let path_up = ig.table([exact(m.group), exact(t.behind)]).actions([prefer]).size(sizes.members).build();
    ig.control(|c| {
        if m.group != 0 {
            path_up.apply();
        }
    });
}

/// Adds the part after the member: charges its path. A generated packet rebases all charges and finds the least.
#[stage_program]
fn charge(ig: &GressBuilder<'_>, leaf: Leaf, f: Parts, p: &Params) {
    let (m, t, found, ethernet) = (leaf.m, f.t, f.found, leaf.h.ethernet);
    let resubmit = ig.intrinsic::<tna::ForResubmit>();
    let paths = p.weights.0.iter().sum::<u32>() as usize;
    let mut visits = Vec::new();
    for path in 0..paths {
        let visit = ig.metadata::<Visit>();
        /// By group: bytes sent over this path since the last rebase, times 8, plus the path's number
        let sent = ig.register::<32>(size(p.tables.groups).init(path as u64));
        let pay = ig.register_action(sent, |r| r.value += t.charge);
        let rebase = ig.register_action(sent, |r| {
            r.value -= t.floor;
            r.out = r.value;
        });
        ig.control(|c| {
            if m.group != 0 {
                if m.member == path as u64 {
                    pay.execute(m.group);
                }
            } else if m.made && !found.is_valid() {
                visit.sent = rebase.execute(ethernet.dst.slice::<15, 0, 16>());
            }
        });
        visits.push(visit.sent);
    }
    // A tournament of pairs, then of winners. The low bits of the least charge are the number of its path.
    while visits.len() > 1 {
        let rounds = visits.clone();
        /// One round of the search: the lesser charge of each pair
        let lesser = ig.action(|a| {
            for pair in rounds.chunks_exact(2) {
                pair[0] = pair[0].min(pair[1]);
            }
        });
        ig.control(|c| {
            if m.made && !found.is_valid() {
                lesser.call();
            }
        });
        visits = visits.into_iter().step_by(2).collect();
    }
    let least = visits.first().copied().unwrap_or(t.floor);
    /// Resubmits the packet with the least charge and its path
    let again = ig.action(|a| {
        found.floor = least & 0xffff_fff8;
        found.path = least & 7;
        resubmit.resubmit_type = 1;
    });
    ig.control(|c| {
        if m.made && !found.is_valid() {
            again.call();
        }
    });
}

/// The program `flare`.
#[derive(Clone, Copy, Debug)]
pub struct Flare;

impl ProgramDef for Flare {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str =
        "Sends every flowlet over the uplink that falls furthest short of its share of the bytes";
    /// Parameters for `sluice fuzz`: visits that leave time for other packets.
    const HUNT: &'static [(&'static str, &'static str)] = &[("period", "4us")];
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        p.check()
    }

    fn declare(b: &Builder, p: &Params) {
        let ig = b.ingress();
        let (leaf, first) = leaf::declare(&ig, p.tables.sizes(), Knows::Flowlet);
        let f = declare(&ig, leaf, first, p);
        leaf::route(&ig, leaf);
        spray::draw(&ig, leaf);
        behind(&ig, leaf, f);
        leaf::propose(&ig, leaf);
        prefer(&ig, leaf, f, p.tables.sizes());
        flowlet::keep(&ig, leaf, p.spec());
        charge(&ig, leaf, f, p);
        leaf::send(&ig, leaf).resubmit(1, f.found);
        leaf::egress(&b.egress());
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        let mut ops = leaf::operations(program, ports, &p.weights.0)?;
        for (group, members) in leaf::members(&ops, program) {
            for (number, _) in members {
                let path = [KeyValue::Exact(group.into()), KeyValue::Exact(number)];
                ops.entry("path_up", path, "prefer", [])?;
            }
        }
        leaf::go_round(&mut ops, program)?;
        visit(&mut ops, ports, p.visited, p.period)?;
        Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
    }

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        p.spec().properties(false)
    }
}
