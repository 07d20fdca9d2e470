//! Parameters of a program: documented values with defaults that users set by key (`--set key=value`).
//!
//! This module has the trait that `#[derive(Params)]` implements, and its errors.

use sluice_asic::names::nearest;
use sluice_asic::units::count;
use std::any::Any;
use std::fmt::Display;
use std::num::ParseIntError;
use std::str::FromStr;
use thiserror::Error;

/// The parameters of a program; `#[derive(Params)]` implements it for a struct, one key per field.
///
/// ```
/// use sluice_build::params::{self, Params};
///
/// #[derive(Params)]
/// struct Settings {
///     /// IPv4 routes that the table holds
///     routes: u32,
///     /// Idle gap that starts a new flowlet, in microseconds
///     #[param(range = 1..=1000)]
///     gap: u64,
/// }
///
/// let mut settings = Settings { routes: 4096, gap: 500 };
/// settings.set("gap", "250")?;
/// assert_eq!(settings.gap, 250);
/// let error = settings.set("gaps", "250").unwrap_err().to_string();
/// assert_eq!(error, "unknown parameter `gaps`; did you mean `gap`? (parameters: routes, gap)");
/// let error = settings.set("gap", "0").unwrap_err().to_string();
/// assert_eq!(error, "parameter `gap` is `0`; expected 1 to 1000");
/// # Ok::<(), params::ParamError>(())
/// ```
///
/// Parameters that several programs share are a separate struct. With `flatten`, they take the place of the struct's
/// field.
///
/// ```
/// use sluice_build::params::{self, Params};
///
/// #[derive(Params)]
/// struct Room {
///     /// IPv4 routes that the table holds
///     routes: u32,
/// }
///
/// #[derive(Params)]
/// struct Settings {
///     /// Table sizes
///     #[param(flatten)]
///     room: Room,
///     /// True if packets are counted
///     count: bool,
/// }
///
/// let mut settings = Settings { room: Room { routes: 4096 }, count: false };
/// settings.set("routes", "16")?;
/// assert_eq!((settings.room.routes, settings.list().len()), (16, 2));
/// let error = settings.set("room", "1").unwrap_err().to_string();
/// assert_eq!(error, "unknown parameter `room`; parameters: routes, count");
/// # Ok::<(), params::ParamError>(())
/// ```
pub trait Params {
    /// Returns every parameter with its present value, in order of declaration.
    fn list(&self) -> Vec<ParamInfo>;

    /// Parses `text` and sets parameter `key` to its value. On an error, nothing changes.
    ///
    /// # Errors
    /// Refuses an unknown key, and a text that is not a value the parameter accepts.
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParamError>;
}

/// A program without parameters has `()`.
impl Params for () {
    fn list(&self) -> Vec<ParamInfo> {
        Vec::new()
    }

    fn set(&mut self, key: &str, _: &str) -> Result<(), ParamError> {
        Err(ParamError::unknown(key, &[]))
    }
}

/// A parameter and its present value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamInfo {
    /// Name of the field, which is the key of `--set key=value`.
    pub key: String,
    /// Meaning and unit.
    pub doc: String,
    /// Type or range in words (`1 to 64`, `true or false`).
    pub expects: String,
    /// Present value; [`Params::set`] accepts it.
    pub value: String,
}

impl ParamInfo {
    /// Returns the description of one field. `#[derive(Params)]` writes this call.
    pub fn of(key: &str, doc: &str, expects: &str, value: &impl Display) -> ParamInfo {
        ParamInfo {
            key: key.to_owned(),
            doc: doc.to_owned(),
            expects: expects.to_owned(),
            value: value.to_string(),
        }
    }

    /// Returns meaning, unit and range in one line.
    #[must_use]
    pub fn help(&self) -> String {
        format!("{} ({})", self.doc, self.expects)
    }
}

