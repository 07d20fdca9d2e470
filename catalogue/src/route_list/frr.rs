//! Text of FRR's `show ip route`.
//!
//! A route begins with the letter of its protocol; `>` marks the selected one, `*` next hops in use. Further next hops
//! follow on lines of their own. Routes of other VRFs than the default one are left out.

use super::{Hop, ReadRoutes};

/// Returns true for the first line of the text.
pub(super) fn is_frr(line: &str) -> bool {
    line.starts_with("Codes:") || vrf(line).is_some() || code(line).is_some()
}

/// Returns the VRF that a line such as `VRF default:` or `IPv4 unicast VRF default:` begins.
fn vrf(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("IPv4 unicast ").unwrap_or(line).strip_prefix("VRF ")?;
    rest.strip_suffix(':')
}

/// Splits a line into the marks of its protocol and the rest.
fn code(line: &str) -> Option<(&str, &str)> {
    let (marks, rest) = line.trim().split_once(char::is_whitespace)?;
    let letter = marks.starts_with(|c: char| c.is_ascii_uppercase());
    let marked = marks.chars().skip(1).all(|c| matches!(c, '>' | '*' | 'q' | 'r' | 'b' | 't' | 'o'));
    let to = rest.trim_start();
    (letter && marked && to.starts_with(|c: char| c.is_ascii_hexdigit())).then_some((marks, to))
}

pub(super) fn read(text: &str) -> ReadRoutes {
    let mut found = ReadRoutes::default();
    let (mut open, mut is_head, mut is_other) = (false, false, false);
    for (line, content) in (1..).zip(text.lines()) {
        let words = content.trim();
        if words.is_empty() || words.starts_with('#') {
            is_head = false;
            continue;
        }
        if words.starts_with("Codes:") {
            is_head = true;
            continue;
        }
        if let Some(name) = vrf(words) {
            (open, is_other) = (false, name != "default");
            continue;
        }
        if let Some((marks, rest)) = code(words) {
            is_head = false;
            let (to, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let is_used = marks.contains('>') && !is_other;
            open = is_used && found.start(line, to);
            found.unused += usize::from(!is_used);
            // OSPF and others write the letter of an area in front of the metric.
            if open && !next(&mut found, line, rest) {
                open = false;
            }
        } else if words.starts_with('*') || words.starts_with("via ") || words.starts_with("is directly") {
            // A next hop without `*` is not in use.
            if open && words.starts_with('*') {
                next(&mut found, line, words.trim_start_matches('*'));
            }
        } else if !is_head {
            found.wrong(
                line,
                format!("found `{words}`; expected a route such as `B>* 10.1.0.0/16 [20/0] via 10.0.0.1, Ethernet0`"),
            );
        }
    }
    found
}

/// Adds the next hop of `[20/0] via 10.0.0.1, Ethernet0, weight 1, 00:01:02`. Returns false if the route discards packets.
fn next(found: &mut ReadRoutes, line: usize, text: &str) -> bool {
    if text.contains("blackhole") || text.contains("unreachable") || text.contains("Null0") {
        found.routes.pop();
        found.discarding += 1;
        return false;
    }
    // The next hops of a recursive one follow on lines of their own.
    if text.contains("(recursive)") {
        return true;
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let head = parts.first().copied().unwrap_or_default();
    let via = head.split_once("via ").map(|(_, via)| via.trim());
    let attached = head.contains("is directly connected");
    if via.is_none() && !attached {
        found.wrong(
            line,
            format!("found `{text}`; expected `via ADDRESS, PORT` or `is directly connected, PORT`"),
        );
        return true;
    }
    let port = parts.get(1).filter(|name| !name.starts_with("weight") && !name.contains(':'));
    let weight = parts.iter().find_map(|part| part.strip_prefix("weight ")?.parse().ok()).unwrap_or(1);
    let port = port.map(|name| name.split_whitespace().next().unwrap_or(name).to_owned());
    match via.map(|via| (via, via.parse())) {
        None => found.hop(Hop { line, via: None, port, weight }),
        Some((_, Ok(via))) => found.hop(Hop { line, via: Some(via), port, weight }),
        Some((text, Err(_))) => {
            found.wrong(line, format!("found `via {text}`; expected an address such as 10.0.0.1"));
        }
    }
    true
}
