//! Reads networks from TOML files.
//!
//! ```toml
//! name = "two tiers"
//! chip = "tofino2"            # flow-level experiments ignore chip, ports, programs, buffers, rates, delays and faults
//! port_speed = "400G"
//! program = "l3-ecmp"
//! params = { ipv4_routes = 4096 }
//! buffer = "tofino2"
//! rate = "400G"               # rate and delay: defaults for cables between switches
//! delay = "1us"
//! host_rate = "100G"          # host_rate and host_delay: defaults for the hosts' links
//! host_delay = "500ns"
//! [[switch]]
//! name = "leaf0"
//! stage = 1
//! block = 0
//! edge = true
//! hosts = 4
//! host_rate = "100G"          # in place of the network's
//! host_delay = "1us"
//! program = "ecmp"            # in place of the network's program
//! params = { stage = 1 }
//! entries = "leaf0.toml"      # in place of the entries derived from its position
//! buffer = "th"
//! [[host]]                    # one host, where it differs from the others of its switch
//! switch = "leaf0"
//! number = 0                  # from 0
//! port = 12
//! rate = "25G"
//! delay = "100ns"
//! [[cable]]
//! between = ["leaf0", "spine0"]
//! ports = [8, 0]
//! links = 1
//! weight = 1
//! rate = "100G"
//! delay = "5us"
//! loss = "1e-6"
//! corruption = "1e-6"
//! [[event]]
//! at = "1ms"
//! cable = ["leaf0", "spine0"]
//! number = 0                  # which of several cables between the two, from 0
//! from = "leaf0"              # in one direction only
//! set = "extra_delay"         # or down, up, loss, corruption
//! to = "3us"
//! [[event]]
//! at = "2ms"
//! switch = "leaf0"
//! op = "table_delete ipv4_route 3"
//! ```

use super::blueprint::{Attachment, Blueprint, CablePlan, Happening, SwitchPlan};
use super::{Network, TopologyError};
use crate::network::{LinkChange, Way};
use serde::Deserialize;
use sluice_asic::limits;
use sluice_asic::toml_reader::read;
use sluice_asic::units::{BitRate, Duration, Time};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use thiserror::Error;
use toml::Spanned;

