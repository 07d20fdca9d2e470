//! Text forms of parameters: lists of numbers, lists of functions, sizes of groups.

use super::scheme::FlowFunction;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Error of parsing a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ValueError(String);

fn items<T>(text: &str, item: impl Fn(&str) -> Result<T, ValueError>) -> Result<Vec<T>, ValueError> {
    if text == "none" {
        return Ok(Vec::new());
    }
    text.split(',').map(|part| item(part.trim())).collect()
}

fn write_items<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    if items.is_empty() {
        return f.write_str("none");
    }
    for (n, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if n == 0 { "" } else { "," })?;
    }
    Ok(())
}

/// Numbers, as `3,1` or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberList(pub Vec<u32>);

impl FromStr for NumberList {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<NumberList, ValueError> {
        let number = |part: &str| {
            part.parse().map_err(|_| ValueError(format!("`{part}` is not a number from 0 to 4294967295")))
        };
        items(text, number).map(NumberList)
    }
}

impl fmt::Display for NumberList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_items(f, &self.0)
    }
}

/// Hash functions, as `crc32_lo,ccitt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionList(pub Vec<FlowFunction>);

impl FromStr for FunctionList {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<FunctionList, ValueError> {
        items(text, |part| part.parse().map_err(ValueError)).map(FunctionList)
    }
}

impl fmt::Display for FunctionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_items(f, &self.0)
    }
}

/// Number of members of a group: chosen by the planner, or given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// The planner's choice.
    Auto,
    /// A given number, 1 to 120.
    Fixed(u32),
}

impl FromStr for Members {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Members, ValueError> {
        match text.parse() {
            _ if text == "auto" => Ok(Members::Auto),
            Ok(n @ 1..=120) => Ok(Members::Fixed(n)),
            Ok(n) => Err(ValueError(format!("{n} members do not fit one selector word of 120"))),
            Err(_) => Err(ValueError("neither auto nor a number".to_owned())),
        }
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Members::Auto => f.write_str("auto"),
            Members::Fixed(n) => n.fmt(f),
        }
    }
}
