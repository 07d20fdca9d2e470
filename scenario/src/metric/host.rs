//! Numbers of hosts.

use super::Row;

/// A number of a host.
const fn row(name: &'static str, unit: &'static str, meaning: &'static str) -> Row {
    Row { name, arguments: "", unit, meaning }
}

const ROWS: [Row; 24] = [
    row("rp.rate", "kb/s", "rate of a reaction point"),
    row("rp.target", "kb/s", "rate that it returns to"),
    row("rp.alpha", "millionths", "its estimate of congestion"),
    row("rp.notified", "packets", "notifications that reached it"),
    row("rp.cuts", "", "times that it cut its rate"),
    row("rp.alpha_updates", "", "times that alpha's timer ran"),
    row("np.marked", "packets", "packets with CE that reached a notification point"),
    row("np.notifications", "packets", "notifications that it sent"),
    row("transfer.sent", "packets", "transmissions of a transfer"),
    row("transfer.resent", "packets", "those of packets that had been sent before"),
    row(
        "transfer.from_hole",
        "packets",
        "packets in flight from the first hole on when the sender heard of it",
    ),
    row("transfer.nacks", "packets", "negative acknowledgements"),
    row("transfer.delivered", "packets", "packets delivered in order"),
    row("transfer.most_in_flight", "bytes", "most that was sent and not acknowledged"),
    row("transfer.time", "ps", "from the first transmission to the last acknowledgement"),
    row("flow.sent", "packets", "packets that a flow sent through a bottleneck"),
    row("flow.marked", "packets", "those that were marked"),
    row("flow.notified", "packets", "notifications that came back"),
    row("flow.rate", "kb/s", "its mean rate in the second half of the time"),
    row("flow.most_queued", "bytes", "most that waited in the bottleneck"),
    row("receive.misses", "packets", "packets whose context a receiver fetched"),
    row("receive.pauses", "", "times that it asked for a pause"),
    row("receive.most_waiting", "packets", "most that waited in it"),
    row("host.time", "ps", "time since the start of a host's scenario"),
];

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter()
}
