//! Counters, registers and meters that actions access, and the hash bits of their indices.

use super::super::super::bits::{ByteRef, bits_for};
use super::operands::{self, OperandDemand, Value};
use super::{AluArray, ArrayDemand, Context, CounterDemand, Demand, format};
use crate::purpose::{ArrayRef, Computation, Sink, Source};
use sluice_ir::cfg::Var;
use sluice_ir::salu;
use sluice_ir::verify::Diag;
use sluice_ir::{
    Counter, CounterHome, Expr, Index, Loc, Meter, MeterAccess, Operand, PrimitiveKind, RegisterAccess,
};
use std::collections::BTreeSet;

/// Packet values of a stateful ALU (model: chip §4.1).
const OPERANDS: u16 = 2;

/// Bits of the sample of a filter or WRED (model: chip §1.3: four bytes).
const SAMPLE_BITS: u16 = 32;

impl Context<'_> {
    /// Adds an indirect counter, once per node, and the hash distribution bits of its index, if that comes from the
    /// packet.
    pub(super) fn count(&self, counter: Counter, index: &Expr, demand: &mut Demand) {
        let data = &self.program.counters[counter];
        let CounterHome::Indirect(size) = data.home else { return };
        if !demand.counters.iter().any(|c| c.counter == counter) {
            let format = format(data);
            demand.counters.push(CounterDemand { counter, format, size: Some(size.max(1)) });
        }
        let bytes = self.input_bytes(std::slice::from_ref(index));
        let bits = u32::from(index.width(self.program)).min(bits_for(size).max(1));
        let to = Sink::Counters { bits, per_word: format(data).entries_per_word() };
        demand.compute(self.program, Computation { of: Source::Value(index.clone()), to }, bytes, bits);
    }

    pub(super) fn access(&self, access: &RegisterAccess, demand: &mut Demand) -> Result<(), Diag> {
        let register = self.program.register_actions[access.action].register;
        let data = &self.program.registers[register];
        let operands = salu::map(self.program, register, self.chip).map(|m| m.operands).unwrap_or_default();
        let values: Vec<Value> = operands
            .iter()
            .filter_map(|operand| match operand {
                Operand::Phv(e) => self.bits_of(e),
                Operand::Hash(hash) => {
                    let hash = &self.program.hashes[*hash];
                    Some(Value::Hash { bytes: self.input_bytes(&hash.inputs), width: hash.width })
                }
            })
            .collect();
        let name = ArrayRef::Register(register).text(self.program);
        let way = self.operands(
            (&values, data.format.half_bits() as u16, OPERANDS),
            &name,
            (&data.name, data.loc),
        )?;
        let array = AluArray::Register(register, data.format);
        self.array((array, name), data.home, way, &access.index, demand);
        Ok(())
    }

    fn bits_of(&self, value: &Expr) -> Option<Value> {
        operands::bits_of(value, &|e| e.width(self.program))
    }

    /// Returns the ways in which values can reach an ALU, or an error if there is none.
    fn operands(
        &self,
        (values, width, slots): (&[Value], u16, u16),
        array: &str,
        (name, at): (&str, Loc),
    ) -> Result<OperandDemand, Diag> {
        let mau = &self.chip.mau;
        let way = operands::demand((mau, self.phv), values, width, slots);
        if way.bytes.is_empty() || !way.buses.is_empty() || !way.hash_bits.is_empty() {
            return Ok(way);
        }
        let text = format!(
            "the packet values of {array} do not come to its ALU: not as bytes of one crossbar group, because they share \
             bytes with other fields, are hashes or are not at the places that the ALU takes; nor as the lowest {} bits of a \
             hash group, because they are too wide",
            mau.alu_hash_bits
        );
        let help = format!(
            "keep the values of `{name}` in metadata fields that fill containers, or narrow one of them"
        );
        Err(Diag::error(at, text).help(help))
    }

    /// Adds a meter, filter or WRED. The packet's own colour goes through hash distribution; samples reach the ALU in
    /// the same ways as the operands of a register (model: chip §5).
    pub(super) fn question(&self, access: &MeterAccess, demand: &mut Demand) -> Result<(), Diag> {
        let data = &self.program.meters[access.meter];
        let array = AluArray::Meter(access.meter, data.kind);
        let coloured = data.kind.is_coloured();
        let name = ArrayRef::Meter(access.meter).text(self.program);
        let mut way = OperandDemand::default();
        if let Some(input) = access.input.as_ref().filter(|_| coloured) {
            let bytes = self.input_bytes(std::slice::from_ref(input));
            demand.compute(self.program, Computation::for_actions(Source::Value(input.clone())), bytes, 2);
        } else if !coloured {
            let samples = self.samples(access.meter);
            way = self.operands((&samples, SAMPLE_BITS, 1), &name, (&data.name, data.loc))?;
        }
        self.array((array, name), data.home, way, &access.index, demand);
        Ok(())
    }

    /// Returns the different values that a filter or WRED samples in all actions; its ALU has one input.
    fn samples(&self, meter: Meter) -> Vec<Value> {
        let mut samples: Vec<Value> = Vec::new();
        for primitive in self.program.actions.values().flat_map(|a| &a.body) {
            if let PrimitiveKind::Meter(access) = &primitive.kind
                && access.meter == meter
                && let Some(value) = access.input.as_ref().and_then(|e| self.bits_of(e))
                && !samples.contains(&value)
            {
                samples.push(value);
            }
        }
        samples
    }

    /// Adds an array, once per node, and the hash distribution bits of each index that comes from the packet.
    pub(super) fn array(
        &self,
        (array, name): (AluArray, String),
        home: CounterHome,
        operands: OperandDemand,
        index: &Index,
        demand: &mut Demand,
    ) {
        let size = match home {
            CounterHome::Direct(_) => None,
            CounterHome::Indirect(size) => Some(size.max(1)),
        };
        let place = demand.arrays.iter().position(|a| a.array == array);
        let place = place.unwrap_or_else(|| {
            demand.arrays.push(ArrayDemand { array, name, size, operands, indices: Vec::new() });
            demand.arrays.len() - 1
        });
        let Some(need) = demand.arrays.get_mut(place) else { return };
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
            let of = match index {
                Index::At(e) => Source::Value(e.clone()),
                Index::Hash(hash) => Source::Hash(*hash),
                Index::Entry => return,
            };
            let cell_bits = match array {
                AluArray::Register(_, format) => format.element_bits(),
                AluArray::Meter(..) => self.chip.mau.sram_width,
            };
            if matches!(array, AluArray::Meter(_, kind) if kind.is_coloured()) {
                let what = Computation { of: of.clone(), to: Sink::Colours { bits } };
                demand.compute(self.program, what, bytes.clone(), bits);
            }
            demand.compute(
                self.program,
                Computation { of, to: Sink::Cells { bits, cell_bits } },
                bytes,
                bits,
            );
        }
    }
}
