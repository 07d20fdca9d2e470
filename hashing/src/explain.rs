//! Explains a plan in plain words: the choices, and why alternatives lost.

use super::budget::{Limits, allocate};
use super::colour;
use super::coprime::{Candidate, NoSize, Request, Verdict, choose};
use super::demand::{Demand, FUNCTIONS_ON_CHIP};
use super::graph::DecisionGraph;
use super::replan::{degraded, moved, replan};
use super::replicas::Order;
use super::values::NumberList;
use super::wcmp::Method;
use super::weighted;
use sluice_asic::select::SelectorMode;
use sluice_build::params;

/// Parameters of a plan. Every key has a default.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Question {
    /// Stages of the Clos, counted from the edge
    #[param(range = 1..=9)]
    pub stages: u32,
    /// Server blocks of a mesh without spine, or sites of a WAN
    #[param(range = 2..=1_000)]
    pub blocks: u32,
    /// Uncorrelated hash functions that the switches have
    #[param(range = 1..=64)]
    pub functions: u32,
    /// Ports of the group
    #[param(range = 1..=512)]
    pub ports: u32,
    /// Sizes of groups on correlated switches, on one path
    #[param(expects = "a comma-separated list of numbers, or none")]
    pub upstream: NumberList,
    /// Bits of the hash that the modulo sees: 14 on Tofino, 16 on RTAG7
    #[param(range = 8..=20)]
    pub hash_bits: u32,
    /// Most members of one group: 120 is a Tofino's selector word
    #[param(range = 1..=4_096)]
    pub width: u32,
    /// Largest variation of shares, in thousandths
    #[param(range = 1..=1_000)]
    pub target: u32,
    /// Order of replicas
    #[param(expects = "interleaved or blocked")]
    pub order: Order,
    /// Weights of the ports, for a weighted group
    #[param(expects = "a comma-separated list of numbers, or none")]
    pub weights: NumberList,
    /// Method that turns weights into members
    #[param(expects = "naive, split or largest-remainder")]
    pub method: Method,
    /// Groups in one member table of 49,152 entries (3,968 groups, 512 members each)
    #[param(range = 1..=3_968)]
    pub groups: u32,
}

impl Default for Question {
    fn default() -> Self {
        Question {
            stages: 5,
            blocks: 32,
            functions: FUNCTIONS_ON_CHIP,
            ports: 8,
            upstream: NumberList(vec![8]),
            hash_bits: 14,
            width: 120,
            target: 50,
            order: Order::Interleaved,
            weights: NumberList(vec![3, 1]),
            method: Method::Split,
            groups: 1_000,
        }
    }
}

/// A section of the explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Title of the section.
    pub title: &'static str,
    /// Sentences.
    pub lines: Vec<String>,
}

impl Question {
    /// Returns the whole explanation.
    #[must_use]
    pub fn account(&self) -> Vec<Section> {
        let request = self.request();
        let choice = choose(&request);
        vec![
            Section { title: "functions", lines: self.functions() },
            Section { title: "recombining", lines: self.recombining() },
            Section { title: "coprime size", lines: self.size(&choice) },
            Section { title: "failure of one port", lines: self.failure(&request, &choice) },
            Section { title: "weights", lines: self.weights() },
            Section { title: "member table", lines: self.table(&choice) },
            Section {
                title: "patents",
                lines: vec![
                    "coprime group sizes between correlated switches are claimed by US 11223561 and US 12088500"
                        .to_owned(),
                ],
            },
        ]
    }

    fn request(&self) -> Request {
        Request {
            ports: self.ports,
            paths: if self.upstream.0.is_empty() { Vec::new() } else { vec![self.upstream.0.clone()] },
            hash_bits: self.hash_bits,
            width: self.width,
            entries: self.width,
            target: Some(self.target),
            order: self.order,
        }
    }

    fn functions(&self) -> Vec<String> {
        let say = |what: String, demand: Demand| {
            let (needed, have) = (demand.needed, self.functions);
            match demand.missing(have) {
                0 => format!(
                    "{what}: {needed} functions needed, {have} available: one per switch of a path is enough"
                ),
                missing => format!("{what}: {needed} functions needed, {have} available: {missing} missing"),
            }
        };
        let clos = Demand::clos(self.stages);
        vec![
            say(format!("Clos of {} stages, {} switches on a path", self.stages, clos.switches), clos),
            say(format!("mesh of {} blocks", self.blocks), Demand::mesh(self.blocks)),
        ]
    }

