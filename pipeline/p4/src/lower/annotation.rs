//! Annotations that say what P4 has no words for. [`write`](mod@crate::write) writes them.
//!
//! | annotation | on | meaning |
//! |---|---|---|
//! | `@sluice_drop("ttl_expired")` | an action | the reason of the drops of the action |
//! | `@sluice_consume("answered")` | an action | the purpose for which the action absorbs packets |
//! | `@sluice_hash("seed", 7, "rotate", 3, "matrix", 1, "symmetric", 0, 1)` | a `Hash` | seed and rotation of the result, number of the matrix of `RANDOM`, pairs of inputs whose order has no effect |
//! | `@sluice_field("ig_md.depth")` | a variable of the ghost control | the field of ingress that the variable shares, so that both threads give a stateful ALU the same operand |
//! | `@sluice_initial(...)` | a meter, a filter, WRED | the configuration of every cell before the control plane sets another one |
//! | `@sluice_idle("notify", 3, "1ms", "10ms")` | a table | mode, bits, interval of sweeps and time to live of entries |
//! | `@sluice_selector("scramble")` | an `ActionSelector` | the hash goes through the scrambler; `"plain_modulo"` takes the whole hash |

use super::Lower;
use super::places::Slot;
use crate::elaborate::ObjectId;
use crate::syntax::ast::{Annotation, AnnotationBody, AnnotationTokenKind, DeclId};
use sluice_asic::gress::Gress;
use sluice_asic::hash::HashAlgorithm;
use sluice_asic::meter::LpfMode;
use sluice_asic::names::{Named, by_suffix};
use sluice_asic::select::SelectorMode;
use sluice_asic::units::Duration;
use sluice_ir::{
    self as ir, HashData, IdleMode, IdleTimeout, LabelKind, LpfSpec, MeterConfig, MeterKind, SelectorData,
};

/// An argument of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arg<'a> {
    Text(&'a str),
    Number(u64),
}

impl<'a> Arg<'a> {
    pub(super) fn number(self) -> Option<u64> {
        if let Arg::Number(number) = self { Some(number) } else { None }
    }

    pub(super) fn text(self) -> Option<&'a str> {
        if let Arg::Text(text) = self { Some(text) } else { None }
    }

    fn duration(self) -> Option<Duration> {
        self.text()?.parse().ok()
    }
}

