//! One part of one node into one stage: everything it needs, or the column that has nothing left.
//!
//! The order in which resources are taken and the smaller choices (gateways, instruction words, action data bus).

use super::super::bits::{PhvView, bits_for};
use super::super::data::Owner;
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

/// What a stage has no more of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// The resource.
    pub(crate) column: Column,
    /// What was wanted.
    pub(crate) wanted: String,
}

fn short(column: Column, wanted: impl Into<String>) -> Shortage {
    Shortage { column, wanted: wanted.into() }
}

/// First content numbers of registers and meters; counters and profiles are numbered from 0.
const REGISTERS: u32 = 1 << 30;
const METERS: u32 = 1 << 31;

/// Random bits of a stage (model: chip §1.2).
pub(crate) const RANDOM_BITS: u32 = 64;

/// What fitting works on.
pub(crate) struct Fit<'a> {
    /// The chip.
    pub(crate) chip: &'a ChipSpec,
    /// Where the fields are.
    pub(crate) view: &'a PhvView<'a>,
    /// Containers that each instruction word in use writes; [`Content::Instruction`] points here.
    pub(crate) instructions: Vec<BTreeSet<Container>>,
    /// Computations that nodes may share, by gress and name; [`Content::Hashed`] points here.
    pub(crate) computations: Vec<(Gress, String)>,
    /// Whether nodes share them.
    pub(crate) shared_hashes: bool,
    /// Generators of random numbers that each node draws from, with their bits.
    pub(crate) randoms: BTreeMap<Owner, BTreeMap<Random, u32>>,
}

