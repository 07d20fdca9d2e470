//! Stage programs from files: the text form with parameters, entries, routes of a network, roles and properties.
//!
//! [`ProgramFile`] is a [`StageProgram`](sluice_catalogue::StageProgram), so a catalogue with it offers the program to every
//! command, network, contest and hunt. The grammar is that of [`sluice_ir::text`].
//!
//! ```
//! use sluice_catalogue::{Catalogue, StageProgram};
//! use sluice_program_file::ProgramFile;
//!
//! let text = r#"
//! sluice 1;
//!
//! /// Sends every frame to one port
//! program patch;
//!
//! /// dev_port to which frames are sent
//! param to = 8 : 0 .. 511;
//!
//! header eth : ingress { bit<48> dst; bit<48> src; bit<16> ether_type; }
//! intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
//! action forward : ingress () { ig_tm.ucast_egress_port = 9w(to); }
//! parser ingress { start = frame; state frame { extract(eth); select () { default : accept; } } }
//! control ingress { call forward; }
//! deparser ingress { emit(eth); }
//!
//! property as_it_came { holds only_changes { }; }
//! "#;
//! let file = ProgramFile::parse("patch.sluice", text).map_err(|e| e.to_string())?;
//! let catalogue = Catalogue::new().with(file);
//! let stage = catalogue.get("patch").map_err(|e| e.to_string())?;
//! let program = stage.build(&[("to".to_owned(), "9".to_owned())]).map_err(|e| e.to_string())?;
//! assert_eq!(stage.params()[0].value, "8");
//! assert_eq!(stage.properties(&program)[0].name(), "as_it_came");
//! # Ok::<(), String>(())
//! ```
//!
//! A file is data of a stranger: reading it takes memory and time in proportion to its length, which is at most
//! [`MAX_TEXT`](sluice_ir::text::MAX_TEXT) bytes.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests"))]

mod entries;
mod error;
mod file;
mod property;
mod routes;

pub use error::{FileError, Mistake, rendered};
pub use file::{ProgramFile, is_file};
