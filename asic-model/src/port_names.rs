//! Names of front-panel ports as the operator of a switch writes them: SONiC's `Ethernet4`, its aliases, or names of one's own.
//!
//! Three forms of files are read: SONiC's `port_config.ini`, the table `PORT` of a `config_db.json`, and lines `name,front`.

use crate::names::did_you_mean;
use crate::port::FrontPort;
use crate::units::BitRate;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Front-panel ports with their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortNames {
    /// By front-panel port.
    ports: BTreeMap<FrontPort, NamedPort>,
}

/// A named port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPort {
    /// The name that outputs show.
    pub name: String,
    /// A second name that inputs may use: SONiC's alias, such as `Ethernet1/1` or `etp1`.
    pub alias: Option<String>,
    /// Speed that the file gives.
    pub speed: Option<BitRate>,
}

/// Mistake in a file of port names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}: {place}: {message}")]
pub struct PortNamesError {
    /// The file, as the caller named it.
    pub origin: String,
    /// Line, or table and row.
    pub place: String,
    /// The mistake: the text found, and the form expected.
    pub message: String,
}

impl PortNames {
    /// Parses a file. Rows of SONiC's files are front-panel ports in the order of their names, the first one 0; `Ethernet8`
    /// comes before `Ethernet16`.
    ///
    /// # Errors
    /// Fails on a file of none of the three forms, on a name or front-panel port that is there twice, and on a file without
    /// ports.
    pub fn parse(origin: &str, text: &str) -> Result<Self, PortNamesError> {
        let error =
            |place: String, message: String| PortNamesError { origin: origin.to_owned(), place, message };
        let rows = match text.trim_start() {
            start if start.starts_with('{') => of_table(text),
            start if start.starts_with('#') && is_ini(text) => of_ini(text),
            _ => of_lines(text),
        };
        let names = Self::numbered(rows.map_err(|(place, message)| error(place, message))?);
        let names = names.map_err(|(place, message)| error(place, message))?;
        if names.ports.is_empty() {
            return Err(error("1".to_owned(), format!("the file names no port; expected {FORMS}")));
        }
        Ok(names)
    }

    /// Returns names for front-panel ports 0, 1, .. in the order of these names.
    #[must_use]
    pub fn in_order<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_by(|a, b| natural(a, b));
        names.dedup();
        let named = |name: &str| NamedPort { name: name.to_owned(), alias: None, speed: None };
        Self { ports: (0..=u16::MAX).map(FrontPort).zip(names.into_iter().map(named)).collect() }
    }

    /// Gives rows without a front-panel port one, in the order of their names.
    fn numbered(mut rows: Vec<Row>) -> Result<Self, (String, String)> {
        if rows.iter().all(|row| row.front.is_none()) {
            if let Some(row) = rows.get(MOST) {
                return Err((row.place.clone(), format!("the file names more than {MOST} ports")));
            }
            rows.sort_by(|a, b| natural(&a.port.name, &b.port.name));
            rows.iter_mut().zip(0..=u16::MAX).for_each(|(row, front)| row.front = Some(front));
        }
        let (mut names, mut known) = (Self::default(), BTreeSet::new());
        for Row { place, port, front } in rows {
            let front = FrontPort(front.unwrap_or_default());
            if !known.insert(port.name.clone()) {
                let text =
                    format!("the name `{}` is there twice; give every port a name of its own", port.name);
                return Err((place, text));
            }
            let name = port.name.clone();
            if let Some(other) = names.ports.insert(front, port) {
                return Err((place, format!("`{name}` is front-panel port {front}, as is `{}`", other.name)));
            }
        }
        Ok(names)
    }

    /// Returns the front-panel port of a name, or else of an alias.
    pub fn front(&self, name: &str) -> Option<FrontPort> {
        let find = |is: &dyn Fn(&NamedPort) -> bool| {
            self.ports.iter().find(|(_, port)| is(port)).map(|(front, _)| *front)
        };
        find(&|port| port.name == name).or_else(|| find(&|port| port.alias.as_deref() == Some(name)))
    }

    /// Returns the name of a front-panel port.
    pub fn name(&self, front: FrontPort) -> Option<&str> {
        self.ports.get(&front).map(|port| port.name.as_str())
    }

    /// Returns the question whether the nearest known name was meant; see [`did_you_mean`].
    pub fn did_you_mean(&self, name: &str) -> String {
        did_you_mean(name, self.ports.values().map(|port| port.name.as_str()))
    }

    /// Returns the fastest speed that the file gives a port; `None` if it gives none.
    pub fn fastest(&self) -> Option<BitRate> {
        self.ports.values().filter_map(|port| port.speed).max()
    }

    /// Returns all ports in the order of the front panel.
    pub fn iter(&self) -> impl Iterator<Item = (FrontPort, &NamedPort)> {
        self.ports.iter().map(|(front, port)| (*front, port))
    }
}

/// A row of a file.
struct Row {
    place: String,
    port: NamedPort,
    front: Option<u16>,
}

/// Most ports of a file, as many as there are numbers of front-panel ports.
const MOST: usize = 1 << 16;

const FORMS: &str = "SONiC's port_config.ini (`# name lanes alias ..`), a config_db.json with a table PORT, or lines \
                     `name,front` such as `Ethernet0,0`";

/// Compares names with the numbers in them as numbers.
fn natural(a: &str, b: &str) -> Ordering {
    let key = |text: &str| {
        let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (word, number) = text.split_at(text.len() - digits);
        (word.to_owned(), number.parse::<u64>().ok())
    };
    key(a).cmp(&key(b)).then_with(|| a.cmp(b))
}

fn megabits(text: &str) -> Option<BitRate> {
    text.trim().parse::<u64>().ok()?.checked_mul(1_000_000).map(BitRate::from_bps)
}

