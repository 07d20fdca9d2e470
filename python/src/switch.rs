//! One emulated switch, into which Python sends packets.

use crate::callbacks::{CallableAgent, CallableProperty, Heard, Place, Raised};
use crate::command::catalogue;
use crate::digest::Layouts;
use crate::error::{of, wrong};
use crate::interruptible::{brief, interruptible};
use crate::ports::{front, shown};
use crate::table::Table;
use crate::time::{duration, nanoseconds};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, LargeBinaryArray, StringArray, UInt8Array, UInt16Array, UInt64Array,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use sluice::embed::Device;
use sluice_asic::port::PortMap;
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlOp, entries, lines};
use sluice_ir::Program;
use sluice_replay::{Bench, BenchError, BenchRun};
use sluice_switch::property::{Property, general_and};
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// Simulated time of the first slice of a run, between whose slices signals are noticed.
const FIRST_SLICE: Duration = Duration::from_micros(10);
/// Wall time after which slices do not grow.
const LONG: std::time::Duration = std::time::Duration::from_millis(20);
/// Longest time that `drain` waits for packets inside the switch.
const DRAIN: Duration = Duration::from_millis(10);

/// One switch with a program.
#[pyclass(frozen, module = "sluice._native")]
pub(crate) struct Switch {
    bench: Mutex<Bench>,
    raised: Raised,
    warnings: Vec<String>,
    layouts: Layouts,
}

/// A front-panel port: its number, or a text with its name, a cage and lane, or `dev:137`.
#[derive(FromPyObject)]
enum PortArg {
    Front(u16),
    Named(String),
}

impl PortArg {
    fn front(self, py: Python<'_>, ports: &PortMap) -> PyResult<u16> {
        match self {
            PortArg::Front(number) => Ok(number),
            PortArg::Named(text) => {
                let port = ports.find(&text).map_err(|e| wrong(py, e))?;
                front(ports, port.dev_port.number()).ok_or_else(|| {
                    wrong(
                        py,
                        format!(
                            "port {text} is not on the front panel; packets come in by the front panel alone"
                        ),
                    )
                })
            }
        }
    }
}

/// Reads commands of the control plane; the error has the places of all mistakes.
pub(crate) fn operations(
    program: &Program,
    ports: &PortMap,
    commands: &[String],
) -> Result<Vec<ControlOp>, String> {
    let text: String = commands.iter().map(|line| format!("@0ns {}\n", line.replace('\n', " "))).collect();
    let script = lines::parse_changes_on(program, ports, &text, "command").map_err(|errors| {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        texts.join("\n").trim_start_matches("error: ").to_owned()
    })?;
    Ok(script.ops.into_iter().map(|sourced| sourced.op).collect())
}

impl Switch {
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Bench>> {
        self.bench.try_lock().map_err(|_| {
            wrong(py, "the switch runs\n  = help: a callable of a switch answers with its result; it cannot use the switch")
        })
    }

    /// Raises an error of the switch, or the exception of a callable.
    fn checked<T>(&self, py: Python<'_>, result: Result<T, BenchError>) -> PyResult<T> {
        match (self.raised.take(), result) {
            (Some(raised), _) => Err(raised),
            (None, result) => result.map_err(|e| wrong(py, e)),
        }
    }

    /// Runs up to a time in slices, until the flag is set.
    fn slices(&self, bench: &mut Bench, until: Duration, stop: &AtomicBool) -> Result<(), BenchError> {
        let mut slice = FIRST_SLICE;
        loop {
            let now = bench.switch().time().since_origin();
            if now >= until || stop.load(Ordering::Relaxed) || self.raised.is_set() {
                return Ok(());
            }
            let began = Instant::now();
            bench.run_until((now + slice).min(until))?;
            if began.elapsed() < LONG {
                slice = slice + slice;
            }
        }
    }
}

