//! `conweave`: reroutes RDMA flows every round trip and puts them back in order before the host (ConWeave, SIGCOMM
//! 2023; model: conweave §1).
//!
//! One program for both roles of a ToR: *SrcToR* of flows whose hosts it has, *DstToR* of flows to its hosts.
//!
//! | file | contents |
//! |---|---|
//! | `params` | parameters |
//! | `headers` | headers bit by bit, metadata, the ingress parser |
//! | `ingress` | routing, and the role of the ToR for a packet |
//! | `busy` | busy paths, and two samples of the paths |
//! | `source` | SrcToR: epochs, the reply timer, the paper's decision table |
//! | `destination` | DstToR: early packets, T_resume, the reorder status, the watchdog |
//! | `queues` | owners of the reorder queues |
//! | `timer` | recirculations of the timer packet |
//! | `egress` | control packets, counts, TAIL's word, marking |
//! | `entries` | default entries |
//! | `routes` | entries for a position in a network |
//! | `properties` | properties of every run |
//! | `model`, `epochs` | the fate of a frame, and SrcToR's epochs, in plain Rust, for properties |
//! | `observed`, `answers`, `waits` | DstToR's answers and reorder queues, in plain Rust, for properties |
//! | `sample` | sample captures |
//! | `wire` | ConWeave's bytes in frames |
//! | `story` | sentences of a flow's story |
//! | `hot_flows` | the control plane that installs hot flows |

mod answers;
mod busy;
mod destination;
mod egress;
mod entries;
mod epochs;
pub(crate) mod headers;
pub mod hot_flows;
mod ingress;
pub(crate) mod model;
mod observed;
mod params;
mod properties;
mod queues;
mod routes;
pub mod sample;
mod source;
pub(crate) mod story;
mod timer;
mod waits;
pub mod wire;

pub(crate) use entries::control_class;
pub use entries::{FlowEntry, Prefix, TorConfig, tor_setup};
pub use params::Params;

use crate::model::Judge;
use sluice_asic::port::{FrontPort, PortMap, PortName};
use sluice_build::Builder;
use sluice_catalogue::control_plane::{ControlPlane, ControlPlaneError, ControlPlaneRequest};
use sluice_catalogue::position::Position;
use sluice_catalogue::story::Narrator;
use sluice_catalogue::{ProgramDef, ProgramError, Role, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;
use std::sync::Arc;

const NAME: &str = "conweave";
const SUMMARY: &str =
    "Reroutes RDMA flows every round trip and puts them back in order before the host (ConWeave)";

/// Queue of control packets, of a higher priority than the default queue 0.
pub const CONTROL_QUEUE: u64 = 1;
/// DSCP of control packets by default: CS6, which SONiC's maps give to network control.
pub(crate) const CONTROL_DSCP: u32 = 48;
/// Mirror session that cuts the copy that becomes a control packet behind ConWeave's header (model: conweave §2.5).
const HEADERS_SESSION: u64 = 220;
/// Mirror session that leaves a timer packet whole.
const TIMER_SESSION: u64 = 221;
/// Mirror session that cuts the copy that becomes a timer packet behind ConWeave's header.
const BIRTH_SESSION: u64 = 222;
/// Credit of a flow-control word that pauses; without it a word resumes.
const PAUSE: u64 = 1;

/// The program `conweave`.
#[derive(Clone, Copy, Debug)]
pub struct ConWeave;

impl ProgramDef for ConWeave {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str = SUMMARY;
    /// Parameters for `sluice fuzz`: timeouts that expire within one input, and so few reorder queues that flows
    /// compete.
    const HUNT: &'static [(&'static str, &'static str)] = &[
        ("inactive", "40"),
        ("resume_default", "30"),
        ("patience", "9"),
        ("watchdog", "24"),
        ("path_busy", "40"),
        ("queues", "5"),
        ("known", "16"),
    ];
    const SAMPLE: Option<(&'static str, &'static [u8])> = Some(sample::OF_ONE);
    const WITHOUT_CONTROL_PLANE: Option<&'static str> = Some(
        "RDMA flows that are not in the flow table take ECMP; raise `known` above the number of UDP source ports that hosts use \
         from 49152 on, let hosts use those ports, or give the ToRs `entries` with their flows",
    );
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        p.check(NAME)
    }

    fn declare(b: &Builder, p: &Params) {
        let blocks = ingress::ingress(&b.ingress(), p).into_iter().chain(egress::egress(&b.egress(), p));
        let ports = p.hosts.iter().chain(p.uplinks.iter()).map(|port| PortName::Front(FrontPort(port)));
        b.together("the state of a flow is written by packets of hosts, paths and the timer", blocks, ports);
    }

    fn default_setup(program: &Program, ports: &PortMap, _: &Params) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports)
    }

    fn role_at(at: &Position) -> Role {
        routes::role_at(at)
    }

    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        _: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(routes::setup_at(program, ports, at))
    }

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        let mut list = properties::all();
        list.push(Box::new(Judge::new(model::TorModel { pipe: p.pipe as u16 })));
        list.push(Box::new(epochs::Epochs::new(p)));
        list.push(Box::new(observed::AfterRun::<answers::DstAnswers>::new(p)));
        list.push(Box::new(observed::AfterRun::<waits::Waits>::new(p)));
        list
    }

    fn network_samples() -> Vec<(&'static str, &'static str, &'static [u8])> {
        sample::of_network()
    }

    fn story() -> Option<Arc<dyn Narrator>> {
        Some(Arc::new(story::ConWeaveNarrator))
    }

    fn control_plane(
        request: &ControlPlaneRequest<'_>,
    ) -> Option<Result<Box<dyn ControlPlane>, ControlPlaneError>> {
        Some(hot_flows::start(request))
    }
}

/// The program with these parameters.
///
/// # Errors
/// When the parameters do not go together, or the verifier refuses the program.
pub fn program(p: &Params) -> Result<Program, ProgramError> {
    sluice_catalogue::build::<ConWeave>(p)
}
