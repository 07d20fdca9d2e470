//! The control plane as a whole: every refusal, both file formats, and a naive model.

mod device;
mod files;
mod model;
mod ports;
mod refusals;
