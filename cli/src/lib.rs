//! The command line of Sluice, for the shipped programs and for programs of one's own.
//!
//! [`main_with`] is the whole of the `sluice` binary except for its allocator. A crate with a program of its own has a
//! `main` of three lines, and depends on this crate alone:
//!
//! ```no_run
//! # use sluice::prelude::*;
//! # struct HeavyHitter;
//! # impl ProgramDef for HeavyHitter {
//! #     const NAME: &'static str = "heavy-hitter";
//! #     const SUMMARY: &'static str = "Marks heavy flows";
//! #     type Params = ();
//! #     fn declare(_: &Builder, _: &()) {}
//! #     fn default_setup(_: &Program, _: &PortMap, _: &()) -> Result<Setup, SetupError> {
//! #         Ok(Setup::default())
//! #     }
//! # }
//! fn main() -> std::process::ExitCode {
//!     sluice::main_with(sluice::catalogue![HeavyHitter])
//! }
//! ```
//!
//! The binary has all commands, for the crate's program and for the shipped ones: `cargo run -- replay heavy-hitter -i
//! 0@t.pcap`, `report`, `fuzz`, networks (`replay --topology`) and contests (`run`).
//!
//! # A program of one's own
//!
//! A program is a type that implements [`ProgramDef`](prelude::ProgramDef). The [`prelude`] has everything that the
//! definition needs. This program sends every frame to one port, and has a property that hunts and `replay --check`
//! verify:
//!
//! ```
//! use sluice::prelude::*;
//!
//! #[stage_program]
//! fn ingress(ig: &GressBuilder<'_>) {
//!     let ethernet = ig.header::<net::Ethernet>();
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
//! /// A frame is sent as it arrived.
//! struct Unchanged;
//!
//! impl Property for Unchanged {
//!     fn name(&self) -> &str {
//!         "unchanged"
//!     }
//!
//!     fn left(&mut self, packet: &Departed<'_>) -> Finding {
//!         packet.from.map_or(Ok(()), |from| properties::equal(from.bytes, packet.bytes))
//!     }
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
//!
//!     fn properties(_: &Program, _: &()) -> Vec<Box<dyn Property>> {
//!         vec![Box::new(Unchanged)]
//!     }
//! }
//!
//! # fn main() -> Result<(), BenchError> {
//! let mut bench = Bench::new(&sluice::catalogue![Patch], "patch", &[], &ChipSpec::tofino2())?;
//! bench.send(Duration::ZERO, 0, &[7; 60])?;
//! let run = bench.finish()?;
//! assert_eq!(run.sent[0].front, Some(1));
//! assert!(run.violations.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! The front pages of these crates teach the parts: [`sluice_build`] the builder and its syntax, [`sluice_catalogue`]
//! the definition, entries at a place in a network and control planes, [`sluice_switch::property`] properties,
//! [`sluice_fuzz`] hunts and `proptest` strategies. `examples/heavy-hitter` of the repository is a complete crate: a
//! count-min sketch with parameters, entries, a property, a control plane, a `proptest` and a bench.
//!
//! # Features
//!
//! - `plots` (default): line charts as SVG files
//! - `parquet`: tables as Parquet files
//! - `strategies`: the module `strategies` of [`sluice_fuzz`], also as `sluice::strategies`, for tests with `proptest`
//!
//! No other crate of the workspace prints, parses flags, or names files.

mod check;
mod command_line;
mod compare;
mod console;
mod doctor;
pub mod embed;
mod entries;
mod explain;
mod first;
mod flowlets;
mod fuzz;
mod r#gen;
mod int;
mod new;
mod open;
mod output;
mod p4_crate;
mod polarization;
pub mod prelude;
mod programs;
mod replay;
mod report;
mod reproduce;
mod run;
mod schema;
mod shell;
mod test;

use sluice_catalogue::Catalogue;
use std::borrow::Borrow;
use std::process::ExitCode;

pub use p4_crate::P4Crate;
#[cfg(feature = "strategies")]
pub use sluice_fuzz::strategies;
pub use sluice_generated::catalogue as shipped;

/// Programs that are files, opened as the commands open them.
///
/// ```
/// use sluice::prelude::*;
/// use sluice::program_file::{Disk, FileCatalogue, ReadOptions};
///
/// # let leaf = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/p4/t2na.p4");
/// let options = ReadOptions { chip: ChipSpec::tofino2(), ..ReadOptions::default() };
/// let mut files = FileCatalogue::new(sluice::shipped(), Disk::new(&[]), options);
/// let name = files.open(leaf, "".as_ref())?;
/// let mut bench = Bench::new(files.catalogue(), &name, &[], &ChipSpec::tofino2())?;
/// bench.send(Duration::ZERO, 0, &[7; 60])?;
/// assert_eq!(bench.finish()?.lost.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod program_file {
    pub use crate::open::p4::Disk;
    pub use sluice_p4::Define;
    pub use sluice_p4::source::{Include, IncludeKind, LoadError, Loaded, Loader, Texts};
    pub use sluice_program_file::{FileCatalogue, FileError, Mistake, OpenError, ReadOptions, open};
}

/// Items that the generated code of a crate of one's own names ([`P4Crate`]).
pub mod generated_code {
    pub use sluice_exec::{engine, pass};
}

/// Returns the catalogue of the shipped programs, with their generated code, and of these programs: a list of values that
/// implement [`StageProgram`](sluice_catalogue::StageProgram). A program replaces a shipped one of the same name.
///
/// ```
/// assert_eq!(sluice::catalogue![].programs().len(), sluice::shipped().programs().len());
/// ```
#[macro_export]
macro_rules! catalogue {
    ($($program:expr),* $(,)?) => {
        $crate::shipped()$(.with($program))*
    };
}

/// Runs the command line of this process with the programs of `catalogue` and returns its exit code. [`catalogue!`] makes
/// the catalogue.
#[must_use]
pub fn main_with(catalogue: impl Borrow<Catalogue>) -> ExitCode {
    ExitCode::from(command_line::dispatch::command(catalogue.borrow(), std::env::args_os()))
}

#[cfg(test)]
mod tests {
    use crate::embed;
    use crate::prelude::*;
    use std::ffi::OsString;
    use std::hint::black_box;
    use std::sync::Arc;

    struct Overflows;

    impl ProgramDef for Overflows {
        const NAME: &'static str = "overflows";
        const SUMMARY: &'static str = "Adds 1 to 255 in eight bits";
        type Params = ();

        fn declare(_: &Builder, _: &()) {
            black_box(black_box(u8::MAX) + 1);
        }

        fn default_setup(_: &Program, _: &PortMap, _: &()) -> Result<Setup, SetupError> {
            Ok(Setup::default())
        }
    }

    #[test]
    fn an_overflow_is_an_internal_error_that_names_the_command() {
        let words = ["report", "overflows"].map(OsString::from);
        let called = embed::call(&crate::catalogue![Overflows], &words, &Arc::default());
        assert_eq!((called.code, called.out.as_slice()), (3, &[][..]));
        assert_eq!(
            called.err,
            "error: internal error: attempt to add with overflow\n  \
             = help: this is a defect of Sluice, not of your input\n  \
             = help: report it with the files that this command reads: sluice report overflows\n"
        );
    }
}
