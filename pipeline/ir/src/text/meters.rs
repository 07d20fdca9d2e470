//! Meters, filters, WRED, random numbers and indices of arrays: printer and parser.
//!
//! `@entry` is the cell of the matched entry, `hash(h)` the cell at a hash.

use super::code::Code;
use super::cursor::{Cursor, Parsed};
use super::decls::{adjustment, gress, required, settings};
use super::print::{Printer, name};
use super::scan::Item;
use super::scope::Space;
use crate::{
    CounterHome, Field, Index, LpfSpec, MeterAccess, MeterConfig, MeterData, MeterKind, PrimitiveKind,
    RandomData,
};
use sluice_asic::meter::LpfMode;
use sluice_asic::units::Duration;

pub(super) const MODES: [(&str, LpfMode); 2] = [("sample", LpfMode::Sample), ("rate", LpfMode::Rate)];

impl Printer<'_> {
    pub(super) fn meters(&mut self) {
        let p = self.p;
        for d in p.meters.values() {
            self.doc(&d.doc);
            self.open(format_args!("meter {} : {}", name(&d.name), d.gress));
            self.line(format_args!("kind = {};", d.kind.word()));
            self.home(d.home);
            self.adjustment(d.adjust);
            if let Some(config) = &d.initial {
                self.line(format_args!("initial = {};", config_text(config)));
            }
            self.close();
        }
        for d in p.randoms.values() {
            self.doc(&d.doc);
            self.open(format_args!("random {} : {}", name(&d.name), d.gress));
            self.line(format_args!("width = {};", d.width));
            self.close();
        }
    }

    /// Prints `size = 1024;` or `direct = table;`.
    pub(super) fn home(&mut self, home: CounterHome) {
        match home {
            CounterHome::Direct(t) => self.line(format_args!("direct = {};", self.table(t))),
            CounterHome::Indirect(size) => self.line(format_args!("size = {size};")),
        }
    }

    pub(super) fn array_index(&self, index: &Index) -> String {
        match index {
            Index::At(e) => self.expr(e),
            Index::Entry => "@entry".to_owned(),
            Index::Hash(hash) => format!("hash({})", self.hash(*hash)),
        }
    }

    /// Prints `m.colour = meter(police, m.slot, m.before)`.
    pub(super) fn question(&self, access: &MeterAccess) -> String {
        let input = access.input.as_ref().map_or(String::new(), |e| format!(", {}", self.expr(e)));
        let (to, meter) = (self.field(access.to), self.meter(access.meter));
        format!("{to} = meter({meter}, {}{input})", self.array_index(&access.index))
    }
}

/// Prints a configuration: `rates(8000000, 1500, 16000000, 3000)`.
fn config_text(config: &MeterConfig) -> String {
    let filter = |f: &LpfSpec| {
        let mode = MODES.iter().find(|(_, m)| *m == f.mode).map_or("", |(word, _)| word);
        format!("{mode}, {}, {}, {}", f.rise.as_ps(), f.fall.as_ps(), f.shift)
    };
    match config {
        MeterConfig::Rates { committed, committed_burst, peak, peak_burst } => {
            format!("rates({committed}, {committed_burst}, {peak}, {peak_burst})")
        }
        MeterConfig::Lpf(f) => format!("lpf({})", filter(f)),
        MeterConfig::Wred { min, max, probability, average } => {
            let average = average.as_ref().map_or(String::new(), |f| format!(", {}", filter(f)));
            format!("wred({min}, {max}, {probability}{average})")
        }
    }
}

pub(super) fn meter(code: &mut Code<'_>, item: &Item) -> Parsed<MeterData> {
    let (mut kind, mut home, mut initial, mut adjust) = (None, None, None, 0);
    settings(code, &["kind", "size", "direct", "leaves_out", "adds", "initial"], |code, word| {
        match word {
            "leaves_out" | "adds" => adjust = adjustment(code, word)?,
            "kind" => kind = Some(code.c.one_of(&MeterKind::ALL.map(|k| (k.word(), k)))?),
            "initial" => initial = Some(config(&mut code.c)?),
            _ => home = Some(code.home(word)?),
        }
        Ok(())
    })?;
    Ok(MeterData {
        name: item.name.clone(),
        gress: gress(item),
        kind: required(code, kind, "kind")?,
        home: required(code, home, "size")?,
        adjust,
        initial,
        doc: item.doc.clone(),
        loc: item.loc,
    })
}

