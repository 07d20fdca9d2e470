//! Properties of tables: action profiles and selectors, algorithmic TCAMs, ageing, stages.

use super::super::frame::Frame;
use super::super::name::Space;
use super::super::{Lower, Res};
use crate::elaborate::{ObjectId, TableId};
use crate::source::Span;
use crate::syntax::ast::{Annotation, AnnotationBody, AnnotationTokenKind, Ast, TableDecl};
use sluice_asic::select::SelectorMode;
use sluice_asic::units::Duration;
use sluice_ir::{self as ir, Algorithmic, IdleTimeout, ProfileData, SelectorData};

use super::super::externs::Unit;

/// Time to live and interval of sweeps of a table whose entries age; the control plane of a switch sets its own.
const IDLE: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(1));

/// Partitions of an algorithmic TCAM whose annotation gives no number.
const ATCAM_PARTITIONS: u64 = 1024;

impl<'a> Lower<'a> {
    pub(super) fn properties(
        &mut self,
        frame: &Frame,
        id: TableId,
        table: ir::Table,
        decl: &'a TableDecl,
    ) -> Res<()> {
        let objects = self.pipe.tables[id].objects.clone();
        for property in &decl.properties {
            let name = self.ast.text(property.name);
            let object = objects.iter().find(|(expr, _)| *expr == property.value).map(|(_, object)| *object);
            match (name, object) {
                ("idle_timeout", _) => {
                    let on = self.constant(frame, property.value).and_then(|value| value.as_bool());
                    if let Some(idle) = self.idle_of(self.pipe.tables[id].decl).filter(|_| on != Some(false))
                    {
                        self.program.tables[table].idle = Some(idle);
                    } else if on != Some(false) {
                        self.program.tables[table].idle = Some(IdleTimeout::notify(IDLE.0, IDLE.1));
                        self.note(
                            property.span,
                            "`idle_timeout`",
                            "entries live for 60 s without a hit, with sweeps every second, unless the control plane sets other times",
                        );
                    }
                }
                (_, Some(object)) => self.property_object(frame, table, decl, object, property.span)?,
                (
                    "requires_versioning" | "support_timeout" | "proxy_hash_width" | "dynamic_table_size",
                    None,
                ) => {
                    self.note(property.span, format!("`{name}`"), "has no effect");
                }
                _ => self.note(property.span, format!("property `{name}`"), "has no effect"),
            }
        }
        self.annotations(id, table);
        Ok(())
    }

    fn property_object(
        &mut self,
        frame: &Frame,
        table: ir::Table,
        decl: &TableDecl,
        object: ObjectId,
        at: Span,
    ) -> Res<()> {
        match self.object_kind(object) {
            "ActionProfile" | "ActionSelector" => {
                let profile = self.profile(frame, decl, object, at)?;
                self.program.tables[table].profile = Some(profile);
            }
            "Alpm" => {
                let number =
                    |name: &str, usual: u64| self.made_with_number(object, name).unwrap_or(usual) as u32;
                let subtrees = number("subtrees_per_partition", 2);
                let wanted = number("number_partitions", 1024);
                let partitions = wanted.checked_next_power_of_two().unwrap_or(u32::MAX).clamp(1024, 8192);
                if partitions != wanted {
                    self.note(at, format!("{wanted} partitions"), format!("the table has {partitions}"));
                }
                self.program.tables[table].algorithmic = Some(Algorithmic::Alpm { partitions, subtrees });
            }
            "Atcam" => {
                let partitions = self.made_with_number(object, "number_partitions").unwrap_or(1024) as u32;
                let exact = self.partition_key(decl, table);
                let Some(partition) = exact else {
                    return Err(self.refuse(
                        at,
                        "this algorithmic TCAM has no partition index",
                        "give a whole field the match kind `atcam_partition_index`",
                    ));
                };
                self.program.tables[table].algorithmic = Some(Algorithmic::Atcam { partition, partitions });
            }
            "DirectCounter" | "Counter" => {
                self.counter(object)?;
            }
            "Meter" | "Lpf" | "Wred" | "DirectMeter" | "DirectLpf" | "DirectWred" => {
                self.meter(object)?;
            }
            "Register" | "DirectRegister" => {
                self.register(object)?;
            }
            "Hash" => self.note(
                at,
                "`proxy_hash`",
                "the table compares the whole key, so that no two keys are confused",
            ),
            "IdleTimeout" => self.program.tables[table].idle = Some(IdleTimeout::notify(IDLE.0, IDLE.1)),
            other => {
                let text = format!("`{other}` as a property of a table");
                return Err(self.refuse(at, text, "leave the property out"));
            }
        }
        Ok(())
    }

