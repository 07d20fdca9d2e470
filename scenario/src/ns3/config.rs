//! The text of `config.txt` (model: int §3).
//!
//! It is a stream of words. A word that is a key takes the words after it as its values; any other word is skipped, so
//! comments in braces are legal. The last occurrence of a key counts.

use super::{Ns3FileError, words};
use sluice_asic::units::{BitRate, Duration};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulator {
    /// HPCC's: keys of `third.cc`.
    Hpcc,
    /// ConWeave's, a fork of HPCC's.
    ConWeave,
}

/// Values of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// This number of words.
    Words(usize),
    /// A number n, then n pairs of a link rate in bit/s and a value.
    Map,
}

/// Use of a key in Sluice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The key has the simulators' meaning.
    Same,
    /// The key has no meaning here, for this reason.
    Ignored(&'static str),
    /// The key is used; if its value is not the one given first, this differs.
    Only(&'static str, &'static str),
}

/// A key of `config.txt`.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The word.
    pub name: &'static str,
    /// Simulator that alone knows the key; `None`: both.
    pub of: Option<Simulator>,
    /// Value if the text has no such key; empty: none.
    pub default: &'static str,
    /// Use of the key in Sluice.
    pub meaning: Meaning,
    pub(super) values: Values,
}

const fn key(name: &'static str, default: &'static str, meaning: Meaning) -> Key {
    Key { name, of: None, default, meaning, values: Values::Words(1) }
}

const fn hpcc(name: &'static str, default: &'static str, meaning: Meaning) -> Key {
    Key { of: Some(Simulator::Hpcc), ..key(name, default, meaning) }
}

const fn conweave(name: &'static str, default: &'static str, meaning: Meaning) -> Key {
    Key { of: Some(Simulator::ConWeave), ..key(name, default, meaning) }
}

const fn map(name: &'static str) -> Key {
    Key { values: Values::Map, ..key(name, "", Meaning::Same) }
}

use Meaning::{Ignored, Only, Same};

const NO_TRACE: Meaning = Ignored("no binary trace is written; `sluice replay --trace` shows packets");
const MONITORS: Meaning = Ignored("this file of the simulator's own monitors is not written");
const NO_PINT: Meaning = Ignored("senders of HPCC-PINT are not among the hosts");
const ONE_RTT: &str = "every pair of hosts has the longest RTT and the greatest BDP of the network";

