//! The transports of a NIC, and what each of them does.

use super::super::counters::HostCounters;
use super::super::hpcc::TelemetryFormat;
use super::super::message::{FlowState, Left, Message, MessageEvent};
use super::super::rdma::{Rdma, RdmaConfig};
use super::super::tag::FrameTag;
use super::super::tcp::{Tcp, TcpConfig};
use super::super::udp::{Udp, UdpConfig};
use super::port::Port;
use crate::network::{HostFrame, ToSwitch};
use sluice_asic::units::{BitRate, Time};
use std::net::Ipv4Addr;

/// The port and the time of a frame that a transport sends.
pub(in crate::host) struct Outgoing<'a, 's> {
    pub(in crate::host) now: Time,
    pub(in crate::host) port: &'a mut Port,
    pub(in crate::host) send: &'a mut ToSwitch<'s>,
    pub(in crate::host) events: &'a mut Vec<MessageEvent>,
}

impl Outgoing<'_, '_> {
    /// Sends a frame whose length on the wire is `orig_len` without FCS.
    pub(in crate::host) fn put(&mut self, bytes: &[u8], orig_len: u32, tag: FrameTag) {
        self.port.put(self.now, bytes, orig_len, tag, self.send);
    }
}

/// A transport of a host: it has the state of all its messages, and the NIC calls it in order of time.
///
/// When the line is free, the NIC first asks all transports for a control frame, then for a data frame, in turns.
pub(in crate::host) trait Protocol {
    /// Starts to send a message.
    fn start(&mut self, now: Time, message: Message);

    /// Handles a frame to this host. Returns false if the transport does not know the frame.
    fn receive(&mut self, at: Time, frame: HostFrame<'_>, events: &mut Vec<MessageEvent>) -> bool;

    /// Returns the time of the next timer.
    fn next_timer(&self) -> Option<Time>;

    /// Returns the time at which a frame can be sent next, if nothing else happens: not before the line is free.
    fn next_frame(&self, port: &Port) -> Option<Time>;

    /// Runs the timers that are due, and makes messages ready whose time to send has come.
    fn advance(&mut self, now: Time);

    /// Sends the next acknowledgement or other control frame, if there is one and its priority is not paused. Returns
    /// true if a frame was sent.
    fn send_control(&mut self, out: &mut Outgoing<'_, '_>) -> bool;

    /// Sends the next data packet, if there is one and its priority is not paused. Returns true if a frame was sent.
    fn send_data(&mut self, out: &mut Outgoing<'_, '_>) -> bool;

    /// Returns true if a message is under way, or a frame waits.
    fn is_busy(&self) -> bool;

    /// Appends the messages under way.
    fn unfinished(&self, into: &mut Vec<Left>);

    /// Returns the counters, without those of the port.
    fn counters(&self) -> HostCounters;

    /// Returns the state of a message under way; `None` if the transport has no such message.
    fn flow(&self, pair: u32) -> Option<FlowState>;
}

/// Settings of a transport.
#[derive(Clone, Debug)]
pub enum TransportConfig {
    /// RoCEv2 queue pairs.
    Rdma(RdmaConfig),
    /// TCP connections.
    Tcp(TcpConfig),
    /// UDP messages without reaction.
    Udp(UdpConfig),
}

impl TransportConfig {
    /// Returns the payload bytes of a full packet, and the bytes of the headers and trailers around a payload.
    #[must_use]
    pub const fn framing(&self) -> (u32, u32) {
        /// Ethernet, IPv4, UDP, BTH and the invariant CRC.
        const ROCE: u32 = 14 + 20 + 8 + 12 + 4;
        const UDP: u32 = 14 + 20 + 8;
        match self {
            TransportConfig::Rdma(config) => (config.mtu, ROCE),
            TransportConfig::Tcp(config) => (config.payload(), 14 + config.mtu - config.payload()),
            TransportConfig::Udp(config) => (config.payload, UDP),
        }
    }

    /// Returns the format of the telemetry that the transport's packets carry, if they do.
    #[must_use]
    pub const fn telemetry(&self) -> Option<&TelemetryFormat> {
        match self {
            TransportConfig::Rdma(config) => config.congestion.telemetry(),
            TransportConfig::Tcp(_) | TransportConfig::Udp(_) => None,
        }
    }
}

/// A transport.
#[derive(Debug)]
pub(super) enum Transport {
    Rdma(Box<Rdma>),
    Tcp(Box<Tcp>),
    Udp(Box<Udp>),
}

impl Transport {
    /// Creates transport `number` of the host with this address, at a link of this rate.
    pub(super) fn new(config: TransportConfig, rate: BitRate, address: Ipv4Addr, number: u8) -> Transport {
        match config {
            TransportConfig::Rdma(config) => Transport::Rdma(Box::new(Rdma::new(config, rate, address))),
            TransportConfig::Tcp(config) => Transport::Tcp(Box::new(Tcp::new(config, rate, address, number))),
            TransportConfig::Udp(config) => Transport::Udp(Box::new(Udp::new(config, address, number))),
        }
    }

    pub(super) fn protocol(&self) -> &dyn Protocol {
        match self {
            Transport::Rdma(rdma) => &**rdma,
            Transport::Tcp(tcp) => &**tcp,
            Transport::Udp(udp) => &**udp,
        }
    }

    pub(super) fn protocol_mut(&mut self) -> &mut dyn Protocol {
        match self {
            Transport::Rdma(rdma) => &mut **rdma,
            Transport::Tcp(tcp) => &mut **tcp,
            Transport::Udp(udp) => &mut **udp,
        }
    }
}
