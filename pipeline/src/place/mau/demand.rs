//! What one node needs of a stage, before any place is chosen.
//!
//! What lives here: key bytes, overhead, actions, hashes and counters of a node as numbers of bits and
//! bytes (facts: asic §3). What may not: which units of a stage it gets, and how many entries of it go there.

use super::super::bits::{self, ByteRef, PhvView, bits_for};
use super::super::data::Owner;
use super::super::deps::node_name;
use super::gateway::{self, GatewayDemand};
use super::sizes;
use crate::flow::{Flow, Node, NodeKind, Outcome, Var, table_actions};
use crate::ir::{
    Action, Algorithmic, Counter, CounterData, CounterHome, Expr, Hash, Index, Loc, MatchKind, Meter,
    MeterAccess, MeterKind, Operand, PrimitiveKind, Profile, Program, Random, Register, RegisterAccess,
    Table,
};
use crate::rows;
use crate::salu;
use crate::verify::Diag;
use sluice_asic::alu::AluClass;
use sluice_asic::chip::ChipSpec;
use sluice_asic::geometry::CounterFormat;
use sluice_asic::phv::Container;
use sluice_asic::salu::Format;
use sluice_asic::select::{GroupShape, SelectorMode};
use std::collections::{BTreeMap, BTreeSet};

/// How a node finds its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// It has no key.
    None,
    /// Cuckoo ways in SRAM.
    Exact,
    /// TCAM.
    Ternary,
    /// Algorithmic TCAM: partitions of SRAM.
    Atcam {
        /// Their number.
        partitions: u32,
    },
}

/// An action as the stage sees it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActionDemand {
    /// Its name.
    pub(crate) name: String,
    /// Containers that it writes: the ALUs with an instruction.
    pub(crate) writes: BTreeSet<Container>,
    /// Containers that take an operand from the entry, with the operand's bits.
    pub(crate) data: BTreeMap<Container, u32>,
    /// Containers that take a result of a hash or of a stateful ALU.
    pub(crate) hashed: BTreeSet<Container>,
    /// Containers that take a mask beside their operand.
    pub(crate) masked: BTreeSet<Container>,
}

/// A hash computation for actions or for the index of an array. Nodes of one gress and stage share the bits of
/// computations of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HashDemand {
    /// Bytes read.
    pub(crate) bytes: BTreeSet<ByteRef>,
    /// Output bits.
    pub(crate) bits: u32,
    /// What is computed: the name of a hash, or `value` and the value.
    pub(crate) name: String,
}

/// A counter that the node counts in.
#[derive(Clone, Debug)]
pub(crate) struct CounterDemand {
    /// Its name.
    pub(crate) name: String,
    /// The counter.
    pub(crate) counter: Counter,
    /// Its words.
    pub(crate) format: CounterFormat,
    /// Cells; `None` if there is one per entry.
    pub(crate) size: Option<u32>,
}

/// What stands behind a meter ALU beside selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AluArray {
    /// A register with elements of this format.
    Register(Register, Format),
    /// A meter, filter or WRED.
    Meter(Meter, MeterKind),
}

/// An array behind a meter ALU that the node accesses.
#[derive(Clone, Debug)]
pub(crate) struct ArrayDemand {
    /// The array.
    pub(crate) array: AluArray,
    /// What its units are for: `register `seen``.
    pub(crate) purpose: String,
    /// Cells; `None` if there is one per entry.
    pub(crate) size: Option<u32>,
    /// Bytes of the packet values that its ALU reads.
    pub(crate) bytes: BTreeSet<ByteRef>,
    /// Indices accessed by.
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
    /// How groups choose.
    pub(crate) selector: Option<SelectorDemand>,
}