/// All keys of both simulators. The defaults are those of their code.
pub const KEYS: &[Key] = &[
    key("ENABLE_QCN", "1", Same),
    key(
        "USE_DYNAMIC_PFC_THRESHOLD",
        "1",
        Only("1", "the simulators' switches always have dynamic thresholds"),
    ),
    key("CLAMP_TARGET_RATE", "0", Same),
    key(
        "PAUSE_TIME",
        "5",
        Ignored("a pause lasts until it is ended, as in the simulators, and is refreshed"),
    ),
    key("DATA_RATE", "", Ignored("the topology file has the rates, as in the simulators")),
    key("LINK_DELAY", "", Ignored("the topology file has the delays, as in the simulators")),
    key("PACKET_PAYLOAD_SIZE", "1000", Same),
    key("L2_CHUNK_SIZE", "0", Only("0", "chunks only matter to go-back-0, which hosts do not do")),
    key("L2_ACK_INTERVAL", "0", Only("1", "every packet is acknowledged")),
    key(
        "L2_BACK_TO_ZERO",
        "0",
        Only("0", "hosts go back to the missing packet, not to the start of a chunk"),
    ),
    key("TOPOLOGY_FILE", "", Same),
    key("FLOW_FILE", "", Same),
    hpcc("TRACE_FILE", "", NO_TRACE),
    hpcc("TRACE_OUTPUT_FILE", "", NO_TRACE),
    hpcc("ENABLE_TRACE", "1", NO_TRACE),
    key("FCT_OUTPUT_FILE", "fct.txt", Same),
    key("PFC_OUTPUT_FILE", "pfc.txt", Same),
    hpcc("SIMULATOR_STOP_TIME", "3.01", Same),
    key("CC_MODE", "1", Same),
    key("ALPHA_RESUME_INTERVAL", "55", Same),
    key("RATE_DECREASE_INTERVAL", "4", Same),
    key("RP_TIMER", "300", Same),
    key("EWMA_GAIN", "0", Same),
    key("FAST_RECOVERY_TIMES", "5", Same),
    key("RATE_AI", "", Same),
    key("RATE_HAI", "", Same),
    key("MIN_RATE", "100Mb/s", Same),
    key("DCTCP_RATE_AI", "1000Mb/s", Same),
    key("ERROR_RATE_PER_LINK", "0", Same),
    key("HAS_WIN", "1", Same),
    key("GLOBAL_T", "1", Only("1", ONE_RTT)),
    key("VAR_WIN", "0", Same),
    key("FAST_REACT", "1", Same),
    key("U_TARGET", "0.95", Same),
    key("MI_THRESH", "5", Same),
    key("INT_MULTI", "1", Same),
    key("MULTI_RATE", "1", Same),
    key("SAMPLE_FEEDBACK", "0", Only("0", "senders read the records of all hops")),
    hpcc("PINT_LOG_BASE", "1.05", NO_PINT),
    hpcc("PINT_PROB", "1", NO_PINT),
    key("RATE_BOUND", "1", Only("1", "hosts always pace packets")),
    hpcc("ACK_HIGH_PRIO", "0", Same),
    Key { values: Values::Words(3), ..key("LINK_DOWN", "0 0 0", Same) },
    map("KMAX_MAP"),
    map("KMIN_MAP"),
    map("PMAX_MAP"),
    key("BUFFER_SIZE", "", Same),
    key("QLEN_MON_FILE", "", Same),
    key("QLEN_MON_START", "2000000000", Same),
    key("QLEN_MON_END", "2100000000", Same),
    conweave("FLOW_INPUT_FILE", "", MONITORS),
    conweave("CNP_OUTPUT_FILE", "cnp.txt", Same),
    conweave("VOQ_MON_FILE", "", MONITORS),
    conweave("VOQ_MON_DETAIL_FILE", "", MONITORS),
    conweave("UPLINK_MON_FILE", "", MONITORS),
    conweave("CONN_MON_FILE", "", MONITORS),
    conweave("EST_ERROR_MON_FILE", "", MONITORS),
    conweave("SW_MONITORING_INTERVAL", "10000", MONITORS),
    conweave("FLOWGEN_START_TIME", "2.0", Same),
    conweave("FLOWGEN_STOP_TIME", "2.5", Same),
    conweave("LB_MODE", "0", Same),
    conweave("ENABLE_PFC", "1", Same),
    conweave("ENABLE_IRN", "0", Same),
    conweave("CONWEAVE_TX_EXPIRY_TIME", "1000", Same),
    conweave("CONWEAVE_REPLY_TIMEOUT_EXTRA", "4", Same),
    conweave("CONWEAVE_PATH_PAUSE_TIME", "8", Same),
    conweave("CONWEAVE_EXTRA_VOQ_FLUSH_TIME", "32", Same),
    conweave("CONWEAVE_DEFAULT_VOQ_WAITING_TIME", "500", Same),
    conweave("LOAD", "10.0", Ignored("the flow file has the load")),
    conweave("RANDOM_SEED", "1", Same),
];

/// A `config.txt`.
#[derive(Clone, Debug)]
pub struct Config {
    /// Name of the file, for errors.
    pub origin: String,
    /// Values by key, with the line of the key.
    found: BTreeMap<&'static str, (usize, Vec<String>)>,
    /// Words that look like keys but are none, with their lines.
    pub unknown: Vec<(usize, String)>,
}

fn key_of(word: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == word)
}

