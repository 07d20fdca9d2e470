//! Action profiles and their selectors.

use super::draft::Name;
use super::gress::GressBuilder;
use super::handles::{HashRef, ProfileRef};
use sluice_asic::select::SelectorMode;
use sluice_ir::{Loc, ProfileData, SelectorData};

impl<'b> GressBuilder<'b> {
    /// Declares an action profile of `size` members, shared by the tables that name it.
    #[track_caller]
    pub fn profile(&self, size: u32) -> ProfileBuilder<'b> {
        let loc = Loc::caller();
        let name = self.builder.take_name("profile", loc);
        ProfileBuilder { gress: *self, name, size, selector: None, loc }
    }
}

/// An action profile under construction; [`ProfileBuilder::build`] declares it.
#[must_use = "the profile is declared by `.build()`"]
#[derive(Debug)]
pub struct ProfileBuilder<'b> {
    gress: GressBuilder<'b>,
    name: Name,
    size: u32,
    selector: Option<SelectorData>,
    loc: Loc,
}

impl ProfileBuilder<'_> {
    /// Lets entries refer to groups; `hash` selects a member. There are at most `groups` groups of at most
    /// `max_group_size` members.
    pub fn selector<const W: u16>(
        mut self,
        mode: SelectorMode,
        hash: HashRef<W>,
        groups: u32,
        max_group_size: u32,
    ) -> Self {
        self.selector = Some(SelectorData { mode, hash: hash.0, groups, max_group_size, scramble: false });
        self
    }

    /// Scrambles the selector's hash, so that the selected member is not a linear function of the hash.
    pub fn scrambled(mut self) -> Self {
        self.selector = self.selector.map(|s| SelectorData { scramble: true, ..s });
        self
    }

    /// Declares the profile.
    pub fn build(self) -> ProfileRef {
        let mut draft = self.gress.builder.draft();
        let name = self.name.unique(|n| draft.program.profile_named(n).is_some());
        ProfileRef(draft.program.profiles.push(ProfileData {
            name,
            gress: self.gress.gress,
            size: self.size,
            selector: self.selector,
            doc: self.name.doc,
            loc: self.loc,
        }))
    }
}
