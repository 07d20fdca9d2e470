//! Numbers of parts of hosts.

use super::Row;

/// Returns the row of a host's number.
const fn row(name: &'static str, unit: &'static str, meaning: &'static str) -> Row {
    Row { name, arguments: "", unit, meaning }
}

const ROWS: [Row; 24] = [
    row("rp.rate", "kb/s", "rate of a reaction point"),
    row("rp.target", "kb/s", "target rate of a reaction point"),
    row("rp.alpha", "millionths", "congestion estimate alpha of a reaction point"),
    row("rp.notified", "packets", "CNPs that a reaction point received"),
    row("rp.cuts", "", "number of rate cuts"),
    row("rp.alpha_updates", "", "number of updates by the alpha timer"),
    row("np.marked", "packets", "packets with CE that a notification point received"),
    row("np.notifications", "packets", "CNPs that a notification point sent"),
    row("transfer.sent", "packets", "transmissions of a transfer"),
    row("transfer.resent", "packets", "retransmissions of a transfer"),
    row(
        "transfer.from_hole",
        "packets",
        "packets sent from the first missing packet on, when the first NACK reached the sender",
    ),
    row("transfer.nacks", "packets", "negative acknowledgements of a transfer"),
    row("transfer.delivered", "packets", "packets of a transfer delivered in order"),
    row("transfer.most_in_flight", "bytes", "largest number of unacknowledged bytes"),
    row("transfer.time", "ps", "time from the first transmission to the last acknowledgement"),
    row("flow.sent", "packets", "packets that a flow sent through a bottleneck"),
    row("flow.marked", "packets", "packets that the bottleneck marked"),
    row("flow.notified", "packets", "CNPs that reached the sender"),
    row("flow.rate", "kb/s", "mean rate of the sender in the second half of the run"),
    row("flow.most_queued", "bytes", "largest number of bytes in the bottleneck queue"),
    row("receive.misses", "packets", "packets whose context was not cached"),
    row("receive.pauses", "", "number of pauses that the receiver requested"),
    row("receive.most_waiting", "packets", "largest number of waiting packets"),
    row("host.time", "ps", "time since the start of a host's scenario"),
];

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter()
}
