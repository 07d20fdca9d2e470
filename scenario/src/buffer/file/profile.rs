//! Applies a scenario's changes to a buffer profile.
//!
//! A change is a table like the profile's. Tables are merged key by key. In a list of tables, the changes apply to all
//! tables with the same `name` (for `pg` and `queue`: the same `pgs`, `queues`); tables without a match are inserted at
//! the front. `without = ["key"]` removes keys.

use toml::{Table, Value};

/// The key that lists keys to remove.
const WITHOUT: &str = "without";

/// Returns the text of a profile with changes; later changes override earlier ones.
///
/// # Errors
/// If the text is not TOML.
pub fn changed(text: &str, changes: &[&Table]) -> Result<String, String> {
    if changes.is_empty() {
        return Ok(text.to_owned());
    }
    let mut table: Table = toml::from_str(text).map_err(|e| e.message().to_owned())?;
    changes.iter().for_each(|change| merge(&mut table, change));
    toml::to_string(&table).map_err(|e| e.to_string())
}

fn merge(into: &mut Table, change: &Table) {
    for key in change.get(WITHOUT).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        into.remove(key);
    }
    for (key, value) in change.iter().filter(|(key, _)| *key != WITHOUT) {
        match (into.get_mut(key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new)) if new.iter().all(Value::is_table) => {
                merge_list(old, new);
            }
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

fn merge_list(old: &mut Vec<Value>, new: &[Value]) {
    let mut added = Vec::new();
    for change in new.iter().filter_map(Value::as_table) {
        let mut found = false;
        for item in old.iter_mut().filter_map(Value::as_table_mut) {
            if same(item, change) {
                merge(item, change);
                found = true;
            }
        }
        if !found {
            let mut new = Table::new();
            merge(&mut new, change);
            added.push(Value::Table(new));
        }
    }
    old.splice(0..0, added);
}

fn same(a: &Table, b: &Table) -> bool {
    let by = ["name", "pgs", "queues"];
    let Some(key) = by.into_iter().find(|key| b.contains_key(*key)) else { return false };
    a.get(key) == b.get(key) && a.get("ports") == b.get("ports")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_merge_and_lists_by_name() {
        let text = "cell = \"1B\"\n[[pool]]\nname = \"a\"\nsize = 1\nxoff = 3\n[[pool]]\nname = \"b\"\nsize = 2\n[d]\nx = 1\n";
        let change: Table = toml::from_str(
            "cell = \"2B\"\npool = [{ name = \"a\", size = 9, without = [\"xoff\"] }, { name = \"c\" }]\nd = { y = 2 }",
        )
        .unwrap();
        let found: Table = toml::from_str(&changed(text, &[&change]).unwrap()).unwrap();
        let expected: Table = toml::from_str(
            "cell = \"2B\"\n[[pool]]\nname = \"c\"\n[[pool]]\nname = \"a\"\nsize = 9\n[[pool]]\nname = \"b\"\nsize = 2\n[d]\nx = 1\ny = 2\n",
        )
        .unwrap();
        assert_eq!(found, expected);
        assert_eq!(changed(text, &[]).unwrap(), text);
    }
}