    fn partition_key(&self, decl: &TableDecl, table: ir::Table) -> Option<ir::Field> {
        let elements = decl.key.iter().flat_map(|key| &key.elements);
        let mut elements = elements.filter(|element| self.ast.text(element.match_kind) != "selector");
        let at = elements.position(|element| self.ast.text(element.match_kind) == "atcam_partition_index")?;
        self.program.tables[table].keys.get(at)?.field()
    }

    fn profile(&mut self, frame: &Frame, decl: &TableDecl, object: ObjectId, at: Span) -> Res<ir::Profile> {
        if let Some(Unit::Profile(profile)) = self.units.get(&object) {
            return Ok(*profile);
        }
        let selector = match self.object_kind(object) {
            "ActionSelector" => {
                let inputs = self.selector_keys(frame, decl)?;
                Some(self.selector(object, inputs, at)?)
            }
            _ => None,
        };
        let members = self.made_with_object(object, "action_profile").unwrap_or(object);
        let size = self.made_with_number(members, "size").unwrap_or(512) as u32;
        let name = self.short(&self.pipe.objects[object].name).to_owned();
        let name = self.names.take(Space::Profile, &name);
        let at = self.object_at(object);
        let (gress, doc, loc) = (self.gress, String::new(), self.loc(at));
        let profile = self.program.profiles.push(ProfileData { name, gress, size, selector, doc, loc });
        self.units.insert(object, Unit::Profile(profile));
        Ok(profile)
    }

    fn selector(&mut self, object: ObjectId, inputs: Vec<ir::Expr>, at: Span) -> Res<SelectorData> {
        let mode = match self.made_with_member(object, "mode") {
            Some("RESILIENT") => SelectorMode::Resilient,
            _ => SelectorMode::Fair,
        };
        let Some(hash) = self.made_with_object(object, "hash") else {
            return Err(self.refuse(at, "this selector has no hash", "give the constructor a `Hash`"));
        };
        let width = self.type_args(hash).first().and_then(|&ty| self.scalar(ty)).map_or(32, |s| s.width);
        let hash = self.new_hash(hash, inputs, width.min(64), at)?;
        let number = |name: &str, usual: u64| self.made_with_number(object, name).unwrap_or(usual) as u32;
        let (max_group_size, groups) = (number("max_group_size", 120), number("num_groups", 4));
        let mut selector = SelectorData { mode, hash, groups, max_group_size, scramble: false };
        self.annotate_selector(object, &mut selector);
        Ok(selector)
    }

    /// Makes an algorithmic TCAM of a table whose partition index an annotation names.
    fn atcam(&mut self, id: TableId, table: ir::Table, at: Span) {
        let decl = self.pipe.tables[id].decl;
        let named = self.annotated(decl, "atcam_partition_index").and_then(|args| args.first()?.text());
        let partitions = self.annotated(decl, "atcam_number_partitions");
        let partitions = partitions.and_then(|args| args.first()?.number()).unwrap_or(ATCAM_PARTITIONS);
        let keys = &self.program.tables[table].keys;
        let exact = keys.iter().filter(|key| key.kind == ir::MatchKind::Exact).filter_map(ir::Key::field);
        let ends = |field: &ir::Field| {
            let name = &self.program.fields[*field].name;
            named.is_some_and(|end| {
                let end = end.rsplit('.').next().unwrap_or(end);
                name.rsplit('.').next() == Some(end)
            })
        };
        match exact.into_iter().find(ends) {
            Some(partition) => {
                let partitions = u32::try_from(partitions).unwrap_or(u32::MAX);
                self.program.tables[table].algorithmic = Some(Algorithmic::Atcam { partition, partitions });
            }
            None => self.note(
                at,
                "`@atcam_partition_index`",
                "is accepted, without effect: it names no whole field that is an exact key",
            ),
        }
    }

    /// Sets the number of ways, or of entries per word, of an exact match table in SRAM.
    fn memory_rule(&mut self, table: ir::Table, name: &str, number: u32, at: Span) {
        let data = &mut self.program.tables[table];
        let exact = data.algorithmic.is_none()
            && !data.keys.is_empty()
            && data.keys.iter().all(|key| key.kind == ir::MatchKind::Exact && key.mask.is_none());
        let number = u8::try_from(number).ok().filter(|number| *number > 0);
        let why = match (exact, number) {
            (false, _) => "the table is no exact match table in SRAM",
            (true, None) => "it names no number from 1 to 255",
            (true, _) if name == "ways" => return data.rules.ways = number,
            (true, _) => return data.rules.pack = number,
        };
        self.note(at, format!("`@{name}`"), format!("is accepted, without effect: {why}"));
    }

