//! Actions: each primitive fits one instruction, and none depends on an earlier one of the same action.

mod instruction;

use super::values::{Source, leaf, width};
use super::{Diag, Site, arrays, fits, is_read_only, registers};
use crate::cfg::{Cfg, NodeKind, table_actions};
use crate::exchange::exchanges;
use crate::{
    Action, ActionData, Counter, CounterHome, Expr, Field, Hash, Header, Home, Index, Intrinsic, Loc,
    MeterAccess, Primitive, PrimitiveKind, Program, RegisterAccess,
};
use sluice_asic::gress::Gress;

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for data in p.actions.values() {
        for primitive in &data.body {
            let who = crate::words::subject(data);
            let site = Site { who: &who, gress: Some(data.gress), loc: primitive.loc };
            Check { p, data, site, d }.primitive(&primitive.kind);
        }
        independent(p, data, d);
    }
    direct(p, d);
}

struct Check<'c> {
    p: &'c Program,
    data: &'c ActionData,
    site: Site<'c>,
    d: &'c mut Vec<Diag>,
}

impl Check<'_> {
    fn error(&mut self, text: String, help: impl Into<String>) {
        self.d.push(Diag::error(self.site.loc, text).help(help));
    }

    fn primitive(&mut self, kind: &PrimitiveKind) {
        match kind {
            PrimitiveKind::Set(dst, value) => {
                self.writable(*dst);
                let width = width(self.p, value, self.site, &self.data.params, self.d);
                self.same_width(*dst, width, "a value");
                self.instruction(value, width);
            }
            PrimitiveKind::Hash(dst, hash) => {
                self.writable(*dst);
                let hash = &self.p.hashes[*hash];
                self.same_width(*dst, Some(hash.width), &format!("hash `{}`", hash.name));
            }
            PrimitiveKind::Count(c, index) => self.count(*c, index),
            PrimitiveKind::CountDirect(c) => {
                let counter = &self.p.counters[*c];
                if let CounterHome::Indirect(_) = counter.home {
                    let text = format!("{} counts `{}` without an index", self.site.who, counter.name);
                    self.error(
                        text,
                        "the counter is indirect: give it an index, or make it direct to the table",
                    );
                }
            }
            PrimitiveKind::Register(access) => self.register(access),
            PrimitiveKind::SetValid(..) | PrimitiveKind::CopyValid(..) | PrimitiveKind::Drop(_) => {}
            PrimitiveKind::DropCtl(dst, value, _) => self.drop_ctl(*dst, value),
            PrimitiveKind::SetSlice(dst, hi, lo, value) => self.slice(*dst, (*hi, *lo), value),
            PrimitiveKind::SetMasked(dst, value, mask) => self.masked(*dst, value, mask),
            PrimitiveKind::HashSlice(dst, hash, lo) => {
                self.writable(*dst);
                self.hash_bits(*hash, *lo, self.p.fields[*dst].width);
            }
            PrimitiveKind::HashInto(dst, hi, lo, hash, from) => {
                self.slice_of(*dst, (*hi, *lo));
                self.hash_bits(*hash, *from, hi.saturating_sub(*lo).saturating_add(1));
            }
            PrimitiveKind::Meter(access) => self.meter(access),
            PrimitiveKind::Random(dst, random) => {
                self.writable(*dst);
                let data = &self.p.randoms[*random];
                let what = format!("a random number of `{}`", data.name);
                self.same_width(*dst, Some(data.width), &what);
            }
        }
    }

    /// Checks a write of `drop_ctl`.
    fn drop_ctl(&mut self, dst: Field, value: &Expr) {
        let (who, field) = (self.site.who, &self.p.fields[dst]);
        if field.home != Home::Intrinsic(Intrinsic::DropCtl) {
            let text = format!("{who} writes `{}` as `drop_ctl`", field.name);
            return self
                .error(text, "the first operand is the intrinsic field `dprsr.drop_ctl` of the gress");
        }
        let width = width(self.p, value, self.site, &self.data.params, self.d);
        self.same_width(dst, width, "a value");
        self.instruction(value, width);
    }

    /// Checks that a hash result has `count` bits from `lo` on.
    fn hash_bits(&mut self, hash: Hash, lo: u16, count: u16) {
        let hash = &self.p.hashes[hash];
        let past = u32::from(lo) + u32::from(count);
        if past > u32::from(hash.width) {
            let (who, name, width) = (self.site.who, &hash.name, hash.width);
            let last = past.saturating_sub(1);
            let text = format!("{who} takes bits {last} to {lo} of hash `{name}`, which has {width}");
            self.error(text, "take lower bits, or widen the hash");
        }
    }

    /// Checks the bits of a slice that is written; returns false if the field does not have them.
    fn slice_of(&mut self, dst: Field, (hi, lo): (u16, u16)) -> bool {
        self.writable(dst);
        let (who, field) = (self.site.who, &self.p.fields[dst]);
        let (name, bits) = (&field.name, field.width);
        let there = lo <= hi && hi < bits;
        if !there {
            let text = format!("{who} writes bits {hi} to {lo} of `{name}`, which has {bits} bits");
            let help = format!("the first bit is the higher one and at most {}", bits.saturating_sub(1));
            self.error(text, help);
        }
        there
    }

    /// Checks a write of a slice: one instruction deposits a value there and computes nothing.
    fn slice(&mut self, dst: Field, (hi, lo): (u16, u16), value: &Expr) {
        if !self.slice_of(dst, (hi, lo)) {
            return;
        }
        let (who, field) = (self.site.who, &self.p.fields[dst]);
        let name = &field.name;
        if leaf(value).is_none() {
            let text = format!("{who} computes the value of bits {hi} to {lo} of `{name}`");
            self.error(
                text,
                "an ALU computes whole containers: write the result to a metadata field, and copy it to the slice in a \
                 later action",
            );
        }
        let width = width(self.p, value, self.site, &self.data.params, self.d);
        if let Some(width) = width.filter(|w| *w != hi - lo + 1) {
            let text = format!("{who} sets bits {hi} to {lo} of `{name}` to a value of {width} bits");
            self.error(text, "make both equally wide: cast or slice the value");
        }
    }

    /// Checks a masked write: value and mask are a pair of words of the action data bus.
    fn masked(&mut self, dst: Field, value: &Expr, mask: &Expr) {
        self.writable(dst);
        for e in [value, mask] {
            if leaf(e) != Some(Source::Data) {
                let (who, name) = (self.site.who, &self.p.fields[dst].name);
                let text = format!("{who} sets `{name}` under a mask from a value that is not action data");
                self.error(
                    text,
                    "value and mask are constants or parameters: copy a field by another action",
                );
            }
        }
        let value = width(self.p, value, self.site, &self.data.params, self.d);
        self.same_width(dst, value, "a value");
        let flag = matches!(mask, Expr::Param(_, 1));
        let mask = width(self.p, mask, self.site, &self.data.params, self.d);
        if !flag {
            self.same_width(dst, mask, "a mask");
        }
    }

    /// Checks an access to a meter: its input, and the field for its result.
    fn meter(&mut self, access: &MeterAccess) {
        let (p, who) = (self.p, self.site.who);
        let data = &p.meters[access.meter];
        let name = &data.name;
        self.writable(access.to);
        let to = &p.fields[access.to];
        let coloured = data.kind.is_coloured();
        if coloured && to.width < 2 || to.width > 32 {
            let text = format!("{who} sets `{}` of {} bits to a result of `{name}`", to.name, to.width);
            self.error(
                text,
                if coloured { "a colour has 2 bits: use a field of 2 to 32" } else { "use at most 32 bits" },
            );
        }
        match &access.input {
            None if !coloured => {
                let text = format!("{who} accesses meter `{name}` without a sample");
                self.error(text, "a filter takes the value that it averages");
            }
            None => {}
            Some(e) => {
                if leaf(e).is_none() {
                    let text = format!("{who} computes the input of meter `{name}`");
                    self.error(text, "compute it in an earlier action and pass the metadata field");
                }
                let width = width(p, e, self.site, &self.data.params, self.d);
                let most = if coloured { 2 } else { 32 };
                if let Some(width) = width.filter(|w| *w > most) {
                    let text = format!("{who} passes {width} bits to meter `{name}`, which takes {most}");
                    self.error(text, "slice the value");
                }
            }
        }
        self.index(&access.index, data.home, ("meter", name));
    }

    /// Checks the index of a register or meter: of the right kind, a leaf, able to be below the size.
    fn index(&mut self, index: &Index, home: CounterHome, (word, name): (&str, &str)) {
        let (p, who) = (self.p, self.site.who);
        let cells = p.cells(home);
        let expr = match (index, home) {
            (Index::Entry, CounterHome::Direct(_)) => return,
            (Index::Entry, CounterHome::Indirect(_)) => {
                let text = format!("{who} accesses {word} `{name}` at the matched entry");
                let help =
                    format!("the {word} is indirect: give it an index, or make it direct to the table");
                return self.error(text, help);
            }
            (_, CounterHome::Direct(_)) => {
                let text = format!("{who} accesses {word} `{name}` at an index");
                let help =
                    format!("the {word} is direct: its index is the matched entry; leave the index out");
                return self.error(text, help);
            }
            (Index::At(e), _) => e,
            (Index::Hash(hash), _) => {
                let bits = p.hashes[*hash].width;
                return self.reach(bits, cells, name);
            }
        };
        if leaf(expr).is_none() {
            let text = format!("{who} computes the index of {word} `{name}`");
            return self.error(text, "compute it in an earlier action and use the metadata field as index");
        }
        let Some(width) = width(p, expr, self.site, &self.data.params, self.d) else { return };
        match expr {
            Expr::Const(value, _) if *value >= cells.into() => {
                let text = format!("{who} accesses `{name}` at {value}, but it has {cells} elements");
                self.error(
                    text,
                    "an index beyond the end accesses nothing: use a smaller index or more elements",
                );
            }
            Expr::Const(..) => {}
            _ => self.reach(width, cells, name),
        }
    }

    /// Compares the width of an index with the number of cells.
    fn reach(&mut self, width: u16, cells: u32, name: &str) {
        let who = self.site.who;
        if width > 32 {
            let text = format!("{who} accesses `{name}` by {width} bits; an address has at most 32");
            self.error(text, "slice the index");
        } else if !fits(u128::from(cells.saturating_sub(1)), width) {
            let text = format!(
                "{who} accesses `{name}` by {width} bits, which do not reach all of its {cells} elements"
            );
            self.d.push(Diag::warning(self.site.loc, text).help("use a wider index or fewer elements"));
        }
    }

    fn writable(&mut self, dst: Field) {
        if is_read_only(self.p, dst) {
            let name = &self.p.fields[dst].name;
            let text = format!("{} writes `{name}`, which only the hardware writes", self.site.who);
            let help = if Intrinsic::named(self.data.gress, name) == Some(Intrinsic::DropCtl) {
                "drop with a label, or write it by `set_drop_ctl` with the label of the drop"
            } else {
                "copy it to a metadata field and change that"
            };
            self.error(text, help);
        }
    }

    fn same_width(&mut self, dst: Field, width: Option<u16>, what: &str) {
        let dst = &self.p.fields[dst];
        if let Some(width) = width.filter(|w| *w != dst.width) {
            let text = format!(
                "{} sets `{}` of {} bits to {what} of {width} bits",
                self.site.who, dst.name, dst.width
            );
            self.error(text, "make both equally wide: cast or slice the value");
        }
    }

    fn register(&mut self, access: &RegisterAccess) {
        let p = self.p;
        let code = &p.register_actions[access.action];
        let data = &p.registers[code.register];
        let (who, name) = (self.site.who, &data.name);
        for (word, dst) in &access.outputs {
            self.writable(*dst);
            let field = &p.fields[*dst];
            if *word > 3 {
                let text =
                    format!("{who} takes output word {word} of `{}`; there are words 0 to 3", code.name);
                self.error(text, "use a lower word");
            } else if !registers::outputs(code, *word) {
                let text =
                    format!("{who} takes output word {word} of `{}`, which never writes it", code.name);
                self.error(text, "write it in the register action, or take another word");
            }
            if field.width > 32 {
                let text = format!(
                    "{who} sets `{}` of {} bits to an output word of 32 bits",
                    field.name, field.width
                );
                self.error(text, "use a field of at most 32 bits, or one field per output word");
            }
        }
        self.index(&access.index, data.home, ("register", name));
    }

    fn count(&mut self, c: Counter, index: &Expr) {
        let (who, counter) = (self.site.who, &self.p.counters[c]);
        let name = &counter.name;
        let CounterHome::Indirect(size) = counter.home else {
            let text = format!("{who} counts `{name}` at an index");
            return self
                .error(text, "the counter is direct: its index is the matched entry; leave the index out");
        };
        if leaf(index).is_none() {
            let text = format!("{who} computes the index of counter `{name}`");
            self.error(text, "compute it in an earlier action and use the metadata field as index");
        }
        let Some(width) = width(self.p, index, self.site, &self.data.params, self.d) else { return };
        match index {
            Expr::Const(value, _) if *value >= size.into() => {
                let text = format!("{who} counts `{name}` at {value}, but it has {size} cells");
                self.error(text, "an index beyond the end counts nothing: use a smaller index or more cells");
            }
            Expr::Const(..) => {}
            _ if !fits(u128::from(size.saturating_sub(1)), width) => {
                let text = format!(
                    "{who} counts `{name}` by {width} bits, which do not reach all of its {size} cells"
                );
                self.d.push(Diag::warning(self.site.loc, text).help("use a wider index or fewer cells"));
            }
            _ => {}
        }
    }
}

