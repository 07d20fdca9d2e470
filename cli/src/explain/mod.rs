//! `sluice explain WORD`: meanings of the words of the output. Texts come from the declarations of the words, and from
//! [`vocabulary`] for words that nothing declares.

mod args;
mod headroom;
mod pages;
mod ports;
mod properties;
mod vocabulary;

pub(crate) use args::ExplainArgs;

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::open::buffer_profile;
use crate::open::resolve;
use serde::Serialize;
use serde_json::json;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::names::nearest;
use sluice_asic::tm::buffer::{Check, DECISIONS, Rule};
use sluice_build::params::Params as _;
use sluice_catalogue::Catalogue;
use sluice_fabric::network::LinkDrop;
use sluice_hashing::explain::Question;
use sluice_ir::{Intrinsic, LabelKind};
use sluice_replay::filter_names;
use sluice_switch::DeviceDrop;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use vocabulary::VOCABULARY;

/// A word, its kind and its meaning.
#[derive(Serialize)]
struct Word {
    word: String,
    kind: &'static str,
    text: String,
    /// Advice, or the origin of the word.
    more: String,
}

/// Prints a buffer profile as a TOML file, which is how files of SONiC are taken over.
fn buffer(name: &str, args: &ExplainArgs, chip: &ChipSpec, as_json: bool) -> Result<(), Failure> {
    let names = args.port_map.as_deref().map(resolve::port_names).transpose()?;
    let file = buffer_profile::profile(name, chip, Path::new(""), names.as_deref())?;
    let text = file.to_toml().map_err(Failure::input)?;
    let mut out = Out::new();
    if as_json {
        let value = json!({ "schema": "sluice.buffer-profile/1", "name": file.name, "notes": file.notes, "toml": text });
        writeln!(out, "{value}")?;
    } else {
        write!(out, "{text}")?;
    }
    Ok(())
}

/// Prints the meaning of a word, or all words.
pub(crate) fn run(args: &ExplainArgs, catalogue: &Catalogue, as_json: bool) -> Result<(), Failure> {
    let word = (!args.word.is_empty()).then(|| args.word.join(" "));
    let word = word.as_deref();
    if word == Some("hashing") {
        return hashing(args, as_json);
    }
    if let Some((key, _)) = args.sets.first() {
        let help = "only `sluice explain hashing` takes --set";
        return Err(Failure::with_help(format!("--set {key} has no effect on this word"), help));
    }
    let chip = resolve::chip(&args.chip)?;
    if word == Some("ports") {
        return ports::run(
            &resolve::ports(&chip, args.port_speed, args.port_map.as_deref())?,
            &chip.name,
            as_json,
        );
    }
    if let [word, name] = args.word.as_slice()
        && word == "buffer"
    {
        return buffer(name, args, &chip, as_json);
    }
    if args.port_map.is_some() {
        let help = "for example `sluice explain ports --port-map port_config.ini`";
        return Err(Failure::with_help("--port-map needs the word `ports`, or `buffer` and a profile", help));
    }
    if args.port_speed.is_some() {
        let help = "for example `sluice explain ports --port-speed 100G`";
        return Err(Failure::with_help("--port-speed needs the word `ports`", help));
    }
    if word == Some("headroom") && args.headroom.any() {
        return crate::explain::headroom::run(&args.headroom, &chip, as_json);
    }
    if args.headroom.any() {
        let help = "for example `sluice explain headroom --speed 100G --cable 300m`";
        return Err(Failure::with_help(
            "--speed, --cable and the other headroom options need the word `headroom`",
            help,
        ));
    }
    let words = words(catalogue, &chip)?;
    let mut out = Out::new();
    let Some(wanted) = word else {
        if as_json {
            writeln!(out, "{}", json!({ "schema": "sluice.explain/1", "words": words }))?;
            return Ok(());
        }
        for kind in kinds(&words) {
            writeln!(out, "{kind}:")?;
            let mut seen = BTreeSet::new();
            for w in words.iter().filter(|w| w.kind == kind && seen.insert(&w.word)) {
                writeln!(out, "  {}", w.word)?;
            }
        }
        return Ok(());
    };
    let found: Vec<&Word> = words.iter().filter(|w| w.is(wanted)).collect();
    if found.is_empty() {
        return Err(unknown(wanted, &words));
    }
    if as_json {
        writeln!(out, "{}", json!({ "schema": "sluice.explain/1", "words": found }))?;
        return Ok(());
    }
    for w in found {
        writeln!(out, "{} ({})\n  {}", w.word, w.kind, w.text)?;
        if !w.more.is_empty() {
            writeln!(out, "  {}", w.more)?;
        }
    }
    Ok(())
}

