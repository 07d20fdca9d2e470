//! Tables, their entries and profiles.

use super::{Diag, count, fits};
use crate::{
    ActionCall, Algorithmic, CounterHome, IdleMode, IdleTimeout, Key, KeySource, KeyValue, Loc, MatchKind,
    ProfileData, Program, Table, TableData,
};
use sluice_asic::alu::width_mask;
use sluice_asic::geometry::{ALPM_PARTITIONS, MAX_RANGE_BITS};
use sluice_asic::select::{MAX_WORDS, WORD_SLOTS};
use sluice_asic::units::Duration;
use std::collections::BTreeMap;

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for (t, data) in p.tables.iter() {
        keys(p, data, d);
        actions(p, data, d);
        entries(p, data, d);
        profile_use(data, d);
        direct_counter(p, t, data, d);
        idle(data, d);
        algorithmic(p, data, d);
    }
    for data in p.profiles.values() {
        profile(p, data, d);
    }
    shared_profiles(p, d);
}

fn keys(p: &Program, data: &TableData, d: &mut Vec<Diag>) {
    let name = &data.name;
    if data.size == 0 && !data.keys.is_empty() {
        let text = format!("table `{name}` holds 0 entries");
        d.push(Diag::error(data.loc, text).help("a table with keys holds at least one"));
    }
    let of_kind = |kind: MatchKind| data.keys.iter().filter(|k| k.kind == kind).count();
    let (lpm, ternary) = (of_kind(MatchKind::Lpm), of_kind(MatchKind::Ternary));
    if lpm > 1 {
        let text = format!("table `{name}` has {lpm} lpm keys");
        d.push(
            Diag::error(data.loc, text)
                .help("a table orders entries by one prefix: make the others ternary or exact"),
        );
    }
    if lpm > 0 && ternary > 0 {
        let text = format!("table `{name}` has an lpm key and a ternary key");
        d.push(
            Diag::error(data.loc, text)
                .help("make the lpm key ternary and give longer prefixes lower priority numbers"),
        );
    }
    if lpm > 0 && of_kind(MatchKind::Range) > 0 {
        let text = format!("table `{name}` has an lpm key and a range key");
        d.push(
            Diag::error(data.loc, text)
                .help("make the lpm key ternary and give longer prefixes lower priority numbers"),
        );
    }
    for key in data.keys.iter().filter(|k| k.kind == MatchKind::Range) {
        let width = key.width(p);
        if u32::from(width) > MAX_RANGE_BITS {
            let text = format!("table `{name}` compares the {width} bits of `{}` by range", key.name(p));
            let help = format!(
                "a range takes at most {MAX_RANGE_BITS} bits: slice the field, or match it ternary by prefixes"
            );
            d.push(Diag::error(data.loc, text).help(help));
        }
    }
    for (n, key) in data.keys.iter().enumerate() {
        if let Some(other) = data.keys[..n].iter().find(|k| k.meets(key, p)) {
            let text = if other.what == key.what {
                format!("table `{name}` has `{}` as a key twice", key.name(p))
            } else {
                format!(
                    "table `{name}` has the keys `{}` and `{}`, which have common bits",
                    other.name(p),
                    key.name(p)
                )
            };
            d.push(Diag::error(data.loc, text).help("remove one of them"));
        }
        bits(p, data, key, d);
    }
}

/// Checks the slice and the mask of a key.
fn bits(p: &Program, data: &TableData, key: &Key, d: &mut Vec<Diag>) {
    let mut error = |text: String, help: String| d.push(Diag::error(data.loc, text).help(help));
    let table = &data.name;
    if let KeySource::Slice(field, hi, lo) = key.what {
        let (name, width) = (&p.fields[field].name, p.fields[field].width);
        if hi < lo || hi >= width {
            let text =
                format!("table `{table}` matches bits {hi} to {lo} of `{name}`, which has {width} bits");
            return error(
                text,
                format!("the first bit is the higher one and at most {}", width.saturating_sub(1)),
            );
        }
    }
    let (name, width) = (key.name(p), key.width(p));
    let Some(mask) = key.mask else { return };
    if mask == 0 || !fits(mask, width) {
        let text = format!("table `{table}` compares `{name}` of {width} bits under the mask {mask:#x}");
        error(text, format!("a mask has ones, and at most {width} bits"));
    }
    if !matches!(key.kind, MatchKind::Exact | MatchKind::Ternary) {
        let text = format!("table `{table}` compares `{name}` under a mask as a prefix or a range");
        error(text, "use an exact or a ternary key".to_owned());
    }
}

