//! Resolution of the maps of a profile file.

use super::config::PRIORITY_GROUPS;
use super::map::{DSCPS, QosMaps, TRAFFIC_CLASSES};
use super::problem::Check;
use super::ranges::Selector;
use super::resolve::Resolver;
use std::collections::BTreeMap;

/// SONiC's AZURE maps (model: buffer §1.8), used for keys that a file does not have.
const AZURE_DSCP: [(u8, u8); 6] = [(3, 3), (4, 4), (5, 2), (8, 0), (46, 5), (48, 6)];

impl QosMaps {
    /// Returns SONiC's AZURE maps, the defaults.
    pub fn azure() -> QosMaps {
        let mut dscp_to_tc = [1; DSCPS];
        AZURE_DSCP.iter().for_each(|(dscp, tc)| dscp_to_tc[usize::from(*dscp)] = *tc);
        let identity = std::array::from_fn(|i| i as u8);
        QosMaps {
            dscp_to_tc,
            pcp_to_tc: identity,
            default_tc: 0,
            tc_to_pg: [0, 0, 0, 3, 4, 0, 0, 7],
            tc_to_queue: identity,
        }
    }
}

/// Resolves the maps of the file.
pub(super) fn resolve(r: &mut Resolver<'_>) -> QosMaps {
    let given = &r.file.maps;
    let azure = QosMaps::azure();
    let classes = TRAFFIC_CLASSES as i64;
    QosMaps {
        dscp_to_tc: map(r, "maps.dscp_to_tc", "traffic class", &given.dscp_to_tc, azure.dscp_to_tc, classes),
        pcp_to_tc: map(r, "maps.pcp_to_tc", "traffic class", &given.pcp_to_tc, azure.pcp_to_tc, classes),
        default_tc: match given.default_tc {
            tc if (0..classes).contains(&tc) => tc as u8,
            tc => {
                r.wrong(
                    Check::Map,
                    "maps.default_tc",
                    format!("traffic class {tc}; they are 0 to {}", classes - 1),
                );
                0
            }
        },
        tc_to_pg: map(
            r,
            "maps.tc_to_pg",
            "priority group",
            &given.tc_to_pg,
            azure.tc_to_pg,
            PRIORITY_GROUPS as i64,
        ),
        tc_to_queue: map(r, "maps.tc_to_queue", "queue", &given.tc_to_queue, azure.tc_to_queue, 128),
    }
}

/// Resolves one map; returns `default` if the file has none.
fn map<const N: usize>(
    r: &mut Resolver<'_>,
    place: &str,
    what: &str,
    given: &BTreeMap<String, i64>,
    default: [u8; N],
    end: i64,
) -> [u8; N] {
    if given.is_empty() {
        return default;
    }
    let mut found = [None; N];
    let last = |text: &&String| text.trim() == "others" || text.trim() == "*";
    let (rest, named): (Vec<_>, Vec<_>) = given.iter().partition(|(key, _)| last(key));
    for (keys, value) in named.into_iter().chain(rest) {
        let value = match value {
            v if (0..end).contains(v) => *v as u8,
            v => {
                r.wrong(
                    Check::Map,
                    place,
                    format!("`{keys}` leads to {what} {v}; they are 0 to {}", end - 1),
                );
                continue;
            }
        };
        let taken = |n: u32| found.get(n as usize).is_some_and(Option::is_some);
        let others = matches!(Selector::parse(keys), Ok(Selector::Others | Selector::All));
        let keys_of = if others { "others" } else { keys };
        for key in r.select(place, keys_of, N as u32, taken) {
            if found[key as usize].replace(value).is_some_and(|old| old != value || !others) {
                r.wrong(
                    Check::Map,
                    place,
                    format!("{key} is there twice, the second time in `{keys}`: keep one"),
                );
            }
        }
    }
    if let Some(missing) = found.iter().position(Option::is_none) {
        r.wrong(Check::Map, place, format!("{missing} leads nowhere: add `others = ..`"));
    }
    found.map(Option::unwrap_or_default)
}
