//! Fits one part of one node into one stage: takes all units that it needs, or returns the column that ran out.
//!
//! Module `actions` fits the node's actions.

mod actions;

use super::super::bits::{PhvView, bits_for};
use super::super::data::Owner;
use super::super::purpose::{ArrayRef, Computation, Purpose};
use super::super::steps::Steps;
use super::demand::{AluArray, ArrayDemand, Demand, Lookup, ProfileDemand};
use super::gateway::GatewayDemand;
use super::hash::Distributed;
use super::pool::{Content, Pool};
use super::ram::{self, Synthetic};
use super::{hash, sizes, xbar};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::geometry::{self, GeometryError};
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_ir::Random;
use sluice_ir::entity::Entity;
use std::collections::{BTreeMap, BTreeSet};

/// Resource of which a stage has no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// Resource.
    pub(crate) column: Column,
    /// Requested units, in words.
    pub(crate) wanted: String,
}

fn short(column: Column, wanted: impl Into<String>) -> Shortage {
    Shortage { column, wanted: wanted.into() }
}

/// Returns a number with its noun: `1 block`, `3 blocks`.
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn rams(n: u32) -> String {
    count(n.into(), "RAM", "RAMs")
}

/// First content numbers of registers and meters; those of counters and profiles start at 0.
const REGISTERS: u32 = 1 << 30;
const METERS: u32 = 1 << 31;

/// Random bits of a stage (model: chip §1.2).
pub(crate) const RANDOM_BITS: u32 = 64;

/// Steps of fitting one part of a node: it looks at about as many units of a stage.
const PART_STEPS: usize = 200;

/// Inputs and shared state of fitting.
pub(crate) struct Fit<'a> {
    /// Chip.
    pub(crate) chip: &'a ChipSpec,
    /// PHV allocation.
    pub(crate) view: &'a PhvView<'a>,
    /// Containers that each instruction word in use writes, indexed by [`Content::Instruction`].
    pub(crate) instructions: Vec<BTreeSet<Container>>,
    /// Hash computations that nodes may share, by gress, indexed by [`Content::Hashed`].
    pub(crate) computations: Vec<(Gress, Computation)>,
    /// True if nodes share computations.
    pub(crate) shared_hashes: bool,
    /// Random number generators of each node, with their bits.
    pub(crate) randoms: BTreeMap<Owner, BTreeMap<Random, u32>>,
    /// The budget of the placement.
    pub(crate) steps: &'a Steps,
}

