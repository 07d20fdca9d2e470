//! The packet generator, ports and queues in TOML.

use super::{Rank, Reader, Value, start};
use crate::app_words;
use crate::device::read_shaper;
use crate::resolve::Problem;
use crate::{ControlOp, DeviceOp};
use ::toml::de::{DeTable, DeValue};
use sluice_asic::tm::{AfcMode, Guarantee, ShaperConfig};

impl Reader<'_> {
    fn device(&mut self, at: usize, op: DeviceOp) {
        self.ops.push((Rank::Replication, at, ControlOp::Device(op)));
    }

    fn small(&mut self, at: usize, body: &DeTable<'_>, key: &str, what: &str) -> Option<u8> {
        self.required_at_most(at, body, key, what, u8::MAX.into()).map(|n| n as u8)
    }

    /// Reads `[[pktgen_buffer]]`.
    pub(super) fn pktgen_buffers(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "pktgen_buffer") {
            self.only(body, &["pipe", "offset", "bytes"], "pktgen_buffer key");
            let pipe = self.small(at, body, "pipe", "generator buffer");
            let offset = body.get("offset").map_or(Some(0), |v| self.number(v, "`offset`"));
            let Some(text) = body.get("bytes") else {
                self.problems.push((at, Problem::new("this generator buffer has no `bytes`")));
                continue;
            };
            let bytes = self.text(text, "`bytes`").map(app_words::bytes);
            let bytes = bytes.and_then(|bytes| self.ok(start(text), bytes));
            if let (Some(pipe), Some(offset), Some(bytes)) = (pipe, offset, bytes) {
                self.device(at, DeviceOp::WritePktgenBuffer { pipe, offset, bytes });
            }
        }
    }

    /// Reads `[[pktgen]]`.
    pub(super) fn pktgen(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "pktgen") {
            let own = ["pipe", "app", "enabled"];
            let keys: Vec<&str> = own.iter().chain(&app_words::KEYS).copied().collect();
            self.only(body, &keys, "pktgen key");
            let pipe = self.small(at, body, "pipe", "generator application");
            let app = self.small(at, body, "app", "generator application");
            let enabled = self.flag(body, "enabled", true);
            let mut words = Vec::new();
            for key in app_words::KEYS {
                let Some(value) = body.get(key) else { continue };
                words.extend(self.scalar(value, &format!("`{key}`")).map(|text| (key, text)));
            }
            let words: Vec<(&str, &str)> = words.iter().map(|(k, v)| (*k, v.as_str())).collect();
            let config = self.ok(at, app_words::read(&words));
            if let (Some(pipe), Some(app), Some(enabled), Some(config)) = (pipe, app, enabled, config) {
                self.device(at, DeviceOp::SetPktgenApp { pipe, app, config: Box::new(config) });
                if enabled {
                    self.device(at, DeviceOp::EnablePktgenApp { pipe, app, enabled });
                }
            }
        }
    }

    /// Reads `[[port]]`.
    pub(super) fn ports(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "port") {
            self.only(body, &["port", "up", "pfc", "max"], "port key");
            let port = self.required_port(at, body, "port", u16::MAX);
            let most = self.shaper(body, "max");
            let up = self.flag(body, "up", true);
            let program = body.get("pfc").map_or(Some(None), |value| self.program_pfc(value).map(Some));
            if let (Some(port), Some(up), Some(program)) = (port, up, program) {
                self.device(at, DeviceOp::SetPort { port, up });
                if let Some(program) = program {
                    self.device(at, DeviceOp::SetPfc { port, program });
                }
                if let Some(most) = most {
                    self.device(at, DeviceOp::ShapePort { port, most: Some(most) });
                }
            }
        }
    }

    /// Reads `[[queue]]`.
    pub(super) fn queues(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "queue") {
            let keys = [
                "port",
                "queue",
                "paused",
                "flow_control",
                "max",
                "min",
                "min_priority",
                "priority",
                "weight",
            ];
            self.only(body, &keys, "queue key");
            let port = self.required_port(at, body, "queue", u16::MAX);
            let queue = self.small(at, body, "queue", "queue");
            let paused = self.flag(body, "paused", false);
            let mode = match body.get("flow_control") {
                None => Some(None),
                Some(value) => self.flow_control(value).map(Some),
            };
            if let (Some(port), Some(queue), Some(paused), Some(mode)) = (port, queue, paused, mode) {
                if mode.is_some() {
                    self.device(at, DeviceOp::SetFlowControl { port, queue, mode });
                }
                if paused {
                    self.device(at, DeviceOp::PauseQueue { port, queue, paused });
                }
                self.turns(at, body, port, queue);
            }
        }
    }

    /// Reads a queue's maximum rate, guarantee, priority and weight.
    fn turns(&mut self, at: usize, body: &DeTable<'_>, port: u16, queue: u8) {
        if let Some(most) = self.shaper(body, "max") {
            self.device(at, DeviceOp::ShapeQueue { port, queue, most: Some(most) });
        }
        let word = |s: &mut Self, key: &str, most: u16| {
            body.get(key).and_then(|value| s.at_most(value, &format!("`{key}`"), most))
        };
        let first = word(self, "min_priority", 7).unwrap_or(0) as u8;
        if let Some(shaper) = self.shaper(body, "min") {
            let least = Some(Guarantee { shaper, priority: first });
            self.device(at, DeviceOp::GuaranteeQueue { port, queue, least });
        }
        let (priority, weight) = (word(self, "priority", 7), word(self, "weight", 1023));
        if priority.is_some() || weight.is_some() {
            let (priority, weight) = (priority.unwrap_or(0) as u8, weight.unwrap_or(1));
            self.device(at, DeviceOp::ScheduleQueue { port, queue, priority, weight });
        }
    }

    /// Reads `RATE:BURST`.
    fn shaper(&mut self, body: &DeTable<'_>, key: &str) -> Option<ShaperConfig> {
        let value = body.get(key)?;
        let text = self.text(value, &format!("`{key}`"))?;
        self.ok(start(value), read_shaper(text).map_err(Problem::new))
    }

    /// Reads `[[deflection]]`.
    pub(super) fn deflections(&mut self, value: &Value<'_>) {
        for (at, body) in self.tables(value, "deflection") {
            self.only(body, &["pipe", "port", "queue"], "deflection key");
            let pipe = self.small(at, body, "pipe", "deflection");
            let port = self.required_port(at, body, "deflection", u16::MAX);
            let queue = self.small(at, body, "queue", "deflection");
            if let (Some(pipe), Some(port), Some(queue)) = (pipe, port, queue) {
                self.device(at, DeviceOp::SetDeflection { pipe, to: Some((port, queue)) });
            }
        }
    }

    /// Reads `pfc`: true if the program handles a port's PFC.
    fn program_pfc(&mut self, value: &Value<'_>) -> Option<bool> {
        match self.text(value, "`pfc`")? {
            "program" => Some(true),
            "mac" => Some(false),
            other => self.fail(start(value), Problem::unknown("one to do PFC", other, ["mac", "program"])),
        }
    }

    fn flow_control(&mut self, value: &Value<'_>) -> Option<AfcMode> {
        match self.text(value, "`flow_control`")? {
            "xoff" => Some(AfcMode::Xoff),
            "credit" => Some(AfcMode::Credit),
            other => {
                let problem = Problem::unknown("flow-control mode", other, ["xoff", "credit"]);
                self.fail(start(value), problem)
            }
        }
    }

    pub(super) fn flag(&mut self, body: &DeTable<'_>, key: &str, usual: bool) -> Option<bool> {
        match body.get(key).map(|v| (v, v.get_ref())) {
            None => Some(usual),
            Some((_, DeValue::Boolean(value))) => Some(*value),
            Some((value, _)) => self.expected(value, &format!("`{key}`"), "true or false"),
        }
    }
}
