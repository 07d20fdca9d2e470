//! Adding declarations to a program that a machine writes (a fuzzer, a front end); people use the builder.

use super::{Field, FieldData, Header, HeaderData, Home, Intrinsic, Loc, Program};
use sluice_asic::gress::Gress;

impl Program {
    /// Adds a field without a doc or a place.
    pub fn add_field(&mut self, gress: Gress, name: impl Into<String>, width: u16, home: Home) -> Field {
        let (doc, loc) = (String::new(), Loc::default());
        self.fields.push(FieldData { name: name.into(), gress, width, home, doc, loc })
    }

    /// The field that stands for an intrinsic, added as wide as on Tofino 2 if there is none yet.
    pub fn add_intrinsic(&mut self, gress: Gress, which: Intrinsic) -> Field {
        let info = which.info();
        self.intrinsic(gress, which)
            .unwrap_or_else(|| self.add_field(gress, info.name, info.tofino2, Home::Intrinsic(which)))
    }

    /// Adds a header with its fields in wire order, each a name and a width in bits; the fields are called
    /// `header.field`.
    pub fn add_header(&mut self, gress: Gress, name: &str, fields: &[(&str, u16)]) -> Header {
        let header = self.headers.next_key();
        let home = Home::Header(header);
        let fields =
            fields.iter().map(|(f, w)| self.add_field(gress, format!("{name}.{f}"), *w, home)).collect();
        let (doc, loc) = (String::new(), Loc::default());
        self.headers.push(HeaderData { name: name.to_owned(), gress, fields, doc, loc })
    }
}
