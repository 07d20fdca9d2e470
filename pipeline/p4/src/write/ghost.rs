//! The ghost control: what it shares with ingress, and what is its own.
//!
//! A ghost control of P4 has no headers and metadata; its fields become variables, with an annotation if ingress has the field, too. Registers that ingress reads as well are declared
//! before all controls.

use super::inline::inner;
use super::names::Taken;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::Var;
use sluice_ir::cfg::table_actions;
use sluice_ir::entity::EntityMap;
use sluice_ir::group::{reads, writes};
use sluice_ir::{
    Action, Block, Field, Hash, Home, Index, PrimitiveKind, Program, Register, RegisterAction, StmtKind,
    Table,
};

/// Whose a part is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Side {
    /// That of ingress or egress.
    #[default]
    Pipe,
    /// That of the ghost control.
    Ghost,
    /// Both use it.
    Both,
}

/// The parts that the ghost control uses.
#[derive(Debug)]
pub(super) struct Ghost {
    pub(super) hashes: EntityMap<Hash, Side>,
    pub(super) registers: EntityMap<Register, Side>,
    pub(super) register_actions: EntityMap<RegisterAction, Side>,
    /// The fields that it uses as variables, with their names.
    pub(super) variables: Vec<(Field, String)>,
    /// The fields that only it uses.
    pub(super) fields: Vec<Field>,
    /// Parts other than these that both controls would have to declare.
    pub(super) shared: Vec<String>,
}

impl Ghost {
    pub(super) fn of(p: &Program) -> Ghost {
        let mut ghost = Ghost {
            hashes: p.hashes.values().map(|_| Side::Pipe).collect(),
            registers: p.registers.values().map(|_| Side::Pipe).collect(),
            register_actions: p.register_actions.values().map(|_| Side::Pipe).collect(),
            variables: Vec::new(),
            fields: Vec::new(),
            shared: Vec::new(),
        };
        if p.ghost.is_empty() {
            return ghost;
        }
        let own = Used::of(p, &[&p.ghost]);
        let others = Used::of(p, &[&p.pipes[0].control, &p.pipes[1].control]);
        let side = |own: bool, others: bool| match (own, others) {
            (true, true) => Side::Both,
            (true, false) => Side::Ghost,
            (false, _) => Side::Pipe,
        };
        for hash in p.hashes.keys() {
            ghost.hashes[hash] = side(own.hashes.contains(&hash), others.hashes.contains(&hash));
        }
        for action in p.register_actions.keys() {
            ghost.register_actions[action] =
                side(own.accesses.contains(&action), others.accesses.contains(&action));
        }
        for register in p.registers.keys() {
            let used = |used: &Used| used.accesses.iter().any(|action| p.accessed(*action) == Some(register));
            ghost.registers[register] = side(used(&own), used(&others));
        }
        let mut taken = Taken::in_control();
        for field in own.fields {
            if matches!(p.fields[field].home, Home::Metadata | Home::PortMetadata) {
                let name = taken.take(&p.fields[field].name.replace('.', "_"), "variable");
                ghost.variables.push((field, name.text));
                if !others.fields.contains(&field) {
                    ghost.fields.push(field);
                }
            }
        }
        let table = |table: &&Table| others.tables.contains(table);
        ghost
            .shared
            .extend(own.tables.iter().filter(table).map(|t| format!("table `{}`", p.tables[*t].name)));
        let action =
            |action: &&Action| others.actions.contains(action) && !p.actions[**action].body.is_empty();
        ghost
            .shared
            .extend(own.actions.iter().filter(action).map(|a| format!("action `{}`", p.actions[*a].name)));
        let hashes = ghost.hashes.iter().filter(|(_, side)| **side == Side::Both);
        ghost.shared.extend(hashes.map(|(hash, _)| format!("hash `{}`", p.hashes[hash].name)));
        let accesses = ghost.register_actions.iter().filter(|(_, side)| **side == Side::Both);
        ghost
            .shared
            .extend(accesses.map(|(a, _)| format!("register action `{}`", p.register_actions[a].name)));
        ghost.shared.extend(own.units);
        ghost
    }
}

/// The parts that blocks use.
#[derive(Debug, Default)]
struct Used {
    tables: Vec<Table>,
    actions: Vec<Action>,
    hashes: Vec<Hash>,
    accesses: Vec<RegisterAction>,
    fields: Vec<Field>,
    /// Objects that a ghost control has not.
    units: Vec<String>,
}

impl Used {
    fn of(p: &Program, blocks: &[&Block]) -> Used {
        let mut used = Used::default();
        blocks.iter().for_each(|block| used.block(p, block));
        for action in used.actions.clone() {
            for primitive in &p.actions[action].body {
                used.primitive(p, &primitive.kind);
            }
        }
        used
    }

    fn block(&mut self, p: &Program, block: &Block) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Call(action) => add(&mut self.actions, *action),
                StmtKind::Apply(table, _) => {
                    add(&mut self.tables, *table);
                    table_actions(p, *table).into_iter().for_each(|action| add(&mut self.actions, action));
                    let keys = p.tables[*table].keys.iter().filter_map(sluice_ir::Key::field);
                    keys.for_each(|field| add(&mut self.fields, field));
                }
                StmtKind::If(cond, ..) => cond.reads(&mut |field| add(&mut self.fields, field), &mut |_| {}),
            }
            inner(stmt).for_each(|block| self.block(p, block));
        }
    }

    fn primitive(&mut self, p: &Program, kind: &PrimitiveKind) {
        for var in reads(p, kind).into_iter().chain(writes(p, Gress::Ingress, kind)) {
            if let Var::Field(field) = var {
                add(&mut self.fields, field);
            }
        }
        match kind {
            PrimitiveKind::Hash(_, hash)
            | PrimitiveKind::HashSlice(_, hash, _)
            | PrimitiveKind::HashInto(.., hash, _) => add(&mut self.hashes, *hash),
            PrimitiveKind::Register(access) => {
                add(&mut self.accesses, access.action);
                if let Index::Hash(hash) = access.index {
                    add(&mut self.hashes, hash);
                }
                for operand in p.register_actions[access.action].operands() {
                    if let sluice_ir::Operand::Hash(hash) = operand {
                        add(&mut self.hashes, hash);
                    }
                }
            }
            PrimitiveKind::Count(counter, _) | PrimitiveKind::CountDirect(counter) => {
                self.units.push(format!("counter `{}`", p.counters[*counter].name));
            }
            PrimitiveKind::Meter(access) => {
                self.units.push(format!("meter `{}`", p.meters[access.meter].name))
            }
            PrimitiveKind::Random(_, random) => {
                self.units.push(format!("random `{}`", p.randoms[*random].name))
            }
            _ => {}
        }
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
