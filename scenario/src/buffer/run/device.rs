//! Runs the steps of a scenario on a device.

use super::judge::{at_line, judge};
use super::outcome::Check;
use super::work::Work;
use crate::buffer::device::bench::{Active, Bench};
use crate::buffer::device::frames;
use crate::buffer::device::frames::Mark;
use crate::buffer::device::invariants;
use crate::buffer::file::scenario::ScenarioFile;
use crate::buffer::file::step::{
    Expect, Flood, FrameCheck, Ports, ReaderName, SetAlpha, Span, Step, Train, Until,
};
use crate::buffer::numbers::names::{Names, StatedNumbers};
use crate::language::expr::Expr;
use sluice_asic::tm::ShaperConfig;
use sluice_asic::tm::buffer::{Reader, Share, Threshold};
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{Bytes, Cells, Duration, Length, Time};
use std::cell::Cell;
use std::collections::BTreeMap;
use toml::Spanned;

/// Frame length by default.
const SIZE: i128 = 64;
/// Burst of a shaped port.
const BURST: Bytes = Bytes(2048);

/// The run of a case.
pub(crate) struct DeviceRun<'a> {
    pub(crate) file: &'a ScenarioFile,
    pub(crate) bench: Bench,
    pub(crate) defined: [&'a BTreeMap<String, Expr>; 2],
    pub(crate) saved: BTreeMap<String, i128>,
    pub(crate) case: &'a str,
    pub(crate) checks: Vec<Check>,
    /// True from the first step on whose numbers were computed from the resolved profile, or measured.
    pub(crate) computed: Cell<bool>,
    pub(crate) work: Work,
}

fn narrow<T: TryFrom<i128>>(n: i128, what: &str) -> Result<T, String> {
    T::try_from(n).map_err(|_| format!("{n} is not a valid {what}"))
}