/// Things that a primitive can access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Touched {
    /// Bits of a field: the highest and the lowest.
    Bits(Field, u16, u16),
    Valid(Header),
    DropCtl,
    Array(arrays::Array),
}

impl Touched {
    fn field(p: &Program, field: Field) -> Touched {
        Touched::Bits(field, p.fields[field].width.saturating_sub(1), 0)
    }

    /// Returns true if both have a bit in common, or are the same thing.
    fn meets(self, other: Touched) -> bool {
        match (self, other) {
            (Touched::Bits(f, hi, lo), Touched::Bits(g, high, low)) => f == g && lo <= high && low <= hi,
            (a, b) => a == b,
        }
    }

    fn name(self, p: &Program) -> String {
        match self {
            Touched::Bits(f, ..) => format!("`{}`", p.fields[f].name),
            Touched::Valid(h) => format!("the validity of `{}`", p.headers[h].name),
            Touched::DropCtl => "`drop_ctl`".to_owned(),
            Touched::Array(array) => array.name(p),
        }
    }
}

fn written(p: &Program, primitive: &Primitive) -> Vec<Touched> {
    let one = match &primitive.kind {
        PrimitiveKind::Set(f, _)
        | PrimitiveKind::Hash(f, _)
        | PrimitiveKind::SetMasked(f, ..)
        | PrimitiveKind::HashSlice(f, ..) => Touched::field(p, *f),
        PrimitiveKind::SetSlice(f, hi, lo, _) | PrimitiveKind::HashInto(f, hi, lo, ..) => {
            Touched::Bits(*f, *hi, *lo)
        }
        PrimitiveKind::SetValid(h, _) | PrimitiveKind::CopyValid(h, _) => Touched::Valid(*h),
        PrimitiveKind::Count(..) | PrimitiveKind::CountDirect(_) => {
            return arrays::of(p, &primitive.kind).map(Touched::Array).into_iter().collect();
        }
        PrimitiveKind::Register(access) => {
            let fields = access.outputs.iter().map(|(_, f)| Touched::field(p, *f));
            return arrays::of(p, &primitive.kind).map(Touched::Array).into_iter().chain(fields).collect();
        }
        PrimitiveKind::Meter(MeterAccess { to, .. }) | PrimitiveKind::Random(to, _) => {
            let array = arrays::of(p, &primitive.kind).map(Touched::Array);
            return array.into_iter().chain([Touched::field(p, *to)]).collect();
        }
        PrimitiveKind::Drop(_) | PrimitiveKind::DropCtl(..) => Touched::DropCtl,
    };
    vec![one]
}