impl Word {
    /// Returns true if a user means this word: in any case, with blanks for `_` and `-`, by its kind, or by the part of a key after
    /// the dot.
    fn is(&self, wanted: &str) -> bool {
        let last = self.word.rsplit('.').next().unwrap_or(&self.word);
        self.kind == wanted || [self.word.as_str(), last].iter().any(|word| plain(word) == plain(wanted))
    }
}

/// Returns a word in small letters, with blanks for `_` and `-`; a word of these signs alone stays as it is.
fn plain(word: &str) -> String {
    let words = word.split(['_', '-', ' ']).filter(|part| !part.is_empty());
    let plain = words.collect::<Vec<_>>().join(" ").to_lowercase();
    if plain.is_empty() { word.to_owned() } else { plain }
}

/// Joins words of one kind with one text: their origins become a list.
fn joined(list: Vec<Word>) -> Vec<Word> {
    const BY: &str = " in program ";
    let mut joined: Vec<Word> = Vec::new();
    for word in list {
        let same = |w: &&mut Word| w.word == word.word && w.kind == word.kind && w.text == word.text;
        let Some(old) = joined.iter_mut().find(same) else {
            joined.push(word);
            continue;
        };
        match (old.more.split_once(BY), word.more.split_once(BY)) {
            (Some((what, _)), Some((other, name))) if what == other => {
                old.more.push_str(&format!(", {name}"));
            }
            _ if old.more == word.more => {}
            _ => joined.push(word),
        }
    }
    joined
}

/// Plans hashing for the inputs of `--set` and prints the plan with its reasons.
fn hashing(args: &ExplainArgs, as_json: bool) -> Result<(), Failure> {
    let mut question = Question::default();
    for (key, value) in &args.sets {
        question.set(key, value).map_err(Failure::input)?;
    }
    let (sections, params) = (question.account(), question.list());
    let mut out = Out::new();
    if as_json {
        let params: BTreeMap<String, String> = params.into_iter().map(|p| (p.key, p.value)).collect();
        let sections: Vec<_> =
            sections.iter().map(|s| json!({ "title": s.title, "lines": s.lines })).collect();
        let all =
            json!({ "schema": "sluice.explain/1", "hashing": { "params": params, "sections": sections } });
        writeln!(out, "{all}")?;
        return Ok(());
    }
    for section in sections {
        writeln!(out, "{}", section.title)?;
        for line in section.lines {
            writeln!(out, "  {line}")?;
        }
    }
    writeln!(out, "\nplanned for (--set key=value):")?;
    for p in params {
        writeln!(out, "  {} = {}\n      {}", p.key, p.value, p.help())?;
    }
    Ok(())
}

fn kinds(words: &[Word]) -> Vec<&'static str> {
    let mut kinds: Vec<&'static str> = Vec::new();
    for w in words {
        if !kinds.contains(&w.kind) {
            kinds.push(w.kind);
        }
    }
    kinds
}

fn unknown(wanted: &str, words: &[Word]) -> Failure {
    let lower = plain(wanted);
    let names = || words.iter().map(|w| w.word.as_str());
    let contains = |w: &&str| {
        let known = plain(w);
        known.contains(&lower) || known.len() > 3 && lower.contains(&known)
    };
    let mut close: Vec<&str> = nearest(&wanted.replace(' ', "_"), names()).into_iter().collect();
    for word in names().filter(contains) {
        if close.len() < 5 && !close.contains(&word) {
            close.push(word);
        }
    }
    let help = if close.is_empty() {
        "`sluice explain` lists all words".to_owned()
    } else {
        format!("did you mean {}? `sluice explain` lists all words", close.join(", "))
    };
    Failure::with_help(format!("there is no explanation of `{wanted}`"), help)
}

