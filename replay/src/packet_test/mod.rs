//! Packet tests: entries, packets that come in, packets that are expected, and values of counters and registers, in the format
//! STF (*simple test framework*) of P4's compilers.
//!
//! [`Script::parse`] reads a file, [`TestFile::parse`] one in TOML, and [`PacketTest::run`] runs them on a switch. The switch works without time, as the models do for which
//! such tests are written: each packet has left before the next one comes. Ports that a test names are wires, whatever the chip
//! has there.

mod fields;
mod pattern;
mod run;
mod stf;
#[cfg(test)]
mod tests;
mod toml_form;

pub use fields::TestFileError;
pub use pattern::Pattern;
pub use run::{Failed, PacketTest, TestRun, counting_fcs};
pub use stf::{Call, CellCheck, Command, Script, Step, StfError};
pub use toml_form::{ReadFile, TestFile};
