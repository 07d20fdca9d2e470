//! Accesses to registers: by a declared action, or a plain read or write.

use super::draft::{Builder, unique};
use super::handles::{RegisterActionRef, RegisterRef};
use super::register_value::CellRhs;
use super::step::{ActionStep, ControlStep, Recorded, StepKind};
use super::value::{ArrayIndex, LValue, Rhs};
use sluice_asic::salu::Half;
use sluice_ir::{
    self as ir, CellStmt, CellStmtKind, CellValue, Expr, Loc, PrimitiveKind, Program, RegisterAccess,
    RegisterActionData,
};

/// Access to a register: a step, or a value assigned to a field.
#[must_use = "an access does not happen until it is run or assigned"]
#[derive(Debug)]
pub struct Access {
    code: Code,
    index: ir::Index,
    outputs: Vec<(u8, ir::Field)>,
    loc: Loc,
}

/// Effect of an access on the element.
#[derive(Debug)]
enum Code {
    Action(ir::RegisterAction),
    Read(ir::Register),
    Write(ir::Register, CellValue),
}

impl RegisterActionRef {
    /// Runs the action on the element with this index. An index beyond the end accesses nothing and returns
    /// 0. Assigned to a field of at most 32 bits, the access gives the low bits of `r.out`. A hash is
    /// accepted as index.
    #[track_caller]
    pub fn execute(self, index: impl ArrayIndex) -> Access {
        Access::new(Code::Action(self.0), index.array_index())
    }

    /// Runs the action on the element of the matched entry. Allowed only in actions of the table that the
    /// register is attached to.
    #[track_caller]
    pub fn at_entry(self) -> Access {
        Access::new(Code::Action(self.0), ir::Index::Entry)
    }
}

impl<const W: u16> RegisterRef<W> {
    /// Returns the element with this index, like an action with `r.out = r.value`. The register action is
    /// declared at first use, as `REGISTER_read`.
    #[track_caller]
    pub fn read(self, index: impl ArrayIndex) -> Access {
        Access::new(Code::Read(self.0), index.array_index())
    }

    /// Writes `value` to the element with this index, like an action with `r.value = value`. Assigned to a
    /// field, the access returns the value written. The register action is declared at first use, as
    /// `REGISTER_write_VALUE` for a constant or a field, otherwise as `REGISTER_write`.
    #[track_caller]
    pub fn write(self, index: impl ArrayIndex, value: impl CellRhs<W>) -> Access {
        Access::new(Code::Write(self.0, value.cell()), index.array_index())
    }
}

impl Access {
    #[track_caller]
    fn new(code: Code, index: ir::Index) -> Access {
        Access { code, index, outputs: Vec::new(), loc: Loc::caller() }
    }

    /// Also writes output word `word` (1 is `r.out1`) to a field.
    pub fn also<const W: u16>(mut self, word: u8, place: impl LValue<W>) -> Access {
        self.outputs.push((word, place.place()));
        self
    }

    fn primitive(self, builder: &Builder) -> PrimitiveKind {
        let Access { code, index, outputs, loc } = self;
        let action = match code {
            Code::Action(action) => action,
            Code::Read(register) => plain(builder, register, None, true, loc),
            Code::Write(register, value) => plain(builder, register, Some(value), !outputs.is_empty(), loc),
        };
        PrimitiveKind::Register(RegisterAccess { action, index, outputs })
    }
}

/// Returns the action that writes `write`, if any, and then returns the element if `read` is true. Declares it if the
/// register has none that does the same.
fn plain(
    builder: &Builder,
    register: ir::Register,
    write: Option<CellValue>,
    read: bool,
    loc: Loc,
) -> ir::RegisterAction {
    let draft = &mut *builder.draft();
    let program = &mut draft.program;
    let name = plain_name(program, register, write.as_ref());
    let written = write.map(|value| CellStmtKind::Write(Half::Lo, value));
    let returned = read.then_some(CellStmtKind::Output(0, CellValue::Half(Half::Lo)));
    let body: Vec<CellStmt> =
        written.into_iter().chain(returned).map(|kind| CellStmt { kind, loc }).collect();
    let same = program.register_actions.iter().find(|(_, a)| a.register == register && a.body == body);
    if let Some((found, _)) = same {
        return found;
    }
    let data = RegisterActionData { name: String::new(), register, body, doc: String::new(), loc };
    let action = program.register_actions.push(data);
    draft.plain.push((action, name));
    action
}

/// Names the actions of plain reads and writes, after all declared ones: these keep their names.
pub(super) fn name_plain(program: &mut Program, plain: Vec<(ir::RegisterAction, String)>) {
    for (action, name) in plain {
        let name = unique(&name, &|n| program.register_actions.values().any(|a| a.name == n));
        program.register_actions[action].name = name;
    }
}

fn plain_name(program: &Program, register: ir::Register, write: Option<&CellValue>) -> String {
    let register = &program.registers[register].name;
    match write {
        None => format!("{register}_read"),
        Some(CellValue::Const(value)) => format!("{register}_write_{value}"),
        Some(CellValue::Phv(value)) => match whole_field(value) {
            Some(field) => {
                let name = &program.fields[field].name;
                format!("{register}_write_{}", name.rsplit('.').next().unwrap_or(name))
            }
            None => format!("{register}_write"),
        },
        Some(_) => format!("{register}_write"),
    }
}

/// Returns the field that the value is, of any width.
fn whole_field(value: &Expr) -> Option<ir::Field> {
    match value {
        Expr::Field(field) => Some(*field),
        Expr::Cast(inner, _) => whole_field(inner),
        _ => None,
    }
}

impl<const W: u16> Rhs<W> for Access {
    fn assign(mut self, place: ir::Field, builder: &Builder) -> PrimitiveKind {
        self.outputs.insert(0, (0, place));
        self.primitive(builder)
    }
}

impl ActionStep for Access {
    fn primitive(self, builder: &Builder) -> PrimitiveKind {
        Access::primitive(self, builder)
    }
}

impl ControlStep for Access {
    fn control_step(self, builder: &Builder) -> Recorded {
        Recorded(StepKind::Primitive(self.primitive(builder)))
    }
}
