//! Value sets of parsers.

use super::gress::GressBuilder;
use super::handles::ValueSetRef;
use super::parser::StateRef;
use sluice_ir::verify::Diag;
use sluice_ir::{ArmSet, Loc, Next, ParamData, SelectArm, ValueSetData};

impl GressBuilder<'_> {
    /// Declares a value set: at most `size` members, which the control plane writes, with these fields, each given as name
    /// and width in bits.
    #[track_caller]
    pub fn value_set<const N: usize>(&self, size: u32, fields: [(&str, u16); N]) -> ValueSetRef {
        let loc = Loc::caller();
        let name = self.builder.take_name("value set", loc);
        let mut draft = self.builder.draft();
        let unique = name.unique(|n| draft.program.value_sets.values().any(|s| s.name == n));
        let fields = fields.iter().map(|(name, width)| ParamData { name: (*name).to_owned(), width: *width });
        let data = ValueSetData {
            name: unique,
            gress: self.gress,
            fields: fields.collect(),
            size,
            doc: name.doc,
            loc,
        };
        ValueSetRef(draft.program.value_sets.push(data))
    }
}

impl StateRef<'_> {
    /// Adds an arm: goes to `next` if a member of the set matches the select keys, of which the set has as many fields.
    #[track_caller]
    pub fn on_member(self, set: ValueSetRef, next: impl Into<Next>) -> Self {
        let (next, loc) = (next.into(), Loc::caller());
        let mut draft = self.builder.draft();
        let (keys, name) = {
            let state = &draft.program.states[self.id];
            (state.select.len(), state.name.clone())
        };
        let fields = draft.program.value_sets[set.0].fields.len();
        if keys == fields {
            let set = Some(ArmSet { set: set.0, first: 0 });
            draft.program.states[self.id].arms.push(SelectArm { values: vec![(0, 0); keys], set, next });
        } else {
            let text = format!(
                "an arm of parser state `{name}` has a value set with {fields} fields, but its select has {keys} keys"
            );
            let help = "call `select` first, with one key for each field of the set";
            draft.diags.push(Diag::error(loc, text).help(help));
        }
        drop(draft);
        self
    }
}
