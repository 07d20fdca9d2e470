//! The life of one flow under ConWeave, told from what observers of a network are shown: packets and control packets
//! from hop to hop, who waits in which queue, flow-control words, laps of the resume timer.
//!
//! A [`Watcher`] stands at every switch; [`Story::tell`] joins what they saw, [`Story::text`] and [`Story::svg`] draw
//! it as a sequence diagram.
//!
//! | file | what it says |
//! |---|---|
//! | `watch` | what one switch does with the flow |
//! | `tell` | columns, hops, holds and laps |
//! | `text` | the diagram in lines |
//! | `svg` | the diagram drawn to scale |

mod svg;
mod tell;
mod text;
mod watch;

pub use tell::{NoStory, Story};
pub use watch::{Kind, Message, Watcher};

use crate::network::Network;
use sluice_pcaps::conweave::Frame;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use thiserror::Error;

/// A RoCEv2 flow in the direction of DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Sender.
    pub src: Ipv4Addr,
    /// UDP source port.
    pub src_port: u16,
    /// Receiver.
    pub dst: Ipv4Addr,
}

/// A text that is no flow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{found}` is no flow; write sender, UDP source port and receiver: 10.0.0.1:49152-10.0.1.1")]
pub struct NoFlow {
    /// The text.
    pub found: String,
}

impl FromStr for Flow {
    type Err = NoFlow;

    fn from_str(text: &str) -> Result<Flow, NoFlow> {
        let parse = || {
            let (from, dst) = text.split_once('-')?;
            let (src, port) = from.split_once(':')?;
            let address = |a: &str| a.trim().parse().ok();
            Some(Flow { src: address(src)?, src_port: port.trim().parse().ok()?, dst: address(dst)? })
        };
        parse().ok_or_else(|| NoFlow { found: text.to_owned() })
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}-{}", self.src, self.src_port, self.dst)
    }
}

impl Flow {
    /// The flow that a frame is of, or answers.
    fn of(frame: &Frame) -> Flow {
        let &Frame { src, dst, src_port, .. } = frame;
        match frame.header.opcode {
            0 | 1 => Flow { src, src_port, dst },
            _ => Flow { src: dst, src_port, dst: src },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_written_as_they_are_read() {
        let flow: Flow = "10.0.0.1:49152-10.0.1.1".parse().unwrap();
        assert_eq!(
            (flow.src.octets()[3], flow.src_port, flow.to_string()),
            (1, 49_152, "10.0.0.1:49152-10.0.1.1".into())
        );
        for bad in ["", "10.0.0.1-10.0.1.1", "10.0.0.1:x-10.0.1.1", "10.0.0.1:70000-10.0.1.1"] {
            assert!(bad.parse::<Flow>().is_err(), "{bad}");
        }
    }
}
