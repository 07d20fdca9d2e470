//! Members and groups of action profiles in TOML.

use super::{Rank, Reader, Value, start};
use crate::resolve::Problem;
use crate::{ControlOp, GroupMember};
use ::toml::de::{DeTable, DeValue};
use sluice_ir::Profile;

impl Reader<'_> {
    /// Reads `[[profile.NAME.member]]` and `[[profile.NAME.group]]`.
    pub(super) fn profile(&mut self, at: usize, name: &str, value: &Value<'_>) {
        let profile = self.resolver.profile(name);
        let (Some(profile), Some(body)) =
            (self.ok(at, profile), self.table(value, &format!("profile.{name}")))
        else {
            return;
        };
        self.only(body, &["member", "group"], "profile section");
        if let Some(members) = body.get("member") {
            for (at, member) in self.tables(members, &format!("profile.{name}.member")) {
                self.member(at, profile, member);
            }
        }
        if let Some(groups) = body.get("group") {
            for (at, group) in self.tables(groups, &format!("profile.{name}.group")) {
                self.group(at, profile, group);
            }
        }
    }

    fn member(&mut self, at: usize, profile: Profile, body: &DeTable<'_>) {
        self.only(body, &["id", "action", "args", "pipe"], "member key");
        let id = self.required(at, body, "id", "member");
        let call = self.call(at, body, &self.resolver.profile_actions(profile));
        let pipe = self.pipe(body);
        if let (Some(member), Some(call), Some(pipe)) = (id, call, pipe) {
            self.ops.push((Rank::Member, at, ControlOp::SetMember { profile, member, call }.in_pipe(pipe)));
        }
    }

    fn group(&mut self, at: usize, profile: Profile, body: &DeTable<'_>) {
        self.only(body, &["id", "members", "pipe"], "group key");
        let id = self.required(at, body, "id", "group");
        let Some(list) = body.get("members") else {
            self.problems.push((at, Problem::new("this group has no `members`")));
            return;
        };
        let DeValue::Array(list) = list.get_ref() else {
            self.expected::<()>(
                list,
                "`members`",
                "an array of member numbers or { member, weight, active }",
            );
            return;
        };
        let members: Vec<Option<GroupMember>> = list.iter().map(|m| self.group_member(m)).collect();
        let members: Option<Vec<GroupMember>> = members.into_iter().collect();
        if let (Some(group), Some(members), Some(pipe)) = (id, members, self.pipe(body)) {
            self.ops.push((Rank::Group, at, ControlOp::SetGroup { profile, group, members }.in_pipe(pipe)));
        }
    }

    fn group_member(&mut self, value: &Value<'_>) -> Option<GroupMember> {
        let DeValue::Table(body) = value.get_ref() else {
            let member = self.number(value, "a group's member")?;
            return Some(GroupMember { member, weight: 1, active: true });
        };
        self.only(body, &["member", "weight", "active"], "group member key");
        let member = self.required(start(value), body, "member", "group member");
        let weight = body.get("weight").map_or(Some(1), |w| self.number(w, "`weight`"));
        let active = match body.get("active").map(|a| (a, a.get_ref())) {
            None => Some(true),
            Some((_, DeValue::Boolean(active))) => Some(*active),
            Some((value, _)) => self.expected(value, "`active`", "true or false"),
        };
        Some(GroupMember { member: member?, weight: weight?, active: active? })
    }
}
