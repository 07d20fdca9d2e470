//! Scenarios about a part of a host in place of a device: settings, steps and numbers.

use super::expr::Expr;
use super::file::ScenarioFile;
use super::judge::{at_line, judge};
use super::names::{Names, StatedNumbers};
use super::outcome::Check;
use super::step::{Repeat, Save, Span, Step};
use serde::Deserialize;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use sluice_fabric::host::bottleneck::{Bottleneck, BottleneckReport};
use sluice_fabric::host::dcqcn::{
    Clamp, Coalescing, Mellanox, NotificationPoint, Published, Rates, ReactionConfig, ReactionPoint,
};
use sluice_fabric::host::receive_cache::{ReceiveCache, ReceiveReport};
use sluice_fabric::host::recovery::{Recovery, Transfer, TransferConfig, TransferReport};
use std::cell::Cell;
use std::collections::BTreeMap;
use toml::Spanned;

/// Packet size by default.
const SIZE: Bytes = Bytes(1000);

/// The part of a host that a scenario tests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostSetting {
    /// A DCQCN reaction point.
    ReactionPoint(ReactionSetting),
    /// A DCQCN notification point.
    NotificationPoint(NotificationSetting),
    /// A transfer over a lossy pipe; it runs before the steps.
    Transfer(TransferSetting),
    /// A flow through a marking bottleneck; it runs before the steps.
    Bottleneck(Box<BottleneckSetting>),
    /// A receiver that caches contexts; it runs before the steps.
    ReceiveCache(ReceiveSetting),
}

/// Settings of a flow through a bottleneck.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BottleneckSetting {
    /// The sender.
    pub sender: ReactionSetting,
    /// The receiver.
    #[serde(default)]
    pub receiver: NotificationSetting,
    /// Rate of the bottleneck.
    pub rate: BitRate,
    /// Marking threshold: a packet is marked if it finds more bytes in the queue.
    pub mark: Bytes,
    /// Packet size, bytes; 1000 by default.
    pub size: Option<Bytes>,
    /// Time from the queue to the receiver and back to the sender.
    pub delay: Duration,
    /// Length of the run.
    pub time: Duration,
}

/// Settings of a receiver that caches contexts, with queue pairs that send to it at line rate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiveSetting {
    /// Number of queue pairs.
    pub queue_pairs: u32,
    /// Packets that a queue pair sends in its turn; 1 by default.
    pub burst: Option<u32>,
    /// Total number of packets.
    pub packets: u64,
    /// Packet size, bytes; 1000 by default.
    pub size: Option<Bytes>,
    /// Link rate.
    pub rate: BitRate,
    /// Capacity of the cache, contexts.
    pub entries: usize,
    /// Processing time of a packet whose context is cached.
    pub hit: Duration,
    /// Additional time to fetch a context.
    pub miss: Duration,
    /// Number of waiting packets at which the host sends XOFF.
    pub xoff: u64,
}

/// Settings of a reaction point; absent ones have the HPCC simulator's values, or the firmware's with form `firmware`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReactionSetting {
    /// Form.
    pub form: Form,
    /// Link rate; in a contest the rate of the host's port by default, and never more than it.
    pub line: Option<BitRate>,
    /// Lower limit of the rate.
    pub min: Option<BitRate>,
    /// 1 / g, where g is the weight of a notification in alpha; at least 1.
    pub one_by_g: Option<f64>,
    /// Alpha before the first notification, 0 to 1.
    pub alpha: Option<f64>,
    /// Period without a notification after which alpha decays.
    pub alpha_timer: Option<Duration>,
    /// Period without a cut after which the rate is raised.
    pub rate_timer: Option<Duration>,
    /// Bytes after which the rate is raised.
    pub byte_counter: Option<Bytes>,
    /// Stages of fast recovery.
    pub stages: Option<u32>,
    /// Step of additive increase.
    pub additive: Option<BitRate>,
    /// Step of hyper increase.
    pub hyper: Option<BitRate>,
    /// Condition under which a cut sets the target to the rate.
    pub clamp: Option<ClampName>,
    /// True if a cut uses alpha from before the notification.
    pub cut_first: Option<bool>,
    /// Period of the monitor (forms `mellanox`, `firmware`): at most one cut per period.
    pub monitor: Option<Duration>,
    /// Time after a cut in which notifications are ignored (form `published`); none by default.
    pub cut_window: Option<Duration>,
}

/// The form of a reaction point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// As published, with byte counter and timer.
    Published,
    /// With a rate decrease monitor.
    Mellanox,
    /// As in mlx5 firmware: with a monitor, byte counter and timer, and with the firmware's defaults.
    Firmware,
}

/// Condition under which a cut sets the target to the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClampName {
    /// At every cut.
    Always,
    /// If the rate was raised since the last cut.
    AfterRaise,
    /// If the byte counter raised the rate since the last cut.
    AfterBytes,
}

