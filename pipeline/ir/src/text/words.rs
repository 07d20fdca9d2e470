//! Words and values of the text form that are the same wherever they are printed.

use super::print::int;
use crate::{CounterKind, IdleMode, KeyValue, LabelKind, MatchKind};
use sluice_asic::geometry::CounterFormat;
use sluice_asic::hash::HashAlgorithm;
use sluice_asic::select::SelectorMode;

/// Names of selector modes.
pub(super) const MODES: [(&str, SelectorMode); 3] = [
    ("fair", SelectorMode::Fair),
    ("resilient", SelectorMode::Resilient),
    ("plain_modulo", SelectorMode::PlainModulo),
];
/// Names of counter kinds.
pub(super) const COUNTERS: [(&str, CounterKind); 3] = [
    ("packets", CounterKind::Packets),
    ("bytes", CounterKind::Bytes),
    ("packets_and_bytes", CounterKind::PacketsAndBytes),
];
/// Names of counter formats.
pub(super) const FORMATS: [(&str, CounterFormat); 5] = [
    ("single_32", CounterFormat::Single32),
    ("single_64", CounterFormat::Single64),
    ("both_28_36", CounterFormat::Both28And36),
    ("both_64", CounterFormat::Both64),
    ("both_17_25", CounterFormat::Both17And25),
];
/// Names of match kinds.
pub(super) const MATCHES: [(&str, MatchKind); 4] = [
    ("exact", MatchKind::Exact),
    ("ternary", MatchKind::Ternary),
    ("lpm", MatchKind::Lpm),
    ("range", MatchKind::Range),
];
/// Names of ageing modes.
pub(super) const IDLE_MODES: [(&str, IdleMode); 2] = [("notify", IdleMode::Notify), ("poll", IdleMode::Poll)];
/// Names of label kinds.
pub(super) const LABELS: [(&str, LabelKind); 2] =
    [("drop", LabelKind::Drop), ("consume", LabelKind::Consume)];

/// Returns the name of a value in one of the tables above.
pub(super) fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, v)| v == value).map_or("", |(w, _)| w)
}

/// Returns a key column of an entry.
pub(super) fn column(value: KeyValue) -> String {
    match value {
        KeyValue::Exact(v) => int(v),
        KeyValue::Ternary { value, mask } => masked(value, mask, None),
        KeyValue::Lpm { value, len } => format!("{} / {len}", int(value)),
        KeyValue::Range { lo, hi } => format!("{} .. {}", int(lo), int(hi)),
    }
}

/// Returns a value under a mask: `_` for any value, the bare value under the mask `full`.
pub(super) fn masked(value: u128, mask: u128, full: Option<u128>) -> String {
    match (value, mask) {
        (0, 0) => "_".to_owned(),
        (v, m) if Some(m) == full => int(v),
        (v, m) => format!("{} &&& {}", int(v), int(m)),
    }
}

/// Returns an algorithm by its listed name, or with all its parameters.
pub(super) fn algorithm(algorithm: &HashAlgorithm) -> String {
    match (algorithm.name(), algorithm) {
        (Some(listed), _) => listed.to_owned(),
        (None, HashAlgorithm::Random { seed }) => format!("random({})", int((*seed).into())),
        (None, HashAlgorithm::Crc(c)) => {
            let values = [c.poly(), c.init(), c.xor_out()].map(|v| format!("{v:#x}"));
            let [poly, init, xor_out] = values;
            let reflect = u8::from(c.reflect());
            format!("crc({}, {poly}, {reflect}, {init}, {xor_out})", c.width())
        }
        // Every identity and XOR fold has a listed name.
        (None, HashAlgorithm::Identity | HashAlgorithm::Xor(_)) => "identity".to_owned(),
    }
}
