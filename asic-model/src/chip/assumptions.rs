//! The list of values that public sources do not give (model: chip §12; cycles §8; tm §12).

use super::{Assumption, ChipSpec};
use toml::Value;

/// An assumption about the field at path `id`; its value is filled in by [`with_values`].
pub(super) fn assumption(id: &str, text: &str, why: &str) -> Assumption {
    Assumption { id: id.to_owned(), text: text.to_owned(), value: String::new(), why: why.to_owned() }
}

/// What both shipped chips assume alike.
pub(super) fn shared() -> Vec<Assumption> {
    vec![
        assumption(
            "latency.parser_cycles_per_state",
            "Parser cycles run at the MAU clock.",
            "one matched row is one cycle (model: chip §6.2); the compiler's own parser clock is marked provisional",
        ),
        assumption(
            "latency.parser_fixed",
            "Cycles of a parser beside its states: buffer read, PHV assembly, arbitration.",
            "not public; of the size of one MAU stage and a half",
        ),
        assumption(
            "latency.deparser",
            "Cycles from the last stage to the end of the deparser.",
            "not public; Tofino's deparser budget counts 28 and 11 cycles around the MAU (model: chip §6.4)",
        ),
        assumption(
            "latency.tm_enqueue",
            "Cycles from the ingress deparser until the packet can be dequeued.",
            "not public; with the other constants a recirculation lap comes to the one public anchor of about 1 us",
        ),
        assumption(
            "latency.tm_dequeue",
            "Cycles from the scheduler's choice to the egress parser.",
            "not public; with the other constants a recirculation lap comes to the one public anchor of about 1 us",
        ),
        assumption(
            "latency.resubmit",
            "Cycles from the ingress deparser back to the ingress parser.",
            "not public; the packet still lies in the ingress buffer, so the way is shorter than the one into the TM",
        ),
        assumption(
            "latency.mac_rx",
            "Time from a bit on the wire to the ingress buffer.",
            "a receiver that corrects errors waits for a whole 5440-bit block (54 ns at 100 Gb/s), then decodes it",
        ),
        assumption(
            "latency.mac_tx",
            "Time from the egress deparser to the wire.",
            "half of the receive time: encoding does not wait for a whole block",
        ),
        assumption(
            "latency.tx_ahead",
            "Line time by which a scheduler may be ahead of its line beyond the egress pipe's latency.",
            "not public; enough to keep a line busy while entries are rounded to cycles and pipes are shared",
        ),
        assumption(
            "parser.fifo_packets",
            "Packets that wait for one port's parser before the port overruns.",
            "not public; 64 packets of 256 B are 16 KB per port, a small burst at line rate",
        ),
        assumption(
            "ports.speeds",
            "Lanes and ingress hold per speed; parsing starts at the earlier of first bit + hold and last bit.",
            "the driver's hold settings for Tofino 2 (model: cycles §6), read as MAU cycles and used for both chips",
        ),
        assumption(
            "ports.macs_per_pipe",
            "Front-panel ports are numbered by pipe, then MAC, then lane.",
            "the order of a real front panel is the board's, not the chip's",
        ),
        assumption(
            "tm.cell",
            "A packet takes ceil(bytes / cell) cells.",
            "whether internal header bytes count is not public (model: tm §1)",
        ),
        assumption(
            "tm.baf_rule",
            "Dynamic limits are free cells times alpha.",
            "the percentages are alpha / (1 + alpha) and the driver's legality rule is that of alpha (model: tm §2)",
        ),
        assumption(
            "tm.pktgen_buffer",
            "A generated packet is at its port's ingress buffer as soon as it is on the line of the recirculation ports.",
            "the way from the generator's buffer is not public; only that the packet comes in by such a port",
        ),
        assumption(
            "power.limit",
            "Watts per access are those of all pipes at one packet per cycle, as the limit is.",
            "the compiler's constants do not say so (model: cycles §7); which accesses a table makes is ours: \
             every way and TCAM block of a part, each word of action data, one indirection word, one cell read and \
             written of each array",
        ),
        assumption(
            "tm.dwrr_quantum",
            "Bytes of credit per unit of DWRR weight and round.",
            "not public; 80 B, so that even weight 127 covers a 9 KB frame in one round",
        ),
    ]
}

/// Fills every assumption's value from the field that it names, so that list and fields cannot disagree.
pub(super) fn with_values(mut spec: ChipSpec) -> ChipSpec {
    let Ok(tree) = Value::try_from(&spec) else { return spec };
    for assumption in &mut spec.assumptions {
        if let Some(value) = at_path(&tree, &assumption.id) {
            assumption.value = shown(value);
        }
    }
    spec
}

/// The value at a dotted path.
pub(super) fn at_path<'v>(tree: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(tree, |value, key| value.get(key))
}

/// A value as text; strings without quotes.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
