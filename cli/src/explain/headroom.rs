//! `sluice explain headroom`: the headroom that a lossless priority group needs, term by term.

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::console::numbers::{number, quantity};
use crate::console::table::table;
use crate::open::buffer_profile::profile;
use clap::{Args, ValueEnum};
use serde_json::json;
use sluice_asic::chip::ChipSpec;
use sluice_asic::tm::headroom::{Headroom, HeadroomInput, Method, headroom};
use sluice_asic::units::{BitRate, Length};
use sluice_asic::units::{Bytes, Cells};
use std::io::Write;
use std::path::Path;

/// Inputs of the headroom of a lossless priority group, for the word `headroom`.
#[derive(Debug, Args)]
#[command(next_help_heading = "For the word headroom")]
pub(crate) struct HeadroomArgs {
    /// Rate of the line, for example 100G
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub(crate) speed: Option<BitRate>,
    /// Length of the cable, for example 300m
    #[arg(long, value_name = "LENGTH", value_parser = quantity::<Length>)]
    pub(crate) cable: Option<Length>,
    /// Formula of the headroom
    #[arg(long, value_enum, default_value_t)]
    pub(crate) method: HeadroomMethod,
    /// Bytes of a buffer cell [default: the chip's]
    #[arg(long, value_name = "BYTES", value_parser = quantity::<Bytes>)]
    pub(crate) cell: Option<Bytes>,
    /// Buffer profile that has the cell, such as th for Tomahawk
    #[arg(long, value_name = "PROFILE", conflicts_with = "cell")]
    pub(crate) memory: Option<String>,
    /// Longest frame of the port [default: 9216B; nvidia and barefoot: 9100B]
    #[arg(long, value_name = "BYTES", value_parser = quantity::<Bytes>)]
    pub(crate) mtu: Option<Bytes>,
    /// Longest frame of lossless traffic [default: 9216B; nvidia and barefoot: 1024B]
    #[arg(long, value_name = "BYTES", value_parser = quantity::<Bytes>)]
    pub(crate) lossless_mtu: Option<Bytes>,
    /// Share of 64-byte packets in percent, for nvidia and barefoot [default: 50]
    #[arg(long, value_name = "PERCENT", value_parser = number::<u8>(0..=100))]
    pub(crate) small_packets: Option<u8>,
    /// Latency of a gearbox in the line, in ns [default: 0]
    #[arg(long, value_name = "NS", value_parser = number::<u64>(..))]
    pub(crate) gearbox_ns: Option<u64>,
    /// The port has eight lanes, for nvidia
    #[arg(long)]
    pub(crate) eight_lanes: bool,
    /// Lossless groups share their headroom (a pool with xoff, or an over-subscribe ratio), for nvidia
    #[arg(long)]
    pub(crate) shared_headroom: bool,
}

impl HeadroomArgs {
    /// Returns true if at least one of them is given.
    pub(crate) const fn any(&self) -> bool {
        self.speed.is_some()
            || self.cable.is_some()
            || self.cell.is_some()
            || self.memory.is_some()
            || self.mtu.is_some()
            || self.lossless_mtu.is_some()
            || self.small_packets.is_some()
            || self.gearbox_ns.is_some()
            || self.eight_lanes
            || self.shared_headroom
    }
}

/// Formula of the headroom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeadroomMethod {
    /// Enough for frames of every length: those that take most cells fill round trip and reaction time
    #[default]
    Worst,
    /// Round trip, reaction time, and one frame in flight at each end; frames fill their cells
    Ideal,
    /// SONiC's plug-in for NVIDIA
    Nvidia,
    /// SONiC's plug-in for Barefoot
    Barefoot,
}

impl HeadroomMethod {
    const fn method(self) -> Method {
        match self {
            HeadroomMethod::Worst => Method::Worst,
            HeadroomMethod::Ideal => Method::Ideal,
            HeadroomMethod::Nvidia => Method::Nvidia,
            HeadroomMethod::Barefoot => Method::Barefoot,
        }
    }

    /// Returns what the formula assumes.
    const fn assumes(self) -> &'static str {
        match self {
            HeadroomMethod::Worst => "frames of the worst length all the time",
            HeadroomMethod::Ideal => "frames that fill their cells; shorter ones are lost",
            HeadroomMethod::Nvidia => {
                "SONiC's plug-in: half of the packets small, the cell's waste rounded up to a whole number"
            }
            HeadroomMethod::Barefoot => "SONiC's plug-in: half of the packets small, kilobits of 1024 bits",
        }
    }
}

