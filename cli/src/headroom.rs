//! `sluice explain headroom`: the headroom that a lossless priority group needs, term by term.

use crate::args::{HeadroomArgs, HeadroomMethod};
use crate::fail::Failure;
use crate::invocation::Out;
use crate::table::table;
use serde_json::json;
use sluice_asic::chip::ChipSpec;
use sluice_asic::tm::headroom::{Headroom, HeadroomInput, Method, headroom};
use sluice_asic::units::{Bytes, Cells};
use std::io::Write;

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
    format!(
        "headroom of one lossless priority group, {} over {}\n\n{table}\n\ncells: {}\nxoff = {} B, {cells} of {}: {}\n",
        input.speed,
        input.cable,
        sum.waste,
        sum.xoff.get(),
        input.cell,
        sum.total,
    )
}

fn input(args: &HeadroomArgs, chip: &ChipSpec) -> Result<HeadroomInput, Failure> {
    let missing = |what: &str| {
        let help = "for example `sluice explain headroom --speed 100G --cable 300m`";
        Failure::with_help(format!("--{what} is missing: headroom depends on it"), help)
    };
    let speed = args.speed.ok_or_else(|| missing("speed"))?;
    let cable = args.cable.ok_or_else(|| missing("cable"))?;
    let method = match args.method {
        HeadroomMethod::Ideal => Method::Ideal,
        HeadroomMethod::Nvidia => Method::Nvidia,
        HeadroomMethod::Barefoot => Method::Barefoot,
    };
    let cell = args.cell.unwrap_or(chip.tm.cell);
    if cell == Bytes::ZERO {
        return Err(Failure::with_help("--cell is 0 bytes", "for example --cell 208B"));
    }
    let mut input = HeadroomInput::new(method, speed, cable, cell);
    input.mtu = args.mtu.unwrap_or(input.mtu);
    input.lossless_mtu = args.lossless_mtu.unwrap_or(input.lossless_mtu);
    input.small_percent = args.small_packets.unwrap_or(input.small_percent);
    input.gearbox_ns = args.gearbox_ns.unwrap_or(input.gearbox_ns);
    Ok(input)
}
