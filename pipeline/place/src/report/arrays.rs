//! Arrays of a program in a report: counters, registers, meters, low-pass filters and WRED, with their units and the
//! instructions of stateful ALUs.

use super::serial;
use crate::{ArrayRef, Owner, Placement, Purpose, node_name};
use serde::Serialize;
use sluice_asic::chip::Column;
use sluice_asic::geometry::CounterFormat;
use sluice_asic::gress::Gress;
use sluice_asic::salu::register_file_rows;
use sluice_ir::cfg::{Node, NodeKind};
use sluice_ir::salu;
use sluice_ir::{CounterHome, CounterKind, Loc, PrimitiveKind, Program};
use std::collections::BTreeSet;

/// A counter, register or meter array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayReport {
    /// Name.
    pub name: String,
    /// `counter`, `register`, `meter`, `lpf` or `wred`.
    pub kind: &'static str,
    /// Gress.
    pub gress: Gress,
    /// Content of a cell: `32x2` bits of a register, or what counters and meters count.
    pub cell: String,
    /// Number of cells.
    pub size: u32,
    /// Table with one cell per entry; `None` for an indirect array.
    pub table: Option<String>,
    /// Nodes that access the array.
    pub users: Vec<String>,
    /// Its ALUs.
    pub alus: Vec<AluReport>,
    /// SRAMs, spare banks included.
    pub srams: u32,
    /// Map RAMs, those for colours included.
    pub map_rams: u32,
    /// Rows of the stateful ALU's register file with large constants and parameters.
    #[serde(rename = "register_file_rows")]
    pub file_rows: u32,
    /// Instructions of the stateful ALU.
    pub instructions: Vec<InstructionReport>,
    /// Place in the source.
    #[serde(flatten, serialize_with = "serial::place")]
    pub at: Loc,
}

/// A meter ALU or statistics ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AluReport {
    /// Stage, from 0.
    pub stage: u8,
    /// Logical row.
    pub row: u16,
}

/// An instruction of a stateful ALU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstructionReport {
    /// Register action.
    pub action: String,
    /// Parts of the ALU that it uses.
    pub uses: String,
}

/// Returns all arrays: registers, then meters, then counters.
pub(super) fn of(program: &Program, placement: &Placement) -> Vec<ArrayReport> {
    let mut list = Vec::new();
    for (register, data) in program.registers.iter() {
        let uses = |kind: &PrimitiveKind| matches!(kind, PrimitiveKind::Register(a) if program.accessed(a.action) == Some(register));
        let mapped = salu::map(program, register, &placement.chip).ok();
        let actions = mapped.iter().flat_map(|m| &m.actions);
        let programs: Vec<_> = actions.clone().map(|(_, p)| p.clone()).collect();
        let instructions = actions.map(|(a, p)| InstructionReport {
            action: program.register_actions[*a].name.clone(),
            uses: salu::summary(p),
        });
        let instructions = instructions.collect();
        let params = mapped.as_ref().map_or(0, |m| m.rows.len());
        let file_rows = (register_file_rows(&programs, &placement.chip.salu) + params) as u32;
        let cell = data.format.to_string();
        let found =
            array(program, placement, (ArrayRef::Register(register), data.gress, data.home), cell, uses);
        list.push(ArrayReport { file_rows, instructions, ..found });
    }
    for (meter, data) in program.meters.iter() {
        let uses = |kind: &PrimitiveKind| matches!(kind, PrimitiveKind::Meter(a) if a.meter == meter);
        let cell = data.kind.word().to_owned();
        list.push(array(program, placement, (ArrayRef::Meter(meter), data.gress, data.home), cell, uses));
    }
    for (counter, data) in program.counters.iter() {
        let uses = |kind: &PrimitiveKind| matches!(kind, PrimitiveKind::Count(c, _) | PrimitiveKind::CountDirect(c) if *c == counter);
        let format = data.cell.format_for(data.kind);
        let bits = match format.packet_and_byte_bits() {
            Some((packets, bytes)) => format!("{packets}+{bytes} b"),
            None if format == CounterFormat::Single64 => "64 b".to_owned(),
            None => "32 b".to_owned(),
        };
        let what = match data.kind {
            CounterKind::Packets => "packets",
            CounterKind::Bytes => "bytes",
            CounterKind::PacketsAndBytes => "packets and bytes",
        };
        let cell = format!("{what}, {bits}");
        let who = (ArrayRef::Counter(counter), data.gress, data.home);
        list.push(array(program, placement, who, cell, uses));
    }
    list
}

fn array(
    program: &Program,
    placement: &Placement,
    (which, gress, home): (ArrayRef, Gress, CounterHome),
    cell: String,
    uses: impl Fn(&PrimitiveKind) -> bool,
) -> ArrayReport {
    let placed = placement.gress(gress);
    let by = |node: Node| {
        if let (NodeKind::Table(t), CounterHome::Direct(own)) = (&placed.cfg.nodes[node].kind, home)
            && *t == own
        {
            return true;
        }
        let actions = placed.cfg.actions(program, node);
        actions.iter().flat_map(|&a| &program.actions[a].body).any(|p| uses(&p.kind))
    };
    let nodes: Vec<Node> = placed.cfg.nodes.keys().filter(|n| by(*n)).collect();
    let (kind, name, at) = match which {
        ArrayRef::Selector(_) => ("selector", String::new(), Loc::default()),
        ArrayRef::Counter(c) => ("counter", program.counters[c].name.clone(), program.counters[c].loc),
        ArrayRef::Register(r) => ("register", program.registers[r].name.clone(), program.registers[r].loc),
        ArrayRef::Meter(m) => {
            let data = &program.meters[m];
            (if data.kind.is_coloured() { "meter" } else { data.kind.word() }, data.name.clone(), data.loc)
        }
    };
    let units = |column: Column| -> BTreeSet<(u8, u16, u16)> {
        let wanted = |purpose: &Purpose| match purpose {
            Purpose::Colours(meter) => which == ArrayRef::Meter(*meter),
            purpose => purpose.array() == Some(which),
        };
        let own = placement.units.iter().filter(|u| u.unit.column == column && wanted(&u.purpose));
        let own = own.filter(|u| nodes.iter().any(|n| u.owner == Owner { gress, node: *n }));
        own.map(|u| (u.unit.stage, u.unit.row, u.unit.col)).collect()
    };
    let alu = if matches!(which, ArrayRef::Counter(_)) { Column::StatsAlu } else { Column::MeterAlu };
    let table = match home {
        CounterHome::Direct(t) => Some(program.tables[t].name.clone()),
        CounterHome::Indirect(_) => None,
    };
    ArrayReport {
        name,
        kind,
        gress,
        cell,
        size: program.cells(home),
        table,
        users: nodes.iter().map(|&n| node_name(program, &placed.cfg, n)).collect(),
        alus: units(alu).into_iter().map(|(stage, row, _)| AluReport { stage, row }).collect(),
        srams: units(Column::Sram).len() as u32,
        map_rams: units(Column::MapRam).len() as u32,
        file_rows: 0,
        instructions: Vec::new(),
        at,
    }
}
