//! Counters, registers and meters that actions access, and the hash bits of their indices.
//!
//! What may not live here: RAMs and ALUs, which are a matter of geometry.

use super::super::super::bits::{self, ByteRef, bits_for};
use super::{AluArray, ArrayDemand, Context, CounterDemand, Demand, HashDemand, format};
use crate::flow::Var;
use crate::ir::{Counter, CounterHome, Expr, Index, MeterAccess, Operand, RegisterAccess};
use crate::salu;
use std::collections::BTreeSet;

impl Context<'_> {
    /// An indirect counter stands once per node; every other index from the packet goes through hash distribution.
    pub(super) fn count(&self, counter: Counter, index: &Expr, demand: &mut Demand) {
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

    pub(super) fn access(&self, access: &RegisterAccess, demand: &mut Demand) {
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
    pub(super) fn question(&self, access: &MeterAccess, demand: &mut Demand) {
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
    pub(super) fn array(
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
}
