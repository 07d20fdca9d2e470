//! A file of scenarios: its form.

use super::expr::Expr;
use super::host::{HostSetting, Marked};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use sluice_asic::units::{BitRate, Duration, Length};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

/// A file of scenarios.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// What its scenarios are about where they do not say otherwise.
    #[serde(default)]
    pub device: Setting,
    /// The scenarios.
    #[serde(default)]
    pub scenario: Vec<Spanned<Scenario>>,
    /// Rows of the source that are not run, with the reason.
    #[serde(default)]
    pub skip: Vec<Skip>,
    /// The file, as the caller named it.
    #[serde(skip)]
    pub origin: String,
    #[serde(skip)]
    text: String,
}

/// A row that is not run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub source: String,
    /// What it is about.
    pub title: String,
    /// Why nothing here can show it.
    pub reason: String,
}

/// The device that a scenario is about; what is absent is as in the table above it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// Buffer profiles that it is run on, each by itself.
    pub profiles: Option<Vec<String>>,
    /// The chip; by default the one that the profile is named after, else `tofino2`.
    pub chip: Option<String>,
    /// Speed of all front-panel ports; 100G by default.
    pub speed: Option<BitRate>,
    /// Front-panel ports, from 0; 32 by default.
    pub ports: Option<u16>,
    /// Changes of the profile; see [`super::profile`].
    #[serde(rename = "override")]
    pub change: Option<toml::Table>,
    /// Seed of marking; 1 by default.
    pub seed: Option<u64>,
    /// DWRR weights of queues 0, 1, .. instead of strict priority.
    pub weights: Option<Vec<u16>>,
}

/// One scenario: a device, steps, and what must be seen.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its id.
    pub id: String,
    /// Where it is from.
    pub source: String,
    /// What it shows.
    pub title: String,
    /// The device.
    #[serde(default)]
    pub device: Setting,
    /// A part of a host, instead of a device.
    pub host: Option<HostSetting>,
    /// Names for expressions.
    #[serde(rename = "let", default)]
    pub names: BTreeMap<String, Expr>,
    /// The steps are run for each of these on a device of its own; none: once.
    #[serde(default)]
    pub case: Vec<Case>,
    /// Cases by value instead of by name: every combination of these. `speed`, `cable` and `ports` are the device's,
    /// anything else is a name for expressions. What steps save is drawn over the last key.
    #[serde(default)]
    pub sweep: Vec<Axis>,
    /// What is done, in order.
    #[serde(default)]
    pub steps: Vec<Spanned<Step>>,
    /// What must hold of what cases have saved, as `case.name`.
    #[serde(default)]
    pub compare: Vec<Spanned<Expr>>,
    /// The profile must be refused; then there are no steps.
    pub refused: Option<Refused>,
}

/// A key and the values that it takes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The key.
    pub key: String,
    /// Its values: texts of `speed` and `cable`, else whole numbers.
    pub values: Vec<toml::Value>,
}

/// A variant of a scenario.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name; values that it saves are known by it.
    pub name: String,
    /// What is different about the device.
    #[serde(default)]
    pub device: Setting,
    /// The part of a host of this case.
    pub host: Option<HostSetting>,
    /// Names for expressions, over those of the scenario.
    #[serde(rename = "let", default)]
    pub names: BTreeMap<String, Expr>,
    /// How this variant must be refused instead of running the steps.
    pub refused: Option<Refused>,
}