/// Settings of a notification point. Without `interval` and `window`, every marked packet is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotificationSetting {
    /// Least time between two CNPs.
    pub interval: Option<Duration>,
    /// Length of windows, counted from time 0, with at most one CNP each.
    pub window: Option<Duration>,
    /// Queue pairs that the limit counts together; each on its own by default.
    pub scope: ScopeName,
}

/// Queue pairs that a limit on CNPs counts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeName {
    /// Each on its own.
    #[default]
    Pair,
    /// All of the NIC.
    Nic,
}

/// Settings of a transfer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferSetting {
    /// Loss recovery.
    pub recovery: RecoveryName,
    /// Number of packets.
    pub packets: u64,
    /// Packet size, bytes; 1000 by default.
    pub size: Option<Bytes>,
    /// Sending rate.
    pub rate: BitRate,
    /// One-way delay of the pipe.
    pub one_way: Duration,
    /// Numbers of lost transmissions, from 0.
    #[serde(default)]
    pub lose: Vec<u64>,
    /// Go-back-N: least time between two NACKs for the same packet; 500us by default.
    pub nack_interval: Option<Duration>,
    /// Go-back-N, any order: time without an acknowledgement after which the sender goes back, or sends the first missing
    /// packet again; never by default.
    pub timeout: Option<Duration>,
    /// Selective: most unacknowledged bytes; 104000 by default.
    pub in_flight: Option<Bytes>,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryName {
    /// Go-back-N.
    GoBackN,
    /// Selective retransmission, as in IRN.
    Selective,
    /// The receiver accepts packets in any order; losses are found by timeout.
    AnyOrder,
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

impl ReactionSetting {
    /// A line that limits no port.
    pub(crate) const ANY_LINE: BitRate = BitRate::from_bps(u64::MAX);

    /// Returns the reaction point of a scenario, which has no port that the line could follow from.
    fn point(&self) -> Result<ReactionPoint, String> {
        match self.line {
            Some(_) => self.point_with(None),
            None => Err("`line` of the reaction point is missing".into()),
        }
    }

    /// Returns the reaction point, with a default of `cut_window`.
    pub(crate) fn point_with(&self, cut_window: Option<Duration>) -> Result<ReactionPoint, String> {
        let line = self.line.unwrap_or(Self::ANY_LINE);
        let base = match self.form {
            Form::Firmware => ReactionConfig::firmware(line),
            Form::Published | Form::Mellanox => ReactionConfig::new(line),
        };
        if self.cut_window.is_some() && self.form != Form::Published {
            return Err("`cut_window` is for form `published`; other forms have `monitor`".into());
        }
        let alpha = self.alpha.unwrap_or(base.alpha);
        let one_by_g = self.one_by_g.unwrap_or(1.0 / base.g);
        if !(0.0..=1.0).contains(&alpha) || one_by_g < 1.0 {
            return Err(format!("alpha {alpha}, one_by_g {one_by_g}; alpha is 0 to 1, one_by_g at least 1"));
        }
        let time = |time: Option<Duration>| time.map_or(1, Duration::as_ps);
        above_zero(&[
            ("line", line.as_bps()),
            ("min", self.min.map_or(1, BitRate::as_bps)),
            ("alpha_timer", time(self.alpha_timer)),
            ("rate_timer", time(self.rate_timer)),
            ("monitor", time(self.monitor)),
        ])?;
        let config = ReactionConfig {
            line,
            min: self.min.unwrap_or(base.min),
            g: 1.0 / one_by_g,
            alpha,
            alpha_timer: self.alpha_timer.unwrap_or(base.alpha_timer),
            rate_timer: self.rate_timer.unwrap_or(base.rate_timer),
            byte_counter: self.byte_counter.unwrap_or(base.byte_counter),
            stages: self.stages.unwrap_or(base.stages),
            additive: self.additive.unwrap_or(base.additive),
            hyper: self.hyper.unwrap_or(base.hyper),
            clamp: match self.clamp {
                None => base.clamp,
                Some(ClampName::Always) => Clamp::Always,
                Some(ClampName::AfterRaise) => Clamp::AfterRaise,
                Some(ClampName::AfterBytes) => Clamp::AfterBytes,
            },
            cut_first: self.cut_first.unwrap_or(base.cut_first),
            monitor: self.monitor.unwrap_or(base.monitor),
            cut_window: self.cut_window.or(cut_window).unwrap_or(base.cut_window),
            ..base
        };
        Ok(match self.form {
            Form::Published => ReactionPoint::Published(Published::new(config)),
            Form::Mellanox => ReactionPoint::Mellanox(Mellanox::new(config)),
            Form::Firmware => ReactionPoint::Mellanox(Mellanox::firmware(config)),
        })
    }
}

impl TransferSetting {
    fn report(&self) -> Result<TransferReport, String> {
        let size = self.size.unwrap_or(SIZE);
        above_zero(&[("rate", self.rate.as_bps()), ("size", size.0)])?;
        let recovery = match self.recovery {
            RecoveryName::GoBackN => Recovery::GoBackN {
                nack_interval: self.nack_interval.unwrap_or(Duration::from_micros(500)),
                timeout: self.timeout,
            },
            RecoveryName::Selective => Recovery::irn(self.in_flight, size.0),
            RecoveryName::AnyOrder => match self.timeout {
                Some(timeout) => Recovery::AnyOrder { timeout },
                None => {
                    return Err("recovery `any-order` needs a `timeout`: nothing else finds a loss".into());
                }
            },
        };
        Ok(Transfer::run(TransferConfig {
            recovery,
            packets: self.packets,
            size,
            rate: self.rate,
            one_way: self.one_way,
            lose: self.lose.iter().copied().collect(),
        }))
    }
}

impl NotificationSetting {
    fn point(&self) -> Result<NotificationPoint, String> {
        if self.scope == ScopeName::Nic {
            return Err("a scenario has one queue pair; `scope = \"nic\"` is for contests".into());
        }
        Ok(NotificationPoint::new(self.coalescing()?))
    }

    pub(crate) fn coalescing(&self) -> Result<Coalescing, String> {
        let coalescing = match (self.interval, self.window) {
            (None, None) if self.scope == ScopeName::Nic => {
                return Err("`scope` has no effect without `interval` or `window`".into());
            }
            (None, None) => Coalescing::PerPacket,
            (Some(interval), None) => Coalescing::Interval(interval),
            (None, Some(window)) => Coalescing::Window(window),
            (Some(_), Some(_)) => {
                return Err("a notification point has `interval` or `window`, not both".into());
            }
        };
        let time = |time: Option<Duration>| time.map_or(1, Duration::as_ps);
        above_zero(&[("interval", time(self.interval)), ("window", time(self.window))])?;
        Ok(coalescing)
    }
}

impl BottleneckSetting {
    fn report(&self) -> Result<BottleneckReport, String> {
        let size = self.size.unwrap_or(SIZE);
        above_zero(&[("rate", self.rate.as_bps()), ("size", size.0)])?;
        let bottleneck = Bottleneck {
            sender: self.sender.point()?,
            receiver: self.receiver.point()?,
            rate: self.rate,
            mark: self.mark,
            size,
            delay: self.delay,
        };
        Ok(bottleneck.run(self.time))
    }
}

impl ReceiveSetting {
    fn report(&self) -> Result<ReceiveReport, String> {
        let size = self.size.unwrap_or(SIZE);
        above_zero(&[("rate", self.rate.as_bps()), ("size", size.0)])?;
        let cache = ReceiveCache {
            queue_pairs: self.queue_pairs,
            burst: self.burst.unwrap_or(1),
            packets: self.packets,
            size,
            rate: self.rate,
            entries: self.entries,
            hit: self.hit,
            miss: self.miss,
            xoff: self.xoff,
        };
        Ok(cache.run())
    }
}

/// Returns an error if a setting is 0.
pub(crate) fn above_zero(settings: &[(&str, u64)]) -> Result<(), String> {
    match settings.iter().find(|(_, n)| *n == 0) {
        Some((name, _)) => Err(format!("`{name}` of the host is 0; expected a value above 0")),
        None => Ok(()),
    }
}

/// A part of a host in a run.
enum Part {
    Bottleneck(BottleneckReport),
    Receive(ReceiveReport),
    Reaction(Box<ReactionPoint>),
    Notification(NotificationPoint),
    Transfer(TransferReport),
}

/// The run of a case about a host.
pub(super) struct HostRun<'a> {
    file: &'a ScenarioFile,
    part: Part,
    now: Time,
    defined: [&'a BTreeMap<String, Expr>; 2],
    pub(super) saved: BTreeMap<String, i128>,
    case: &'a str,
    pub(super) checks: Vec<Check>,
}

impl<'a> HostRun<'a> {
    pub(super) fn new(
        file: &'a ScenarioFile,
        setting: &HostSetting,
        defined: [&'a BTreeMap<String, Expr>; 2],
        case: &'a str,
    ) -> Result<Self, String> {
        let part = match setting {
            HostSetting::ReactionPoint(setting) => Part::Reaction(Box::new(setting.point()?)),
            HostSetting::NotificationPoint(setting) => Part::Notification(setting.point()?),
            HostSetting::Transfer(setting) => Part::Transfer(setting.report()?),
            HostSetting::Bottleneck(setting) => Part::Bottleneck(setting.report()?),
            HostSetting::ReceiveCache(setting) => Part::Receive(setting.report()?),
        };
        let (saved, checks) = (BTreeMap::new(), Vec::new());
        Ok(HostRun { file, part, now: Time::ORIGIN, defined, saved, case, checks })
    }

    /// Runs steps in order; an error names the step's line.
    pub(super) fn steps(&mut self, steps: &[Spanned<Step>]) -> Result<(), String> {
        for step in steps {
            let line = self.file.line(step);
            self.step(step.get_ref(), line).map_err(|e| at_line(line, e))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, line: usize) -> Result<(), String> {
        match step {
            Step::Wait(span) => self.now += self.time(span)?,
            Step::Expect(expect) => {
                let stated =
                    StatedNumbers { bench: None, defined: self.defined, round: None, depth: Cell::new(0) };
                let check = judge(expect, line, self.case, &|expr| self.value(expr), &stated)?;
                self.checks.push(check);
            }
            Step::Save(Save { name, value }) => _ = self.saved.insert(name.clone(), self.value(value)?),
            Step::Repeat(Repeat { times, steps }) => {
                let times = self.value(times)?;
                for round in 0..times {
                    self.saved.insert("round".to_owned(), round);
                    self.steps(steps)?;
                }
            }
            Step::Notify(count) => {
                let (count, now) = (self.value(count)?, self.now);
                let Part::Reaction(point) = &mut self.part else {
                    return Err("`notify` is for a reaction point".to_owned());
                };
                (0..count).for_each(|_| point.notified(now));
            }
            Step::Marked(Marked { count, gap }) => {
                let (count, gap) = (self.value(count)?, self.time(gap)?);
                let Part::Notification(point) = &mut self.part else {
                    return Err("`marked` is for a notification point".to_owned());
                };
                for _ in 0..count {
                    point.marked(self.now);
                    self.now += gap;
                }
            }
            _ => {
                return Err(
                    "this step is for a device; a host has wait, notify, marked, expect, save, repeat".into(),
                );
            }
        }
        if let Part::Reaction(point) = &mut self.part {
            point.advance(self.now);
        }
        Ok(())
    }

    fn time(&self, span: &Span) -> Result<Duration, String> {
        match span {
            Span::Fixed(time) => Ok(*time),
            Span::Ps(expr) => {
                let ps = self.value(expr)?;
                u64::try_from(ps)
                    .map(Duration::from_ps)
                    .map_err(|_| format!("{ps} is not a valid time in ps"))
            }
        }
    }

    fn value(&self, expr: &Expr) -> Result<i128, String> {
        let mut known = self.saved.clone();
        known.extend(self.numbers());
        let names = Names { bench: None, defined: self.defined, saved: &known, depth: Cell::new(0) };
        expr.value(&names)
    }

    /// Returns every number of the part, by the names of [`super::metric`].
    fn numbers(&self) -> Vec<(String, i128)> {
        let own: Vec<(&str, i128)> = match &self.part {
            Part::Reaction(point) => {
                let Rates { rate, target, alpha, notified, cuts, alpha_updates } = point.state().clone();
                let whole = |x: f64| x.round() as i128;
                vec![
                    ("rp.rate", whole(rate / 1e3)),
                    ("rp.target", whole(target / 1e3)),
                    ("rp.alpha", whole(alpha * 1e6)),
                    ("rp.notified", notified.into()),
                    ("rp.cuts", cuts.into()),
                    ("rp.alpha_updates", alpha_updates.into()),
                ]
            }
            Part::Notification(point) => {
                let (marked, notifications) = point.counts();
                vec![("np.marked", marked.into()), ("np.notifications", notifications.into())]
            }
            Part::Bottleneck(report) => vec![
                ("flow.sent", report.sent.into()),
                ("flow.marked", report.marked.into()),
                ("flow.notified", report.notified.into()),
                ("flow.rate", i128::from(report.mean_rate) / 1000),
                ("flow.most_queued", report.most_queued.into()),
            ],
            Part::Receive(report) => vec![
                ("receive.misses", report.misses.into()),
                ("receive.pauses", report.pauses.into()),
                ("receive.most_waiting", report.most_waiting.into()),
            ],
            Part::Transfer(report) => vec![
                ("transfer.sent", report.sent.into()),
                ("transfer.resent", report.resent.into()),
                ("transfer.from_hole", report.from_hole.into()),
                ("transfer.nacks", report.nacks.into()),
                ("transfer.delivered", report.delivered.into()),
                ("transfer.most_in_flight", report.most_in_flight.into()),
                ("transfer.time", report.time.as_ps().into()),
            ],
        };
        let time = ("host.time", self.now.since_origin().as_ps().into());
        own.into_iter().chain([time]).map(|(name, n)| (name.to_owned(), n)).collect()
    }
}
