//! `conga`: sends every flowlet over the uplink whose path to the destination's leaf is least congested.
//!
//! Leaves encapsulate packets to each other in VXLAN (Alizadeh et al., SIGCOMM 2014; model: flowlets §4.1). The header
//! says which uplink the packet took, and spines raise its congestion field to the largest congestion on the rest of
//! the path. The receiving leaf stores that value by leaf and uplink, and sends it back in the headers of packets in
//! the other direction. The congestion of an uplink is the larger of its link's and the rest of the path's. A new
//! flowlet takes the uplink with the lowest congestion; among several it keeps its previous one, or draws.
//!
//! A link's congestion is measured by a discounting rate estimator: bytes sent, decayed with a time constant. Here
//! that is a low-pass filter in rate mode, which decays by powers of two. The filter comes after the choice of the
//! uplink, but the choice needs its output. So the packet generator reads the filters once per `period`, as often as
//! the paper's estimators decay, and its packets are resubmitted to write the output to registers before the choice.
//!
//! | file | contents |
//! |---|---|
//! | `params` | the parameters |
//! | `headers` | the VXLAN overlay, and the parser |
//! | `feedback` | tables of congestion from and to other leaves, and the packets that read and write them |
//! | `choose` | the set of least congested uplinks, and a random one of them |
//! | `ties` | rows of the table from that set to the words that the choice compares |
//! | `keep` | choice of each flowlet's uplink: the previous one if it is among the least congested |
//! | `egress` | a leaf encapsulates, a spine raises the congestion field |
//! | `entries` | entries, by default and at a position in a network |
//! | `model` | the fate of a frame, in plain Rust, for properties |
//! | `dre` | settings of a link's estimator |

mod choose;
mod dre;
mod egress;
mod entries;
mod feedback;
mod headers;
mod keep;
mod model;
mod params;
mod properties;
mod ties;

pub use dre::{Estimator, estimator};
pub use params::{Params, Side};

use crate::leaf::{self, Knows, Sizes};
use crate::model::Judge;
use sluice_asic::port::{FrontPort, PortMap, PortName};
use sluice_build::*;
use sluice_catalogue::position::Position;
use sluice_catalogue::{ProgramDef, ProgramError, Role, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;

const NAME: &str = "conga";

/// Declares a leaf: the shared leaf with the overlay around it.
fn leaf_program(b: &Builder, p: &Params) {
    let ig = b.ingress();
    let (leaf, first) = leaf::declare(&ig, Sizes::new(p.routes, p.groups()), Knows::Flowlet);
    let h = headers::declare(&ig, first);
    let tables = feedback::declare(&ig, leaf, h, p);
    leaf::route(&ig, leaf);
    let t = feedback::exchange(&ig, leaf, h, &tables, p);
    crate::spray::draw(&ig, leaf);
    leaf::propose(&ig, leaf);
    let best = choose::least(&ig, leaf, &t, p);
    keep::keep(&ig, leaf, best, &t, p);
    feedback::charge(&ig, leaf, h, &tables, p);
    headers::wrap(&ig, leaf, h, &t, p);
    leaf::finish(&ig, leaf);
    leaf::deparse(ig.deparser().resubmit(1, h.found).emit(h.bridge), leaf);
    egress::wrap(&b.egress(), p);
    let hosts = p.hosts.iter().chain(p.uplinks.iter());
    let ports = hosts.map(|port| PortName::Front(FrontPort(port)));
    b.together("packets from hosts read registers that packets from uplinks write", tables.shared(), ports);
}

/// Declares a spine: the shared leaf, which routes by the outer addresses; a hash picks one of several links to a leaf.
fn spine_program(b: &Builder, p: &Params) {
    let ig = b.ingress();
    let (leaf, first) = leaf::declare(&ig, Sizes::new(p.routes, p.groups()), Knows::Flow);
    ig.start(first);
    leaf::route(&ig, leaf);
    choose::by_hash(&ig, leaf);
    leaf::propose(&ig, leaf);
    leaf::send(&ig, leaf);
    egress::raise(&b.egress(), p);
}

/// The program `conga`.
#[derive(Clone, Copy, Debug)]
pub struct Conga;

impl ProgramDef for Conga {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str =
        "Sends every flowlet over the least congested path, by feedback between leaves (leaf and spine)";
    /// Parameters for `sluice fuzz`: estimators that a few packets move, timeouts that expire within one
    /// input, and few leaves, because the packet generator makes packets for each of them.
    const HUNT: &'static [(&'static str, &'static str)] =
        &[("tau", "10us"), ("timeout", "20us"), ("age", "200us"), ("leaves", "4")];
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        p.check(NAME)
    }

    fn declare(b: &Builder, p: &Params) {
        match p.role {
            Side::Leaf => leaf_program(b, p),
            Side::Spine => spine_program(b, p),
        }
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports, p)
    }

    fn role_at(at: &Position) -> Role {
        entries::role_at(at)
    }

    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        p: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(entries::setup_at(program, ports, at, p))
    }

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        let mut list = properties::all();
        list.push(Box::new(Judge::new(model::CongaModel::new(p))));
        list
    }
}
