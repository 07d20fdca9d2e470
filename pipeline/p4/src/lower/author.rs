//! Rules of the author about containers: the annotations `@pa_...` that placement obeys, and notes about the others.
//!
//! Fields are named as the blocks of their gress name them, `hdr.ipv4.ttl`; the name of the parameter does not matter.

use super::Lower;
use super::places::{Slot, SlotHome};
use crate::source::Span;
use crate::syntax::ast::{Annotation, AnnotationArg, AnnotationBody, AnnotationTokenKind};
use sluice_asic::gress::Gress;
use sluice_ir::{CONTAINER_KINDS, ContainerDemand, ContainerRule, Field, Home, ParserOpKind};
use std::mem::discriminant;

impl<'a> Lower<'a> {
    /// Adds the rules about containers to the program. Annotations for other compilers are noted, each name once, with the number
    /// of their uses.
    pub(super) fn container_rules(&mut self) {
        let ast = self.ast;
        let mut others: Vec<(&'a str, Span, usize)> = Vec::new();
        for annotation in ast.decls.values().flat_map(|decl| &decl.annotations) {
            let name = ast.text(annotation.name);
            if !name.starts_with("pa_") {
                continue;
            }
            match self.container_rule(name, annotation) {
                None => match others.iter_mut().find(|(other, ..)| *other == name) {
                    Some((.., uses)) => *uses += 1,
                    None => others.push((name, annotation.span, 1)),
                },
                Some(Ok(())) => {}
                Some(Err(why)) => {
                    self.note(
                        annotation.span,
                        format!("`@{name}`"),
                        format!("is accepted, without effect: {why}"),
                    );
                }
            }
        }
        for (name, at, uses) in others {
            let places = if uses == 1 { String::new() } else { format!(", at {uses} places") };
            self.note(at, format!("`@{name}`"), format!("is accepted, without effect{places}"));
        }
    }

    /// Adds the rules of an annotation; `None` if placement has no such rule.
    fn container_rule(&mut self, name: &str, annotation: &Annotation) -> Option<Result<(), String>> {
        let known = ["pa_container_size", "pa_atomic", "pa_solitary", "pa_no_overlay", "pa_container_type"]
            .contains(&name);
        known.then(|| {
            let AnnotationBody::Args(args) = &annotation.body else {
                return Err("it names no field".to_owned());
            };
            let (gress, args) = self.gress_of(args)?;
            let Some((first, rest)) = args.split_first() else { return Err("it names no field".to_owned()) };
            let mut fields = self.fields_named(gress, &self.arg_text(first))?;
            let demand = match name {
                "pa_container_size" => ContainerDemand::Sizes(self.sizes(rest)?),
                "pa_container_type" => self.kind(rest)?,
                "pa_atomic" => ContainerDemand::Atomic,
                "pa_solitary" => ContainerDemand::Solitary,
                _ => {
                    for more in rest {
                        fields.extend(self.fields_named(gress, &self.arg_text(more))?);
                    }
                    ContainerDemand::NoOverlay
                }
            };
            for field in fields {
                self.add_rule(field, demand.clone(), annotation.span)?;
            }
            Ok(())
        })
    }

    fn add_rule(&mut self, field: Field, demand: ContainerDemand, at: Span) -> Result<(), String> {
        let data = &self.program.fields[field];
        match &demand {
            ContainerDemand::Sizes(sizes) if sizes.len() > 1 => {
                let room: u32 = sizes.iter().map(|size| u32::from(*size)).sum();
                if room < u32::from(data.width) {
                    return Err(format!(
                        "`{}` has {} bits, more than these containers",
                        data.name, data.width
                    ));
                }
            }
            ContainerDemand::Sizes(sizes)
                if sizes.iter().any(|size| u16::from(*size) > data.width) && self.is_parsed(field) =>
            {
                return Err(format!(
                    "the parser copies packet bytes to `{}`, which fill their container",
                    data.name
                ));
            }
            ContainerDemand::Atomic if data.width > 32 => {
                return Err(format!("`{}` has {} bits, a container at most 32", data.name, data.width));
            }
            _ => {}
        }
        let alike =
            |rule: &ContainerRule| rule.field == field && discriminant(&rule.demand) == discriminant(&demand);
        // Of several annotations of a kind, the last one counts.
        self.program.container_rules.retain(|rule| !alike(rule));
        let loc = self.loc(at);
        self.program.container_rules.push(ContainerRule { field, demand, loc });
        Ok(())
    }

    /// Returns true if a parser copies bits of the packet to a field of metadata.
    fn is_parsed(&self, field: Field) -> bool {
        let copies = |kind: &ParserOpKind| {
            kind.written() == Some(field) && kind.write().is_none_or(|write| !write.is_constant())
        };
        self.program.fields[field].home == Home::Metadata
            && self.program.states.values().flat_map(|state| &state.ops).any(|op| copies(&op.kind))
    }

    /// Returns the gress that an annotation names, with or without the pipe before it, and the arguments after the gress.
    fn gress_of<'s>(&self, args: &'s [AnnotationArg]) -> Result<(Gress, &'s [AnnotationArg]), String> {
        let named = |at: usize| {
            let text = self.arg_text(args.get(at)?);
            Gress::ALL.into_iter().find(|gress| gress.name() == text)
        };
        match (named(0), named(1)) {
            (Some(gress), _) => Ok((gress, &args[1..])),
            (None, Some(gress)) => Ok((gress, &args[2..])),
            (None, None) => {
                Err("it names no gress; write \"ingress\" or \"egress\" before the field".to_owned())
            }
        }
    }

