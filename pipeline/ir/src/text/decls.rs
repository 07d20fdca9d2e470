//! Second pass: declarations.

use super::ParseError;
use super::code::Code;
use super::cursor::{Cursor, Parsed};
use super::lex::Token;
use super::scan::{Item, Kind};
use super::scope::{Scope, Space};
use super::words::{COUNTERS, FORMATS, IDLE_MODES, LABELS, MATCHES, MODES};
use super::{hashes, meters, registers, rules};
use crate::entity::{Entity, EntityMap};
use crate::{
    ActionData, Algorithmic, ConstEntry, CounterCell, CounterData, FieldData, Header, HeaderData, Home,
    IdleTimeout, Intrinsic, Key, KeySource, KeyValue, LabelData, ParamData, ParamValue, ProfileData, Program,
    SelectorData, StackData, TableData, TableRules, TogetherData, ValueSetData,
};
use sluice_asic::gress::Gress;
use sluice_asic::units::Duration;
use std::collections::BTreeMap;

/// Returns the program of these declarations, and their names.
///
/// # Errors
/// Refuses the text at the first token that the grammar does not allow there.
pub(super) fn program(tokens: &[Token], items: &[Item]) -> Result<(Program, Scope), ParseError> {
    let indices = indices(items)?;
    let scope = Scope::of_items(items, &indices);
    let headers = headers(items, &indices);
    let mut p = Program { headers, fields: fields(tokens, items, &indices)?, ..Program::default() };
    let code = |item: &Item| Code::new(Cursor::new(tokens, item.body), &scope, item.gress);
    p.labels = collect(items, &indices, Kind::Label, |i| label(&mut code(i), i))?;
    p.hashes = collect(items, &indices, Kind::Hash, |i| hashes::hash(&mut code(i), i))?;
    p.counters = collect(items, &indices, Kind::Counter, |i| counter(&mut code(i), i))?;
    p.registers = collect(items, &indices, Kind::Register, |i| registers::register(&mut code(i), i))?;
    p.register_actions = collect(items, &indices, Kind::RegisterAction, |i| {
        registers::register_action(&mut code(i), i, &p.registers)
    })?;
    p.meters = collect(items, &indices, Kind::Meter, |i| meters::meter(&mut code(i), i))?;
    p.randoms = collect(items, &indices, Kind::Random, |i| meters::random(&mut code(i), i))?;
    p.profiles = collect(items, &indices, Kind::Profile, |i| profile(&mut code(i), i))?;
    p.actions = collect(items, &indices, Kind::Action, |i| action(&mut code(i), i))?;
    p.tables = collect(items, &indices, Kind::Table, |i| table(&mut code(i), i))?;
    p.stacks = collect(items, &indices, Kind::Stack, |i| stack(&mut code(i), i))?;
    p.value_sets = collect(items, &indices, Kind::ValueSet, |i| value_set(&mut code(i), i))?;
    p.states = collect(items, &indices, Kind::State, |i| code(i).state(i, &p))?;
    for item in items {
        part(&mut p, item, &mut code(item))?;
    }
    Ok((p, scope))
}

pub(super) fn gress(item: &Item) -> Gress {
    item.gress.unwrap_or(Gress::Ingress)
}

/// Returns the entity index of each item: its position among items of its kind, unless `@index` sets it.
fn indices(items: &[Item]) -> Parsed<Vec<u32>> {
    let mut taken: BTreeMap<Space, Vec<u32>> = BTreeMap::new();
    let mut list = Vec::with_capacity(items.len());
    for item in items {
        let Some(space) = Space::of(item.kind) else {
            list.push(0);
            continue;
        };
        let of_kind = taken.entry(space).or_default();
        let index = item.index.unwrap_or(of_kind.len() as u32);
        of_kind.push(index);
        list.push(index);
    }
    for (space, mut used) in taken {
        used.sort_unstable();
        if let Some(hole) = used.iter().zip(0u32..).position(|(&u, i)| u != i) {
            // The wrong item is the last one whose index repeats, or leaves a gap before it.
            let wrong = used.get(hole).copied().unwrap_or_default();
            let of_space = items.iter().zip(&list).filter(|(i, _)| Space::of(i.kind) == Some(space));
            let at =
                of_space.filter(|(_, n)| **n == wrong).map(|(i, _)| i.loc).next_back().unwrap_or_default();
            return Err(ParseError {
                line: at.line,
                col: at.col,
                found: format!("{} index {wrong}", space.word()),
                expected: format!("each index from 0 to {} once", used.len() - 1),
                help: "leave `@index` out to count in the order of the text".to_owned(),
            });
        }
    }
    Ok(list)
}