/// How a profile must be refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// The checks that fail, each at least once, and no other; empty for a file that cannot even be read.
    pub checks: Vec<String>,
    /// Words of the diagnostic.
    #[serde(default)]
    pub mentions: Vec<String>,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Stops all queues of ports.
    Block(Ports),
    /// Lets them go on.
    Unblock(Ports),
    /// Sends a train, and waits until it is in its queues.
    Send(Box<Train>),
    /// Sends several trains beside each other, and waits until they are in their queues.
    Together(Vec<Train>),
    /// Begins a train that goes on during the following steps.
    Start(Box<Train>),
    /// Sends single packets until one is dropped or groups are paused; what was found is `flood.xoff`, `flood.drop`.
    Flood(Flood),
    /// Lets time go by.
    Wait(Span),
    /// Lets time go by until nothing is inside any more, at most this long.
    Drain(Span),
    /// Lets a blocked port send this many packets.
    Depart(Depart),
    /// Says what must be seen.
    Expect(Expect),
    /// Says what a MAC control frame must be.
    Frame(FrameCheck),
    /// Keeps a number under a name; in comparisons of cases it is `case.name`.
    Save(Save),
    /// Starts counting what leaves ports anew; times are from here.
    Collect,
    /// Starts a reader's watermarks anew.
    ClearWatermarks(ReaderName),
    /// Changes the first ingress pool's cells in each partition.
    ResizePool(Expr),
    /// Changes a group's alpha to `2^n`.
    SetAlpha(SetAlpha),
    /// SONiC's BIG_RED_SWITCH.
    BigRedSwitch(bool),
    /// The watchdogs' poller starts anew.
    RestartWatchdogs,
    /// Limits what a port sends.
    Shape(Shape),
    /// Does steps several times.
    Repeat(Repeat),
    /// So many notifications reach a reaction point.
    Notify(Expr),
    /// Marked packets reach a notification point.
    Marked(Marked),
}

/// Ports: a number, or a text such as `0, 4 to 7`, or `1 to fan_in`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports(pub Vec<(Expr, Option<Expr>)>);

/// A time such as `5us`, or an expression in picoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// A time.
    Fixed(Duration),
    /// Picoseconds.
    Ps(Expr),
}

/// A train of equal frames.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// Ports that it comes in by: a train each.
    pub from: Ports,
    /// The port that it goes to, or several: then it is multicast. Not for frames that are given in hex.
    pub to: Option<Ports>,
    /// Frames; without it, as many as go in `lasts`.
    pub count: Option<Expr>,
    /// Bytes of a frame, without FCS; 64 by default.
    pub size: Option<Expr>,
    /// SONiC's traffic class, 0 to 6, by its DSCP; 3 by default.
    pub class: Option<u8>,
    /// DSCP, instead of a class.
    pub dscp: Option<Expr>,
    /// PCP of a tagged frame that is no IP packet, instead of a class.
    pub pcp: Option<u8>,
    /// DSCP of an IPv4 packet inside the packet.
    pub inner_dscp: Option<u8>,
    /// ECN field: 0 not ECT, 1 and 2 ECT, 3 CE.
    #[serde(default)]
    pub ecn: u8,
    /// A frame in hex, instead of all that.
    pub hex: Option<String>,
    /// A PFC frame, instead of all that.
    pub pfc: Option<Pfc>,
    /// Bits on the wire a second, preamble and gap included; without it and `gap`, back to back.
    pub rate: Option<BitRate>,
    /// From a frame's begin to the next one's.
    pub gap: Option<Span>,
    /// From now to the begin of the first frame's preamble.
    pub after: Option<Span>,
    /// No frame begins later than this after the first.
    pub lasts: Option<Span>,
    /// The sender obeys PFC.
    #[serde(default)]
    pub obeys: bool,
    /// The cable between the sender and the port; of a sender that obeys the profile's, of another none.
    pub cable: Option<Length>,
    /// From the last bit of a PFC frame to its effect at the sender; the standard's bound if absent.
    pub reaction: Option<Span>,
    /// The MAC cannot use the frames.
    #[serde(default)]
    pub damaged: bool,
    /// A congestion notification packet, instead of a class: the captured one of (model: buffer §7), to this queue pair.
    pub cnp: Option<u32>,
}

/// A PFC frame.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Priorities whose enable bit is set.
    pub priorities: Vec<u8>,
    /// Their time.
    pub quanta: u16,
}

/// Single packets until something happens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    /// Ports that they come in by, in turn.
    pub from: Ports,
    /// The port that they go to.
    pub to: Expr,
    /// Classes, in turn at each port.
    #[serde(default = "class_three")]
    pub classes: Vec<u8>,
    /// Only the first of all ports and classes.
    pub groups: Option<Expr>,
    /// Bytes of a frame; 64 by default.
    pub size: Option<Expr>,
    /// What ends it.
    pub until: Until,
}

fn class_three() -> Vec<u8> {
    vec![3]
}

/// What ends a flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// A packet is dropped.
    Drop,
    /// All groups are paused; one that is paused gets no more.
    Xoff,
}

/// Departures of a blocked port.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depart {
    /// The port.
    pub port: Expr,
    /// How many packets.
    pub packets: Expr,
}

