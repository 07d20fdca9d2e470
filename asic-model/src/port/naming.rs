//! Names of front-panel ports: the user's, numbers, and cages with lanes.

use super::{FrontPort, MacId, Pipe, Port, PortError, PortMap, PortName};
use crate::port_names::PortNames;
use std::sync::Arc;

impl PortMap {
    /// Gives front-panel ports names, by which [`find`](Self::find) finds them and [`shown`](Self::shown) shows them. Names
    /// of ports that the chip does not have at this speed stay unused.
    #[must_use]
    pub fn with_names(self, names: Arc<PortNames>) -> Self {
        Self { names: Some(names), ..self }
    }

    /// Returns the user's names.
    pub fn names(&self) -> Option<&Arc<PortNames>> {
        self.names.as_ref()
    }

    /// Returns a front-panel port as outputs show it: by the user's name, else by its number.
    pub fn shown(&self, port: FrontPort) -> String {
        let name = self.names.as_ref().and_then(|names| names.name(port));
        name.map_or_else(|| port.to_string(), str::to_owned)
    }

    /// Returns the port of a text: one of the user's names, a front-panel port such as `3`, a cage and lane such as `1/0`,
    /// where cages count from 1 and lanes from 0, or a dev_port such as `dev:137`.
    ///
    /// # Errors
    /// [`PortError`], with the valid names or ranges.
    pub fn find(&self, text: &str) -> Result<&Port, PortError> {
        if let Some(front) = self.names.as_ref().and_then(|names| names.front(text)) {
            return self.resolve(PortName::Front(front));
        }
        if let Some((cage, lane)) = text.split_once('/') {
            return self.of_cage(text, cage.parse().ok(), lane.parse().ok());
        }
        match (text.parse(), &self.names) {
            (Ok(name), _) => self.resolve(name),
            (Err(error), None) => Err(error),
            (Err(_), Some(names)) => {
                Err(PortError::Unnamed { text: text.to_owned(), near: names.did_you_mean(text) })
            }
        }
    }

    /// Returns the MACs of the front panel in its order: those of the cages 1, 2, ..
    fn cages(&self) -> Vec<(Pipe, MacId)> {
        let mut macs: Vec<_> = self.front_ports().iter().map(|port| (port.pipe(), port.mac)).collect();
        macs.dedup();
        macs
    }

    /// Returns the cage and the first lane of a front-panel port, as in `1/0`; of other ports, an empty text.
    pub fn cage(&self, port: &Port) -> String {
        let cage = self.cages().iter().position(|mac| *mac == (port.pipe(), port.mac));
        cage.filter(|_| port.front().is_some())
            .map_or(String::new(), |cage| format!("{}/{}", cage + 1, port.lane))
    }

    /// Returns the front-panel port that begins at a lane of a cage. A cage has one MAC.
    fn of_cage(&self, text: &str, cage: Option<u16>, lane: Option<u8>) -> Result<&Port, PortError> {
        let mac = |port: &Port| (port.pipe(), port.mac);
        let macs = self.cages();
        let own = cage.and_then(|cage| macs.get(usize::from(cage).checked_sub(1)?));
        let of_cage = || self.front_ports().iter().filter(|port| own == Some(&mac(port)));
        of_cage().find(|port| Some(port.lane) == lane).ok_or_else(|| {
            let valid = match own {
                Some(_) => {
                    let lanes: Vec<String> = of_cage().map(|port| port.lane.to_string()).collect();
                    format!("at {} per port its ports begin at lanes {}", self.speed, lanes.join(", "))
                }
                None => format!("{} has cages 1 to {}", self.chip, macs.len()),
            };
            PortError::Cage { text: text.to_owned(), valid }
        })
    }
}