impl DeviceRun<'_> {
    fn value(&self, expr: &Expr) -> Result<i128, String> {
        let names = Names {
            bench: Some(&self.bench),
            defined: self.defined,
            saved: &self.saved,
            depth: Cell::new(0),
        };
        expr.value(&names)
    }

    fn stated(&self) -> StatedNumbers<'_> {
        let round = self.saved.get("round").copied();
        StatedNumbers { bench: Some(&self.bench), defined: self.defined, round, depth: Cell::new(0) }
    }

    /// Returns a number of a step.
    fn number<T: TryFrom<i128>>(&self, expr: &Expr, what: &str) -> Result<T, String> {
        let computed = self.computed.get() || expr.value(&self.stated()).is_err();
        self.computed.set(computed);
        narrow(self.value(expr)?, what)
    }

    fn time(&self, span: &Span) -> Result<Duration, String> {
        match span {
            Span::Fixed(time) => Ok(*time),
            Span::Ps(expr) => self.number(expr, "time in ps").map(Duration::from_ps),
        }
    }

    fn optional(&self, span: Option<&Span>) -> Result<Option<Duration>, String> {
        span.map(|span| self.time(span)).transpose()
    }

    fn ports(&self, ports: &Ports) -> Result<Vec<u16>, String> {
        let mut list = Vec::new();
        for (first, last) in &ports.0 {
            let first: u16 = self.number(first, "port")?;
            let last: u16 = last.as_ref().map_or(Ok(first), |last| self.number(last, "port"))?;
            list.extend(first..=last);
        }
        list.iter().try_for_each(|port| self.bench.dev((*port).into()).map(|_| ()))?;
        Ok(list)
    }

    /// Runs steps in order; an error names the step's line.
    pub(crate) fn steps(&mut self, steps: &[Spanned<Step>]) -> Result<(), String> {
        for step in steps {
            let line = self.file.line(step);
            self.step(step.get_ref(), line).map_err(|e| at_line(line, e))?;
            for text in invariants::violations(&self.bench)? {
                let known = self.checks.iter().any(|c| c.actual == text && c.case == self.case);
                if !known {
                    self.checks.push(Check {
                        case: self.case.to_owned(),
                        line,
                        what: "invariants".to_owned(),
                        expected: "all hold".to_owned(),
                        actual: text,
                        unit: "",
                        passed: false,
                        stated: true,
                    });
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, line: usize) -> Result<(), String> {
        self.work.add(1)?;
        match step {
            Step::Block(ports) => self.block(ports, true),
            Step::Unblock(ports) => self.block(ports, false),
            Step::Send(train) => self.together(std::slice::from_ref(train)),
            Step::Together(trains) => self.together(trains),
            Step::Start(train) => self.begin(train),
            Step::Flood(flood) => self.flood(flood),
            Step::Wait(time) => {
                let time = self.time(time)?;
                self.bench.wait(time)
            }
            Step::Drain(most) => {
                let most = self.time(most)?;
                self.bench.drain(most)
            }
            Step::Depart(depart) => {
                let port = self.value(&depart.port)?;
                let packets = self.number(&depart.packets, "number of packets")?;
                self.bench.depart(port, packets)
            }
            Step::Expect(expect) => self.expect(expect, line),
            Step::Frame(frame) => self.frame(frame, line),
            Step::Save(save) => {
                let value = self.value(&save.value)?;
                self.saved.insert(save.name.clone(), value);
                Ok(())
            }
            Step::Collect => {
                self.bench.collect();
                Ok(())
            }
            Step::ClearWatermarks(reader) => {
                self.bench.switch.clear_watermarks(match reader {
                    ReaderName::User => Reader::User,
                    ReaderName::Persistent => Reader::Persistent,
                    ReaderName::Periodic => Reader::Periodic,
                });
                Ok(())
            }
            Step::ResizePool(cells) => {
                let cells = self.number(cells, "number of cells")?;
                self.bench.switch.resize_ingress_pool(0, Cells(cells));
                Ok(())
            }
            Step::SetAlpha(alpha) => self.set_alpha(alpha),
            Step::BigRedSwitch(on) => {
                self.bench.switch.big_red_switch(*on, &mut self.bench.seen);
                Ok(())
            }
            Step::RestartWatchdogs => {
                self.bench.switch.restart_watchdogs();
                Ok(())
            }
            Step::Shape(shape) => {
                let port = self.bench.dev(self.value(&shape.port)?)?;
                let most = ShaperConfig { rate: shape.rate, burst: BURST };
                self.bench.switch.shape_port(port, Some(most)).map_err(|e| e.to_string())
            }
            Step::Repeat(repeat) => {
                let times: u32 = self.number(&repeat.times, "number of times")?;
                for round in 0..times {
                    self.work.add(1)?;
                    self.saved.insert("round".to_owned(), round.into());
                    self.steps(&repeat.steps)?;
                }
                Ok(())
            }
            Step::Notify(_) | Step::Marked(_) => {
                Err("this step needs a host; add `host = { .. }` to the scenario".to_owned())
            }
        }
    }

    fn block(&mut self, ports: &Ports, blocked: bool) -> Result<(), String> {
        for port in self.ports(ports)? {
            let dev = self.bench.dev(port.into())?;
            self.bench.switch.block(dev, blocked).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn together<T: std::borrow::Borrow<Train>>(&mut self, trains: &[T]) -> Result<(), String> {
        let before = self.bench.begun();
        trains.iter().try_for_each(|train| self.begin(train.borrow()))?;
        self.bench.finish(before)
    }

    fn begin(&mut self, train: &Train) -> Result<(), String> {
        let (frame, priority) = self.frame_of(train)?;
        let lasts = self.optional(train.lasts.as_ref())?;
        let count = match (&train.count, lasts) {
            (Some(count), _) => self.number(count, "number of frames")?,
            (None, Some(_)) => u64::MAX,
            (None, None) => 1,
        };
        let wire = sluice_asic::mac::wire_bytes(Bytes(frame.len() as u64));
        let gap = self.optional(train.gap.as_ref())?.or_else(|| train.rate.map(|rate| rate.time_for(wire)));
        let next = self.bench.now + self.optional(train.after.as_ref())?.unwrap_or_default();
        let end = lasts.map_or(Time::MAX, |lasts| next + lasts);
        let reaction = self.optional(train.reaction.as_ref())?;
        let wanted = (train.obeys || train.cable.is_some() || reaction.is_some()).then(|| {
            let config = PfcConfig { reaction, ..PfcConfig::default() };
            let own = if train.obeys { self.bench.cable } else { Length::default() };
            (train.cable.unwrap_or(own), config, train.obeys)
        });
        for port in self.ports(&train.from)? {
            self.bench.attach(port, wanted)?;
            let (frame, damaged) = (frame.clone(), train.damaged);
            self.bench.begin(Active {
                port,
                frame,
                left: count,
                next,
                gap,
                end,
                priority,
                damaged,
                sent: 0,
                number: 0,
            });
        }
        Ok(())
    }

    /// Returns a train's frame, and the priority that pauses it.
    fn frame_of(&mut self, train: &Train) -> Result<(Vec<u8>, u8), String> {
        // MAC control frames are never paused, so the priority does not matter.
        if let Some(pfc) = &train.pfc {
            return Ok((frames::pfc(&pfc.priorities, pfc.quanta)?, 0));
        }
        if let Some(hex) = &train.hex {
            return Ok((frames::hex(hex)?, 0));
        }
        let to = train.to.as_ref().ok_or("a train needs `to`, or `hex`, or `pfc`")?;
        let to = self.ports(to)?;
        if let Some(qp) = train.cnp {
            let target = self.bench.target(&to)?;
            return Ok((frames::cnp(target, qp)?, 6));
        }
        let class = train.class.unwrap_or(3);
        let dscp = match &train.dscp {
            Some(dscp) => self.number(dscp, "DSCP")?,
            None => frames::dscp_of(class)?,
        };
        let (mark, priority) = match (train.pcp, train.inner_dscp) {
            (Some(pcp), None) => (Mark::Pcp(pcp), pcp),
            (None, None) => (Mark::Ip { dscp, ecn: train.ecn }, class),
            (None, Some(inner)) => (Mark::Tunnel { outer: dscp, inner }, class),
            (Some(_), Some(_)) => {
                return Err("found `pcp` and `inner_dscp`; write only one of them".to_owned());
            }
        };
        let size = self.size(train.size.as_ref())?;
        let target = self.bench.target(&to)?;
        Ok((frames::data(target, mark, size)?, priority))
    }

    fn size(&self, size: Option<&Expr>) -> Result<usize, String> {
        let size = size.map_or(Ok(SIZE), |size| self.value(size))?;
        let valid = usize::try_from(size).ok().filter(|size| (60..=65_000).contains(size));
        valid.ok_or_else(|| format!("size is {size}; expected 60 to 65000 bytes without FCS"))
    }

    fn flood(&mut self, flood: &Flood) -> Result<(), String> {
        let size = self.size(flood.size.as_ref())?;
        let target = self.bench.target(&[self.number(&flood.to, "port")?])?;
        let mut groups = Vec::new();
        for port in self.ports(&flood.from)? {
            for class in &flood.classes {
                let mark = Mark::Ip { dscp: frames::dscp_of(*class)?, ecn: 0 };
                groups.push((port, *class, frames::data(target, mark, size)?));
            }
        }
        let most = flood.groups.as_ref().map(|n| self.number(n, "number of groups")).transpose()?;
        groups.truncate(most.unwrap_or(usize::MAX));
        self.bench.flood(&groups, flood.until == Until::Drop)
    }

    fn set_alpha(&mut self, alpha: &SetAlpha) -> Result<(), String> {
        let port = self.bench.dev(self.value(&alpha.port)?)?;
        let threshold = Threshold::Dynamic { base: Cells::ZERO, share: Share::PowerOfTwo(alpha.n) };
        self.bench.switch.set_pg_threshold(port, alpha.class, threshold).map_err(|e| e.to_string())
    }

    fn expect(&mut self, expect: &Expect, line: usize) -> Result<(), String> {
        let check = judge(expect, line, self.case, &|expr| self.value(expr), &self.stated())?;
        let stated = check.stated && !self.computed.get();
        self.checks.push(Check { stated, ..check });
        Ok(())
    }

    fn frame(&mut self, frame: &FrameCheck, line: usize) -> Result<(), String> {
        let port = self.bench.dev(self.value(&frame.port)?)?.number();
        let seen = &self.bench.seen;
        let own: Vec<&[u8]> = match frame.data {
            true => seen.last_data.get(&port).map(Vec::as_slice).into_iter().collect(),
            false => seen.control.iter().filter(|(p, _)| *p == port).map(|(_, f)| f.as_slice()).collect(),
        };
        let at = match usize::try_from(frame.nth) {
            Ok(nth) => Some(nth),
            Err(_) => own.len().checked_sub(frame.nth.unsigned_abs() as usize),
        };
        let found = at.and_then(|at| own.get(at));
        let text = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let what = match frame.data {
            true => format!("the last data frame of port {}", frame.port),
            false => format!("MAC control frame {} of port {}", frame.nth, frame.port),
        };
        self.checks.push(Check {
            case: self.case.to_owned(),
            line,
            what,
            expected: frame.is.split_whitespace().collect::<Vec<_>>().join(" "),
            actual: found.map_or_else(|| format!("none: {} were sent", own.len()), |bytes| text(bytes)),
            unit: "",
            passed: found.is_some_and(|bytes| frames::matches(bytes, &frame.is)),
            stated: true,
        });
        Ok(())
    }
}
