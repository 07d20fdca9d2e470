//! The native module of the Python package: commands, switches and experiments of the `sluice` crate as Python values.
//!
//! Nothing here decides anything about packets, programs or networks. The module converts values, releases the GIL while Rust
//! code runs, and turns failures into the exception `Error`. What may not live here: conveniences that Python can express.

mod callbacks;
mod capture;
mod chart;
mod command;
mod digest;
mod error;
mod experiment;
mod interruptible;
mod network;
mod ports;
mod switch;
mod table;
mod texts;
mod time;
mod topology;

use pyo3::prelude::*;

/// With this allocator hunts take about a tenth less time than with the system's, as in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Native part of the package `sluice`; its classes and functions are documented there.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::callbacks::Packet;
    #[pymodule_export]
    use super::capture::read_capture;
    #[pymodule_export]
    use super::chart::{graph_chart, line_chart};
    #[pymodule_export]
    use super::command::{call, main, programs};
    #[pymodule_export]
    use super::error::Error;
    #[pymodule_export]
    use super::experiment::{Experiment, files_of};
    #[pymodule_export]
    use super::network::replay_network;
    #[pymodule_export]
    use super::switch::Switch;
    #[pymodule_export]
    use super::table::{Table, parquet_table, read_parquet};
    #[pymodule_export]
    use super::texts::{from_toml, to_toml};
    #[pymodule_export]
    use super::time::picoseconds;
    #[pymodule_export]
    use super::topology::topology;

    /// Version of Sluice.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
