//! Runs scenarios and checks their expectations.

pub(crate) mod device;
pub(crate) mod host;
pub(crate) mod judge;
pub(crate) mod lab;
pub(crate) mod outcome;
pub(crate) mod point;
pub(crate) mod work;
