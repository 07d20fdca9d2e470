//! Needs of one node, before any place is chosen: key bytes, overhead, actions, hashes and arrays, as numbers of bits
//! and bytes (model: chip §3).

mod actions;
mod arrays;
mod entry;
mod operands;

use super::super::bits::{ByteRef, PhvView};
use super::super::data::Owner;
use super::super::deps::node_name;
use super::super::purpose::Computation;
pub(crate) use operands::OperandDemand;

use super::gateway::{self, GatewayDemand};
use super::sizes;
use sluice_asic::chip::ChipSpec;
use sluice_asic::geometry::CounterFormat;
use sluice_asic::phv::Container;
use sluice_asic::salu::Format;
use sluice_asic::select::{GroupShape, SelectorMode};
use sluice_ir::cfg::{Cfg, NodeKind, Var, table_actions};
use sluice_ir::rows;
use sluice_ir::verify::Diag;
use sluice_ir::{
    Action, Algorithmic, Counter, CounterData, Expr, Index, Loc, MatchKind, Meter, MeterKind, Profile,
    Program, Random, Register, Table, TableRules,
};
use std::collections::{BTreeMap, BTreeSet};

/// Kind of lookup by which a node finds its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// The node has no key.
    None,
    /// Cuckoo ways in SRAM.
    Exact,
    /// TCAM.
    Ternary,
    /// Algorithmic TCAM: partitions of SRAM.
    Atcam {
        /// Number of partitions.
        partitions: u32,
    },
}

/// Needs of an action.
#[derive(Clone, Debug)]
pub(crate) struct ActionDemand {
    /// The action.
    pub(crate) action: Action,
    /// Containers that it writes, each with an instruction of its ALU.
    pub(crate) writes: BTreeSet<Container>,
    /// Containers that take an operand from action data, with the operand's bits.
    pub(crate) data: BTreeMap<Container, u32>,
    /// Containers that take a result of a hash, a meter ALU or a random number generator.
    pub(crate) hashed: BTreeSet<Container>,
    /// Containers that take a mask in addition to their operand.
    pub(crate) masked: BTreeSet<Container>,
}

impl ActionDemand {
    /// Returns the needs of an action that does nothing.
    fn new(action: Action) -> ActionDemand {
        ActionDemand {
            action,
            writes: BTreeSet::new(),
            data: BTreeMap::new(),
            hashed: BTreeSet::new(),
            masked: BTreeSet::new(),
        }
    }
}

/// A hash computation for actions or for the index of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HashDemand {
    /// Bytes read.
    pub(crate) bytes: BTreeSet<ByteRef>,
    /// Output bits.
    pub(crate) bits: u32,
    /// The computation.
    pub(crate) what: Computation,
    /// The computation in words, for errors.
    pub(crate) name: String,
}

/// Counter that the node updates.
#[derive(Clone, Debug)]
pub(crate) struct CounterDemand {
    /// The counter.
    pub(crate) counter: Counter,
    /// Format of its words.
    pub(crate) format: CounterFormat,
    /// Cells; `None` if there is one per entry.
    pub(crate) size: Option<u32>,
}

/// Array at a meter ALU, other than a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AluArray {
    /// A register with elements of this format.
    Register(Register, Format),
    /// A meter, filter or WRED.
    Meter(Meter, MeterKind),
}

/// Array at a meter ALU that the node accesses.
#[derive(Clone, Debug)]
pub(crate) struct ArrayDemand {
    /// The array.
    pub(crate) array: AluArray,
    /// Its kind and name, as in ``register `seen` ``.
    pub(crate) name: String,
    /// Cells; `None` if there is one per entry.
    pub(crate) size: Option<u32>,
    /// Ways in which packet values reach its ALU.
    pub(crate) operands: OperandDemand,
    /// Indices by which the node accesses it.
    indices: Vec<Index>,
}

/// The selector of a profile.
#[derive(Clone, Debug)]
pub(crate) struct SelectorDemand {
    /// Its hash input.
    pub(crate) bytes: BTreeSet<ByteRef>,
    /// Hash bits that choose a member in a word.
    pub(crate) bits: u32,
    /// Hash bits that choose a word; 0 if groups have one.
    pub(crate) word_bits: u32,
    /// RAM words of all groups.
    pub(crate) words: u32,
}

/// The action profile of a table.
#[derive(Clone, Debug)]
pub(crate) struct ProfileDemand {
    /// The profile.
    pub(crate) profile: Profile,
    /// Members that it must hold.
    pub(crate) members: u32,
    /// Selector of its groups; `None` if it has no groups.
    pub(crate) selector: Option<SelectorDemand>,
}