impl<'a> Lower<'a> {
    /// Returns the arguments of an annotation of a declaration, if it has one of this name.
    pub(super) fn annotated(&self, decl: DeclId, name: &str) -> Option<Vec<Arg<'a>>> {
        let ast = self.ast;
        let found = ast.decls[decl].annotations.iter().find(|annotation| ast.text(annotation.name) == name);
        found.map(|annotation| self.annotation_args(annotation))
    }

    fn annotation_args(&self, annotation: &'a Annotation) -> Vec<Arg<'a>> {
        let AnnotationBody::Args(args) = &annotation.body else { return Vec::new() };
        let first = args.iter().filter_map(|arg| arg.tokens.first());
        first
            .filter_map(|token| match &token.kind {
                AnnotationTokenKind::Text(text) | AnnotationTokenKind::Word(text) => {
                    Some(Arg::Text(self.ast.names.text(*text)))
                }
                AnnotationTokenKind::Int(number) => u64::try_from(&number.value).ok().map(Arg::Number),
                AnnotationTokenKind::Punct(_) => None,
            })
            .collect()
    }

    fn object_annotated(&self, object: ObjectId, name: &str) -> Option<Vec<Arg<'a>>> {
        self.annotated(self.pipe.objects[object].instance?, name)
    }

    /// Returns the arguments of each annotation of this name of an object.
    fn object_annotations(&self, object: ObjectId, name: &str) -> Vec<Vec<Arg<'a>>> {
        let ast = self.ast;
        let Some(decl) = self.pipe.objects[object].instance else { return Vec::new() };
        let own = ast.decls[decl].annotations.iter().filter(|one| ast.text(one.name) == name);
        own.map(|annotation| self.annotation_args(annotation)).collect()
    }

    /// Returns the name of a declaration, or that of `@name`.
    pub(super) fn own_name(&self, decl: DeclId) -> &'a str {
        let named = self.annotated(decl, "name").and_then(|args| args.first().copied()?.text());
        named.unwrap_or_else(|| self.ast.text(self.ast.decls[decl].name))
    }

    /// Returns the storage of the gress that an annotation gives a variable.
    pub(super) fn shared_with(&self, gress: Gress, variable: DeclId) -> Option<Slot> {
        let name = self.annotated(variable, "sluice_field")?.first()?.text()?;
        let mut slots = self.storage.slots.iter();
        slots.find(|(_, data)| data.gress == gress && data.name == name).map(|(slot, _)| slot)
    }

    /// Returns the reason of an action's drops.
    pub(super) fn reason(&self, action: DeclId) -> Option<(&'a str, LabelKind)> {
        let kinds = [("sluice_drop", LabelKind::Drop), ("sluice_consume", LabelKind::Consume)];
        kinds
            .into_iter()
            .find_map(|(name, kind)| Some((self.annotated(action, name)?.first()?.text()?, kind)))
    }

    /// Sets what an annotation says of a hash.
    pub(super) fn annotate_hash(&self, object: ObjectId, hash: &mut HashData) {
        let args = self.object_annotated(object, "sluice_hash").unwrap_or_default();
        for args in self.object_annotations(object, "symmetric") {
            if let [Arg::Text(one), Arg::Text(other)] = args[..]
                && let [Some(one), Some(other)] = [one, other].map(|name| self.hash_input(hash, name))
            {
                hash.symmetric.push([one, other]);
            }
        }
        let mut args = args.into_iter();
        while let (Some(key), Some(value)) =
            (args.next().and_then(Arg::text), args.next().and_then(Arg::number))
        {
            match key {
                "seed" => hash.seed = value,
                "rotate" => hash.rotate = value as u16,
                "matrix" => hash.algorithm = HashAlgorithm::Random { seed: value },
                "symmetric" => {
                    let other = args.next().and_then(Arg::number).unwrap_or(value);
                    hash.symmetric.push([value as u16, other as u16]);
                }
                _ => {}
            }
        }
    }

    /// Returns the position of the input of a hash that a name of a field means.
    fn hash_input(&self, hash: &HashData, name: &str) -> Option<u16> {
        let fields = hash.inputs.iter().map(|input| match input {
            ir::Expr::Field(field) => self.program.fields[*field].name.as_str(),
            _ => "",
        });
        match by_suffix(name, fields) {
            Named::One(at) => u16::try_from(at).ok(),
            // The program's name of `hdr.ipv4.src` is `ipv4.src`.
            _ => self.hash_input(hash, name.split_once('.')?.1),
        }
    }

    /// Returns the first configuration of a meter's cells.
    pub(super) fn initial_meter(&self, object: ObjectId, kind: MeterKind) -> Option<MeterConfig> {
        let args = self.object_annotated(object, "sluice_initial")?;
        let number = |at: usize| args.get(at).copied().and_then(Arg::number);
        let filter = |at: usize| {
            let mode = match args.get(at)?.text()? {
                "sample" => LpfMode::Sample,
                _ => LpfMode::Rate,
            };
            let (rise, fall) = (args.get(at + 1)?.duration()?, args.get(at + 2)?.duration()?);
            Some(LpfSpec { mode, rise, fall, shift: number(at + 3)? as u8 })
        };
        Some(match kind {
            MeterKind::Packets | MeterKind::Bytes => MeterConfig::Rates {
                committed: number(0)?,
                committed_burst: number(1)?,
                peak: number(2)?,
                peak_burst: number(3)?,
            },
            MeterKind::Lpf => MeterConfig::Lpf(filter(0)?),
            MeterKind::Wred => MeterConfig::Wred {
                min: number(0)? as u32,
                max: number(1)? as u32,
                probability: number(2)? as u8,
                average: filter(3),
            },
        })
    }

    /// Sets what an annotation says of a selector.
    pub(super) fn annotate_selector(&self, object: ObjectId, selector: &mut SelectorData) {
        for arg in self.object_annotated(object, "sluice_selector").unwrap_or_default() {
            match arg.text() {
                Some("scramble") => selector.scramble = true,
                Some("plain_modulo") => selector.mode = SelectorMode::PlainModulo,
                _ => {}
            }
        }
    }

    /// Returns the ageing that an annotation of a table states.
    pub(super) fn idle_of(&self, table: DeclId) -> Option<IdleTimeout> {
        let args = self.annotated(table, "sluice_idle")?;
        let mode = if args.first()?.text()? == "poll" { IdleMode::Poll } else { IdleMode::Notify };
        Some(ir::IdleTimeout {
            mode,
            bits: args.get(1)?.number()? as u8,
            interval: args.get(2)?.duration()?,
            ttl: args.get(3)?.duration()?,
        })
    }
}
