//! Names for a program of one's own: `use sluice::prelude::*`.
//!
//! The macros of the builder name the crate `sluice_build`, so a file with `#[stage_program]` or a derive imports the
//! whole prelude, or that crate.

pub use sluice_asic::chip::ChipSpec;
pub use sluice_asic::port::{FrontPort, PortMap};
pub use sluice_asic::units::{BitRate, Duration, Time};
pub use sluice_build::{self, *};
pub use sluice_catalogue::control_plane::{
    ControlPlane, ControlPlaneError, ControlPlaneRequest, Operation, Operations,
};
pub use sluice_catalogue::position::{Neighbor, Position};
pub use sluice_catalogue::properties;
pub use sluice_catalogue::setup::{ANY, Ops, front_port, ipv4_prefix, ipv6_prefix, ternary_prefix};
pub use sluice_catalogue::{Catalogue, ProgramDef, ProgramError, Role, Setup, SetupError, StageProgram};
pub use sluice_control::{ControlOp, EntryId};
pub use sluice_ir::{IdleTimeout, KeyValue, Program};
pub use sluice_place::report::Report;
pub use sluice_replay::{Bench, BenchError, BenchRun, LostPacket, SentPacket};
pub use sluice_switch::property::{Departed, Ended, Entered, Finding, Origin, Property, Settled};