    fn recombining(&self) -> Vec<String> {
        if self.stages != 5 {
            return vec![format!("worked out for the five-stage Clos only, not for {} stages", self.stages)];
        }
        let graph = DecisionGraph::clos5(2, 2);
        let pinned = graph.pinned();
        let name = |p: &usize| graph.points.get(*p).map_or("", |point| point.name);
        let fewest = colour::count(&colour::fewest(&pinned));
        let mut lines =
            vec![format!("{fewest} colours are the fewest; {} functions are there", self.functions)];
        let Some(colours) = colour::recombine(&pinned, self.functions as usize) else {
            lines.push("too few: take coprime sizes with one function".to_owned());
            return lines;
        };
        for (k, (colour, forbidden)) in colours.iter().zip(&pinned).enumerate() {
            let pins: Vec<&str> = forbidden.iter().map(name).collect();
            let pins = if pins.is_empty() { "nothing".to_owned() } else { pins.join(" and ") };
            lines.push(format!("{}: function {}; pinned there: {pins}", name(&k), colour + 1));
        }
        lines
    }

    fn size(&self, choice: &Result<super::coprime::Choice, NoSize>) -> Vec<String> {
        let (mut lines, candidates) = match choice {
            Ok(choice) => {
                let chosen = choice.candidates.iter().find(|c| c.members == choice.members);
                let precision = chosen.map_or_else(String::new, |c| format!(", precision {}", c.precision));
                let verdict = chosen.map_or_else(String::new, |c| c.verdict.to_string());
                let (from, all) = (choice.members, self.ports);
                let (changed, of) = moved(self.hash_bits, all, all, from, self.order);
                let percent = u64::from(changed) * 100 / u64::from(of.max(1));
                (
                    vec![
                        format!("{} members for {} ports{precision}: {verdict}", choice.members, self.ports),
                        format!("going there from {all} members moves {percent} % of the flows"),
                    ],
                    choice.candidates.as_slice(),
                )
            }
            Err(NoSize::NoneFits { candidates, .. }) => {
                let why = choice.as_ref().err().map_or_else(String::new, ToString::to_string);
                (vec![why], candidates.as_slice())
            }
            Err(other) => (vec![other.to_string()], &[][..]),
        };
        lines.extend(losers(candidates));
        lines
    }

    fn failure(&self, request: &Request, choice: &Result<super::coprime::Choice, NoSize>) -> Vec<String> {
        let Ok(choice) = choice else { return vec!["no group to fail".to_owned()] };
        let mut lines = Vec::new();
        for (name, mode) in [("fair", SelectorMode::Fair), ("resilient", SelectorMode::Resilient)] {
            lines.push(match degraded(request, choice.members, self.ports - 1, mode) {
                None => format!("{name}: {} members are more than one selector word holds", choice.members),
                Some(d) => {
                    let shared = match d.shared {
                        1 => "coprime with the sizes upstream".to_owned(),
                        factor => format!("sharing the factor {factor} with a size upstream"),
                    };
                    let percent = (d.moved * 100) >> 14;
                    format!(
                        "{name}: divides by {}, {shared}; moves {percent} % of all flows besides those of the port",
                        d.divisor
                    )
                }
            });
        }
        lines.push(match replan(request, 1) {
            Ok(new) => format!("planned anew for {} ports: {} members", self.ports - 1, new.members),
            Err(e) => format!("planned anew: {e}"),
        });
        lines
    }

    fn weights(&self) -> Vec<String> {
        if self.weights.0.is_empty() {
            return vec!["no weights were given".to_owned()];
        }
        match weighted::plan(&self.weights.0, self.method, None, &self.request()) {
            Err(e) => vec![e.to_string()],
            Ok(plan) => {
                let mut lines = vec![format!(
                    "{:?} by {}: {} members as {:?}, CV {}",
                    self.weights.0, self.method, plan.size, plan.members, plan.cv
                )];
                let other = |e: &super::wcmp::Expansion| {
                    format!("{} would give {:?}, CV {}", e.method, e.members, e.cv)
                };
                lines.extend(plan.others.iter().map(other));
                lines.extend(plan.notes);
                lines
            }
        }
    }

