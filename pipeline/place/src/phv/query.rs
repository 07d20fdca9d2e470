//! Queries on an allocation.

use crate::data::{FieldSlice, PhvAllocation};
use sluice_asic::phv::Container;
use sluice_ir::cfg::Var;
use sluice_ir::{Field, Header, Program};

impl PhvAllocation {
    /// Returns the containers of a field or validity bit, each once, most significant part first; empty if it is not
    /// allocated. Two nodes conflict if they write variables that share a container.
    pub fn containers_of(&self, var: Var) -> impl Iterator<Item = Container> + use<> {
        let mut list = match var {
            Var::Field(f) => self.slices(f).iter().map(|s| s.container).collect(),
            Var::Valid(h) => {
                self.valid.get(h).copied().flatten().map(|b| b.container).into_iter().collect::<Vec<_>>()
            }
        };
        let mut seen = Vec::with_capacity(list.len());
        list.retain(|c| {
            let new = !seen.contains(c);
            seen.push(*c);
            new
        });
        list.into_iter()
    }

    /// Returns the slices of a field, most significant first; empty if it is not allocated.
    #[must_use]
    pub fn slices(&self, field: Field) -> &[FieldSlice] {
        self.fields.get(field).map_or(&[], Vec::as_slice)
    }

    /// Returns the containers of a header in wire order, each with the header byte at which it begins; empty if the header
    /// is not allocated.
    #[must_use]
    pub fn header_containers(&self, program: &Program, header: Header) -> Vec<(u32, Container)> {
        let mut list: Vec<(u32, Container)> = Vec::new();
        let mut end = 0;
        for &field in &program.headers[header].fields {
            end += u32::from(program.fields[field].width);
            for s in self.slices(field) {
                let first = end.saturating_sub(u32::from(s.lo + s.width));
                if !list.iter().any(|(_, c)| *c == s.container) {
                    list.push((first / 8, s.container));
                }
            }
        }
        list
    }

    /// Returns all variables with bits in a container: fields in order of declaration, then validity bits.
    pub fn users(&self, container: Container) -> impl Iterator<Item = Var> + '_ {
        let fields = self.fields.iter().filter(move |(_, s)| s.iter().any(|s| s.container == container));
        let valid = self.valid.iter().filter(move |(_, b)| b.is_some_and(|b| b.container == container));
        fields.map(|(f, _)| Var::Field(f)).chain(valid.map(|(h, _)| Var::Valid(h)))
    }
}