/// Returns the bits of fields that a primitive reads. The bits that a write of a slice keeps do not
/// count.
fn read(p: &Program, primitive: &Primitive) -> Vec<(Field, Touched)> {
    let mut list = Vec::new();
    match &primitive.kind {
        PrimitiveKind::Set(_, value)
        | PrimitiveKind::SetSlice(.., value)
        | PrimitiveKind::DropCtl(_, value, _)
        | PrimitiveKind::Count(_, value) => {
            value.field_bits(p, &mut |f, hi, lo| list.push((f, Touched::Bits(f, hi, lo))));
        }
        _ => primitive.reads(p, &mut |f| list.push((f, Touched::field(p, f)))),
    }
    // A drop writes `drop_ctl` without naming it.
    for (f, touched) in &mut list {
        if p.fields[*f].home == Home::Intrinsic(Intrinsic::DropCtl) {
            *touched = Touched::DropCtl;
        }
    }
    list
}

/// Checks that all primitives of an action can run at once.
fn independent(p: &Program, data: &ActionData, d: &mut Vec<Diag>) {
    let who = crate::words::subject(data);
    let help = "the primitives of an action run at once: split it into two actions";
    let mut before: Vec<(Touched, Loc)> = Vec::new();
    for (position, primitive) in data.body.iter().enumerate() {
        let clash = |t: Touched| before.iter().find(|(w, _)| w.meets(t)).map(|(_, loc)| *loc);
        let in_exchange = exchanges(p, &data.body, position);
        for (f, bits) in read(p, primitive) {
            if let Some(loc) = clash(bits).filter(|_| !in_exchange) {
                let text = format!("{who} reads `{}` after writing it", p.fields[f].name);
                d.push(Diag::error(primitive.loc, text).also(loc, "written here").help(help));
            }
        }
        if let PrimitiveKind::CopyValid(_, from) = primitive.kind
            && let Some(loc) = clash(Touched::Valid(from))
        {
            let text = format!("{who} reads the validity of `{}` after writing it", p.headers[from].name);
            d.push(Diag::error(primitive.loc, text).also(loc, "written here").help(help));
        }
        for writes in written(p, primitive) {
            let clash = |t: Touched| before.iter().find(|(w, _)| w.meets(t)).map(|(_, loc)| *loc);
            if let Some(loc) = clash(writes) {
                let (verb, again) = match writes {
                    Touched::Array(array) => (array.verb(), array.help()),
                    _ => ("writes", help),
                };
                let text = format!("{who} {verb} {} twice", writes.name(p));
                d.push(Diag::error(primitive.loc, text).also(loc, "the first time").help(again));
            }
            before.push((writes, primitive.loc));
        }
    }
}

