//! Rows as comma-separated text.

use super::{Cell, Column};
use crate::fail::Failure;
use std::fs::File;
use std::io::{BufWriter, Write};

pub(super) struct Csv {
    out: BufWriter<File>,
}

impl Csv {
    pub(super) fn new(file: File, columns: &[Column]) -> Result<Csv, Failure> {
        let mut out = BufWriter::new(file);
        let names: Vec<&str> = columns.iter().map(|c| c.name).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Csv { out })
    }

    pub(super) fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        for (n, cell) in cells.iter().enumerate() {
            if n > 0 {
                self.out.write_all(b",")?;
            }
            match cell {
                Cell::Number(number) => write!(self.out, "{number}")?,
                Cell::Missing => {}
                Cell::Text(text) if text.contains([',', '"', '\n']) => {
                    write!(self.out, "\"{}\"", text.replace('"', "\"\""))?;
                }
                Cell::Text(text) => self.out.write_all(text.as_bytes())?,
            }
        }
        Ok(self.out.write_all(b"\n")?)
    }

    pub(super) fn finish(mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}