/// What a node needs.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    /// The node.
    pub(crate) owner: Owner,
    /// Its name in reports.
    pub(crate) name: String,
    /// Where the author wrote it.
    pub(crate) at: Loc,
    /// How it finds its entry.
    pub(crate) lookup: Lookup,
    /// Key bytes with the bits compared; for gateways empty.
    pub(crate) key: BTreeMap<ByteRef, u8>,
    /// Those of the key bytes that are compared by range.
    pub(crate) ranged: BTreeMap<ByteRef, u8>,
    /// Key bits.
    pub(crate) key_bits: u32,
    /// Entries that it must hold; with range keys, TCAM rows.
    pub(crate) size: u32,
    /// Bits beside the key in a match or ternary-indirection word, immediate data included.
    pub(crate) overhead_bits: u32,
    /// Action-data RAM bytes per entry or member; 0 if the data is immediate or there is none.
    pub(crate) data_bytes: u32,
    /// Action-data bits per entry.
    pub(crate) data_bits: u32,
    /// Set for conditions.
    pub(crate) gateway: Option<GatewayDemand>,
    /// Actions in the order in which they are named.
    pub(crate) actions: Vec<ActionDemand>,
    /// Hashes that go to the hash distribution units.
    pub(crate) hashes: Vec<HashDemand>,
    /// Counters.
    pub(crate) counters: Vec<CounterDemand>,
    /// Registers, meters, filters, WRED.
    pub(crate) arrays: Vec<ArrayDemand>,
    /// Bits of every generator of random numbers that it draws from.
    pub(crate) randoms: BTreeMap<Random, u32>,
    /// Action profile.
    pub(crate) profile: Option<ProfileDemand>,
    /// Entries of the TCAM that finds the partition, in a stage before the partitions.
    pub(crate) classifier: Option<u32>,
    /// Bits per entry in map RAM for its age.
    pub(crate) idle_bits: Option<u32>,
    /// Stage that the author asks for.
    pub(crate) pin: Option<u8>,
}

impl Demand {
    /// Whether parts of it may go to several stages: nothing of it is shared by all entries.
    pub(crate) fn splittable(&self) -> bool {
        self.lookup != Lookup::None
            && self.profile.is_none()
            && self.arrays.iter().all(|a| a.size.is_none() && matches!(a.array, AluArray::Meter(..)))
            && self.counters.iter().all(|c| c.size.is_none())
    }

    /// Bytes that the key takes in TCAM, with their bits: each nibble that is compared by range takes a byte of
    /// its own (facts: asic §3.2).
    pub(crate) fn ternary_bytes(&self) -> Vec<(ByteRef, u8)> {
        let mut bytes: Vec<(ByteRef, u8)> = Vec::new();
        for (&byte, &mask) in &self.key {
            match self.ranged.get(&byte) {
                None => bytes.push((byte, mask)),
                // A set of values fills a whole TCAM byte.
                Some(_) => {
                    bytes.extend([0x0f, 0xf0].into_iter().filter(|n| mask & n != 0).map(|_| (byte, 0xff)))
                }
            }
        }
        bytes
    }

    /// Adds a computation, or widens the one of the same name.
    fn compute(&mut self, hash: HashDemand) {
        if hash.bytes.is_empty() {
            return;
        }
        match self.hashes.iter_mut().find(|h| h.name == hash.name) {
            Some(known) => {
                known.bits = known.bits.max(hash.bits);
                known.bytes.extend(hash.bytes);
            }
            None => self.hashes.push(hash),
        }
    }

    /// What `node` needs.
    ///
    /// # Errors
    /// When no stage of the chip can do it.
    pub(crate) fn of(
        program: &Program,
        chip: &ChipSpec,
        phv: &PhvView<'_>,
        flow: &Flow,
        owner: Owner,
    ) -> Result<Demand, Diag> {
        let data = &flow.nodes[owner.node];
        let mut demand = Demand {
            owner,
            name: node_name(program, flow, owner.node),
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
        };
        let context = Context { program, chip, phv, flow };
        match &data.kind {
            NodeKind::Gateway(cond) => {
                demand.gateway = Some(gateway::demand(program, &chip.mau, phv, cond, data.loc)?);
            }
            NodeKind::Table(table) => context.table(*table, &mut demand)?,
            NodeKind::Action(action) => context.actions(&[*action], &mut demand),
        }
        Ok(demand)
    }
}

/// What a node's demand is computed from.
struct Context<'a> {
    program: &'a Program,
    chip: &'a ChipSpec,
    phv: &'a PhvView<'a>,
    flow: &'a Flow,
}

