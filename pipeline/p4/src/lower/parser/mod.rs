//! Parsers: from states of P4 to states of the chip.
//!
//! The P4 parser reads more bytes than the IR has (those in front of the packet), calls other parsers, and keeps values in variables. The walk
//! ([`walk`]) follows every path, so it knows on each how far it is in front of the packet ([`front`]) and where the bits of each variable come
//! from ([`bits`], [`env`]). What the walk writes to metadata waits until controls and deparsers are lowered ([`made`]): a value
//! that only the parser reads needs no storage.

mod across;
mod bits;
mod call;
mod checksum;
mod counted;
mod counter;
mod early;
mod env;
mod frame;
mod front;
mod key;
mod layout;
mod live;
mod made;
mod once;
mod packet;
mod ranges;
mod resubmit;
mod shorten;
mod target;
mod transition;
mod value;
mod value_set;
mod walk;
mod write;

use super::places::Place;
use super::{Lower, Res};
use crate::check::{Callee, TyKind};
use crate::elaborate::BlockId;
use frame::{Bound, Frame, FrameId};
use front::Layout;
use live::Live;
use rustc_hash::FxHashMap;
use sluice_asic::gress::Gress;
use walk::Walk;

pub(super) use made::Parsed;

impl Lower<'_> {
    /// Lowers the states of a gress' parser and says where it starts. Writes to metadata follow in [`Lower::finish_parsers`], when
    /// it is known which metadata the rest of the program reads. The parsers are lowered first, because they decide which
    /// metadata ports fill.
    pub(super) fn parser(&mut self, gress: Gress) -> Res<Parsed> {
        let (block, resubmits) = match gress {
            Gress::Ingress => (self.pipe.ingress.parser, self.resubmit_data()?),
            Gress::Egress => (self.pipe.egress.parser, None),
        };
        let mut layout = Layout::of(gress, self.chip, resubmits.unwrap_or(0));
        if gress == Gress::Egress && !self.takes_intrinsics() {
            layout = Layout { intrinsic: 0, total: 0, resubmit: 0 };
        }
        let params = self.parser_params(gress, block);
        let live = Live::of(self);
        let mut walk = Walk::new(self, gress, layout, live);
        walk.resubmits = resubmits.is_some();
        walk.frames.push(Frame { block, params, then: None, prefix: String::new() });
        let start = walk.run(FrameId(0), block)?;
        walk.load_early();
        let parsed = walk.parsed();
        self.program.pipes[gress.index()].start = start;
        Ok(parsed)
    }

    /// Returns true if a parser extracts the intrinsic metadata of egress, or skips bits. If none does, the vendor's compiler skips
    /// the metadata.
    fn takes_intrinsics(&self) -> bool {
        self.checked.calls.values().any(|call| {
            let Callee::Method(method) = call.callee else { return false };
            let arg = call.args.first().copied().flatten();
            match self.ast.text(self.ast.decls[method].name) {
                "advance" => true,
                "extract" => arg.is_some_and(|arg| {
                    let ty = self.checked.types.kind(self.checked.expr_types[arg]);
                    let (TyKind::Struct(decl, _) | TyKind::Header(decl, _)) = *ty else { return false };
                    self.ast.text(self.ast.decls[decl].name) == "egress_intrinsic_metadata_t"
                }),
                _ => false,
            }
        })
    }

    /// Returns what the parameters of the parser of a gress stand for.
    fn parser_params(
        &mut self,
        gress: Gress,
        block: BlockId,
    ) -> FxHashMap<crate::syntax::ast::DeclId, Bound> {
        let mut bound = FxHashMap::default();
        let mut position = 0;
        for param in self.params(block).to_vec() {
            let ty = self.checked.decl_types[param];
            let ty = self.pipe.concrete(self.ast, self.checked, block, ty);
            if matches!(self.checked.types.kind(ty), TyKind::Extern(..)) {
                bound.insert(param, Bound::Packet);
                continue;
            }
            let place = match position {
                0 => self.storage.root(gress).headers.clone(),
                1 => self.storage.root(gress).metadata.clone(),
                _ => self.intrinsics(ty, gress),
            };
            position += 1;
            bound.insert(param, Bound::Place(place.unwrap_or(Place::Nothing)));
        }
        bound
    }
}
