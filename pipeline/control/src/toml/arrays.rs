//! Registers and meters in TOML.

use super::{Rank, Reader, Value};
use crate::ControlOp;
use crate::array_cells as cells;
use crate::resolve::Problem;
use ::toml::de::{DeTable, DeValue};
use sluice_ir::{LpfSpec, MeterConfig};

impl Reader<'_> {
    /// Reads `[[register.NAME]]`.
    pub(super) fn registers(&mut self, at: usize, name: &str, value: &Value<'_>) {
        let found = self.resolver.register(name);
        let Some(register) = self.ok(at, found) else { return };
        for (at, body) in self.tables(value, &format!("register.{name}")) {
            self.only(body, &["index", "value", "high", "param", "pipe"], "register key");
            let Some(pipe) = self.pipe(body) else { continue };
            if let Some(param) = body.get("param") {
                let param = self.scalar(param, "`param`");
                let value = self.word(at, body, "value", "register");
                if let (Some(param), Some(value)) = (param, value) {
                    let op = cells::set_param(self.resolver, register, &param, &value);
                    if let Some(op) = self.ok(at, op) {
                        self.ops.push((Rank::Array, at, op.in_pipe(pipe)));
                    }
                }
                continue;
            }
            let Some(index) = self.cell(body) else { continue };
            let Some(low) = self.word(at, body, "value", "register") else { continue };
            let high = body.get("high").and_then(|v| self.scalar(v, "`high`"));
            let value = cells::element(self.resolver.program, register, &low, high.as_deref());
            if let Some(value) = self.ok(at, value) {
                let op = ControlOp::WriteRegister { register, index, value: Some(value) };
                self.ops.push((Rank::Array, at, op.in_pipe(pipe)));
            }
        }
    }

    /// Reads `[[meter.NAME]]`.
    pub(super) fn meters(&mut self, at: usize, name: &str, value: &Value<'_>) {
        let found = self.resolver.meter(name);
        let Some(meter) = self.ok(at, found) else { return };
        for (at, body) in self.tables(value, &format!("meter.{name}")) {
            let keys = [
                "index",
                "open",
                "committed",
                "peak",
                "mode",
                "rise",
                "fall",
                "shift",
                "min",
                "max",
                "percent",
                "average",
                "pipe",
            ];
            self.only(body, &keys, "meter key");
            let (Some(index), Some(pipe)) = (self.cell(body), self.pipe(body)) else { continue };
            if let Some(config) = self.config(at, body) {
                let op = ControlOp::SetMeter { meter, index, config };
                self.ops.push((Rank::Array, at, op.in_pipe(pipe)));
            }
        }
    }

    /// Reads the index; `Some(None)`: all cells.
    fn cell(&mut self, body: &DeTable<'_>) -> Option<Option<u32>> {
        body.get("index").map_or(Some(None), |value| self.number(value, "`index`").map(Some))
    }

    /// Reads the scalar under a required key, as text.
    fn word(&mut self, at: usize, body: &DeTable<'_>, key: &str, what: &str) -> Option<String> {
        match body.get(key) {
            Some(value) => self.scalar(value, &format!("`{key}`")),
            None => self.fail(at, Problem::new(format!("this {what} has no `{key}`"))),
        }
    }

    fn config(&mut self, at: usize, body: &DeTable<'_>) -> Option<Option<MeterConfig>> {
        if let Some(value) = body.get("open") {
            return match value.get_ref() {
                DeValue::Boolean(true) => Some(None),
                _ => self.expected(value, "`open`", "true"),
            };
        }
        let config = if body.contains_key("committed") || body.contains_key("peak") {
            let committed = self.word(at, body, "committed", "meter")?;
            let peak = self.word(at, body, "peak", "meter")?;
            cells::rates(&committed, &peak)
        } else if body.contains_key("min") || body.contains_key("max") {
            let words = ["min", "max", "percent"].map(|key| self.word(at, body, key, "WRED"));
            let [Some(min), Some(max), Some(percent)] = words else { return None };
            let average = body.get("average").and_then(|v| self.scalar(v, "`average`"));
            cells::wred(&min, &max, &percent, average.as_deref().as_ref())
        } else {
            return self.filter(at, body).map(|spec| Some(MeterConfig::Lpf(spec)));
        };
        self.ok(at, config).map(Some)
    }

    fn filter(&mut self, at: usize, body: &DeTable<'_>) -> Option<LpfSpec> {
        let mode = self.word(at, body, "mode", "filter")?;
        let rise = self.word(at, body, "rise", "filter")?;
        let fall = match body.get("fall") {
            Some(value) => self.scalar(value, "`fall`")?,
            None => rise.clone(),
        };
        let shift = match body.get("shift") {
            Some(value) => self.scalar(value, "`shift`")?,
            None => "0".to_owned(),
        };
        let spec = cells::lpf(&mode, &[&rise, &fall, &shift]);
        self.ok(at, spec)
    }
}
