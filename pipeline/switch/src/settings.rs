//! Device settings that the control plane changes during a run: ports up and down, paused queues, packet
//! generators.

use super::copies::MadeAt;
use super::observe::{FlowControlEvent, Sink};
use super::{Event, Mode, Switch};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::port::DevPort;
use sluice_asic::tm::{AfcFifo, AfcSeen, AfcWord, PauseCause, QueueId, TmPort};
use sluice_asic::units::{Cycles, Time};
use sluice_control::{DeviceError, DeviceOp};

impl Switch<'_> {
    /// Applies an operation that the control state has accepted.
    pub(super) fn set_device(&mut self, op: &DeviceOp) -> Result<(), DeviceError> {
        match op {
            DeviceOp::WritePktgenBuffer { pipe, offset, bytes } => {
                self.write_generator_buffer(*pipe, *offset, bytes)
            }
            DeviceOp::SetPktgenApp { pipe, app, config } => self.set_generator_app(*pipe, *app, config),
            DeviceOp::EnablePktgenApp { enabled: true, .. } if self.config.mode == Mode::Functional => {
                Err(DeviceError::Functional)
            }
            DeviceOp::EnablePktgenApp { pipe, app, enabled } => {
                self.enable_generator_app(*pipe, *app, *enabled)
            }
            DeviceOp::SetDeflection { pipe, to } => self.set_deflection(*pipe, *to),
            DeviceOp::SetPort { port, up } => self.set_port(*port, *up),
            DeviceOp::ShapePort { port, most } => {
                let missing = DeviceError::NoSuchPort { what: "a shaper", port: *port };
                let index = self.port_index(*port).ok_or(missing)?;
                self.tm.set_port_shaper(TmPort(index), *most);
                self.wake(index);
                Ok(())
            }
            DeviceOp::ShapeQueue { port, queue, most } => {
                let index = self.queue_of("a shaper", *port, *queue)?;
                self.tm.set_queue_shaper(TmPort(index), QueueId(*queue), *most);
                self.wake(index);
                Ok(())
            }
            DeviceOp::GuaranteeQueue { port, queue, least } => {
                let index = self.queue_of("a guarantee", *port, *queue)?;
                self.tm.set_guarantee(TmPort(index), QueueId(*queue), *least);
                self.wake(index);
                Ok(())
            }
            DeviceOp::ScheduleQueue { port, queue, priority, weight } => {
                let index = self.queue_of("a schedule", *port, *queue)?;
                self.tm.set_schedule(TmPort(index), QueueId(*queue), *priority, *weight);
                self.wake(index);
                Ok(())
            }
            DeviceOp::SetPfc { port, program } => {
                let missing = DeviceError::NoSuchPort { what: "a setting of PFC", port: *port };
                let index = self.port_index(*port).ok_or(missing)?;
                self.ports[usize::from(index)].program_pfc = *program;
                Ok(())
            }
            DeviceOp::PauseQueue { port, queue, paused } => {
                let index = self.queue_of("a pause", *port, *queue)?;
                self.tm.pause(TmPort(index), QueueId(*queue), PauseCause::Operator, *paused);
                self.wake(index);
                Ok(())
            }
            DeviceOp::SetFlowControl { port, queue, mode } => {
                if mode.is_some() && !self.chip.features.advanced_flow_control {
                    return Err(DeviceError::NoFlowControl { chip: self.chip.name.clone() });
                }
                let index = self.queue_of("flow control", *port, *queue)?;
                self.tm.set_flow_control(TmPort(index), QueueId(*queue), *mode);
                self.wake(index);
                Ok(())
            }
        }
    }

    /// Schedules a deparser's flow-control word, which takes effect after its delay to the queues. On a chip whose words have the
    /// least delay, a word is not later than the packet that brought it, also if packets reach their queues at once: at one instant
    /// a pause acts before a queue can send.
    pub(super) fn flow_control(&mut self, word: u32, at: MadeAt) {
        if self.config.mode == Mode::Functional {
            return;
        }
        let (word_delay, enqueue) = (self.chip.tm.afc_cycles.max(1), self.chip.latency.tm_enqueue);
        let delay = if word_delay == 1 { enqueue.min(1) } else { word_delay };
        let time = at.time + self.timing.clock.span(Cycles(delay.into()));
        let pipe = &mut self.pipes[at.pipe];
        let (device, class) = (self.config.device, EventClass::PfcReceived);
        let port = WORDS + 2 * at.pipe as u32 + at.gress.index() as u32;
        let key = EventKey { time, device, class, port, seq: pipe.words };
        pipe.words += 1;
        let pushed = self.events.push(key, Event::FlowControl { word });
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Applies a flow-control word to its queue. A word that names no queue is lost.
    pub(super) fn obey(&mut self, time: Time, word: u32, sink: &mut dyn Sink) {
        let word = AfcWord::decode(word);
        let Some((port, queue)) = word.target(&self.ports.map) else { return };
        let Some(index) = self.port_index(port.number()) else { return };
        let mode = self.tm.flow_control_of(TmPort(index), QueueId(queue));
        if let Some(pipe) = self.pipes.get_mut(usize::from(word.pipe)) {
            let (port, queue, credit) = (port.local(), word.queue, word.credit);
            pipe.seen_words.push(AfcSeen { time, port, queue, mode, credit });
        }
        if self.tm.flow_control(TmPort(index), QueueId(queue), word) {
            let (port, credit) = (port.number(), word.credit);
            sink.flow_control(&FlowControlEvent { port, qid: queue, time, credit });
            self.wake(index);
        }
    }

    /// Returns the visibility FIFO of a pipe's flow-control words, to read or to filter.
    pub fn flow_control_words(&mut self, pipe: u8) -> Option<&mut AfcFifo> {
        self.pipes.get_mut(usize::from(pipe)).map(|pipe| &mut pipe.seen_words)
    }

    /// Returns the visibility FIFOs of all pipes.
    pub fn seen_flow_control_words(&self) -> impl Iterator<Item = &AfcFifo> {
        self.pipes.iter().map(|pipe| &pipe.seen_words)
    }

    fn set_deflection(&mut self, pipe: u8, to: Option<(u16, u8)>) -> Result<(), DeviceError> {
        let last = (self.pipes.len() as u32).saturating_sub(1);
        let to = match to {
            Some((port, queue)) => Some((self.queue_of("a deflection", port, queue)?, queue)),
            None => None,
        };
        let found = self.pipes.get_mut(usize::from(pipe));
        found.ok_or(DeviceError::Pipe { what: "deflection", found: pipe, last })?.deflection = to;
        Ok(())
    }

    fn set_port(&mut self, port: u16, up: bool) -> Result<(), DeviceError> {
        let missing = DeviceError::NoSuchPort { what: "a port state", port };
        let index = self.port_index(port).ok_or(missing)?;
        let p = &mut self.ports[usize::from(index)];
        p.up = up;
        let (pipe, local, now) = (usize::from(p.pipe), p.local, self.now);
        self.pipes[pipe].generator.set_port(local, up, now);
        self.schedule_generator(pipe);
        Ok(())
    }

    fn queue_of(&self, what: &'static str, port: u16, queue: u8) -> Result<u16, DeviceError> {
        let index = self.port_index(port).ok_or(DeviceError::NoSuchPort { what, port })?;
        let limit = self.ports[usize::from(index)].queues;
        if u16::from(queue) < limit {
            Ok(index)
        } else {
            Err(DeviceError::NoSuchQueue { what, port, queue, limit })
        }
    }

    /// Makes the scheduler look at the port at once, because one of its queues may have been resumed.
    pub(super) fn wake(&mut self, port: u16) {
        let now = self.now;
        let p = &mut self.ports[usize::from(port)];
        if p.scheduled == Some(now) || self.config.mode == Mode::Functional {
            return;
        }
        p.scheduled = Some(now);
        self.push(now, port, Event::Dequeue { port });
    }

    /// Reports that a priority of the port was paused or resumed at `time`: applications of the pipe's packet
    /// generator with a PFC trigger then send (Tofino 2). For callers that model the port's PFC themselves.
    ///
    /// # Errors
    /// Refuses a port that the switch does not have.
    pub fn pfc_changed(&mut self, port: DevPort, time: Time) -> Result<(), super::SwitchError> {
        let missing = super::SwitchError::NoSuchPort(port.number());
        let index = self.port_index(port.number()).ok_or(missing)?;
        let pipe = self.ports[usize::from(index)].pipe;
        let time = time.max(self.now);
        let (device, class, seq) = (self.config.device, EventClass::PfcReceived, self.operations.scheduled);
        self.operations.scheduled += 1;
        let key = EventKey { time, device, class, port: index.into(), seq };
        self.events.push(key, Event::PfcChanged { pipe }).map_err(|e| super::SwitchError::Past(Box::new(e)))
    }
}

/// First source number of flow-control words, after all ports.
const WORDS: u32 = 1 << 16;
/// First port number of wake-ups, after those of generators.
pub(super) const WAKE: u32 = 1 << 16;
