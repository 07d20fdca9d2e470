//! Buffer scenarios, in layers; each uses only those above it in this list.
//!
//! | folder | content |
//! |---|---|
//! | `file` | the form of the file |
//! | `device` | the switch with its senders and a collector of events |
//! | `numbers` | names of expressions: numbers of the device, and what a profile must do |
//! | `run` | the steps on a device or a part of a host, and their checks |

pub(crate) mod device;
pub(crate) mod file;
pub(crate) mod numbers;
pub(crate) mod run;