fn actions(p: &Program, data: &TableData, d: &mut Vec<Diag>) {
    let name = &data.name;
    for (n, &a) in data.actions.iter().enumerate() {
        if data.actions[..n].contains(&a) {
            let text = format!("table `{name}` lists action `{}` twice", p.actions[a].name);
            d.push(Diag::error(data.loc, text).help("remove one of them"));
        }
    }
    if data.actions.is_empty() && !data.keys.is_empty() {
        let text = format!("table `{name}` has keys but no actions");
        d.push(Diag::error(data.loc, text).help("list the actions that its entries may name"));
    }
    call(p, &data.default, &format!("the default action of table `{name}`"), data.loc, d);
}

/// Checks that a call has one fitting value per parameter.
fn call(p: &Program, call: &ActionCall, who: &str, loc: Loc, d: &mut Vec<Diag>) {
    let action = &p.actions[call.action];
    let (found, expected) = (call.args.len(), action.params.len());
    if found != expected {
        let text =
            format!("{who} gives action `{}` {}, expected {expected}", action.name, count(found, "value"));
        let names: Vec<&str> = action.params.iter().map(|x| x.name.as_str()).collect();
        d.push(Diag::error(loc, text).help(format!("its parameters are ({})", names.join(", "))));
    }
    for (&value, param) in call.args.iter().zip(&action.params) {
        if !fits(value, param.width) {
            let (name, width) = (&param.name, param.width);
            let text = format!("{who} gives {value:#x} for parameter `{name}` of {width} bits");
            let most = width_mask(width.into());
            d.push(Diag::error(loc, text).help(format!("the largest value is {most:#x}")));
        }
    }
}

fn entries(p: &Program, data: &TableData, d: &mut Vec<Diag>) {
    let name = &data.name;
    if data.entries.len() > data.size as usize {
        let text =
            format!("table `{name}` has {} constant entries for a size of {}", data.entries.len(), data.size);
        d.push(Diag::error(data.loc, text).help("raise its size"));
    }
    let mut seen = BTreeMap::new();
    for (n, entry) in data.entries.iter().enumerate() {
        let who = format!("entry {n} of table `{name}`");
        if !data.actions.contains(&entry.then.action) {
            let text = format!(
                "{who} runs action `{}`, which the table does not list",
                p.actions[entry.then.action].name
            );
            d.push(Diag::error(data.loc, text).help("add it to the table's actions"));
        }
        call(p, &entry.then, &who, data.loc, d);
        if entry.key.len() != data.keys.len() {
            let text = format!(
                "{who} has {} for {}",
                count(entry.key.len(), "value"),
                count(data.keys.len(), "key")
            );
            d.push(Diag::error(data.loc, text).help("give one value per key"));
        }
        for (value, key) in entry.key.iter().zip(&data.keys) {
            if let Some((wrong, help)) = column(*value, key.kind, key.width(p)) {
                d.push(Diag::error(data.loc, format!("{who} {wrong} `{}`", key.name(p))).help(help));
            } else if let KeyValue::Exact(value) | KeyValue::Ternary { value, .. } = *value
                && value & !key.compared(p) != 0
            {
                let (name, mask) = (key.name(p), key.compared(p));
                let text = format!("{who} has {value:#x} for `{name}`, which is compared under {mask:#x}");
                d.push(Diag::error(data.loc, text).help("clear the bits that are not compared"));
            }
        }
        if let Some(first) = seen.insert(entry.key.clone(), n) {
            let text = format!("{who} never matches: entry {first} has the same key");
            d.push(Diag::error(data.loc, text).help("remove one of them"));
        }
    }
}

