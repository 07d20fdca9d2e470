//! Deparsers: emitted headers, and checksums.

use super::Diag;
use super::headers::Validity;
use super::possible::Possible;
use crate::{
    ChecksumUpdate, Expr, Field, Header, Home, Loc, ParserOpKind, PrimitiveKind, Program, list_bits,
};
use sluice_asic::gress::Gress;

/// Checks a deparser. `after` is the set of headers that can be valid there, if it is known.
pub(super) fn check(p: &Program, gress: Gress, after: Option<&Possible>, d: &mut Vec<Diag>) {
    let deparser = &p.pipe(gress).deparser;
    for (n, h) in deparser.emit.iter().enumerate() {
        if deparser.emit[..n].contains(h) {
            let text = format!("{gress} emits header `{}` twice", p.headers[*h].name);
            let help = "packets have its bytes twice: emit it once, at its place on the wire";
            d.push(Diag::warning(p.headers[*h].loc, text).help(help));
        }
    }
    for (n, update) in deparser.checksums.iter().enumerate() {
        checksum(p, gress, update, d);
        // Flags tell updates of one field apart; of several that are set, the last one decides.
        let same = |u: &&ChecksumUpdate| {
            u.field == update.field && (u.when == update.when || u.when.is_none() || update.when.is_none())
        };
        if let Some(first) = deparser.checksums[..n].iter().find(same) {
            let text = format!("{gress} updates checksum `{}` twice", p.fields[update.field].name);
            d.push(
                Diag::error(update.loc, text).also(first.loc, "the first time").help("remove one of them"),
            );
        }
    }
    if let Some(after) = after {
        emission(p, gress, after, d);
    }
}

/// Checks a field that decides whether the deparser does something.
pub(super) fn flag(p: &Program, gress: Gress, field: Field, what: &str, at: Loc, d: &mut Vec<Diag>) {
    let data = &p.fields[field];
    if data.width != 1 {
        let text = format!("{gress} makes {what} when `{}` is 1, which has {} bits", data.name, data.width);
        d.push(Diag::error(at, text).help("name a field of 1 bit"));
    }
}

fn checksum(p: &Program, gress: Gress, update: &ChecksumUpdate, d: &mut Vec<Diag>) {
    if let Some(field) = update.when {
        flag(p, gress, field, "a checksum", update.loc, d);
    }
    let (field, header) = (&p.fields[update.field], &p.headers[update.header].name);
    let mut error = |text: String, help: &str| d.push(Diag::error(update.loc, text).help(help));
    if field.width != 16 {
        let text = format!(
            "{gress} updates checksum `{}`, which has {} bits instead of 16",
            field.name, field.width
        );
        error(text, "a ones' complement checksum has 16 bits");
    }
    if field.home != Home::Header(update.header) {
        let text = format!("the checksum of header `{header}` uses `{}`, which is not in it", field.name);
        error(text, "name a field of the header");
    }
    for input in &update.inputs {
        let f = match input {
            Expr::Field(f) => *f,
            Expr::Const(0, _) => continue,
            _ => {
                let text = format!("the checksum of header `{header}` sums `{}`", input.name(p));
                error(text, "sum whole fields and zeros");
                continue;
            }
        };
        let name = &p.fields[f].name;
        match p.fields[f].home {
            Home::Header(h) if h == update.header || p.pipe(gress).deparser.emit.contains(&h) => {}
            Home::Header(_) => {
                let text = format!(
                    "the checksum of header `{header}` sums `{name}`, whose header {gress} does not emit"
                );
                error(text, "sum fields of headers that are emitted, and metadata");
            }
            Home::Metadata | Home::PortMetadata => {}
            Home::Intrinsic(_) => {
                let text = format!("the checksum of header `{header}` sums `{name}`, which is intrinsic");
                error(text, "copy it to a metadata field and sum that");
            }
        }
    }
    let bits = list_bits(p, &update.inputs);
    if bits == 0 || !bits.is_multiple_of(8) {
        let text = format!("the checksum `{}` is over {bits} bits", field.name);
        error(text, "sum whole bytes: name all other fields of the header");
    }
    if !p.pipe(gress).deparser.emit.contains(&update.header) {
        let text = format!("{gress} updates a checksum of header `{header}` but does not emit it");
        error(text, "emit the header or remove the update");
    }
}

/// Returns true if an action or the parser makes the header valid.
fn made_valid(p: &Program, h: Header) -> bool {
    let mut parsed = p.states.values().flat_map(|s| &s.ops);
    if parsed.any(|op| op.kind == ParserOpKind::SetValid(h, true)) {
        return true;
    }
    let mut steps = p.actions.values().flat_map(|a| &a.body);
    steps.any(|step| match step.kind {
        PrimitiveKind::SetValid(made, true) | PrimitiveKind::CopyValid(made, _) => made == h,
        _ => false,
    })
}

fn emission(p: &Program, gress: Gress, after: &Possible, d: &mut Vec<Diag>) {
    let validity = Validity::new(p, gress);
    let emit = &p.pipe(gress).deparser.emit;
    for (h, data) in p.headers.iter().filter(|(_, x)| x.gress == gress) {
        let (bit, name) = (validity.bit(h), &data.name);
        if bit.is_none() || after.is_never() {
            continue;
        }
        // A header that egress extracts and does not emit is a bridged header, which ends here.
        let bridged = gress == Gress::Egress && !made_valid(p, h);
        // A header in front of a resubmitted packet is not needed after parsing.
        let resubmitted = p.pipe(gress).deparser.requests.iter().any(|r| r.carries(p, h));
        if after.may(bit) && !emit.contains(&h) && !bridged && !resubmitted {
            let text = format!("header `{name}` may be valid after {gress} but is not emitted");
            d.push(
                Diag::warning(data.loc, text)
                    .help("its bytes are lost: emit it, or make it invalid on purpose"),
            );
        }
        if !after.may(bit) && emit.contains(&h) {
            let text = format!("{gress} emits header `{name}`, which is never valid");
            d.push(Diag::warning(data.loc, text).help("extract it, make it valid, or leave it out"));
        }
    }
}