    /// Pins a table to a stage, with as many entries there as a second number says.
    fn pin(&mut self, table: ir::Table, stage: u32, annotation: &Annotation) {
        let data = &mut self.program.tables[table];
        if data.pin.is_some() {
            let effect = "is accepted, without effect: the table is pinned by an earlier one";
            return self.note(annotation.span, "`@stage`", effect);
        }
        data.pin = u8::try_from(stage).ok();
        let AnnotationBody::Args(args) = &annotation.body else { return };
        let entries = args.get(1).and_then(|arg| match &arg.tokens.first()?.kind {
            AnnotationTokenKind::Int(number) => u32::try_from(&number.value).ok(),
            _ => None,
        });
        data.rules.pin_entries = entries.filter(|entries| *entries > 0 && !data.keys.is_empty());
        if args.len() > 1 && data.rules.pin_entries.is_none() || args.len() > 2 {
            let effect = "only the stage is obeyed, and a number of entries after it if the table has a key";
            self.note(annotation.span, "`@stage`", effect);
        }
    }

    fn annotations(&mut self, id: TableId, table: ir::Table) {
        let ast = self.ast;
        for annotation in &ast.decls[self.pipe.tables[id].decl].annotations {
            let name = ast.text(annotation.name);
            let number = match &annotation.body {
                AnnotationBody::Args(args) => args.first().and_then(|arg| match &arg.tokens.first()?.kind {
                    AnnotationTokenKind::Int(number) => u32::try_from(&number.value).ok(),
                    _ => None,
                }),
                _ => None,
            };
            match (name, number) {
                ("ways" | "pack", Some(number)) => self.memory_rule(table, name, number, annotation.span),
                ("placement_priority", _) => match priority(annotation, ast) {
                    Some(priority) => self.program.tables[table].rules.priority = priority,
                    None => {
                        let effect = "is accepted, without effect: it names no number from -32768 to 32767";
                        self.note(annotation.span, "`@placement_priority`", effect);
                    }
                },
                ("selector_max_group_size" | "selector_num_max_groups", Some(number)) => {
                    let profile = self.program.tables[table].profile;
                    let selector = profile.and_then(|p| self.program.profiles[p].selector.as_mut());
                    match selector {
                        Some(selector) if name == "selector_max_group_size" => {
                            selector.max_group_size = number
                        }
                        Some(selector) => selector.groups = number,
                        None => {
                            let effect = "is accepted, without effect: the table has no selector";
                            self.note(annotation.span, format!("`@{name}`"), effect);
                        }
                    }
                }
                ("stage", Some(stage)) => self.pin(table, stage, annotation),
                ("alpm", Some(1)) if self.program.tables[table].algorithmic.is_none() => {
                    self.program.tables[table].algorithmic =
                        Some(Algorithmic::Alpm { partitions: 1024, subtrees: 2 });
                }
                ("alpm_partitions", Some(number)) => {
                    if let Some(Algorithmic::Alpm { partitions, .. }) =
                        &mut self.program.tables[table].algorithmic
                    {
                        *partitions = number;
                    }
                }
                ("alpm_subtrees_per_partition", Some(number)) => {
                    if let Some(Algorithmic::Alpm { subtrees, .. }) =
                        &mut self.program.tables[table].algorithmic
                    {
                        *subtrees = number;
                    }
                }
                ("atcam_partition_index", _) => self.atcam(id, table, annotation.span),
                ("selector_enable_scramble", Some(on)) => {
                    let profile = self.program.tables[table].profile;
                    let selector = profile.and_then(|p| self.program.profiles[p].selector.as_mut());
                    if let Some(selector) = selector {
                        selector.scramble = on != 0;
                    }
                }
                (
                    "name" | "hidden" | "alpm" | "defaultonly" | "sluice_idle" | "atcam_number_partitions",
                    _,
                ) => {}
                _ => self.note(annotation.span, format!("`@{name}`"), "is accepted, without effect"),
            }
        }
    }
}

/// Returns the number of an annotation, which may be negative.
fn priority(annotation: &Annotation, ast: &Ast) -> Option<i16> {
    let AnnotationBody::Args(args) = &annotation.body else { return None };
    let text = |kind: &AnnotationTokenKind| match kind {
        AnnotationTokenKind::Int(number) => number.value.to_string(),
        AnnotationTokenKind::Punct(text) => (*text).to_owned(),
        AnnotationTokenKind::Word(text) | AnnotationTokenKind::Text(text) => ast.names.text(*text).to_owned(),
    };
    let text: String = args.iter().flat_map(|arg| &arg.tokens).map(|token| text(&token.kind)).collect();
    text.parse().ok()
}
