//! Steps of a scenario.

use crate::language::expr::Expr;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use sluice_asic::units::{BitRate, Duration, Length};
use std::fmt;
use toml::Spanned;

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

/// Marked packets to send to a notification point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marked {
    /// Number of packets.
    pub count: Expr,
    /// Time between two packets.
    pub gap: Span,
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
    /// The number, such as `pg.shared(0)`; see [`crate::metric`].
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

#[cfg(test)]
mod tests {
    use super::*;

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
