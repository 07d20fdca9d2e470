//! Where a command prints, how it fails, and the values of its options.

pub(crate) mod fail;
pub(crate) mod hint;
pub(crate) mod interrupt;
pub(crate) mod invocation;
pub(crate) mod numbers;
pub(crate) mod plain;
pub(crate) mod progress;
pub(crate) mod snippet;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod text_file;
