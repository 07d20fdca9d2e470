//! The blocks of a gress: what is in front of the packet, parser, control and deparser, and the verdict.

use crate::Reference;
use crate::bits::{Bits, Reader};
use crate::pass::{Gress, PassOut, RequestKind, Verdict};
use crate::program::Shape;
use crate::run::Run;
use crate::stop::{Res, Stop, Unsupported, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::check::{Ty, TyKind};
use sluice_p4::elaborate::BlockId;
use sluice_p4::source::Span;
use sluice_p4::syntax::ast::{DeclId, DeclKind, Direction};

/// `ucast_egress_port` of a packet without a port.
const NO_PORT: u64 = 0x1ff;

/// `drop_ctl` bit 0: the packet is dropped.
const DROP: u64 = 1;
/// `drop_ctl` bit 1: no copy to the CPU.
const NO_CPU: u64 = 2;
/// `drop_ctl` bit 2, in egress: no mirror copies.
const NO_MIRROR: u64 = 4;

/// The type of what the traffic manager obeys.
const FOR_TM: &str = "ingress_intrinsic_metadata_for_tm_t";
const GHOST: &str = "ghost_intrinsic_metadata_t";

/// The value that a block's parameter stands for.
#[derive(Clone, Copy)]
enum Role<'a> {
    /// The packet.
    Packet,
    /// A structure of intrinsic metadata.
    Intrinsic(&'a str),
    /// The headers (0) or the metadata (1) of the program.
    Own(usize),
}

impl<'a> Run<'_, 'a> {
    /// Runs the blocks of the gress.
    pub(crate) fn pass(mut self) -> Result<PassOut, Unsupported> {
        self.gress().map_err(|stop| match stop {
            Stop::Unsupported(unsupported) => unsupported,
            // The other reasons end blocks.
            _ => Unsupported { span: Span::NONE, what: "the end of this pass".to_owned() },
        })
    }

    fn gress(&mut self) -> Res<PassOut> {
        let pipe = self.core.program.pipe;
        let gress = self.input.gress;
        let blocks = if gress == Gress::Ingress { pipe.ingress } else { pipe.egress };
        self.begin()?;
        let error = match self.top(blocks.parser) {
            Ok(()) | Err(Stop::Exit) => 0,
            Err(Stop::Parser(error)) => error,
            Err(stop) => return Err(stop),
        };
        if !self.packet.at().is_multiple_of(8) {
            return Err(unsupported(Span::NONE, "a parser that ends inside a byte"));
        }
        self.packet.go(self.packet.at().max(self.front));
        let seen = self.core.names_field(gress.parser_metadata(), "parser_err");
        if error != 0 && !seen {
            return self.out(Verdict::ParserError(error));
        }
        self.after_parser(error | self.flags)?;
        for block in [blocks.control, blocks.deparser] {
            match self.top(block) {
                Ok(()) | Err(Stop::Exit) => {}
                Err(Stop::Parser(_)) => {
                    return Err(unsupported(Span::NONE, "`next` and `last` outside a parser"));
                }
                Err(stop) => return Err(stop),
            }
        }
        let verdict = self.verdict()?;
        self.out(verdict)
    }

    /// Puts the metadata in front of the packet.
    fn begin(&mut self) -> Res<()> {
        let gress = self.input.gress;
        let mut fields = self.input.fields.clone();
        let port = if gress == Gress::Ingress { "ingress_port" } else { "egress_port" };
        fields.push((port.to_owned(), self.input.port.into()));
        fields.push(("pkt_length".to_owned(), self.input.length));
        fields.push(("resubmit_flag".to_owned(), self.input.resubmitted.is_some().into()));
        let mut front = Bits::default();
        if let Some((ty, value)) = self.structure(gress.front(), &fields)? {
            self.core.program.flatten(ty, &value, false, &mut front, Span::NONE)?;
        }
        if gress == Gress::Ingress {
            let end = front.len() + self.core.port_bits();
            let metadata = self.input.resubmitted.as_ref().unwrap_or(&self.input.port_metadata);
            for byte in metadata {
                front.push(&BigInt::from(*byte), 8);
            }
            if front.len() > end {
                return Err(unsupported(
                    Span::NONE,
                    "metadata longer than their room in front of the packet",
                ));
            }
            front.push(&BigInt::from(0), (end - front.len()) as u32);
            let tm = [("ucast_egress_port".to_owned(), NO_PORT)];
            self.structure(FOR_TM, &tm)?;
        }
        self.front = front.len();
        let mut bytes = front.bytes();
        bytes.extend_from_slice(&self.input.bytes);
        self.packet = Reader::new(bytes);
        Ok(())
    }

    /// Sets the metadata that the chip adds after the parser.
    fn after_parser(&mut self, error: u16) -> Res<()> {
        let gress = self.input.gress;
        let mut fields = self.input.fields.clone();
        fields.push(("parser_err".to_owned(), error.into()));
        self.structure(gress.parser_metadata(), &fields)?;
        fields.clone_from(&self.input.fields);
        let port = if gress == Gress::Ingress { "ingress_port" } else { "egress_port" };
        fields.push((port.to_owned(), self.input.port.into()));
        fields.push(("pkt_length".to_owned(), self.input.length));
        fields.push(("resubmit_flag".to_owned(), self.input.resubmitted.is_some().into()));
        self.structure(gress.front(), &fields).map(drop)
    }

    /// Makes a structure of intrinsic metadata with fields of these values, zeros in the others.
    fn structure(&mut self, name: &'static str, fields: &[(String, u64)]) -> Res<Option<(Ty, Value)>> {
        let Some(decl) = self.core.architecture_type(name) else { return Ok(None) };
        let ty = self.core.program.checked.decl_types[decl];
        let mut value = self.core.program.zero(ty);
        let (Shape::Header(shape) | Shape::Struct(shape)) = self.core.program.shape(ty) else {
            return Ok(None);
        };
        for (at, &(field, ty)) in shape.list.iter().enumerate() {
            let text = field.map_or("", |field| self.ast.names.text(field));
            let given = fields.iter().find(|(name, _)| name == text);
            if let (Some((_, number)), Some(part)) = (given, value.part_mut(at)) {
                let range = self.core.program.range(ty);
                let number = BigInt::from(*number);
                *part = Value::Number(range.map_or(number.clone(), |range| range.wrap(&number)));
            }
        }
        if let Value::Header { valid, .. } = &mut value {
            *valid = true;
        }
        self.intrinsics.insert(name, value.clone());
        Ok(Some((ty, value)))
    }

    /// Runs a block of the gress. Its `out` and `inout` parameters go on to the next block.
    fn top(&mut self, block: BlockId) -> Res<()> {
        let params = self.core.program.ast.params(self.core.program.pipe.blocks[block].decl);
        self.inside(block, |run| {
            let mut own = 0;
            let mut roles = Vec::new();
            for &param in params {
                let ty = run.decl_ty(param);
                let role = run.role(ty, &mut own);
                let carried = match role {
                    Role::Packet => Some(Value::Nothing),
                    Role::Intrinsic(name) => run.intrinsics.get(name).cloned(),
                    Role::Own(at) => run.own.get(at).cloned().flatten(),
                };
                let value = carried.unwrap_or_else(|| run.core.program.zero(ty));
                run.define(param, value);
                roles.push((param, role));
            }
            run.at_begin.clone_from(&run.frames[run.frame].vars);
            let result = run.code_of(block);
            for (param, role) in roles {
                if !matches!(run.core.program.ast.direction(param), Direction::Out | Direction::InOut) {
                    continue;
                }
                let Some(value) = run.variable(param).cloned() else { continue };
                match role {
                    Role::Packet => {}
                    Role::Intrinsic(name) => _ = run.intrinsics.insert(name, value),
                    Role::Own(at) => {
                        if let Some(own) = run.own.get_mut(at) {
                            *own = Some(value);
                        }
                    }
                }
            }
            result
        })
    }

    fn role(&mut self, ty: Ty, own: &mut usize) -> Role<'a> {
        match *self.core.program.checked.types.kind(ty) {
            TyKind::Extern(..) => return Role::Packet,
            TyKind::Header(decl, _) | TyKind::Struct(decl, _) if self.is_intrinsic(decl) => {
                return Role::Intrinsic(self.core.program.name(decl));
            }
            _ => {}
        }
        *own += 1;
        Role::Own(*own - 1)
    }

    /// Returns true if a declaration is a structure of intrinsic metadata.
    pub(crate) fn is_intrinsic(&self, decl: DeclId) -> bool {
        let name = self.core.program.name(decl);
        name.contains("_intrinsic_metadata") && self.core.architecture_type(name) == Some(decl)
    }

    /// Returns true if the code of a parser runs.
    pub(crate) fn is_parsing(&self) -> bool {
        let pipe = self.core.program.pipe;
        let decl = pipe.blocks[self.block()].decl;
        matches!(self.ast.decls[decl].kind, DeclKind::Parser(_))
    }

    /// Returns the value of a type field of the deparser, such as `mirror_type`.
    pub(crate) fn asked_type(&mut self, field: &str) -> Option<BigInt> {
        self.result(self.input.gress.for_deparser(), field).map(BigInt::from)
    }

    /// Returns a field of a structure of intrinsic metadata.
    fn result(&mut self, structure: &str, field: &str) -> Option<u64> {
        let fields = self.results(structure);
        fields.into_iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }

    /// Returns the fields of a structure of intrinsic metadata.
    fn results(&mut self, structure: &str) -> Vec<(String, u64)> {
        let Some(decl) = self.core.architecture_type(structure) else { return Vec::new() };
        let ty = self.core.program.checked.decl_types[decl];
        let (Shape::Header(shape) | Shape::Struct(shape)) = self.core.program.shape(ty) else {
            return Vec::new();
        };
        let Some(value) = self.intrinsics.get(structure) else { return Vec::new() };
        let parts = shape.list.iter().zip(value.parts());
        let field = |(&(name, _), part): (&(Option<_>, Ty), &Value)| {
            Some((self.ast.names.text(name?).to_owned(), part.as_u64()?))
        };
        parts.filter_map(field).collect()
    }

    fn verdict(&mut self) -> Res<Verdict> {
        let gress = self.input.gress;
        let drop_ctl = self.result(gress.for_deparser(), "drop_ctl").unwrap_or(0);
        if gress == Gress::Egress && drop_ctl & NO_MIRROR != 0 {
            self.requests.retain(|request| !matches!(request.kind, RequestKind::Mirror { .. }));
        }
        let cpu = drop_ctl & NO_CPU == 0 && self.result(FOR_TM, "copy_to_cpu") == Some(1);
        if drop_ctl & DROP != 0 && cpu {
            return Err(unsupported(Span::NONE, "a dropped packet with a copy to the CPU"));
        }
        if drop_ctl & DROP != 0 {
            return Ok(Verdict::Dropped);
        }
        let resubmits = self.requests.iter().any(|request| request.kind == RequestKind::Resubmit);
        if resubmits && self.input.resubmitted.is_none() {
            if self.result(gress.for_deparser(), "mirror_io_select") == Some(1) {
                self.requests.retain(|request| !matches!(request.kind, RequestKind::Mirror { .. }));
            }
            return Ok(Verdict::Resubmit);
        }
        if gress == Gress::Egress {
            return Ok(Verdict::Forward);
        }
        let port = self.result(FOR_TM, "ucast_egress_port").unwrap_or(NO_PORT);
        let groups = ["mcast_grp_a", "mcast_grp_b"].map(|group| self.result(FOR_TM, group).unwrap_or(0));
        let none = port == NO_PORT && groups == [0, 0] && !cpu;
        Ok(if none { Verdict::NoPort } else { Verdict::Forward })
    }

    fn out(&mut self, verdict: Verdict) -> Res<PassOut> {
        let gress = self.input.gress;
        let mut fields = self.results(gress.for_deparser());
        if gress == Gress::Ingress {
            fields.extend(self.results(FOR_TM));
        }
        let select = self.core.names_field(gress.for_deparser(), "mirror_io_select");
        let mut bytes = self.emitted.bytes();
        bytes.extend_from_slice(self.packet.rest());
        let mut out = PassOut {
            verdict,
            bytes,
            port: None,
            groups: [0, 0],
            requests: std::mem::take(&mut self.requests),
            mirrors_output: gress == Gress::Egress,
            fields,
        };
        if select {
            out.mirrors_output = out.field("mirror_io_select") == 1;
        }
        if gress == Gress::Ingress {
            let port = out.field("ucast_egress_port");
            out.port = u16::try_from(port).ok().filter(|_| port != NO_PORT);
            out.groups = ["mcast_grp_a", "mcast_grp_b"].map(|group| out.field(group) as u16);
        }
        Ok(out)
    }

    /// Runs the ghost control.
    pub(crate) fn ghost(mut self) -> Result<(), Unsupported> {
        let Some(block) = self.core.program.pipe.ghost else { return Ok(()) };
        let fields = self.input.fields.clone();
        let result = self.structure(GHOST, &fields).and_then(|_| self.top(block));
        match result {
            Err(Stop::Unsupported(unsupported)) => Err(unsupported),
            _ => Ok(()),
        }
    }
}

impl Reference<'_> {
    /// Returns the number of bits of intrinsic metadata in front of a packet.
    pub(crate) fn intrinsic_bits(&mut self, gress: Gress) -> usize {
        let Some(decl) = self.architecture_type(gress.front()) else { return 0 };
        let ty = self.program.checked.decl_types[decl];
        self.program.width(ty, Span::NONE).map_or(0, |bits| bits as usize)
    }
}
