//! `letflow`: sends every flowlet over a random uplink.
//!
//! The first packet of a flowlet draws one of the group's uplinks at random, and the packets after it keep that uplink
//! until the flow pauses for longer than the timeout. No path is measured and no rate is known. The method works
//! because flows on a bad path slow down, pause more often and so draw more often (Vanini et al., NSDI 2017).

use crate::flowlet::{self, Compare, Detect, Spec, Tick};
use crate::leaf::generator::visit;
use crate::leaf::{self, Knows, TableSizes};
use crate::spray;
use sluice_asic::port::PortMap;
use sluice_asic::units::Duration;
use sluice_build::{Builder, params};
use sluice_catalogue::position::Position;
use sluice_catalogue::setup::{Ops, Setup, SetupError};
use sluice_catalogue::{ProgramDef, ProgramError};
use sluice_hashing::values::NumberList;
use sluice_ir::Program;
use sluice_switch::property::Property;

/// Parameters of `letflow`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Gap between packets of a flow that ends a flowlet
    #[param(expects = "a time such as 100us")]
    pub timeout: Duration,
    /// How a gap is detected: `pair` = time and member in one array; `split` = in two; `age` = by generated packets
    #[param(expects = "pair, split or age")]
    pub detect: Detect,
    /// Entries of the flowlet table, a power of two; flows that share an entry share their flowlets
    #[param(range = 2..=131_072)]
    pub flowlets: u32,
    /// Unit of the timestamps that are compared; not used by detect=age
    #[param(expects = "1ns, 256ns or 1024ns")]
    pub tick: Tick,
    /// Whether a gap of exactly the timeout ends a flowlet (ge) or not (gt); not used by detect=age
    #[param(expects = "gt or ge")]
    pub compare: Compare,
    /// Weights of the uplinks, front-panel ports 8 and up: relative probabilities of a draw
    #[param(expects = "a comma-separated list of 2 to 16 numbers")]
    pub weights: NumberList,
    /// Table sizes
    #[param(flatten)]
    pub tables: TableSizes,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            timeout: Duration::from_micros(100),
            detect: Detect::Pair,
            flowlets: 32_768,
            tick: Tick::Ns256,
            compare: Compare::Gt,
            weights: NumberList(vec![1; 8]),
            tables: TableSizes::default(),
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

    /// Returns the setup: `ops`, entries for the numbers of other groups, and the packet generator if detect=age.
    fn complete(&self, mut ops: Ops<'_>, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        leaf::go_round(&mut ops, program)?;
        if self.detect == Detect::Age {
            visit(&mut ops, ports, self.flowlets, self.timeout)?;
        }
        Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
    }
}

/// The program `letflow`.
#[derive(Clone, Copy, Debug)]
pub struct LetFlow;

impl ProgramDef for LetFlow {
    const NAME: &'static str = "letflow";
    const SUMMARY: &'static str =
        "Sends every flowlet over a random uplink and remembers it until the flow pauses";
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        p.spec().check(Self::NAME)?;
        leaf::weights(Self::NAME, &p.weights)
    }

    fn declare(b: &Builder, p: &Params) {
        leaf::pipes(b, (p.tables.sizes(), Knows::Flowlet), spray::draw, |ig, l| {
            flowlet::keep(ig, l, p.spec())
        });
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        p.complete(leaf::operations(program, ports, &p.weights.0)?, program, ports)
    }

    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        p: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(leaf::operations_at(program, at).and_then(|ops| p.complete(ops, program, ports)))
    }

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        p.spec().properties(true)
    }
}
