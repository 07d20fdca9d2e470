//! Sentences drawn from the rules are texts that the parser accepts.

use crate::text::grammar::{GRAMMAR, Grammar, Id, Leaf, Node, PRELUDE, TOPICS};
use crate::text::{ParseError, parse};
use sluice_asic::gress::Gress;
use sluice_asic::random::{RandomStream, StreamId};

/// Sentences that the parser must accept.
const SENTENCES: u32 = 2500;
/// Deepest nesting of rules in a sentence, and its length in bytes; beyond them the shortest alternatives are taken.
const DEPTH: u32 = 24;
const LENGTH: usize = 400;

#[test]
fn the_parser_accepts_sentences_of_the_rules() {
    let mut drawn = Sentences::new();
    let (mut accepted, mut redrawn) = (0, 0);
    // Sentences are drawn until every part of every rule was there.
    while accepted < SENTENCES || accepted < 20 * SENTENCES && drawn.has_unused() {
        let (version, sentence) = drawn.sentence();
        let text = format!("{version}\n{PRELUDE}{sentence}");
        match parse(&text) {
            Ok(_) => {
                accepted += 1;
                drawn.keep();
            }
            Err(e) if is_about_values(&e) => redrawn += 1,
            Err(e) => panic!("{e}\n{sentence}"),
        }
    }
    assert!(redrawn < accepted, "{redrawn} sentences have impossible values");
    let never: Vec<String> = drawn.unused();
    assert_eq!(never, Vec::<String>::new(), "parts of rules that no accepted sentence has");
}

/// Returns true if the parser refuses a value or an index, and not a token: the rules do not say which numbers fit.
pub(super) fn is_about_values(e: &ParseError) -> bool {
    e.found.contains("which has no such result")
        || e.found.starts_with("the value ")
        || e.expected.starts_with("a value from ")
        || e.expected.starts_with("each index from 0 to ")
        || e.help == "nothing is selected on in this column"
}

/// Draws sentences and counts the parts of rules that they use.
struct Sentences {
    random: RandomStream,
    /// Least depth of the rules below each node.
    least: Vec<u32>,
    /// Accepted sentences that use a node; of a node that may be missing or is repeated, `absent` counts those without it.
    used: Vec<u32>,
    absent: Vec<u32>,
    /// Sentences that use a node, accepted or not.
    tried: Vec<u32>,
    /// Nodes of the sentence that is drawn.
    now: Vec<(Id, bool)>,
    names: u32,
    text: String,
}

/// The rule that is drawn, the rule in which its numbers stand, and how deep it is.
#[derive(Clone, Copy)]
struct Draw {
    rule: &'static str,
    number_of: &'static str,
    depth: u32,
}

impl Sentences {
    fn new() -> Self {
        let stream = StreamId { switch: 0, pipe: 0, gress: Gress::Ingress, instance: 0 };
        let random = RandomStream::new(7, stream);
        let count = GRAMMAR.nodes.len();
        let [used, absent, tried] = [(); 3].map(|()| vec![0; count]);
        let (now, text) = Default::default();
        Sentences { random, least: least(&GRAMMAR), used, absent, tried, now, names: 0, text }
    }

    /// Draws a version and a declaration.
    fn sentence(&mut self) -> (String, String) {
        self.now.clear();
        let Some(Node::Sequence(parts)) = GRAMMAR.node(rule("file")) else { panic!("a file has two parts") };
        let drawn = [0, 1].map(|part| {
            self.text.clear();
            self.draw(parts[part], Draw { rule: "file", number_of: "file", depth: 0 });
            std::mem::take(&mut self.text)
        });
        self.now.push((rule("file"), true));
        let [version, sentence] = drawn;
        (version, sentence)
    }

