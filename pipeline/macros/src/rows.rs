//! The syntax of `rows!`: the columns' places, then a line per row.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result, Token, parenthesized};

/// `(place, ..); condition => (cell, ..); ..`
pub(crate) struct Table {
    /// Places that the columns assign; `_` for a column of steps.
    pub(crate) places: Vec<Expr>,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Row {
    /// The condition; `_` in the last row.
    pub(crate) when: Expr,
    /// As many cells as there are places; `_` for a cell that does nothing.
    pub(crate) cells: Vec<Expr>,
}

impl Parse for Table {
    fn parse(input: ParseStream<'_>) -> Result<Table> {
        let places = cells(input)?;
        input.parse::<Token![;]>()?;
        let mut rows: Vec<Row> = Vec::new();
        while !input.is_empty() {
            let when: Expr = input.parse()?;
            if let Some(last) = rows.last().filter(|last| matches!(last.when, Expr::Infer(_))) {
                return Err(Error::new(
                    last.when.span(),
                    "`_` holds for all other packets: it must be the last row",
                ));
            }
            input.parse::<Token![=>]>()?;
            let cells = cells(input)?;
            input.parse::<Token![;]>()?;
            if cells.len() != places.len() {
                let text =
                    format!("this row has {} cells, but the table has {} columns", cells.len(), places.len());
                return Err(Error::new(when.span(), text));
            }
            rows.push(Row { when, cells });
        }
        Ok(Table { places, rows })
    }
}

/// A list in parentheses.
fn cells(input: ParseStream<'_>) -> Result<Vec<Expr>> {
    let inner;
    parenthesized!(inner in input);
    Ok(Punctuated::<Expr, Token![,]>::parse_terminated(&inner)?.into_iter().collect())
}
