//! Comparison of two reports.

use super::grid::Grid;
use maud::html;
use serde::Serialize;
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_charts::{Page, Table, share_bar};
use sluice_place::report::{Report, hundredths};

/// One quantity of both reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the quantity.
    pub what: String,
    /// Its values in the two reports.
    pub values: [u64; 2],
    /// Its limit in the two reports; `None` if the chip has none.
    pub available: [Option<u64>; 2],
}

/// A parameter that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedParam {
    /// Key of the parameter.
    pub key: String,
    /// Its values, `-` where a program has no such parameter.
    pub values: [String; 2],
}

/// Comparison of two reports, quantity by quantity; serialised with the schema `sluice.comparison/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    schema: &'static str,
    /// Names of the two reports.
    pub names: [String; 2],
    /// True if the program fits.
    pub fits: [bool; 2],
    /// Reasons why a program does not fit.
    pub reasons: [Option<String>; 2],
    /// Parameters that differ.
    pub params: Vec<ChangedParam>,
    /// Quantities in the order of the report; none if a program does not fit.
    pub rows: Vec<Difference>,
}

/// Compares two reports; `names` names them.
#[must_use]
pub fn compare(names: [String; 2], reports: [&Report; 2]) -> Comparison {
    let mut rows = Vec::new();
    let mut add = |what: String, of: &dyn Fn(&Report) -> (u64, Option<u64>)| {
        let [a, b] = reports.map(of);
        rows.push(Difference { what, values: [a.0, b.0], available: [a.1, b.1] });
    };
    let stages = |r: &Report| r.stages.len() as u64;
    add("stages".to_owned(), &|r| (r.stages_used().into(), Some(stages(r))));
    for gress in Gress::ALL {
        let at = gress.index();
        add(format!("{gress} stages"), &|r| (r.gresses[at].stages_used.into(), Some(stages(r))));
        add(format!("{gress} critical path, stages"), &|r| (r.gresses[at].critical_length.into(), None));
    }
    for column in Column::ALL {
        let at = column.index();
        add(column.vendor_name().to_owned(), &|r| {
            (r.totals[at].into(), Some(u64::from(r.available[at]) * stages(r)))
        });
    }
    for gress in Gress::ALL {
        let at = gress.index();
        add(format!("{gress} PHV bits"), &|r| {
            (r.phv.groups.iter().map(|g| u64::from(g.bits[at])).sum(), None)
        });
        add(format!("{gress} parser rows"), &|r| {
            (r.gresses[at].parser_rows.into(), Some(r.parser_rows_available.into()))
        });
        add(format!("{gress} MAU cycles"), &|r| (r.gresses[at].mau_cycles.into(), None));
    }
    add("wire to wire, ns".to_owned(), &|r| (r.total.as_ps().div_ceil(1000), None));
    Comparison { params: params(reports), rows, ..Comparison::impossible(names, [None, None]) }
}

fn params([a, b]: [&Report; 2]) -> Vec<ChangedParam> {
    let value = |r: &Report, key: &str| {
        r.params.iter().find(|p| p.key == key).map_or_else(|| "-".to_owned(), |p| p.value.clone())
    };
    let mut keys: Vec<&str> = a.params.iter().chain(&b.params).map(|p| p.key.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    keys.retain(|k| seen.insert(*k));
    keys.into_iter()
        .map(|key| ChangedParam { key: key.to_owned(), values: [value(a, key), value(b, key)] })
        .filter(|param| param.values[0] != param.values[1])
        .collect()
}

impl Comparison {
    /// Returns the comparison without rows, of which one program or both do not fit, with the reasons.
    #[must_use]
    pub fn impossible(names: [String; 2], reasons: [Option<String>; 2]) -> Comparison {
        let fits = reasons.each_ref().map(Option::is_none);
        Comparison {
            schema: "sluice.comparison/1",
            names,
            fits,
            reasons,
            params: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Returns the comparison as text. Quantities that are 0 in both reports are left out.
    #[must_use]
    pub fn text(&self) -> String {
        let [a, b] = &self.names;
        let mut out = format!("A: {a}\nB: {b}\n");
        for ChangedParam { key, values: [a, b] } in &self.params {
            out += &format!("  {key}: {a} / {b}\n");
        }
        let mut grid = Grid::new(["", "A", "B", "B - A", "A %", "B %"], &[0]);
        for row in self.rows.iter().filter(|r| r.values != [0, 0]) {
            let [a, b] = row.values;
            let percent = |n: usize| match row.available[n] {
                Some(of) => {
                    let hundredths = hundredths(row.values[n] as u32, of as u32);
                    format!("{}.{:02}", hundredths / 100, hundredths % 100)
                }
                None => String::new(),
            };
            let difference = b as i64 - a as i64;
            let difference = if difference == 0 { "=".to_owned() } else { format!("{difference:+}") };
            grid.row([row.what.clone(), a.to_string(), b.to_string(), difference, percent(0), percent(1)]);
        }
        out + "\n" + &grid.print(false)
    }

    /// Returns the comparison as a page. Quantities that are 0 in both reports are left out.
    #[must_use]
    pub fn html(&self) -> String {
        let [a, b] = &self.names;
        let share = |row: &Difference, n: usize| {
            row.available[n].filter(|of| *of > 0).map(|of| row.values[n] as f64 / of as f64)
        };
        let percent =
            |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:.2} %", 100.0 * share));
        let param = |p: &ChangedParam| vec![p.key.clone(), p.values[0].clone(), p.values[1].clone()];
        let params = self.params.iter().map(param);
        let header = html! { p.verdict { b { "A: " } (a) } p.verdict { b { "B: " } (b) } };
        let rows = html! {
            div.wide { table {
                thead { tr {
                    th.l { "quantity" } th { "A" } th { "B" } th { "B - A" } th { "A, share" } th { "B, share" }
                    th.l { "A above B" }
                } }
                tbody { @for row in self.rows.iter().filter(|r| r.values != [0, 0]) {
                    @let difference = row.values[1] as i64 - row.values[0] as i64;
                    tr.muted[difference == 0] {
                        th.l { (row.what) } td { (row.values[0]) } td { (row.values[1]) }
                        td { @if difference == 0 { "=" } @else { (format!("{difference:+}")) } }
                        td { (percent(share(row, 0))) } td { (percent(share(row, 1))) }
                        td.l { @if let (Some(a), Some(b)) = (share(row, 0), share(row, 1)) { (share_bar(a))
                        br; (share_bar(b)) } }
                    }
                } }
            } }
        };
        Page::new("Two reports compared")
            .header(header)
            .section_if(!self.params.is_empty(), "parameters", "Parameters that differ", || {
                html! { (Table::new(&["parameter", "A", "B"]).rows(params)) }
            })
            .section("quantities", "Quantities", &rows)
            .html()
    }
}