/// Reads the table `PORT`.
fn of_table(text: &str) -> Result<Vec<Row>, (String, String)> {
    let value: Value = serde_json::from_str(text).map_err(|e| (e.line().to_string(), e.to_string()))?;
    let Some(table) = value["PORT"].as_object() else {
        return Err(("PORT".to_owned(), format!("there is no such table; expected {FORMS}")));
    };
    let row = |(name, fields): (&String, &Value)| {
        let field = |key: &str| fields[key].as_str().map(str::to_owned);
        let speed = field("speed").as_deref().and_then(megabits);
        let alias = field("alias").filter(|alias| alias != name);
        Row {
            place: format!("PORT|{name}"),
            port: NamedPort { name: name.clone(), alias, speed },
            front: None,
        }
    };
    Ok(table.iter().map(row).collect())
}

/// Returns true if a comment before the first row is the title of a `port_config.ini`.
fn is_ini(text: &str) -> bool {
    let lines = text.lines().map(str::trim);
    let mut comments = lines.take_while(|line| line.is_empty() || line.starts_with('#'));
    comments.any(|line| line.trim_start_matches('#').split_whitespace().next() == Some("name"))
}

/// Reads a `port_config.ini`, whose first line names the columns.
fn of_ini(text: &str) -> Result<Vec<Row>, (String, String)> {
    let mut columns: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words = || line.trim_start_matches('#').split_whitespace();
        if line.trim_start().starts_with('#') {
            if words().next() == Some("name") {
                columns = words().collect();
            }
            continue;
        }
        let cells: Vec<&str> = words().collect();
        let Some(name) = cells.first().copied() else { continue };
        let cell =
            |title: &str| columns.iter().position(|c| *c == title).and_then(|at| cells.get(at).copied());
        let alias = cell("alias").filter(|alias| *alias != name).map(str::to_owned);
        let speed = match cell("speed") {
            None => None,
            Some(text) => Some(megabits(text).ok_or_else(|| {
                (number.to_string(), format!("speed `{text}`; expected megabits per second, such as 100000"))
            })?),
        };
        rows.push(Row {
            place: number.to_string(),
            port: NamedPort { name: name.to_owned(), alias, speed },
            front: None,
        });
    }
    Ok(rows)
}

/// Reads lines `name,front`; a title `name,front` and comments may be there.
fn of_lines(text: &str) -> Result<Vec<Row>, (String, String)> {
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() || (rows.is_empty() && line.replace(' ', "") == "name,front") {
            continue;
        }
        let cells = line.split_once(',').map(|(name, front)| (name.trim(), front.trim().parse::<u16>().ok()));
        let Some((name, Some(front))) = cells.filter(|(name, _)| !name.is_empty()) else {
            return Err((number.to_string(), format!("found `{line}`; expected {FORMS}")));
        };
        let port = NamedPort { name: name.to_owned(), alias: None, speed: None };
        rows.push(Row { place: number.to_string(), port, front: Some(front) });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fronts(names: &PortNames) -> Vec<(u16, &str)> {
        names.iter().map(|(front, port)| (front.0, port.name.as_str())).collect()
    }

    #[test]
    fn three_forms_of_files() {
        // A name comes before an alias that is the same.
        let ini = "# A licence\n##\n# name lanes alias index speed\nEthernet16 5,6 etp5 5 100000\n\
                   Ethernet8 1,2 etp1 1 40000\nEthernet20 7 Ethernet8 6 40000\n";
        let ini = PortNames::parse("a.ini", ini).unwrap();
        assert_eq!(fronts(&ini), [(0, "Ethernet8"), (1, "Ethernet16"), (2, "Ethernet20")]);
        assert_eq!((ini.front("etp5"), ini.front("etp2")), (Some(FrontPort(1)), None));
        assert_eq!(ini.front("Ethernet8"), Some(FrontPort(0)));
        assert_eq!(ini.iter().next().unwrap().1.speed, Some(BitRate::from_gbps(40)));
        assert_eq!(ini.fastest(), Some(BitRate::from_gbps(100)));
        let json = r#"{"PORT": {"Ethernet4": {"alias": "one", "speed": "100000"}, "Ethernet0": {}}}"#;
        assert_eq!(fronts(&PortNames::parse("a.json", json).unwrap()), [(0, "Ethernet0"), (1, "Ethernet4")]);
        let csv = PortNames::parse("a.csv", "name,front\nserver7, 3 # rack 2\n\nuplink,31\n").unwrap();
        assert_eq!(fronts(&csv), [(3, "server7"), (31, "uplink")]);
        assert_eq!(csv.did_you_mean("sever7"), "; did you mean `server7`?");
    }

    #[test]
    fn mistakes_are_placed() {
        let fails = |text: &str| PortNames::parse("f", text).unwrap_err().to_string();
        assert!(fails("").starts_with("f: 1: the file names no port"));
        assert!(fails("a,0\nb\n").starts_with("f: 2: found `b`; expected SONiC's"));
        assert!(fails("a,0\na,1\n").starts_with("f: 2: the name `a` is there twice"));
        assert!(fails("a,0\nb,0\n").starts_with("f: 2: `b` is front-panel port 0, as is `a`"));
        assert!(fails("{\"VLAN\": {}}").starts_with("f: PORT: there is no such table"));
        assert!(fails("{\n\"PORT\": {]}").starts_with("f: 2: "));
        let names: String = (0..65_537).map(|n| format!("Ethernet{n} {n}\n")).collect();
        assert!(fails(&format!("# name lanes\n{names}")).contains("the file names more than 65536 ports"));
        let slow = "# name lanes speed\nEthernet0 1 fast\n";
        assert!(fails(slow).starts_with("f: 2: speed `fast`; expected megabits"));
    }
}
