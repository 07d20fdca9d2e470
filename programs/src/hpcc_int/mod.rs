//! `hpcc-int`: the telemetry by which HPCC senders control their rate.
//!
//! Every data packet of a RoCEv2 flow carries, between UDP and the InfiniBand header, two bytes that all hops share
//! and eight bytes per hop: speed of the port, time, bytes that the port has sent, and length of its queue.
//! A switch adds its record when it sends the packet, after the earlier records (model: int §1.8, §2.9):
//!
//! 1. It changes nothing if nHop is 5, if the packet would become longer than the port's MTU, if the packet is a reply
//!    (an acknowledgement carries a copy of the records back), or if the header is cut off or nHop is above 5.
//! 2. Otherwise nHop grows by one, pathID is combined with the switch's number by exclusive or, the record is added,
//!    and IPv4 and UDP lengths and checksums are updated. A UDP checksum of 0 stays 0.
//!
//! With `layout=ns3` a packet has five slots from the beginning, and a sixth hop overwrites the first one (model: int
//! §1.9). Bytes sent are those of all packets of the port, before the present one.
//!
//! | file | contents |
//! |---|---|
//! | `params` | the parameters |
//! | `headers` | headers, metadata, the egress parser |
//! | `egress` | records |
//! | `ns3` | egress in the layout of the authors' simulator: headers, parser, records |
//! | `entries` | entries, by default and at a position in a network |
//! | `properties` | properties of every packet |

mod egress;
mod entries;
mod headers;
mod ns3;
mod params;
mod properties;

pub use entries::speed_code;
pub use params::{Layout, Multi, Params, QueueLength};

use crate::forwarding::routed::{Routed, Sizes, route};
use sluice_asic::port::PortMap;
use sluice_build::{Builder, GressBuilder};
use sluice_catalogue::position::Position;
use sluice_catalogue::{ProgramDef, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;

/// The program `hpcc-int`.
#[derive(Clone, Copy, Debug)]
pub struct HpccInt;

fn ingress(ig: &GressBuilder<'_>, p: &Params) {
    let Routed { ethernet, ipv4, ipv6, l4, .. } = route(ig, Sizes { routes: p.routes, groups: p.groups });
    ig.deparser().checksum(ipv4, ipv4.checksum, ipv4.summed()).emit(ethernet).emit(ipv4).emit(ipv6).emit(l4);
}

impl ProgramDef for HpccInt {
    const NAME: &'static str = "hpcc-int";
    const SUMMARY: &'static str =
        "Adds every hop's port speed, time, bytes sent and queue length to packets, for HPCC senders";
    type Params = Params;

    fn declare(b: &Builder, p: &Params) {
        ingress(&b.ingress(), p);
        match p.layout {
            Layout::Paper => egress::egress(&b.egress(), p),
            Layout::Ns3 => ns3::egress(&b.egress(), p),
        }
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports, p)
    }

    fn setup_at(
        program: &Program,
        _: &PortMap,
        at: &Position,
        p: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(entries::setup_at(program, at, p))
    }

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        properties::all(p)
    }
}
