//! Lines `prefix,port`. A title names the columns: `prefix`, `port`, `next_hop` (an address) and `weight`. Lines of one
//! prefix are its next hops.

use super::{Hop, ReadRoutes};

const COLUMNS: [&str; 4] = ["prefix", "port", "next_hop", "weight"];

/// Returns true for the first line of a file.
pub(super) fn is_csv(line: &str) -> bool {
    let first = line.split(',').next().unwrap_or_default().trim();
    let plain = !first.contains(char::is_whitespace);
    plain && (COLUMNS.contains(&first) || first.contains(['/', '.']) || first == "default")
}

pub(super) fn read(text: &str) -> ReadRoutes {
    let mut found = ReadRoutes::default();
    let mut columns = vec!["prefix", "port", "weight"];
    let mut is_first = true;
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let cells: Vec<&str> = content.split(',').map(str::trim).collect();
        if std::mem::take(&mut is_first) && cells.iter().any(|cell| COLUMNS.contains(cell)) {
            if let Some(unknown) = cells.iter().find(|cell| !COLUMNS.contains(cell)) {
                found.wrong(line, format!("column `{unknown}`; expected {}", COLUMNS.join(", ")));
                return found;
            }
            columns = cells;
            continue;
        }
        row(&mut found, line, &columns, &cells);
    }
    found
}

fn row(found: &mut ReadRoutes, line: usize, columns: &[&str], cells: &[&str]) {
    if cells.len() > columns.len() {
        found.wrong(
            line,
            format!("{} cells; expected {}: {}", cells.len(), columns.len(), columns.join(", ")),
        );
        return;
    }
    let cell = |name: &str| {
        let at = columns.iter().position(|column| *column == name)?;
        cells.get(at).copied().filter(|cell| !cell.is_empty())
    };
    let Some(to) = cell("prefix") else {
        found.wrong(line, "the line has no prefix; expected one such as 10.1.0.0/16");
        return;
    };
    let same =
        matches!((found.routes.last(), super::prefix(to)), (Some(last), Ok(Some(to))) if last.to == to);
    if !same && !found.start(line, to) {
        return;
    }
    let via = match cell("next_hop").map(|text| (text, text.parse())) {
        None => None,
        Some((_, Ok(via))) => Some(via),
        Some((text, Err(_))) => {
            return found.wrong(line, format!("next_hop `{text}`; expected an address such as 10.0.0.1"));
        }
    };
    let weight = match cell("weight").map(|text| (text, text.parse())) {
        None => 1,
        Some((_, Ok(weight))) => weight,
        Some((text, Err(_))) => {
            return found.wrong(line, format!("weight `{text}`; expected a number such as 1"));
        }
    };
    let port = cell("port").map(str::to_owned);
    if via.is_none() && port.is_none() {
        return found.wrong(line, "the line has no next hop; expected a port or an address");
    }
    found.hop(Hop { line, via, port, weight });
}
