//! Printer of declarations.

use super::lex::{escape_doc, is_plain, quote};
use super::scope::{Scope, Space};
use super::source::VERSION;
use super::words::{COUNTERS, FORMATS, IDLE_MODES, LABELS, MATCHES, MODES, algorithm, column, word};
use crate::entity::Entity;
use crate::{
    ActionCall, Algorithmic, Block, ContainerDemand, ContainerRule, Field, FieldData, Header, Home, Next,
    ParamData, Program, Table, TableRules, kind_name,
};
use sluice_asic::gress::Gress;
use std::fmt::Write;

/// The text being written.
pub(super) struct Printer<'p> {
    pub(super) p: &'p Program,
    scope: Scope,
    out: String,
    depth: usize,
    /// Gress whose names need no qualifier.
    pub(super) gress: Option<Gress>,
    /// Parameters of the enclosing action.
    pub(super) params: &'p [ParamData],
}

pub(super) fn program(p: &Program) -> String {
    let scope = Scope::of(p);
    let mut w = Printer { p, scope, out: String::new(), depth: 0, gress: None, params: &[] };
    w.line(format_args!("sluice {VERSION};"));
    w.doc(&p.doc);
    w.line(format_args!("program {};", name(&p.name)));
    for d in &p.params {
        w.doc(&d.doc);
        w.line(format_args!("param {} = {};", name(&d.key), quote(&d.value, '"')));
    }
    w.fields();
    w.stacks();
    w.value_sets();
    w.labels();
    w.hashes();
    w.counters();
    w.registers();
    w.meters();
    w.profiles();
    w.actions();
    w.tables();
    w.together();
    w.container_rules();
    w.parsers();
    for gress in Gress::ALL {
        w.control(gress, gress.name(), &p.pipe(gress).control);
    }
    w.control(Gress::Ingress, "ghost", &p.ghost);
    for gress in Gress::ALL {
        w.deparser(gress);
    }
    w.out
}

/// Returns a name for a declaration, in backticks if it could be read as something else.
pub(super) fn name(name: &str) -> String {
    if is_plain(name) && !matches!(name, "accept" | "reject") { name.to_owned() } else { quote(name, '`') }
}

/// Returns small numbers in decimal, others in hexadecimal.
pub(super) fn int(value: u128) -> String {
    if value < 10 { value.to_string() } else { format!("{value:#x}") }
}

impl<'p> Printer<'p> {
    pub(super) fn line(&mut self, text: std::fmt::Arguments<'_>) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
        // Writing to a String cannot fail.
        let _ = writeln!(self.out, "{text}");
    }

