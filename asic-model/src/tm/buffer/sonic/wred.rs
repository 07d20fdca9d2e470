//! WRED profiles of SONiC as ECN profiles.

use super::Reader;
use super::tables::Row;
use crate::tm::buffer::file::{CurveEntry, EcnEntry};
use crate::units::Bytes;

const COLOURS: [&str; 3] = ["green", "yellow", "red"];

impl Reader<'_> {
    pub(super) fn wred(&mut self) -> Vec<EcnEntry> {
        let rows = self.rows("WRED_PROFILE");
        rows.iter().map(|(name, row)| self.profile_of((name, row))).collect()
    }

    /// Converts a profile. Colours that are enabled drop packets that cannot be marked, as SAI has it.
    fn profile_of(&mut self, (name, row): (&str, &Row)) -> EcnEntry {
        let of = ("WRED_PROFILE", name, row);
        let mode = row.get("ecn").unwrap_or("ecn_none");
        let mode = mode.strip_prefix("ecn_").unwrap_or(mode).to_owned();
        let known = |word: &str| COLOURS.contains(&word);
        if mode != "all" && mode != "none" && !mode.split('_').all(known) {
            self.wrong(
                of,
                "ecn",
                format!("found `{mode}`; expected ecn_all, ecn_none or colours, as in ecn_green_yellow"),
            );
        }
        let mut curve = Vec::new();
        let mut drops = false;
        for colour in COLOURS {
            let enabled = match row.get(&format!("wred_{colour}_enable")) {
                // As SAI has it: an attribute that is absent is false.
                None | Some("false") => false,
                Some("true") => true,
                Some(other) => {
                    self.wrong(
                        of,
                        &format!("wred_{colour}_enable"),
                        format!("found `{other}`; expected true or false"),
                    );
                    false
                }
            };
            drops |= row.get(&format!("wred_{colour}_enable")) == Some("true");
            if enabled {
                let mut number = |field: &str| self.number(of, &format!("{colour}_{field}"));
                let (kmin, kmax) = (number("min_threshold"), number("max_threshold"));
                let pmax = number("drop_probability").unwrap_or(100);
                let (Some(kmin), Some(kmax)) = (kmin, kmax) else {
                    let missing = if kmin.is_none() { "min" } else { "max" };
                    let field = format!("{colour}_{missing}_threshold");
                    self.wrong(of, &field, "is missing; expected bytes of the queue, such as 1048576");
                    continue;
                };
                if kmin > kmax {
                    let field = format!("{colour}_min_threshold");
                    self.wrong(
                        of,
                        &field,
                        format!("is {kmin}, above {colour}_max_threshold, {kmax}: swap them"),
                    );
                    continue;
                }
                let (kmin, kmax, pmax) = (Bytes(kmin), Bytes(kmax), i64::try_from(pmax).unwrap_or(i64::MAX));
                curve.push(CurveEntry { colour: Some(colour.to_owned()), speed: None, kmin, kmax, pmax });
            }
        }
        EcnEntry { name: name.to_owned(), mode, wred: drops, average_shift: 0, curve }
    }

    /// Returns a number of a row; `None` if it has no such field, or no number there, which is a mistake.
    pub(super) fn number(&mut self, of: (&str, &str, &Row), field: &str) -> Option<u64> {
        let text = of.2.get(field)?;
        let number = text.trim().parse().ok();
        if number.is_none() {
            self.wrong(of, field, format!("found `{text}`; expected a whole number, such as 1518"));
        }
        number
    }
}