fn words(catalogue: &Catalogue, chip: &ChipSpec) -> Result<Vec<Word>, Failure> {
    let mut list = Vec::new();
    for (_, name, text, help) in DeviceDrop::TABLE {
        list.push(Word {
            word: name.into(),
            kind: "drop reason",
            text: text.into(),
            more: format!("try: {help}"),
        });
    }
    for (_, name, text, help) in LinkDrop::TABLE {
        let more = format!("in networks; try: {help}");
        list.push(Word { word: name.into(), kind: "drop reason", text: text.into(), more });
    }
    for (rule, name, text, help) in Rule::TABLE {
        // Two rules are also reasons of a device without a shared buffer.
        if DeviceDrop::TABLE.iter().any(|(_, known, ..)| *known == name) {
            continue;
        }
        let side = if rule.is_egress() { "its queue's side" } else { "its priority group's side" };
        let more = format!("with --buffer, on {side}; try: {help}");
        list.push(Word { word: name.into(), kind: "drop reason", text: text.into(), more });
    }
    for d in DECISIONS {
        list.push(Word {
            word: d.id.into(),
            kind: "buffer decision",
            text: format!("{}: {}", d.question, d.taken),
            more: format!("key of a buffer profile: {}", d.switch),
        });
    }
    for (check, name, accepted) in Check::TABLE {
        let text = match accepted {
            Some(then) => format!("a check of buffer profiles. A profile may accept that it fails: {then}"),
            None => "a check that every buffer profile must pass".to_owned(),
        };
        debug_assert_eq!(check.name(), name);
        list.push(Word { word: name.into(), kind: "buffer check", text, more: String::new() });
    }
    for (name, text, aside) in properties::properties() {
        let more = if aside.is_empty() { String::new() } else { format!("not judged: {aside}") };
        list.push(Word { word: name.into(), kind: "property", text: text.into(), more });
    }
    list.push(Word {
        word: "headroom".into(),
        kind: "buffer word",
        text: "buffer of a lossless priority group for the frames that arrive after it has asked for a pause"
            .into(),
        more: "its arithmetic: sluice explain headroom --speed 100G --cable 300m".into(),
    });
    for stage in catalogue.programs() {
        list.push(Word {
            word: stage.name().into(),
            kind: "program",
            text: stage.summary().into(),
            more: String::new(),
        });
        let program = stage.build(&[]).map_err(Failure::input)?;
        for label in program.labels.values() {
            let kind = if label.kind == LabelKind::Drop { "drop reason" } else { "purpose" };
            let more = format!("named in program {}", stage.name());
            list.push(Word { word: label.name.clone(), kind, text: label.doc.clone(), more });
        }
        for c in program.counters.values() {
            let more = format!("counts {:?} in program {}", c.kind, stage.name());
            list.push(Word { word: c.name.clone(), kind: "counter", text: c.doc.clone(), more });
        }
        for r in program.registers.values() {
            let more = format!("elements of {} bits in program {}", r.format, stage.name());
            list.push(Word { word: r.name.clone(), kind: "register", text: r.doc.clone(), more });
        }
        for m in program.meters.values() {
            let more = format!("of kind {} in program {}", m.kind.word(), stage.name());
            list.push(Word { word: m.name.clone(), kind: "meter", text: m.doc.clone(), more });
        }
    }
    for column in Column::ALL {
        let available = column.available(&chip.mau);
        list.push(Word {
            word: column.id().into(),
            kind: "report column",
            text: format!("{}: units of a stage in use", column.vendor_name()),
            more: format!("{available} per stage on {}", chip.name),
        });
    }
    for row in Intrinsic::TABLE {
        let text = format!("{} bits on Tofino, {} on Tofino 2", row.tofino, row.tofino2);
        let more = row.field.note().unwrap_or_default().to_owned();
        list.push(Word { word: row.name.into(), kind: "intrinsic metadata", text, more });
    }
    for (word, text) in SUMMARY {
        list.push(Word { word: word.into(), kind: "summary key", text: text.into(), more: String::new() });
    }
    for a in &chip.assumptions {
        let more = format!("{} on {}; why: {}", a.value, chip.name, a.why);
        list.push(Word { word: a.id.clone(), kind: "assumption", text: a.text.clone(), more });
    }
    for (column, short) in Column::ALL.into_iter().zip(sluice_report::COLUMN_HEADINGS) {
        let text =
            format!("{}: units of a stage in use; report column {}", column.vendor_name(), column.id());
        list.push(Word { word: short.into(), kind: "report heading", text, more: String::new() });
    }
    for (name, text) in pages::numbers() {
        list.push(Word { word: name, kind: "number of a contest", text, more: String::new() });
    }
    for (table, text) in pages::sonic_tables() {
        let text = format!("a table of SONiC: {text}");
        list.push(Word { word: table.into(), kind: "table of SONiC", text, more: String::new() });
    }
    for (word, text) in filter_names() {
        let more = "for example sluice replay PROGRAM --trace --where 'table == acl && port == 3'".to_owned();
        list.push(Word { word: word.into(), kind: "name in --where", text: text.into(), more });
    }
    for (kind, words) in VOCABULARY {
        list.extend(words.iter().map(|(word, text)| Word {
            word: (*word).into(),
            kind,
            text: (*text).into(),
            more: String::new(),
        }));
    }
    Ok(joined(list))
}