/// Needs of a node.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    /// The node.
    pub(crate) owner: Owner,
    /// Its name in reports.
    pub(crate) name: String,
    /// Source location.
    pub(crate) at: Loc,
    /// Kind of lookup.
    pub(crate) lookup: Lookup,
    /// Key bytes, each with a mask of the compared bits; empty for gateways.
    pub(crate) key: BTreeMap<ByteRef, u8>,
    /// Key bytes that are compared by range, each with a mask of these bits.
    pub(crate) ranged: BTreeMap<ByteRef, u8>,
    /// Key bits.
    pub(crate) key_bits: u32,
    /// Entries that it must hold; with range keys, TCAM rows.
    pub(crate) size: u32,
    /// Bits in a match or ternary-indirection word in addition to the key, immediate data included.
    pub(crate) overhead_bits: u32,
    /// Action-data RAM bytes per entry or member; 0 if the data is immediate or there is none.
    pub(crate) data_bytes: u32,
    /// Action-data bits per entry.
    pub(crate) data_bits: u32,
    /// Needs of a condition; `None` for tables and actions.
    pub(crate) gateway: Option<GatewayDemand>,
    /// Actions in the order in which they are named.
    pub(crate) actions: Vec<ActionDemand>,
    /// Hashes that go to the hash distribution units.
    pub(crate) hashes: Vec<HashDemand>,
    /// Counters.
    pub(crate) counters: Vec<CounterDemand>,
    /// Registers, meters, filters, WRED.
    pub(crate) arrays: Vec<ArrayDemand>,
    /// Random number generators from which it draws, with their bits.
    pub(crate) randoms: BTreeMap<Random, u32>,
    /// Action profile.
    pub(crate) profile: Option<ProfileDemand>,
    /// Entries of the TCAM that finds the partition, in a stage before the partitions.
    pub(crate) classifier: Option<u32>,
    /// Bits of map RAM per entry for the entry's age; `None` if entries have no age.
    pub(crate) idle_bits: Option<u32>,
    /// Stage to which the author pinned it.
    pub(crate) pin: Option<u8>,
    /// What the author demands of its memory and order.
    pub(crate) rules: TableRules,
}

impl Demand {
    /// Returns true if a table may be split over stages: it has a key, and no action profile, register or array that
    /// all entries share.
    pub(crate) fn splittable(&self) -> bool {
        self.lookup != Lookup::None
            && self.profile.is_none()
            && self.arrays.iter().all(|a| a.size.is_none() && matches!(a.array, AluArray::Meter(..)))
            && self.counters.iter().all(|c| c.size.is_none())
    }

    /// Returns the arrays with an index of their own that the actions access, in words. They are in one stage, and so is
    /// the node.
    pub(crate) fn shared_arrays(&self) -> Vec<&str> {
        self.arrays.iter().filter(|a| a.size.is_some()).map(|a| a.name.as_str()).collect()
    }

    /// Returns the bytes that the key takes in TCAM, each with a mask of its bits. Each nibble that is compared by
    /// range takes a separate byte (model: chip §3.2).
    pub(crate) fn ternary_bytes(&self) -> Vec<(ByteRef, u8)> {
        let mut bytes: Vec<(ByteRef, u8)> = Vec::new();
        for (&byte, &mask) in &self.key {
            match self.ranged.get(&byte) {
                None => bytes.push((byte, mask)),
                // The set of allowed values of a nibble fills a whole TCAM byte.
                Some(_) => {
                    bytes.extend([0x0f, 0xf0].into_iter().filter(|n| mask & n != 0).map(|_| (byte, 0xff)))
                }
            }
        }
        bytes
    }

    /// Adds `bits` bits of a computation that reads these bytes, or widens the equal computation.
    fn compute(&mut self, program: &Program, what: Computation, bytes: BTreeSet<ByteRef>, bits: u32) {
        if bytes.is_empty() {
            return;
        }
        match self.hashes.iter_mut().find(|h| h.what == what) {
            Some(known) => {
                known.bits = known.bits.max(bits);
                known.bytes.extend(bytes);
            }
            None => {
                let name = what.text(program);
                self.hashes.push(HashDemand { bytes, bits, what, name });
            }
        }
    }

