//! `ecn-mark`: RED-like ECN marking for DCQCN, with thresholds in registers.
//!
//! When a packet is dequeued, it is marked CE by the length of the queue: never up to Kmin, with a probability that
//! rises to Pmax at Kmax, and always above Kmax (model: buffer §3.1). Only ECN-capable packets (ECT) are marked.
//! Thresholds are rows of three registers, one row per port speed, and the control plane can change them at run time.
//!
//! | file | contents |
//! |---|---|
//! | `params` | the parameters |
//! | `ingress` | forwarding only |
//! | `egress` | the marking probability, and the mark |
//! | `entries` | default entries |

mod egress;
mod entries;
mod ingress;
mod params;

pub use params::Params;

use crate::forwarding::model::PlainModel;
use crate::model::Judge;
use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_catalogue::properties::{EcnMarks, HopLimit};
use sluice_catalogue::{ProgramDef, ProgramError, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;

/// The program `ecn-mark`.
#[derive(Clone, Copy, Debug)]
pub struct EcnMark;

impl ProgramDef for EcnMark {
    const NAME: &'static str = "ecn-mark";
    const SUMMARY: &'static str =
        "Marks packets by the length of their queue, as RED for DCQCN does, with thresholds in registers";
    /// Parameters for `sluice fuzz`: thresholds that a burst passes, on any port.
    const HUNT: &'static [(&'static str, &'static str)] =
        &[("kmin", "1000"), ("kmax", "20000"), ("pmax", "5000"), ("scaled", "false")];
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        p.check(Self::NAME)
    }

    fn declare(b: &Builder, p: &Params) {
        ingress::ingress(&b.ingress(), p);
        egress::egress(&b.egress());
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports, p)
    }

    fn properties(_: &Program, _: &Params) -> Vec<Box<dyn Property>> {
        let model = PlainModel { marks: true, or: &[] };
        vec![Box::new(HopLimit), Box::new(EcnMarks), Box::new(Judge::new(model))]
    }
}
