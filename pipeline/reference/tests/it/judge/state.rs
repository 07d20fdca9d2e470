//! Registers and counters of an executor and of the tree.

use num_bigint::BigInt;
use sluice_asic::salu::State as Element;
use sluice_exec::pass::State;
use sluice_ir::Program;
use sluice_p4::elaborate::ObjectId;
use sluice_reference::{Reference, Value};

/// Gives the tree the elements of registers that do not have their first value.
pub(super) fn copy(program: &Program, from: &State, to: &mut Reference<'_>) {
    for (register, data) in program.registers.iter() {
        let Ok(object) = to.object_named(&data.name) else { continue };
        for (index, cell) in from.registers[register].iter().enumerate() {
            if *cell == data.first() {
                continue;
            }
            let value = match to.register(object, index as u64) {
                Some(Value::Struct(_)) => Value::Struct(vec![Value::number(cell.lo), Value::number(cell.hi)]),
                _ => Value::number(cell.lo),
            };
            to.set_register(object, index as u64, value);
        }
    }
}

/// Compares registers and counters after a run.
pub(super) fn compare(program: &Program, found: &State, tree: &mut Reference<'_>) -> Result<(), String> {
    for (register, data) in program.registers.iter() {
        // A register without a name in the tree is one that the lowering made.
        let Ok(object) = tree.object_named(&data.name) else { continue };
        let cells: Vec<Element> = found.registers[register].iter().copied().collect();
        let touched = tree.written().filter(|(of, ..)| *of == object).map(|(_, index, _)| index as usize);
        let changed = cells.iter().enumerate().filter(|(_, cell)| **cell != data.first());
        let mut indices: Vec<usize> = touched.chain(changed.map(|(index, _)| index)).collect();
        indices.sort_unstable();
        indices.dedup();
        for index in indices {
            let expected = halves(tree, object, index, data.format.half_mask());
            let cell = cells.get(index).copied().unwrap_or_default();
            let found = [cell.lo, if data.format.has_hi() { cell.hi } else { 0 }];
            if expected != found {
                return Err(format!("{}[{index}] is {found:x?}, on the tree {expected:x?}", data.name));
            }
        }
    }
    for (counter, data) in program.counters.iter() {
        let Ok(object) = tree.object_named(&data.name) else { continue };
        for (index, cell) in found.counters[counter].iter().enumerate() {
            let expected = tree.counter(object, index as u64);
            let same = |found: u64, expected: u64| found == 0 || found == expected;
            if !same(cell.packets, expected.packets) || !same(cell.bytes, expected.bytes) {
                return Err(format!("{}[{index}] is {cell:?}, on the tree {expected:?}", data.name));
            }
            if (cell.packets, cell.bytes) == (0, 0) && expected.packets != 0 {
                return Err(format!("{}[{index}] has not counted, on the tree {expected:?}", data.name));
            }
        }
    }
    Ok(())
}

fn halves(tree: &mut Reference<'_>, object: ObjectId, index: usize, mask: u64) -> [u64; 2] {
    let bits = |value: &Value| {
        let number = value.as_number().unwrap_or_default();
        u64::try_from(number & BigInt::from(mask)).unwrap_or_default()
    };
    match tree.register(object, index as u64) {
        Some(Value::Struct(parts)) => [0, 1].map(|at| parts.get(at).map_or(0, bits)),
        Some(value) => [bits(&value), 0],
        None => [0, 0],
    }
}
