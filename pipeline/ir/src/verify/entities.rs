//! Declarations: names, widths, and which field belongs where.

use super::{Diag, count};
use crate::text::is_plain_name;
use crate::{Field, Header, Home, Loc, ParserOpKind, Program};
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    names(p, d);
    widths(p, d);
    headers(p, d);
    intrinsics(p, d);
    stacks(p, d);
    value_sets(p, d);
    port_metadata(p, d);
}

fn names(p: &Program, d: &mut Vec<Diag>) {
    let mut scope = Scope { d, seen: BTreeMap::new() };
    macro_rules! each {
        ($map:ident, $word:literal, $space:expr) => {
            for data in p.$map.values() {
                scope.name($word, ($space)(data), &data.name, data.loc);
            }
        };
    }
    each!(fields, "field", |x: &crate::FieldData| x.gress.name());
    each!(headers, "header", |x: &crate::HeaderData| x.gress.name());
    each!(states, "state", |x: &crate::StateData| x.gress.name());
    each!(actions, "action", |_| "");
    each!(tables, "table", |_| "");
    each!(profiles, "profile", |_| "");
    each!(counters, "counter", |_| "");
    each!(hashes, "hash", |_| "");
    each!(registers, "register", |_| "");
    each!(register_actions, "register action", |_| "");
    each!(labels, "label", |_| "");
    each!(stacks, "stack", |x: &crate::StackData| x.gress.name());
    each!(meters, "meter", |_| "");
    each!(randoms, "generator of random numbers", |_| "");
    each!(value_sets, "value set", |_| "");
    for set in p.value_sets.values() {
        let of = format!("value set `{}`", set.name);
        for field in &set.fields {
            scope.name("field", &of, &field.name, set.loc);
        }
    }
    for action in p.actions.values() {
        let of = format!("action `{}`", action.name);
        for param in &action.params {
            scope.name("parameter", &of, &param.name, action.loc);
        }
    }
    for label in p.labels.values().filter(|l| !is_snake_case(&l.name)) {
        let text = format!("label `{}` is not in snake_case", label.name);
        d.push(
            Diag::error(label.loc, text)
                .help("it becomes a drop reason: use a-z, 0-9 and `_`, beginning with a letter"),
        );
    }
}

fn is_snake_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

struct Scope<'d> {
    d: &'d mut Vec<Diag>,
    seen: BTreeMap<(&'static str, String, String), Loc>,
}

impl Scope<'_> {
    fn name(&mut self, word: &'static str, space: &str, name: &str, loc: Loc) {
        if !is_plain_name(name) {
            let text = format!("{word} `{name}` has an invalid name");
            let help = "use letters, digits, `_`, `.`, `-` and `$`, beginning with a letter";
            self.d.push(Diag::error(loc, text).help(help));
        }
        if let Some(first) = self.seen.insert((word, space.to_owned(), name.to_owned()), loc) {
            let of = if space.is_empty() { String::new() } else { format!(" of {space}") };
            let text = format!("two {word}s{of} are named `{name}`");
            self.d.push(Diag::error(loc, text).also(first, "the first one").help("rename one of them"));
        }
    }
}

fn widths(p: &Program, d: &mut Vec<Diag>) {
    let fields = p.fields.values().map(|f| (format!("field `{}`", f.name), f.width, f.loc));
    let params = p.actions.values().flat_map(|a| {
        a.params.iter().map(|x| (format!("parameter `{}` of action `{}`", x.name, a.name), x.width, a.loc))
    });
    let members = p.value_sets.values().flat_map(|s| {
        s.fields.iter().map(|x| (format!("field `{}` of value set `{}`", x.name, s.name), x.width, s.loc))
    });
    let all = fields.chain(params).chain(members);
    for (who, width, loc) in all.filter(|(_, width, _)| !(1..=128).contains(width)) {
        let help = "a width is 1 to 128 bits: split it";
        d.push(Diag::error(loc, format!("{who} is {width} bits wide")).help(help));
    }
}

/// Returns true if a header is used as bytes of a packet; another one has a validity and may have nothing else.
fn has_bytes(p: &Program, h: Header) -> bool {
    let extracted = p.states.values().flat_map(|s| &s.ops).any(|op| op.kind == ParserOpKind::Extract(h));
    let emitted = p.pipes.iter().any(|pipe| pipe.deparser.emit.contains(&h));
    extracted || emitted || p.stack_of(h).is_some()
}

