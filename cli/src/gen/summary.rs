//! Summary of a generated capture, as JSON and as text.

use super::write::{Plan, Tally};
use serde_json::{Value, json};
use sluice_asic::units::{BitRate, Duration};
use sluice_pcaps::capture::write::TraceFormat;

/// Returns the summary as JSON.
pub(super) fn value(plan: &Plan, seed: Option<u64>, tally: &Tally) -> Value {
    let span = span(tally);
    json!({
        "schema": "sluice.gen/1",
        "kind": plan.kind,
        "seed": seed,
        "file": plan.path.display().to_string(),
        "format": name(plan.format),
        "packets": tally.packets,
        "bytes": tally.bytes,
        "wire_bytes": tally.wire_bytes,
        "first": tally.first.map(|time| time.to_string()),
        "last": tally.last.map(|time| time.to_string()),
        "span_ps": span,
        "mean_bps": bps(tally),
        "mean_pps": pps(tally),
        "rounded_stamps": tally.rounded,
        "link": { "delayed": tally.delayed, "most_delay_ps": tally.most_delay },
        "wall": {
            "seconds": tally.seconds,
            "packets_per_second": tally.packets as f64 / tally.seconds.max(1e-9),
        },
    })
}

/// Returns the summary as text.
pub(super) fn text(plan: &Plan, tally: &Tally) -> String {
    let span = span(tally);
    let mut text = format!(
        "{}: {} frames, {} B in {}\n",
        plan.path.display(),
        tally.packets,
        tally.bytes,
        Duration::from_ps(span)
    );
    if let (Some(bps), Some(pps)) = (bps(tally), pps(tally)) {
        text += &format!("  {} on the wire, {pps} frames/s\n", BitRate::from_bps(bps));
    }
    if tally.delayed > 0 {
        let most = Duration::from_ps(tally.most_delay);
        text += &format!("  {} frames waited for the link, {most} at most\n", tally.delayed);
    }
    if tally.rounded > 0 {
        let unit = Duration::from_ps(plan.format.resolution_ps());
        text += &format!(
            "  {} timestamps rounded down to {unit}; --format pcapng-ps keeps them\n",
            tally.rounded
        );
    }
    text
}

/// Returns the time from the start of the first frame to the start of the last one, ps.
fn span(tally: &Tally) -> u64 {
    let (first, last) = (tally.first.unwrap_or_default(), tally.last.unwrap_or_default());
    last.ps_since(first).unwrap_or(0)
}

/// Returns the mean rate on the wire, bit/s: the bits before the last frame, over the time to its start.
fn bps(tally: &Tally) -> Option<u64> {
    rate((tally.wire_bytes - tally.last_wire_bytes) * 8, span(tally))
}

/// Returns the mean number of frames per second: the frames before the last one, over the time to its start.
fn pps(tally: &Tally) -> Option<u64> {
    rate(tally.packets.saturating_sub(1), span(tally))
}

/// Returns whole units per second; `None` if the span is 0.
fn rate(count: u64, span: u64) -> Option<u64> {
    let rate = (u128::from(count) * 1_000_000_000_000).checked_div(span.into())?;
    u64::try_from(rate).ok()
}

const fn name(format: TraceFormat) -> &'static str {
    match format {
        TraceFormat::Pcapng => "pcapng",
        TraceFormat::PcapngPs => "pcapng-ps",
        TraceFormat::Pcap => "pcap",
        TraceFormat::PcapUs => "pcap-us",
    }
}