    /// Prints a line that opens a block.
    pub(super) fn open(&mut self, text: std::fmt::Arguments<'_>) {
        self.line(format_args!("{text} {{"));
        self.depth += 1;
    }

    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line(format_args!("}}"));
    }

    /// Prints `} else {` and similar lines.
    pub(super) fn turn(&mut self, text: std::fmt::Arguments<'_>) {
        self.depth -= 1;
        self.line(format_args!("}} {text} {{"));
        self.depth += 1;
    }

    /// Prints a declaration's documentation, after a blank line outside of blocks.
    pub(super) fn doc(&mut self, doc: &str) {
        if self.depth == 0 && !self.out.is_empty() {
            self.out.push('\n');
        }
        if doc.is_empty() {
            return;
        }
        for line in doc.split('\n') {
            self.line(format_args!("/// {}", escape_doc(line)));
        }
    }

    /// Prints `@index(n)` if the index is not the position in the text.
    fn index(&mut self, position: &mut usize, index: usize) {
        if *position != index {
            self.line(format_args!("@index({index})"));
        }
        *position += 1;
    }

    /// Returns the reference of an entity.
    fn entity(&self, space: Space, index: usize, found: Option<(&str, Option<Gress>)>) -> String {
        let Some((text, gress)) = found else { return format!("#{index}") };
        if self.scope.find(space, gress, text) != Some(index as u32) {
            return format!("#{index}");
        }
        match gress.filter(|_| space.per_gress() && gress != self.gress) {
            Some(other) => format!("{other}::{}", name(text)),
            None => name(text),
        }
    }

    pub(super) fn field(&self, f: Field) -> String {
        let data = self.p.fields.get(f);
        let text = self.entity(Space::Field, f.index(), data.map(|d| (d.name.as_str(), Some(d.gress))));
        let alike = |p: &ParamData| data.is_some_and(|d| d.name == p.name && Some(d.gress) == self.gress);
        let hidden = !text.starts_with('#') && self.params.iter().any(alike);
        if hidden { format!(".{text}") } else { text }
    }

    pub(super) fn header(&self, h: Header) -> String {
        let data = self.p.headers.get(h).map(|d| (d.name.as_str(), Some(d.gress)));
        self.entity(Space::Header, h.index(), data)
    }

    pub(super) fn stack(&self, s: crate::Stack) -> String {
        let data = self.p.stacks.get(s).map(|d| (d.name.as_str(), Some(d.gress)));
        self.entity(Space::Stack, s.index(), data)
    }

    pub(super) fn value_set(&self, s: crate::ValueSet) -> String {
        self.entity(Space::ValueSet, s.index(), self.p.value_sets.get(s).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn action(&self, a: crate::Action) -> String {
        self.entity(Space::Action, a.index(), self.p.actions.get(a).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn table(&self, t: Table) -> String {
        self.entity(Space::Table, t.index(), self.p.tables.get(t).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn counter(&self, c: crate::Counter) -> String {
        self.entity(Space::Counter, c.index(), self.p.counters.get(c).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn hash(&self, h: crate::Hash) -> String {
        self.entity(Space::Hash, h.index(), self.p.hashes.get(h).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn label(&self, l: crate::Label) -> String {
        self.entity(Space::Label, l.index(), self.p.labels.get(l).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn register(&self, r: crate::Register) -> String {
        self.entity(Space::Register, r.index(), self.p.registers.get(r).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn register_action(&self, a: crate::RegisterAction) -> String {
        let data = self.p.register_actions.get(a).map(|d| (d.name.as_str(), None));
        self.entity(Space::RegisterAction, a.index(), data)
    }

    pub(super) fn meter(&self, m: crate::Meter) -> String {
        self.entity(Space::Meter, m.index(), self.p.meters.get(m).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn random(&self, r: crate::Random) -> String {
        self.entity(Space::Random, r.index(), self.p.randoms.get(r).map(|d| (d.name.as_str(), None)))
    }

    fn profile(&self, p: crate::Profile) -> String {
        self.entity(Space::Profile, p.index(), self.p.profiles.get(p).map(|d| (d.name.as_str(), None)))
    }

    pub(super) fn next(&self, next: Next) -> String {
        match next {
            Next::Accept => "accept".to_owned(),
            Next::Reject => "reject".to_owned(),
            Next::State(s) => {
                let data = self.p.states.get(s).map(|d| (d.name.as_str(), Some(d.gress)));
                self.entity(Space::State, s.index(), data)
            }
        }
    }

    pub(super) fn call(&self, call: &ActionCall) -> String {
        let args: Vec<String> = call.args.iter().map(|&v| int(v)).collect();
        format!("{}({})", self.action(call.action), args.join(", "))
    }

    /// Prints headers and fields outside of headers, as close to index order as whole headers allow.
    fn fields(&mut self) {
        let mut at = (0, 0);
        let mut done: Vec<bool> = vec![false; self.p.headers.len()];
        let mut block: Option<(&str, Gress)> = None;
        for (f, d) in self.p.fields.iter() {
            let wanted = match d.home {
                Home::Header(_) => None,
                Home::Metadata => Some(("metadata", d.gress)),
                Home::Intrinsic(_) => Some(("intrinsic", d.gress)),
                Home::PortMetadata => Some(("port_metadata", d.gress)),
            };
            if block != wanted && block.take().is_some() {
                self.close();
            }
            match d.home {
                Home::Header(h) => {
                    if let Some(seen) = done.get_mut(h.index()).filter(|seen| !**seen) {
                        *seen = true;
                        self.header_decl(h, &mut at);
                    }
                    continue;
                }
                _ => {
                    if let (None, Some((word, gress))) = (block, wanted) {
                        self.doc("");
                        self.open(format_args!("{word} : {gress}"));
                        block = wanted;
                    }
                }
            }
            self.field_decl(f, d, "", &mut at.1);
        }
        if block.is_some() {
            self.close();
        }
        for h in self.p.headers.keys().filter(|h| !done[h.index()]) {
            self.header_decl(h, &mut at);
        }
    }

    fn header_decl(&mut self, h: Header, at: &mut (usize, usize)) {
        let d = &self.p.headers[h];
        self.doc(&d.doc);
        self.index(&mut at.0, h.index());
        self.open(format_args!("header {} : {}", name(&d.name), d.gress));
        let prefix = format!("{}.", d.name);
        for &f in &d.fields {
            if let Some(data) = self.p.fields.get(f) {
                self.field_decl(f, data, &prefix, &mut at.1);
            }
        }
        self.close();
    }

    fn field_decl(&mut self, f: Field, d: &FieldData, prefix: &str, at: &mut usize) {
        self.doc(&d.doc);
        self.index(at, f.index());
        let short = match d.name.strip_prefix(prefix) {
            Some(short) => name(short),
            None => format!(".{}", name(&d.name)),
        };
        match d.home {
            Home::Intrinsic(which) if which.info().name != d.name => {
                self.line(format_args!("bit<{}> {short} = {};", d.width, which.info().name));
            }
            _ => self.line(format_args!("bit<{}> {short};", d.width)),
        }
    }

    fn stacks(&mut self) {
        for d in self.p.stacks.values() {
            self.gress = Some(d.gress);
            self.doc(&d.doc);
            let headers: Vec<String> = d.headers.iter().map(|&h| format!("{};", self.header(h))).collect();
            self.line(format_args!("stack {} : {} {{ {} }}", name(&d.name), d.gress, headers.join(" ")));
        }
        self.gress = None;
    }

    fn value_sets(&mut self) {
        for d in self.p.value_sets.values() {
            self.doc(&d.doc);
            self.open(format_args!("value_set {} : {}", name(&d.name), d.gress));
            self.line(format_args!("size = {};", d.size));
            for f in &d.fields {
                self.line(format_args!("bit<{}> {};", f.width, name(&f.name)));
            }
            self.close();
        }
    }

    fn together(&mut self) {
        for d in &self.p.together {
            self.doc(&d.doc);
            let registers: Vec<String> = d.registers.iter().map(|r| self.register(*r)).collect();
            let ports: Vec<String> = d.ports.iter().map(|p| quote(&p.to_string(), '"')).collect();
            self.open(format_args!("together {}", name(&d.name)));
            self.line(format_args!("registers = {{ {} }};", registers.join(", ")));
            self.line(format_args!("ports = {{ {} }};", ports.join(", ")));
            self.close();
        }
    }

    /// Prints the rules about containers: those of one gress that follow each other in one block.
    fn container_rules(&mut self) {
        let gress =
            |rule: &ContainerRule| self.p.fields.get(rule.field).map_or(Gress::Ingress, |data| data.gress);
        for rules in self.p.container_rules.chunk_by(|a, b| gress(a) == gress(b)) {
            let of = rules.first().map_or(Gress::Ingress, gress);
            self.gress = Some(of);
            self.doc("");
            self.open(format_args!("containers {of}"));
            for rule in rules {
                let demand = match &rule.demand {
                    ContainerDemand::Sizes(sizes) => {
                        let sizes: Vec<String> = sizes.iter().map(u8::to_string).collect();
                        format!("sizes({})", sizes.join(", "))
                    }
                    ContainerDemand::Kind(kind) => format!("kind({})", kind_name(*kind)),
                    ContainerDemand::Atomic => "atomic".to_owned(),
                    ContainerDemand::Solitary => "solitary".to_owned(),
                    ContainerDemand::NoOverlay => "no_overlay".to_owned(),
                };
                self.line(format_args!("{} : {demand};", self.field(rule.field)));
            }
            self.close();
        }
        self.gress = None;
    }

    fn labels(&mut self) {
        for d in self.p.labels.values() {
            self.doc(&d.doc);
            self.line(format_args!("label {} = {};", name(&d.name), word(&LABELS, &d.kind)));
        }
    }

    fn hashes(&mut self) {
        for d in self.p.hashes.values() {
            self.gress = Some(d.gress);
            self.doc(&d.doc);
            self.open(format_args!("hash {} : {}", name(&d.name), d.gress));
            self.line(format_args!("algorithm = {};", algorithm(&d.algorithm)));
            let inputs: Vec<String> = d.inputs.iter().map(|e| self.expr(e)).collect();
            self.line(format_args!("inputs = {{ {} }};", inputs.join(", ")));
            if !d.symmetric.is_empty() {
                let pairs: Vec<String> = d.symmetric.iter().map(|[a, b]| format!("({a}, {b})")).collect();
                self.line(format_args!("symmetric = {{ {} }};", pairs.join(", ")));
            }
            self.line(format_args!("width = {};", d.width));
            if d.seed != 0 {
                self.line(format_args!("seed = {};", int(d.seed.into())));
            }
            if d.rotate != 0 {
                self.line(format_args!("rotate = {};", d.rotate));
            }
            self.close();
        }
    }

    fn counters(&mut self) {
        for d in self.p.counters.values() {
            self.doc(&d.doc);
            self.open(format_args!("counter {} : {}", name(&d.name), d.gress));
            self.line(format_args!("kind = {};", word(&COUNTERS, &d.kind)));
            self.home(d.home);
            if let Some(format) = &d.cell.format {
                self.line(format_args!("format = {};", word(&FORMATS, format)));
            }
            self.adjustment(d.cell.adjust);
            if d.cell.wraps {
                self.line(format_args!("reads = cell;"));
            }
            self.close();
        }
    }

    /// Prints the bytes that are added to the lengths of packets, or left out of them.
    pub(super) fn adjustment(&mut self, adjust: i16) {
        match adjust {
            0 => {}
            less @ ..0 => self.line(format_args!("leaves_out = {};", less.unsigned_abs())),
            more => self.line(format_args!("adds = {more};")),
        }
    }

    fn profiles(&mut self) {
        for d in self.p.profiles.values() {
            self.doc(&d.doc);
            self.open(format_args!("profile {} : {}", name(&d.name), d.gress));
            self.line(format_args!("size = {};", d.size));
            if let Some(s) = &d.selector {
                self.line(format_args!("selector = {}({});", word(&MODES, &s.mode), self.hash(s.hash)));
                self.line(format_args!("groups = {};", s.groups));
                self.line(format_args!("max_group_size = {};", s.max_group_size));
                if s.scramble {
                    self.line(format_args!("scramble = on;"));
                }
            }
            self.close();
        }
    }

    fn actions(&mut self) {
        for d in self.p.actions.values() {
            self.gress = Some(d.gress);
            self.doc(&d.doc);
            let params: Vec<String> =
                d.params.iter().map(|p| format!("bit<{}> {}", p.width, name(&p.name))).collect();
            self.open(format_args!("action {} : {} ({})", name(&d.name), d.gress, params.join(", ")));
            self.params = &d.params;
            for primitive in &d.body {
                self.primitive(&primitive.kind);
            }
            self.params = &[];
            self.close();
        }
    }

    fn tables(&mut self) {
        for d in self.p.tables.values() {
            self.gress = Some(d.gress);
            self.doc(&d.doc);
            self.open(format_args!("table {} : {}", name(&d.name), d.gress));
            if !d.keys.is_empty() {
                let keys: Vec<String> = d
                    .keys
                    .iter()
                    .map(|k| format!("{} : {};", self.key(k), word(&MATCHES, &k.kind)))
                    .collect();
                self.line(format_args!("key = {{ {} }}", keys.join(" ")));
            }
            if !d.actions.is_empty() {
                let actions: Vec<String> =
                    d.actions.iter().map(|&a| format!("{};", self.action(a))).collect();
                self.line(format_args!("actions = {{ {} }}", actions.join(" ")));
            }
            let constant = if d.constant_default { "const " } else { "" };
            self.line(format_args!("{constant}default_action = {};", self.call(&d.default)));
            self.line(format_args!("size = {};", d.size));
            if let Some(p) = d.profile {
                self.line(format_args!("profile = {};", self.profile(p)));
            }
            if let Some(pin) = d.pin {
                self.line(format_args!("pin = {pin};"));
            }
            if let Some(idle) = &d.idle {
                let (mode, bits) = (word(&IDLE_MODES, &idle.mode), idle.bits);
                self.line(format_args!("idle = {mode}({bits}, \"{}\", \"{}\");", idle.interval, idle.ttl));
            }
            self.table_rules(&d.rules);
            match d.algorithmic {
                Some(Algorithmic::Alpm { partitions, subtrees }) => {
                    self.line(format_args!("alpm = partitions({partitions}, {subtrees});"));
                }
                Some(Algorithmic::Atcam { partition, partitions }) => {
                    self.line(format_args!("atcam = {}({partitions});", self.field(partition)));
                }
                None => {}
            }
            if !d.entries.is_empty() {
                self.open(format_args!("const entries ="));
                for e in &d.entries {
                    let key: Vec<String> = e.key.iter().map(|&v| column(v)).collect();
                    self.line(format_args!("({}) : {};", key.join(", "), self.call(&e.then)));
                }
                self.close();
            }
            self.close();
        }
    }

    fn table_rules(&mut self, rules: &TableRules) {
        if let Some(entries) = rules.pin_entries {
            self.line(format_args!("pin_entries = {entries};"));
        }
        if let Some(ways) = rules.ways {
            self.line(format_args!("ways = {ways};"));
        }
        if let Some(pack) = rules.pack {
            self.line(format_args!("pack = {pack};"));
        }
        if rules.priority != 0 {
            let sign = if rules.priority < 0 { "-" } else { "" };
            self.line(format_args!("priority = {sign}{};", rules.priority.unsigned_abs()));
        }
    }

    fn parsers(&mut self) {
        let mut at = 0;
        for gress in Gress::ALL {
            let start = self.p.pipe(gress).start;
            let states: Vec<_> = self.p.states.iter().filter(|(_, s)| s.gress == gress).collect();
            if start == Next::Accept && states.is_empty() {
                continue;
            }
            self.gress = Some(gress);
            self.doc("");
            self.open(format_args!("parser {gress}"));
            self.line(format_args!("start = {};", self.next(start)));
            for (s, d) in states {
                self.doc(&d.doc);
                self.index(&mut at, s.index());
                self.open(format_args!("state {}", name(&d.name)));
                self.state(d);
                self.close();
            }
            self.close();
        }
    }

    fn control(&mut self, gress: Gress, word: &str, block: &Block) {
        if !block.is_empty() {
            self.gress = Some(gress);
            self.doc("");
            self.open(format_args!("control {word}"));
            self.block(block);
            self.close();
        }
    }
}
