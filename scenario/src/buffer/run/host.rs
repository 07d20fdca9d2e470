//! Scenarios about a part of a host in place of a device: settings, steps and numbers.

use super::judge::{at_line, judge};
use super::outcome::Check;
use super::work::Work;
use crate::buffer::file::host::{BottleneckSetting, HostSetting, ReceiveSetting, TransferSetting};
use crate::buffer::file::scenario::ScenarioFile;
use crate::buffer::file::step::{Marked, Repeat, Save, Span, Step};
use crate::buffer::numbers::names::{Names, StatedNumbers};
use crate::language::expr::Expr;
use crate::nic_settings::{RecoveryName, above_zero};
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_fabric::host::bottleneck::{Bottleneck, BottleneckReport};
use sluice_fabric::host::dcqcn::{NotificationPoint, Rates, ReactionPoint};
use sluice_fabric::host::receive_cache::{ReceiveCache, ReceiveReport};
use sluice_fabric::host::recovery::{Recovery, Transfer, TransferConfig, TransferReport};
use std::cell::Cell;
use std::collections::BTreeMap;
use toml::Spanned;

/// Packet size by default.
const SIZE: Bytes = Bytes(1000);

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

/// A part of a host in a run.
enum Part {
    Bottleneck(BottleneckReport),
    Receive(ReceiveReport),
    Reaction(Box<ReactionPoint>),
    Notification(NotificationPoint),
    Transfer(TransferReport),
}

/// The run of a case about a host.
pub(crate) struct HostRun<'a> {
    file: &'a ScenarioFile,
    part: Part,
    now: Time,
    defined: [&'a BTreeMap<String, Expr>; 2],
    pub(crate) saved: BTreeMap<String, i128>,
    case: &'a str,
    pub(crate) checks: Vec<Check>,
    work: Work,
}

impl<'a> HostRun<'a> {
    pub(crate) fn new(
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
        Ok(HostRun { file, part, now: Time::ORIGIN, defined, saved, case, checks, work: Work::of_host() })
    }

    /// Runs steps in order; an error names the step's line.
    pub(crate) fn steps(&mut self, steps: &[Spanned<Step>]) -> Result<(), String> {
        for step in steps {
            let line = self.file.line(step);
            self.step(step.get_ref(), line).map_err(|e| at_line(line, e))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, line: usize) -> Result<(), String> {
        self.work.add(1)?;
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
                    self.work.add(1)?;
                    self.saved.insert("round".to_owned(), round);
                    self.steps(steps)?;
                }
            }
            Step::Notify(count) => {
                let (count, now) = (self.value(count)?, self.now);
                self.work.add(count)?;
                let Part::Reaction(point) = &mut self.part else {
                    return Err("`notify` is for a reaction point".to_owned());
                };
                (0..count).for_each(|_| point.notified(now));
            }
            Step::Marked(Marked { count, gap }) => {
                let (count, gap) = (self.value(count)?, self.time(gap)?);
                self.work.add(count)?;
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

    /// Returns every number of the part, by the names of [`crate::metric`].
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
