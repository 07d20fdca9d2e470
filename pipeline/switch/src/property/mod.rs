//! Properties: conditions that every run of a program must meet, in ordinary Rust.
//!
//! A type that implements [`Property`] gets the packets that enter, leave and end, and the device's counters,
//! and returns a sentence if the property is violated. A [`Monitor`] remembers received packets and calls the
//! properties. This module has the trait, the monitor, and the properties that hold for every program.
//!
//! ```
//! use sluice_switch::property::{Departed, Finding, Property};
//!
//! /// A frame leaves no longer than it came.
//! struct NeverGrows;
//!
//! impl Property for NeverGrows {
//!     fn name(&self) -> &'static str {
//!         "never_grows"
//!     }
//!     fn left(&mut self, packet: &Departed<'_>) -> Finding {
//!         let Some(from) = packet.from else { return Ok(()) };
//!         let (old, new) = (from.bytes.len(), packet.bytes.len());
//!         if new <= old { Ok(()) } else { Err(format!("came with {old} bytes and left with {new}")) }
//!     }
//! }
//!
//! let mut property = NeverGrows;
//! let came = sluice_switch::property::Origin { port: 8, time: Default::default(), bytes: &[0; 60] };
//! let left = sluice_switch::property::Departed::of(&[0; 64], 9, Some(came));
//! assert_eq!(property.left(&left), Err("came with 60 bytes and left with 64".to_owned()));
//! ```

mod frame;
mod general;
mod monitor;
#[cfg(test)]
mod tests;

pub use frame::{FlowKey, l4_checksum, well_formed};
pub use general::{
    Conservation, FlowOrder, L4Checksum, LosslessLoss, Settles, WellFormed, general, general_and,
};
pub use monitor::{Monitor, Violation};

use crate::{Left, Lost, Reason, Totals};
use sluice_asic::units::Time;
use sluice_control::ControlState;
use sluice_exec::pass::State;
use sluice_ir::Program;

/// Result of one check: `Ok`, or a sentence that says how the property was violated.
pub type Finding = Result<(), String>;

/// A packet on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// dev_port.
    pub port: u16,
    /// Time of its first bit.
    pub time: Time,
    /// Its bytes, without FCS.
    pub bytes: &'a [u8],
}

/// A packet that enters the device.
#[derive(Clone, Copy, Debug)]
pub struct Entered<'a> {
    /// Its tag, which later events of the packet also carry.
    pub tag: u64,
    /// Its port, time and bytes.
    pub packet: Origin<'a>,
}

/// A packet that was sent on a port.
#[derive(Clone, Copy, Debug)]
pub struct Departed<'a> {
    /// Its ports, times and queue.
    pub left: Left,
    /// Its bytes, without FCS, before padding, as the program made them: a mark of the device ([`Left::marked`]) is not in them,
    /// unless the property judges what the device does ([`Property::judges_device`]).
    pub bytes: &'a [u8],
    /// The arrival of the packet, or of the packet that it is a copy of; `None` if the device made it.
    pub from: Option<Origin<'a>>,
}

impl<'a> Departed<'a> {
    /// Returns a packet with these bytes that was sent on a port at time zero, for tests of properties.
    #[must_use]
    pub fn of(bytes: &'a [u8], egress_port: u16, from: Option<Origin<'a>>) -> Departed<'a> {
        let left = Left {
            tag: 0,
            ingress_port: from.map_or(0, |o| o.port),
            egress_port,
            received: from.map_or(Time::ORIGIN, |o| o.time),
            first_bit: Time::ORIGIN,
            last_bit: Time::ORIGIN,
            queued: Default::default(),
            qid: 0,
            bytes: bytes.len() as u32,
            made: false,
            marked: None,
        };
        Departed { left, bytes, from }
    }
}

/// A packet that ended inside the device.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// Port, time and reason of its end.
    pub lost: Lost,
    /// Name of the reason.
    pub reason: &'a str,
    /// Its bytes at its end.
    pub bytes: &'a [u8],
    /// The arrival of the packet, or of the packet that it is a copy of; `None` if the device made it.
    pub from: Option<Origin<'a>>,
}

impl Ended<'_> {
    /// True if the packet was lost; false if the program absorbed it on purpose.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        !self.lost.absorbed
    }

    /// Returns the reason.
    #[must_use]
    pub const fn why(&self) -> Reason {
        self.lost.reason
    }
}

/// A device at the end of a run, after it had time to send all packets.
#[derive(Clone, Copy, Debug)]
pub struct Settled<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its present entries.
    pub control: &'a ControlState,
    /// Its counters.
    pub totals: &'a Totals,
    /// Number of packets still inside.
    pub held: u64,
    /// True if packets other than timers are inside.
    pub busy: bool,
    /// True if received and made packets equal sent, dropped, absorbed and held packets.
    pub conserved: bool,
    /// The program's state, per pipe.
    pub states: &'a [&'a State],
}

/// A condition that every run of a program must meet.
///
/// The default methods accept everything. They are called in the order of events.
pub trait Property: Send {
    /// Name in snake_case, under which violations are reported.
    fn name(&self) -> &str;

    /// True if it also judges what the device does to packets without the program: marks by a buffer profile.
    fn judges_device(&self) -> bool {
        false
    }

    /// Checks a packet that enters.
    ///
    /// # Errors
    /// Says how the property is violated.
    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        let _ = packet;
        Ok(())
    }

    /// Checks a packet that was sent on a port.
    ///
    /// # Errors
    /// Says how the property is violated.
    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let _ = packet;
        Ok(())
    }

    /// Checks a packet that ended inside: dropped, or absorbed on purpose.
    ///
    /// # Errors
    /// Says how the property is violated.
    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        let _ = packet;
        Ok(())
    }

    /// The control plane changes something: packets that enter from this time on may be treated differently.
    fn changed(&mut self) {}

    /// The control plane changes queues, ports or shapers in this run: packets may wait longer than the program wants, or be
    /// lost. Called before the first packet.
    fn disturbed(&mut self) {}

    /// Checks the device at the end of the run, after it had time to send all packets.
    ///
    /// # Errors
    /// Says how the property is violated.
    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let _ = device;
        Ok(())
    }
}
