//! Registers and register actions.

mod cell;

use super::Writer;
use super::ghost::Side;
use super::page::Page;
use super::unit::Array;
use super::value::number;
use sluice_asic::salu::{Format, SaluOp};
use sluice_ir::{
    CellStmtKind, CounterHome, PrimitiveKind, Program, Register, RegisterAccess, RegisterAction,
};

/// Returns the type of an element.
fn element(format: Format) -> String {
    if format.is_pair() {
        format!("pair_{}_t", format.half_bits())
    } else {
        format!("bit<{}>", format.element_bits())
    }
}

/// Writes the structures of pairs.
pub(super) fn write_types(p: &Program, page: &mut Page) {
    let pairs = p.registers.values().map(|d| d.format).filter(|format| format.is_pair());
    let mut widths: Vec<u32> = pairs.map(Format::half_bits).collect();
    widths.sort_unstable();
    widths.dedup();
    for bits in widths {
        page.gap();
        page.comment("The two halves of an element of a register.");
        page.open(&format!("struct pair_{bits}_t"));
        page.line(&format!("bit<{bits}> lo;"));
        page.line(&format!("bit<{bits}> hi;"));
        page.close("");
    }
}

impl Writer<'_> {
    /// Declares the registers that ingress and the ghost control share, before all controls.
    pub(super) fn shared_registers(&mut self) {
        let page = std::mem::take(&mut self.page);
        for register in
            self.p.registers.keys().filter(|r| self.ghost.registers[*r] == Side::Both).collect::<Vec<_>>()
        {
            self.register_itself(register);
        }
        self.before = std::mem::replace(&mut self.page, page);
    }

    /// Declares a register with its parameters and actions.
    pub(super) fn declare_register(&mut self, register: Register) {
        let own = match self.ghost.registers[register] {
            Side::Pipe => !self.in_ghost,
            Side::Ghost => self.in_ghost,
            Side::Both => false,
        };
        if own {
            self.register_itself(register);
        }
        let (ghost, in_ghost) = (&self.ghost.register_actions, self.in_ghost);
        let here = |action: &RegisterAction| (ghost[*action] == Side::Ghost) == in_ghost;
        let actions = self.p.actions_of(register).map(|(action, _)| action);
        let actions: Vec<RegisterAction> = actions.filter(here).collect();
        for action in actions {
            self.declare_register_action(register, action);
        }
    }

    fn register_itself(&mut self, register: Register) {
        let data = &self.p.registers[register];
        let name = self.names.registers[register].clone();
        let ty = element(data.format);
        let [lo, hi] = data.init.map(|value| number(value.into()));
        let initial = match (data.init, data.format.is_pair()) {
            ([0, 0], _) => None,
            (_, true) => Some(format!("{{ {lo}, {hi} }}")),
            (_, false) => Some(lo),
        };
        let made = match data.home {
            CounterHome::Direct(_) => format!("DirectRegister<{ty}>({})", initial.unwrap_or_default()),
            CounterHome::Indirect(size) => {
                let index = self.index_type(Array::Register(register));
                let initial = initial.map_or(String::new(), |initial| format!(", {initial}"));
                format!("Register<{ty}, {index}>({size}{initial})")
            }
        };
        self.page.gap_for(&data.doc);
        self.page.comment(&data.doc);
        let annotation = name.annotation().map_or(String::new(), |text| text + " ");
        self.page.line(&format!("{annotation}{made} {};", name.text));
        for (n, param) in data.params.iter().enumerate() {
            let of = self.names.taken[data.gress.index()].take(&param.name, "param");
            let annotation = of.annotation().map_or(String::new(), |text| text + " ");
            let bits = data.format.half_bits();
            self.page.line(&format!("{annotation}RegisterParam<bit<{bits}>>({}) {};", param.init, of.text));
            self.register_params.push((register, n as u8, of.text));
        }
    }

    fn declare_register_action(&mut self, register: Register, action: RegisterAction) {
        let p = self.p;
        let data = &p.register_actions[action];
        let format = p.registers[register].format;
        self.math_units(action, format);
        let name = self.names.register_actions[action].clone();
        self.page.gap();
        self.page.comment(&data.doc);
        if let Some(annotation) = name.annotation() {
            self.page.line(&annotation);
        }
        let ty = element(format);
        let words = self.words(action);
        let widths: Vec<u16> = (0..words.max(1)).map(|word| self.word_bits(action, word)).collect();
        let types: Vec<String> = widths.iter().map(|bits| format!("bit<{bits}>")).collect();
        let (direct, index) = match p.registers[register].home {
            CounterHome::Direct(_) => ("Direct", Vec::new()),
            CounterHome::Indirect(_) => ("", vec![self.index_type(Array::Register(register))]),
        };
        let several = if words > 1 { words.to_string() } else { String::new() };
        let args: Vec<String> = [ty.clone()].into_iter().chain(index).chain(types.iter().cloned()).collect();
        let of = self.names.registers[register].text.clone();
        self.page.open(&format!(
            "{direct}RegisterAction{several}<{}>({of}) {} =",
            args.join(", "),
            name.text
        ));
        let outputs = types.iter().enumerate().take(words as usize);
        let outputs: Vec<String> =
            outputs.map(|(word, ty)| format!(", out {ty} {}", cell::word_name(word as u8, words))).collect();
        self.page.open(&format!("void apply(inout {ty} value{})", outputs.concat()));
        let code = cell::Code { register, format, widths, words, word: 0 };
        for half in cell::old_halves(data) {
            let (of, from) = (cell::old_name(&code, half), cell::half_name(&code, half));
            self.page.line(&format!("bit<{}> {of} = {from};", format.half_bits()));
        }
        for stmt in &data.body {
            self.cell_stmt(&code, stmt);
        }
        self.page.close("");
        self.page.close(";");
        self.math.clear();
    }

    /// Declares the math units of a register action.
    fn math_units(&mut self, action: RegisterAction, format: Format) {
        let name = self.names.register_actions[action].text.clone();
        for unit in cell::math_units(&self.p.register_actions[action].body) {
            let of = self.names.taken[self.gress.index()].numbered(&format!("{name}_math"));
            let table: Vec<String> = unit.table().iter().rev().map(u8::to_string).collect();
            let args = format!("{}, {}, {}", unit.invert(), unit.shift(), unit.scale());
            self.page.gap();
            let before = format!("MathUnit<bit<{}>>({args}, {{ ", format.math_bits());
            self.page.list(&before, &table, &format!(" }}) {of};"));
            self.math.push((unit, of));
        }
    }

    /// Returns the number of output words of a register action.
    fn words(&self, action: RegisterAction) -> u8 {
        let mut words = 0;
        self.p.register_actions[action].statements(&mut |stmt| {
            if let CellStmtKind::Output(word, _) = stmt.kind {
                words = words.max(word + 1);
            }
        });
        words
    }

    /// Returns the width of an output word: that of the widest field that takes it.
    fn word_bits(&self, action: RegisterAction, word: u8) -> u16 {
        let bodies = self.p.actions.values().flat_map(|action| &action.body);
        let accesses = bodies.filter_map(|primitive| match &primitive.kind {
            PrimitiveKind::Register(access) if access.action == action => Some(access),
            _ => None,
        });
        let fields = accesses.flat_map(|access| &access.outputs).filter(|(of, _)| *of == word);
        let widest = fields.map(|(_, field)| self.p.fields[*field].width).max();
        let register = self.p.register_actions[action].register;
        widest.unwrap_or(self.p.registers[register].format.half_bits().min(32) as u16)
    }

    /// Writes an access to a register.
    pub(super) fn register_access(&mut self, access: &RegisterAccess) {
        let p = self.p;
        let action = access.action;
        let bits = self.index_bits(Array::Register(p.register_actions[action].register));
        let mut args: Vec<String> = self.index(&access.index, bits).into_iter().collect();
        for word in 1..self.words(action) {
            let field = access.outputs.iter().find(|(of, _)| *of == word);
            args.push(field.map_or("_".to_owned(), |(_, field)| self.layout.fields[*field].clone()));
        }
        let call = format!("{}.execute({})", self.names.register_actions[action].text, args.join(", "));
        let text = match access.outputs.iter().find(|(word, _)| *word == 0) {
            Some((_, field)) => {
                let (from, to) = (self.word_bits(action, 0), p.fields[*field].width);
                format!("{} = {}", self.layout.fields[*field], super::action::resized(&call, from, to))
            }
            None => call,
        };
        self.page.line(&format!("{text};"));
    }
}

/// Returns true if P4 has an instruction of a stateful ALU.
pub(super) fn cell_op(op: SaluOp) -> bool {
    cell::alu_op(op).is_some()
}
