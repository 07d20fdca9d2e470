//! The interpreter: a program, the state of its control plane, and that of its registers and counters.

use crate::control::Control;
use crate::externs::Count;
use crate::outside::Outside;
use crate::pass::{Gress, PassIn, PassOut};
use crate::program::Program;
use crate::run::Run;
use crate::stop::{Res, Unsupported};
use crate::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use sluice_asic::intrinsic::Architecture;
use sluice_p4::check::{Checked, Resolution, Ty};
use sluice_p4::elaborate::{ObjectId, Pipe, TableId};
use sluice_p4::syntax::ast::{Ast, DeclId};

/// Registers and counters that packets have changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// Elements of registers that were written.
    pub(crate) registers: FxHashMap<(ObjectId, u64), Value>,
    /// Cells of counters that have counted. A direct counter has a cell for each entry, by its number in the table.
    pub(crate) counters: FxHashMap<(ObjectId, u64), Count>,
}

/// An interpreter of an elaborated P4 program.
#[derive(Debug)]
pub struct Reference<'a> {
    pub(crate) program: Program<'a>,
    /// Entries, default actions and members, which the caller may change between packets.
    pub control: Control,
    pub(crate) state: State,
    chip: Architecture,
    /// Fields that the code names.
    named: FxHashSet<DeclId>,
}

impl<'a> Reference<'a> {
    /// Makes an interpreter without entries, with all registers at their first values.
    #[must_use]
    pub fn new(ast: &'a Ast, checked: &Checked, pipe: &'a Pipe, chip: Architecture) -> Reference<'a> {
        let named = checked.resolutions.values().filter_map(|resolution| match resolution {
            Some(Resolution::Field(decl, _)) => Some(*decl),
            _ => None,
        });
        let named = named.collect();
        let program = Program::new(ast, checked.clone(), pipe);
        Reference { program, control: Control::default(), state: State::default(), chip, named }
    }

    /// Returns the instances of the program.
    #[must_use]
    pub fn pipe(&self) -> &'a Pipe {
        self.program.pipe
    }

    /// Sends a packet through a gress: parser, control and deparser.
    ///
    /// # Errors
    /// If the packet meets a construct whose meaning the interpreter does not have. Registers and counters may have changed.
    pub fn pass(&mut self, input: &PassIn, outside: &mut dyn Outside) -> Result<PassOut, Unsupported> {
        Run::new(self, outside, input).pass()
    }

    /// Runs the ghost control for a change of a queue; `fields` are those of `ghost_intrinsic_metadata_t`.
    ///
    /// # Errors
    /// As of [`Reference::pass`].
    pub fn ghost(&mut self, fields: &[(&str, u64)], outside: &mut dyn Outside) -> Result<(), Unsupported> {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let input = PassIn { fields, ..PassIn::new(Gress::Ingress, 0, Vec::new()) };
        Run::new(self, outside, &input).ghost()
    }

    /// Returns the action profile of a table, its own or that of its selector.
    #[must_use]
    pub fn profile_of(&self, table: TableId) -> Option<ObjectId> {
        let program = &self.program;
        program.pipe.tables[table].objects.iter().find_map(|&(_, object)| match program.unit(object) {
            "ActionProfile" => Some(object),
            "ActionSelector" => Some(program.made_with_object(object, "action_profile").unwrap_or(object)),
            _ => None,
        })
    }

    /// Returns an element of a register; `None` if the object is no register.
    pub fn register(&mut self, register: ObjectId, index: u64) -> Option<Value> {
        let &ty = self.program.type_args(register).first()?;
        self.element(register, index, ty).ok()
    }

    /// Returns the elements of registers that were written, in no order.
    pub fn written(&self) -> impl Iterator<Item = (ObjectId, u64, &Value)> {
        self.state.registers.iter().map(|((register, index), value)| (*register, *index, value))
    }

    /// Writes an element of a register, or a register's parameter, whose index is 0.
    pub fn set_register(&mut self, register: ObjectId, index: u64, value: Value) {
        self.state.registers.insert((register, index), value);
    }

    /// Returns a cell of a counter.
    #[must_use]
    pub fn counter(&self, counter: ObjectId, index: u64) -> Count {
        self.state.counters.get(&(counter, index)).copied().unwrap_or_default()
    }

    /// Returns an element of a register, of this type.
    pub(crate) fn element(&mut self, register: ObjectId, index: u64, ty: Ty) -> Res<Value> {
        if let Some(value) = self.state.registers.get(&(register, index)) {
            return Ok(value.clone());
        }
        let zero = self.program.zero(ty);
        let first = match self.program.made_with(register, "initial_value") {
            Some(sluice_p4::elaborate::Binding::Value(first)) => self.program.constant(first),
            _ => return Ok(zero),
        };
        // A number is the first value of the low half of a pair.
        Ok(match (zero, first) {
            (Value::Struct(_), first @ Value::Struct(_)) | (Value::Number(_) | Value::Bool(_), first) => {
                first
            }
            (zero, _) => zero,
        })
    }

    /// Returns true on a chip whose parser extracts each header once.
    pub(crate) fn writes_once(&self) -> bool {
        self.is_tofino()
    }

    /// Returns true on Tofino, false on Tofino 2.
    pub(crate) fn is_tofino(&self) -> bool {
        self.chip == Architecture::Tna
    }

    /// Returns the declaration of a type of the architecture.
    pub(crate) fn architecture_type(&self, name: &str) -> Option<DeclId> {
        let symbol = self.program.ast.names.find(name)?;
        self.program.checked.top.get(&symbol)?.first().copied()
    }

    /// Returns true if code of the program names a field of a structure of intrinsic metadata.
    pub(crate) fn names_field(&self, structure: &str, field: &str) -> bool {
        self.named.iter().any(|&decl| self.is_field(decl, structure, field))
    }

    /// Returns true if a declaration is a field of a structure of intrinsic metadata.
    pub(crate) fn is_field(&self, decl: DeclId, structure: &str, field: &str) -> bool {
        let structure = self.architecture_type(structure);
        let is_inside = structure.is_some() && self.program.ast.decls[decl].parent == structure;
        is_inside && self.program.name(decl) == field
    }

    /// Returns the bits of metadata between the intrinsic metadata and a packet in ingress.
    pub(crate) fn port_bits(&self) -> usize {
        if self.is_tofino() { 64 } else { 192 }
    }
}
