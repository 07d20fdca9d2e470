//! The hosts of a contest: their port, and one transport or several.
//!
//! The keys of a transport are in `[hosts]`, or in `[[hosts.transport]]` with a name for each. A key that a named
//! transport lacks has the value that `[hosts]` gives.

mod bus;
mod congestion;
mod generation;
mod tcp;
pub(crate) mod timers;
mod transport;
mod udp;
mod vendor;

pub use bus::{BusSetting, LoopbackSetting};
pub use congestion::{
    CadenceName, CongestionName, HpccSetting, LayoutName, RateDctcpSetting, TelemetrySetting, TimelySetting,
    WindowSetting,
};
pub use generation::Generation;
pub use tcp::{IdleName, PacingSetting, ReuseName, TcpCongestionName, TcpSetting};
pub use transport::{CarrierName, ClassSetting, TransportKeys};
pub use udp::UdpSetting;
pub use vendor::VendorSetting;

use crate::nic_settings::{NotificationSetting, ReactionSetting, RecoveryName, above_zero};
use serde::Deserialize;
use sluice_asic::mac::WireOverhead;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::host::hpcc::TelemetryFormat;
use sluice_fabric::host::nic::{BusConfig, PortConfig, TransportConfig};
#[cfg(test)]
pub(crate) use transport::KEYS as TRANSPORT_KEYS;
use transport::{transport_keys, with_transport_keys};

transport_keys!(with_transport_keys {
    /// Settings of the hosts. All hosts are alike.
    #[serde(from = "HostsTable")]
    pub struct HostsSetting, read as HostsTable {
        /// Delay of the hosts' cables, above 0.
        pub cable: Duration,
        /// Payload bytes of a full packet, 1 to 9000; 1000 by default.
        pub mtu: Option<u32>,
        /// True if hosts obey PFC; true by default.
        pub pfc: Option<bool>,
        /// Time from the last bit of a PFC frame to its effect at a host; by default the standard's bound for the rate.
        pub pfc_reaction: Option<Duration>,
        /// The bus between NIC and memory; by default data is in memory when it has arrived.
        pub bus: Option<BusSetting>,
        /// True if a NIC processes a registration of memory only when all Sends before it are completed, the hidden fence;
        /// false by default.
        pub registration_fence: Option<bool>,
        /// The records that switches add to packets of HPCC.
        pub telemetry: Option<TelemetrySetting>,
        /// Named transports; by default one, with the keys of `[hosts]`.
        #[serde(default)]
        pub transport: Vec<TransportSetting>,
    }
});

transport_keys!(with_transport_keys {
    /// A named transport.
    #[serde(from = "TransportTable")]
    pub struct TransportSetting, read as TransportTable {
        /// Name, unique, by which workloads choose it: letters, digits, `_` and `-`.
        pub name: String,
    }
});

impl HostsSetting {
    /// Returns the payload bytes of a full packet.
    #[must_use]
    pub fn mtu(&self) -> u32 {
        self.mtu.unwrap_or(1_000)
    }

    /// Checks what does not depend on the network.
    ///
    /// # Errors
    /// If a setting is out of range or has no effect; the error names its key.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=9_000).contains(&self.mtu()) {
            return Err(format!("hosts.mtu is {}; expected 1 to 9000 bytes", self.mtu()));
        }
        let mut names: Vec<&str> = self.transport.iter().map(|t| t.name.as_str()).collect();
        let letter = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if let Some(name) = names.iter().find(|name| name.is_empty() || !name.chars().all(letter)) {
            return Err(format!(
                "hosts.transport: the name `{name}` must consist of letters, digits, `_` and `-`"
            ));
        }
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two transports of the hosts are called `{}`", pair[0])),
            None if names.len() > usize::from(u8::MAX) => {
                Err("hosts.transport: more than 255 transports".into())
            }
            None => self.bus(&self.transports(Bytes(80))?).map(|_| ()),
        }
    }

    /// Returns the settings of a host's port with this link rate and overhead of frames.
    ///
    /// # Errors
    /// If a setting is out of range; the error names its key.
    pub fn port(&self, rate: BitRate, wire: WireOverhead) -> Result<PortConfig, String> {
        above_zero(&[("cable", self.cable.as_ps())])?;
        let pfc = PfcConfig { reaction: self.pfc_reaction, ..PfcConfig::default() };
        Ok(PortConfig { rate, pfc: self.pfc.unwrap_or(true).then_some(pfc), wire })
    }

    /// Returns the bus of a host with these transports, if there is one.
    ///
    /// # Errors
    /// If a setting is out of range or has no effect; the error names its key.
    pub fn bus(&self, transports: &[TransportConfig]) -> Result<Option<BusConfig>, String> {
        let Some(bus) = &self.bus else { return Ok(None) };
        if self.pfc == Some(false) {
            return Err("hosts.bus has no effect on switches beside `pfc = false`; leave one out".into());
        }
        bus.config(transports, self.mtu()).map(Some)
    }

    /// Returns the names of the transports that messages can choose, in the order of the file; none if the only transport has
    /// no name.
    #[must_use]
    pub fn transport_names(&self) -> Vec<String> {
        self.transport.iter().map(|transport| transport.name.clone()).collect()
    }

    /// Returns the settings of the hosts' transports, for switches with this buffer cell.
    ///
    /// # Errors
    /// If a setting is out of range or has no effect; the error names its key.
    pub fn transports(&self, cell: Bytes) -> Result<Vec<TransportConfig>, String> {
        let telemetry = self
            .telemetry
            .as_ref()
            .map_or_else(|| TelemetrySetting::default().format(cell), |t| t.format(cell))?;
        let config = |keys: &TransportKeys, place: &str| {
            keys.config(self.mtu(), telemetry).map_err(|what| format!("{place}: {what}"))
        };
        let all: Vec<TransportConfig> = if self.transport.is_empty() {
            vec![config(&self.keys, "hosts")?]
        } else {
            let named = |own: &TransportSetting| {
                config(&own.keys.with_defaults(&self.keys), &format!("hosts.transport `{}`", own.name))
            };
            self.transport.iter().map(named).collect::<Result<_, _>>()?
        };
        self.check_telemetry(&all, &telemetry)?;
        Ok(all)
    }

    /// Checks that frames with and without records can be told apart.
    fn check_telemetry(&self, all: &[TransportConfig], format: &TelemetryFormat) -> Result<(), String> {
        const ROCE: u16 = 4791;
        // Packets of TCP and UDP have other ports.
        let rdma = all.iter().filter(|config| matches!(config, TransportConfig::Rdma(_))).count();
        let with = all.iter().filter(|config| config.telemetry().is_some()).count();
        if with == 0 && self.telemetry.is_some() {
            return Err(
                "hosts.telemetry has no effect, because no transport has congestion = \"hpcc\"".into()
            );
        }
        let other = |why: &str| {
            format!(
                "hosts.telemetry: UDP port {ROCE} is RoCEv2's, {why}; give the records a port of their own, such as \
                 `telemetry = {{ port = 4792 }}`, and the program that adds them `params = {{ udp_port = 4792 }}`"
            )
        };
        match (with, format.port == ROCE) {
            (with, true) if with > 0 && with < rdma => Err(other(
                "and packets of the transports without congestion = \"hpcc\" have no room for records",
            )),
            (1.., true) if format.layout == LayoutName::Ns3.layout() => Err(other(
                "and answers have it: with layout ns3 a switch writes into every packet to the port of records",
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
