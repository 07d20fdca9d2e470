//! `pfc`: priority flow control by the program instead of the MAC.
//!
//! *Obeying* (Tofino 2). A port hands its PFC frames to the pipeline (`port_pfc PORT program`). Ingress looks at one
//! priority of a frame after the other: it notes until when the queue is paused and sends the queue a flow-control word.
//! Quanta are kept by a packet that goes around on the pipe's recirculation port as long as the pause lasts; when the time
//! is over it sends the word that lets the queue go on.
//!
//! *Asking*. Egress sees how many cells a packet of a lossless queue leaves behind. Above `xoff` the port by which the
//! packet came gets a PFC frame, made of a mirror copy that consists of nothing but its header; below `xon` it gets one
//! that ends the pause.
//!
//! *The watchdog*. A queue that is paused for longer than `detection_time` without a break is let go; pauses of its
//! priority count for nothing and egress drops its packets, until none has come for `restoration_time`.
//!
//! | file | what it says |
//! |---|---|
//! | `params` | what users can set |
//! | `headers` | headers |
//! | `ingress` | parser, forwarding, who gets which packet |
//! | `obey` | frames and timers: pauses, their ends, storms |
//! | `egress` | depths, storms, frames that ask for pauses |
//! | `entries` | what the program starts with |
//! | `pfc.p4` | the same program in P4_16 for TNA |

mod egress;
mod entries;
mod headers;
mod ingress;
mod obey;
mod params;

pub use params::Params;

use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_catalogue::properties::{HopLimit, SettlesUnchanged};
use sluice_catalogue::{ProgramDef, ProgramError, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;

/// The program `pfc`.
#[derive(Clone, Copy, Debug)]
pub struct Pfc;

impl ProgramDef for Pfc {
    const NAME: &'static str = "pfc";
    const SUMMARY: &'static str = "Obeys PFC by flow-control words, asks for pauses by queue depth, and ends pause storms, all in the data plane";
    const P4: Option<&'static str> = Some(include_str!("pfc.p4"));
    /// Thresholds that a burst passes, and storms that begin and end within a run.
    const HUNT: &'static [(&'static str, &'static str)] = &[
        ("xoff", "4000"),
        ("xon", "2000"),
        ("quanta", "500"),
        ("refresh", "1000"),
        ("detection_time", "20"),
        ("restoration_time", "20"),
    ];
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        p.check(Self::NAME)
    }

    fn declare(b: &Builder, p: &Params) {
        ingress::ingress(&b.ingress(), p);
        egress::egress(&b.egress(), p);
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports, p)
    }

    fn properties(_: &Program, _: &Params) -> Vec<Box<dyn Property>> {
        vec![Box::new(HopLimit), Box::new(SettlesUnchanged::default())]
    }
}
