//! Fits the actions of a node into a stage: action data RAMs, instruction words, and outputs of the action data bus.

use super::super::demand::Demand;
use super::super::pool::{Content, Pool};
use super::super::{ram, sizes};
use super::{Fit, RANDOM_BITS, Shortage, geometry_short, short};
use crate::data::Owner;
use crate::purpose::Purpose;
use sluice_asic::chip::Column;
use sluice_asic::phv::Container;
use sluice_ir::entity::Entity;
use std::collections::{BTreeMap, BTreeSet};

impl Fit<'_> {
    /// Checks that the stage's random number generator has enough bits (model: chip §1.2).
    pub(super) fn randoms(&self, pool: &Pool, demand: &Demand) -> Result<(), Shortage> {
        let mut all = demand.randoms.clone();
        for owner in pool.owners_of(Column::ActionBusBytes) {
            all.extend(self.randoms.get(&owner).into_iter().flatten());
        }
        if !demand.randoms.is_empty() && all.values().sum::<u32>() > RANDOM_BITS {
            return Err(short(Column::ActionBusBytes, format!("more than {RANDOM_BITS} random bits")));
        }
        Ok(())
    }

    /// Takes the RAMs for action data of `capacity` entries.
    pub(super) fn action_data(
        &self,
        pool: &mut Pool,
        demand: &Demand,
        capacity: u32,
    ) -> Result<(), Shortage> {
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

    /// Takes one instruction word for each action that writes a container. Two actions share a row, in different colours, if
    /// they belong to one gress and write different containers.
    pub(super) fn instructions(&mut self, pool: &mut Pool, demand: &Demand) -> Result<(), Shortage> {
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
            pool.take(
                (Column::Vliw, row, colour),
                demand.owner,
                content,
                Purpose::Instruction(action.action),
            );
        }
        Ok(())
    }

    /// Takes outputs of the action data bus for operands from entries and hashes. All actions of a node use the same outputs,
    /// because only one runs for a packet. Output `k` of a size reads the bus bytes from `k` times the size on.
    pub(super) fn action_bus(&self, pool: &mut Pool, demand: &Demand) -> Result<(), Shortage> {
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

    /// Takes one output of `size` bits and its bus bytes.
    pub(super) fn output(&self, pool: &mut Pool, owner: Owner, size: u16) -> Result<(), Shortage> {
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
        pool.take((column, k, 0), owner, Content::Own, Purpose::ActionBus);
        for b in k * bytes..(k + 1) * bytes {
            pool.take((Column::ActionBusBytes, b, 0), owner, Content::Own, Purpose::ActionBus);
        }
        Ok(())
    }
}
