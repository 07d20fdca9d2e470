//! Types of headers and structures, and the expressions that name fields and headers.
//!
//! Dots in names are structures: the field `flow.hash` is the member `hash` of the member `flow` of the metadata. The fields of the
//! structure `m`, which most programs have, are members of the metadata themselves.

use super::names::{Name, Taken};
use super::page::Page;
use sluice_asic::gress::Gress;
use sluice_ir::entity::EntityMap;
use sluice_ir::{Field, Header, Home, Intrinsic, Program, Stack};

/// The structure whose fields are members of the metadata themselves.
const MAIN: &str = "m";

/// A member of a structure.
#[derive(Debug)]
enum Member {
    Leaf { name: Name, ty: String, doc: String },
    Group { name: Name, ty: String, members: Vec<Member> },
}

impl Member {
    fn name(&self) -> &Name {
        match self {
            Member::Leaf { name, .. } | Member::Group { name, .. } => name,
        }
    }
}

/// A header type: instances with equal fields share it.
#[derive(Debug)]
struct HeaderType {
    name: String,
    doc: String,
    fields: Vec<(Name, u16, String)>,
}

/// Types, and the expressions of all storage.
#[derive(Debug)]
pub(super) struct Layout {
    /// The expression of each field: `hdr.ipv4.ttl`, `ig_md.row`, `ig_intr_md.ingress_port`.
    pub(super) fields: EntityMap<Field, String>,
    /// The expression of each header: `hdr.ipv4`, `hdr.hops[2]`.
    pub(super) headers: EntityMap<Header, String>,
    /// The expression of each stack: `hdr.hops`.
    pub(super) stacks: EntityMap<Stack, String>,
    /// The type of each header.
    pub(super) types: EntityMap<Header, String>,
    header_types: Vec<HeaderType>,
    /// The headers and the metadata of each gress.
    structs: [[Vec<Member>; 2]; 2],
}

/// Returns the prefix of types and parameters of a gress.
pub(super) fn prefix(gress: Gress) -> &'static str {
    match gress {
        Gress::Ingress => "ig",
        Gress::Egress => "eg",
    }
}

impl Layout {
    /// Lays out a program; `left_out` are fields without a place in the metadata.
    pub(super) fn of(p: &Program, left_out: &[Field]) -> Layout {
        let mut layout = Layout {
            fields: p.fields.values().map(|_| String::new()).collect(),
            headers: p.headers.values().map(|_| String::new()).collect(),
            stacks: p.stacks.values().map(|_| String::new()).collect(),
            types: p.headers.values().map(|_| String::new()).collect(),
            header_types: Vec::new(),
            structs: [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]],
        };
        layout.header_types(p);
        for gress in Gress::ALL {
            layout.headers_of(p, gress);
            layout.metadata_of(p, gress, left_out);
        }
        for (field, data) in p.fields.iter() {
            if let Home::Intrinsic(which) = data.home {
                layout.fields[field] = intrinsic(data.gress, which);
            }
        }
        layout
    }

    fn header_types(&mut self, p: &Program) {
        let mut taken = Taken::default();
        for (header, data) in p.headers.iter() {
            let mut own = Taken::default();
            let fields: Vec<(Name, u16, String)> = (data.fields.iter())
                .filter_map(|&field| p.fields.get(field))
                .map(|field| {
                    let short = field.name.strip_prefix(&format!("{}.", data.name)).unwrap_or(&field.name);
                    (own.take(short, "field"), field.width, field.doc.clone())
                })
                .collect();
            let layout = |fields: &[(Name, u16, String)]| -> Vec<(Name, u16)> {
                fields.iter().map(|(name, width, _)| (name.clone(), *width)).collect()
            };
            let known = self.header_types.iter().find(|known| layout(&known.fields) == layout(&fields));
            self.types[header] = match known {
                Some(known) => known.name.clone(),
                None => {
                    let base = match p.stack_of(header) {
                        Some((stack, _)) => p.stacks[stack].name.as_str(),
                        None => data.name.as_str(),
                    };
                    let wanted = format!("{}_h", base.rsplit('.').next().unwrap_or(base));
                    let name = taken.take(&wanted, prefix(data.gress)).text;
                    let doc = stack_doc(p, header).unwrap_or_else(|| data.doc.clone());
                    self.header_types.push(HeaderType { name: name.clone(), doc, fields });
                    name
                }
            };
        }
    }

    fn headers_of(&mut self, p: &Program, gress: Gress) {
        let mut members = Vec::new();
        for (header, data) in p.headers.iter().filter(|(_, data)| data.gress == gress) {
            let ty = self.types[header].clone();
            let path = match p.stack_of(header) {
                None => {
                    // The type has the documentation of its first instance.
                    let known = self.header_types.iter().any(|of| of.name == ty && of.doc == data.doc);
                    let doc = if known { "" } else { data.doc.as_str() };
                    place(&mut members, &data.name, "hdr", prefix(gress), ty, doc)
                }
                Some((stack, 0)) => {
                    let of = &p.stacks[stack];
                    let ty = format!("{ty}[{}]", of.headers.len());
                    let path = place(&mut members, &of.name, "hdr", prefix(gress), ty, "");
                    self.stacks[stack].clone_from(&path);
                    format!("{path}[0]")
                }
                Some((stack, at)) => format!("{}[{at}]", self.stacks[stack]),
            };
            for (position, &field) in data.fields.iter().enumerate() {
                let of = self.header_types.iter().find(|of| of.name == self.types[header]);
                if let Some((name, ..)) = of.and_then(|of| of.fields.get(position)) {
                    self.fields[field] = format!("{path}.{}", name.text);
                }
            }
            self.headers[header] = path;
        }
        self.structs[gress.index()][0] = members;
    }

    fn metadata_of(&mut self, p: &Program, gress: Gress, left_out: &[Field]) {
        let own = |home: Home| matches!(home, Home::Metadata | Home::PortMetadata);
        let all = p.fields.iter().filter(|(_, d)| d.gress == gress && own(d.home));
        let all: Vec<_> = all.filter(|(field, _)| !left_out.contains(field)).collect();
        let groups: Vec<&str> = all.iter().filter_map(|(_, d)| Some(d.name.split_once('.')?.0)).collect();
        let in_main =
            |name: &str| name.strip_prefix(MAIN).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned);
        // The members of `m` stand alone if no other structure has the name of one.
        let mut alone = all.iter().filter_map(|(_, d)| in_main(&d.name));
        let flat = !alone.any(|member| groups.contains(&member.split('.').next().unwrap_or_default()));
        let mut members = Vec::new();
        let root = format!("{}_md", prefix(gress));
        for (field, data) in all {
            let name = in_main(&data.name).filter(|_| flat).unwrap_or_else(|| data.name.clone());
            let ty = format!("bit<{}>", data.width);
            self.fields[field] = place(&mut members, &name, &root, prefix(gress), ty, &data.doc);
        }
        self.structs[gress.index()][1] = members;
    }

    /// Returns the type of a gress' headers.
    pub(super) fn headers_type(&self, gress: Gress) -> String {
        format!("{}_headers_t", prefix(gress))
    }

    /// Returns the type of a gress' metadata.
    pub(super) fn metadata_type(&self, gress: Gress) -> String {
        format!("{}_metadata_t", prefix(gress))
    }

    /// Writes all types.
    pub(super) fn write(&self, page: &mut Page) {
        for ty in &self.header_types {
            page.gap();
            page.comment(&ty.doc);
            page.open(&format!("header {}", ty.name));
            for (name, width, doc) in &ty.fields {
                let annotation = name.annotation().map_or(String::new(), |text| text + " ");
                page.noted(&format!("{annotation}bit<{width}> {};", name.text), doc);
            }
            page.close("");
        }
        for gress in Gress::ALL {
            let [headers, metadata] = &self.structs[gress.index()];
            write_struct(page, &self.headers_type(gress), headers);
            write_struct(page, &self.metadata_type(gress), metadata);
        }
    }
}

