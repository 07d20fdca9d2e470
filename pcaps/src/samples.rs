//! Sample traces: embedded in the binary, stored as files, made by the generators.
//!
//! Each trace has a constant with its bytes and a function that generates them; a test compares the two.

mod afc_leak;
mod ecmp;
mod flowlets;
mod informed;
mod l3_ecmp;
mod lossless;
mod telemetry;

pub use afc_leak::afc_leak;
pub use ecmp::ecmp;
pub use flowlets::flowlets;
pub use informed::{conga, conga_leaf1, drill, drill_burst, hula, hula_probes};
pub use l3_ecmp::{NEIGHBOUR, PORT_RATE, ROUTER, SampleError, instant, l3_ecmp};
pub use lossless::{ecn_mark, pfc};
pub use telemetry::{hpcc_int, int, int_node};

/// Trace for the default run of `l3-ecmp`: a nanosecond pcap of 803 frames in 200 µs on one 400G port, from 2023-11-14
/// 22:13:20 UTC on. See [`l3_ecmp`] for its contents.
pub const L3_ECMP: &[u8] = include_bytes!("../samples/l3-ecmp.pcap");

/// Trace for the load balancers: a nanosecond pcap of 1,080 frames in 1.2 ms on one 400G port. See [`flowlets`] for its
/// contents.
pub const FLOWLETS: &[u8] = include_bytes!("../samples/flowlets.pcap");

/// Trace for `ecmp` and `wcmp`: a nanosecond pcap of 331 frames in 15 µs on one 400G port, with flows that an earlier
/// switch with the same hash has selected. See [`ecmp`] for its contents.
pub const ECMP: &[u8] = include_bytes!("../samples/ecmp.pcap");
/// Trace for `drill`: small packets over all uplinks. See [`drill`] for its contents.
pub const DRILL: &[u8] = include_bytes!("../samples/drill.pcap");

/// Second trace for `drill`, for each of three other ports: a burst over two of the uplinks. See [`drill_burst`] for
/// its contents.
pub const DRILL_BURST: &[u8] = include_bytes!("../samples/drill-burst.pcap");

/// Trace for `conga`: flows with pauses. See [`conga`] for its contents.
pub const CONGA: &[u8] = include_bytes!("../samples/conga.pcap");

/// Second trace for `conga`: packets and congestion feedback of another leaf. See [`conga_leaf1`] for its contents.
pub const CONGA_LEAF1: &[u8] = include_bytes!("../samples/conga-leaf1.pcap");

/// Trace for `hula`: flows with pauses. See [`hula`] for its contents.
pub const HULA: &[u8] = include_bytes!("../samples/hula.pcap");

/// Further traces for `hula`: probes on two uplinks. See [`hula_probes`] for their contents.
pub const HULA_PROBES: [&[u8]; 2] =
    [include_bytes!("../samples/hula-probes4.pcap"), include_bytes!("../samples/hula-probes5.pcap")];

/// Trace for `ecn-mark`: bursts to a slow host. See [`ecn_mark`] for its contents.
pub const ECN_MARK: &[u8] = include_bytes!("../samples/ecn-mark.pcap");

/// Trace for `pfc`: a burst to a slow host, pauses, and packets that the pauses hold. See [`pfc`] for its contents.
pub const PFC: &[u8] = include_bytes!("../samples/pfc.pcap");

/// The published measurement of advanced flow control (model: tm §5), as packets to `pfc` with `probe=true`: a word
/// that pauses queue 3 of the host's port 20 of a Tofino 2; the packet whose word pauses it again from the egress
/// deparser, and ten pings of 98 B, all of that queue; a word that resumes it.
pub const AFC_LEAK: &[u8] = include_bytes!("../samples/afc-leak.pcap");

/// Trace for `int`: packets of hosts. See [`int`](int()) for its contents.
pub const INT: &[u8] = include_bytes!("../samples/int.pcap");

/// Second trace for `int`: packets of other nodes. See [`int_node`] for its contents.
pub const INT_NODE: &[u8] = include_bytes!("../samples/int-node.pcap");

/// Trace for `hpcc-int`: RDMA data, and packets without telemetry. See [`hpcc_int`] for its contents.
pub const HPCC_INT: &[u8] = include_bytes!("../samples/hpcc-int.pcap");

/// Returns the sample trace of a program: file name and bytes. A program without one uses the trace of `l3-ecmp`.
#[must_use]
pub fn of(program: &str) -> (&'static str, &'static [u8]) {
    match program {
        "ecmp" | "wcmp" => ("ecmp.pcap", ECMP),
        "ecn-mark" => ("ecn-mark.pcap", ECN_MARK),
        "pfc" => ("pfc.pcap", PFC),
        "letflow" | "spray" | "drb" | "presto" | "flare" => ("flowlets.pcap", FLOWLETS),
        "drill" => ("drill.pcap", DRILL),
        "conga" => ("conga.pcap", CONGA),
        "hula" => ("hula.pcap", HULA),
        "int" => ("int.pcap", INT),
        "hpcc-int" => ("hpcc-int.pcap", HPCC_INT),
        _ => ("l3-ecmp.pcap", L3_ECMP),
    }
}

/// Returns the further traces that accompany the sample: front-panel ports, file names and bytes.
#[must_use]
pub fn beside(program: &str) -> &'static [(u16, &'static str, &'static [u8])] {
    match program {
        "int" => &[(8, "int-node.pcap", INT_NODE)],
        "drill" => {
            const BURST: (u16, &str, &[u8]) = (1, "drill-burst.pcap", DRILL_BURST);
            &[BURST, (2, BURST.1, BURST.2), (3, BURST.1, BURST.2)]
        }
        "conga" => &[(4, "conga-leaf1.pcap", CONGA_LEAF1)],
        "hula" => &[(4, "hula-probes4.pcap", HULA_PROBES[0]), (5, "hula-probes5.pcap", HULA_PROBES[1])],
        _ => &[],
    }
}
