//! Text of FRR's `show ip route json`.

use super::{Hop, ReadRoutes};
use serde_json::{Map, Value};

const EXPECTED: &str = "expected prefixes with routes, as in \
                        {\"10.1.0.0/16\": [{\"selected\": true, \"nexthops\": [{\"interfaceName\": \"Ethernet0\"}]}]}";

pub(super) fn read(text: &str) -> ReadRoutes {
    let mut found = ReadRoutes::default();
    match serde_json::from_str::<Value>(text) {
        Err(e) => found.wrong(e.line(), format!("{e}; {EXPECTED}")),
        Ok(Value::Object(all)) => table(&mut found, text, &all),
        Ok(_) => found.wrong(1, EXPECTED),
    }
    found
}

/// Reads the prefixes of a table. With `vrf all`, tables are inside the names of their VRFs, of which the default one counts.
fn table(found: &mut ReadRoutes, text: &str, all: &Map<String, Value>) {
    let default = all.get("default").filter(|value| value.is_object());
    for (prefix, routes) in all {
        if let (Some(_), Some(other)) = (default, routes.as_object().filter(|_| prefix != "default")) {
            found.unused += other.len();
            continue;
        }
        let line = line_of(text, prefix);
        let routes = match routes {
            Value::Object(vrf) => {
                table(found, text, vrf);
                continue;
            }
            Value::Array(routes) => routes,
            _ => {
                found.wrong(line, format!("`{prefix}` is not a list of routes; {EXPECTED}"));
                continue;
            }
        };
        let is_selected = |route: &&Value| route["selected"] == true;
        match routes.iter().find(is_selected) {
            None => found.unused += 1,
            Some(route) => selected(found, line, prefix, route),
        }
    }
}

fn selected(found: &mut ReadRoutes, line: usize, prefix: &str, route: &Value) {
    if !found.start(line, prefix) {
        return;
    }
    let hops = route["nexthops"].as_array().map_or(&[][..], Vec::as_slice);
    if hops.iter().any(|hop| hop["blackhole"] == true || hop["unreachable"] == true) {
        found.routes.pop();
        found.discarding += 1;
        return;
    }
    for hop in hops.iter().filter(|hop| hop["recursive"] != true && hop["active"] != false) {
        let via = hop["ip"].as_str().map(|text| (text, text.parse()));
        if let Some((text, Err(_))) = via {
            found.wrong(
                line,
                format!("`{prefix}` has the next hop `{text}`; expected an address such as 10.0.0.1"),
            );
            continue;
        }
        let via = via.and_then(|(_, via)| via.ok());
        let port = hop["interfaceName"].as_str().map(str::to_owned);
        let weight = hop["weight"].as_u64().and_then(|weight| u32::try_from(weight).ok()).unwrap_or(1);
        found.hop(Hop { line, via, port, weight });
    }
}

/// Returns the line of a key, from 1.
fn line_of(text: &str, key: &str) -> usize {
    let at = text.find(&format!("\"{key}\"")).unwrap_or(0);
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count()
}
