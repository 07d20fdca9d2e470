//! Text of `ip route`.

use super::{Hop, ReadRoutes};

/// Kinds of routes that lead nowhere.
const DISCARDING: [&str; 4] = ["blackhole", "unreachable", "prohibit", "throw"];
/// Kinds of routes that are the host's own.
const OWN: [&str; 4] = ["local", "broadcast", "multicast", "anycast"];

pub(super) fn read(text: &str) -> ReadRoutes {
    let mut found = ReadRoutes::default();
    // False while the lines of a route that is left out go on.
    let mut open = false;
    for (line, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> = content.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            [first, ..] if first.starts_with('#') => {}
            ["nexthop", rest @ ..] if open => next(&mut found, line, rest),
            ["nexthop", ..] => {}
            [kind, ..] if DISCARDING.contains(kind) => {
                found.discarding += 1;
                open = false;
            }
            [kind, ..] if OWN.contains(kind) => {
                found.unused += 1;
                open = false;
            }
            ["unicast", to, rest @ ..] | [to, rest @ ..] => {
                open = found.start(line, to);
                if open && rest.contains(&"nexthop") {
                    rest.split(|word| *word == "nexthop").skip(1).for_each(|hop| next(&mut found, line, hop));
                } else if open && (rest.contains(&"dev") || rest.contains(&"via")) {
                    next(&mut found, line, rest);
                }
            }
        }
    }
    for route in
        found.routes.iter().filter(|route| route.hops.is_empty()).map(|route| route.line).collect::<Vec<_>>()
    {
        found.wrong(route, "the route has no next hop; expected `via ADDRESS dev PORT`, or `dev PORT`");
    }
    found
}

/// Adds the next hop of `via 10.0.0.1 dev Ethernet0 weight 1`.
fn next(found: &mut ReadRoutes, line: usize, words: &[&str]) {
    let after =
        |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1).copied());
    let via = match after("via").filter(|via| *via != "inet6").map(|via| (via, via.parse())) {
        None => None,
        Some((_, Ok(via))) => Some(via),
        Some((text, Err(_))) => {
            found.wrong(line, format!("found `via {text}`; expected an address such as 10.0.0.1"));
            return;
        }
    };
    let weight = match after("weight").map(|text| (text, text.parse())) {
        None => 1,
        Some((_, Ok(weight))) => weight,
        Some((text, Err(_))) => {
            found.wrong(line, format!("found `weight {text}`; expected a number such as 1"));
            return;
        }
    };
    found.hop(Hop { line, via, port: after("dev").map(str::to_owned), weight });
}
