//! Requests of deparsers: resubmits, mirror copies, digests.

use super::deparser::flag;
use super::{Diag, count, fits};
use crate::{
    Expr, Home, Intrinsic, ListItem, Loc, ParserOpKind, PrimitiveKind, Program, Request, RequestKind,
    list_header,
};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::intrinsic::Architecture;

/// The largest width of a mirror session's number among the chips (model: chip §10).
const SESSION_BITS: u16 = 10;

pub(super) fn check(p: &Program, gress: Gress, d: &mut Vec<Diag>) {
    let requests = &p.pipe(gress).deparser.requests;
    for (n, request) in requests.iter().enumerate() {
        selector(p, gress, request, d);
        data(p, gress, request, d);
        let same = |r: &&Request| {
            r.selector == request.selector
                && r.kind.word() == request.kind.word()
                && (r.when == request.when || r.when.is_none() || request.when.is_none())
        };
        if let Some(first) = requests[..n].iter().find(same) {
            let (word, value) = (request.kind.word(), request.selector);
            let text = format!("{gress} makes two {word}s for value {value} of its type field");
            let help = "give each a different value";
            d.push(Diag::error(request.loc, text).also(first.loc, "the first one").help(help));
        }
        match request.kind {
            RequestKind::Resubmit => resubmit(p, gress, request, d),
            RequestKind::Mirror(session) => {
                let field = &p.fields[session];
                if field.width > SESSION_BITS {
                    let text = format!(
                        "{gress} mirrors to the session in `{}`, which has {} bits, more than {SESSION_BITS}",
                        field.name, field.width
                    );
                    let help =
                        "Tofino has 10 bits for the session, Tofino 2 has 8: declare one of these widths";
                    d.push(Diag::error(request.loc, text).help(help));
                }
            }
            RequestKind::Digest if request.data.is_empty() => {
                let help = "name the header or the fields that the control plane gets beside the type";
                d.push(Diag::warning(request.loc, format!("{gress} makes a digest of nothing")).help(help));
            }
            RequestKind::Digest | RequestKind::Pktgen => {}
        }
    }
}

fn selector(p: &Program, gress: Gress, request: &Request, d: &mut Vec<Diag>) {
    let (word, info) = (request.kind.word(), request.kind.type_field().info());
    if !info.exists_in(gress) {
        let text = format!("{gress} cannot make a {word}");
        d.push(Diag::error(request.loc, text).help("only ingress can make it"));
        return;
    }
    if p.intrinsic(gress, info.field).is_none() {
        let text = format!("{gress} makes a {word} but does not declare `{}`", info.name);
        let help = "the field makes the request: declare it and set it in an action";
        d.push(Diag::error(request.loc, text).help(help));
    }
    if let Some(field) = request.when {
        flag(p, gress, field, &format!("a {word}"), request.loc, d);
    }
    let most = (1u32 << info.tofino2) - 1;
    let text = || format!("{gress} makes a {word} for value {} of `{}`", request.selector, info.name);
    if !fits(request.selector.into(), info.tofino2) {
        d.push(Diag::error(request.loc, text()).help(format!("the field has values up to {most}")));
    } else if request.selector == 0 && request.when.is_none() {
        let help = format!(
            "1 to {most} make a request; 0 does if `when` names a 1-bit field that the actions set, because the type \
             field is 0 before an action writes it"
        );
        d.push(Diag::error(request.loc, text()).help(help));
    }
}

/// Checks that a request carries whole bytes of fields and zeros.
fn data(p: &Program, gress: Gress, request: &Request, d: &mut Vec<Diag>) {
    let word = request.kind.word();
    for item in request.data.iter().filter(|item| ListItem::of(p, item).is_none()) {
        let text = format!("a {word} of {gress} carries `{}`", item.name(p));
        let help = "list fields, slices of fields, and zeros: write the value to a field first";
        d.push(Diag::error(request.loc, text).help(help));
    }
    let bits = request.bits(p);
    if !bits.is_multiple_of(8) {
        let text = format!("a {word} of {gress} carries {bits} bits");
        d.push(Diag::error(request.loc, text).help("fill the bytes with zeros, such as `7w0`"));
    }
}

