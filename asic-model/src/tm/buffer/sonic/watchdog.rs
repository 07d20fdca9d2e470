//! PFC watchdog of SONiC.

use super::Reader;
use crate::tm::buffer::file::{Milliseconds, WatchdogEntry};
use crate::tm::watchdog::Predicate;
use std::collections::BTreeMap;

/// SONiC's poll interval where the table has none, in ms.
const POLL: i64 = 400;

impl Reader<'_> {
    /// Returns the settings that most ports have. A port with other settings is named in a note.
    pub(super) fn watchdog(&mut self) -> Option<WatchdogEntry> {
        let mut by: BTreeMap<(i64, Option<i64>, String), Vec<String>> = BTreeMap::new();
        let mut poll = POLL;
        for (key, row) in self.rows("PFC_WD") {
            let of = ("PFC_WD", key.as_str(), &row);
            let mut time =
                |field: &str| self.number(of, field).map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
            if key == "GLOBAL" {
                poll = time("POLL_INTERVAL").unwrap_or(POLL);
                continue;
            }
            let (detection, restoration) = (time("detection_time"), time("restoration_time"));
            let action = row.get("action").unwrap_or("drop").to_owned();
            self.front(of, &key);
            match detection {
                Some(detection) => by.entry((detection, restoration, action)).or_default().push(key),
                None if row.get("detection_time").is_none() => {
                    self.wrong(
                        of,
                        "detection_time",
                        "is missing; expected milliseconds of 100 to 5000, such as 200",
                    );
                }
                None => {}
            }
        }
        let most = by.iter().max_by_key(|(settings, ports)| (ports.len(), std::cmp::Reverse(*settings)))?;
        let (chosen, _) = (most.0.clone(), most.1);
        for (settings, ports) in by.iter().filter(|(settings, _)| **settings != chosen) {
            let some = ports.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            let (detection, _, action) = settings;
            let text = format!("{some} (of {}) have {action} after {detection} ms", ports.len());
            self.note(format!(
                "PFC_WD: {text}; a switch has one watchdog here, with {} after {} ms",
                chosen.2, chosen.0
            ));
        }
        let (detection, restoration, action) = chosen;
        Some(WatchdogEntry {
            detection_time: Milliseconds::Number(detection),
            restoration_time: restoration.map(Milliseconds::Number),
            poll_interval: Milliseconds::Number(poll),
            action,
            predicate: Predicate::default(),
        })
    }
}