/// Returns the mistake of a column, as in "entry 3 … `ipv4.dst`", and how to fix it.
fn column(value: KeyValue, kind: MatchKind, width: u16) -> Option<(String, &'static str)> {
    match (value, kind) {
        (KeyValue::Exact(v), MatchKind::Exact) => (!fits(v, width))
            .then(|| (format!("has {v:#x} for the {width} bits of"), "use a value that fits")),
        (KeyValue::Ternary { value, mask }, MatchKind::Ternary) => {
            if !fits(value, width) || !fits(mask, width) {
                let wrong = format!("has {value:#x} under mask {mask:#x} for the {width} bits of");
                Some((wrong, "use a value and a mask that fit"))
            } else if value & !mask != 0 {
                let wrong = format!("has {value:#x} outside its mask {mask:#x} for");
                Some((wrong, "clear the value's bits that are not in the mask"))
            } else {
                None
            }
        }
        (KeyValue::Lpm { value, len }, MatchKind::Lpm) => {
            if len > width || !fits(value, width) {
                Some((
                    format!("has the prefix {value:#x}/{len} for the {width} bits of"),
                    "use a prefix that fits",
                ))
            } else if value & width_mask(u32::from(width - len)) != 0 {
                Some((
                    format!("has the prefix {value:#x}/{len}, which has bits after its length, for"),
                    "clear the bits after it",
                ))
            } else {
                None
            }
        }
        (KeyValue::Range { lo, hi }, MatchKind::Range) => {
            if !fits(hi, width) {
                let wrong = format!("has the range {lo:#x} .. {hi:#x} for the {width} bits of");
                Some((wrong, "use bounds that fit"))
            } else if lo > hi {
                let wrong = format!("has the range {lo:#x} .. {hi:#x}, which is empty, for");
                Some((wrong, "put the lower bound first"))
            } else {
                None
            }
        }
        (_, MatchKind::Exact) => {
            Some(("has no exact value for the exact key".to_owned(), "give the value alone"))
        }
        (_, MatchKind::Ternary) => Some((
            "has no value and mask for the ternary key".to_owned(),
            "give a value and a mask; all ones for exact",
        )),
        (_, MatchKind::Lpm) => Some((
            "has no prefix for the lpm key".to_owned(),
            "give a value and a length; the full width for exact",
        )),
        (_, MatchKind::Range) => {
            Some(("has no bounds for the range key".to_owned(), "give a lower and an upper bound"))
        }
    }
}

/// Checks ageing: entries are added at run time, the number of bits exists, and the bits can count the time
/// to live.
fn idle(data: &TableData, d: &mut Vec<Diag>) {
    let Some(idle) = data.idle else { return };
    let name = &data.name;
    let mut error = |text: String, help: String| d.push(Diag::error(data.loc, text).help(help));
    if data.keys.is_empty() || !data.entries.is_empty() {
        error(
            format!("table `{name}` ages entries, but takes none at run time"),
            "remove its idle timeout".to_owned(),
        );
    }
    if !IdleTimeout::BITS.contains(&idle.bits) {
        error(
            format!("table `{name}` ages entries with {} bits each", idle.bits),
            "an entry has 1, 2, 3 or 6 bits".to_owned(),
        );
    } else if idle.interval == Duration::ZERO {
        error(
            format!("table `{name}` ages entries by sweeps without an interval"),
            "set the time between two sweeps".to_owned(),
        );
    } else if idle.mode == IdleMode::Notify && idle.sweeps(idle.ttl) > idle.most().into() {
        let (ttl, sweeps, most) = (idle.ttl, idle.sweeps(idle.ttl), idle.interval * u64::from(idle.most()));
        error(
            format!(
                "table `{name}` has a time to live of {ttl}, {sweeps} sweeps, which {} bits do not count",
                idle.bits
            ),
            format!("use more bits, a longer interval, or at most {most}"),
        );
    }
}