/// A number and what it must be. Without any bound it must not be 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The number, such as `pg.shared(0)`; see [`super::metric`].
    pub what: Expr,
    /// Exactly this, or within `within` of it.
    pub is: Option<Expr>,
    /// A deviation that is allowed: `3`, or `"2%"`.
    pub within: Option<Tolerance>,
    /// At least this.
    pub at_least: Option<Expr>,
    /// At most this.
    pub at_most: Option<Expr>,
}

/// A frame that left a port and what it must be.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameCheck {
    /// The port.
    pub port: Expr,
    /// Which MAC control frame: 0 is the first, -1 the last one since counting began.
    #[serde(default)]
    pub nth: i64,
    /// The last data frame instead.
    #[serde(default)]
    pub data: bool,
    /// Its bytes in hex, without FCS; `..` stands for a byte that does not matter.
    pub is: String,
}

/// A number to keep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Save {
    /// The name.
    pub name: String,
    /// The number.
    pub value: Expr,
}

/// A new alpha.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetAlpha {
    /// The port.
    pub port: Expr,
    /// The group.
    pub class: u8,
    /// Alpha is `2^n`.
    pub n: i8,
}

/// A limit on what a port sends.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The port.
    pub port: Expr,
    /// Its limit.
    pub rate: BitRate,
}

/// Steps done several times.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// How often.
    pub times: Expr,
    /// `round` counts from 0.
    pub steps: Vec<Spanned<Step>>,
}

/// Whose watermark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReaderName {
    /// The operator's.
    #[default]
    User,
    /// The long-term one.
    Persistent,
    /// Telemetry's.
    Periodic,
}

/// A deviation that is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// This much either way.
    Absolute(Expr),
    /// This many per cent of what is expected, either way.
    Percent(u32),
}

impl Setting {
    /// This over another one; what changes in the profile is for the caller to add up.
    #[must_use]
    pub fn over(&self, base: &Setting) -> Setting {
        Setting {
            profiles: self.profiles.clone().or_else(|| base.profiles.clone()),
            chip: self.chip.clone().or_else(|| base.chip.clone()),
            speed: self.speed.or(base.speed),
            ports: self.ports.or(base.ports),
            change: None,
            seed: self.seed.or(base.seed),
            weights: self.weights.clone().or_else(|| base.weights.clone()),
        }
    }
}

fn ports(text: &str) -> Result<Ports, String> {
    let part = |part: &str| match part.split_once(" to ") {
        None => Ok((Expr::parse(part)?, None)),
        Some((first, last)) => Ok((Expr::parse(first)?, Some(Expr::parse(last)?))),
    };
    text.split(',').map(part).collect::<Result<_, String>>().map(Ports)
}

fn tolerance(text: &str) -> Result<Tolerance, String> {
    match text.trim().strip_suffix('%') {
        Some(number) => number
            .trim()
            .parse()
            .map(Tolerance::Percent)
            .map_err(|_| format!("`{text}`; expected whole per cent such as `2%`")),
        None => Expr::parse(text).map(Tolerance::Absolute),
    }
}

fn span(text: &str) -> Result<Span, String> {
    match text.parse() {
        Ok(time) => Ok(Span::Fixed(time)),
        Err(unit) => match Expr::parse(text) {
            Ok(expr) if text.contains('(') || !expr.names().is_empty() => Ok(Span::Ps(expr)),
            _ => Err(format!("{unit}, or an expression in ps")),
        },
    }
}

/// Reads a number, or a text by a function.
macro_rules! number_or_text {
    ($type:ident, $expecting:literal, $number:expr, $text:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visit;
                impl Visitor<'_> for Visit {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_i64<E: Error>(self, n: i64) -> Result<$type, E> {
                        Expr::parse(&n.to_string()).map($number).map_err(E::custom)
                    }
                    fn visit_str<E: Error>(self, text: &str) -> Result<$type, E> {
                        $text(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Visit)
            }
        }
    };
}

number_or_text!(Ports, "a port or ports such as \"0, 4 to 7\"", |expr| Ports(vec![(expr, None)]), ports);
number_or_text!(Span, "a duration such as \"10us\", or an expression in ps", Span::Ps, span);
number_or_text!(Tolerance, "a number or per cent such as \"2%\"", Tolerance::Absolute, tolerance);

