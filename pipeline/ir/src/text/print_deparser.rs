//! Printer of deparsers.

use super::print::Printer;
use crate::{Expr, Field, RequestKind, list_header};
use sluice_asic::gress::Gress;

impl Printer<'_> {
    pub(super) fn deparser(&mut self, gress: Gress) {
        let d = &self.p.pipe(gress).deparser;
        if d.checksums.is_empty() && d.emit.is_empty() && d.requests.is_empty() {
            return;
        }
        self.gress = Some(gress);
        self.doc("");
        self.open(format_args!("deparser {gress}"));
        for c in &d.checksums {
            let (field, header, inputs) =
                (self.field(c.field), self.header(c.header), self.values(&c.inputs));
            let zeros = if c.zeros_as_ones { ", zeros_as_ones" } else { "" };
            let when = self.when(c.when);
            self.line(format_args!("{field} = checksum({header}, {{ {inputs} }}{zeros}){when};"));
        }
        for r in &d.requests {
            let session = match r.kind {
                RequestKind::Mirror(f) => Some(self.field(f)),
                RequestKind::Resubmit | RequestKind::Digest | RequestKind::Pktgen => None,
            };
            let data = match list_header(self.p, &r.data) {
                Some(header) => Some(self.header(header)),
                None => (!r.data.is_empty()).then(|| format!("{{ {} }}", self.values(&r.data))),
            };
            let parts: Vec<String> =
                [Some(r.selector.to_string()), session, data].into_iter().flatten().collect();
            let when = self.when(r.when);
            self.line(format_args!("{}({}){when};", r.kind.word(), parts.join(", ")));
        }
        for &h in &d.emit {
            self.line(format_args!("emit({});", self.header(h)));
        }
        self.close();
    }

    fn when(&self, flag: Option<Field>) -> String {
        flag.map_or_else(String::new, |f| format!(" when {}", self.field(f)))
    }

    pub(super) fn values(&self, list: &[Expr]) -> String {
        list.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }
}