/// Checks memories in SRAM for keys that imply TCAM.
fn algorithmic(p: &Program, data: &TableData, d: &mut Vec<Diag>) {
    let Some(kind) = data.algorithmic else { return };
    let name = &data.name;
    let has = |kind: MatchKind| data.keys.iter().any(|k| k.kind == kind);
    let mut error = |text: String, help: &str| d.push(Diag::error(data.loc, text).help(help));
    let partitions = match kind {
        Algorithmic::Alpm { partitions, subtrees } => {
            if !has(MatchKind::Lpm) {
                error(format!("table `{name}` is an ALPM without an lpm key"), "make the prefix an lpm key");
            }
            if subtrees == 0 {
                error(
                    format!("table `{name}` has partitions without subtrees"),
                    "set the number of subtrees; 2 is usual",
                );
            }
            partitions
        }
        Algorithmic::Atcam { partition, partitions } => {
            let exact = |k: &Key| *k == Key::new(partition, MatchKind::Exact);
            if !data.keys.iter().any(exact) {
                let field = &p.fields[partition].name;
                error(
                    format!("table `{name}` is partitioned by `{field}`, which is none of its exact keys"),
                    "add it to the keys as exact",
                );
            }
            if !has(MatchKind::Ternary) && !has(MatchKind::Lpm) {
                error(
                    format!("table `{name}` is an ATCAM, but all its keys are exact"),
                    "leave the ATCAM out: exact keys are in SRAM anyway",
                );
            }
            partitions
        }
    };
    if !ALPM_PARTITIONS.contains(&partitions) {
        error(
            format!("table `{name}` has {partitions} partitions"),
            "a partition index addresses 1024, 2048, 4096 or 8192",
        );
    }
    if has(MatchKind::Range) {
        error(format!("table `{name}` compares a range in SRAM"), "ranges are compared in TCAM only");
    }
}

fn profile_use(data: &TableData, d: &mut Vec<Diag>) {
    if data.profile.is_none() {
        return;
    }
    let name = &data.name;
    if data.keys.is_empty() {
        let text = format!("table `{name}` has a profile but no keys");
        d.push(Diag::error(data.loc, text).help("only entries name members: give it a key"));
    }
    if !data.entries.is_empty() {
        let text = format!("table `{name}` has a profile and constant entries");
        d.push(
            Diag::error(data.loc, text)
                .help("entries of such a table name members, which exist at run time only"),
        );
    }
}

fn direct_counter(p: &Program, t: Table, data: &TableData, d: &mut Vec<Diag>) {
    let mut own = p.counters.values().filter(|c| c.home == CounterHome::Direct(t));
    if let (Some(first), Some(second)) = (own.next(), own.next()) {
        let text =
            format!("table `{}` has two direct counters, `{}` and `{}`", data.name, first.name, second.name);
        let diag = Diag::error(second.loc, text).also(first.loc, "the first one");
        d.push(diag.help("one counter can count packets and bytes"));
    }
}

fn profile(p: &Program, data: &ProfileData, d: &mut Vec<Diag>) {
    let name = &data.name;
    let mut zero = |what: &str| {
        let text = format!("profile `{name}` holds 0 {what}");
        d.push(Diag::error(data.loc, text).help("hold at least one"));
    };
    if data.size == 0 {
        zero("members");
    }
    let Some(s) = &data.selector else { return };
    if s.groups == 0 {
        zero("groups");
    }
    if s.max_group_size == 0 {
        zero("members per group");
    }
    let most = MAX_WORDS * WORD_SLOTS;
    if s.max_group_size > most {
        let text = format!("profile `{name}` has groups of up to {} members", s.max_group_size);
        d.push(Diag::error(data.loc, text).help(format!("a selector takes at most {most}")));
    }
    let several = s.max_group_size > WORD_SLOTS;
    // No hash has more than 64 bits; the remaining bits of the word choice are zero.
    let reads = s.mode.hash_bits(several).map_or(0, |bits| bits.min(64));
    let hash = &p.hashes[s.hash];
    if u32::from(hash.width) < reads {
        let text = format!(
            "hash `{}` of profile `{name}` gives {} bits, but selection among {} members reads {reads}",
            hash.name, hash.width, s.max_group_size
        );
        d.push(
            Diag::warning(data.loc, text)
                .help("the missing bits are zero and do not spread packets: widen the hash"),
        );
    }
}

fn shared_profiles(p: &Program, d: &mut Vec<Diag>) {
    let mut first: BTreeMap<crate::Profile, &TableData> = BTreeMap::new();
    for data in p.tables.values() {
        let Some(profile) = data.profile else { continue };
        let Some(other) = first.get(&profile) else {
            first.insert(profile, data);
            continue;
        };
        let sorted = |t: &TableData| {
            let mut list = t.actions.clone();
            list.sort_unstable();
            list
        };
        if sorted(data) != sorted(other) {
            let name = &p.profiles[profile].name;
            let text = format!(
                "tables `{}` and `{}` share profile `{name}` but list other actions",
                other.name, data.name
            );
            let diag = Diag::error(data.loc, text).also(other.loc, "the other table");
            d.push(diag.help("a member can be reached from both: list the same actions"));
        }
    }
}