pub(super) fn random(code: &mut Code<'_>, item: &Item) -> Parsed<RandomData> {
    let mut width = None;
    settings(code, &["width"], |code, _| {
        width = Some(code.c.number("a width in bits")?);
        Ok(())
    })?;
    let width = required(code, width, "width")?;
    let (name, doc) = (item.name.clone(), item.doc.clone());
    Ok(RandomData { name, gress: gress(item), width, doc, loc: item.loc })
}

fn config(c: &mut Cursor<'_>) -> Parsed<MeterConfig> {
    let word = c.one_of(&["rates", "lpf", "wred"].map(|w| (w, w)))?;
    c.expect("(")?;
    let config = match word {
        "rates" => {
            let committed = c.number("a committed rate per second")?;
            c.expect(",")?;
            let committed_burst = c.number("a committed burst")?;
            c.expect(",")?;
            let peak = c.number("a peak rate per second")?;
            c.expect(",")?;
            MeterConfig::Rates { committed, committed_burst, peak, peak_burst: c.number("a peak burst")? }
        }
        "lpf" => MeterConfig::Lpf(filter(c)?),
        _ => {
            let min = c.number("a lower threshold")?;
            c.expect(",")?;
            let max = c.number("an upper threshold")?;
            c.expect(",")?;
            let probability = c.number("a probability in per cent")?;
            let average = if c.eat(",") { Some(filter(c)?) } else { None };
            MeterConfig::Wred { min, max, probability, average }
        }
    };
    c.expect(")")?;
    Ok(config)
}

/// Parses `sample, rise, fall, shift`, with times in picoseconds.
fn filter(c: &mut Cursor<'_>) -> Parsed<LpfSpec> {
    let mode = c.one_of(&MODES)?;
    c.expect(",")?;
    let rise = Duration::from_ps(c.number("a rise time constant in ps")?);
    c.expect(",")?;
    let fall = Duration::from_ps(c.number("a fall time constant in ps")?);
    c.expect(",")?;
    Ok(LpfSpec { mode, rise, fall, shift: c.number("a shift")? })
}

impl Code<'_> {
    /// Parses the value after `size =` or `direct =`.
    pub(super) fn home(&mut self, word: &str) -> Parsed<CounterHome> {
        Ok(match word {
            "direct" => CounterHome::Direct(self.reference(Space::Table)?),
            _ => CounterHome::Indirect(self.c.number("a size")?),
        })
    }

    pub(super) fn array_index(&mut self) -> Parsed<Index> {
        if self.c.eat("@") {
            self.c.expect_word("entry")?;
            return Ok(Index::Entry);
        }
        if self.c.word() == Some("hash") && self.c.then("(") {
            self.c.advance();
            self.c.advance();
            let hash = self.reference(Space::Hash)?;
            self.c.expect(")")?;
            return Ok(Index::Hash(hash));
        }
        self.expr().map(Index::At)
    }

    /// Parses `meter(array, index, input)`.
    pub(super) fn question(&mut self, to: Field) -> Parsed<PrimitiveKind> {
        self.c.expect_word("meter")?;
        self.c.expect("(")?;
        let meter = self.reference(Space::Meter)?;
        self.c.expect(",")?;
        let index = self.array_index()?;
        let input = if self.c.eat(",") { Some(self.expr()?) } else { None };
        self.c.expect(")")?;
        Ok(PrimitiveKind::Meter(MeterAccess { meter, index, input, to }))
    }

    /// Parses `random(generator)`.
    pub(super) fn draw(&mut self, to: Field) -> Parsed<PrimitiveKind> {
        self.c.expect_word("random")?;
        self.c.expect("(")?;
        let random = self.reference(Space::Random)?;
        self.c.expect(")")?;
        Ok(PrimitiveKind::Random(to, random))
    }
}
