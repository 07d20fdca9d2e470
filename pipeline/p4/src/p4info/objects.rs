//! Extern objects, value sets and headers of the controller.

use super::{Kind, Writer, has, name_of, own_name, text_of};
use crate::check::{Callee, Checked, TyKind};
use crate::elaborate::{Binding, ObjectId, Pipe, TableId, code_of};
use crate::syntax::ast::{Ast, DeclId, DeclKind, Direction, ExprKind};

/// The greatest number of members of a group that a selector has unless it says another.
const GROUP_SIZE: u32 = 120;

/// Returns the kind of message that an object has; `None` if P4Runtime has none.
pub(super) fn kind(ast: &Ast, pipe: &Pipe, id: ObjectId) -> Option<Kind> {
    match extern_name(ast, pipe, id) {
        "Counter" => Some(Kind::Counter),
        "DirectCounter" => Some(Kind::DirectCounter),
        "Meter" => Some(Kind::Meter),
        "DirectMeter" => Some(Kind::DirectMeter),
        "Register" => Some(Kind::Register),
        "Digest" => Some(Kind::Digest),
        "ActionProfile" => Some(Kind::ActionProfile),
        // A selector with a profile of its own; other selectors name theirs.
        "ActionSelector" if own_profile(ast, pipe, id).is_none() => Some(Kind::ActionProfile),
        _ => None,
    }
}

/// Returns true if an object is an action selector.
pub(super) fn is_selector(ast: &Ast, pipe: &Pipe, id: ObjectId) -> bool {
    extern_name(ast, pipe, id) == "ActionSelector"
}

/// Returns true if entries give the value of an action's parameter.
pub(super) fn is_given_by_entries(ast: &Ast, param: DeclId) -> bool {
    matches!(&ast.decls[param].kind, DeclKind::Param(of) if of.direction == Direction::None)
}

/// Returns the headers of packets from and to the controller.
pub(super) fn controller_headers(ast: &Ast) -> impl Iterator<Item = DeclId> + '_ {
    let headers = ast.decls.iter().filter(|(_, decl)| matches!(decl.kind, DeclKind::Header(_)));
    headers.filter(|(_, decl)| has(ast, &decl.annotations, "controller_header")).map(|(id, _)| id)
}

/// Returns the counters and meters that have a cell for each entry of a table: objects that its actions use.
pub(super) fn direct(ast: &Ast, checked: &Checked, pipe: &Pipe, table: TableId) -> Vec<(Kind, ObjectId)> {
    let data = &pipe.tables[table];
    let mut found: Vec<(Kind, ObjectId)> = Vec::new();
    let mut add = |object: ObjectId| {
        let kind = kind(ast, pipe, object);
        let kind = kind.filter(|kind| matches!(kind, Kind::DirectCounter | Kind::DirectMeter));
        if let Some(kind) = kind.filter(|_| found.iter().all(|(_, known)| *known != object)) {
            found.push((kind, object));
        }
    };
    data.objects.iter().for_each(|(_, object)| add(*object));
    for (action, _) in &data.actions {
        let Some(block) = pipe.actions[*action].block else { continue };
        for expr in code_of(ast, pipe.actions[*action].decl) {
            let ExprKind::Call { callee, .. } = &ast.exprs[expr].kind else { continue };
            let is_method =
                matches!(checked.calls.get(&expr).map(|call| call.callee), Some(Callee::Method(_)));
            let ExprKind::Member { base, .. } = &ast.exprs[*callee].kind else { continue };
            if let Some(Binding::Object(object)) = pipe.instance(checked, block, *base).filter(|_| is_method)
            {
                add(*object);
            }
        }
    }
    found
}

fn extern_name<'a>(ast: &'a Ast, pipe: &Pipe, id: ObjectId) -> &'a str {
    ast.text(ast.decls[pipe.objects[id].decl].name)
}

/// Returns the action profile that a selector names.
fn own_profile(ast: &Ast, pipe: &Pipe, selector: ObjectId) -> Option<ObjectId> {
    let args = pipe.objects[selector].args.iter().flatten();
    let mut objects = args.filter_map(|arg| match arg {
        Binding::Object(object) => Some(*object),
        _ => None,
    });
    objects.find(|object| extern_name(ast, pipe, *object) == "ActionProfile")
}

