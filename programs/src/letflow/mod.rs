//! `letflow`: every flowlet goes over a random uplink.
//!
//! At the head of a flowlet a random number picks one of the group's uplinks, and the packets after it keep that
//! one until the flow pauses for longer than the timeout. That is all: no path is measured and no rate is known.
//! What makes it work is that flows on a bad path slow down, pause more often and so draw more often (Vanini et
//! al., NSDI 2017). What may not live here: the leaf around it (`leaf`), how flowlets are told apart
//! ([`crate::flowlet`]).

use crate::balance::Numbers;
use crate::catalog::{ProgramError, StageProgram};
use crate::flowlet::{self, Compare, Detect, Spec, Tick};
use crate::leaf::generator::visit;
use crate::leaf::{self, Sizes};
use crate::position::Position;
use crate::setup::{Ops, Setup, SetupError};
use crate::spray;
use sluice_asic::port::PortMap;
use sluice_asic::units::Duration;
use sluice_pipeline::build::params::{self, ParamInfo, Params as _};
use sluice_pipeline::ir::Program;
use sluice_pipeline::property::Property;

const NAME: &str = "letflow";
const SUMMARY: &str = "Sends every flowlet over a random uplink and remembers it until the flow pauses";

/// What users can set on `letflow`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Gap between packets of a flow that ends a flowlet
    #[param(expects = "a time such as 100us")]
    pub timeout: Duration,
    /// How the gap is noticed: time and member in one array, in two, or ages that the packet generator raises
    #[param(expects = "pair, split or age")]
    pub detect: Detect,
    /// Entries of the flowlet table, a power of two; flows that share one share their flowlets
    #[param(range = 2..=131_072)]
    pub flowlets: u32,
    /// Unit of the stamps that are compared; not for detect=age
    #[param(expects = "1ns, 256ns or 1024ns")]
    pub tick: Tick,
    /// Whether a gap of exactly the timeout ends a flowlet (ge) or not (gt); not for detect=age
    #[param(expects = "gt or ge")]
    pub compare: Compare,
    /// Chances of the uplinks, front-panel ports 8 and up; unequal ones make a wrong coin
    #[param(expects = "a comma-separated list of 2 to 16 numbers")]
    pub weights: Numbers,
    /// IPv4 routes that the table must hold; a quarter as many IPv6 routes
    #[param(range = 16..=1_000_000)]
    pub routes: u32,
    /// Groups of uplinks
    #[param(range = 4..=4_096)]
    pub groups: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            timeout: Duration::from_micros(100),
            detect: Detect::Pair,
            flowlets: 32_768,
            tick: Tick::Ns256,
            compare: Compare::Gt,
            weights: Numbers(vec![1; 8]),
            routes: 4_096,
            groups: 256,
        }
    }
}

impl Params {
    fn spec(&self) -> Spec {
        Spec {
            detect: self.detect,
            entries: self.flowlets,
            timeout: self.timeout,
            tick: self.tick,
            compare: self.compare,
        }
    }

    /// The entries, and the packet generator's part where ages need one.
    fn with_generator(&self, mut ops: Ops<'_>, ports: &PortMap) -> Result<Setup, SetupError> {
        if self.detect == Detect::Age {
            visit(&mut ops, ports, self.flowlets, self.timeout)?;
        }
        Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
    }
}

/// The program `letflow`.
#[derive(Clone, Copy, Debug)]
pub struct LetFlow;

impl StageProgram for LetFlow {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        SUMMARY
    }

    fn params(&self) -> Vec<ParamInfo> {
        Params::default().list()
    }

    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError> {
        let p = leaf::set(Params::default(), sets, NAME)?;
        p.spec().check(NAME)?;
        leaf::weights(NAME, &p.weights)?;
        let (sizes, spec) = (Sizes::new(p.routes, p.groups), p.spec());
        leaf::program((NAME, SUMMARY), (sizes, true), spray::draw, |ig, l| flowlet::keep(ig, l, spec), &p)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        let p: Params = leaf::built_with(program);
        p.with_generator(leaf::operations(program, ports, &p.weights.0)?, ports)
    }

    fn setup_at(
        &self,
        program: &Program,
        ports: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        let p: Params = leaf::built_with(program);
        Some(leaf::operations_at(program, position).and_then(|ops| p.with_generator(ops, ports)))
    }

    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        leaf::built_with::<Params>(program).spec().properties()
    }

    fn p4(&self) -> &'static str {
        concat!(include_str!("../leaf/types.p4"), include_str!("choose.p4"), include_str!("../leaf/pipe.p4"))
    }
}
