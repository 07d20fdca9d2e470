//! Register elements that the control plane has written and packets only read, such as thresholds and port numbers. Hunts
//! give them other values.

use crate::Draw;
use sluice_asic::alu::width_mask;
use sluice_asic::salu::State as Element;
use sluice_control::{ControlOp, ControlState};
use sluice_ir::{CellStmtKind, Program, Register};

/// Returns these elements of a program with these entries, each with its value.
pub(crate) fn configured(program: &Program, control: &ControlState) -> Vec<(Register, u32, Element)> {
    let written = |register: Register| {
        let mut written = false;
        for action in program.register_actions.values().filter(|a| a.register == register) {
            action.statements(&mut |stmt| {
                written |= matches!(stmt.kind, CellStmtKind::Write(..) | CellStmtKind::Search(_));
            });
        }
        written
    };
    let elements = control.arrays.registers.iter();
    let elements = elements.filter_map(|((register, index), value)| Some((*register, (*index)?, (*value)?)));
    elements.filter(|(register, ..)| !written(*register)).collect()
}

/// Gives one of these elements another value: that of another element, one close to its own, one of similar size, or any.
pub(super) fn other(
    program: &Program,
    list: &[(Register, u32, Element)],
    d: &mut Draw<'_>,
) -> Option<ControlOp> {
    let (register, index, old) = d.pick(list)?;
    let like: Vec<Element> = list.iter().filter(|(r, ..)| *r == register).map(|(.., e)| *e).collect();
    let width = program.registers[register].format.half_bits();
    let mut half = |old: u64| {
        let value = match d.below(4) {
            0 => u128::from(old).wrapping_add([1, u128::MAX][d.below(2)]),
            1 => u128::from(old) >> d.below(64),
            2 => u128::from(old) << d.below(8) | d.value(8),
            _ => d.value(width as u16),
        };
        (value & width_mask(width)) as u64
    };
    let (lo, hi) = (half(old.lo), if old.hi == 0 { 0 } else { half(old.hi) });
    let other = if d.chance(1, 4) { d.pick(&like) } else { None };
    let value = other.unwrap_or(Element::pair(lo, hi));
    Some(ControlOp::WriteRegister { register, index: Some(index), value: Some(value) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::Subject;
    use sluice_asic::chip::ChipSpec;
    use sluice_asic::port::PortMap;
    use std::collections::BTreeSet;

    #[test]
    fn thresholds_get_other_values_and_what_packets_write_does_not() {
        let catalogue = sluice_programs::catalogue();
        let stage = catalogue.get("ecn-mark").unwrap();
        let program = stage.build(&[]).unwrap();
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let setup = stage.default_setup(&program, &ports).unwrap();
        let control = Subject::entries(&program, setup.ops).unwrap();
        let list = configured(&program, &control);
        let names: BTreeSet<&str> = list.iter().map(|(r, ..)| program.registers[*r].name.as_str()).collect();
        assert!(names.contains("kmin") && names.contains("kmax"), "{names:?}");
        let mut seen = BTreeSet::new();
        for number in 0..200 {
            let op = other(&program, &list, &mut Draw::endless(1, number)).unwrap();
            control.clone().apply(&program, op.clone()).unwrap();
            seen.insert(format!("{op:?}"));
        }
        assert!(seen.len() > 60, "{}", seen.len());
        assert!(other(&program, &[], &mut Draw::endless(1, 1)).is_none());
    }
}