    /// Returns the fields that a name of a scalar or of a header stands for; none if the program does not use them.
    fn fields_named(&self, gress: Gress, name: &str) -> Result<Vec<Field>, String> {
        let rest = name.split_once('.').map_or(name, |(_, rest)| rest);
        let slots = &self.storage.slots;
        let own = |slot: &Slot| slots[*slot].gress == gress;
        let after = |text: &str| text.split_once('.').map(|(_, rest)| rest.to_owned());
        let find = |test: &dyn Fn(&str, SlotHome) -> bool| {
            let good = |slot: &Slot| own(slot) && test(&slots[*slot].name, slots[*slot].home);
            let found: Vec<Slot> = slots.keys().filter(good).collect();
            (!found.is_empty()).then_some(found)
        };
        let found = find(&|text, _| text == name)
            .or_else(|| find(&|text, home| text == rest && matches!(home, SlotHome::Header(_))))
            .or_else(|| find(&|text, _| after(text).as_deref() == Some(rest)));
        let header = || {
            let one = self.storage.instances.values().find(|one| one.gress == gress && one.name == rest)?;
            Some(one.slots.clone())
        };
        let Some(found) = found.or_else(header) else {
            let chip = name.contains("intr_md") || name.contains('$');
            return Err(match chip {
                true => format!("the chip lays out `{name}`"),
                false => format!("{gress} has no field `{name}`"),
            });
        };
        let laid_out =
            |slot: &&Slot| matches!(slots[**slot].home, SlotHome::Intrinsic(_) | SlotHome::PortMetadata);
        if found.iter().any(|slot| laid_out(&slot)) {
            return Err(format!("the chip lays out `{name}`"));
        }
        Ok(found.iter().filter_map(|slot| slots[*slot].field).collect())
    }

    fn sizes(&self, args: &[AnnotationArg]) -> Result<Vec<u8>, String> {
        let size = |arg: &AnnotationArg| match self.arg_text(arg).as_str() {
            "8" => Ok(8),
            "16" => Ok(16),
            "32" => Ok(32),
            other => Err(format!("there are no containers of {other} bits, only of 8, 16 and 32")),
        };
        if args.is_empty() {
            return Err("it names no size; write 8, 16 or 32 after the field".to_owned());
        }
        args.iter().map(size).collect()
    }

    fn kind(&self, args: &[AnnotationArg]) -> Result<ContainerDemand, String> {
        let text = args.first().map(|arg| self.arg_text(arg)).unwrap_or_default();
        let kind = CONTAINER_KINDS.iter().find(|(name, _)| *name == text);
        let kind = kind.map(|(_, kind)| ContainerDemand::Kind(*kind));
        kind.ok_or_else(|| {
            format!("there are no `{text}` containers, only normal, mocha, dark and tagalong ones")
        })
    }

    /// Returns the text of an argument: `hdr.ipv4.ttl` has several tokens after `@pragma`.
    fn arg_text(&self, arg: &AnnotationArg) -> String {
        let text = |kind: &AnnotationTokenKind| match kind {
            AnnotationTokenKind::Text(text) | AnnotationTokenKind::Word(text) => {
                self.ast.names.text(*text).to_owned()
            }
            AnnotationTokenKind::Int(number) => number.value.to_string(),
            AnnotationTokenKind::Punct(text) => (*text).to_owned(),
        };
        arg.tokens.iter().map(|token| text(&token.kind)).collect()
    }
}
