//! Stage programs as their users see them, and the catalogue that finds programs by name.
//!
//! A [`StageProgram`] has a name, parameters, entries for a device and for a place in a network, and properties. It may also
//! offer captures, a reader of its frames ([`story`]) and a control plane ([`control_plane`]). The usual way to make one is
//! to implement [`ProgramDef`] for a type. A [`Catalogue`] is an ordered list of such programs, together with generated
//! code for some of them; commands, networks, contests and hunts are given one.
//!
//! # A program of one's own
//!
//! A definition has five parts, of which only the first two are needed:
//!
//! 1. [`ProgramDef::declare`]: headers, tables, registers and controls, with the builder of [`sluice_build`]
//! 2. [`ProgramDef::default_setup`]: entries for a device outside a network; [`setup::Ops`] makes them by name
//! 3. [`ProgramDef::setup_at`]: entries for a [`position`](position::Position) in a network
//! 4. [`ProgramDef::properties`]: conditions that every run must meet; [`properties`] has building blocks
//! 5. [`ProgramDef::control_plane`]: answers to digests and idle entries
//!
//! A crate outside the workspace gets all of this from `sluice::prelude`.
//!
//! ```
//! use sluice_asic::chip::ChipSpec;
//! use sluice_asic::port::PortMap;
//! use sluice_catalogue::setup::{Ops, front_port};
//! use sluice_catalogue::{Catalogue, ProgramDef, Setup, SetupError};
//! use sluice_build::net::Ethernet;
//! use sluice_build::*;
//! use sluice_control::ControlState;
//! use sluice_ir::Program;
//! use sluice_place::place;
//!
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>) {
//!     let ethernet = ig.header::<Ethernet>();
//!     let tm = ig.intrinsic::<tna::ForTm>();
//!     let start = ig.state().extract(ethernet);
//!     ig.start(start);
//!     /// Sends every frame to one port
//!     let forward = ig.action(|a, port: Arg<9>| tm.ucast_egress_port = port);
//!     /// Destination MAC address to port
//!     let forwarding = ig.table([exact(ethernet.dst)]).actions([forward]).size(64).build();
//!     ig.control(|c| forwarding.apply());
//!     ig.deparser().emit(ethernet);
//! }
//!
//! struct Patch;
//!
//! impl ProgramDef for Patch {
//!     const NAME: &'static str = "patch";
//!     const SUMMARY: &'static str = "Sends every frame to port 1";
//!     type Params = ();
//!
//!     fn declare(b: &Builder, _: &()) {
//!         ingress(&b.ingress());
//!     }
//!
//!     fn default_setup(program: &Program, ports: &PortMap, _: &()) -> Result<Setup, SetupError> {
//!         let mut ops = Ops::new(program);
//!         let (_, port) = front_port(ports, 1)?;
//!         ops.default("forwarding", "forward", [port.into()])?;
//!         Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let catalogue = Catalogue::new().with(Patch);
//! let stage = catalogue.get("patch")?;
//! let (program, chip) = (stage.build(&[])?, ChipSpec::tofino2());
//! let placement = place(&program, &chip).map_err(|e| e.reason())?;
//! let mut control = ControlState::new(&program);
//! for op in stage.default_setup(&program, &PortMap::default_for(&chip)?)?.ops {
//!     control.apply(&program, op)?;
//! }
//! let engine = catalogue.engine(&program, &placement, &control)?;
//! assert!(!engine.runs_generated(), "there is no generated code in this catalogue");
//! # Ok(())
//! # }
//! ```
//!
//! This crate names no particular program. Per packet, only properties and readers of frames are called.

mod catalogue;
pub mod control_plane;
mod define;
pub mod ports;
pub mod position;
mod program;
pub mod properties;
pub mod route_list;
pub mod routes;
pub mod setup;
pub mod story;

pub use catalogue::{Catalogue, UnknownProgram};
pub use define::{ProgramDef, build, built_with};
pub use program::{ProgramError, Role, StageProgram};
pub use setup::{Setup, SetupError};