/// Returns the documentation of the stack of a header.
fn stack_doc(p: &Program, header: Header) -> Option<String> {
    p.stack_of(header).map(|(stack, _)| p.stacks[stack].doc.clone())
}

/// Adds a member under a name with dots, and returns its expression.
fn place(members: &mut Vec<Member>, name: &str, root: &str, prefix: &str, ty: String, doc: &str) -> String {
    let (first, rest) = match name.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (name, None),
    };
    let Some(rest) = rest else {
        let name = unique(members, first);
        let path = format!("{root}.{}", name.text);
        members.push(Member::Leaf { name, ty, doc: doc.to_owned() });
        return path;
    };
    let own = |member: &&mut Member| {
        let name = member.name();
        matches!(member, Member::Group { .. }) && name.own.as_deref().unwrap_or(&name.text) == first
    };
    let nested = format!("{prefix}_{first}");
    if members.iter_mut().find(own).is_none() {
        let name = unique(members, first);
        members.push(Member::Group { name, ty: format!("{nested}_t"), members: Vec::new() });
    }
    match members.iter_mut().find(own) {
        Some(Member::Group { name, members, .. }) => {
            let root = format!("{root}.{}", name.text);
            place(members, rest, &root, &nested, ty, doc)
        }
        _ => String::new(),
    }
}

/// Returns an identifier that no other member has.
fn unique(members: &[Member], own: &str) -> Name {
    let mut taken = Taken::default();
    members.iter().for_each(|member| {
        taken.take(&member.name().text, "member");
    });
    taken.take(own, "member")
}

fn write_struct(page: &mut Page, ty: &str, members: &[Member]) {
    for member in members {
        if let Member::Group { ty, members, .. } = member {
            write_struct(page, ty, members);
        }
    }
    page.gap();
    page.open(&format!("struct {ty}"));
    for member in members {
        let annotation = member.name().annotation().map_or(String::new(), |text| text + " ");
        let name = &member.name().text;
        match member {
            Member::Leaf { ty, doc, .. } => page.noted(&format!("{annotation}{ty} {name};"), doc),
            Member::Group { ty, .. } => page.line(&format!("{annotation}{ty} {name};")),
        }
    }
    page.close("");
}

/// Returns the expression of an intrinsic field.
pub(super) fn intrinsic(gress: Gress, which: Intrinsic) -> String {
    let name = which.info().name;
    let (of, member) = name.split_once('.').unwrap_or(("", name));
    let side = prefix(gress);
    match of {
        "ig_tm" => format!("ig_intr_tm_md.{member}"),
        "eg_oport" => format!("eg_intr_oport_md.{member}"),
        "prsr" => format!("{side}_intr_prsr_md.{member}"),
        "dprsr" => format!("{side}_intr_dprsr_md.{member}"),
        "ghost" => format!("g_intr_md.{member}"),
        _ => format!("{side}_intr_md.{member}"),
    }
}
