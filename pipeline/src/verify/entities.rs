//! Rules about single declarations, and that every handle points somewhere. What may not live here: rules
//! about what happens to a packet.

use super::Diag;
use crate::entity::EntityMap;
use crate::ir::{
    Action, ApplyArms, Block, Cond, CounterHome, Expr, Field, Header, Home, Loc, Next, ParserOpKind,
    PrimitiveKind, Program, StmtKind, Table,
};
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

/// Checks all declarations.
pub(super) fn check(program: &Program) -> Vec<Diag> {
    let mut c = Check { program, diags: Vec::new() };
    c.names();
    c.fields();
    c.states();
    c.actions();
    c.tables();
    for gress in Gress::ALL {
        let pipe = program.pipe(gress);
        c.next(pipe.start, gress, Loc::default());
        c.block(&pipe.control, gress);
        for &h in &pipe.deparser.emit {
            c.header(h, gress, Loc::default());
        }
        for update in &pipe.deparser.checksums {
            c.header(update.header, gress, update.loc);
            update.inputs.iter().chain([&update.field]).for_each(|&f| c.field(f, gress, update.loc));
        }
    }
    c.diags
}

struct Check<'a> {
    program: &'a Program,
    diags: Vec<Diag>,
}

impl Check<'_> {
    fn error(&mut self, at: Loc, text: String, help: &str) {
        self.diags.push(Diag::error(at, text).help(help));
    }

    fn field(&mut self, field: Field, gress: Gress, at: Loc) {
        match self.program.fields.get(field) {
            None => self.error(at, format!("{field:?} is not declared"), "declare it before it is used"),
            Some(d) if d.gress != gress => {
                let text = format!("{gress} uses `{}`, which belongs to {}", d.name, d.gress);
                self.error(
                    at,
                    text,
                    "only bytes cross between gresses: emit a bridged header and extract it",
                );
            }
            Some(_) => {}
        }
    }

    fn header(&mut self, header: Header, gress: Gress, at: Loc) {
        match self.program.headers.get(header) {
            None => self.error(at, format!("{header:?} is not declared"), "declare it before it is used"),
            Some(d) if d.gress != gress => {
                let text = format!("{gress} uses header `{}`, which belongs to {}", d.name, d.gress);
                self.error(at, text, "declare an instance of the header in each gress");
            }
            Some(_) => {}
        }
    }

    fn expr(&mut self, e: &Expr, gress: Gress, at: Loc) {
        let mut fields = Vec::new();
        e.fields(&mut |f| fields.push(f));
        fields.into_iter().for_each(|f| self.field(f, gress, at));
    }

    fn next(&mut self, next: Next, gress: Gress, at: Loc) {
        if let Next::State(s) = next {
            match self.program.states.get(s) {
                None => self.error(at, format!("{s:?} is not declared"), "declare the state"),
                Some(d) if d.gress != gress => {
                    let text = format!("the {gress} parser goes to state `{}` of {}", d.name, d.gress);
                    self.error(at, text, "give each gress states of its own");
                }
                Some(_) => {}
            }
        }
    }

    fn names(&mut self) {
        let p = self.program;
        let scoped = |gress: Gress, name: &str| format!("{gress} {name}");
        self.unique("field", p.fields.values().map(|d| (scoped(d.gress, &d.name), d.loc)).collect());
        self.unique("header", p.headers.values().map(|d| (scoped(d.gress, &d.name), d.loc)).collect());
        self.unique("parser state", p.states.values().map(|d| (scoped(d.gress, &d.name), d.loc)).collect());
        self.unique("action", p.actions.values().map(|d| (d.name.clone(), d.loc)).collect());
        self.unique("table", p.tables.values().map(|d| (d.name.clone(), d.loc)).collect());
        self.unique("profile", p.profiles.values().map(|d| (d.name.clone(), d.loc)).collect());
        self.unique("counter", p.counters.values().map(|d| (d.name.clone(), d.loc)).collect());
        self.unique("hash", p.hashes.values().map(|d| (d.name.clone(), d.loc)).collect());
        self.unique("label", p.labels.values().map(|d| (d.name.clone(), d.loc)).collect());
        for label in p.labels.values() {
            let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if label.name.is_empty() || !label.name.chars().all(snake) {
                self.error(
                    label.loc,
                    format!("label `{}` is not snake_case", label.name),
                    "labels are drop reasons in reports: use lower-case letters, digits and _",
                );
            }
        }
    }

    fn unique(&mut self, kind: &str, names: Vec<(String, Loc)>) {
        let mut seen: BTreeMap<String, Loc> = BTreeMap::new();
        for (name, loc) in names {
            if let Some(first) = seen.get(&name) {
                let diag =
                    Diag::error(loc, format!("{kind} `{name}` is declared twice")).also(*first, "first one");
                self.diags.push(diag.help("give one of them another name"));
            } else {
                seen.insert(name, loc);
            }
        }
    }

    fn fields(&mut self) {
        for d in self.program.fields.values() {
            if !(1..=128).contains(&d.width) {
                let text = format!("field `{}` has {} bits; fields have 1 to 128", d.name, d.width);
                self.error(d.loc, text, "split it into several fields");
            }
            if let Home::Header(h) = d.home {
                self.header(h, d.gress, d.loc);
            }
        }
        for (h, d) in self.program.headers.iter() {
            d.fields.iter().for_each(|&f| self.field(f, d.gress, d.loc));
            let known = d.fields.iter().all(|&f| self.program.fields.get(f).is_some());
            let bits = if known { self.program.header_bits(h) } else { 8 };
            if bits % 8 != 0 || bits == 0 {
                let text = format!("header `{}` has {bits} bits; headers have whole bytes", d.name);
                self.error(d.loc, text, "add a padding field");
            }
        }
        for d in self.program.hashes.values() {
            for input in &d.inputs {
                self.expr(input, d.gress, d.loc);
                if !matches!(input, Expr::Field(_) | Expr::Const(..)) {
                    let text = format!("hash `{}` has an input that is neither field nor constant", d.name);
                    self.error(d.loc, text, "compute the value in an earlier action");
                }
            }
            if let Err(e) = d.function() {
                self.error(d.loc, format!("hash `{}`: {e}", d.name), "");
            }
        }
    }

    fn states(&mut self) {
        for d in self.program.states.values() {
            for op in &d.ops {
                match &op.kind {
                    ParserOpKind::Extract(h) => self.header(*h, d.gress, op.loc),
                    ParserOpKind::Set(f, e) => {
                        self.field(*f, d.gress, op.loc);
                        self.expr(e, d.gress, op.loc);
                    }
                    ParserOpKind::VerifyChecksum(f, inputs) => {
                        inputs.iter().chain([f]).for_each(|&f| self.field(f, d.gress, op.loc));
                    }
                }
            }
            d.select.iter().for_each(|&f| self.field(f, d.gress, d.loc));
            d.arms.iter().map(|a| a.next).chain([d.default]).for_each(|n| self.next(n, d.gress, d.loc));
        }
    }

    fn actions(&mut self) {
        let p = self.program;
        for d in p.actions.values() {
            for step in &d.body {
                match &step.kind {
                    PrimitiveKind::Set(f, e) => {
                        self.field(*f, d.gress, step.loc);
                        self.expr(e, d.gress, step.loc);
                    }
                    PrimitiveKind::SetValid(h, _) => self.header(*h, d.gress, step.loc),
                    PrimitiveKind::Hash(f, h) => {
                        self.field(*f, d.gress, step.loc);
                        self.exists(&p.hashes, *h, step.loc);
                    }
                    PrimitiveKind::Count(c, e) => {
                        self.exists(&p.counters, *c, step.loc);
                        self.expr(e, d.gress, step.loc);
                    }
                    PrimitiveKind::CountDirect(c) => self.exists(&p.counters, *c, step.loc),
                    PrimitiveKind::Drop(l) => self.exists(&p.labels, *l, step.loc),
                }
            }
        }
    }

    fn exists<K: crate::entity::Entity, V>(&mut self, map: &EntityMap<K, V>, key: K, at: Loc) {
        if map.get(key).is_none() {
            self.error(at, format!("{key:?} is not declared"), "declare it before it is used");
        }
    }

    fn action(&mut self, action: Action, gress: Gress, at: Loc) {
        match self.program.actions.get(action) {
            None => self.error(at, format!("{action:?} is not declared"), "declare the action"),
            Some(d) if d.gress != gress => {
                let text = format!("{gress} runs action `{}`, which belongs to {}", d.name, d.gress);
                self.error(at, text, "declare an action in each gress");
            }
            Some(_) => {}
        }
    }

    fn tables(&mut self) {
        let p = self.program;
        for d in p.tables.values() {
            d.keys.iter().for_each(|k| self.field(k.field, d.gress, d.loc));
            d.actions.iter().chain([&d.default.action]).for_each(|&a| self.action(a, d.gress, d.loc));
            d.entries.iter().for_each(|e| self.action(e.then.action, d.gress, d.loc));
            if let Some(profile) = d.profile {
                self.exists(&p.profiles, profile, d.loc);
            }
        }
        for d in p.profiles.values() {
            if let Some(s) = &d.selector {
                self.exists(&p.hashes, s.hash, d.loc);
            }
        }
        for d in p.counters.values() {
            if let CounterHome::Direct(t) = d.home {
                self.exists(&p.tables, t, d.loc);
            }
        }
    }

    fn block(&mut self, block: &Block, gress: Gress) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Apply(t, arms) => {
                    self.apply(*t, gress, stmt.loc);
                    self.arms(arms, gress, stmt.loc);
                }
                StmtKind::If(cond, then, otherwise) => {
                    self.cond(cond, gress, stmt.loc);
                    self.block(then, gress);
                    self.block(otherwise, gress);
                }
                StmtKind::Call(a) => self.action(*a, gress, stmt.loc),
            }
        }
    }

    fn apply(&mut self, table: Table, gress: Gress, at: Loc) {
        match self.program.tables.get(table) {
            None => self.error(at, format!("{table:?} is not declared"), "declare the table"),
            Some(d) if d.gress != gress => {
                let text = format!("{gress} applies table `{}`, which belongs to {}", d.name, d.gress);
                self.error(at, text, "declare a table in each gress");
            }
            Some(_) => {}
        }
    }

    fn arms(&mut self, arms: &ApplyArms, gress: Gress, at: Loc) {
        self.block(&arms.hit, gress);
        self.block(&arms.miss, gress);
        for (action, block) in &arms.run {
            self.action(*action, gress, at);
            self.block(block, gress);
        }
    }

    fn cond(&mut self, cond: &Cond, gress: Gress, at: Loc) {
        let (mut fields, mut headers) = (Vec::new(), Vec::new());
        cond.reads(&mut |f| fields.push(f), &mut |h| headers.push(h));
        fields.into_iter().for_each(|f| self.field(f, gress, at));
        headers.into_iter().for_each(|h| self.header(h, gress, at));
    }
}