/// Checks that only actions of its table access a direct array.
fn direct(p: &Program, d: &mut Vec<Diag>) {
    for (a, data) in p.actions.iter() {
        for primitive in &data.body {
            let Some(array) = arrays::of(p, &primitive.kind) else { continue };
            let Some(CounterHome::Direct(own)) = array.home(p) else { continue };
            let other = p.tables.iter().find(|(t, _)| *t != own && table_actions(p, *t).contains(&a));
            let elsewhere = match other {
                Some((_, table)) => Some((format!("table `{}` runs it", table.name), table.loc)),
                None => called(p, a).map(|loc| ("it is called without a table".to_owned(), loc)),
            };
            if let Some((reason, loc)) = elsewhere {
                let (name, table, word) = (array.bare_name(p), &p.tables[own].name, array.word());
                let text = format!(
                    "{} {} `{name}`, the direct {word} of table `{table}`, but {reason}",
                    crate::words::subject(data),
                    array.verb()
                );
                let diag = Diag::error(primitive.loc, text).also(loc, "run here");
                let help = format!("use a separate action in the other place, or make the {word} indirect");
                d.push(diag.help(help));
            }
        }
    }
}

/// Returns the place where an action is called without a table.
fn called(p: &Program, action: Action) -> Option<Loc> {
    Gress::ALL.into_iter().find_map(|gress| {
        let cfg = Cfg::of(p, gress);
        let node = cfg.nodes.values().find(|n| n.kind == NodeKind::Action(action));
        node.map(|n| n.loc)
    })
}
