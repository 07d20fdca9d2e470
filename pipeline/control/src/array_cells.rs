//! Commands on registers, counters and meters: words to operations.
//!
//! ```text
//! register_write NAME INDEX VALUE [HIGH]    `*` as INDEX: all elements; HIGH is a pair's high half
//! register_clear NAME [INDEX]               restores the initial value
//! register_fast_clear NAME [BUSY]           clears all at once (Tofino 2); until done, accesses return BUSY
//! register_param_set NAME PARAMETER VALUE   sets a run-time parameter of the register's actions
//! register_read NAME [INDEX]                records the value at this time in the outputs
//! counter_read NAME [INDEX]
//! meter_set_rates NAME INDEX RATE:BURST RATE:BURST    committed, peak: bits per second and bytes, or packets
//! lpf_set NAME INDEX sample|rate RISE [FALL] [SHIFT]  time constants such as 10us
//! wred_set NAME INDEX MIN MAX PERCENT [TIME]          averaged with the time constant
//! meter_clear NAME [INDEX]                  removes the configuration: every packet passes
//! ```

use super::resolve::{Problem, Resolver};
use super::{ArrayRef, ControlOp, parse_value};
use sluice_asic::meter::LpfMode;
use sluice_asic::salu::{Format, State as Element};
use sluice_asic::units::{BitRate, Duration};
use sluice_ir::{LpfSpec, MeterConfig, Program, Register};

/// Commands and their usage.
pub(super) const COMMANDS: [(&str, &str); 10] = [
    ("counter_read", "COUNTER [INDEX]"),
    ("lpf_set", "NAME INDEX sample|rate RISE [FALL] [SHIFT]"),
    ("meter_clear", "NAME [INDEX]"),
    ("meter_set_rates", "NAME INDEX RATE:BURST RATE:BURST"),
    ("register_clear", "REGISTER [INDEX]"),
    ("register_fast_clear", "REGISTER [BUSY]"),
    ("register_param_set", "REGISTER PARAMETER VALUE"),
    ("register_read", "REGISTER [INDEX]"),
    ("register_write", "REGISTER INDEX VALUE [HIGH]"),
    ("wred_set", "NAME INDEX MIN MAX PERCENT [TIME]"),
];

/// Returns the operation of an array command; `None` if the command is unknown or has the wrong number of
/// words.
pub(super) fn command(
    resolver: Resolver<'_>,
    command: &str,
    words: &[&str],
) -> Option<Result<ControlOp, Problem>> {
    Some(match (command, words) {
        ("register_write", [name, at, value]) => write(resolver, name, at, value, None),
        ("register_write", [name, at, value, high]) => write(resolver, name, at, value, Some(high)),
        ("register_clear", [name, at @ ..]) if at.len() < 2 => resolver.register(name).and_then(|register| {
            Ok(ControlOp::WriteRegister { register, index: optional(at)?, value: None })
        }),
        ("register_fast_clear", [name, busy @ ..]) if busy.len() < 2 => {
            let register = resolver.register(name);
            register.and_then(|register| {
                let refuse = |e| Problem::new(format!("the word that packets find: {e}"));
                let busy = busy.first().map_or(Ok(0), |text| parse_value(text, 32)).map_err(refuse)? as u32;
                Ok(ControlOp::FastClear { register, busy })
            })
        }
        ("register_param_set", [name, param, value]) => {
            let register = resolver.register(name);
            register.and_then(|register| set_param(resolver, register, param, value))
        }
        ("register_read", [name, at @ ..]) if at.len() < 2 => {
            let array = resolver.register(name).map(ArrayRef::Register);
            array.and_then(|array| Ok(ControlOp::Read { array, index: optional(at)? }))
        }
        ("counter_read", [name, at @ ..]) if at.len() < 2 => {
            let array = resolver.counter(name).map(ArrayRef::Counter);
            array.and_then(|array| Ok(ControlOp::Read { array, index: optional(at)? }))
        }
        ("meter_clear", [name, at @ ..]) if at.len() < 2 => resolver
            .meter(name)
            .and_then(|meter| Ok(ControlOp::SetMeter { meter, index: optional(at)?, config: None })),
        ("meter_set_rates", [name, at, committed, peak]) => set(resolver, name, at, rates(committed, peak)),
        ("lpf_set", [name, at, mode, rest @ ..]) if (1..=3).contains(&rest.len()) => {
            set(resolver, name, at, lpf(mode, rest).map(MeterConfig::Lpf))
        }
        ("wred_set", [name, at, min, max, percent, rest @ ..]) if rest.len() < 2 => {
            set(resolver, name, at, wred(min, max, percent, rest.first()))
        }
        _ => return None,
    })
}

fn write(
    resolver: Resolver<'_>,
    name: &str,
    at: &str,
    value: &str,
    high: Option<&str>,
) -> Result<ControlOp, Problem> {
    let register = resolver.register(name)?;
    let value = element(resolver.program, register, value, high)?;
    Ok(ControlOp::WriteRegister { register, index: cell(at)?, value: Some(value) })
}

