//! Declarations for programs that a machine writes (a fuzzer, a front end); people use the builder.

use super::{Field, FieldData, Header, HeaderData, Home, Intrinsic, Loc, Program};
use sluice_asic::gress::Gress;

impl Program {
    /// Adds a field without documentation and source location.
    pub fn add_field(&mut self, gress: Gress, name: impl Into<String>, width: u16, home: Home) -> Field {
        let (doc, loc) = (String::new(), Loc::default());
        self.fields.push(FieldData { name: name.into(), gress, width, home, doc, loc })
    }

    /// Returns the field of an intrinsic; adds it, as wide as on Tofino 2, if there is none.
    pub fn add_intrinsic(&mut self, gress: Gress, which: Intrinsic) -> Field {
        let info = which.info();
        self.intrinsic(gress, which)
            .unwrap_or_else(|| self.add_field(gress, info.name, info.tofino2, Home::Intrinsic(which)))
    }

    /// Adds a header with its fields in wire order, each given as name and width in bits. The fields are
    /// named `header.field`.
    pub fn add_header(&mut self, gress: Gress, name: &str, fields: &[(&str, u16)]) -> Header {
        let header = self.headers.next_key();
        let home = Home::Header(header);
        let fields =
            fields.iter().map(|(f, w)| self.add_field(gress, format!("{name}.{f}"), *w, home)).collect();
        let (doc, loc) = (String::new(), Loc::default());
        self.headers.push(HeaderData { name: name.to_owned(), gress, fields, doc, loc })
    }
}
