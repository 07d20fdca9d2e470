//! Commands on the packet generator, ports and queues.

use super::number;
use crate::DeviceOp;
use crate::app_words;
use crate::device::read_shaper;
use crate::resolve::{Problem, Resolver};
use sluice_asic::tm::{AfcMode, Guarantee, ShaperConfig};

/// Returns the operation of a command; `None` if it has the wrong number of words.
pub(super) fn command(
    resolver: Resolver<'_>,
    command: &str,
    words: &[&str],
) -> Result<Option<DeviceOp>, Problem> {
    let dev_port = |text: &str| dev_port(&resolver.plain(text)?);
    let op = match (command, words) {
        ("pktgen_write_buffer", [pipe, offset, bytes]) => DeviceOp::WritePktgenBuffer {
            pipe: small("pipe", pipe)?,
            offset: number("byte", offset)?,
            bytes: app_words::bytes(bytes)?,
        },
        ("pktgen_set_app", [pipe, app, rest @ ..]) => {
            let (pipe, app) = (small("pipe", pipe)?, small("application", app)?);
            let config = Box::new(app_words::read(&pairs(rest)?)?);
            DeviceOp::SetPktgenApp { pipe, app, config }
        }
        ("pktgen_enable" | "pktgen_disable", [pipe, app]) => DeviceOp::EnablePktgenApp {
            pipe: small("pipe", pipe)?,
            app: small("application", app)?,
            enabled: command == "pktgen_enable",
        },
        ("port_up" | "port_down", [port]) => {
            DeviceOp::SetPort { port: dev_port(port)?, up: command == "port_up" }
        }
        ("port_pfc", [port, who]) => {
            let program = match *who {
                "program" => true,
                "mac" => false,
                other => return Err(Problem::unknown("PFC", other, ["mac", "program"])),
            };
            DeviceOp::SetPfc { port: dev_port(port)?, program }
        }
        ("port_shaper", [port, most]) => DeviceOp::ShapePort { port: dev_port(port)?, most: shaper(most)? },
        ("queue_shaper", [port, queue, most]) => {
            DeviceOp::ShapeQueue { port: dev_port(port)?, queue: small("queue", queue)?, most: shaper(most)? }
        }
        ("queue_guarantee", [port, queue, "off"]) => {
            DeviceOp::GuaranteeQueue { port: dev_port(port)?, queue: small("queue", queue)?, least: None }
        }
        ("queue_guarantee", [port, queue, least, priority]) => {
            let priority = small("priority", priority)?;
            let least = shaper(least)?.map(|shaper| Guarantee { shaper, priority });
            DeviceOp::GuaranteeQueue { port: dev_port(port)?, queue: small("queue", queue)?, least }
        }
        ("queue_schedule", [port, queue, priority, weight]) => DeviceOp::ScheduleQueue {
            port: dev_port(port)?,
            queue: small("queue", queue)?,
            priority: small("priority", priority)?,
            weight: u16::try_from(number("weight", weight)?).unwrap_or(u16::MAX),
        },
        ("queue_pause" | "queue_resume", [port, queue]) => DeviceOp::PauseQueue {
            port: dev_port(port)?,
            queue: small("queue", queue)?,
            paused: command == "queue_pause",
        },
        ("deflection_set", [pipe, port, queue]) => DeviceOp::SetDeflection {
            pipe: small("pipe", pipe)?,
            to: Some((dev_port(port)?, small("queue", queue)?)),
        },
        ("deflection_clear", [pipe]) => DeviceOp::SetDeflection { pipe: small("pipe", pipe)?, to: None },
        ("queue_flow_control", [port, queue, mode]) => {
            let mode = match *mode {
                "xoff" => Some(AfcMode::Xoff),
                "credit" => Some(AfcMode::Credit),
                "off" => None,
                other => return Err(Problem::unknown("mode", other, ["xoff", "credit", "off"])),
            };
            DeviceOp::SetFlowControl { port: dev_port(port)?, queue: small("queue", queue)?, mode }
        }
        _ => return Ok(None),
    };
    Ok(Some(op))
}

fn pairs<'w>(words: &[&'w str]) -> Result<Vec<(&'w str, &'w str)>, Problem> {
    let pair = |word: &&'w str| {
        word.split_once('=').ok_or_else(|| Problem::new(format!("`{word}` is not of the form KEY=VALUE")))
    };
    words.iter().map(pair).collect()
}

/// Parses `RATE:BURST`, or `off`.
fn shaper(text: &str) -> Result<Option<ShaperConfig>, Problem> {
    if text == "off" { Ok(None) } else { read_shaper(text).map(Some).map_err(Problem::new) }
}

fn small(what: &str, text: &str) -> Result<u8, Problem> {
    let number = number(what, text)?;
    u8::try_from(number)
        .map_err(|_| Problem::new(format!("{what} {number} is too large; at most {}", u8::MAX)))
}

fn dev_port(text: &str) -> Result<u16, Problem> {
    let number = number("dev_port", text)?;
    u16::try_from(number)
        .map_err(|_| Problem::new(format!("dev_port {number} is too large; at most {}", u16::MAX)))
}
