//! The format of scenario files (TOML).

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
    /// Default device of its scenarios.
    #[serde(default)]
    pub device: Setting,
    /// The scenarios.
    #[serde(default)]
    pub scenario: Vec<Spanned<Scenario>>,
    /// Rows of the source that are not run, with the reason.
    #[serde(default)]
    pub skip: Vec<Skip>,
    /// Name of the file as the caller passed it.
    #[serde(skip)]
    pub origin: String,
    #[serde(skip)]
    text: String,
}

/// A row of the source that is not run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    /// Id of the row.
    pub id: String,
    /// Place of the row in its source.
    pub source: String,
    /// Subject of the row.
    pub title: String,
    /// Reason why the row cannot be run.
    pub reason: String,
}

/// The device of a scenario; absent keys have the values of the table above it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// Buffer profiles; the scenario is run once for each.
    pub profiles: Option<Vec<String>>,
    /// Chip; by default the chip that the profile is named after, else `tofino2`.
    pub chip: Option<String>,
    /// Speed of all front-panel ports; 100G by default.
    pub speed: Option<BitRate>,
    /// Number of front-panel ports; 32 by default.
    pub ports: Option<u16>,
    /// Changes of the profile; see [`super::profile`].
    #[serde(rename = "override")]
    pub change: Option<toml::Table>,
    /// Seed of marking; 1 by default.
    pub seed: Option<u64>,
    /// DWRR weights of queues 0, 1, .. instead of strict priority.
    pub weights: Option<Vec<u16>>,
}

/// A scenario: a device, steps, and expectations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Id, unique in the file.
    pub id: String,
    /// Source of the scenario, such as a section of a paper.
    pub source: String,
    /// Title for readers.
    pub title: String,
    /// The device.
    #[serde(default)]
    pub device: Setting,
    /// A part of a host, in place of a device.
    pub host: Option<HostSetting>,
    /// Definitions of names for expressions.
    #[serde(rename = "let", default)]
    pub names: BTreeMap<String, Expr>,
    /// Variants: the steps are run for each on a new device; none: once.
    #[serde(default)]
    pub case: Vec<Case>,
    /// Cases by value: one for every combination. The keys `speed`, `cable` and `ports` set the device, other keys
    /// define names. Saved numbers are drawn over the last key.
    #[serde(default)]
    pub sweep: Vec<Axis>,
    /// Steps, in order.
    #[serde(default)]
    pub steps: Vec<Spanned<Step>>,
    /// Expressions over saved numbers, `case.name`, that must not be 0.
    #[serde(default)]
    pub compare: Vec<Spanned<Expr>>,
    /// The profile must be rejected; then there are no steps.
    pub refused: Option<Refused>,
}

/// A key of a sweep and its values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The key.
    pub key: String,
    /// Values: texts for `speed` and `cable`, otherwise whole numbers.
    pub values: Vec<toml::Value>,
}

/// A variant of a scenario.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name; saved numbers are prefixed by it.
    pub name: String,
    /// Differences of the device.
    #[serde(default)]
    pub device: Setting,
    /// Part of a host for this case.
    pub host: Option<HostSetting>,
    /// Definitions of names, which override those of the scenario.
    #[serde(rename = "let", default)]
    pub names: BTreeMap<String, Expr>,
    /// Expected rejection of the profile, in place of running the steps.
    pub refused: Option<Refused>,
}

