//! `int`: in-band network telemetry, INT v2.1, with Telemetry Report v2.0.
//!
//! Every switch of a network runs the same program; its part depends on the packet's ports. A packet of a watched flow
//! that arrives on a host's port gets a shim, an INT header and this node's metadata (*source*). A packet between two
//! other ports gets metadata in front of the stack (*transit*). From a packet that is sent on a host's port all INT is
//! removed, and a copy goes to the collector as a report (*sink*). All of that happens at egress, where all values are
//! known. For a packet with INT that is not sent to a host, the first rule that applies decides (model: int §2.5):
//!
//! 1. No hops remaining: E is set, nothing added.
//! 2. The instructions and Hop ML disagree, or nothing could keep the L4 checksum valid: the packet is not changed.
//! 3. The block would exceed the port's MTU: M is set, nothing added.
//! 4. Otherwise the block is inserted after the INT header, and lengths and checksums are updated.
//!
//! L4 checksums stay valid without change: the complement word of each hop (instruction bit 15) makes the ones'
//! complement sum of the hop's changes zero. So a sink can remove the stack without reading it. A packet with an L4
//! checksum whose instructions lack that bit gets no INT; UDP without checksum and carrier=new-udp need no complement.
//!
//! | file | contents |
//! |---|---|
//! | `params` | the parameters |
//! | `headers`, `metadata` | headers and metadata of a packet |
//! | `parser` | the egress parser |
//! | `ingress` | edge, watch-list, sampling, drop reports |
//! | `egress`, `observe`, `block`, `strip`, `report` | source, transit, sink; values; metadata; INT removal; reports |
//! | `entries` | default entries |
//! | `places` | entries at a position in a network, and the switch's parts there |
//! | `properties` | properties of every packet |

mod block;
mod carrier;
mod egress;
mod entries;
mod headers;
mod ingress;
mod metadata;
mod observe;
mod params;
mod parser;
mod places;
mod properties;
mod report;
mod strip;

pub use entries::{Collector, Instructions};
pub use params::{Carrier, Foreign, Mode, Params, Part, SinkReport, UnknownDomain, Watch};

use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_catalogue::position::Position;
use sluice_catalogue::{ProgramDef, Role, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;

/// The program `int`.
#[derive(Clone, Copy, Debug)]
pub struct Int;

impl ProgramDef for Int {
    const NAME: &'static str = "int";
    const SUMMARY: &'static str =
        "INT v2.1 source, transit and sink with Telemetry Reports v2.0, as INT-MD, INT-MX or INT-XD";
    type Params = Params;

    fn declare(b: &Builder, p: &Params) {
        ingress::ingress(&b.ingress(), p);
        egress::egress(&b.egress(), p);
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports, p)
    }

    fn role_at(at: &Position) -> Role {
        places::role_at(at)
    }

    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        p: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(places::setup_at(program, ports, at, p))
    }

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        properties::all(p)
    }
}
