//! The list of values that public sources do not give (model: chip §12; cycles §8; tm §12).

use super::{Assumption, ChipSpec};
use toml::Value;

/// Returns an assumption about the field at path `id`; [`with_values`] adds the field's value.
pub(super) fn assumption(id: &str, text: &str, why: &str) -> Assumption {
    Assumption { id: id.to_owned(), text: text.to_owned(), value: String::new(), why: why.to_owned() }
}

/// Returns an assumption that no field of the specification holds; its id begins with `model.`.
fn given(id: &str, text: &str, value: &str, why: &str) -> Assumption {
    Assumption { value: value.to_owned(), ..assumption(id, text, why) }
}

/// Reason for the values that make up a recirculation together with the pipes.
pub(super) const LAP: &str = "not public. The only public figure is that a lap of ConWeave's timer packet takes about 1 us \
    (model: conweave §1.10). With these values the model's lap takes 0.64 us, so a part of the way is missing or too short; \
    one figure does not say which. docs/conweave.md shows ConWeave's results for laps from 0.6 to 1.0 us";

/// Returns the assumptions that both shipped chips share.
pub(super) fn shared() -> Vec<Assumption> {
    vec![
        assumption(
            "latency.parser_cycles_per_state",
            "Parser cycles run at the MAU clock.",
            "one matched parser row takes one cycle (model: chip §6.2); the compiler marks its own parser clock as provisional",
        ),
        assumption(
            "latency.parser_fixed",
            "Cycles of a parser in addition to its states: buffer read, PHV assembly, arbitration.",
            "not public; the value is about one and a half MAU stages",
        ),
        assumption(
            "latency.deparser",
            "Cycles from the last stage to the end of the deparser.",
            "not public; for comparison, Tofino's deparser budget counts 28 and 11 cycles around the MAU (model: chip §6.4)",
        ),
        assumption(
            "latency.tm_enqueue",
            "Cycles from the ingress deparser until the packet can be dequeued.",
            LAP,
        ),
        assumption(
            "latency.tm_dequeue",
            "Cycles from the scheduler's selection of a packet to the egress parser.",
            LAP,
        ),
        assumption(
            "latency.resubmit",
            "Cycles from the ingress deparser back to the ingress parser.",
            "not public; the packet is still in the ingress buffer, so this takes less time than the way into the TM",
        ),
        assumption(
            "latency.mac_rx",
            "Time from a bit on the wire to the ingress buffer, the same at every port speed.",
            "a receiver with FEC waits for a whole 5440-bit block, and then decodes it: 54 ns at 100 Gb/s, 218 ns at 25 Gb/s; \
             without FEC, as usual at 10 Gb/s, it does not wait",
        ),
        assumption(
            "latency.mac_tx",
            "Time from the egress deparser to the wire.",
            "half of the receive time, because an encoder does not wait for a whole block",
        ),
        assumption(
            "latency.tx_ahead",
            "Time by which a port's scheduler may run ahead of the port's line, in addition to the latency of the egress pipe.",
            "not public; it keeps a line busy although packets enter pipes on whole cycles and share the pipes",
        ),
        assumption(
            "parser.fifo_packets",
            "Packets that can wait for one port's parser; the next packet is dropped as ingress_overrun.",
            "not public; 64 packets of 256 B are 16 KB per port, which is a small burst at line rate",
        ),
        assumption(
            "ports.speeds",
            "Lanes and ingress hold per speed; parsing starts at first bit + hold or at the last bit, whichever is earlier.",
            "the driver's hold settings for Tofino 2 (model: cycles §6), read as MAU cycles and used for both chips",
        ),
        assumption(
            "ports.macs_per_pipe",
            "Front-panel ports are numbered by pipe, then MAC, then lane.",
            "the chip does not determine the order of a real front panel; the board does",
        ),
        assumption(
            "mau.exact_moves",
            "Entries that the driver moves at most to make room for a new one in an exact table; if these moves free no row, \
             the table is full. Hash functions spread keys evenly over the rows of each way.",
            "the driver's search and the compiler's hash matrices are not public; with three moves, four ways of one entry per \
             row fill to 90 to 94 percent, as published",
        ),
        assumption(
            "mau.exact_fill",
            "Percent of an exact table's rows that entries are expected to fill before an insertion fails.",
            "the compiler's design point for four independent ways (model: chip §3.1); tables with several entries per row fill \
             further",
        ),
        assumption(
            "tm.cell",
            "A packet takes ceil(bytes / cell) cells.",
            "whether internal header bytes count is not public (model: tm §1)",
        ),
        assumption(
            "tm.baf_rule",
            "Dynamic limits are free cells times alpha.",
            "the documented percentages equal alpha / (1 + alpha), and the driver checks limits as for alpha (model: tm §2)",
        ),
        assumption(
            "tm.pktgen_buffer",
            "A generated packet enters its port's ingress buffer while it is sent on the line of the recirculation ports, without further delay.",
            "the time from the generator's buffer is not public; public is only that the packet arrives on such a port",
        ),
        assumption(
            "power.limit",
            "Watts per access, and the limit, are for all pipes together at one packet per cycle.",
            "nothing public confirms a figure in watts; the compiler does not document its constants (model: cycles §7); the model counts these accesses of a table: \
             every way and TCAM block of a part, each word of action data, one indirection word, one cell read and \
             written of each array",
        ),
        assumption(
            "tm.shaper_mantissa_bits",
            "Bits of the mantissa to which the chip rounds a shaper's rate. The model does not round: rates are exact.",
            "the rounding rule of the driver is not public; mantissas of 10 and 12 bits are at most 0.1 percent apart",
        ),
        given(
            "model.control_time",
            "An operation of the control plane takes effect at the time that a script or a control plane gives it, and takes \
             none itself.",
            "as given",
            "times of drivers depend on host and bus and are not public; intervals of 10 to 50 ns between operations are \
             shorter than any driver's",
        ),
        given(
            "model.ticks",
            "Times in a program's parameters are in ticks of 1.024 us (bits 10 and up of the timestamp in ns), times of hosts, \
             links and scenarios in exact us.",
            "1.024 us",
            "a program takes bits of the timestamp, as the published programs do; 12 ticks are 12.3 us",
        ),
        assumption(
            "tm.dwrr_quantum",
            "Bytes of credit per unit of DWRR weight and round.",
            "not public; 80 B, so that even weight 127 covers a 9 KB frame in one round",
        ),
    ]
}

/// Sets every assumption's value from the field that it names, so that the list always agrees with the fields.
pub(super) fn with_values(mut spec: ChipSpec) -> ChipSpec {
    let Ok(tree) = Value::try_from(&spec) else { return spec };
    for assumption in &mut spec.assumptions {
        if let Some(value) = at_path(&tree, &assumption.id) {
            assumption.value = shown(value);
        }
    }
    spec
}

/// Returns the value at a dotted path.
pub(super) fn at_path<'v>(tree: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(tree, |value, key| value.get(key))
}

/// Formats a value as text; strings have no quotes.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
