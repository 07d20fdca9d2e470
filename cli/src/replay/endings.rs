//! Packets that ended inside: reason, meaning, and how to keep packets from it.

use crate::explain;
use sluice_asic::tm::buffer::Rule;
use sluice_fabric::network::LinkDrop;
use sluice_ir::Program;
use sluice_replay::{Counts, Summary};
use sluice_switch::DeviceDrop;

/// Packets that ended inside for one reason.
#[derive(Clone)]
pub(super) struct Ending {
    pub(super) reason: String,
    pub(super) packets: u64,
    /// `dropped` or `absorbed`.
    pub(super) word: &'static str,
    pub(super) meaning: String,
    /// How to keep packets from it; only of reasons of the device.
    pub(super) help: Option<String>,
}

/// Returns the reasons of a summary, drops first; labels are those of the programs.
pub(super) fn endings(programs: &[&Program], s: &Summary) -> Vec<Ending> {
    let of = |counts: &Counts, word| -> Vec<Ending> {
        counts
            .iter()
            .map(|(reason, packets)| ending(programs, s, (reason.as_str(), *packets, word)))
            .collect()
    };
    [of(&s.drops, "dropped"), of(&s.absorbed, "absorbed")].concat()
}

fn ending(programs: &[&Program], s: &Summary, (reason, packets, word): (&str, u64, &'static str)) -> Ending {
    let device = DeviceDrop::TABLE.iter().find(|(_, name, ..)| *name == reason).map(|d| (d.2, d.3));
    let rule = Rule::TABLE.iter().find(|(_, name, ..)| *name == reason).map(|r| (r.2, r.3));
    let link = LinkDrop::TABLE.iter().find(|(_, name, ..)| *name == reason).map(|r| (r.2, r.3));
    let device = device.or(rule).or(link);
    let label = programs.iter().flat_map(|p| p.labels.values()).find(|l| l.name == reason);
    let own = || explain::absorbed(reason).filter(|_| word == "absorbed");
    let meaning = device.map(|d| d.0).or(label.map(|l| l.doc.as_str())).or_else(own).unwrap_or("");
    let help = device.map(|(_, help)| match unobeyed_pauses(reason, s) {
        Some(sent) => format!(
            "--obey-pfc, because the switch sent {sent} PFC frames and the senders of the captures did not \
             stop;\n              if drops remain, {help}"
        ),
        None => help.to_owned(),
    });
    Ending { reason: reason.to_owned(), packets, word, meaning: meaning.to_owned(), help }
}

/// Returns the number of PFC frames that were sent, if packets were dropped for a reason that obeying them prevents and no
/// sender obeyed.
fn unobeyed_pauses(reason: &str, s: &Summary) -> Option<u64> {
    let lossless =
        Rule::TABLE.iter().filter(|(rule, ..)| matches!(rule, Rule::PgHeadroom | Rule::HeadroomPool));
    let is_headroom = lossless.into_iter().any(|(_, name, ..)| *name == reason);
    let sent = s.created.pfc;
    (is_headroom && sent > 0 && s.obey_pfc.is_none()).then_some(sent)
}