/// A file that is not of this form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {message}")]
pub struct ScenarioError {
    /// The file, as the caller named it.
    pub origin: String,
    /// The line, from 1.
    pub line: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// The line of a place in a text, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count()
}

impl ScenarioFile {
    /// Parses a file's text; `origin` names it in errors.
    ///
    /// # Errors
    /// Text that is not TOML, an unknown or missing key, a value of the wrong kind, ids that are there twice, a
    /// scenario without an assertion.
    pub fn parse(origin: &str, text: &str) -> Result<ScenarioFile, ScenarioError> {
        let error = |at: usize, message: String| ScenarioError {
            origin: origin.to_owned(),
            line: line_of(text, at),
            message,
        };
        let mut file: ScenarioFile = toml::from_str(text)
            .map_err(|e| error(e.span().map_or(0, |span| span.start), e.message().to_owned()))?;
        (file.origin, file.text) = (origin.to_owned(), text.to_owned());
        for (i, scenario) in file.scenario.iter().enumerate() {
            let (at, scenario) = (scenario.span().start, scenario.get_ref());
            let id = &scenario.id;
            let twice = file.scenario.iter().take(i).any(|s| s.get_ref().id == *id);
            if twice || file.skip.iter().any(|s| s.id == *id) {
                return Err(error(at, format!("scenario `{id}` is there twice; give each an id of its own")));
            }
            if !scenario.asserts() {
                let message =
                    format!("scenario `{id}` asserts nothing; expected a step `expect` or `refused`");
                return Err(error(at, message));
            }
        }
        Ok(file)
    }

    /// The line of something in the file, from 1.
    #[must_use]
    pub fn line<T>(&self, of: &Spanned<T>) -> usize {
        line_of(&self.text, of.span().start)
    }
}

impl Scenario {
    /// Whether anything must hold.
    fn asserts(&self) -> bool {
        fn any(steps: &[Spanned<Step>]) -> bool {
            steps.iter().any(|step| match step.get_ref() {
                Step::Expect(_) | Step::Frame(_) => true,
                Step::Repeat(repeat) => any(&repeat.steps),
                _ => false,
            })
        }
        let refused = self.refused.is_some()
            || !self.case.is_empty() && self.case.iter().all(|case| case.refused.is_some());
        refused || any(&self.steps) || !self.compare.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "[[scenario]]\nid = \"1\"\nsource = \"s\"\ntitle = \"t\"\n";

    fn message(rest: &str) -> String {
        match ScenarioFile::parse("a.toml", &format!("{HEAD}{rest}")) {
            Ok(_) => String::new(),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn errors_name_line_and_what_is_expected() {
        assert_eq!(message("steps = [{ expect = { what = \"total\", is = 1 } }]"), "");
        let found = message("steps = [\n  { block = 1 },\n  { blok = 1 },\n]");
        assert!(found.starts_with("a.toml:7: unknown variant `blok`, expected one of `block`"), "{found}");
        let found = message("steps = [{ expect = { what = \"total +\" } }]");
        assert!(found.starts_with("a.toml:5: `the end`; expected a number"), "{found}");
        let found = message("steps = [{ wait = \"5 apples\" }]");
        assert!(found.contains("a.toml:5: ") && found.contains("duration"), "{found}");
        let found = message("steps = [{ send = { from = 0, tooo = 1 } }]");
        assert!(found.contains("unknown field `tooo`, expected one of `from`, `to`"), "{found}");
        let found = message("steps = [{ block = 1 }]");
        assert!(found.contains("a.toml:1: scenario `1` asserts nothing"), "{found}");
        let found =
            message(&format!("refused = {{ checks = [\"xon\"] }}\n{HEAD}refused = {{ checks = [] }}"));
        assert!(found.contains("a.toml:6: scenario `1` is there twice"), "{found}");
    }

    #[test]
    fn ports_and_tolerances() {
        let number = |n: &str| Expr::parse(n).unwrap();
        assert_eq!(
            ports("0, 4 to n"),
            Ok(Ports(vec![(number("0"), None), (number("4"), Some(number("n")))]))
        );
        assert!(ports("0,,1").is_err());
        assert_eq!(tolerance("2 %"), Ok(Tolerance::Percent(2)));
        assert_eq!(tolerance("m+1"), Ok(Tolerance::Absolute(number("m+1"))));
        assert!(tolerance("x%").is_err());
    }
}