impl Writer<'_> {
    /// Writes all objects that have messages, by kind.
    pub(super) fn objects(&mut self) {
        let (ast, pipe) = (self.ast, self.pipe);
        let seen: Vec<(Kind, ObjectId)> = pipe
            .objects
            .iter()
            .filter(|(_, object)| !object.hidden)
            .filter_map(|(id, _)| Some((kind(ast, pipe, id)?, id)))
            .collect();
        let mut of = |wanted: Kind, write: fn(&mut Self, ObjectId)| {
            seen.iter().filter(|(kind, _)| *kind == wanted).for_each(|(_, id)| write(self, *id));
        };
        of(Kind::ActionProfile, Self::action_profile);
        of(Kind::Counter, Self::counter);
        of(Kind::DirectCounter, Self::direct_counter);
        of(Kind::Meter, Self::meter);
        of(Kind::DirectMeter, Self::direct_meter);
        controller_headers(ast).for_each(|header| self.controller_header(header));
        self.value_sets();
        for (_, id) in seen.iter().filter(|(kind, _)| *kind == Kind::Register) {
            self.register(*id);
        }
        for (_, id) in seen.iter().filter(|(kind, _)| *kind == Kind::Digest) {
            self.digest(*id);
        }
    }

    fn begin(&mut self, list: &str, kind: Kind, id: ObjectId) {
        let name = self.pipe.objects[id].name.clone();
        self.out.open(list);
        self.preamble(kind, &name);
    }

    /// Returns the action profile of an implementation: itself, or that of a selector.
    pub(super) fn profile_of(&self, object: ObjectId) -> ObjectId {
        own_profile(self.ast, self.pipe, object).unwrap_or(object)
    }

    fn action_profile(&mut self, id: ObjectId) {
        let (ast, pipe) = (self.ast, self.pipe);
        self.begin("action_profiles", Kind::ActionProfile, id);
        let uses = |object: &ObjectId| *object == id || own_profile(ast, pipe, *object) == Some(id);
        for table in pipe.tables.values().filter(|table| table.objects.iter().any(|(_, object)| uses(object)))
        {
            self.out.field("table_ids", self.ids.id(Kind::Table, &table.name));
        }
        let selector = pipe.objects.keys().find(|object| is_selector(ast, pipe, *object) && uses(object));
        if selector.is_some() {
            self.out.field("with_selector", true);
        }
        if let Some(size) = self.number(&pipe.objects[id], "size") {
            self.out.field("size", size);
        }
        if let Some(selector) = selector {
            let most = self.number(&pipe.objects[selector], "max_group_size").unwrap_or(GROUP_SIZE);
            self.out.field("max_group_size", most);
        }
        self.out.close();
    }

    /// Writes the unit of a counter, from its constructor.
    fn counter_spec(&mut self, id: ObjectId) {
        let object = &self.pipe.objects[id];
        let value = match self.made_with(object, "type") {
            Some(Binding::Value(value)) => Some(value),
            _ => None,
        };
        let unit = self.unit(value);
        self.out.message("spec", |text| text.field("unit", unit));
    }

    /// Writes the unit of a meter, from its constructor.
    fn meter_spec(&mut self, id: ObjectId) {
        let object = &self.pipe.objects[id];
        let value = match self.made_with(object, "type") {
            Some(Binding::Value(value)) => Some(value),
            _ => None,
        };
        let unit = if self.unit(value) == "PACKETS" { "PACKETS" } else { "BYTES" };
        self.out.message("spec", |text| text.field("unit", unit));
    }

    fn size(&mut self, id: ObjectId) {
        if let Some(size) = self.number(&self.pipe.objects[id], "size") {
            self.out.field("size", size);
        }
    }

    fn counter(&mut self, id: ObjectId) {
        self.begin("counters", Kind::Counter, id);
        self.counter_spec(id);
        self.size(id);
        self.out.close();
    }

    fn direct_counter(&mut self, id: ObjectId) {
        self.begin("direct_counters", Kind::DirectCounter, id);
        self.counter_spec(id);
        self.direct_table(id);
        self.out.close();
    }

    fn meter(&mut self, id: ObjectId) {
        self.begin("meters", Kind::Meter, id);
        self.meter_spec(id);
        self.size(id);
        self.out.close();
    }

    fn direct_meter(&mut self, id: ObjectId) {
        self.begin("direct_meters", Kind::DirectMeter, id);
        self.meter_spec(id);
        self.direct_table(id);
        self.out.close();
    }

    fn direct_table(&mut self, id: ObjectId) {
        let (ast, pipe) = (self.ast, self.pipe);
        let of = |table: &TableId| direct(ast, self.checked, pipe, *table).iter().any(|(_, o)| *o == id);
        if let Some(table) = pipe.tables.keys().find(of) {
            self.out.field("direct_table_id", self.ids.id(Kind::Table, &pipe.tables[table].name));
        }
    }

    fn register(&mut self, id: ObjectId) {
        self.begin("registers", Kind::Register, id);
        self.element("type_spec", id);
        self.size(id);
        self.out.close();
    }

    fn digest(&mut self, id: ObjectId) {
        self.begin("digests", Kind::Digest, id);
        self.element("type_spec", id);
        self.out.close();
    }

    /// Writes the first type argument of an object.
    fn element(&mut self, name: &str, id: ObjectId) {
        let of = match self.checked.types.kind(self.pipe.objects[id].ty) {
            TyKind::Extern(_, args) => args.first().copied(),
            _ => None,
        };
        if let Some(of) = of {
            self.type_spec(name, of);
        }
    }

    fn value_sets(&mut self) {
        let (ast, pipe) = (self.ast, self.pipe);
        for set in pipe.value_sets.values() {
            self.out.open("value_sets");
            self.preamble(Kind::ValueSet, &set.name);
            let DeclKind::ValueSet { of, .. } = &ast.decls[set.decl].kind else { continue };
            let ty = pipe.concrete(ast, self.checked, set.block, self.checked.type_uses[*of]);
            let fields = match self.checked.types.kind(ty) {
                TyKind::Struct(decl, _) => match &ast.decls[*decl].kind {
                    DeclKind::Struct(of) => of.fields.clone(),
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            };
            if fields.is_empty() {
                self.out.open("match");
                self.out.field("id", 1);
                self.bit_width(ty);
                self.out.field("match_type", "EXACT");
                self.out.close();
            }
            for (number, field) in (1..).zip(fields) {
                self.out.open("match");
                self.out.field("id", number);
                self.out.string("name", &own_name(ast, field));
                self.bit_width(self.checked.decl_types[field]);
                let kind = ast.decls[field].annotations.iter().find(|a| ast.text(a.name) == "match");
                let kind = kind.and_then(|kind| text_of(ast, kind)).unwrap_or("exact");
                self.out.field("match_type", kind.to_ascii_uppercase());
                self.out.close();
            }
            self.out.field("size", set.size);
            self.out.close();
        }
    }

    fn controller_header(&mut self, header: DeclId) {
        let ast = self.ast;
        let decl = &ast.decls[header];
        let annotation = decl.annotations.iter().find(|a| ast.text(a.name) == "controller_header");
        let name = annotation.and_then(|annotation| text_of(ast, annotation)).unwrap_or_default();
        let id = self.ids.id(Kind::ControllerHeader, ast.text(decl.name));
        self.out.open("controller_packet_metadata");
        self.out.message("preamble", |text| {
            text.field("id", id);
            text.string("name", name);
            text.string("alias", name);
            text.string("annotations", &format!("@controller_header(\"{name}\")"));
        });
        let DeclKind::Header(fields) = &decl.kind else { return };
        for (number, field) in (1..).zip(&fields.fields) {
            let annotations = &ast.decls[*field].annotations;
            self.out.open("metadata");
            self.out.field("id", number);
            self.out.string("name", name_of(ast, annotations).unwrap_or(ast.text(ast.decls[*field].name)));
            if has(ast, annotations, "padding") {
                self.out.string("annotations", "@padding");
            }
            self.bit_width(self.checked.decl_types[*field]);
            self.out.close();
        }
        self.out.close();
    }
}
