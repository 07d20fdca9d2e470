//! `int`: in-band network telemetry, INT v2.1, with Telemetry Report v2.0.
//!
//! Every switch of a network runs the same program; which part it plays is a matter of ports. A packet of a watched
//! flow that comes in by a host's port gets a shim, an INT header and this node's metadata (*source*); where it comes
//! in by another and leaves by another port, metadata is put in front of the stack (*transit*); where it leaves by a
//! host's port all INT comes off, and a copy goes to the collector as a report (*sink*). All of that happens at
//! egress, where everything is known. In this order, of a packet with INT that is no sink's (model: int §2.5):
//!
//! 1. No hops remaining: E is set, nothing added.
//! 2. The instructions and Hop ML disagree, or nothing could keep the L4 checksum right: the packet is left alone.
//! 3. The block would exceed the port's MTU: M is set, nothing added.
//! 4. Otherwise the block follows the INT header, and lengths and checksums follow suit.
//!
//! L4 checksums stay right without change: the complement word of each hop (instruction bit 15) makes the sum of all
//! that the hop changed vanish. So a sink can take everything off without having seen it. A packet with an L4 checksum
//! whose instructions have no such bit gets no INT; UDP without checksum, and carrier=new-udp, need none.
//!
//! | file | what it says |
//! |---|---|
//! | `params` | what users can set |
//! | `headers`, `metadata` | what there is of a packet |
//! | `parser` | the egress parser |
//! | `ingress` | edge, watch-list, sampling, drop reports |
//! | `egress`, `observe`, `block`, `strip`, `report` | source, transit and sink; values; metadata; what comes off; reports |
//! | `entries` | what the program starts with |
//! | `places` | what it starts with in a network, and which parts it plays there |
//! | `properties` | what must hold of every packet |
//! | `int.p4` | the same program in P4_16 for TNA |

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
    const P4: Option<&'static str> = Some(include_str!("int.p4"));
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
