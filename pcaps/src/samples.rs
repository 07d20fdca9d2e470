//! The sample traces: embedded in the binary, committed as files, made by the generators.
//!
//! Each has a constant with its bytes and a function that makes them again; a test keeps the two equal.

mod flowlets;
mod l3_ecmp;

pub use flowlets::flowlets;
pub use l3_ecmp::{SampleError, l3_ecmp};

/// The trace under which the default `l3-ecmp` run shows something: a nanosecond pcap of 803 frames in
/// 200 µs on one 400G port, 2023-11-14 22:13:20 UTC on. See [`l3_ecmp`] for what is in it.
pub const L3_ECMP: &[u8] = include_bytes!("../samples/l3-ecmp.pcap");

/// The trace for the load balancers: a nanosecond pcap of 1,080 frames in 1.2 ms on one 400G port. See
/// [`flowlets`] for what is in it.
pub const FLOWLETS: &[u8] = include_bytes!("../samples/flowlets.pcap");

/// The sample under which a program shows something: file name and bytes. Programs without one of their own get
/// that of `l3-ecmp`.
#[must_use]
pub fn of(program: &str) -> (&'static str, &'static [u8]) {
    match program {
        "letflow" | "spray" | "drb" | "presto" => ("flowlets.pcap", FLOWLETS),
        _ => ("l3-ecmp.pcap", L3_ECMP),
    }
}
