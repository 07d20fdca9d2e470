//! Cases of a sweep: every combination of its keys' values.

use super::scenario::{Axis, Case, Scenario, Setting};
use crate::language::expr::Expr;
use toml::Value;

/// Returns the cases of a scenario: the named ones, every combination of its sweep, or a single case without a name.
///
/// # Errors
/// If a key cannot take a value, or the scenario has both `case` and `sweep`.
pub(crate) fn cases(scenario: &Scenario) -> Result<Vec<Case>, String> {
    if scenario.sweep.is_empty() {
        let named = scenario.case.clone();
        return Ok(if named.is_empty() { vec![Case::default()] } else { named });
    }
    if !scenario.case.is_empty() {
        return Err("found `sweep` and `case`; write only one of them".to_owned());
    }
    let mut cases = vec![Case::default()];
    for axis in &scenario.sweep {
        let mut next = Vec::new();
        for case in &cases {
            for value in &axis.values {
                next.push(with(case, axis, value)?);
            }
        }
        cases = next;
    }
    Ok(cases)
}

fn with(case: &Case, axis: &Axis, value: &Value) -> Result<Case, String> {
    let mut case = case.clone();
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let blank = if case.name.is_empty() { "" } else { " " };
    case.name = format!("{}{blank}{}={text}", case.name, axis.key);
    let bad = |e: &dyn std::fmt::Display| format!("sweep of `{}`: {e}", axis.key);
    match axis.key.as_str() {
        "speed" => case.device.speed = Some(text.parse().map_err(|e| bad(&e))?),
        "ports" => case.device.ports = Some(text.parse().map_err(|e| bad(&e))?),
        "cable" => {
            text.parse::<sluice_asic::units::Length>().map_err(|e| bad(&e))?;
            let mut change = case.device.change.take().unwrap_or_default();
            change.insert("cable".to_owned(), Value::String(text));
            case.device = Setting { change: Some(change), ..case.device };
        }
        key => {
            let number =
                value.as_integer().ok_or_else(|| bad(&format!("`{text}`; expected a whole number")))?;
            case.names.insert(key.to_owned(), Expr::parse(&number.to_string()).map_err(|e| bad(&e))?);
        }
    }
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScenarioFile;

    #[test]
    fn every_combination() {
        let text = "[[scenario]]\nid = \"1\"\nsource = \"s\"\ntitle = \"t\"\n\
            sweep = [{ key = \"speed\", values = [\"25G\", \"100G\"] }, { key = \"n\", values = [1, 2, 3] }]\n\
            steps = [{ expect = { what = \"total\", is = 0 } }]\n";
        let file = ScenarioFile::parse("a", text).unwrap();
        let found = cases(file.scenario[0].get_ref()).unwrap();
        assert_eq!(found.len(), 6);
        assert_eq!(found[5].name, "speed=100G n=3");
        let bad = text.replace("\"25G\"", "\"fast\"");
        let file = ScenarioFile::parse("a", &bad).unwrap();
        assert!(cases(file.scenario[0].get_ref()).unwrap_err().contains("sweep of `speed`"));
    }
}