/// Expected rejection of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// Exactly the checks that must fail; empty if the file cannot be parsed.
    pub checks: Vec<String>,
    /// Words that the diagnostic must contain.
    #[serde(default)]
    pub mentions: Vec<String>,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Blocks all queues of ports.
    Block(Ports),
    /// Unblocks all queues of ports.
    Unblock(Ports),
    /// Sends a train, and waits until its packets are in their queues.
    Send(Box<Train>),
    /// Sends several trains at the same time, and waits until their packets are in their queues.
    Together(Vec<Train>),
    /// Starts a train that continues during the following steps.
    Start(Box<Train>),
    /// Sends single packets until one is dropped or groups are paused; results are `flood.xoff`, `flood.drop`.
    Flood(Flood),
    /// Waits for a time.
    Wait(Span),
    /// Waits until no packet is inside, at most for this time.
    Drain(Span),
    /// Unblocks a port until it has sent this number of packets.
    Depart(Depart),
    /// States the expected value of a number.
    Expect(Expect),
    /// States the expected bytes of a MAC control frame.
    Frame(FrameCheck),
    /// Saves a number under a name; comparisons of cases call it `case.name`.
    Save(Save),
    /// Restarts the counts of sent packets; times are relative to this step.
    Collect,
    /// Resets a reader's watermarks.
    ClearWatermarks(ReaderName),
    /// Sets the size of the first ingress pool in each partition, cells.
    ResizePool(Expr),
    /// Sets a group's alpha to `2^n`.
    SetAlpha(SetAlpha),
    /// Turns SONiC's BIG_RED_SWITCH on or off.
    BigRedSwitch(bool),
    /// Restarts the watchdogs' poller.
    RestartWatchdogs,
    /// Limits the rate of a port.
    Shape(Shape),
    /// Repeats steps.
    Repeat(Repeat),
    /// Sends this number of CNPs to a reaction point.
    Notify(Expr),
    /// Sends marked packets to a notification point.
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

/// A train of identical frames.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// Ingress ports: one train for each.
    pub from: Ports,
    /// Egress port, or several for multicast. Not for frames given in hex.
    pub to: Option<Ports>,
    /// Number of frames; without it and with `lasts`, as many as fit, otherwise 1.
    pub count: Option<Expr>,
    /// Bytes of a frame, without FCS; 64 by default.
    pub size: Option<Expr>,
    /// SONiC's traffic class, 0 to 6, by its DSCP; 3 by default.
    pub class: Option<u8>,
    /// DSCP, in place of a class.
    pub dscp: Option<Expr>,
    /// PCP of a tagged frame without IP, in place of a class.
    pub pcp: Option<u8>,
    /// DSCP of the inner packet of an IPv4-in-IPv4 tunnel.
    pub inner_dscp: Option<u8>,
    /// ECN field: 0 not ECT, 1 and 2 ECT, 3 CE.
    #[serde(default)]
    pub ecn: u8,
    /// A frame in hex, in place of the keys above.
    pub hex: Option<String>,
    /// A PFC frame, in place of the keys above.
    pub pfc: Option<Pfc>,
    /// Rate on the wire, including preamble and gap; without it and `gap`, frames are sent back to back.
    pub rate: Option<BitRate>,
    /// Time from the start of a frame to the start of the next one.
    pub gap: Option<Span>,
    /// Delay before the start of the first frame's preamble.
    pub after: Option<Span>,
    /// Duration of the train: no frame starts later than this after the first one.
    pub lasts: Option<Span>,
    /// True if the sender obeys PFC.
    #[serde(default)]
    pub obeys: bool,
    /// Cable to the port; by default the profile's if the sender obeys PFC, otherwise none.
    pub cable: Option<Length>,
    /// Time from the last bit of a PFC frame to its effect at the sender; by default the standard's bound.
    pub reaction: Option<Span>,
    /// True if the frames are damaged, so that the MAC drops them.
    #[serde(default)]
    pub damaged: bool,
    /// Queue pair of a CNP, the published capture of (model: buffer §7), in place of a class.
    pub cnp: Option<u32>,
}

/// A PFC frame.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Priorities whose enable bit is set.
    pub priorities: Vec<u8>,
    /// Pause time, quanta.
    pub quanta: u16,
}

