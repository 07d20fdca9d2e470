//! Deparsers.

use super::names::Taken;
use super::{Writer, title};
use sluice_asic::gress::Gress;
use sluice_ir::{Expr, Header, ListItem, Request, RequestKind, list_header};

impl Writer<'_> {
    /// Writes the deparser of the gress.
    pub(super) fn deparser(&mut self) {
        let (p, gress) = (self.p, self.gress);
        let side = match gress {
            Gress::Ingress => "ingress",
            Gress::Egress => "egress",
        };
        let prefix = super::layout::prefix(gress);
        let (headers, metadata) = (self.layout.headers_type(gress), self.layout.metadata_type(gress));
        let params = [
            "packet_out pkt".to_owned(),
            format!("inout {headers} hdr"),
            format!("in {metadata} {prefix}_md"),
            format!("in {side}_intrinsic_metadata_for_deparser_t {prefix}_intr_dprsr_md"),
        ];
        self.signature(&format!("control {}Deparser", title(gress)), &params);
        let data = &p.pipe(gress).deparser;
        let mut taken = Taken::in_control();
        let mut sums = Vec::new();
        for update in &data.checksums {
            let of = p.headers[update.header].name.replace('.', "_");
            let name = taken.numbered(&format!("{of}_checksum"));
            self.page.line(&format!("Checksum() {name};"));
            sums.push(name);
        }
        let objects = self.requesters(&data.requests, &mut taken);
        self.page.gap();
        self.page.open("apply");
        for (update, sum) in data.checksums.iter().zip(sums) {
            let header = self.layout.headers[update.header].clone();
            self.page.open(&format!("if ({header}.isValid())"));
            let items: Vec<String> = update.inputs.iter().map(|item| self.item(item)).collect();
            let before = format!("{} = {sum}.update({{ ", self.layout.fields[update.field]);
            let after = if update.zeros_as_ones { " }, true);" } else { " });" };
            self.page.list(&before, &items, after);
            self.page.close("");
        }
        for (request, object) in data.requests.iter().zip(objects) {
            self.request(request, &object);
        }
        self.emits(&data.emit);
        self.page.close("");
        self.page.close("");
    }

    /// Declares an object per kind of request, for digests one per type of data; returns the object of each request.
    fn requesters(&mut self, requests: &[Request], taken: &mut Taken) -> Vec<String> {
        let mut known: Vec<(String, String)> = Vec::new();
        let mut objects = Vec::new();
        for request in requests {
            let data = list_header(self.p, &request.data).map(|header| self.layout.types[header].clone());
            let (ty, wanted) = match (request.kind, data) {
                (RequestKind::Mirror(_), _) => ("Mirror".to_owned(), "mirror"),
                (RequestKind::Resubmit, _) => ("Resubmit".to_owned(), "resubmit"),
                (RequestKind::Digest, data) => (format!("Digest<{}>", data.unwrap_or_default()), "digest"),
                (RequestKind::Pktgen, _) => ("Pktgen".to_owned(), "pktgen"),
            };
            let found = known.iter().find(|(of, _)| *of == ty).map(|(_, name)| name.clone());
            objects.push(found.unwrap_or_else(|| {
                let name = taken.numbered(wanted);
                self.page.line(&format!("{ty}() {name};"));
                known.push((ty, name.clone()));
                name
            }));
        }
        objects
    }

    fn request(&mut self, request: &Request, object: &str) {
        let which = request.kind.type_field();
        let field = super::layout::intrinsic(self.gress, which);
        let value = match self.constants.request(self.gress, which, request.selector.into()) {
            Some(name) => name.to_owned(),
            None => request.selector.to_string(),
        };
        let data = match list_header(self.p, &request.data) {
            Some(header) => Some(self.layout.headers[header].clone()),
            None if request.data.is_empty() => None,
            None => {
                let items: Vec<String> = request.data.iter().map(|item| self.item(item)).collect();
                Some(format!("{{ {} }}", items.join(", ")))
            }
        };
        let text = match request.kind {
            RequestKind::Mirror(session) => {
                let session = &self.layout.fields[session];
                let session = format!("(MirrorId_t) {session}");
                let args: Vec<String> = [session].into_iter().chain(data).collect();
                format!("{object}.emit({});", args.join(", "))
            }
            RequestKind::Digest => format!("{object}.pack({});", data.unwrap_or_default()),
            RequestKind::Resubmit | RequestKind::Pktgen => {
                format!("{object}.emit({});", data.unwrap_or_default())
            }
        };
        self.page.open(&format!("if ({field} == {value})"));
        self.page.line(&text);
        self.page.close("");
    }

    /// Returns an item of a list: a field, a slice of one, or zeros.
    fn item(&self, item: &Expr) -> String {
        match ListItem::of(self.p, item) {
            Some(ListItem::Zeros(width)) => format!("{width}w0"),
            Some(ListItem::Bits(field, hi, lo)) => match item {
                Expr::Slice(..) => format!("{}[{hi}:{lo}]", self.layout.fields[field]),
                _ => self.layout.fields[field].clone(),
            },
            None => String::new(),
        }
    }

    /// Writes the emitted headers; the elements of a stack at once if they follow each other.
    fn emits(&mut self, headers: &[Header]) {
        let mut at = 0;
        while let Some(&header) = headers.get(at) {
            let stack = self.p.stack_of(header).filter(|(_, position)| *position == 0);
            let whole = stack.filter(|(stack, _)| {
                let elements = &self.p.stacks[*stack].headers;
                headers.get(at..at + elements.len()) == Some(elements.as_slice())
            });
            let (text, length) = match whole {
                Some((stack, _)) => (&self.layout.stacks[stack], self.p.stacks[stack].headers.len()),
                None => (&self.layout.headers[header], 1),
            };
            let text = format!("pkt.emit({text});");
            self.page.line(&text);
            at += length;
        }
    }
}