impl Context<'_> {
    fn table(&self, table: Table, demand: &mut Demand) -> Result<(), Diag> {
        let data = &self.program.tables[table];
        demand.pin = data.pin;
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
        demand.key = self.phv.bytes(data.keys.iter().map(|k| Var::Field(k.field)));
        let ranged = data.keys.iter().filter(|k| k.kind == MatchKind::Range);
        demand.ranged = self.phv.bytes(ranged.map(|k| Var::Field(k.field)));
        demand.key_bits = match demand.lookup {
            Lookup::Atcam { .. } => rows::atcam_key_bits(self.program, data),
            _ => demand.key.values().map(|mask| mask.count_ones()).sum(),
        };
        if demand.lookup != Lookup::None {
            demand.size = sizes::narrow(rows::planned(self.program, data));
        }
        demand.profile = data.profile.map(|p| self.profile(p)).transpose()?;
        self.actions(&table_actions(self.program, table), demand);
        if let Some(counter) = self.program.direct_counter(table) {
            demand.counters.push(CounterDemand {
                name: self.program.counters[counter].name.clone(),
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
            // Plain modulo is on no chip; it costs what the chip's nearest mode costs, and the report says so.
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

    fn actions(&self, actions: &[Action], demand: &mut Demand) {
        let mut hashes: BTreeSet<Hash> = BTreeSet::new();
        for &action in actions {
            let need = self.action(action, demand, &mut hashes);
            demand.actions.push(need);
        }
        for hash in hashes {
            let data = &self.program.hashes[hash];
            let bytes = self.input_bytes(&data.inputs);
            demand.compute(HashDemand { bytes, bits: u32::from(data.width), name: data.name.clone() });
        }
        let ram_bytes = |a: &ActionDemand| {
            a.data.keys().chain(&a.masked).map(|&c| u32::from(self.phv.width(c)) / 8).sum::<u32>()
        };
        let bytes = demand.actions.iter().map(ram_bytes).max().unwrap_or(0);
        demand.data_bits = demand.actions.iter().map(|a| a.data.values().sum()).max().unwrap_or(0);
        let immediate = bytes * 8 <= self.chip.mau.immediate_bits && demand.profile.is_none();
        demand.data_bytes = if immediate { 0 } else { bytes };
    }

    fn action(&self, action: Action, demand: &mut Demand, hashes: &mut BTreeSet<Hash>) -> ActionDemand {
        let mut need = ActionDemand { name: self.program.actions[action].name.clone(), ..Default::default() };
        for primitive in &self.program.actions[action].body {
            match &primitive.kind {
                PrimitiveKind::Set(field, value) => {
                    need.writes.extend(self.phv.containers(&[Var::Field(*field)]));
                    for (container, bits) in self.data_operands(Var::Field(*field), value) {
                        *need.data.entry(container).or_insert(0) += bits;
                    }
                }
                PrimitiveKind::SetValid(header, _) | PrimitiveKind::CopyValid(header, _) => {
                    need.writes.extend(self.phv.containers(&[Var::Valid(*header)]));
                }
                PrimitiveKind::Hash(field, hash) | PrimitiveKind::HashSlice(field, hash, _) => {
                    let containers = self.phv.containers(&[Var::Field(*field)]);
                    need.hashed.extend(&containers);
                    need.writes.extend(containers);
                    hashes.insert(*hash);
                }
                PrimitiveKind::Count(counter, index) => self.count(*counter, index, demand),
                PrimitiveKind::CountDirect(_) => {}
                PrimitiveKind::Register(access) => {
                    let outputs: Vec<Var> = access.outputs.iter().map(|(_, f)| Var::Field(*f)).collect();
                    let containers = self.phv.containers(&outputs);
                    need.hashed.extend(&containers);
                    need.writes.extend(containers);
                    self.access(access, demand);
                }
                PrimitiveKind::Meter(access) => {
                    let containers = self.phv.containers(&[Var::Field(access.to)]);
                    need.hashed.extend(&containers);
                    need.writes.extend(containers);
                    self.question(access, demand);
                }
                PrimitiveKind::Random(field, random) => {
                    let containers = self.phv.containers(&[Var::Field(*field)]);
                    need.hashed.extend(&containers);
                    need.writes.extend(containers);
                    demand.randoms.insert(*random, self.program.randoms[*random].width.into());
                }
                PrimitiveKind::Drop(_) => {
                    let gress = self.program.actions[action].gress;
                    let drop = self.program.intrinsic(gress, crate::ir::Intrinsic::DropCtl).map(Var::Field);
                    need.writes.extend(drop.iter().flat_map(|&v| self.phv.containers(&[v])));
                }
                PrimitiveKind::SetMasked(field, ..) => {
                    for s in self.phv.slices(Var::Field(*field)) {
                        need.writes.insert(s.container);
                        need.masked.insert(s.container);
                        *need.data.entry(s.container).or_insert(0) += 2 * u32::from(s.width);
                    }
                }
            }
        }
        need
    }

    /// An indirect counter stands once per node; every other index from the packet goes through hash distribution.
    fn count(&self, counter: Counter, index: &Expr, demand: &mut Demand) {
        let data = &self.program.counters[counter];
        let CounterHome::Indirect(size) = data.home else { return };
        if !demand.counters.iter().any(|c| c.counter == counter) {
            let (name, format) = (data.name.clone(), format(data));
            demand.counters.push(CounterDemand { name, counter, format, size: Some(size.max(1)) });
        }
        let bytes = self.input_bytes(std::slice::from_ref(index));
        let bits = u32::from(index.width(self.program)).min(bits_for(size).max(1));
        demand.compute(HashDemand { bytes, bits, name: bits::value_name(self.program, index) });
    }

    fn access(&self, access: &RegisterAccess, demand: &mut Demand) {
        let register = self.program.register_actions[access.action].register;
        let data = &self.program.registers[register];
        let mapped = salu::map(self.program, register, self.chip);
        let (mut operands, mut hashes) = (Vec::new(), Vec::new());
        for operand in mapped.map(|mapped| mapped.operands).unwrap_or_default() {
            match operand {
                Operand::Phv(e) => operands.push(e),
                Operand::Hash(hash) => hashes.push(hash),
            }
        }
        let known =
            demand.arrays.iter().any(|a| matches!(a.array, AluArray::Register(r, _) if r == register));
        for hash in hashes.into_iter().filter(|_| !known) {
            let hash = &self.program.hashes[hash];
            let (bytes, bits) = (self.input_bytes(&hash.inputs), u32::from(hash.width));
            demand.compute(HashDemand { bytes, bits, name: hash.name.clone() });
        }
        let array = AluArray::Register(register, data.format);
        let purpose = format!("register `{}`", data.name);
        let bytes = self.input_bytes(&operands);
        self.array((array, purpose), data.home, bytes, &access.index, demand);
    }

    /// A packet's own colour goes through hash distribution, samples to the ALU as operands of a register do
    /// (facts: asic §5).
    fn question(&self, access: &MeterAccess, demand: &mut Demand) {
        let data = &self.program.meters[access.meter];
        let array = AluArray::Meter(access.meter, data.kind);
        let coloured = data.kind.is_coloured();
        let purpose = format!("{} `{}`", if coloured { "meter" } else { data.kind.word() }, data.name);
        let input =
            access.input.as_ref().map_or_else(BTreeSet::new, |e| self.input_bytes(std::slice::from_ref(e)));
        if coloured && !input.is_empty() {
            let name = access.input.as_ref().map_or_else(String::new, |e| bits::value_name(self.program, e));
            demand.compute(HashDemand { bytes: input.clone(), bits: 2, name });
        }
        let operand = if coloured { BTreeSet::new() } else { input };
        self.array((array, purpose), data.home, operand, &access.index, demand);
    }

    /// An array stands once per node; every other index from the packet goes through hash distribution.
    fn array(
        &self,
        (array, purpose): (AluArray, String),
        home: CounterHome,
        bytes: BTreeSet<ByteRef>,
        index: &Index,
        demand: &mut Demand,
    ) {
        let size = match home {
            CounterHome::Direct(_) => None,
            CounterHome::Indirect(size) => Some(size.max(1)),
        };
        let place = demand.arrays.iter().position(|a| a.array == array);
        let place = place.unwrap_or_else(|| {
            demand.arrays.push(ArrayDemand {
                array,
                purpose,
                size,
                bytes: BTreeSet::new(),
                indices: Vec::new(),
            });
            demand.arrays.len() - 1
        });
        let Some(need) = demand.arrays.get_mut(place) else { return };
        need.bytes.extend(bytes);
        if need.indices.contains(index) {
            return;
        }
        need.indices.push(index.clone());
        let mut vars = Vec::new();
        index.fields(self.program, &mut |f| vars.push(Var::Field(f)));
        let bytes: BTreeSet<ByteRef> = self.phv.bytes(vars).into_keys().collect();
        if !bytes.is_empty() {
            let most = bits_for(size.unwrap_or(1)).max(1);
            let bits = u32::from(index.width(self.program)).min(most);
            let name = match index {
                Index::At(e) => bits::value_name(self.program, e),
                Index::Hash(hash) => self.program.hashes[*hash].name.clone(),
                Index::Entry => return,
            };
            demand.compute(HashDemand { bytes, bits, name });
        }
    }

    /// Containers of `dst` whose instruction takes an operand that the instruction word cannot hold, with
    /// the bits of the operand (facts: asic §2.2 rules 4 and 5).
    fn data_operands(&self, dst: Var, value: &Expr) -> Vec<(Container, u32)> {
        let slices = self.phv.slices(dst);
        slices
            .iter()
            .filter(|s| match leaf(value) {
                Leaf::None => false,
                Leaf::Param => true,
                Leaf::Const(v) => {
                    let part = v.checked_shr(u32::from(s.lo)).unwrap_or(0) & low_mask(s.width);
                    !self.in_instruction(part, s.width, self.phv.width(s.container))
                }
            })
            .map(|s| (s.container, u32::from(s.width)))
            .collect()
    }

    /// Whether an instruction can hold this constant for `width` bits of a container.
    fn in_instruction(&self, value: u128, width: u16, container: u16) -> bool {
        let alu = &self.chip.alu;
        let small = value <= u128::from(alu.constant_max.unsigned_abs());
        let sign = low_mask(width).wrapping_add(1).wrapping_sub(value);
        let negative = width == container && sign <= u128::from(alu.constant_min.unsigned_abs());
        let load_bits = if container == 32 { alu.load_const_bits_32 } else { u32::from(container) };
        let loaded = width == container && value < 1_u128 << load_bits.min(127);
        small || negative || loaded
    }

    fn input_bytes(&self, inputs: &[Expr]) -> BTreeSet<ByteRef> {
        let mut vars = Vec::new();
        for input in inputs {
            input.fields(&mut |f| vars.push(Var::Field(f)));
        }
        self.phv.bytes(vars).into_keys().collect()
    }

    /// Next table, action, immediate data and pointers (facts: asic §3.1).
    fn overhead(&self, table: Table, demand: &Demand) -> u32 {
        let data = &self.program.tables[table];
        let actions = data.actions.len() as u32;
        let code = |count: u32, wide: u32| {
            if count <= self.chip.mau.successor_map_entries { bits_for(count) } else { wide }
        };
        let mut bits =
            code(self.successors(demand.owner.node, data.actions.len()), self.chip.mau.next_table_bits);
        bits += code(actions, 6);
        match &demand.profile {
            Some(p) => {
                bits += bits_for(p.members);
                // A group's entry also holds modulus (5 b) and shift (3 b) of its word choice.
                bits += p
                    .selector
                    .as_ref()
                    .map_or(0, |s| bits_for(s.words).saturating_sub(bits_for(p.members)) + 8);
            }
            None if demand.data_bytes == 0 => bits += demand.data_bits,
            None => {}
        }
        bits + self.counter_pointers(data.actions.as_slice())
    }

    /// Distinct continuations of a hit.
    fn successors(&self, node: Node, actions: usize) -> u32 {
        let ran = self.flow.decided_by(node).filter(|(_, o)| matches!(o, Outcome::Ran(_))).count();
        (ran + usize::from(ran < actions)) as u32
    }

    /// Indices of counters, registers and meters kept in the entry, and one enable bit for each that not every action
    /// uses.
    fn counter_pointers(&self, actions: &[Action]) -> u32 {
        let mut pointers: BTreeMap<Pointed, (u32, usize)> = BTreeMap::new();
        for &action in actions {
            for primitive in &self.program.actions[action].body {
                let (array, index) = match &primitive.kind {
                    PrimitiveKind::Count(c, index) => (Pointed::Counter(*c), Some(index)),
                    PrimitiveKind::CountDirect(c) => (Pointed::Counter(*c), None),
                    PrimitiveKind::Register(access) => {
                        let register = self.program.register_actions[access.action].register;
                        (Pointed::Register(register), access.index.expr())
                    }
                    PrimitiveKind::Meter(access) => (Pointed::Meter(access.meter), access.index.expr()),
                    _ => continue,
                };
                let bits = match index {
                    Some(Expr::Param(_, width)) => u32::from(*width),
                    _ => 0,
                };
                let slot = pointers.entry(array).or_insert((0, 0));
                *slot = (slot.0.max(bits), slot.1 + 1);
            }
        }
        pointers.values().map(|(bits, users)| bits + u32::from(*users < actions.len())).sum()
    }
}

fn format(data: &CounterData) -> CounterFormat {
    data.cell.format_for(data.kind)
}

/// What an entry may point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pointed {
    Counter(Counter),
    Register(Register),
    Meter(Meter),
}

/// What an instruction's first source is beside PHV.
enum Leaf {
    None,
    Param,
    Const(u128),
}

fn leaf(value: &Expr) -> Leaf {
    match value {
        Expr::Const(v, _) => Leaf::Const(*v),
        Expr::Param(..) => Leaf::Param,
        Expr::Field(_) => Leaf::None,
        Expr::Slice(e, ..) | Expr::Cast(e, _) => leaf(e),
        // A shift's amount stands in the instruction.
        Expr::Alu(op, a, _) if op.class() == AluClass::Shift => leaf(a),
        Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => match (leaf(a), leaf(b)) {
            (Leaf::Param, _) | (_, Leaf::Param) => Leaf::Param,
            (Leaf::Const(v), _) | (_, Leaf::Const(v)) => Leaf::Const(v),
            _ => Leaf::None,
        },
    }
}

const fn low_mask(width: u16) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}