fn headers(p: &Program, d: &mut Vec<Diag>) {
    let mut listed: BTreeMap<Field, u32> = BTreeMap::new();
    for (h, data) in p.headers.iter() {
        for &f in &data.fields {
            *listed.entry(f).or_default() += 1;
            let field = &p.fields[f];
            if field.home != Home::Header(h) {
                let text = format!(
                    "header `{}` lists field `{}`, which belongs to another header",
                    data.name, field.name
                );
                d.push(Diag::error(data.loc, text).help("declare the field in the header that lists it"));
            }
        }
        let bits = p.header_bits(h);
        if bits == 0 && has_bytes(p, h) {
            let text = format!("header `{}` has no fields", data.name);
            let help = "a header that is extracted, emitted, or an element of a stack has at least one byte";
            d.push(Diag::error(data.loc, text).help(help));
        } else if !bits.is_multiple_of(8) {
            let text = format!("header `{}` has {bits} bits, which are not whole bytes", data.name);
            d.push(
                Diag::error(data.loc, text)
                    .help(format!("add {} of padding", count(8 - bits as usize % 8, "bit"))),
            );
        }
    }
    for (f, data) in p.fields.iter() {
        let Home::Header(h) = data.home else { continue };
        let times = listed.get(&f).copied().unwrap_or(0);
        if times != 1 {
            let (name, header) = (&data.name, &p.headers[h].name);
            let text = format!("field `{name}` is {times} times in the field lists of headers");
            d.push(Diag::error(data.loc, text).help(format!("list it once, in header `{header}`")));
        }
    }
}

fn intrinsics(p: &Program, d: &mut Vec<Diag>) {
    let mut seen = BTreeMap::new();
    for data in p.fields.values() {
        let Home::Intrinsic(which) = data.home else { continue };
        let (info, name, gress) = (which.info(), &data.name, data.gress);
        if !info.exists_in(gress) {
            let text = format!("{gress} has no intrinsic field `{}`, declared as `{name}`", info.name);
            d.push(
                Diag::error(data.loc, text)
                    .help("read it in the other gress and pass the value in a bridged header"),
            );
        }
        if data.width != info.tofino2 {
            let text =
                format!("intrinsic field `{name}` is {} bits wide, expected {}", data.width, info.tofino2);
            d.push(Diag::error(data.loc, text).help("declare the largest width among the chips"));
        }
        if let Some(first) = seen.insert((gress, which), data.loc) {
            let text = format!("intrinsic field `{}` of {gress} is declared twice", info.name);
            d.push(Diag::error(data.loc, text).also(first, "the first one").help("use one field for both"));
        }
    }
}

fn stacks(p: &Program, d: &mut Vec<Diag>) {
    let mut seen = BTreeMap::new();
    for data in p.stacks.values() {
        let widths = |h: Header| p.headers[h].fields.iter().map(|f| p.fields[*f].width).collect::<Vec<_>>();
        let Some(&first) = data.headers.first() else {
            let text = format!("stack `{}` has no elements", data.name);
            d.push(Diag::error(data.loc, text).help("a stack has at least one element"));
            continue;
        };
        for &h in &data.headers {
            if widths(h) != widths(first) {
                let (one, other) = (&p.headers[first].name, &p.headers[h].name);
                let text =
                    format!("elements `{one}` and `{other}` of stack `{}` differ in layout", data.name);
                d.push(Diag::error(data.loc, text).help("all elements of a stack have the same fields"));
            }
            if let Some(other) = seen.insert(h, data.loc) {
                let text = format!("header `{}` is twice an element of a stack", p.headers[h].name);
                let diag = Diag::error(data.loc, text).also(other, "the first time");
                d.push(diag.help("declare a header instance for each element"));
            }
        }
    }
}

fn value_sets(p: &Program, d: &mut Vec<Diag>) {
    for data in p.value_sets.values() {
        let name = &data.name;
        if data.fields.is_empty() {
            let text = format!("members of value set `{name}` have no fields");
            d.push(Diag::error(data.loc, text).help("declare a field for each key that it is compared with"));
        }
        if data.size == 0 {
            let text = format!("value set `{name}` has room for no member");
            d.push(Diag::error(data.loc, text).help("give it a size of at least 1"));
        }
    }
}

fn port_metadata(p: &Program, d: &mut Vec<Diag>) {
    for (_, data) in p.port_metadata().filter(|(_, f)| f.gress != Gress::Ingress) {
        let text = format!("port metadata `{}` is declared in {}", data.name, data.gress);
        d.push(
            Diag::error(data.loc, text)
                .help("only ingress has it: pass values to egress in a bridged header"),
        );
    }
}
