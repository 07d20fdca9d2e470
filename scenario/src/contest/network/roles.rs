//! Gives the switches of a plan the programs that `roles` names.

use crate::contest::file::contest::Contestant;
use crate::contest::file::roles::{RoleProgram, RoleSetting};
use sluice_asic::names::did_you_mean;
use sluice_fabric::topology::{Blueprint, SwitchPlan};

/// How well a key of `roles` fits a switch: 3 for its name, 2 for a name with `*`, 1 for a role.
fn fits(key: &str, plan: &Blueprint, number: usize, switch: &SwitchPlan) -> Option<u8> {
    if key == switch.name {
        return Some(3);
    }
    if let Some(start) = key.strip_suffix('*') {
        return switch.name.starts_with(start).then_some(2);
    }
    let hosts = plan.hosts.iter().any(|host| host.at.iter().any(|at| at.switch as usize == number));
    let stage = key.strip_prefix("stage").and_then(|stage| stage.parse().ok());
    (key == "leaf" && hosts || key == "spine" && !hosts || stage == Some(switch.stage)).then_some(1)
}

/// Sets the programs of a plan's switches by the roles of a contestant.
///
/// # Errors
/// If a key fits no switch, or a switch has no program.
pub(super) fn assign(contestant: &Contestant, plan: &mut Blueprint) -> Result<(), String> {
    if contestant.roles.is_empty() {
        return Ok(());
    }
    let fitting = |plan: &Blueprint, key: &str| {
        plan.switches.iter().enumerate().any(|(number, switch)| fits(key, plan, number, switch).is_some())
    };
    if let Some(key) = contestant.roles.keys().find(|key| !fitting(plan, key)) {
        let names = plan.switches.iter().map(|switch| switch.name.as_str());
        let known = ["leaf", "spine", "stage1", "stage2", "stage3"].into_iter().chain(names);
        let near = did_you_mean(key, known);
        return Err(format!(
            "roles: no switch is `{key}`{near}; expected leaf, spine, stageN, or names of switches"
        ));
    }
    for number in 0..plan.switches.len() {
        let switch = &plan.switches[number];
        let best =
            contestant.roles.iter().filter_map(|(key, role)| Some((fits(key, plan, number, switch)?, role)));
        // Of equally good keys, the first one in the order of the alphabet.
        let best = best.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, role)| role);
        let Some(role) = best else {
            if contestant.name.is_empty() {
                let name = &switch.name;
                return Err(format!(
                    "roles say nothing about switch `{name}`; add its role, or `name` for all others"
                ));
            }
            continue;
        };
        let switch = &mut plan.switches[number];
        switch.program = Some(role.name().to_owned());
        if let RoleSetting::Program(RoleProgram { params, buffer, .. }) = role {
            let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            switch.params = params.iter().map(|(key, value)| (key.clone(), text(value))).collect();
            switch.buffer = buffer.clone().or_else(|| switch.buffer.take());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_fabric::topology::built;

    fn programs(roles: &str) -> Result<Vec<String>, String> {
        let contestant: Contestant = toml::from_str(roles).unwrap();
        let mut plan = built("leaf-spine:leaves=2,spines=2,hosts=1").unwrap();
        assign(&contestant, &mut plan)?;
        Ok(plan.switches.iter().map(|switch| switch.program.clone().unwrap_or_default()).collect())
    }

    #[test]
    fn names_count_more_than_roles() {
        let all =
            programs("roles = { leaf = \"a\", spine = \"b\", spine1 = \"c\", \"leaf*\" = { name = \"d\" } }");
        assert_eq!(all.unwrap(), ["d", "d", "b", "c"]);
        assert_eq!(programs("name = \"x\"\nroles = { stage2 = \"b\" }").unwrap(), ["", "", "b", "b"]);
    }

    #[test]
    fn every_switch_has_a_program_and_every_key_a_switch() {
        let error = programs("roles = { leaf = \"a\" }").unwrap_err();
        assert!(error.contains("nothing about switch `spine0`"), "{error}");
        let error = programs("roles = { laef = \"a\" }").unwrap_err();
        assert!(error.contains("did you mean `leaf`?"), "{error}");
    }
}
