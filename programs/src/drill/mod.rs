//! `drill`: sends every packet over the uplink with the shortest queue of a few: some drawn at random, and the one that
//! was shortest last time.
//!
//! DRILL(d, 1) (Ghorbani et al., SIGCOMM 2017; model: flowlets §4.5): a packet compares the queues of `samples` uplinks
//! drawn at random with that of the uplink that its group remembers, takes the shortest, and has the group remember it;
//! of equal ones the remembered stays. Ingress gets queue depths from the ghost control, so this is a program for
//! Tofino 2.
//!
//! The remembered uplink is read and replaced in one access, so its depth cannot be looked up in between. The depth is
//! therefore stored in addition to the uplink, and the ghost control keeps it up to date. The ghost control can access
//! one element of an array per update, so groups with an uplink in common need separate arrays (`banks`).
//!
//! | file | contents |
//! |---|---|
//! | `choose` | the samples and the memory, in ingress |
//! | `depths` | queue depths, and the ghost control |
//! | `entries` | entries, by default and at a position in a network |

mod choose;
mod depths;
mod entries;

use crate::leaf::{self, Knows, TableSizes};
use sluice_asic::port::PortMap;
use sluice_build::params;
use sluice_build::*;
use sluice_catalogue::position::Position;
use sluice_catalogue::{ProgramDef, ProgramError, Setup, SetupError};
use sluice_hashing::values::NumberList;
use sluice_ir::Program;
use sluice_switch::property::Property;

const NAME: &str = "drill";

/// Parameters of `drill`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Number of uplinks that a packet draws at random: the paper's d
    #[param(range = 1..=4)]
    pub samples: u32,
    /// Whether a group remembers the uplink of the shortest queue (the paper's m = 1) or not (m = 0)
    #[param(expects = "true or false")]
    pub remember: bool,
    /// Number of arrays that hold the groups' memories; groups with an uplink in common need different arrays
    #[param(range = 1..=4)]
    pub banks: u32,
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
            samples: 2,
            remember: true,
            banks: 2,
            weights: NumberList(vec![1; 8]),
            tables: TableSizes::default(),
        }
    }
}

/// The program `drill`.
#[derive(Clone, Copy, Debug)]
pub struct Drill;

impl ProgramDef for Drill {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str =
        "Sends every packet over the shortest queue of some random uplinks and the last shortest one";
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        leaf::weights(NAME, &p.weights)
    }

    fn declare(b: &Builder, p: &Params) {
        let sizes = p.tables.sizes();
        let ig = b.ingress();
        let (leaf, start) = leaf::declare(&ig, sizes, Knows::Generation);
        ig.start(start);
        let depths = depths::declare(&ig, p);
        leaf::route(&ig, leaf);
        crate::spray::draw(&ig, leaf);
        leaf::propose(&ig, leaf);
        let others = choose::others(&ig, leaf, sizes, p);
        let shortest = choose::shortest(&ig, leaf, &depths, &others);
        if p.remember {
            choose::remember(&ig, leaf, &depths, shortest, p.tables.groups);
        }
        leaf::send(&ig, leaf);
        leaf::egress(&b.egress());
        depths::ghost(&b.ghost(), leaf, &depths, shortest);
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        entries::complete(leaf::operations(program, ports, &p.weights.0)?, program, p)
    }

    fn setup_at(
        program: &Program,
        _: &PortMap,
        at: &Position,
        p: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(leaf::operations_at(program, at).and_then(|ops| entries::complete(ops, program, p)))
    }

    fn properties(_: &Program, _: &Params) -> Vec<Box<dyn Property>> {
        leaf::model::properties()
    }
}
