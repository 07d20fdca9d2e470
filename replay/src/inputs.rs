//! Captures, and the ports that they are injected into.

use crate::error::{Error, Passes};
use sluice_asic::port::DevPort;
use sluice_asic::units::BitRate;
use sluice_fabric::network::SwitchId;
use sluice_pcaps::capture::{CaptureError, CaptureFault, CaptureReader};
use sluice_pcaps::replay::{Feed, Port, Schedule};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Opens a capture from its start, on the thread that reads it.
type Open = Arc<dyn Fn() -> Result<CaptureReader<'static>, CaptureError> + Send + Sync>;

/// One capture to inject into a port.
#[derive(Clone)]
pub struct Input {
    switch: SwitchId,
    port: DevPort,
    port_name: String,
    name: String,
    open: Open,
    once: bool,
    bytes: Option<u64>,
}

impl Input {
    /// Returns an input that `open` opens, once for each turn and each trial of a rate search. `name` identifies the
    /// input in summaries and comments.
    pub fn new(
        port: DevPort,
        name: impl Into<String>,
        open: impl Fn() -> Result<CaptureReader<'static>, CaptureError> + Send + Sync + 'static,
    ) -> Input {
        let port_name = format!("dev:{}", port.number());
        let (switch, open) = (SwitchId(0), Arc::new(open));
        Input { switch, port, port_name, name: name.into(), open, once: false, bytes: None }
    }

    /// Returns an input of bytes in memory.
    pub fn from_bytes(port: DevPort, name: impl Into<String>, bytes: &'static [u8]) -> Input {
        let name = name.into();
        let called = name.clone();
        let input = Input::new(port, name, move || CaptureReader::from_bytes(bytes, called.clone()));
        input.with_bytes(Some(bytes.len() as u64))
    }

    /// Returns an input that can be read only once.
    pub fn from_read(port: DevPort, name: impl Into<String>, source: impl Read + Send + 'static) -> Input {
        let (name, source) = (name.into(), Mutex::new(Some(source)));
        let called = name.clone();
        let open = move || {
            let source = source.lock().unwrap_or_else(PoisonError::into_inner).take();
            let source = source.ok_or_else(|| CaptureError {
                file: called.as_str().into(),
                record: 0,
                offset: 0,
                fault: CaptureFault::Io(io::Error::other("the input has been read already")),
            })?;
            CaptureReader::from_read(source, called.clone())
        };
        Input::new(port, name, open).read_once()
    }

    /// Injects the input into a port of this switch of a network.
    #[must_use]
    pub fn at(self, switch: SwitchId) -> Input {
        Input { switch, ..self }
    }

    /// Sets the name of the port in summaries; the default is `dev:N`.
    #[must_use]
    pub fn with_port_name(self, name: impl Into<String>) -> Input {
        Input { port_name: name.into(), ..self }
    }

    /// Sets the stored length of the input, for [`Progress`](crate::Progress); `None`: unknown.
    #[must_use]
    pub fn with_bytes(self, bytes: Option<u64>) -> Input {
        Input { bytes, ..self }
    }

    /// Marks an input that can be opened only once, such as standard input. Its producer may still be writing, so the
    /// run does not read ahead.
    #[must_use]
    pub fn read_once(self) -> Input {
        Input { once: true, ..self }
    }

    /// Returns the switch and the port that the input goes into.
    #[must_use]
    pub const fn place(&self) -> (SwitchId, DevPort) {
        (self.switch, self.port)
    }

    /// Returns the name of the input.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the port in summaries.
    #[must_use]
    pub fn port_name(&self) -> &str {
        &self.port_name
    }
}

/// The inputs of a replay. Inputs of one port are merged by time.
pub struct Inputs {
    all: Vec<Input>,
    /// Switches and ports that the inputs go into, in the order of the first input of each.
    places: Vec<(SwitchId, DevPort)>,
}

impl From<Vec<Input>> for Inputs {
    fn from(all: Vec<Input>) -> Inputs {
        let mut places = Vec::new();
        for input in &all {
            if !places.contains(&input.place()) {
                places.push(input.place());
            }
        }
        Inputs { all, places }
    }
}

impl Inputs {
    /// Returns all inputs.
    #[must_use]
    pub fn all(&self) -> &[Input] {
        &self.all
    }

    /// Returns the switches and ports that the inputs go into, in the order of the first input of each.
    #[must_use]
    pub fn places(&self) -> &[(SwitchId, DevPort)] {
        &self.places
    }

    /// Checks that all inputs can be read more than once.
    ///
    /// # Errors
    /// [`Error::ReadOnce`] if an input cannot.
    pub fn check_repeatable(&self, passes: Passes) -> Result<(), Error> {
        match self.all.iter().find(|input| input.once) {
            None => Ok(()),
            Some(input) => Err(Error::ReadOnce { input: input.name.clone(), passes }),
        }
    }

    /// Opens all inputs at their beginnings. `speed` returns the line rate of a port; on a line of rate 0, frames take no
    /// time.
    pub(crate) fn feed(
        &self,
        schedule: Schedule,
        speed: impl Fn(SwitchId, DevPort) -> BitRate,
    ) -> Result<Feed<'static>, CaptureError> {
        let port = |place: &(SwitchId, DevPort)| Port {
            inputs: (0..self.all.len()).filter(|i| self.all[*i].place() == *place).collect(),
            line: speed(place.0, place.1).as_bps(),
        };
        let opens: Vec<Open> = self.all.iter().map(|input| Arc::clone(&input.open)).collect();
        let open = move |input: usize| opens[input]();
        Feed::new(self.places.iter().map(port).collect(), schedule, Box::new(open))
    }

    /// Returns true if the producer of an input may still be writing.
    pub(crate) fn may_wait(&self) -> bool {
        self.all.iter().any(|input| input.once)
    }

    /// Returns the stored length of all inputs, if every length is known.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.all.iter().map(|input| input.bytes).sum()
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.all.iter().map(Input::name).collect()
    }
}