/// Reason why a parameter was not set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ParamError {
    /// The program has no such parameter.
    #[error("unknown parameter `{key}`; {}", known_keys(.nearest, .known))]
    Unknown {
        /// Key that the user gave.
        key: String,
        /// Known key with the least edit distance, if one is near.
        nearest: Option<String>,
        /// All keys.
        known: Vec<String>,
    },
    /// The parameter does not accept the text.
    #[error("parameter `{key}` is `{found}`; expected {expected}{}", reason(.why))]
    Value {
        /// Key of the parameter.
        key: String,
        /// Text that the user gave.
        found: String,
        /// Accepted values, in words.
        expected: String,
        /// Parse error of the type; empty if the value is only out of range.
        why: String,
    },
}

fn known_keys(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`? (parameters: {})", known.join(", ")),
        None if known.is_empty() => "this program has no parameters".to_owned(),
        None => format!("parameters: {}", known.join(", ")),
    }
}

fn reason(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}

impl ParamError {
    /// Returns the error for a key that is not among `known`.
    #[must_use]
    pub fn unknown(key: &str, known: &[&str]) -> ParamError {
        let nearest = nearest(key, known.iter().copied()).map(str::to_owned);
        ParamError::Unknown {
            key: key.to_owned(),
            nearest,
            known: known.iter().map(|&k| k.to_owned()).collect(),
        }
    }
}

/// Returns true if a struct of parameters has this key. `#[derive(Params)]` writes this call.
pub fn knows(params: &impl Params, key: &str) -> bool {
    params.list().iter().any(|info| info.key == key)
}

/// Returns the error for a key that a struct of parameters does not have. `#[derive(Params)]` writes this
/// call.
pub fn unknown(params: &impl Params, key: &str) -> ParamError {
    let list = params.list();
    let known: Vec<&str> = list.iter().map(|info| info.key.as_str()).collect();
    ParamError::unknown(key, &known)
}

/// Parses `text` into `place` if `allowed` returns true for the value. A number may end in `k`, `M` or `G`.
/// `#[derive(Params)]` writes this call.
///
/// # Errors
/// Refuses a text that the type cannot parse, and a value that `allowed` refuses ([`ParamError::Value`]).
pub fn assign<T: FromStr<Err: Display + 'static>>(
    place: &mut T,
    key: &str,
    text: &str,
    expects: &str,
    allowed: &dyn Fn(&T) -> bool,
) -> Result<(), ParamError> {
    let refuse = |why: String| ParamError::Value {
        key: key.to_owned(),
        found: text.to_owned(),
        expected: expects.to_owned(),
        why,
    };
    let value = text.parse::<T>().or_else(|e| match (&e as &dyn Any).is::<ParseIntError>() {
        true => {
            count(text).ok().and_then(|n| n.to_string().parse().ok()).ok_or_else(|| refuse(String::new()))
        }
        false => Err(refuse(e.to_string())),
    })?;
    if !allowed(&value) {
        return Err(refuse(String::new()));
    }
    *place = value;
    Ok(())
}

// Trait and derive macro share one name, as serde's do.
pub use sluice_macros::Params;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_keys_are_offered() {
        let said = |key| ParamError::unknown(key, &["routes", "gap"]).to_string();
        assert_eq!(
            said("rotues"),
            "unknown parameter `rotues`; did you mean `routes`? (parameters: routes, gap)"
        );
        assert_eq!(said("flowlets"), "unknown parameter `flowlets`; parameters: routes, gap");
    }

    #[test]
    fn a_program_without_parameters_says_so() {
        let error = ().set("x", "1").unwrap_err();
        assert_eq!(error.to_string(), "unknown parameter `x`; this program has no parameters");
    }

    #[test]
    fn a_refused_value_changes_nothing() {
        let mut size = 5u16;
        let error = assign(&mut size, "size", "70000", "0 to 65535", &|_| true).unwrap_err().to_string();
        assert_eq!(error, "parameter `size` is `70000`; expected 0 to 65535");
        assert!(assign(&mut size, "size", "70k", "0 to 65535", &|_| true).is_err());
        assert!(assign(&mut size, "size", "9", "1 to 8", &|v| (1..=8).contains(v)).is_err());
        assert_eq!(size, 5);
        assert_eq!(assign(&mut size, "size", "1.5k", "0 to 65535", &|_| true), Ok(()));
        assert_eq!(size, 1500);
    }
}
