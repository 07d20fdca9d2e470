//! The network interface of a host: a port, the messages of the host, and the transports that send them.
//!
//! A NIC sends one frame at a time. Control frames (acknowledgements, CNPs) come before data, and transports take turns
//! packet by packet. PFC frames pause the priorities that they name, and each transport says which priorities its frames
//! have. With a [bus](BusConfig) to the host's memory, received data waits for its turn there before a transport sees it, and
//! the host pauses its switch when too much waits.

mod bus;
mod port;
mod schedule;
mod send_queue;
mod transport;

pub use bus::{BusConfig, BusCounters, Loopback};
pub use port::{Port, PortConfig};
pub use schedule::{Awaited, HostMessages, Waiting};
pub use send_queue::WorkRequest;
pub use transport::TransportConfig;
pub(super) use transport::{Outgoing, Protocol};

use super::counters::HostCounters;
use super::hpcc::TelemetryFormat;
use super::message::{Completion, FlowState, Left, Message, MessageEvent};
use super::ports;
use super::rdma::{arrived, frames};
use super::tag::FrameTag;
use crate::network::{Host, HostFrame, ToSwitch};
use bus::Bus;
use schedule::Schedule;
use send_queue::SendQueues;
use sluice_asic::units::Time;
use std::net::Ipv4Addr;
use std::sync::Arc;
use transport::Transport;

/// A host with a network interface.
#[derive(Debug)]
pub struct Nic {
    port: Port,
    address: Ipv4Addr,
    /// The bus to the host's memory; `None`: received data is in memory at once.
    bus: Option<Box<Bus>>,
    now: Time,
    schedule: Schedule,
    queues: SendQueues,
    /// Pairs of completely received messages with their times, if they are asked for.
    arrivals: Option<Vec<(u32, Time)>>,
    transports: Vec<Transport>,
    /// Formats of the telemetry that packets of the transports carry.
    formats: Vec<TelemetryFormat>,
    /// Transport of each queue pair, by its number; a pair beyond the end has the first transport.
    contexts: Arc<[u8]>,
    /// Index of the transport whose turn to send data it is.
    turn: usize,
    events: Vec<MessageEvent>,
    completions: Vec<Completion>,
    stray: u64,
}

impl Nic {
    /// Creates a host with this address that sends these messages by these transports.
    #[must_use]
    pub fn new(
        port: PortConfig,
        address: Ipv4Addr,
        transports: &[TransportConfig],
        messages: impl Into<HostMessages>,
    ) -> Nic {
        let mut messages: HostMessages = messages.into();
        let transport = |(config, number): (&TransportConfig, u8)| {
            Transport::new(config.clone(), port.rate, address, number)
        };
        let mut formats: Vec<TelemetryFormat> =
            transports.iter().filter_map(TransportConfig::telemetry).copied().collect();
        formats.dedup();
        Nic {
            formats,
            transports: transports.iter().zip(0..=u8::MAX).map(transport).collect(),
            port: Port::new(port),
            address,
            bus: None,
            now: Time::ORIGIN,
            queues: SendQueues::new(std::mem::take(&mut messages.requests)),
            arrivals: messages.arrivals.then(Vec::new),
            schedule: Schedule::new(messages),
            contexts: Arc::new([]),
            turn: 0,
            events: Vec::new(),
            completions: Vec::new(),
            stray: 0,
        }
    }

    /// Sets the transport of each queue pair, by its number: both ends of a pair are configured alike. Without it, all
    /// queue pairs have the first transport.
    #[must_use]
    pub fn contexts(mut self, contexts: Arc<[u8]>) -> Nic {
        self.contexts = contexts;
        self
    }

    /// Makes registrations of memory wait until all Sends before them are completed, a fault of NICs.
    #[must_use]
    pub fn registration_fence(mut self, fence: bool) -> Nic {
        self.queues.set_fence(fence);
        self
    }

    /// Gives numbers to the frames that this host sends for one message: data of the sender, answers of the receiver. Without
    /// it all frames of a message have the same [tag](FrameTag).
    pub fn number_frames(&mut self, pair: u32) {
        self.port.number_frames(pair);
    }

    /// Returns how many frames have got numbers by [`Nic::number_frames`].
    #[must_use]
    pub fn numbered(&self) -> u32 {
        self.port.numbered()
    }

    /// Returns the pairs of completely received messages with their times, in order, if the host's messages asked for them.
    #[must_use]
    pub fn arrivals(&self) -> &[(u32, Time)] {
        self.arrivals.as_deref().unwrap_or_default()
    }

    /// Puts a bus between the NIC and the host's memory.
    #[must_use]
    pub fn bus(mut self, config: BusConfig) -> Nic {
        self.bus = Some(Box::new(Bus::new(config, self.port.rate())));
        self
    }

    /// Returns the counters of the bus, if there is one.
    #[must_use]
    pub fn bus_counters(&self) -> Option<BusCounters> {
        self.bus.as_ref().map(|bus| bus.counters(self.now))
    }

    /// Returns the completely acknowledged messages, in order of completion.
    #[must_use]
    pub fn completions(&self) -> &[Completion] {
        &self.completions
    }

