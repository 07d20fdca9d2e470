//! The binary as users and scripts meet it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod advice;
mod buffer;
mod changes;
mod citations;
mod contest;
mod contest_short;
mod contest_tcp;
mod contract;
mod conweave;
mod deadlocks;
mod experiments;
mod flowlets;
mod fuzz;
mod generate;
mod help;
mod int;
mod int_network;
mod long_captures;
mod network;
mod network_flags;
mod ns3;
mod obey_pfc;
mod p4;
mod polarization;
mod ports;
mod program_file;
mod reference;
mod replay_controls;
mod replay_errors;
mod report;
mod scenarios;
mod support;
mod timelines;
mod words;
mod workloads;
