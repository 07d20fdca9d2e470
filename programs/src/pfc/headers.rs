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
/// [`Tag::kind`]: a packet that goes around while a queue is paused, and keeps its time.
pub(super) const TIMER: u64 = 2;
/// [`Tag::kind`]: a PFC frame with priorities that have not been looked at.
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

/// Behind the Ethernet header of a probe, with `probe=true`
#[derive(Header, Debug)]
pub(super) struct Probe {
    /// Which deparser sends the word: 1 ingress, which consumes the probe; 2 egress
    pub(super) at: Bits<8>,
    /// Queue that the probe takes
    pub(super) queue: Bits<8>,
    /// Port that it leaves by
    pub(super) port: Bits<16>,
    /// Flow-control word
    pub(super) word: Bits<32>,
}

/// In front of every packet between ingress and egress, and of those that go around
#[derive(Header, Debug)]
pub(super) struct Tag {
    /// What the packet is
    pub(super) kind: Bits<8>,
    /// Of a timer what it waits for; of a copy that becomes a PFC frame its class-enable vector
    pub(super) state: Bits<8>,
    /// Of a timer its queue's place in the registers; of a copy that becomes a PFC frame the quanta
    pub(super) slot: Bits<16>,
    /// Port that the packet came in by from outside
    pub(super) port: Bits<16>,
    /// Of a timer the flow-control word of its queue, credit 0
    pub(super) word: Bits<32>,
}

/// Bytes of a [`Tag`].
pub(super) const TAG_BYTES: u16 = 10;

/// A PFC frame behind its Ethernet header (IEEE 802.1Qbb; model: buffer §2.1)
#[derive(Header, Debug)]
#[expect(dead_code, reason = "fields that no statement names")]
pub(super) struct Control8808 {
    /// 0x0101
    pub(super) opcode: Bits<16>,
    /// Zero
    pub(super) reserved: Bits<8>,
    /// Class-enable vector
    pub(super) enabled: Bits<8>,
    /// Quanta of priority 0
    pub(super) time0: Bits<16>,
    /// And so on
    pub(super) time1: Bits<16>,
    /// And so on
    pub(super) time2: Bits<16>,
    /// And so on
    pub(super) time3: Bits<16>,
    /// And so on
    pub(super) time4: Bits<16>,
    /// And so on
    pub(super) time5: Bits<16>,
    /// And so on
    pub(super) time6: Bits<16>,
    /// And so on
    pub(super) time7: Bits<16>,
}

impl Control8808 {
    /// The times by priority.
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
