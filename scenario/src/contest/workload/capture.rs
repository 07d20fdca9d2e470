//! The flows of a capture: each burst of payload becomes a message.

use super::fault::Fault;
use super::plan::{Builder, When};
use sluice_asic::units::Duration;
use sluice_fabric::flows::{Burst, bursts};
use sluice_pcaps::capture::CaptureReader;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The bursts of a capture that start before the workload's end. Messages keep the source ports of the capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Name of the file.
    pub file: String,
    /// Idle time of a flow after which its next frame begins a new message.
    pub gap: Duration,
    /// How the capture's addresses become hosts.
    pub addresses: Addresses,
    /// The bursts; `None` while the file has not been read.
    pub bursts: Option<Vec<Burst>>,
}

/// How the addresses of a capture become hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// The first address is host 0, the next one host 1, and so on, in order of their first bursts, senders first.
    Appearance,
    /// Each address is that of a host.
    Same,
}

impl Addresses {
    /// Names of all values.
    pub(super) const ALL: [(&'static str, Addresses); 2] =
        [("appearance", Addresses::Appearance), ("same", Addresses::Same)];
}

impl Captured {
    /// Reads the capture.
    pub(super) fn open(&mut self, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<(), Fault> {
        let bytes = read(&self.file).map_err(|why| Fault::new("capture", why))?;
        let found = CaptureReader::from_bytes(&bytes, self.file.clone())
            .and_then(|mut reader| bursts(&mut reader, self.gap))
            .map_err(|e| Fault::new("capture", e.to_string()))?;
        if found.bursts.is_empty() {
            let what = format!(
                "{} has no payload of TCP, UDP or RoCE in its {} frames; nothing can be sent",
                self.file, found.frames
            );
            return Err(Fault::new("capture", what));
        }
        self.bursts = Some(found.bursts);
        Ok(())
    }

    pub(super) fn plan(&self, into: &mut Builder<'_>) -> Result<(), Fault> {
        let bursts = self.bursts.as_deref().unwrap_or_default();
        let mut known: BTreeMap<IpAddr, u32> = BTreeMap::new();
        let first = bursts.first().map(|burst| burst.start).unwrap_or_default();
        for burst in bursts {
            let from = self.host(burst.from, &mut known, into)?;
            let to = self.host(burst.to, &mut known, into)?;
            if from == to {
                let what = format!("{}: a flow of {} goes to its own sender", self.file, burst.from);
                return Err(Fault::new("capture", what));
            }
            let start = into.begin + (burst.start - first);
            if start < into.end {
                into.send_from(burst.port, from, to, burst.bytes, When::at(start))?;
            }
        }
        Ok(())
    }

    fn host(
        &self,
        address: IpAddr,
        known: &mut BTreeMap<IpAddr, u32>,
        into: &Builder<'_>,
    ) -> Result<u32, Fault> {
        if let Some(host) = known.get(&address) {
            return Ok(*host);
        }
        let host = match (self.addresses, address) {
            (Addresses::Appearance, _) => into.hosts.numbered(known.len() as u64).ok_or_else(|| {
                let what = format!(
                    "{} has more addresses than the network has hosts, {}; {address} is left over: use a larger network, \
                     or a part of the capture",
                    self.file,
                    into.hosts.len()
                );
                Fault::new("capture", what)
            })?,
            (Addresses::Same, IpAddr::V4(own)) if into.hosts.at(own).is_some() => {
                into.hosts.at(own).unwrap_or_default()
            }
            (Addresses::Same, _) => {
                let what = format!(
                    "{} has the address {address}, which no host has; set addresses = \"appearance\"",
                    self.file
                );
                return Err(Fault::new("addresses", what));
            }
        };
        known.insert(address, host);
        Ok(host)
    }
}
