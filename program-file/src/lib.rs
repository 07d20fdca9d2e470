//! Stage programs from files: P4 programs, and the text form with parameters, entries, routes of a network, roles and properties.
//!
//! [`open`] reads a file, and [`FileCatalogue`] also the programs that its roles name. A program of a file is a
//! [`StageProgram`](sluice_catalogue::StageProgram), so a catalogue with it offers the program to every command, network, contest and
//! hunt. A [`Loader`](sluice_p4::source::Loader) of the caller returns the texts: this crate opens no file and prints nothing, and
//! mistakes are values with their lines ([`OpenError`]).
//!
//! ```
//! use sluice_catalogue::Catalogue;
//! use sluice_p4::source::Texts;
//! use sluice_program_file::{ReadOptions, open};
//!
//! let texts = Texts::new().with("leaf.p4", include_str!("../../fuzz/corpus/p4/t2na.p4"));
//! let stage = open(&texts, "leaf.p4", &ReadOptions::default())?;
//! let catalogue = Catalogue::new().with_shared(stage);
//! assert!(catalogue.get("leaf").is_ok());
//! # Ok::<(), sluice_program_file::OpenError>(())
//! ```
//!
//! The grammar of the text form is that of [`sluice_ir::text`]. [`ProgramFile::parse`] reads one text:
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
//! [`PROGRAM_TEXT_BYTES`](sluice_asic::limits::PROGRAM_TEXT_BYTES) bytes.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "tests"))]

mod entries;
mod error;
mod file;
mod open;
pub mod p4;
mod property;
mod routes;

pub use error::{FileError, Mistake, has_lines, rendered};
pub use file::{ProgramFile, is_file};
pub use open::{FileCatalogue, OpenError, ReadOptions, open};