/// Reasons for which a switch itself absorbs packets.
const MAC_CONTROL: &str = "PFC and PAUSE frames that the switch's MACs took and obeyed; only with --buffer";
const DIGEST: &str = "digests that the control plane took";

/// Returns the meaning of a reason for which a switch, not its program, absorbs packets.
pub(crate) fn absorbed(reason: &str) -> Option<&'static str> {
    match reason {
        "mac_control" => Some(MAC_CONTROL),
        "digest" => Some(DIGEST),
        _ => None,
    }
}

/// Keys of summary.json.
const SUMMARY: [(&str, &str); 26] = [
    ("packets.in", "frames taken off the wires of the inputs"),
    ("packets.created", "packets made inside the switch; a multicast to n members creates n-1"),
    ("created.mirror", "copies made for mirror sessions"),
    ("created.multicast", "copies of multicast packets beyond the packet itself, those for the CPU included"),
    ("created.digest", "digests made for the control plane; each is absorbed by it"),
    ("created.pktgen", "packets made by packet generators; a run does not wait for them"),
    ("packets.out", "frames sent on external ports, the CPU port included"),
    ("packets.dropped", "packets lost, by reason in `drops`"),
    ("packets.absorbed", "packets that the program consumed on purpose, by purpose in `absorbed`"),
    ("packets.held", "packets still inside when the run ended, by place in `held`"),
    ("recirculated", "passes over a recirculation port; they create no packet"),
    ("resubmitted", "second ingress passes; they create no packet"),
    ("latency_ns", "first bit in to first bit out, ns; null without time"),
    ("ports", "frames and bytes in and out of every external port that saw any"),
    ("queues", "per queue that saw a packet: enqueued, dropped, most cells held"),
    (
        "ndr",
        "with --find-ndr: the highest rate without loss in bit/s on the wire and packets/s, with its trials",
    ),
    ("violations", "stated properties that failed"),
    ("registers", "per register and pipe: elements that differ from their first value, a few of them shown"),
    ("readings", "what `register_read` and `counter_read` found, with time and pipe"),
    ("counters", "cells of the program's counters that are not 0"),
    ("hits", "lookups of tables with entries: table, slot of the entry (null: none matched), packets"),
    ("created.pfc", "PFC frames that the switch's MACs sent"),
    ("absorbed.mac_control", MAC_CONTROL),
    ("absorbed.digest", DIGEST),
    (
        "buffer",
        "with --buffer: priority groups, queues, PFC and watchdog with watermarks in bytes of cells, else null",
    ),
    (
        "flow_control_words",
        "flow-control words of programs (Tofino 2) that reached queues, by pipe; `seen`: what the pipe's visibility FIFO of \
         eight entries has, `lost`: what came while it was full, `register`: an entry as a driver reads it",
    ),
];
