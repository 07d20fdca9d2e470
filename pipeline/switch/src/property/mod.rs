//! What must hold of a program, as ordinary Rust over what enters a device, what leaves it and what is lost.
//!
//! A property implements [`Property`]; it sees packets by their bytes and the device by its counters, and says what is
//! wrong in a sentence. [`Monitor`] remembers what came in and asks the properties. The trait, the monitor, properties
//! that hold for every program.
//!
//! ```
//! use crate::property::{Departed, Finding, Property};
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
//! let came = crate::property::Origin { port: 8, time: Default::default(), bytes: &[0; 60] };
//! let left = crate::property::Departed::of(&[0; 64], 9, Some(came));
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

/// What a property says of what it saw: nothing, or what is wrong.
pub type Finding = Result<(), String>;

/// A packet as it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// dev_port.
    pub port: u16,
    /// First bit.
    pub time: Time,
    /// Its bytes, without FCS.
    pub bytes: &'a [u8],
}

/// A packet that enters.
#[derive(Clone, Copy, Debug)]
pub struct Entered<'a> {
    /// Its name: what leaves or is lost later carries the same.
    pub tag: u64,
    /// What it is.
    pub packet: Origin<'a>,
}

/// A packet that left by a port.
#[derive(Clone, Copy, Debug)]
pub struct Departed<'a> {
    /// Where and when.
    pub left: Left,
    /// Its bytes, without FCS, before padding.
    pub bytes: &'a [u8],
    /// As it, or what it is a copy of, came in; `None` if the device made it.
    pub from: Option<Origin<'a>>,
}

impl<'a> Departed<'a> {
    /// A packet with these bytes that left by a port at time zero: for tests of properties.
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
        };
        Departed { left, bytes, from }
    }
}

/// A packet that ended inside.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// Where, when and why.
    pub lost: Lost,
    /// The reason's name.
    pub reason: &'a str,
    /// Its bytes at its end.
    pub bytes: &'a [u8],
    /// As it, or what it is a copy of, came in; `None` if the device made it.
    pub from: Option<Origin<'a>>,
}

impl Ended<'_> {
    /// Whether the program or the device lost it, which consuming it on purpose is not.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        !self.lost.absorbed
    }

    /// Why.
    #[must_use]
    pub const fn why(&self) -> Reason {
        self.lost.reason
    }
}

/// A device that had time to empty itself.
#[derive(Clone, Copy, Debug)]
pub struct Settled<'a> {
    /// The program that it runs.
    pub program: &'a Program,
    /// Its entries as they are now.
    pub control: &'a ControlState,
    /// Its counters.
    pub totals: &'a Totals,
    /// Packets still inside.
    pub held: u64,
    /// Whether packets are inside that are no timers.
    pub busy: bool,
    /// What came in and was made is out, lost, absorbed or held.
    pub conserved: bool,
    /// What the program remembers, per pipe.
    pub states: &'a [&'a State],
}

/// Something that must hold in every run of a program.
///
/// All methods hold by default; each is called in the order in which things happen.
pub trait Property: Send {
    /// Its name, snake_case: what failures are called.
    fn name(&self) -> &'static str;

    /// A packet enters.
    ///
    /// # Errors
    /// What is wrong.
    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        let _ = packet;
        Ok(())
    }

    /// A packet left by a port.
    ///
    /// # Errors
    /// What is wrong.
    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let _ = packet;
        Ok(())
    }

    /// A packet ended inside: dropped, or consumed on purpose.
    ///
    /// # Errors
    /// What is wrong.
    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        let _ = packet;
        Ok(())
    }

    /// The control plane changes something: packets that enter from now on may be treated otherwise.
    fn changed(&mut self) {}

    /// The run is over, and the device had time to empty itself.
    ///
    /// # Errors
    /// What is wrong.
    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let _ = device;
        Ok(())
    }
}
