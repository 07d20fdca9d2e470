//! `pfc`: priority flow control (PFC) by the program instead of the MAC.
//!
//! *Obeying* (Tofino 2). A port passes its PFC frames to the pipeline (`port_pfc PORT program`). Ingress processes one
//! priority of a frame per pass: it stores the end of the queue's pause and sends the queue a
//! flow-control word. A timer, a packet on the pipe's recirculation port, recirculates while the pause
//! lasts. When the pause is over, the timer sends the word that resumes the queue.
//!
//! *Asking*. Egress sees the depth of a lossless queue when a packet is dequeued. Above `xoff` the
//! packet's ingress port sends a PFC frame, which is made from a mirror copy that consists of the tag
//! only; below `xon` it sends a PFC frame that ends the pause.
//!
//! *The watchdog*. If a queue is paused for longer than `detection_time` without a break, the program resumes it, then
//! ignores pauses of that priority and drops the queue's packets until no pause has arrived for `restoration_time`.
//!
//! | file | contents |
//! |---|---|
//! | `params` | the parameters |
//! | `headers` | headers |
//! | `ingress` | parser, classification, forwarding, probes |
//! | `obey` | PFC frames and timers: pauses, their ends, storms |
//! | `egress` | queue depths, storms, PFC frames that request pauses |
//! | `entries` | default entries |
//! | `model`, `pauses` | fates of frames, and requests of pauses, in plain Rust, for properties |
//! | `history`, `obeyed` | what a queue does while the other end pauses it, in plain Rust, for properties |

mod egress;
mod entries;
mod headers;
mod history;
mod ingress;
mod model;
mod obey;
mod obeyed;
mod params;
mod pauses;

pub use params::Params;

use crate::model::Judge;
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
    /// Parameters for `sluice fuzz`: thresholds that a burst passes, and storms that begin and end within one input.
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

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        vec![
            Box::new(HopLimit),
            Box::new(SettlesUnchanged::default()),
            Box::new(Judge::new(model::PfcModel::new(p))),
            Box::new(pauses::Pauses::new(p)),
            Box::new(obeyed::Obeyed::new(p)),
        ]
    }
}