/// Returns the headroom of each method with the same line and cell.
fn methods(input: &HeadroomInput) -> Vec<(String, u64, &'static str)> {
    let all = HeadroomMethod::value_variants().iter();
    all.filter_map(|method| {
        let of = HeadroomInput::new(method.method(), input.speed, input.cable, input.cell);
        let HeadroomInput { gearbox_ns, eight_lanes, shared, .. } = *input;
        let of = HeadroomInput { gearbox_ns, eight_lanes, shared, ..of };
        let name = method.to_possible_value()?.get_name().to_owned();
        Some((name, headroom(&of).xoff.get(), method.assumes()))
    })
    .collect()
}

/// Computes the headroom and prints its terms.
pub(crate) fn run(args: &HeadroomArgs, chip: &ChipSpec, as_json: bool) -> Result<(), Failure> {
    let input = input(args, chip)?;
    let sum = headroom(&input);
    let cells = sum.xoff.cells(input.cell).unwrap_or(Cells(u32::MAX));
    let mut out = Out::new();
    if as_json {
        let terms: Vec<_> = sum
            .terms
            .iter()
            .map(|t| json!({ "term": t.name, "how": t.how, "bytes": t.bytes.get() }))
            .collect();
        let value = json!({
            "schema": "sluice.headroom/1",
            "speed_bps": input.speed.as_bps(), "cable_mm": input.cable.as_millimetres(),
            "cell_bytes": input.cell.get(), "terms": terms, "wire_bytes": sum.wire.get(),
            "waste_millionths": sum.waste_millionths, "xoff_bytes": sum.xoff.get(), "xoff_cells": cells.get(),
            "xon_bytes": sum.profile.map(|(xon, _)| xon.get()), "size_bytes": sum.profile.map(|(_, size)| size.get()),
            "methods": methods(&input)
                .iter()
                .map(|(name, bytes, assumes)| json!({ "method": name, "xoff_bytes": bytes, "assumes": assumes }))
                .collect::<Vec<_>>(),
        });
        writeln!(out, "{value}")?;
        return Ok(());
    }
    write!(out, "{}", text(&input, &sum, cells))?;
    Ok(())
}

fn text(input: &HeadroomInput, sum: &Headroom, cells: Cells) -> String {
    let mut rows: Vec<Vec<String>> =
        sum.terms.iter().map(|t| vec![t.name.to_owned(), t.bytes.get().to_string(), t.how.clone()]).collect();
    rows.push(vec!["on the wire".to_owned(), sum.wire.get().to_string(), "their sum".to_owned()]);
    let table = table(&["TERM", "BYTES", "HOW"], rows);
    let rows = methods(input).into_iter();
    let rows = rows.map(|(name, bytes, assumes)| vec![name, bytes.to_string(), assumes.to_owned()]);
    let others = crate::console::table::table(&["METHOD", "XOFF", "ASSUMES"], rows.collect());
    let profile = |(xon, size): (Bytes, Bytes)| format!("xon = {} B, size = {} B\n", xon.get(), size.get());
    format!(
        "headroom of one lossless priority group, {} over {}\n\n{table}\n\ncells: {}\nxoff = {} B, {cells} of {}: {}\n{}\n{others}\n",
        input.speed,
        input.cable,
        sum.waste,
        sum.xoff.get(),
        input.cell,
        sum.total,
        sum.profile.map_or(String::new(), profile),
    )
}

fn input(args: &HeadroomArgs, chip: &ChipSpec) -> Result<HeadroomInput, Failure> {
    let missing = |what: &str| {
        let help = "for example `sluice explain headroom --speed 100G --cable 300m`";
        Failure::with_help(format!("--{what} is missing: headroom depends on it"), help)
    };
    let speed = args.speed.ok_or_else(|| missing("speed"))?;
    let cable = args.cable.ok_or_else(|| missing("cable"))?;
    let of_memory = |name: &String| profile(name, chip, Path::new(""), None).map(|file| file.cell);
    let cell = args.memory.as_ref().map(of_memory).transpose()?.or(args.cell).unwrap_or(chip.tm.cell);
    if cell == Bytes::ZERO {
        return Err(Failure::with_help("--cell is 0 bytes", "for example --cell 208B"));
    }
    let mut input = HeadroomInput::new(args.method.method(), speed, cable, cell);
    input.mtu = args.mtu.unwrap_or(input.mtu);
    input.lossless_mtu = args.lossless_mtu.unwrap_or(input.lossless_mtu);
    input.small_percent = args.small_packets.unwrap_or(input.small_percent);
    input.gearbox_ns = args.gearbox_ns.unwrap_or(input.gearbox_ns);
    (input.eight_lanes, input.shared) = (args.eight_lanes, args.shared_headroom);
    Ok(input)
}