    /// Returns the messages that are not completely acknowledged: those under way, then those that have not started.
    #[must_use]
    pub fn unfinished(&self) -> Vec<Left> {
        let mut left = Vec::new();
        self.transports.iter().for_each(|transport| transport.protocol().unfinished(&mut left));
        left.extend(self.queues.iter().map(|message| Left { message, acknowledged: 0 }));
        left.extend(self.schedule.iter().map(|message| Left { message, acknowledged: 0 }));
        left
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> HostCounters {
        let (pauses, paused) = self.port.pauses(self.now);
        let mut sum = HostCounters { pauses, paused, stray: self.stray, ..HostCounters::default() };
        self.transports.iter().for_each(|transport| sum += transport.protocol().counters());
        sum
    }

    /// Returns the state of a message under way.
    #[must_use]
    pub fn flow(&self, pair: u32) -> Option<FlowState> {
        self.transports.iter().find_map(|transport| transport.protocol().flow(pair))
    }

    /// Returns the index of the transport that a frame belongs to.
    fn transport_of(&self, frame: &[u8]) -> usize {
        // One transport needs no look at the frame.
        if self.transports.len() == 1 {
            return 0;
        }
        if let Some(number) = ports::transport(frame, self.transports.len()) {
            return number;
        }
        let pair = arrived::pair(frame, &self.formats).unwrap_or(0) as usize;
        self.contexts.get(pair).copied().unwrap_or(0).into()
    }

    /// Ends pauses, starts messages, and runs the transports' timers.
    fn wake(&mut self) {
        let now = self.now;
        self.port.advance(now);
        if let Some(mut bus) = self.bus.take() {
            while bus.pop(now, |at, frame| self.deliver(at, frame)) {}
            self.bus = Some(bus);
        }
        while let Some(message) = self.schedule.pop(now) {
            if let Some(message) = self.queues.post(now, message) {
                self.start(message);
            }
        }
        while let Some(message) = self.queues.pop(now) {
            self.start(message);
        }
        self.transports.iter_mut().for_each(|transport| transport.protocol_mut().advance(now));
    }

    /// Gives a message to its transport.
    fn start(&mut self, message: Message) {
        if let Some(transport) = self.transports.get_mut(usize::from(message.transport)) {
            transport.protocol_mut().start(self.now, message);
        }
    }

    /// Sends the next frame; the line must be free.
    fn transmit(&mut self, send: &mut ToSwitch<'_>) {
        let Nic { port, now, transports, turn, events, bus, address, .. } = self;
        let mut out = Outgoing { now: *now, port, send, events };
        if let Some(times) = bus.as_mut().and_then(|bus| bus.pause(*now)) {
            let frame = frames::pause_frame(*address, times);
            return out.put(&frame, frame.len() as u32, FrameTag::default());
        }
        if transports.iter_mut().any(|transport| transport.protocol_mut().send_control(&mut out)) {
            return;
        }
        let count = transports.len();
        for offset in 0..count {
            let number = (*turn + offset) % count;
            if transports[number].protocol_mut().send_data(&mut out) {
                *turn = (number + 1) % count;
                return;
            }
        }
    }

    /// Passes a frame to the transport that it belongs to.
    fn deliver(&mut self, at: Time, frame: HostFrame<'_>) {
        let number = self.transport_of(frame.bytes);
        let Nic { transports, events, .. } = self;
        let known = transports.get_mut(number).is_some_and(|t| t.protocol_mut().receive(at, frame, events));
        self.stray += u64::from(!known);
        self.settle();
    }

    /// Handles the events of messages.
    fn settle(&mut self) {
        for event in self.events.drain(..) {
            self.schedule.settle(&event);
            match event {
                MessageEvent::Completed(completion) => {
                    self.queues.completed(completion.end, completion.message.pair);
                    self.completions.push(completion);
                }
                MessageEvent::Received { pair, at } => {
                    self.arrivals.iter_mut().for_each(|arrivals| arrivals.push((pair, at)));
                }
            }
        }
    }
}

impl Host for Nic {
    fn receive(&mut self, at: Time, frame: HostFrame<'_>) {
        self.now = self.now.max(at);
        if let Some(times) = frames::pause(frame.bytes) {
            return self.port.pause(at, times);
        }
        // The NIC itself handles acknowledgements and CNPs; only data is for memory.
        match &mut self.bus {
            Some(bus) if !arrived::is_answer(frame.bytes, &self.formats) => bus.push(at, frame),
            _ => self.deliver(at, frame),
        }
    }

    fn next_time(&self) -> Option<Time> {
        // Asked several times for each frame.
        let or_never = |time: Option<Time>| time.unwrap_or(Time::MAX);
        let mut next = or_never(self.schedule.next_time()).min(or_never(self.port.next_time()));
        next = next.min(or_never(self.queues.next_time()));
        if let Some(bus) = &self.bus {
            let pause = bus.next_pause().map(|at| at.max(self.port.free_at()));
            next = next.min(or_never(bus.next_time())).min(or_never(pause));
        }
        for transport in &self.transports {
            let protocol = transport.protocol();
            next = next.min(or_never(protocol.next_timer())).min(or_never(protocol.next_frame(&self.port)));
        }
        (next < Time::MAX).then(|| next.max(self.now))
    }

    fn advance(&mut self, until: Time, send: &mut ToSwitch<'_>) {
        while let Some(next) = self.next_time().filter(|next| *next <= until) {
            self.now = next;
            self.wake();
            if self.port.free_at() <= next {
                self.transmit(send);
                self.settle();
            }
        }
        self.now = self.now.max(until);
    }

    fn is_busy(&self) -> bool {
        let receives = self.bus.as_ref().is_some_and(|bus| bus.is_busy());
        receives
            || !self.schedule.is_empty()
            || !self.queues.is_empty()
            || self.transports.iter().any(|transport| transport.protocol().is_busy())
    }
}
