//! Needs of actions: containers that they write, and operands that come over the action data bus.

use super::{ActionDemand, Context, Demand};
use crate::data::FieldSlice;
use crate::purpose::{Computation, Source};
use sluice_asic::alu::AluClass;
use sluice_asic::phv::Container;
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{Action, Expr, Hash, Intrinsic, PrimitiveKind};
use std::collections::BTreeSet;

impl Context<'_> {
    pub(super) fn actions(&self, actions: &[Action], demand: &mut Demand) -> Result<(), Diag> {
        let mut hashes: BTreeSet<Hash> = BTreeSet::new();
        for &action in actions {
            let need = self.action(action, demand, &mut hashes)?;
            demand.actions.push(need);
        }
        for hash in hashes {
            let data = &self.program.hashes[hash];
            let bytes = self.input_bytes(&data.inputs);
            let what = Computation::for_actions(Source::Hash(hash));
            demand.compute(self.program, what, bytes, u32::from(data.width));
        }
        let ram_bytes = |a: &ActionDemand| {
            a.data.keys().chain(&a.masked).map(|&c| u32::from(self.phv.width(c)) / 8).sum::<u32>()
        };
        let bytes = demand.actions.iter().map(ram_bytes).max().unwrap_or(0);
        demand.data_bits = demand.actions.iter().map(|a| a.data.values().sum()).max().unwrap_or(0);
        let immediate = bytes * 8 <= self.chip.mau.immediate_bits && demand.profile.is_none();
        demand.data_bytes = if immediate { 0 } else { bytes };
        Ok(())
    }

    fn action(
        &self,
        action: Action,
        demand: &mut Demand,
        hashes: &mut BTreeSet<Hash>,
    ) -> Result<ActionDemand, Diag> {
        let mut need = ActionDemand::new(action);
        for primitive in &self.program.actions[action].body {
            match &primitive.kind {
                PrimitiveKind::Set(field, value) | PrimitiveKind::DropCtl(field, value, _) => {
                    need.writes.extend(self.phv.containers(&[Var::Field(*field)]));
                    for (container, bits) in self.data_operands(&self.phv.slices(Var::Field(*field)), value) {
                        *need.data.entry(container).or_insert(0) += bits;
                    }
                }
                PrimitiveKind::SetSlice(field, hi, lo, value) => {
                    let slices = self.phv.slices_of_bits(Var::Field(*field), *lo, hi - lo + 1);
                    need.writes.extend(slices.iter().map(|s| s.container));
                    for (container, bits) in self.data_operands(&slices, value) {
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
                PrimitiveKind::HashInto(field, hi, lo, hash, _) => {
                    let slices = self.phv.slices_of_bits(Var::Field(*field), *lo, hi - lo + 1);
                    let containers = slices.iter().map(|s| s.container);
                    need.hashed.extend(containers.clone());
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
                    self.access(access, demand)?;
                }
                PrimitiveKind::Meter(access) => {
                    let containers = self.phv.containers(&[Var::Field(access.to)]);
                    need.hashed.extend(&containers);
                    need.writes.extend(containers);
                    self.question(access, demand)?;
                }
                PrimitiveKind::Random(field, random) => {
                    let containers = self.phv.containers(&[Var::Field(*field)]);
                    need.hashed.extend(&containers);
                    need.writes.extend(containers);
                    demand.randoms.insert(*random, self.program.randoms[*random].width.into());
                }
                PrimitiveKind::Drop(_) => {
                    let gress = self.program.actions[action].gress;
                    let drop = self.program.intrinsic(gress, Intrinsic::DropCtl).map(Var::Field);
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
        Ok(need)
    }

    /// Returns the containers of a destination whose instruction takes an operand that the instruction word cannot hold,
    /// each with the bits of the operand (model: chip §2.2 rules 4 and 5).
    fn data_operands(&self, dst: &[FieldSlice], value: &Expr) -> Vec<(Container, u32)> {
        dst.iter()
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

    /// Returns true if an instruction can hold this constant for `width` bits of a container.
    fn in_instruction(&self, value: u128, width: u16, container: u16) -> bool {
        let alu = &self.chip.alu;
        let small = value <= u128::from(alu.constant_max.unsigned_abs());
        let sign = low_mask(width).wrapping_add(1).wrapping_sub(value);
        let negative = width == container && sign <= u128::from(alu.constant_min.unsigned_abs());
        let load_bits = if container == 32 { alu.load_const_bits_32 } else { u32::from(container) };
        let loaded = width == container && value < 1_u128 << load_bits.min(127);
        small || negative || loaded
    }
}

/// Operand of an instruction that is not in PHV.
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
        // The instruction holds the amount of a shift.
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