/// Sets a register parameter, given the texts of its name and value.
pub(super) fn set_param(
    resolver: Resolver<'_>,
    register: Register,
    param: &str,
    value: &str,
) -> Result<ControlOp, Problem> {
    let place = resolver.register_param(register, param)?;
    let refuse = |e| Problem::new(format!("parameter `{param}`: {e}"));
    let value = parse_value(value, 32).map_err(refuse)? as u32;
    Ok(ControlOp::SetRegisterParam { register, param: place, value })
}

fn set(
    resolver: Resolver<'_>,
    name: &str,
    at: &str,
    config: Result<MeterConfig, Problem>,
) -> Result<ControlOp, Problem> {
    let meter = resolver.meter(name)?;
    Ok(ControlOp::SetMeter { meter, index: cell(at)?, config: Some(config?) })
}

/// Returns an element's value, given the texts of its halves.
pub(super) fn element(
    program: &Program,
    register: Register,
    low: &str,
    high: Option<&str>,
) -> Result<Element, Problem> {
    let data = &program.registers[register];
    let half = |text: &str, word: &str| {
        let value = parse_value(text, data.format.half_bits() as u16);
        let refuse = |e| Problem::new(format!("{word} of register `{}`: {e}", data.name));
        value.map(|v| v as u64).map_err(refuse)
    };
    match (high, data.format.has_hi()) {
        (None, false) => Ok(Element::single(half(low, "an element")?)),
        (None, true) if data.format == Format::single(128).unwrap_or(data.format) => {
            let refuse = |e| Problem::new(format!("an element of register `{}`: {e}", data.name));
            parse_value(low, 128).map(Element::word).map_err(refuse)
        }
        (Some(high), true) => Ok(Element::pair(half(low, "a low half")?, half(high, "a high half")?)),
        (Some(_), false) => {
            Err(Problem::new(format!("register `{}` has single elements; give one value", data.name)))
        }
        (None, true) => Err(Problem::new(format!("register `{}` has pairs; give two values", data.name))),
    }
}

/// Parses an index; `None` for `*`, all cells.
fn cell(text: &str) -> Result<Option<u32>, Problem> {
    if text == "*" {
        return Ok(None);
    }
    let wrong = || Problem::new(format!("`{text}` is not an index; expected a number or `*` for all"));
    text.parse().map(Some).map_err(|_| wrong())
}

fn optional(words: &[&str]) -> Result<Option<u32>, Problem> {
    words.first().map_or(Ok(None), |text| cell(text))
}

/// Parses `RATE:BURST`: a number or a bit rate such as `8Mbps`, and a number.
fn bucket(text: &str) -> Result<(u64, u64), Problem> {
    let wrong = || Problem {
        text: format!("`{text}` is not a rate with a burst"),
        help: "write RATE:BURST, for example 8Mbps:1500 or 1000:10".to_owned(),
    };
    let (rate, burst) = text.split_once(':').ok_or_else(wrong)?;
    let rate = rate.parse().or_else(|_| rate.parse::<BitRate>().map(BitRate::as_bps));
    Ok((rate.map_err(|_| wrong())?, burst.parse().map_err(|_| wrong())?))
}

pub(super) fn rates(committed: &str, peak: &str) -> Result<MeterConfig, Problem> {
    let ((committed, committed_burst), (peak, peak_burst)) = (bucket(committed)?, bucket(peak)?);
    Ok(MeterConfig::Rates { committed, committed_burst, peak, peak_burst })
}

fn time(text: &str) -> Result<Duration, Problem> {
    text.parse().map_err(|e: sluice_asic::units::UnitError| Problem::new(e.to_string()))
}

fn small<T: std::str::FromStr>(what: &str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::new(format!("`{text}` is not a valid {what}")))
}

/// Parses `sample|rate RISE [FALL] [SHIFT]`.
pub(super) fn lpf(mode: &str, rest: &[&str]) -> Result<LpfSpec, Problem> {
    let mode = match mode {
        "sample" => LpfMode::Sample,
        "rate" => LpfMode::Rate,
        _ => return Err(Problem::unknown("filter mode", mode, ["sample", "rate"])),
    };
    let rise = time(rest.first().copied().unwrap_or_default())?;
    let fall = rest.get(1).map_or(Ok(rise), |text| time(text))?;
    let shift = rest.get(2).map_or(Ok(0), |text| small("output shift", text))?;
    Ok(LpfSpec { mode, rise, fall, shift })
}

pub(super) fn wred(
    min: &str,
    max: &str,
    percent: &str,
    average: Option<&&str>,
) -> Result<MeterConfig, Problem> {
    Ok(MeterConfig::Wred {
        min: small("lower threshold", min)?,
        max: small("upper threshold", max)?,
        probability: small("probability in per cent", percent)?,
        average: average.map(|text| lpf("sample", &[text])).transpose()?,
    })
}
