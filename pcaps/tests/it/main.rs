//! Captures, frames and generated traffic: readers, writers, replay order, headers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod compressed;
mod frame_list;
mod generate;
mod int;
mod merge;
mod reader_any_bytes;
mod reader_classic;
mod reader_pcapng;
mod replay;
mod rewrite;
mod samples;
mod support;
mod wire_etherparse;
mod wire_tunnels;
mod write_read;