/// Returns the data of all items of a kind, in order of their indices.
fn collect<K: Entity, V>(
    items: &[Item],
    indices: &[u32],
    kind: Kind,
    mut make: impl FnMut(&Item) -> Parsed<V>,
) -> Parsed<EntityMap<K, V>> {
    let mut made = BTreeMap::new();
    for (item, index) in items.iter().zip(indices).filter(|(i, _)| i.kind == kind) {
        made.insert(*index, make(item)?);
    }
    Ok(made.into_values().collect())
}

fn headers(items: &[Item], indices: &[u32]) -> EntityMap<Header, HeaderData> {
    let mut made: BTreeMap<u32, HeaderData> = BTreeMap::new();
    for (item, &index) in items.iter().zip(indices) {
        match item.kind {
            Kind::Header => {
                let (name, doc) = (item.name.clone(), item.doc.clone());
                let fields = Vec::new();
                made.insert(index, HeaderData { name, gress: gress(item), fields, doc, loc: item.loc });
            }
            // A field follows its header.
            Kind::HeaderField(at) => {
                let header = indices.get(at).and_then(|header| made.get_mut(header));
                header.into_iter().for_each(|header| header.fields.push(Entity::new(index as usize)));
            }
            _ => {}
        }
    }
    made.into_values().collect()
}

fn fields<K: Entity>(tokens: &[Token], items: &[Item], indices: &[u32]) -> Parsed<EntityMap<K, FieldData>> {
    let mut made = BTreeMap::new();
    for (item, index) in items.iter().zip(indices) {
        let home = match item.kind {
            Kind::HeaderField(at) => {
                Home::Header(Header::new(indices.get(at).copied().unwrap_or_default() as usize))
            }
            Kind::Metadata => Home::Metadata,
            Kind::PortMetadata => Home::PortMetadata,
            Kind::Intrinsic => Home::Intrinsic(intrinsic(&mut Cursor::new(tokens, item.body), item)?),
            _ => continue,
        };
        if item.kind != Kind::Intrinsic {
            Cursor::new(tokens, item.body).expect(";")?;
        }
        let (name, doc) = (item.name.clone(), item.doc.clone());
        made.insert(
            *index,
            FieldData { name, gress: gress(item), width: item.width, home, doc, loc: item.loc },
        );
    }
    Ok(made.into_values().collect())
}

/// Returns the intrinsic of an item: by its name, or by the name after `=`.
fn intrinsic(c: &mut Cursor<'_>, item: &Item) -> Parsed<Intrinsic> {
    let known = |name: &str| Intrinsic::TABLE.iter().find(|i| i.name == name).map(|i| i.field);
    let unknown = |c: &Cursor<'_>, found: &str| {
        let names: Vec<String> = Intrinsic::TABLE.iter().map(|i| format!("`{}`", i.name)).collect();
        let error = c.error(format!("one of {}", names.join(", ")));
        ParseError { found: format!("`{found}`, which is no intrinsic field"), ..error }
    };
    let which = if c.eat("=") {
        let before = c.clone();
        let name = c.name()?;
        known(&name).ok_or_else(|| unknown(&before, &name))?
    } else {
        known(&item.name).ok_or_else(|| unknown(c, &item.name))?
    };
    c.expect(";")?;
    Ok(which)
}

fn stack(code: &mut Code<'_>, item: &Item) -> Parsed<StackData> {
    let headers = code.block(|code| code.reference(Space::Header))?;
    Ok(StackData {
        name: item.name.clone(),
        gress: gress(item),
        headers,
        doc: item.doc.clone(),
        loc: item.loc,
    })
}