impl Fit<'_> {
    /// Takes all units that `entries` entries of the node need, or none. Returns the entries for which the part has
    /// room.
    pub(crate) fn part(&mut self, pool: &mut Pool, demand: &Demand, entries: u32) -> Result<u32, Shortage> {
        self.steps.take(PART_STEPS);
        let mark = pool.mark();
        let done = self.everything(pool, demand, entries);
        if done.is_err() {
            pool.roll_back(mark);
        }
        done
    }

    fn everything(&mut self, pool: &mut Pool, demand: &Demand, entries: u32) -> Result<u32, Shortage> {
        if let Some(need) = &demand.gateway {
            self.gateway(pool, demand.owner, need, Purpose::Condition)?;
            return Ok(0);
        }
        let capacity = self.capacity(demand, entries)?;
        // Counters, registers and selectors first: only they are bound to the right-hand columns.
        if let Some(profile) = &demand.profile {
            self.selector(pool, demand, profile)?;
        }
        self.counters(pool, demand, capacity)?;
        self.arrays(pool, demand, capacity)?;
        self.randoms(pool, demand)?;
        match demand.lookup {
            Lookup::None => self.keyless(pool, demand)?,
            Lookup::Exact => self.exact(pool, demand, entries)?,
            Lookup::Ternary => self.ternary(pool, demand, capacity)?,
            Lookup::Atcam { partitions } => self.atcam(pool, demand, partitions, entries)?,
        }
        self.action_data(pool, demand, capacity)?;
        if let Some(bits) = demand.idle_bits {
            let rams = sizes::narrow(geometry::idle_map_rams(&self.chip.mau, capacity.into(), bits));
            ram::idle(pool, &self.chip.mau, demand.owner, rams)
                .map_err(|column| short(column, format!("{rams} map RAMs of ages")))?;
        }
        for h in &demand.hashes {
            let most = self.chip.mau.exact_xbar_groups;
            xbar::exact(pool, &self.chip.mau, demand.owner, &h.bytes, &[], most)
                .ok_or_else(|| short(Column::ExactXbar, format!("{} bytes of hash input", h.bytes.len())))?;
            let what = self.shared_hashes.then(|| self.computation(demand.owner.gress, &h.what));
            let purpose = Purpose::Computed(h.what.clone());
            let wanted = Distributed { bits: h.bits, what, purpose };
            hash::distribute(pool, &self.chip.mau, demand.owner, self.chip.hash.dist_bits, wanted)
                .map_err(|column| short(column, format!("{} bits of hash `{}`", h.bits, h.name)))?;
        }
        self.instructions(pool, demand)?;
        self.action_bus(pool, demand)?;
        Ok(capacity)
    }

    /// Returns the number of a computation, which is new if the computation is not shared.
    fn computation(&mut self, gress: Gress, wanted: &Computation) -> u32 {
        let known = self.computations.iter().position(|(g, c)| *g == gress && c == wanted);
        known.unwrap_or_else(|| {
            self.computations.push((gress, wanted.clone()));
            self.computations.len() - 1
        }) as u32
    }

    /// Returns the entries for which a part sized for `entries` has room.
    pub(crate) fn capacity(&self, demand: &Demand, entries: u32) -> Result<u32, Shortage> {
        let mau = &self.chip.mau;
        match demand.lookup {
            Lookup::None => Ok(0),
            Lookup::Ternary => Ok(entries.div_ceil(mau.tcam_depth.max(1)).saturating_mul(mau.tcam_depth)),
            Lookup::Atcam { partitions } => {
                let part = sizes::atcam(mau, demand, partitions, entries);
                part.map(|p| p.capacity(partitions)).map_err(|e| geometry_short(Column::Sram, e))
            }
            Lookup::Exact => {
                let layout =
                    sizes::exact(mau, demand, entries).map_err(|e| geometry_short(Column::Sram, e))?;
                let capacity = sizes::narrow(layout.capacity);
                if capacity < entries {
                    return Err(short(Column::Sram, format!("{entries} entries")));
                }
                Ok(capacity)
            }
        }
    }

    /// Takes a gateway with its bytes, hash bits and search bus.
    pub(crate) fn gateway(
        &self,
        pool: &mut Pool,
        owner: Owner,
        need: &GatewayDemand,
        purpose: Purpose,
    ) -> Result<(), Shortage> {
        let mau = &self.chip.mau;
        let groups = xbar::exact(pool, mau, owner, &need.hashed, &need.fixed, 1)
            .ok_or_else(|| short(Column::ExactXbar, "bytes of one group for a condition"))?;
        let group = groups.first().copied().unwrap_or(0);
        let hash = if need.hash_bits.is_empty() {
            None
        } else {
            let taken = hash::gateway(pool, mau, owner, need.hash_bits.iter().copied());
            Some(taken.ok_or_else(|| short(Column::HashBit, "select bits for a condition"))?)
        };
        let bus = Content::Bus { xbar: group, hash };
        let units =
            (0..mau.gateway_rows as u16).flat_map(|r| (0..mau.gateways_per_row as u16).map(move |u| (r, u)));
        let free: Vec<(u16, u16)> = units.filter(|&(r, u)| pool.is_free(Column::Gateway, r, u)).collect();
        let buses = mau.search_buses_per_row as u16;
        // A bus with the same content is preferred to a free one.
        let same = |r| (0..buses).find(|&b| pool.content(Column::ExactSearchBus, r, b) == Some(bus));
        let open = |r| (0..buses).find(|&b| pool.is_free(Column::ExactSearchBus, r, b));
        let found = free
            .iter()
            .find_map(|&(r, u)| same(r).map(|b| (r, u, b)))
            .or_else(|| free.iter().find_map(|&(r, u)| open(r).map(|b| (r, u, b))));
        let Some((row, unit, b)) = found else {
            let column = if free.is_empty() { Column::Gateway } else { Column::ExactSearchBus };
            return Err(short(column, "a gateway"));
        };
        pool.take((Column::Gateway, row, unit), owner, Content::Own, purpose);
        pool.take((Column::ExactSearchBus, row, b), owner, bus, Purpose::SearchBus { xbar: group, hash });
        Ok(())
    }

    /// Takes a result bus: a table without key is a hash-action table with a fixed result (model: chip §3.6).
    fn keyless(&self, pool: &mut Pool, demand: &Demand) -> Result<(), Shortage> {
        let mau = &self.chip.mau;
        let mut buses = (0..mau.sram_rows as u16)
            .rev()
            .flat_map(|r| (0..mau.result_buses_per_row as u16).rev().map(move |b| (r, b)));
        let Some((row, bus)) = buses.find(|&(r, b)| pool.is_free(Column::ExactResultBus, r, b)) else {
            return Err(short(Column::ExactResultBus, "a result bus"));
        };
        pool.take((Column::ExactResultBus, row, bus), demand.owner, Content::Own, Purpose::FixedResult);
        Ok(())
    }

    fn exact(&self, pool: &mut Pool, demand: &Demand, entries: u32) -> Result<(), Shortage> {
        let (mau, owner) = (&self.chip.mau, demand.owner);
        let layout = sizes::exact(mau, demand, entries).map_err(|e| geometry_short(Column::Sram, e))?;
        let bytes: BTreeSet<_> = demand.key.keys().copied().collect();
        let most = layout.width.max((bytes.len() as u32).div_ceil(mau.exact_xbar_group_bytes.max(1)));
        let groups = xbar::exact(pool, mau, owner, &bytes, &[], most)
            .ok_or_else(|| short(Column::ExactXbar, format!("{} key bytes", bytes.len())))?;
        let hashes = hash::ways(pool, mau, owner, &layout.ways.sizes)
            .ok_or_else(|| short(Column::HashBit, format!("{} ways", layout.ways.sizes.len())))?;
        ram::ways(pool, mau, owner, &layout.ways.sizes, layout.width, &hashes, &groups)
            .map_err(|column| short(column, format!("{} RAMs of match ways", layout.srams)))
    }

    /// Takes the TCAM that selects the partition of an algorithmic table, in a stage before its partitions. The
    /// partition's number is in the TCAM's indirection and passes to the next stage as action data.
    pub(crate) fn classifier(&self, pool: &mut Pool, demand: &Demand, entries: u32) -> Result<(), Shortage> {
        let mark = pool.mark();
        let depth = self.chip.mau.tcam_depth.max(1);
        let partition = match demand.lookup {
            Lookup::Atcam { partitions } => bits_for(partitions),
            _ => 0,
        };
        let capacity = entries.div_ceil(depth) * depth;
        let done =
            self.blocks(pool, demand, capacity, partition).and_then(|()| self.output(pool, demand.owner, 16));
        if done.is_err() {
            pool.roll_back(mark);
        }
        done
    }

    /// Takes the RAM columns in which a partition is searched; the partition's number is the address of all.
    fn atcam(&self, pool: &mut Pool, demand: &Demand, partitions: u32, entries: u32) -> Result<(), Shortage> {
        let (mau, owner) = (&self.chip.mau, demand.owner);
        let part =
            sizes::atcam(mau, demand, partitions, entries).map_err(|e| geometry_short(Column::Sram, e))?;
        let bytes: BTreeSet<_> = demand.key.keys().copied().collect();
        let most = part.width.max((bytes.len() as u32).div_ceil(mau.exact_xbar_group_bytes.max(1)));
        let groups = xbar::exact(pool, mau, owner, &bytes, &[], most)
            .ok_or_else(|| short(Column::ExactXbar, format!("{} key bytes", bytes.len())))?;
        let hash = hash::ways(pool, mau, owner, &[part.ways])
            .ok_or_else(|| short(Column::HashBit, "the address of a partition"))?;
        let hashes: Vec<_> = (0..part.ram_depth).filter_map(|_| hash.first().cloned()).collect();
        let sizes = vec![part.ways; part.ram_depth as usize];
        ram::ways(pool, mau, owner, &sizes, part.width, &hashes, &groups).map_err(|column| {
            short(column, format!("{} RAMs of partitions", part.ways * part.ram_depth * part.width))
        })
    }

    fn ternary(&self, pool: &mut Pool, demand: &Demand, capacity: u32) -> Result<(), Shortage> {
        self.blocks(pool, demand, capacity, demand.overhead_bits)
    }

    /// Takes TCAM blocks for `capacity` rows with `overhead` bits of indirection each.
    fn blocks(&self, pool: &mut Pool, demand: &Demand, capacity: u32, overhead: u32) -> Result<(), Shortage> {
        let (mau, owner) = (&self.chip.mau, demand.owner);
        let tables = pool.owners_of(Column::Tcam).len() as u32;
        if tables >= mau.ternary_tables {
            return Err(short(Column::Tcam, format!("more than {} ternary tables", mau.ternary_tables)));
        }
        let key = demand.ternary_bytes();
        // Lanes can require more blocks than the bytes do: a byte that is compared by range takes two places of one
        // lane.
        let stands = |width: &u32| xbar::ternary(&mut Pool::default(), mau, owner, &key, *width);
        let width = (sizes::ternary_width(demand)..=mau.ternary_xbar_groups).find(stands);
        let Some(width) = width.filter(|w| xbar::ternary(pool, mau, owner, &key, *w)) else {
            return Err(short(Column::TernaryXbar, format!("{} key bytes", key.len())));
        };
        let groups = capacity / mau.tcam_depth.max(1);
        if !ram::tcam(pool, mau, owner, groups, width) {
            return Err(short(Column::Tcam, count(u64::from(groups * width), "block", "blocks")));
        }
        let rams = geometry::tind_rams(mau, capacity.into(), overhead)
            .map_err(|e| geometry_short(Column::Sram, e))?;
        let rams = sizes::narrow(rams);
        ram::indirection(pool, mau, owner, rams)
            .map_err(|column| short(column, format!("{rams} RAMs of ternary indirection")))
    }

    fn selector(&self, pool: &mut Pool, demand: &Demand, profile: &ProfileDemand) -> Result<(), Shortage> {
        let (mau, owner) = (&self.chip.mau, demand.owner);
        let content = profile_content(profile);
        let Some(selector) = &profile.selector else { return Ok(()) };
        xbar::exact(pool, mau, owner, &selector.bytes, &[], mau.exact_xbar_groups).ok_or_else(|| {
            short(Column::ExactXbar, format!("{} bytes of selector input", selector.bytes.len()))
        })?;
        if pool.join(content, owner) {
            return Ok(());
        }
        let bits = (0..selector.bits as u16).collect();
        let array = ArrayRef::Selector(profile.profile);
        if !hash::alu(pool, mau, owner, (content, &Purpose::AluInput(array)), &bits) {
            return Err(short(
                Column::HashBit,
                format!("{} bits of one group for a selector", selector.bits),
            ));
        }
        if selector.word_bits > 0 {
            let bits = self.chip.hash.dist_bits;
            let wanted = Distributed { bits: selector.word_bits, what: None, purpose: Purpose::SelectorWord };
            hash::distribute(pool, mau, owner, bits, wanted)
                .map_err(|column| short(column, "the word choice of a selector"))?;
        }
        let data_rams = selector.words.div_ceil(mau.sram_depth.max(1));
        let what = Synthetic { alu: Column::MeterAlu, data_rams, most_alus: 1, content, array };
        ram::synthetic(pool, self.chip, owner, what)
            .map_err(|column| short(column, format!("a selector of {} and a spare bank", rams(data_rams))))
    }

    fn counters(&self, pool: &mut Pool, demand: &Demand, capacity: u32) -> Result<(), Shortage> {
        for counter in &demand.counters {
            let content = Content::Shared(counter.counter.index() as u32 * 2);
            if counter.size.is_some() && pool.join(content, demand.owner) {
                continue;
            }
            let data_rams = sizes::counter_rams(&self.chip.mau, counter, capacity);
            // Large counters are split in two halves (model: chip §4.5).
            let array = ArrayRef::Counter(counter.counter);
            let what = Synthetic { alu: Column::StatsAlu, data_rams, most_alus: 2, content, array };
            ram::synthetic(pool, self.chip, demand.owner, what).map_err(|column| {
                short(column, format!("a counter of {} and spare banks", rams(data_rams)))
            })?;
        }
        Ok(())
    }

    /// Takes RAMs and ALUs of registers, meters, low-pass filters and WRED.
    fn arrays(&self, pool: &mut Pool, demand: &Demand, capacity: u32) -> Result<(), Shortage> {
        let mau = &self.chip.mau;
        for array in &demand.arrays {
            let (content, cells) = (array_content(array), array.size.unwrap_or(capacity.max(1)));
            let first = pool.holder(content).filter(|_| array.size.is_some());
            self.operands(pool, demand.owner, (array, content), first)?;
            if first.is_some() {
                pool.join(content, demand.owner);
                continue;
            }
            let (need, most_alus) = match array.array {
                AluArray::Register(_, format) => {
                    (geometry::register_demand(self.chip, cells.into(), format), 1)
                }
                // Large meters are split over several ALUs (model: chip §4.5).
                AluArray::Meter(_, kind) => {
                    (geometry::meter_demand(self.chip, cells.into(), kind.is_coloured()), 2)
                }
            };
            let need = need.map_err(|e| geometry_short(Column::MapRam, e))?;
            let data_rams = sizes::narrow(need.data_rams);
            let name = array.name.as_str();
            let cells = array_of(array.array);
            let what = Synthetic { alu: Column::MeterAlu, data_rams, most_alus, content, array: cells };
            ram::synthetic(pool, self.chip, demand.owner, what)
                .map_err(|column| short(column, format!("{name} of {} and a spare bank", rams(data_rams))))?;
            let colours = sizes::narrow(need.map_rams - need.srams);
            if let AluArray::Meter(meter, _) = array.array
                && !ram::colours(pool, mau, demand.owner, content, (colours, meter))
            {
                return Err(short(Column::MapRam, format!("colours of {name}")));
            }
        }
        Ok(())
    }

    /// Brings the packet values to a meter ALU: as crossbar bytes at the positions that the ALU reads, else as hash
    /// bits. With `first`, the owner that shares the ALU, they come the same way.
    fn operands(
        &self,
        pool: &mut Pool,
        owner: Owner,
        (array, content): (&ArrayDemand, Content),
        first: Option<Owner>,
    ) -> Result<(), Shortage> {
        let (mau, need) = (&self.chip.mau, &array.operands);
        let hashed = first.is_some() && pool.carries(Column::HashBit, content);
        if need.bytes.is_empty() || !hashed && xbar::at_places(pool, mau, owner, &need.buses, first) {
            return Ok(());
        }
        let bytes = need.bytes.len();
        xbar::exact(pool, mau, owner, &need.bytes, &[], mau.exact_xbar_groups)
            .ok_or_else(|| short(Column::ExactXbar, format!("{bytes} bytes for {}", array.name)))?;
        let purpose = Purpose::AluInput(array_of(array.array));
        if hashed {
            return Ok(());
        }
        if need.hash_bits.is_empty() {
            return Err(short(
                Column::ExactXbar,
                format!("{bytes} bytes at their places for {}", array.name),
            ));
        }
        if hash::alu(pool, mau, owner, (content, &purpose), &need.hash_bits) {
            return Ok(());
        }
        Err(short(Column::HashBit, format!("{} bits of one group for {}", need.hash_bits.len(), array.name)))
    }
}

fn array_of(array: AluArray) -> ArrayRef {
    match array {
        AluArray::Register(register, _) => ArrayRef::Register(register),
        AluArray::Meter(meter, _) => ArrayRef::Meter(meter),
    }
}

/// Returns the content of an array's units.
fn array_content(array: &ArrayDemand) -> Content {
    Content::Shared(match array.array {
        AluArray::Register(r, _) => REGISTERS + r.index() as u32,
        AluArray::Meter(m, _) => METERS + m.index() as u32,
    })
}

/// Returns the content of the units of a profile's selector.
fn profile_content(profile: &ProfileDemand) -> Content {
    Content::Shared(profile.profile.index() as u32 * 4 + 1)
}

fn geometry_short(column: Column, error: GeometryError) -> Shortage {
    short(column, error.to_string())
}
