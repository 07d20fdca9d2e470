//! Headers of `pfc`.

use sluice_build::*;

/// EtherType of MAC control frames.
pub(super) const MAC_CONTROL: u64 = 0x8808;
/// Opcode of PFC.
pub(super) const PFC: u64 = 0x0101;

/// [`Tag::kind`]: a packet that is forwarded.
pub(super) const DATA: u64 = 0;
/// [`Tag::kind`]: a copy that becomes a PFC frame.
pub(super) const ASK: u64 = 1;
/// [`Tag::kind`]: a timer, a packet that recirculates while a queue is paused.
pub(super) const TIMER: u64 = 2;
/// [`Tag::kind`]: a PFC frame with priorities that have not been processed.
pub(super) const FRAME: u64 = 3;

/// [`Tag::kind`]: a packet whose flow-control word egress sends.
pub(super) const PROBE: u64 = 4;

/// [`Tag::state`] of a timer: the queue is paused.
pub(super) const PAUSED: u64 = 0;
/// [`Tag::state`] of a timer: the pause lasts too long.
pub(super) const STORMED: u64 = 1;
/// [`Tag::state`] of a timer: the storm is over.
pub(super) const OVER: u64 = 2;

/// EtherType of probes (IEEE's first for local experiments).
pub(super) const PROBES: u64 = 0x88b5;
/// [`Probe::at`]: the word is for the ingress deparser.
pub(super) const AT_INGRESS: u64 = 1;

/// Header after Ethernet of a probe, with `probe=true`
#[derive(Header, Debug)]
pub(super) struct Probe {
    /// Deparser that sends the word: 1 = ingress, which consumes the probe; 2 = egress
    pub(super) at: Bits<8>,
    /// Queue of the egress port that the probe takes
    pub(super) queue: Bits<8>,
    /// dev_port on which the probe is sent
    pub(super) port: Bits<16>,
    /// Flow-control word
    pub(super) word: Bits<32>,
}

/// Tag in front of every packet between ingress and egress, and of recirculated packets
#[derive(Header, Debug)]
pub(super) struct Tag {
    /// Kind: 0 data, 1 copy that becomes a PFC frame, 2 timer, 3 PFC frame with further priorities, 4 probe
    pub(super) kind: Bits<8>,
    /// Timer: 0 = queue paused, 1 = storm, 2 = storm over. Copy that becomes a PFC frame: its class-enable vector
    pub(super) state: Bits<8>,
    /// Timer: register index of its queue. Copy that becomes a PFC frame: the quanta
    pub(super) slot: Bits<16>,
    /// dev_port on which the packet arrived from outside
    pub(super) port: Bits<16>,
    /// Timer: flow-control word of its queue with credit 0. Probe: the word that egress sends
    pub(super) word: Bits<32>,
}

/// Bytes of a [`Tag`].
pub(super) const TAG_BYTES: u16 = 10;

/// PFC frame after its Ethernet header (IEEE 802.1Qbb; model: buffer §2.1)
#[derive(Header, Debug)]
#[expect(dead_code, reason = "fields that no statement names")]
pub(super) struct Control8808 {
    /// Opcode; 0x0101 = PFC
    pub(super) opcode: Bits<16>,
    /// Zero
    pub(super) reserved: Bits<8>,
    /// Class-enable vector
    pub(super) enabled: Bits<8>,
    /// Quanta of priority 0
    pub(super) time0: Bits<16>,
    /// Quanta of priority 1
    pub(super) time1: Bits<16>,
    /// Quanta of priority 2
    pub(super) time2: Bits<16>,
    /// Quanta of priority 3
    pub(super) time3: Bits<16>,
    /// Quanta of priority 4
    pub(super) time4: Bits<16>,
    /// Quanta of priority 5
    pub(super) time5: Bits<16>,
    /// Quanta of priority 6
    pub(super) time6: Bits<16>,
    /// Quanta of priority 7
    pub(super) time7: Bits<16>,
}

impl Control8808 {
    /// Returns the quanta fields by priority.
    pub(super) fn times(&self) -> [Bits<16>; 8] {
        [self.time0, self.time1, self.time2, self.time3, self.time4, self.time5, self.time6, self.time7]
    }
}

/// The 26 zero bytes that make a PFC frame 60 bytes long
#[derive(Header, Debug)]
#[expect(dead_code, reason = "fields that no statement names")]
pub(super) struct Padding {
    /// Zero
    pub(super) pad0: Bits<32>,
    /// Zero
    pub(super) pad1: Bits<32>,
    /// Zero
    pub(super) pad2: Bits<32>,
    /// Zero
    pub(super) pad3: Bits<32>,
    /// Zero
    pub(super) pad4: Bits<32>,
    /// Zero
    pub(super) pad5: Bits<32>,
    /// Zero
    pub(super) pad6: Bits<16>,
}