#[pymethods]
impl Switch {
    /// Makes the switch that `sluice replay` makes with these arguments. `properties` has names and callables; `agent` has a
    /// callable and a latency.
    #[new]
    fn new(
        py: Python<'_>,
        arguments: Vec<OsString>,
        properties: Vec<(String, Py<PyAny>)>,
        agent: Option<(Py<PyAny>, Bound<'_, PyAny>)>,
    ) -> PyResult<Switch> {
        let device = interruptible(py, |_| sluice::embed::switch(catalogue(), &arguments))?;
        let Device { catalogue, stage, setup, warnings } = device.map_err(|e| of(py, &e))?;
        let (program, ports) = (setup.placed.program.clone(), setup.ports.clone());
        let (raised, layouts) = (Raised::default(), Layouts::of(&program));
        let mut all = general_and(stage.properties(&program));
        all.extend(properties.into_iter().map(|(name, callable)| {
            let at = Place::Alone(ports.clone());
            Box::new(CallableProperty::new(name, Arc::new(callable), at, &raised)) as Box<dyn Property>
        }));
        let mut bench = Bench::of(&catalogue, setup, all).map_err(|e| wrong(py, e))?;
        if let Some((callable, latency)) = agent {
            let (latency, operations) = (duration(py, &latency)?, Default::default());
            let raised = raised.clone();
            let switches = vec![Heard::new(None, program, ports)];
            bench.set_control_plane(Box::new(CallableAgent {
                callable,
                latency,
                switches,
                raised,
                operations,
            }));
        }
        Ok(Switch { bench: Mutex::new(bench), raised, warnings, layouts })
    }

    /// Warnings about the entries.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Nanoseconds up to which the switch has run.
    #[getter]
    fn time_ns(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(nanoseconds(self.lock(py)?.switch().time()))
    }

    fn send(
        &self,
        py: Python<'_>,
        frame: PyBackedBytes,
        port: PortArg,
        time: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let at = duration(py, time)?;
        let mut bench = self.lock(py)?;
        let port = port.front(py, bench.ports())?;
        let sent = bench.send(at, port, &frame);
        self.checked(py, sent)
    }

    fn run_until(&self, py: Python<'_>, time: &Bound<'_, PyAny>) -> PyResult<()> {
        let until = duration(py, time)?;
        let mut bench = self.lock(py)?;
        let bench: &mut Bench = &mut bench;
        let is_short = until <= bench.switch().time().since_origin() + FIRST_SLICE;
        let ran = match is_short {
            true => brief(py, || bench.run_until(until))?,
            false => interruptible(py, |stop| self.slices(bench, until, stop))?,
        };
        self.checked(py, ran)
    }

    /// Runs until no packet is inside, at most 10 ms.
    fn drain(&self, py: Python<'_>) -> PyResult<()> {
        let mut bench = self.lock(py)?;
        let bench: &mut Bench = &mut bench;
        let ran = interruptible(py, |stop| {
            let (start, mut step) = (bench.switch().time().since_origin(), Duration::from_micros(1));
            self.slices(bench, start + step, stop)?;
            while bench.switch().is_busy() && step < DRAIN && !stop.load(Ordering::Relaxed) {
                step = (step + step).min(DRAIN);
                self.slices(bench, start + step, stop)?;
            }
            Ok(())
        })?;
        self.checked(py, ran)
    }

    /// Applies commands of the control plane: at once, or at a time since the start.
    #[pyo3(signature = (commands, time = None))]
    fn commands(
        &self,
        py: Python<'_>,
        commands: Vec<String>,
        time: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut bench = self.lock(py)?;
        let ops = operations(bench.program(), bench.ports(), &commands).map_err(|text| wrong(py, text))?;
        let done = match time {
            None => bench.apply(ops),
            Some(time) => bench.control(duration(py, &time)?, ops),
        };
        self.checked(py, done)
    }

    /// Returns the entries in force as TOML.
    fn entries(&self, py: Python<'_>) -> PyResult<String> {
        let bench = self.lock(py)?;
        Ok(entries::print_on(bench.program(), bench.ports(), bench.switch().control_state()))
    }

    /// Returns sent packets, lost packets, digests and violations since the last call.
    fn take(&self, py: Python<'_>) -> PyResult<(Table, Table, Table, Vec<String>)> {
        let mut bench = self.lock(py)?;
        let run = bench.take();
        let violations = run.violations.iter().map(ToString::to_string).collect();
        let digests = self.layouts.table(py, &run.digests)?;
        Ok((sent(py, &run, bench.ports())?, lost(py, &run)?, digests, violations))
    }

    /// Returns the names of tables, registers and counters.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bench = self.lock(py)?;
        let program = bench.program();
        let names = PyDict::new(py);
        names.set_item("tables", program.tables.iter().map(|(_, t)| t.name.clone()).collect::<Vec<_>>())?;
        names.set_item(
            "registers",
            program.registers.iter().map(|(_, r)| r.name.clone()).collect::<Vec<_>>(),
        )?;
        names
            .set_item("counters", program.counters.iter().map(|(_, c)| c.name.clone()).collect::<Vec<_>>())?;
        Ok(names)
    }

    /// Returns the elements of a register that differ from their first value.
    fn register(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let bench = self.lock(py)?;
        let program = bench.program();
        let found = program.registers.iter().find(|(_, data)| data.name == name);
        let (register, _) =
            found.ok_or_else(|| wrong(py, format!("the program has no register `{name}`")))?;
        let mut rows = Vec::new();
        for (pipe, state) in (0_u8..).zip(bench.switch().pipe_states()) {
            rows.extend(
                state.registers[register].changed().map(|(at, cell)| (pipe, at as u64, cell.lo, cell.hi)),
            );
        }
        Table::of(py, cells(&rows, ["value", "high"]))
    }

