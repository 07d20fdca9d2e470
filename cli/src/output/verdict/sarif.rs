//! SARIF 2.1.0: a result for each verdict that is not passed or skipped.

use super::{Ended, Verdict};
use serde_json::{Value, json};

/// Returns the document.
pub(super) fn value(command: &str, verdicts: &[Verdict]) -> Value {
    let mut rules: Vec<&str> = Vec::new();
    let mut results = Vec::new();
    for verdict in verdicts {
        let (level, text) = match &verdict.ended {
            Ended::Passed | Ended::Skipped(_) => continue,
            Ended::Failed(text) | Ended::Broken(text) => ("error", text),
        };
        let rule = rules.iter().position(|rule| *rule == verdict.name).unwrap_or_else(|| {
            rules.push(&verdict.name);
            rules.len() - 1
        });
        let mut result = json!({
            "ruleId": verdict.name,
            "ruleIndex": rule,
            "level": level,
            "message": { "text": format!("{}: {text}", verdict.suite) },
        });
        if let Some((file, line)) = &verdict.at {
            let mut place = json!({ "artifactLocation": { "uri": file.replace('\\', "/") } });
            if let Some(line) = line {
                place["region"] = json!({ "startLine": line });
            }
            result["locations"] = json!([{ "physicalLocation": place }]);
        }
        results.push(result);
    }
    let rules: Vec<Value> = rules.iter().map(|rule| json!({ "id": rule })).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": format!("sluice {command}"),
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::value;
    use crate::output::verdict::examples;
    use serde_json::json;

    #[test]
    fn only_what_failed_is_a_result() {
        let value = value("test", &examples());
        let results = value["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        assert_eq!(results[0]["message"]["text"], "a: expected \"0\" & found 3");
        assert_eq!(
            results[0]["locations"],
            json!([{ "physicalLocation": { "artifactLocation": { "uri": "a.toml" }, "region": { "startLine": 7 } } }])
        );
        assert_eq!(results[1]["ruleIndex"], 1);
    }
}