/// Settings of a flood: single packets until an event.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    /// Ingress ports, in turn.
    pub from: Ports,
    /// Egress port.
    pub to: Expr,
    /// Classes, in turn at each port; 3 by default.
    #[serde(default = "class_three")]
    pub classes: Vec<u8>,
    /// Limits the flood to the first groups of all ports and classes.
    pub groups: Option<Expr>,
    /// Bytes of a frame; 64 by default.
    pub size: Option<Expr>,
    /// Event that ends the flood.
    pub until: Until,
}

fn class_three() -> Vec<u8> {
    vec![3]
}

/// Event that ends a flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// A packet is dropped.
    Drop,
    /// All groups are paused; a paused group gets no more packets.
    Xoff,
}

/// A number of departures from a blocked port.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depart {
    /// The port.
    pub port: Expr,
    /// Number of packets.
    pub packets: Expr,
}

/// An expectation of a number. Without a bound, the number must not be 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The number, such as `pg.shared(0)`; see [`super::metric`].
    pub what: Expr,
    /// Exact value, or the centre of `within`.
    pub is: Option<Expr>,
    /// Allowed deviation from `is`: `3`, or `"2%"`.
    pub within: Option<Tolerance>,
    /// Lower bound.
    pub at_least: Option<Expr>,
    /// Upper bound.
    pub at_most: Option<Expr>,
}

/// An expectation of a frame that a port sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameCheck {
    /// The port.
    pub port: Expr,
    /// Index of the MAC control frame since counting began: 0 is the first, -1 the last.
    #[serde(default)]
    pub nth: i64,
    /// True for the last data frame in place of a control frame.
    #[serde(default)]
    pub data: bool,
    /// Expected bytes in hex, without FCS; `..` matches any byte, `00*34` is 34 times the byte 00.
    pub is: String,
}

/// A number to save.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Save {
    /// The name.
    pub name: String,
    /// The number.
    pub value: Expr,
}

/// A new alpha of a priority group.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetAlpha {
    /// The port.
    pub port: Expr,
    /// The priority group.
    pub class: u8,
    /// Alpha is `2^n`.
    pub n: i8,
}

/// A rate limit of a port.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The port.
    pub port: Expr,
    /// Largest rate.
    pub rate: BitRate,
}

/// Steps to repeat.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// Number of repetitions.
    pub times: Expr,
    /// The steps; the name `round` counts the repetitions from 0.
    pub steps: Vec<Spanned<Step>>,
}

/// Reader of a watermark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReaderName {
    /// The operator's.
    #[default]
    User,
    /// The long-term reader.
    Persistent,
    /// The telemetry.
    Periodic,
}

/// An allowed deviation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// Absolute, in either direction.
    Absolute(Expr),
    /// Percent of the expected value, in either direction.
    Percent(u32),
}

impl Setting {
    /// Returns these settings, with absent ones from `base` and without `change`, which the caller merges.
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

/// Implements `Deserialize` for a type that is a number, or a text that a function parses.
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

/// Error in a scenario file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {message}")]
pub struct ScenarioError {
    /// Name of the file as the caller passed it.
    pub origin: String,
    /// The line, from 1.
    pub line: usize,
    /// Found and expected values.
    pub message: String,
}

/// Returns the line of a byte in a text, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count()
}

impl ScenarioFile {
    /// Parses the text of a scenario file; `origin` is its name, for errors.
    ///
    /// # Errors
    /// If the text is not TOML, a key or value is invalid, an id is used twice, or a scenario has no assertion.
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
                return Err(error(
                    at,
                    format!("scenario `{id}` is there twice; give every scenario a different id"),
                ));
            }
            if !scenario.asserts() {
                let message = format!(
                    "scenario `{id}` asserts nothing; add a step `expect` or `frame`, or `compare`, or `refused`"
                );
                return Err(error(at, message));
            }
        }
        Ok(file)
    }

    /// Returns the line of an item of the file, from 1.
    #[must_use]
    pub fn line<T>(&self, of: &Spanned<T>) -> usize {
        line_of(&self.text, of.span().start)
    }
}

impl Scenario {
    /// Returns true if the scenario has an assertion.
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