    /// Returns the cells of a counter that are not 0.
    fn counter(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let bench = self.lock(py)?;
        let program = bench.program();
        let found = program.counters.iter().find(|(_, data)| data.name == name);
        let (counter, _) = found.ok_or_else(|| wrong(py, format!("the program has no counter `{name}`")))?;
        let mut rows = Vec::new();
        for (pipe, state) in (0_u8..).zip(bench.switch().pipe_states()) {
            let changed = state.counters[counter].changed();
            rows.extend(changed.map(|(at, count)| (pipe, at as u64, count.packets, count.bytes)));
        }
        Table::of(py, cells(&rows, ["packets", "bytes"]))
    }

    /// Returns the counters of the queues that had packets.
    fn queues(&self, py: Python<'_>) -> PyResult<Table> {
        let bench = self.lock(py)?;
        let used: Vec<_> = bench
            .switch()
            .queues()
            .filter(|(_, _, stats)| stats.enqueued.packets + stats.dropped().packets > 0)
            .collect();
        let ports = bench.ports();
        Table::of(
            py,
            vec![
                ("port", u16s(used.iter().map(|(port, ..)| front(ports, *port)))),
                ("port_name", texts(used.iter().map(|(port, ..)| shown(ports, *port)))),
                ("dev_port", u16s(used.iter().map(|(port, ..)| Some(*port)))),
                ("queue", u8s(used.iter().map(|(_, queue, _)| *queue))),
                ("enqueued", u64s(used.iter().map(|(.., stats)| stats.enqueued.packets))),
                ("dropped", u64s(used.iter().map(|(.., stats)| stats.dropped().packets))),
                ("max_cells", u64s(used.iter().map(|(.., stats)| stats.max_cells.0.into()))),
            ],
        )
    }

    /// Returns packets received, made inside, sent, dropped, absorbed, and still inside.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bench = self.lock(py)?;
        let totals = bench.switch().totals();
        let ended = totals.sent + totals.dropped + totals.absorbed;
        let values = PyDict::new(py);
        values.set_item("received", totals.received)?;
        values.set_item("created", totals.created)?;
        values.set_item("sent", totals.sent)?;
        values.set_item("dropped", totals.dropped)?;
        values.set_item("absorbed", totals.absorbed)?;
        values.set_item("held", (totals.received + totals.created).saturating_sub(ended))?;
        Ok(values)
    }
}

fn u8s(values: impl Iterator<Item = u8>) -> ArrayRef {
    Arc::new(UInt8Array::from_iter_values(values))
}

fn u16s(values: impl Iterator<Item = Option<u16>>) -> ArrayRef {
    Arc::new(UInt16Array::from_iter(values))
}

fn u64s(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}

fn times(values: impl Iterator<Item = Time>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values.map(nanoseconds)))
}

fn texts(values: impl Iterator<Item = String>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn binaries<'a>(values: impl Iterator<Item = &'a [u8]>) -> ArrayRef {
    Arc::new(LargeBinaryArray::from_iter_values(values))
}

fn sent(py: Python<'_>, run: &BenchRun, ports: &PortMap) -> PyResult<Table> {
    let sent = &run.sent;
    Table::of(
        py,
        vec![
            ("number", u64s(sent.iter().map(|p| p.number))),
            ("time_ns", times(sent.iter().map(|p| p.time))),
            ("port", u16s(sent.iter().map(|p| p.front))),
            ("port_name", texts(sent.iter().map(|p| shown(ports, p.port)))),
            ("dev_port", u16s(sent.iter().map(|p| Some(p.port)))),
            ("queue", u8s(sent.iter().map(|p| p.queue))),
            ("bytes", binaries(sent.iter().map(|p| p.bytes.as_slice()))),
        ],
    )
}

fn lost(py: Python<'_>, run: &BenchRun) -> PyResult<Table> {
    let lost = &run.lost;
    Table::of(
        py,
        vec![
            ("number", u64s(lost.iter().map(|p| p.number))),
            ("time_ns", times(lost.iter().map(|p| p.time))),
            ("reason", Arc::new(StringArray::from_iter_values(lost.iter().map(|p| p.reason.as_str())))),
            ("absorbed", Arc::new(BooleanArray::from_iter(lost.iter().map(|p| Some(p.absorbed))))),
        ],
    )
}

fn cells(rows: &[(u8, u64, u64, u64)], names: [&'static str; 2]) -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("pipe", u8s(rows.iter().map(|row| row.0))),
        ("index", u64s(rows.iter().map(|row| row.1))),
        (names[0], u64s(rows.iter().map(|row| row.2))),
        (names[1], u64s(rows.iter().map(|row| row.3))),
    ]
}
