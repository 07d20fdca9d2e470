//! The sample traces: embedded in the binary, committed as files, made by the generators.
//!
//! Each has a constant with its bytes and a function that makes them again; a test keeps the two equal.

mod conweave;
mod flowlets;
mod l3_ecmp;

pub use conweave::conweave;
pub use flowlets::flowlets;
pub use l3_ecmp::{SampleError, l3_ecmp};

/// The trace under which the default `l3-ecmp` run shows something: a nanosecond pcap of 803 frames in
/// 200 µs on one 400G port, 2023-11-14 22:13:20 UTC on. See [`l3_ecmp`] for what is in it.
pub const L3_ECMP: &[u8] = include_bytes!("../samples/l3-ecmp.pcap");

/// The trace for the load balancers: a nanosecond pcap of 1,080 frames in 1.2 ms on one 400G port. See
/// [`flowlets`] for what is in it.
pub const FLOWLETS: &[u8] = include_bytes!("../samples/flowlets.pcap");

/// The trace for `conweave`: a nanosecond pcap of 84 frames in 139 µs on one 400G port. See [`conweave`] for what is
/// in it.
pub const CONWEAVE: &[u8] = include_bytes!("../samples/conweave.pcap");

/// The sample under which a program shows something: file name and bytes. Programs without one of their own get
/// that of `l3-ecmp`.
#[must_use]
pub fn of(program: &str) -> (&'static str, &'static [u8]) {
    match program {
        "letflow" | "spray" | "drb" | "presto" => ("flowlets.pcap", FLOWLETS),
        "conweave" | "conweave-spine" => ("conweave.pcap", CONWEAVE),
        _ => ("l3-ecmp.pcap", L3_ECMP),
    }
}
