//! Values of a pass: fields and validity bits.

use crate::pass::{GhostUpdate, PassIn};
use sluice_asic::alu::width_mask;
use sluice_asic::gress::Gress;
use sluice_ir::entity::EntityMap;
use sluice_ir::{Field, FieldData, Header, Home, Intrinsic, Program};

/// Fields and validity bits of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phv {
    fields: EntityMap<Field, u128>,
    valid: EntityMap<Header, bool>,
    /// Intrinsic fields of each gress.
    intrinsics: [Vec<(Intrinsic, Field)>; 2],
}

impl Phv {
    /// Returns values with all fields zero and all headers invalid.
    #[must_use]
    pub fn new(program: &Program) -> Phv {
        let of = |gress: Gress| {
            let fields = program.fields.iter().filter(|(_, data)| data.gress == gress);
            let which = |(field, data): (Field, &FieldData)| match data.home {
                Home::Intrinsic(which) => Some((which, field)),
                _ => None,
            };
            fields.filter_map(which).collect()
        };
        Phv {
            intrinsics: Gress::ALL.map(of),
            fields: EntityMap::filled(program.fields.len(), |_| 0),
            valid: EntityMap::filled(program.headers.len(), |_| false),
        }
    }

    /// Returns the field of `gress` for an intrinsic; `None` if the program does not declare it.
    pub(super) fn intrinsic(&self, gress: Gress, which: Intrinsic) -> Option<Field> {
        self.intrinsics[gress.index()].iter().find(|(w, _)| *w == which).map(|(_, field)| *field)
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn field(&self, field: Field) -> u128 {
        self.fields[field]
    }

    /// Returns true if a header is valid.
    #[must_use]
    pub fn is_valid(&self, header: Header) -> bool {
        self.valid[header]
    }

    /// Writes the low bits of `value` to a field; returns the old value.
    pub(super) fn set(&mut self, program: &Program, field: Field, value: u128) -> u128 {
        let kept = value & width_mask(program.fields[field].width.into());
        std::mem::replace(&mut self.fields[field], kept)
    }

    pub(super) fn set_valid(&mut self, header: Header, valid: bool) {
        self.valid[header] = valid;
    }

    /// Clears all values and sets those of a queue-depth update.
    pub(super) fn start_ghost(&mut self, program: &Program, update: &GhostUpdate) {
        self.fields.values_mut().for_each(|v| *v = 0);
        self.valid.values_mut().for_each(|v| *v = false);
        for (field, data) in program.fields.iter() {
            if let Home::Intrinsic(which) = data.home {
                self.set(program, field, update.field(which).into());
            }
        }
    }

    /// Clears all values and sets the intrinsic fields.
    pub(super) fn start(&mut self, program: &Program, gress: Gress, input: &PassIn, bytes: u32) {
        self.fields.values_mut().for_each(|v| *v = 0);
        self.valid.values_mut().for_each(|v| *v = false);
        for n in 0..self.intrinsics[gress.index()].len() {
            let (which, field) = self.intrinsics[gress.index()][n];
            self.set(program, field, intrinsic_input(which, input, bytes));
        }
    }
}

/// Returns the value of an intrinsic field at the start of a pass, before truncation to the field's width.
fn intrinsic_input(which: Intrinsic, input: &PassIn, bytes: u32) -> u128 {
    match which {
        Intrinsic::IngressPort | Intrinsic::EgressPort => input.port.into(),
        Intrinsic::IngressMacTstamp => input.mac_tstamp.into(),
        Intrinsic::GlobalTstamp => input.global_tstamp.into(),
        Intrinsic::UcastEgressPort => Intrinsic::NO_PORT.into(),
        Intrinsic::EnqQdepth => input.enq_qdepth.into(),
        Intrinsic::EnqTstamp => input.enq_tstamp.into(),
        Intrinsic::DeqQdepth => input.deq_qdepth.into(),
        Intrinsic::DeqTimedelta => input.deq_timedelta.into(),
        Intrinsic::EgressQid => input.qid.into(),
        Intrinsic::PktLength => bytes.into(),
        Intrinsic::ResubmitFlag => input.resubmitted.into(),
        Intrinsic::EgressRid => input.rid.into(),
        Intrinsic::EgressRidFirst => input.rid_first.into(),
        Intrinsic::EgressCos => input.cos.into(),
        Intrinsic::DeflectionFlag => input.deflected.into(),
        Intrinsic::EnqCongestStat => input.enq_congest_stat.into(),
        // Set after parsing, or zero at the start.
        _ => 0,
    }
}
