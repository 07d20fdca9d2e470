//! Comments of packets in captures: `key=value` words, so that `frame.comment contains "ecn=CE"` finds them.

use crate::collector::Origin;
use crate::view::SwitchView;
use sluice_fabric::network::LinkDrop;
use sluice_pcaps::wire::{ethernet, ipv4, ipv6, vlan};
use sluice_switch::{GENERATED, Left, Lost};
use std::borrow::Cow;
use std::fmt::Write;

/// Returns the name of a packet: its tag, which is its number in the inputs, or `generated` if a packet generator made
/// it.
pub(crate) fn packet(tag: u64) -> Cow<'static, str> {
    if tag == GENERATED { "generated".into() } else { tag.to_string().into() }
}

/// Returns the comment of a packet that was sent.
pub(crate) fn sent(view: &SwitchView<'_>, p: &Left, head: &[u8]) -> String {
    let (from, to) = (view.port_name(p.ingress_port), view.port_name(p.egress_port));
    let mut text = format!("fate=out packet={} path={from}>{to}.q{}", packet(p.tag), p.qid);
    if view.is_timed() {
        let latency = p.first_bit.saturating_since(p.received);
        // Writing into a String cannot fail.
        let _ = write!(text, " latency={latency} queued={}", p.queued);
    }
    add_ecn(&mut text, head);
    text
}

/// Returns the comment of a packet that ended inside the switch.
pub(crate) fn lost(
    view: &SwitchView<'_>,
    p: &Lost,
    reason: &str,
    origin: Option<(&str, Origin)>,
    head: &[u8],
) -> String {
    let fate = if p.absorbed { "absorbed" } else { "dropped" };
    let mut text =
        format!("fate={fate} reason={reason} packet={} path={}", packet(p.tag), view.port_name(p.port));
    if let Some((file, o)) = origin {
        let _ = write!(text, " record={} of={file}", o.record);
    }
    add_ecn(&mut text, head);
    text
}

/// Returns the comment of a frame that ended on the link of a port.
pub(crate) fn on_link(
    view: &SwitchView<'_>,
    p: &Left,
    drop: LinkDrop,
    origin: Option<(&str, Origin)>,
    head: &[u8],
) -> String {
    let (reason, port) = (drop.name(), view.port_name(p.egress_port));
    let mut text = format!("fate=dropped reason={reason} packet={} link={port}", packet(p.tag));
    if let Some((file, o)) = origin {
        // Writing into a String cannot fail.
        let _ = write!(text, " record={} of={file}", o.record);
    }
    add_ecn(&mut text, head);
    text
}

fn add_ecn(text: &mut String, head: &[u8]) {
    if let Some(ecn) = ecn(head) {
        let word = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"][usize::from(ecn & 3)];
        let _ = write!(text, " ecn={word}");
    }
}

/// Returns the ECN field of the outermost IP header, after up to two VLAN tags.
fn ecn(frame: &[u8]) -> Option<u8> {
    let eth = ethernet::View::new(frame).ok()?;
    let (mut kind, mut payload) = (eth.ethertype(), eth.payload());
    for _ in 0..2 {
        if matches!(kind, ethernet::TYPE_VLAN | 0x88a8) {
            let tag = vlan::View::new(payload).ok()?;
            (kind, payload) = (tag.ethertype(), tag.payload());
        }
    }
    match kind {
        ethernet::TYPE_IPV4 => ipv4::View::new(payload).ok().map(|ip| ip.ecn()),
        ethernet::TYPE_IPV6 => ipv6::View::new(payload).ok().map(|ip| ip.ecn()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecn_behind_tags_and_nowhere() {
        let ip = [0x45, 0x03, 0, 20, 0, 0, 0, 0, 9, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
        let frame = |types: &[u16]| {
            let mut bytes = vec![2; 12];
            for (i, t) in types.iter().enumerate() {
                bytes.extend(if i > 0 { vec![0, 7] } else { vec![] });
                bytes.extend(t.to_be_bytes());
            }
            [bytes, ip.to_vec()].concat()
        };
        assert_eq!(ecn(&frame(&[0x0800])), Some(3));
        assert_eq!(ecn(&frame(&[0x8100, 0x0800])), Some(3));
        assert_eq!(ecn(&frame(&[0x88a8, 0x8100, 0x0800])), Some(3));
        assert_eq!(ecn(&frame(&[0x0806])), None);
        assert_eq!(ecn(&[1; 20]), None);
    }
}