/// Reason why a file is rejected.
#[derive(Debug, Error)]
pub enum FileError {
    /// The text is not TOML, or has unknown or missing keys.
    #[error("{origin}:{line}: {message}")]
    Toml {
        /// Name of the file.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// The mistake.
        message: String,
    },
    /// The network is invalid.
    #[error("{origin}: {source}")]
    Topology {
        /// Name of the file, with the line if a table has one.
        origin: String,
        /// The reason.
        source: TopologyError,
    },
    /// A value is invalid at its place.
    #[error("{origin}: {place}: {reason}")]
    Value {
        /// Name of the file, with the line if a table has one.
        origin: String,
        /// The switch, cable or event with the value.
        place: String,
        /// The value, and the allowed values.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    chip: Option<String>,
    port_speed: Option<String>,
    program: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, toml::Value>,
    buffer: Option<String>,
    rate: Option<String>,
    delay: Option<String>,
    host_rate: Option<String>,
    host_delay: Option<String>,
    switch: Vec<Spanned<FileSwitch>>,
    #[serde(default)]
    host: Vec<Spanned<FileHost>>,
    #[serde(default)]
    cable: Vec<Spanned<FileCable>>,
    #[serde(default)]
    event: Vec<Spanned<FileEvent>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSwitch {
    name: String,
    #[serde(default = "one")]
    stage: u32,
    #[serde(default)]
    block: u32,
    #[serde(default)]
    edge: bool,
    hosts: Option<u32>,
    host_rate: Option<String>,
    host_delay: Option<String>,
    program: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, toml::Value>,
    entries: Option<String>,
    buffer: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileHost {
    switch: String,
    number: u32,
    port: Option<u16>,
    rate: Option<String>,
    delay: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCable {
    between: [String; 2],
    ports: Option<[u16; 2]>,
    #[serde(default = "one")]
    links: u32,
    #[serde(default = "one")]
    weight: u32,
    rate: Option<String>,
    delay: Option<String>,
    loss: Option<toml::Value>,
    corruption: Option<toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEvent {
    at: String,
    cable: Option<[String; 2]>,
    number: Option<u32>,
    from: Option<String>,
    set: Option<String>,
    to: Option<toml::Value>,
    switch: Option<String>,
    op: Option<String>,
}

const fn one() -> u32 {
    1
}

/// Returns a value as text, strings without their quotes.
fn text_of(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn params(of: &BTreeMap<String, toml::Value>) -> Vec<(String, String)> {
    of.iter().map(|(key, value)| (key.clone(), text_of(value))).collect()
}

/// Adds the file's name, the line and the place to errors.
#[derive(Clone, Copy)]
struct Reader<'o> {
    origin: &'o str,
    text: &'o str,
    /// Line of the table that is read, from 1; 0: the top of the file.
    line: usize,
}

impl<'o> Reader<'o> {
    const fn new(origin: &'o str, text: &'o str) -> Reader<'o> {
        Reader { origin, text, line: 0 }
    }

    /// Returns the reader for this table.
    fn at<T>(mut self, table: &Spanned<T>) -> Reader<'o> {
        let before = self.text.as_bytes().get(..table.span().start).unwrap_or_default();
        self.line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        self
    }

    fn origin(&self) -> String {
        if self.line == 0 { self.origin.to_owned() } else { format!("{}:{}", self.origin, self.line) }
    }

    fn file(&self) -> Result<File, FileError> {
        read(self.text).map_err(|mistake| FileError::Toml {
            origin: self.origin.to_owned(),
            line: mistake.line(self.text),
            message: mistake.to_string(),
        })
    }

    fn topology(&self, source: TopologyError) -> FileError {
        FileError::Topology { origin: self.origin(), source }
    }

    fn value(&self, place: &str, reason: impl Display) -> FileError {
        FileError::Value { origin: self.origin(), place: place.to_owned(), reason: reason.to_string() }
    }

    fn parse<T: FromStr<Err: Display>>(&self, place: &str, text: &str) -> Result<T, FileError> {
        text.parse().map_err(|e: T::Err| self.value(place, e))
    }

    fn optional<T: FromStr<Err: Display>>(
        &self,
        place: &str,
        text: Option<&str>,
    ) -> Result<Option<T>, FileError> {
        text.map(|text| self.parse(place, text)).transpose()
    }
}

impl Network {
    /// Reads a flow-level network from a TOML text; `origin` is the file's name, for errors. Packets take all shortest
    /// paths.
    ///
    /// # Errors
    /// If the text does not have the form above, names unknown switches, or edges cannot reach each other.
    pub fn from_toml(text: &str, origin: &str) -> Result<Network, FileError> {
        let plan = Blueprint::from_toml(text, origin)?;
        Network::from_blueprint(&plan).map_err(|source| Reader::new(origin, text).topology(source))
    }
}

fn check(cable: &FileCable) -> Result<(), TopologyError> {
    super::in_range("links", cable.links, 1024, "1 to 1024")?;
    super::in_range("weight", cable.weight, 4096, "1 to 4096")
}

impl Blueprint {
    /// Reads a blueprint from a TOML text; `origin` is the file's name, for errors. A switch with `edge = true` and
    /// without `hosts` has one host.
    ///
    /// # Errors
    /// If the text does not have the form above, or names unknown switches or cables.
    pub fn from_toml(text: &str, origin: &str) -> Result<Blueprint, FileError> {
        let reader = Reader::new(origin, text);
        let file = reader.file()?;
        let mut plan = Blueprint {
            name: file.name,
            origin: origin.to_owned(),
            chip: file.chip,
            port_speed: reader.optional("port_speed", file.port_speed.as_deref())?,
            program: file.program,
            params: params(&file.params),
            buffer: file.buffer,
            ..Blueprint::default()
        };
        // Paths between all switches take time and memory by the square of their number and more.
        let limit = &limits::SWITCHES;
        if limit.is_below(file.switch.len()) {
            let what = format!(
                "there are {} switches; expected at most {}, or a builder such as fat-tree; {}",
                file.switch.len(),
                limit.get(),
                limit.advice()
            );
            return Err(reader.value("[[switch]]", what));
        }
        let host_rate = reader.rate("host_rate", file.host_rate.as_deref())?;
        let host_delay = reader.optional("host_delay", file.host_delay.as_deref())?;
        for s in file.switch {
            let reader = reader.at(&s);
            let s = s.into_inner();
            let place = format!("switch `{}`", s.name);
            if plan.switch_named(&s.name).is_ok() {
                return Err(
                    reader.value(&place, "two switches have this name; give every switch a different name")
                );
            }
            let hosts = s.hosts.unwrap_or(u32::from(s.edge));
            if hosts > 253 {
                return Err(reader.value(&place, format!("hosts is {hosts}; expected 0 to 253")));
            }
            let rate = reader.rate(&place, s.host_rate.as_deref())?.or(host_rate);
            let delay = reader.optional(&place, s.host_delay.as_deref())?.or(host_delay);
            let first = plan.hosts.len();
            plan.switches.push(SwitchPlan {
                name: s.name,
                stage: s.stage,
                block: s.block,
                program: s.program,
                params: params(&s.params),
                entries: s.entries,
                buffer: s.buffer,
                subnet: None,
            });
            plan.add_hosts(plan.switches.len() as u32 - 1, hosts);
            for at in plan.hosts[first..].iter_mut().flat_map(|host| &mut host.at) {
                *at = Attachment { rate, delay, line: reader.line, ..Attachment::new(at.switch) };
            }
        }
        for host in &file.host {
            reader.at(host).host(&mut plan, host.get_ref())?;
        }
        let rate = reader.rate("rate", file.rate.as_deref())?;
        let delay = reader.optional("delay", file.delay.as_deref())?.unwrap_or(Duration::from_micros(1));
        for c in &file.cable {
            reader.at(c).cable(&mut plan, c.get_ref(), rate, delay)?;
        }
        for (number, event) in (1..).zip(&file.event) {
            let (reader, event) = (reader.at(event), event.get_ref());
            let place = format!("event {number} at {}", event.at);
            let time: Duration = reader.parse(&place, &event.at)?;
            let happening = reader.event(&plan, &place, event)?;
            plan.events.push((Time::ORIGIN + time, happening));
        }
        Ok(plan)
    }
}

impl Reader<'_> {
    /// Parses a rate above 0.
    fn rate(&self, place: &str, text: Option<&str>) -> Result<Option<BitRate>, FileError> {
        match self.optional(place, text)? {
            Some(rate) if rate == BitRate::from_bps(0) => {
                Err(self.value(place, "a rate of 0; expected a rate above 0"))
            }
            rate => Ok(rate),
        }
    }

    fn host(&self, plan: &mut Blueprint, h: &FileHost) -> Result<(), FileError> {
        let place = format!("host {} of switch `{}`", h.number, h.switch);
        let switch = plan.switch_named(&h.switch).map_err(|e| self.topology(e))?;
        let mut own = plan.hosts.iter_mut().flat_map(|host| &mut host.at).filter(|at| at.switch == switch);
        let Some(at) = own.nth(h.number as usize) else {
            return Err(
                self.value(&place, "the switch has fewer hosts; numbers count from 0, up to `hosts` - 1")
            );
        };
        at.port = h.port;
        at.rate = self.rate(&place, h.rate.as_deref())?.or(at.rate);
        at.delay = self.optional(&place, h.delay.as_deref())?.or(at.delay);
        at.line = self.line;
        Ok(())
    }

    fn cable(
        &self,
        plan: &mut Blueprint,
        c: &FileCable,
        rate: Option<BitRate>,
        delay: Duration,
    ) -> Result<(), FileError> {
        let place = format!("cable {}-{}", c.between[0], c.between[1]);
        let [a, b] = [0, 1].map(|end: usize| plan.switch_named(&c.between[end]));
        let (a, b) = (a.map_err(|e| self.topology(e))?, b.map_err(|e| self.topology(e))?);
        check(c).map_err(|e| self.topology(e))?;
        if c.ports.is_some() && c.links > 1 {
            return Err(self.value(
                &place,
                "`ports` is for a single cable, but `links` is above 1; write one [[cable]] for each cable",
            ));
        }
        let probability = |value: &Option<toml::Value>| match value {
            Some(value) => self.parse(&place, &text_of(value)),
            None => Ok(crate::network::Probability::NEVER),
        };
        let cable = CablePlan {
            ports: c.ports.map_or([None, None], |ports| ports.map(Some)),
            weight: c.weight,
            rate: self.rate(&place, c.rate.as_deref())?.or(rate),
            delay: self.optional(&place, c.delay.as_deref())?.unwrap_or(delay),
            loss: probability(&c.loss)?,
            corruption: probability(&c.corruption)?,
            ends: [a, b],
            line: self.line,
        };
        plan.cables.extend(std::iter::repeat_n(cable, c.links as usize));
        Ok(())
    }

    fn event(&self, plan: &Blueprint, place: &str, event: &FileEvent) -> Result<Happening, FileError> {
        match (&event.cable, &event.switch, &event.op) {
            (None, Some(switch), Some(line)) => {
                let switch = plan.switch_named(switch).map_err(|e| self.value(place, e))?;
                Ok(Happening::Control { switch, line: line.clone() })
            }
            (Some(ends), None, None) => self.cable_event(plan, place, event, ends),
            _ => Err(self.value(place, "an event needs either `cable` and `set`, or `switch` and `op`")),
        }
    }

    fn cable_event(
        &self,
        plan: &Blueprint,
        place: &str,
        event: &FileEvent,
        ends: &[String; 2],
    ) -> Result<Happening, FileError> {
        let [a, b] = [0, 1].map(|end: usize| plan.switch_named(&ends[end]));
        let (a, b) = (a.map_err(|e| self.value(place, e))?, b.map_err(|e| self.value(place, e))?);
        let joins = |c: &CablePlan| c.ends == [a, b] || c.ends == [b, a];
        let mut cables = (0u32..).zip(&plan.cables).filter(|(_, c)| joins(c));
        let number = event.number.unwrap_or(0);
        let Some((cable, of)) = cables.nth(number as usize) else {
            let count = plan.cables.iter().filter(|c| joins(c)).count();
            let [a, b] = ends;
            let text = format!(
                "there is no cable {number} between `{a}` and `{b}`; there are {count} cables between them"
            );
            return Err(self.value(place, text));
        };
        let way = match &event.from {
            None => None,
            Some(from) => match plan.switch_named(from) {
                Ok(from) if from == of.ends[0] => Some(Way::Forth),
                Ok(from) if from == of.ends[1] => Some(Way::Back),
                _ => {
                    let text = format!(
                        "`from` is `{from}`; expected an end of the cable, `{}` or `{}`",
                        ends[0], ends[1]
                    );
                    return Err(self.value(place, text));
                }
            },
        };
        let value = |what: &str| {
            let missing = || self.value(place, format!("`set = \"{what}\"` needs `to`"));
            event.to.as_ref().map(text_of).ok_or_else(missing)
        };
        let change = match event.set.as_deref() {
            Some("down") => LinkChange::Down,
            Some("up") => LinkChange::Up,
            Some("loss") => LinkChange::Loss(self.parse(place, &value("loss")?)?),
            Some("corruption") => LinkChange::Corruption(self.parse(place, &value("corruption")?)?),
            Some("extra_delay") => LinkChange::ExtraDelay(self.parse(place, &value("extra_delay")?)?),
            other => {
                let found = other.unwrap_or("");
                let text = format!("`set` is `{found}`; expected down, up, loss, corruption or extra_delay");
                return Err(self.value(place, text));
            }
        };
        Ok(Happening::Cable { cable, way, change })
    }
}