    /// Computes the needs of a node.
    ///
    /// # Errors
    /// If no stage of the chip can fulfil them.
    pub(crate) fn of(
        program: &Program,
        chip: &ChipSpec,
        phv: &PhvView<'_>,
        cfg: &Cfg,
        owner: Owner,
    ) -> Result<Demand, Diag> {
        let data = &cfg.nodes[owner.node];
        let mut demand = Demand {
            owner,
            name: node_name(program, cfg, owner.node),
            at: data.loc,
            lookup: Lookup::None,
            key: BTreeMap::new(),
            ranged: BTreeMap::new(),
            key_bits: 0,
            size: 0,
            overhead_bits: 0,
            data_bytes: 0,
            data_bits: 0,
            gateway: None,
            actions: Vec::new(),
            hashes: Vec::new(),
            counters: Vec::new(),
            arrays: Vec::new(),
            randoms: BTreeMap::new(),
            profile: None,
            classifier: None,
            idle_bits: None,
            pin: None,
            rules: TableRules::default(),
        };
        let context = Context { program, chip, phv, cfg };
        match &data.kind {
            NodeKind::Gateway(cond) => {
                demand.gateway = Some(gateway::demand(program, &chip.mau, phv, cond, data.loc)?);
            }
            NodeKind::Table(table) => context.table(*table, &mut demand)?,
            NodeKind::Action(action) => context.actions(&[*action], &mut demand)?,
        }
        Ok(demand)
    }
}

/// Inputs for the needs of a node.
struct Context<'a> {
    program: &'a Program,
    chip: &'a ChipSpec,
    phv: &'a PhvView<'a>,
    cfg: &'a Cfg,
}

impl Context<'_> {
    fn table(&self, table: Table, demand: &mut Demand) -> Result<(), Diag> {
        let data = &self.program.tables[table];
        demand.pin = data.pin;
        demand.rules = data.rules.clone();
        demand.idle_bits = data.idle.map(|idle| idle.bits.into());
        demand.lookup = match data.keys.iter().map(|k| k.kind).max() {
            None => Lookup::None,
            Some(MatchKind::Exact) => Lookup::Exact,
            Some(MatchKind::Ternary | MatchKind::Lpm | MatchKind::Range) => Lookup::Ternary,
        };
        match data.algorithmic {
            Some(Algorithmic::Alpm { partitions, subtrees }) => {
                demand.lookup = Lookup::Atcam { partitions };
                demand.classifier = Some(partitions.saturating_mul(subtrees));
            }
            Some(Algorithmic::Atcam { partitions, .. }) => demand.lookup = Lookup::Atcam { partitions },
            None => {}
        }
        demand.key = self.phv.key_bytes(self.program, &data.keys);
        let ranged = data.keys.iter().filter(|k| k.kind == MatchKind::Range);
        demand.ranged = self.phv.key_bytes(self.program, ranged);
        demand.key_bits = match demand.lookup {
            Lookup::Atcam { .. } => rows::atcam_key_bits(self.program, data),
            _ => demand.key.values().map(|mask| mask.count_ones()).sum(),
        };
        if demand.lookup != Lookup::None {
            demand.size = sizes::narrow(rows::planned(self.program, data));
        }
        demand.profile = data.profile.map(|p| self.profile(p)).transpose()?;
        self.actions(&table_actions(self.program, table), demand)?;
        if let Some(counter) = self.program.direct_counter(table) {
            demand.counters.push(CounterDemand {
                counter,
                format: format(&self.program.counters[counter]),
                size: None,
            });
        }
        demand.overhead_bits = self.overhead(table, demand);
        Ok(())
    }

    fn profile(&self, profile: Profile) -> Result<ProfileDemand, Diag> {
        let data = &self.program.profiles[profile];
        let selector = data.selector.as_ref().map(|s| {
            let words = GroupShape::words_for(s.max_group_size.max(1));
            // No chip has plain modulo. It is counted as the chip's nearest mode, and the report says so.
            let bits = s.mode.hash_bits(false).or(SelectorMode::Fair.hash_bits(false)).unwrap_or(0);
            if words > self.chip.hash.selector_max_words {
                let max = self.chip.hash.selector_max_words * self.chip.hash.selector_members_per_word;
                return Err(Diag::error(
                    data.loc,
                    format!(
                        "profile `{}` has groups of {} members; a selector reaches {max}",
                        data.name, s.max_group_size
                    ),
                )
                .help("lower max_group_size"));
            }
            let hash = &self.program.hashes[s.hash];
            Ok(SelectorDemand {
                bytes: self.input_bytes(&hash.inputs),
                bits,
                word_bits: if words > 1 {
                    self.chip.hash.selector_modulus_bits + self.chip.hash.selector_offset_bits
                } else {
                    0
                },
                words: words.saturating_mul(s.groups.max(1)),
            })
        });
        Ok(ProfileDemand { profile, members: data.size.max(1), selector: selector.transpose()? })
    }

    fn input_bytes(&self, inputs: &[Expr]) -> BTreeSet<ByteRef> {
        let mut vars = Vec::new();
        for input in inputs {
            input.fields(&mut |f| vars.push(Var::Field(f)));
        }
        self.phv.bytes(vars).into_keys().collect()
    }
}

fn format(data: &CounterData) -> CounterFormat {
    data.cell.format_for(data.kind)
}