    /// Counts the nodes of an accepted sentence.
    fn keep(&mut self) {
        for (id, there) in std::mem::take(&mut self.now) {
            let counts = if there { &mut self.used } else { &mut self.absent };
            counts[id as usize] += 1;
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.draw(32) as usize % bound
    }

    fn is_full(&self, depth: u32) -> bool {
        depth >= DEPTH || self.text.len() > LENGTH
    }

    fn push(&mut self, token: &str) {
        // `16w` and the parenthesis are next to each other.
        if !self.text.is_empty() && !self.text.ends_with('w') {
            self.text.push(' ');
        }
        self.text.push_str(token);
    }

    fn draw(&mut self, id: Id, place: Draw) {
        self.now.push((id, true));
        self.tried[id as usize] += 1;
        match GRAMMAR.node(id).unwrap() {
            Node::Word(text) | Node::Punct(text) => self.push(text),
            Node::Class(class) => self.token(class, place),
            Node::Rule(number) => {
                let (name, _) = GRAMMAR.names.iter().find(|(_, n)| *n == number).unwrap();
                // A number is as large as the rule allows in which it stands.
                let number_of = match (*name, place.rule) {
                    ("number", "index") => place.number_of,
                    ("number" | "index", rule) => rule,
                    (name, _) => name,
                };
                let rule = *name;
                self.draw(GRAMMAR.rules[*number], Draw { rule, number_of, depth: place.depth + 1 });
            }
            Node::Sequence(parts) => parts.iter().for_each(|&part| self.draw(part, place)),
            Node::OneOf(parts) => {
                // Most kinds of declarations are entities.
                let part = match parts.last() {
                    Some(&entity) if place.rule == "declaration" && self.below(8) > 0 => entity,
                    _ => self.choose(parts, place.depth),
                };
                self.draw(part, place);
            }
            Node::Maybe(part) => {
                if self.wants(id, place.depth) {
                    self.draw(*part, place);
                } else {
                    self.now.push((id, false));
                }
            }
            Node::Repeat(part) => {
                let most = if self.is_full(place.depth) { 0 } else { 3 };
                let times = if place.rule == "file" { 1 } else { self.below(most + 1) };
                if times == 0 || place.rule == "file" {
                    self.now.push((id, false));
                }
                (0..times).for_each(|_| self.draw(*part, place));
            }
            Node::Settings(leaves) => self.settings(leaves, place),
        }
    }

    /// Chooses a part: the one that was used least, or any one; at the greatest depth one of the shallowest.
    fn choose(&mut self, parts: &[Id], depth: u32) -> Id {
        let mut list = parts.to_vec();
        if self.is_full(depth) {
            let least = list.iter().map(|&part| self.least[part as usize]).min().unwrap();
            list.retain(|&part| self.least[part as usize] == least);
        } else if self.below(2) == 0 {
            let least = list.iter().map(|&part| self.count(part)).min().unwrap();
            list.retain(|&part| self.count(part) == least);
        }
        list[self.below(list.len())]
    }

    /// Decides about a part that may be missing. An index is seldom there, because it seldom fits.
    fn wants(&mut self, id: Id, depth: u32) -> bool {
        let index = matches!(GRAMMAR.node(id), Some(Node::Maybe(part))
            if GRAMMAR.node(*part) == Some(&Node::Rule(GRAMMAR.names["index"])));
        let often = if index { 8 } else { 2 };
        !self.is_full(depth) && self.below(often) == 0
    }

    /// Draws settings in any order.
    fn settings(&mut self, leaves: &[Leaf], place: Draw) {
        let with_groups = self.below(2) == 0;
        let mut list = Vec::new();
        for leaf in leaves.iter().filter(|leaf| leaf.group.is_none() || with_groups) {
            if leaf.required || self.wants(leaf.node, place.depth) {
                list.insert(self.below(list.len() + 1), leaf.node);
            } else {
                self.now.push((leaf.node, false));
            }
        }
        list.into_iter().for_each(|node| self.draw(node, place));
    }

    fn token(&mut self, class: &str, place: Draw) {
        let rule = place.rule;
        let pool: Vec<String> = match class {
            // The numbers of the prelude are no CRC.
            "NAME" if place.number_of == "algorithm" => vec!["13".to_owned()],
            "NAME" => self.name_pool(rule),
            "PACKET_FIELD" => ["in.ipv4.ttl", "out.eth.dst", "`in.m.slot`"].map(str::to_owned).to_vec(),
            "NUMBER" => numbers(place.number_of).iter().map(|n| (*n).to_owned()).collect(),
            "SIZED" => ["16w0x800", "8w255", "1w0", "32w1_000"].map(str::to_owned).to_vec(),
            "WIDTH" => ["64w", "128w"].map(str::to_owned).to_vec(),
            "INDEX" => vec!["#0".to_owned()],
            "POSITION" => ["$0", "$7"].map(str::to_owned).to_vec(),
            "TEXT" => texts(rule).iter().map(|text| format!("\"{text}\"")).chain(lines(rule)).collect(),
            "DOC" => ["/// Text, \"quotes\"\n", "///\n"].map(str::to_owned).to_vec(),
            other => panic!("{other}"),
        };
        let token = &pool[self.below(pool.len())];
        self.push(token);
    }

    /// Returns names of declarations of the prelude for rules that refer to them, new names for others.
    fn name_pool(&mut self, rule: &str) -> Vec<String> {
        let known: &[&str] = match rule {
            "field_ref" => &["m.slot", "`ipv4.ttl`"],
            "header_ref" => &["ipv4"],
            "stack_ref" => &["layers"],
            "state_ref" => &["rest"],
            "value_set_ref" => &["tunnels"],
            "label_ref" => &["no_route"],
            "hash_ref" => &["flow"],
            "counter_ref" => &["per_route"],
            "register_ref" => &["seen"],
            "register_action_ref" => &["count", "`count`"],
            "meter_ref" => &["limit"],
            "random_ref" => &["dice"],
            "profile_ref" => &["next_hops"],
            "action_ref" => &["forward", "discard"],
            "table_ref" => &["route"],
            _ => &[],
        };
        if !known.is_empty() {
            return known.iter().map(|name| (*name).to_owned()).collect();
        }
        if !DECLARES.contains(&rule) {
            return ["hops", "two"].map(str::to_owned).to_vec();
        }
        self.names += 1;
        let n = self.names;
        let plain = [format!("n_{n}"), format!("n.{n}-a"), format!("$n{n}")];
        let odd = [format!("`odd \\`{n}`"), format!("`{n}`")];
        plain.into_iter().chain(odd).collect()
    }

    /// Prefers parts that few accepted sentences have, but no part that is never accepted.
    fn count(&self, part: Id) -> u32 {
        self.used[part as usize] + self.tried[part as usize] / 4
    }

    fn has_unused(&self) -> bool {
        !self.unused().is_empty()
    }

    fn unused(&self) -> Vec<String> {
        let nodes = GRAMMAR.nodes.iter().enumerate();
        let unused = nodes.filter(|(id, node)| {
            let optional = matches!(node, Node::Maybe(_) | Node::Repeat(_));
            self.used[*id] == 0 || optional && self.absent[*id] == 0
        });
        unused.map(|(id, node)| format!("{id}: {node:?}")).collect()
    }
}

/// Rules in which NAME is a new name.
const DECLARES: [&str; 27] = [
    "parameter",
    "record",
    "constant",
    "program",
    "header",
    "field",
    "intrinsic_field",
    "stack",
    "value_set",
    "label",
    "hash",
    "counter",
    "profile",
    "random",
    "meter",
    "register",
    "register_parameter",
    "register_action",
    "together",
    "action",
    "action_parameter",
    "table",
    "state",
    "role_value",
    "property",
    "metadata",
    "port_metadata",
];

/// Returns numbers that are possible in a rule.
fn numbers(rule: &str) -> &'static [&'static str] {
    match rule {
        "version" => &["1", "0x1"],
        // Indices after those of the prelude.
        "declaration" => &["1", "1", "1", "2", "3"],
        "field" | "intrinsic_field" => &["15"],
        "parser" => &["2"],
        "algorithm" => &["13"],
        "cell_unit" => &["0", "1", "2"],
        "factor" => &["1", "7", "0x1f", "1_0"],
        "parameter" => &["5", "0x5", "05"],
        "register_action" | "cell_statement" => &["0", "3"],
        _ => &["0", "1", "7", "0x1f", "1_0"],
    }
}