impl Fit<'_> {
    /// Takes all that `entries` entries of the node need, or nothing. Returns the entries that the part
    /// can hold.
    pub(crate) fn part(&mut self, pool: &mut Pool, demand: &Demand, entries: u32) -> Result<u32, Shortage> {
        let mark = pool.mark();
        let done = self.everything(pool, demand, entries);
        if done.is_err() {
            pool.roll_back(mark);
        }
        done
    }

    fn everything(&mut self, pool: &mut Pool, demand: &Demand, entries: u32) -> Result<u32, Shortage> {
        if let Some(need) = &demand.gateway {
            self.gateway(pool, demand.owner, need, "condition")?;
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
            xbar::exact(pool, (&self.chip.mau, self.view), demand.owner, &h.bytes, &[], most)
                .ok_or_else(|| short(Column::ExactXbar, format!("{} bytes of hash input", h.bytes.len())))?;
            let what = self.shared_hashes.then(|| self.computation(demand.owner.gress, &h.name));
            let wanted = Distributed { bits: h.bits, what, purpose: &h.name };
            hash::distribute(pool, &self.chip.mau, demand.owner, self.chip.hash.dist_bits, wanted)
                .map_err(|column| short(column, format!("{} bits of hash `{}`", h.bits, h.name)))?;
        }
        self.instructions(pool, demand)?;
        self.action_bus(pool, demand)?;
        Ok(capacity)
    }

    /// The number of a computation.
    fn computation(&mut self, gress: Gress, name: &str) -> u32 {
        let known = self.computations.iter().position(|(g, n)| *g == gress && n == name);
        known.unwrap_or_else(|| {
            self.computations.push((gress, name.to_owned()));
            self.computations.len() - 1
        }) as u32
    }

    /// Entries that a part made for `entries` holds.
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

    /// A gateway with its bytes, hash bits and search bus.
    pub(crate) fn gateway(
        &self,
        pool: &mut Pool,
        owner: Owner,
        need: &GatewayDemand,
        purpose: &str,
    ) -> Result<(), Shortage> {
        let mau = &self.chip.mau;
        let groups = xbar::exact(pool, (mau, self.view), owner, &need.hashed, &need.fixed, 1)
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
        // A bus that carries the same already comes before a new one.
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
        pool.take((Column::ExactSearchBus, row, b), owner, bus, &ram::bus_name(bus));
        Ok(())
    }

    /// A table without key is a hash-action table whose result is fixed: a result bus (model: chip §3.6).
    fn keyless(&self, pool: &mut Pool, demand: &Demand) -> Result<(), Shortage> {
        let mau = &self.chip.mau;
        let mut buses = (0..mau.sram_rows as u16)
            .rev()
            .flat_map(|r| (0..mau.result_buses_per_row as u16).rev().map(move |b| (r, b)));
        let Some((row, bus)) = buses.find(|&(r, b)| pool.is_free(Column::ExactResultBus, r, b)) else {
            return Err(short(Column::ExactResultBus, "a result bus"));
        };
        pool.take((Column::ExactResultBus, row, bus), demand.owner, Content::Own, "fixed result");
        Ok(())
    }

    fn exact(&self, pool: &mut Pool, demand: &Demand, entries: u32) -> Result<(), Shortage> {
        let (mau, owner) = (&self.chip.mau, demand.owner);
        let layout = sizes::exact(mau, demand, entries).map_err(|e| geometry_short(Column::Sram, e))?;
        let bytes: BTreeSet<_> = demand.key.keys().copied().collect();
        let most = layout.width.max((bytes.len() as u32).div_ceil(mau.exact_xbar_group_bytes.max(1)));
        let groups = xbar::exact(pool, (mau, self.view), owner, &bytes, &[], most)
            .ok_or_else(|| short(Column::ExactXbar, format!("{} key bytes", bytes.len())))?;
        let hashes = hash::ways(pool, mau, owner, &layout.ways.sizes)
            .ok_or_else(|| short(Column::HashBit, format!("{} ways", layout.ways.sizes.len())))?;
        ram::ways(pool, mau, owner, &layout.ways.sizes, layout.width, &hashes, &groups)
            .map_err(|column| short(column, format!("{} RAMs of match ways", layout.srams)))
    }

    /// The TCAM that finds the partition of an algorithmic table, in a stage before its partitions. The partition's
    /// number stands in its indirection and goes to the next stage as action data.
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

    /// The columns of RAM that a partition is searched in, all addressed by the partition.
    fn atcam(&self, pool: &mut Pool, demand: &Demand, partitions: u32, entries: u32) -> Result<(), Shortage> {
        let (mau, owner) = (&self.chip.mau, demand.owner);
        let part =
            sizes::atcam(mau, demand, partitions, entries).map_err(|e| geometry_short(Column::Sram, e))?;
        let bytes: BTreeSet<_> = demand.key.keys().copied().collect();
        let most = part.width.max((bytes.len() as u32).div_ceil(mau.exact_xbar_group_bytes.max(1)));
        let groups = xbar::exact(pool, (mau, self.view), owner, &bytes, &[], most)
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

    /// TCAM blocks for `capacity` rows with `overhead` bits of indirection each.
    fn blocks(&self, pool: &mut Pool, demand: &Demand, capacity: u32, overhead: u32) -> Result<(), Shortage> {
        let (mau, owner) = (&self.chip.mau, demand.owner);
        let tables = pool.owners_of(Column::Tcam).len() as u32;
        if tables >= mau.ternary_tables {
            return Err(short(Column::Tcam, format!("more than {} ternary tables", mau.ternary_tables)));
        }
        let key = demand.ternary_bytes();
        // Lanes can ask for more blocks than bytes do: a byte compared by range stands at two places of one lane.
        let stands = |width: &u32| xbar::ternary(&mut Pool::default(), (mau, self.view), owner, &key, *width);
        let width = (sizes::ternary_width(demand)..=mau.ternary_xbar_groups).find(stands);
        let Some(width) = width.filter(|w| xbar::ternary(pool, (mau, self.view), owner, &key, *w)) else {
            return Err(short(Column::TernaryXbar, format!("{} key bytes", key.len())));
        };
        let groups = capacity / mau.tcam_depth.max(1);
        if !ram::tcam(pool, mau, owner, groups, width) {
            return Err(short(Column::Tcam, format!("{} blocks", groups * width)));
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
        xbar::exact(pool, (mau, self.view), owner, &selector.bytes, &[], mau.exact_xbar_groups).ok_or_else(
            || short(Column::ExactXbar, format!("{} bytes of selector input", selector.bytes.len())),
        )?;
        if pool.join(content, owner) {
            return Ok(());
        }
        let bits = (0..selector.bits as u16).collect();
        if !hash::alu(pool, mau, owner, (content, "selector"), &bits) {
            return Err(short(
                Column::HashBit,
                format!("{} bits of one group for a selector", selector.bits),
            ));
        }
        if selector.word_bits > 0 {
            let bits = self.chip.hash.dist_bits;
            let wanted = Distributed { bits: selector.word_bits, what: None, purpose: "selector word" };
            hash::distribute(pool, mau, owner, bits, wanted)
                .map_err(|column| short(column, "the word choice of a selector"))?;
        }
        let data_rams = selector.words.div_ceil(mau.sram_depth.max(1));
        let what = Synthetic { alu: Column::MeterAlu, data_rams, most_alus: 1, content, purpose: "selector" };
        ram::synthetic(pool, self.chip, owner, what)
            .map_err(|column| short(column, format!("a selector of {data_rams} RAMs and a spare bank")))
    }

    fn counters(&self, pool: &mut Pool, demand: &Demand, capacity: u32) -> Result<(), Shortage> {
        for counter in &demand.counters {
            let content = Content::Shared(counter.counter.index() as u32 * 2);
            if counter.size.is_some() && pool.join(content, demand.owner) {
                continue;
            }
            let data_rams = sizes::counter_rams(&self.chip.mau, counter, capacity);
            // Large counters are split in two halves (model: chip §4.5).
            let purpose = format!("counter `{}`", counter.name);
            let what =
                Synthetic { alu: Column::StatsAlu, data_rams, most_alus: 2, content, purpose: &purpose };
            ram::synthetic(pool, self.chip, demand.owner, what)
                .map_err(|column| short(column, format!("a counter of {data_rams} RAMs and spare banks")))?;
        }
        Ok(())
    }

    /// Registers, meters, filters and WRED with their ALUs.
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
            let purpose = array.purpose.as_str();
            let what = Synthetic { alu: Column::MeterAlu, data_rams, most_alus, content, purpose };
            ram::synthetic(pool, self.chip, demand.owner, what)
                .map_err(|column| short(column, format!("{purpose} of {data_rams} RAMs and a spare bank")))?;
            let colours = sizes::narrow(need.map_rams - need.srams);
            if !ram::colours(pool, mau, demand.owner, content, (colours, purpose)) {
                return Err(short(Column::MapRam, format!("colours of {purpose}")));
            }
        }
        Ok(())
    }

    /// The packet values of a meter ALU: bytes at the places that it takes them from, else hash bits; as `first` has them.
    fn operands(
        &self,
        pool: &mut Pool,
        owner: Owner,
        (array, content): (&ArrayDemand, Content),
        first: Option<Owner>,
    ) -> Result<(), Shortage> {
        let (chip, need) = ((&self.chip.mau, self.view), &array.operands);
        let hashed = first.is_some() && pool.carries(Column::HashBit, content);
        if need.bytes.is_empty() || !hashed && xbar::at_places(pool, chip, owner, &need.buses, first) {
            return Ok(());
        }
        let bytes = need.bytes.len();
        xbar::exact(pool, chip, owner, &need.bytes, &[], chip.0.exact_xbar_groups)
            .ok_or_else(|| short(Column::ExactXbar, format!("{bytes} bytes for {}", array.purpose)))?;
        let purpose = format!("{} operand", array.purpose);
        if hashed {
            return Ok(());
        }
        if need.hash_bits.is_empty() {
            return Err(short(
                Column::ExactXbar,
                format!("{bytes} bytes at their places for {}", array.purpose),
            ));
        }
        if hash::alu(pool, chip.0, owner, (content, &purpose), &need.hash_bits) {
            return Ok(());
        }
        Err(short(
            Column::HashBit,
            format!("{} bits of one group for {}", need.hash_bits.len(), array.purpose),
        ))
    }

    /// A stage has one generator of so many random bits (model: chip §1.2).
    fn randoms(&self, pool: &Pool, demand: &Demand) -> Result<(), Shortage> {
        let mut all = demand.randoms.clone();
        for owner in pool.owners_of(Column::ActionBusBytes) {
            all.extend(self.randoms.get(&owner).into_iter().flatten());
        }
        if !demand.randoms.is_empty() && all.values().sum::<u32>() > RANDOM_BITS {
            return Err(short(Column::ActionBusBytes, format!("more than {RANDOM_BITS} random bits")));
        }
        Ok(())
    }

    fn action_data(&self, pool: &mut Pool, demand: &Demand, capacity: u32) -> Result<(), Shortage> {
        let content = demand
            .profile
            .as_ref()
            .map_or(Content::Own, |p| Content::Shared(p.profile.index() as u32 * 4 + 3));
        if demand.profile.is_some() && pool.join(content, demand.owner) {
            return Ok(());
        }
        let rams = sizes::action_rams(&self.chip.mau, demand, capacity)
            .map_err(|e| geometry_short(Column::Sram, e))?;
        ram::action_data(pool, &self.chip.mau, demand.owner, rams, content)
            .map_err(|column| short(column, format!("{rams} RAMs of action data")))
    }

    /// One instruction word per action that writes anything. Two actions share a row, in different colours,
    /// if they are of one gress and write different containers.
    fn instructions(&mut self, pool: &mut Pool, demand: &Demand) -> Result<(), Shortage> {
        for action in demand.actions.iter().filter(|a| !a.writes.is_empty()) {
            let (rows, colours) = (self.chip.mau.imem_rows as u16, self.chip.mau.imem_colours as u16);
            let slots = (0..rows).flat_map(|r| (0..colours).map(move |c| (r, c)));
            let mut free = slots.filter(|&(r, c)| pool.is_free(Column::Vliw, r, c));
            let found = free.find(|&(r, _)| {
                (0..colours).all(|c| match pool.content(Column::Vliw, r, c) {
                    Some(Content::Instruction(i)) => {
                        let other = self.instructions.get(i as usize);
                        pool.owner_of(Column::Vliw, r, c).is_some_and(|o| o.gress == demand.owner.gress)
                            && other.is_some_and(|w| w.is_disjoint(&action.writes))
                    }
                    _ => true,
                })
            });
            let Some((row, colour)) = found else {
                return Err(short(Column::Vliw, format!("{} instructions", demand.actions.len())));
            };
            let content = Content::Instruction(self.instructions.len() as u32);
            self.instructions.push(action.writes.clone());
            pool.take((Column::Vliw, row, colour), demand.owner, content, &format!("action {}", action.name));
        }
        Ok(())
    }

    /// Bus outputs for operands from entries and hashes. The actions of a node exclude each other, so they
    /// use the same outputs. Output `k` of a size reads the bus bytes from `k` times the size.
    fn action_bus(&self, pool: &mut Pool, demand: &Demand) -> Result<(), Shortage> {
        let mut most: BTreeMap<u16, usize> = BTreeMap::new();
        for action in &demand.actions {
            let fed: BTreeSet<Container> = action.data.keys().chain(&action.hashed).copied().collect();
            for size in [8, 16, 32] {
                let words = fed.iter().chain(&action.masked);
                let count = words.filter(|&&c| self.view.width(c) == size).count();
                let slot = most.entry(size).or_default();
                *slot = (*slot).max(count);
            }
        }
        for (size, count) in most {
            for _ in 0..count {
                self.output(pool, demand.owner, size)?;
            }
        }
        Ok(())
    }

    fn output(&self, pool: &mut Pool, owner: Owner, size: u16) -> Result<(), Shortage> {
        let mau = &self.chip.mau;
        let column = match size {
            8 => Column::Slots8,
            16 => Column::Slots16,
            _ => Column::Slots32,
        };
        let bytes = size / 8;
        let outputs = mau.action_slots_per_size as u16;
        let fits = |k: u16| {
            (k + 1) * bytes <= mau.action_bus_bytes as u16
                && pool.is_free(column, k, 0)
                && (k * bytes..(k + 1) * bytes).all(|b| pool.is_free(Column::ActionBusBytes, b, 0))
        };
        // Bytes from the front, wider outputs from the back, so that they do not fragment each other.
        let found =
            if bytes == 1 { (0..outputs).find(|&k| fits(k)) } else { (0..outputs).rev().find(|&k| fits(k)) };
        let Some(k) = found else {
            let all = (0..outputs).all(|k| !pool.is_free(column, k, 0));
            return Err(short(
                if all { column } else { Column::ActionBusBytes },
                format!("a {size}-bit action slot"),
            ));
        };
        pool.take((column, k, 0), owner, Content::Own, "operand");
        for b in k * bytes..(k + 1) * bytes {
            pool.take((Column::ActionBusBytes, b, 0), owner, Content::Own, "operand");
        }
        Ok(())
    }
}

/// What the units of an array carry.
fn array_content(array: &ArrayDemand) -> Content {
    Content::Shared(match array.array {
        AluArray::Register(r, _) => REGISTERS + r.index() as u32,
        AluArray::Meter(m, _) => METERS + m.index() as u32,
    })
}

/// What the units of a profile's selector carry.
fn profile_content(profile: &ProfileDemand) -> Content {
    Content::Shared(profile.profile.index() as u32 * 4 + 1)
}

fn geometry_short(column: Column, error: GeometryError) -> Shortage {
    short(column, error.to_string())
}
