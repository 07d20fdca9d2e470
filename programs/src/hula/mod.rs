//! `hula`: probes inform every switch of the least used path to every ToR, and flowlets take it.
//!
//! Each ToR's packet generator sends probes up. A switch raises a probe's utilisation to that of the link
//! that data would take in the opposite direction, remembers the port with the lowest utilisation, and
//! forwards the probe: from below up and down, from above only down (Katta et al., SOSR 2016; model: flowlets
//! §4.2). A switch knows only its own best next hop. ToRs and spines run one program; their entries differ.
//!
//! A link's utilisation is known only after the choice of a port, and the best hop is needed before it, so a probe is
//! resubmitted and passes ingress twice. Links are measured by a low-pass filter in rate mode, as in `conga`.
//!
//! | file | contents |
//! |---|---|
//! | `probes` | headers, tables of best hops, and the two passes of a probe |
//! | `entries` | entries, by default and at a position in a network |
//! | `model` | the fate of a frame, in plain Rust, for properties |

mod entries;
mod model;
mod probes;

use crate::flowlet::{self, Detect, Gaps, Spec, choices};
use crate::leaf::{self, Knows, Sizes};
use crate::model::Judge;
use crate::spray;
use model::HulaModel;
use sluice_asic::port::{FrontPort, PortMap, PortName};
use sluice_asic::units::Duration;
use sluice_build::params;
use sluice_build::*;
use sluice_catalogue::ports::PortRange;
use sluice_catalogue::position::Position;
use sluice_catalogue::properties::HopLimit;
use sluice_catalogue::{ProgramDef, ProgramError, Role, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;

const NAME: &str = "hula";

choices! {
    /// The role of a switch.
    Side {
        /// A switch with hosts, which sends probes.
        Tor = "tor",
        /// A switch without hosts, which forwards probes.
        Spine = "spine",
    }
}

/// Parameters of `hula`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Role of the switch: tor (has hosts, sends probes) or spine (forwards probes); in a network the position decides
    #[param(expects = "tor or spine")]
    pub role: Side,
    /// Flowlet detection
    #[param(flatten)]
    pub gaps: Gaps,
    /// Period of a ToR's probes
    #[param(expects = "a time such as 200us")]
    pub period: Duration,
    /// Time without a probe after which a best hop is ignored
    #[param(expects = "a time such as 600us")]
    pub keepalive: Duration,
    /// Whether every probe of the best hop replaces its stored utilisation. false is the published rule:
    /// only a probe with a lower utilisation does, or one after the keepalive
    #[param(expects = "true or false")]
    pub refresh: bool,
    /// Time constant of the link estimators, rounded as in conga; the rule is twice the period of probes
    #[param(expects = "a time such as 400us")]
    pub tau: Duration,
    /// Size of the tables indexed by ToR; ToRs are numbered from 1 to this minus 1
    #[param(range = 4..=4_096)]
    pub tors: u32,
    /// Front-panel ports with hosts, in the same pipe as the uplinks; ignored on a spine
    #[param(expects = "the first and the last port, such as 0-3")]
    pub hosts: PortRange,
    /// Front-panel ports that lead to other switches
    #[param(expects = "the first and the last port, such as 4-7")]
    pub uplinks: PortRange,
    /// IPv4 routes that the table must hold; the IPv6 table holds a quarter as many
    #[param(range = 16..=1_000_000)]
    pub routes: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            role: Side::Tor,
            gaps: Gaps::default(),
            period: Duration::from_micros(200),
            keepalive: Duration::from_micros(600),
            refresh: true,
            tau: Duration::from_micros(400),
            tors: 256,
            hosts: PortRange { first: 0, last: 3 },
            uplinks: PortRange { first: 4, last: 7 },
            routes: 4_096,
        }
    }
}

impl Params {
    fn spec(&self) -> Spec {
        self.gaps.spec(Detect::Pair)
    }

    /// Returns the largest age at which a best hop still counts, in ticks.
    fn oldest(&self) -> u64 {
        self.keepalive.as_ps() / (self.gaps.tick.nanos() * 1_000)
    }

    fn check(&self) -> Result<(), ProgramError> {
        self.spec().check(NAME)?;
        let refuse =
            |key, found: String, expected: String| Err(ProgramError::conflict(NAME, key, found, expected));
        let meets = self.hosts.iter().any(|host| self.uplinks.iter().any(|uplink| uplink == host));
        if self.role == Side::Tor && meets {
            let expected =
                format!("it overlaps with hosts={}: a port is for a host or for a switch", self.hosts);
            return refuse("uplinks", self.uplinks.to_string(), expected);
        }
        if self.oldest() < 1 || self.oldest() >= 1 << 30 || self.keepalive < self.period {
            let expected = format!("allowed are period={} to 2^30 ticks: change tick", self.period);
            return refuse("keepalive", self.keepalive.to_string(), expected);
        }
        Ok(())
    }
}

/// The program `hula`.
#[derive(Clone, Copy, Debug)]
pub struct Hula;

impl ProgramDef for Hula {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str =
        "Sends every flowlet to the next hop of the least used path, as probes report it (ToR and spine)";
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        p.check()
    }

    fn declare(b: &Builder, p: &Params) {
        let ig = b.ingress();
        let (leaf, first) = leaf::declare(&ig, Sizes::new(p.routes, p.tors), Knows::Flowlet);
        let h = probes::headers(&ig, first);
        let tables = probes::declare(&ig, leaf, h, p);
        leaf::route(&ig, leaf);
        probes::pass(&ig, leaf, h, &tables, p);
        spray::draw(&ig, leaf);
        leaf::propose(&ig, leaf);
        probes::prefer(&ig, leaf, &tables);
        flowlet::keep(&ig, leaf, p.spec());
        leaf::finish(&ig, leaf);
        probes::charge(&ig, leaf, h, &tables);
        leaf::deparse(ig.deparser().resubmit(1, h.found), leaf).emit(h.probe);
        leaf::egress(&b.egress());
        let hosts = p.hosts.iter().filter(|_| p.role == Side::Tor);
        let ports = hosts.chain(p.uplinks.iter()).map(|port| PortName::Front(FrontPort(port)));
        b.together("packets from hosts read registers that probes write", tables.shared(), ports);
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
        let mut list: Vec<Box<dyn Property>> = vec![Box::new(HopLimit), Box::new(Judge::new(HulaModel))];
        list.extend(p.spec().flowlets(false));
        list
    }
}