fn texts(rule: &str) -> &'static [&'static str] {
    match rule {
        "register" => &["32", "32x2", "1", "128"],
        "together" => &["3", "dev:137"],
        "table" => &["10us", "1.5ms"],
        _ => &["text", "a \\\"quote\\\", \\\\ and \\n"],
    }
}

/// Returns texts of lines for rules in which every text is possible.
fn lines(rule: &str) -> Option<String> {
    let any = matches!(rule, "record" | "entries" | "role" | "role_value");
    any.then(|| "\"\"\"\nlines \\ \"as\" they are\n\"\"\"".to_owned())
}

fn rule(name: &str) -> Id {
    GRAMMAR.rules[GRAMMAR.names[name]]
}

/// Returns the least depth of the rules below each node.
fn least(grammar: &Grammar) -> Vec<u32> {
    let mut least = vec![u32::MAX / 2; grammar.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (id, node) in grammar.nodes.iter().enumerate() {
            let of = |part: &Id| least[*part as usize];
            let depth = match node {
                Node::Word(_) | Node::Punct(_) | Node::Class(_) | Node::Maybe(_) | Node::Repeat(_) => 0,
                Node::Rule(rule) => 1 + of(&grammar.rules[*rule]),
                Node::Sequence(parts) => parts.iter().map(of).max().unwrap_or(0),
                Node::OneOf(parts) => parts.iter().map(of).min().unwrap_or(0),
                Node::Settings(leaves) => {
                    let required = leaves.iter().filter(|leaf| leaf.required && leaf.group.is_none());
                    required.map(|leaf| of(&leaf.node)).max().unwrap_or(0)
                }
            };
            if depth < least[id] {
                least[id] = depth;
                changed = true;
            }
        }
    }
    assert!(TOPICS.iter().flat_map(|topic| topic.rules).all(|r| least[rule(r.name) as usize] < DEPTH));
    least
}