/// Returns true if a word looks like a key: capitals, digits and `_` at the start of a line.
fn looks_like_key(word: &str) -> bool {
    word.contains('_') && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

impl Config {
    /// Returns true if a text is a `config.txt`: it names a topology file and a flow file by the simulators' keys.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        let has = |key: &str| text.lines().any(|line| line.split_whitespace().next() == Some(key));
        has("TOPOLOGY_FILE") && has("FLOW_FILE")
    }

    /// Parses a text; `origin` is the file's name, for errors.
    ///
    /// # Errors
    /// If values of a key are missing, or the size of a map is not a number.
    pub fn parse(origin: &str, text: &str) -> Result<Config, Ns3FileError> {
        let mut config = Config { origin: origin.to_owned(), found: BTreeMap::new(), unknown: Vec::new() };
        let mut words = words(text);
        let mut last = 0;
        while let Some((line, word)) = words.next() {
            let Some(key) = key_of(word) else {
                if line != last && looks_like_key(word) {
                    config.unknown.push((line, word.to_owned()));
                }
                last = line;
                continue;
            };
            last = line;
            let error = |what: String| Ns3FileError { origin: origin.to_owned(), line, what };
            let mut values = Vec::new();
            let mut take = |count: usize, into: &mut Vec<String>| {
                let taken: Vec<String> =
                    words.by_ref().take(count).map(|(_, word)| word.to_owned()).collect();
                let missing = count - taken.len();
                into.extend(taken);
                match missing {
                    0 => Ok(()),
                    _ => Err(error(format!(
                        "{word}: {missing} of its values are missing at the end of the file"
                    ))),
                }
            };
            match key.values {
                Values::Words(count) => take(count, &mut values)?,
                Values::Map => {
                    take(1, &mut values)?;
                    let count = values.pop().and_then(|count| count.parse::<usize>().ok());
                    let count = count.filter(|count| *count <= 1_000).ok_or_else(|| {
                        error(format!("{word}: expected the number of its pairs, then a rate in bit/s and a value for each"))
                    })?;
                    take(2 * count, &mut values)?;
                }
            }
            config.found.insert(key.name, (line, values));
        }
        Ok(config)
    }

    /// Returns the simulator whose keys the text has: ConWeave's if it has any that only ConWeave's knows.
    #[must_use]
    pub fn simulator(&self) -> Simulator {
        let own = |key: &Key| key.of == Some(Simulator::ConWeave) && self.found.contains_key(key.name);
        if KEYS.iter().any(own) { Simulator::ConWeave } else { Simulator::Hpcc }
    }

    /// Returns the keys of the text in the order of [`KEYS`], each with its line and values.
    pub fn keys(&self) -> impl Iterator<Item = (&'static Key, usize, &[String])> + '_ {
        KEYS.iter().filter_map(|key| self.found.get(key.name).map(|(line, values)| (key, *line, &values[..])))
    }

    /// Returns the line of a key; 1 if the text does not have it.
    #[must_use]
    pub fn line(&self, key: &str) -> usize {
        self.found.get(key).map_or(1, |(line, _)| *line)
    }

    pub(super) fn error(&self, key: &str, what: impl std::fmt::Display) -> Ns3FileError {
        Ns3FileError { origin: self.origin.clone(), line: self.line(key), what: format!("{key}: {what}") }
    }

    /// Returns the values of a key: the text's, else the default.
    pub(super) fn values(&self, key: &str) -> Vec<&str> {
        match (self.found.get(key), key_of(key)) {
            (Some((_, values)), _) => values.iter().map(String::as_str).collect(),
            (None, Some(key)) => key.default.split_whitespace().collect(),
            (None, None) => Vec::new(),
        }
    }

    /// Returns the value of a key as text; empty if there is none.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.values(key).first().copied().unwrap_or_default()
    }

    /// Parses the value of a key.
    pub(super) fn get<T: FromStr>(&self, key: &str, expected: &str) -> Result<T, Ns3FileError> {
        let text = self.text(key);
        let found = if text.is_empty() { "nothing" } else { text };
        text.parse().map_err(|_| self.error(key, format!("found {found}, expected {expected}")))
    }

    /// Returns a switch of 0 and 1.
    pub(super) fn flag(&self, key: &str) -> Result<bool, Ns3FileError> {
        self.get::<u32>(key, "0 or 1").map(|value| value != 0)
    }

    /// Returns a time whose value is a decimal number of this unit, such as `us`.
    pub(super) fn time(&self, key: &str, unit: &str) -> Result<Duration, Ns3FileError> {
        let text = self.text(key);
        let time = format!("{text}{unit}").parse();
        time.map_err(|_| self.error(key, format!("found `{text}`, expected a number of {unit}")))
    }

    /// Returns a rate such as `50Mb/s`.
    pub(super) fn rate(&self, key: &str) -> Result<BitRate, Ns3FileError> {
        self.get(key, "a rate such as 50Mb/s")
    }

    /// Returns a map: rates in bit/s with their values as text.
    pub(super) fn map(&self, key: &str) -> Result<BTreeMap<BitRate, String>, Ns3FileError> {
        let mut map = BTreeMap::new();
        for pair in self.values(key).chunks(2) {
            let [rate, value] = pair else { continue };
            let bps = rate
                .parse()
                .map_err(|_| self.error(key, format!("found `{rate}`, expected a rate in bit/s")))?;
            map.insert(BitRate::from_bps(bps), (*value).to_owned());
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_skipped_and_the_last_value_counts() {
        let text = "ENABLE_QCN 1 {0: disable}\n\nCC_MODE 3 {DCQCN is 1}\nCC_MODE 1\nKMAX_MAP 2 25000000000 400 \
                    100000000000 1600 {a map}\nRATE_AI 50Mb/s\nBUFFER_SIZE 32\nMY_KEY 7\nLINK_DOWN 5 1 2\n";
        let config = Config::parse("config.txt", text).unwrap();
        assert_eq!((config.text("CC_MODE"), config.line("CC_MODE")), ("1", 4));
        assert_eq!(config.rate("RATE_AI"), Ok(BitRate::from_bps(50_000_000)));
        let map: Vec<_> = config.map("KMAX_MAP").unwrap().into_iter().map(|(r, v)| (r.as_bps(), v)).collect();
        assert_eq!(map, [(25_000_000_000, "400".to_owned()), (100_000_000_000, "1600".to_owned())]);
        assert_eq!(config.values("LINK_DOWN"), ["5", "1", "2"]);
        assert_eq!(config.time("RP_TIMER", "us"), Ok(Duration::from_micros(300)));
        assert_eq!(config.unknown, [(8, "MY_KEY".to_owned())]);
        assert_eq!(config.simulator(), Simulator::Hpcc);
        assert_eq!(Config::parse("c", "LB_MODE 9").unwrap().simulator(), Simulator::ConWeave);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = |text: &str| Config::parse("c.txt", text).unwrap_err().to_string();
        assert_eq!(error("CC_MODE"), "c.txt:1: CC_MODE: 1 of its values are missing at the end of the file");
        assert_eq!(
            error("\nKMIN_MAP 2 1 2 3"),
            "c.txt:2: KMIN_MAP: 1 of its values are missing at the end of the file"
        );
        assert!(error("KMIN_MAP many").starts_with("c.txt:1: KMIN_MAP: expected the number of its pairs"));
        let config = Config::parse("c.txt", "\nCC_MODE three RATE_AI fast PMAX_MAP 1 100G 0.2").unwrap();
        let text = |error: Ns3FileError| error.to_string();
        assert_eq!(
            config.get::<u32>("CC_MODE", "a number").map_err(text),
            Err("c.txt:2: CC_MODE: found three, expected a number".into())
        );
        assert!(text(config.rate("RATE_AI").unwrap_err()).contains("found fast, expected a rate"));
        assert!(text(config.map("PMAX_MAP").unwrap_err()).contains("found `100G`, expected a rate in bit/s"));
        assert!(text(config.rate("RATE_HAI").unwrap_err()).contains("found nothing"));
    }

    #[test]
    fn no_key_is_twice_in_the_table() {
        let mut names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