    fn table(&self, choice: &Result<super::coprime::Choice, NoSize>) -> Vec<String> {
        let Ok(choice) = choice else { return vec!["no size to fill the table with".to_owned()] };
        // Coprime sizes from the chosen one down, most precise first.
        let coprime = |c: &&Candidate| {
            c.members <= choice.members && !matches!(c.verdict, Verdict::CommonFactor { .. })
        };
        let mut sizes: Vec<(super::cv::Cv, u32)> =
            choice.candidates.iter().filter(coprime).map(|c| (c.precision, c.members)).collect();
        sizes.sort();
        let sizes: Vec<u32> = sizes.into_iter().map(|(_, q)| q).collect();
        match allocate(self.groups, &sizes, Limits::PINS) {
            Err(e) => vec![e.to_string()],
            Ok(given) => {
                let mut counts: std::collections::BTreeMap<u32, u32> = std::collections::BTreeMap::new();
                given.iter().for_each(|q| *counts.entry(*q).or_default() += 1);
                let total: u32 = given.iter().sum();
                let mut lines = vec![format!("{total} of {} entries", Limits::PINS.members)];
                lines.extend(counts.iter().rev().map(|(q, n)| format!("{n} groups of {q} members")));
                lines
            }
        }
    }
}

/// Returns the reasons for which sizes lost, one line for each reason.
fn losers(candidates: &[Candidate]) -> Vec<String> {
    let reason = |c: &Candidate| match &c.verdict {
        Verdict::Chosen { .. } => None,
        Verdict::Dearer => Some("would do, but take more entries"),
        Verdict::CommonFactor { .. } => Some("share a factor with a size upstream"),
        Verdict::Imprecise => Some("have shares too uneven for the target"),
        Verdict::HashTooShort { .. } => Some("need more values than the hash has"),
    };
    let mut by_reason: Vec<(&str, Vec<u32>)> = Vec::new();
    for c in candidates {
        let Some(why) = reason(c) else { continue };
        match by_reason.iter_mut().find(|(known, _)| *known == why) {
            Some((_, sizes)) => sizes.push(c.members),
            None => by_reason.push((why, vec![c.members])),
        }
    }
    const SHOWN: usize = 12;
    let line = |(why, sizes): (&str, Vec<u32>)| {
        let shown: Vec<String> = sizes.iter().take(SHOWN).map(ToString::to_string).collect();
        let more = sizes.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more} {why}", shown.join(", "))
    };
    by_reason.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_build::params::Params as _;

    fn account(sets: &[(&str, &str)]) -> String {
        let mut question = Question::default();
        sets.iter().for_each(|(k, v)| question.set(k, v).unwrap());
        let sections = question.account();
        sections.iter().flat_map(|s| s.lines.iter().map(|l| format!("{}: {l}\n", s.title))).collect()
    }

    #[test]
    fn the_default_account_names_choice_and_losers() {
        let text = account(&[]);
        for part in [
            "8 functions needed, 6 available: 2 missing",
            "mesh of 32 blocks: 32 functions needed",
            "3 colours are the fewest",
            "s4-up: function 4; pinned there: s2-up and s3-up",
            "coprime size: 55 members for 8 ports, precision 0.0481: chosen",
            "moves 87 % of the flows",
            "share a factor with a size upstream",
            "shares too uneven for the target",
            "resilient: divides by 55",
            "patents: ",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn impossible_questions_are_answered_too() {
        let text =
            account(&[("upstream", "8,57"), ("target", "20"), ("functions", "2"), ("weights", "none")]);
        assert!(text.contains("no size from 8 to 120") && text.contains("take coprime sizes"), "{text}");
        assert!(account(&[("ports", "121")]).contains("do not fit 120 members"));
        let full = account(&[("groups", "3968"), ("hash_bits", "16"), ("stages", "3")]);
        assert!(full.contains("groups of 55 members") && full.contains("groups of 9 members"), "{full}");
        assert!(full.contains("not for 3 stages"));
    }
}