/// Parses `{ size = 4; bit<16> ether_type; … }`.
fn value_set(code: &mut Code<'_>, item: &Item) -> Parsed<ValueSetData> {
    code.c.expect("{")?;
    code.c.expect_word("size")?;
    code.c.expect("=")?;
    let size = code.c.number("the greatest number of members")?;
    code.c.expect(";")?;
    let mut fields = Vec::new();
    while !code.c.eat("}") {
        let width = code.c.width()?;
        let name = code.c.name()?;
        code.c.expect(";")?;
        fields.push(ParamData { name, width });
    }
    let (name, doc) = (item.name.clone(), item.doc.clone());
    Ok(ValueSetData { name, gress: gress(item), fields, size, doc, loc: item.loc })
}

fn label(code: &mut Code<'_>, item: &Item) -> Parsed<LabelData> {
    code.c.expect("=")?;
    let kind = code.c.one_of(&LABELS)?;
    code.c.expect(";")?;
    Ok(LabelData { name: item.name.clone(), kind, doc: item.doc.clone(), loc: item.loc })
}

/// Parses `{ word = …; … }`: calls `read` after each `word =`, which reads up to the `;`.
pub(super) fn settings(
    code: &mut Code<'_>,
    words: &[&str],
    mut read: impl FnMut(&mut Code<'_>, &str) -> Parsed<()>,
) -> Parsed<()> {
    let words: Vec<(&str, &str)> = words.iter().map(|w| (*w, *w)).collect();
    let mut seen = Vec::new();
    code.c.expect("{")?;
    while !code.c.at("}") {
        let before = code.c.clone();
        let word = code.c.one_of(&words)?;
        if seen.contains(&word) {
            return Err(before.error("each setting once"));
        }
        seen.push(word);
        code.c.expect("=")?;
        read(code, word)?;
        code.c.expect(";")?;
    }
    Ok(())
}

/// Returns the value of a required setting; the cursor is at the end of the block.
pub(super) fn required<T>(code: &Code<'_>, value: Option<T>, word: &str) -> Parsed<T> {
    value.ok_or_else(|| code.c.error(format!("`{word} = …;`")))
}

/// Parses the number of bytes after `leaves_out =` or `adds =`.
pub(super) fn adjustment(code: &mut Code<'_>, word: &str) -> Parsed<i16> {
    let before = code.c.clone();
    let bytes: u16 = code.c.number("a number of bytes")?;
    match word {
        "adds" => i16::try_from(bytes).map_err(|_| before.error("a number of bytes up to 32767")),
        _ => {
            let less = 0_i16.checked_sub_unsigned(bytes);
            less.ok_or_else(|| before.error("a number of bytes up to 32768"))
        }
    }
}

fn counter(code: &mut Code<'_>, item: &Item) -> Parsed<CounterData> {
    let (mut kind, mut home, mut cell) = (None, None, CounterCell::default());
    let words = ["kind", "direct", "size", "format", "leaves_out", "adds", "reads"];
    settings(code, &words, |code, word| {
        match word {
            "kind" => kind = Some(code.c.one_of(&COUNTERS)?),
            "format" => cell.format = Some(code.c.one_of(&FORMATS)?),
            "leaves_out" | "adds" => cell.adjust = adjustment(code, word)?,
            "reads" => cell.wraps = code.c.one_of(&[("cell", true), ("sum", false)])?,
            _ => home = Some(code.home(word)?),
        }
        Ok(())
    })?;
    let (kind, home) = (required(code, kind, "kind")?, required(code, home, "size")?);
    Ok(CounterData {
        name: item.name.clone(),
        gress: gress(item),
        kind,
        home,
        cell,
        doc: item.doc.clone(),
        loc: item.loc,
    })
}

fn profile(code: &mut Code<'_>, item: &Item) -> Parsed<ProfileData> {
    let (mut size, mut selector, mut groups, mut max_group_size) = (None, None, None, None);
    let mut scramble = false;
    settings(code, &["size", "selector", "groups", "max_group_size", "scramble"], |code, word| {
        match word {
            "size" => size = Some(code.c.number("a size")?),
            "groups" => groups = Some(code.c.number("a number of groups")?),
            "max_group_size" => max_group_size = Some(code.c.number("a number of members")?),
            "scramble" => scramble = code.c.one_of(&[("on", true), ("off", false)])?,
            _ => {
                let mode = code.c.one_of(&MODES)?;
                code.c.expect("(")?;
                selector = Some((mode, code.reference(Space::Hash)?));
                code.c.expect(")")?;
            }
        }
        Ok(())
    })?;
    let size = required(code, size, "size")?;
    let selector = match selector {
        None => None,
        Some((mode, hash)) => {
            let groups = required(code, groups, "groups")?;
            let max_group_size = required(code, max_group_size, "max_group_size")?;
            Some(SelectorData { mode, hash, groups, max_group_size, scramble })
        }
    };
    let (name, doc) = (item.name.clone(), item.doc.clone());
    Ok(ProfileData { name, gress: gress(item), size, selector, doc, loc: item.loc })
}

fn action(code: &mut Code<'_>, item: &Item) -> Parsed<ActionData> {
    code.c.expect("(")?;
    let params = code.c.list(")", |c| Ok(ParamData { width: c.width()?, name: c.name()? }))?;
    let (body, params) = code.action_body(params)?;
    let (name, doc) = (item.name.clone(), item.doc.clone());
    Ok(ActionData { name, gress: gress(item), params, body, doc, loc: item.loc })
}

fn table(code: &mut Code<'_>, item: &Item) -> Parsed<TableData> {
    let (mut keys, mut actions, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    let (mut default, mut size, mut profile, mut pin) = (None, None, None, None);
    let (mut idle, mut algorithmic, mut demanded) = (None, None, TableRules::default());
    let mut constant_default = false;
    code.c.expect("{")?;
    while !code.c.at("}") {
        let word = code.c.word().unwrap_or_default();
        if word == "const" {
            code.c.advance();
            if code.c.one_of(&["entries", "default_action"].map(|w| (w, w)))? == "entries" {
                code.c.expect("=")?;
                entries = code.block(const_entry)?;
            } else {
                code.c.expect("=")?;
                default = Some(code.call()?);
                constant_default = true;
                code.c.expect(";")?;
            }
            continue;
        }
        let words = [
            "key",
            "actions",
            "default_action",
            "size",
            "profile",
            "pin",
            "idle",
            "alpm",
            "atcam",
            "pin_entries",
            "ways",
            "pack",
            "priority",
        ];
        let words = words.map(|w| (w, w));
        code.c.one_of(&words)?;
        code.c.expect("=")?;
        match word {
            "key" => keys = code.block(key)?,
            "actions" => actions = code.block(|code| code.reference(Space::Action))?,
            "default_action" => default = Some(code.call()?),
            "size" => size = Some(code.c.number("a size")?),
            "profile" => profile = Some(code.reference(Space::Profile)?),
            "idle" => idle = Some(idle_timeout(code)?),
            "alpm" | "atcam" => algorithmic = Some(memory(code, word)?),
            "pin_entries" | "ways" | "pack" | "priority" => rules::table(code, word, &mut demanded)?,
            _ => pin = Some(code.c.number("a stage")?),
        }
        if !matches!(word, "key" | "actions") {
            code.c.expect(";")?;
        }
    }
    Ok(TableData {
        name: item.name.clone(),
        gress: gress(item),
        keys,
        actions,
        default: required(code, default, "default_action")?,
        constant_default,
        size: required(code, size, "size")?,
        entries,
        profile,
        pin,
        idle,
        algorithmic,
        rules: demanded,
        doc: item.doc.clone(),
        loc: item.loc,
    })
}

/// Parses `notify(bits, "interval", "ttl")`.
fn idle_timeout(code: &mut Code<'_>) -> Parsed<IdleTimeout> {
    let mode = code.c.one_of(&IDLE_MODES)?;
    code.c.expect("(")?;
    let bits = code.c.number("bits per entry")?;
    let mut duration = || {
        code.c.expect(",")?;
        let before = code.c.clone();
        code.c.text()?.parse::<Duration>().map_err(|e| before.error_with("a duration", e.to_string()))
    };
    let (interval, ttl) = (duration()?, duration()?);
    code.c.expect(")")?;
    Ok(IdleTimeout { mode, bits, interval, ttl })
}

/// Parses `partitions(number, subtrees)` of an ALPM, or `field(number)` of an ATCAM.
fn memory(code: &mut Code<'_>, word: &str) -> Parsed<Algorithmic> {
    if word == "alpm" {
        code.c.expect_word("partitions")?;
        code.c.expect("(")?;
        let partitions = code.c.number("a number of partitions")?;
        code.c.expect(",")?;
        let subtrees = code.c.number("a number of subtrees per partition")?;
        code.c.expect(")")?;
        return Ok(Algorithmic::Alpm { partitions, subtrees });
    }
    let partition = code.field()?;
    code.c.expect("(")?;
    let partitions = code.c.number("a number of partitions")?;
    code.c.expect(")")?;
    Ok(Algorithmic::Atcam { partition, partitions })
}

fn key(code: &mut Code<'_>) -> Parsed<Key> {
    let what = if code.c.word() == Some("valid") && code.c.then("(") {
        code.c.expect_word("valid")?;
        code.c.expect("(")?;
        let header = code.reference(Space::Header)?;
        code.c.expect(")")?;
        KeySource::Valid(header)
    } else {
        let field = code.reference(Space::Field)?;
        match code.slice()? {
            Some((hi, lo)) => KeySource::Slice(field, hi, lo),
            None => KeySource::Field(field),
        }
    };
    let mask = if code.c.eat("&&&") { Some(code.c.number("a mask")?) } else { None };
    code.c.expect(":")?;
    Ok(Key { what, mask, kind: code.c.one_of(&MATCHES)? })
}

fn const_entry(code: &mut Code<'_>) -> Parsed<ConstEntry> {
    code.c.expect("(")?;
    let key = code.list(")", key_value)?;
    code.c.expect(":")?;
    Ok(ConstEntry { key, then: code.call()? })
}

fn key_value(code: &mut Code<'_>) -> Parsed<KeyValue> {
    if code.c.eat_word("_") {
        return Ok(KeyValue::Ternary { value: 0, mask: 0 });
    }
    let value = code.c.number("a value, `value &&& mask`, `value / length`, `low .. high` or `_`")?;
    if code.c.eat("&&&") {
        Ok(KeyValue::Ternary { value, mask: code.c.number("a mask")? })
    } else if code.c.eat("/") {
        Ok(KeyValue::Lpm { value, len: code.c.number("a prefix length")? })
    } else if code.c.eat("..") {
        Ok(KeyValue::Range { lo: value, hi: code.c.number("the highest value")? })
    } else {
        Ok(KeyValue::Exact(value))
    }
}

/// Parses `{ registers = { a, b }; ports = { "3", "dev:137" }; }`.
fn together(code: &mut Code<'_>, item: &Item) -> Parsed<TogetherData> {
    code.c.expect("{")?;
    code.c.expect_word("registers")?;
    code.c.expect("=")?;
    code.c.expect("{")?;
    let registers = code.list("}", |code| code.reference(Space::Register))?;
    code.c.expect(";")?;
    code.c.expect_word("ports")?;
    code.c.expect("=")?;
    code.c.expect("{")?;
    let ports = code.list("}", |code| {
        let wrong = code.c.error("a port as in \"3\" or \"dev:137\"");
        code.c.text()?.parse().map_err(|_| wrong)
    })?;
    code.c.expect(";")?;
    code.c.expect("}")?;
    Ok(TogetherData { name: item.name.clone(), registers, ports, doc: item.doc.clone(), loc: item.loc })
}

/// Parses the parts of a program that are not entities.
fn part(p: &mut Program, item: &Item, code: &mut Code<'_>) -> Parsed<()> {
    let pipe = &mut p.pipes[gress(item).index()];
    match item.kind {
        Kind::Program => {
            code.c.expect(";")?;
            p.name.clone_from(&item.name);
            p.doc.clone_from(&item.doc);
        }
        Kind::Param => {
            code.c.expect("=")?;
            let value = code.c.text()?;
            code.c.expect(";")?;
            p.params.push(ParamValue { key: item.name.clone(), value, doc: item.doc.clone() });
        }
        Kind::Start => {
            code.c.expect("=")?;
            pipe.start = code.next()?;
            code.c.expect(";")?;
        }
        Kind::Control => pipe.control = code.statements()?,
        Kind::Together => {
            let together = together(code, item)?;
            p.together.push(together);
        }
        Kind::Containers => p.container_rules.extend(rules::containers(code)?),
        Kind::Ghost => p.ghost = code.statements()?,
        Kind::Deparser => {
            let deparser = code.deparser(p)?;
            p.pipes[gress(item).index()].deparser = deparser;
        }
        _ => {}
    }
    Ok(())
}
