//! Converts errors of a replay to those of the command line, which name flags and files.

use crate::console::fail::Failure;
use crate::open::captures::remedy;
use sluice_replay::{Error, Fates, Passes, RateWarning};

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Capture(e) => Failure::with_help(&e, remedy(&e)),
            Error::Damaged { damage, replayed } => {
                let replayed = match replayed {
                    None => "no packet came before it".to_owned(),
                    Some(fates) => used(&fates),
                };
                Failure::with_help(format!("{damage}\n  = note: {replayed}"), remedy(&damage))
            }
            Error::CutOff(cut) => {
                Failure::with_help(cut, "without --strict the records before it are replayed")
            }
            Error::ReadOnce { passes, .. } => {
                let flag = match passes {
                    Passes::Turns => "--loop",
                    Passes::RateSearch => "--find-ndr",
                };
                Failure::with_help(
                    format!(
                        "{flag} reads its inputs more than once, but standard input can be read only once"
                    ),
                    "save it to a file first",
                )
            }
            Error::NoPackets => Failure::with_help(
                "the inputs have no packets, so --find-ndr has nothing to send",
                "give other captures",
            ),
            Error::Rows(e) => match e.downcast::<Failure>() {
                Ok(failure) => *failure,
                Err(e) => Failure::input(e),
            },
            Error::Interrupted => Failure::Interrupted,
            other => Failure::input(other),
        }
    }
}

fn used(fates: &Fates) -> String {
    let Fates { received, sent, dropped, absorbed, held } = fates;
    format!(
        "the {received} packets before it were replayed: {sent} out, {dropped} dropped, {absorbed} absorbed, {held} held; \
         no file is kept"
    )
}

/// Returns the text of a warning about the result of `--find-ndr`.
pub(super) fn doubt(warning: &RateWarning) -> String {
    match warning {
        RateWarning::AlwaysLoss { .. } => warning.to_string(),
        RateWarning::QueueFilling { held, limit } => format!(
            "at the rate found a queue held {held} of its {} cells: it may still have been filling, and longer trials \
             (--loop) may find a lower rate",
            limit.0
        ),
    }
}
