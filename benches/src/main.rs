//! Instructions per packet of each row, counted by valgrind.
//!
//! `cargo run --profile profiling -p sluice-benches [FILTER]`: only rows whose group and name contain `FILTER`.
//! The program runs itself under callgrind with `once ROW` for each row, and counts what [`measured`] does.

use sluice_benches::{Row, Table, measured, rows};
use std::process::{Command, ExitCode};

/// Packets of a run: enough that the first ones do not matter.
const PACKETS: u64 = 8_192;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => count(""),
        [filter] => count(filter),
        ["once", id] => once(id),
        _ => Err("usage: sluice-benches [FILTER], or sluice-benches once ROW".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table.
fn count(filter: &str) -> Result<(), String> {
    let mut table = Table::new("instructions");
    for row in rows(PACKETS).iter().filter(|row| !row.parallel && row.id().contains(filter)) {
        table.row(row, instructions(row)?);
    }
    Ok(())
}

/// Runs a row once and prints the number of processed packets.
fn once(id: &str) -> Result<(), String> {
    let rows = rows(PACKETS);
    let row = rows
        .iter()
        .find(|row| row.id() == id)
        .ok_or_else(|| format!("there is no row `{id}`; a row is named GROUP/NAME"))?;
    println!("{}", measured(&mut *row.prepare()));
    Ok(())
}

/// Instructions per packet of a row.
fn instructions(row: &Row) -> Result<f64, String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let run = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--toggle-collect=sluice_benches::row::measured*",
        ])
        .arg(own)
        .args(["once", &row.id()])
        .output()
        .map_err(|e| format!("valgrind: {e}"))?;
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let collected = err.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse::<f64>().ok());
    match (out.trim().parse::<f64>(), collected) {
        (Ok(packets), Some(collected)) if collected > 0.0 => Ok(collected / packets),
        (Ok(_), Some(_)) => {
            Err("nothing counted: the binary has no symbols; build it with `--profile profiling`".to_owned())
        }
        _ => Err(format!("{}: {err}", row.id())),
    }
}