fn resubmit(p: &Program, gress: Gress, request: &Request, d: &mut Vec<Diag>) {
    if request.data.is_empty() {
        return;
    }
    let states = || p.states.values().filter(|s| s.gress == gress);
    // The parser may extract another header of the same bytes.
    let taken = states().flat_map(|s| &s.ops).any(|op| match op.kind {
        ParserOpKind::Extract(h) => p.header_bits(h) == request.bits(p),
        ParserOpKind::Advance(bytes) => u32::from(bytes) * 8 >= request.bits(p),
        _ => false,
    });
    let flag = p.intrinsic(gress, Intrinsic::ResubmitFlag);
    let selects = flag.is_some_and(|flag| states().any(|s| s.select.contains(&flag.into())));
    if !taken || !selects {
        let name = match list_header(p, &request.data) {
            Some(header) => format!("header `{}`", p.headers[header].name),
            None => format!("a list of {} bytes", request.bits(p) / 8),
        };
        let text = format!("{name} is in front of resubmitted packets, but the parser does not expect it");
        let help = format!(
            "select on `{}` in the first state and extract a header of these bytes if it is 1",
            Intrinsic::ResubmitFlag.info().name
        );
        d.push(Diag::warning(request.loc, text).help(help));
    }
}

/// Checks requests against a chip.
pub(super) fn for_chip(p: &Program, chip: &ChipSpec, d: &mut Vec<Diag>) {
    let tna = Architecture::of(chip) == Architecture::Tna;
    let bits = |which: Intrinsic| if tna { which.info().tofino } else { which.info().tofino2 };
    for data in p.fields.values() {
        let Home::Intrinsic(which) = data.home else { continue };
        if bits(which) == 0 && !which.is_ghost() {
            let text = format!("`{}` is used, which {} does not have", which.info().name, chip.name);
            d.push(Diag::error(data.loc, text).help("leave it out on this chip"));
        }
    }
    for data in p.actions.values() {
        for primitive in &data.body {
            let PrimitiveKind::Set(dst, Expr::Const(value, _)) = &primitive.kind else { continue };
            let Home::Intrinsic(which) = p.fields[*dst].home else { continue };
            let narrow = bits(which);
            if which != Intrinsic::MirrorType || narrow == 0 || fits(*value, narrow) {
                continue;
            }
            let (who, field, chip) = (crate::words::subject(data), &p.fields[*dst].name, &chip.name);
            let text = format!("{who} sets `{field}` to {value}, but it has {narrow} bits on {chip}");
            d.push(Diag::error(primitive.loc, text).help(format!("use 1 to {}", (1u32 << narrow) - 1)));
        }
    }
    for gress in Gress::ALL {
        for request in &p.pipe(gress).deparser.requests {
            length(p, chip, gress, request, d);
        }
    }
    let egress = p.pipe(Gress::Egress).deparser.requests.iter();
    let mirror = egress.filter(|r| matches!(r.kind, RequestKind::Mirror(_))).map(|r| r.loc).next();
    if let Some(loc) =
        mirror.filter(|_| !tna && p.intrinsic(Gress::Egress, Intrinsic::MirrorIoSelect).is_none())
    {
        let text = format!(
            "egress mirrors packets as they leave, which {} does only if `mirror_io_select` is 1",
            chip.name
        );
        d.push(
            Diag::warning(loc, text)
                .help("declare the field and set it: 1 copies the packet as it leaves, 0 as it came in"),
        );
    }
}

fn length(p: &Program, chip: &ChipSpec, gress: Gress, request: &Request, d: &mut Vec<Diag>) {
    let limits = &chip.deparser;
    // A mirror header follows the session's number, whose bytes count (model: chip §6.4).
    let session = u32::from(SESSION_BITS).div_ceil(8);
    let (key, most, beside) = match request.kind {
        RequestKind::Resubmit => ("deparser.resubmit_bytes", limits.resubmit_bytes, 0),
        RequestKind::Mirror(_) => ("deparser.mirror_bytes", limits.mirror_bytes, session),
        RequestKind::Digest => ("deparser.digest_bytes", limits.digest_bytes, 0),
        RequestKind::Pktgen => ("deparser.pktgen_bytes", limits.pktgen_bytes, 0),
    };
    if request.data.is_empty() {
        return;
    }
    let bytes = request.bits(p).div_ceil(8) + beside;
    if bytes > most {
        let (word, loc): (_, Loc) = (request.kind.word(), request.loc);
        let name = match list_header(p, &request.data) {
            Some(header) => format!("header `{}`", p.headers[header].name),
            None => "a list".to_owned(),
        };
        let counted =
            if beside > 0 { format!(", {beside} bytes of session included") } else { String::new() };
        let text =
            format!("a {word} of {gress} carries {name}, {bytes} bytes{counted}; {} takes {most}", chip.name);
        let help =
            format!("send fewer fields: at most {}", count(most.saturating_sub(beside) as usize, "byte"));
        d.push(Diag::error(loc, text).help(help).limit(key, most, bytes));
    }
}
