//! The table `[hosts.bus]`: the bus between each NIC and its host's memory.

use crate::contest::workload::{HostTable, Selection};
use crate::language::table;
use crate::nic_settings::above_zero;
use serde::Deserialize;
use sluice_asic::units::{BitRate, Bytes};
use sluice_fabric::host::nic::{BusConfig, Loopback, TransportConfig};

table! {
    /// The bus between each NIC and its host's memory, and the receive buffer in front of it.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct BusSetting {
        /// Rate, bytes of frames without preamble, FCS and gap.
        pub rate: BitRate,
        /// Size of the receive buffer; 512 KiB by default.
        pub buffer: Option<Bytes>,
        /// Bytes in the buffer from which on the host pauses its switch; half of the buffer by default.
        pub xoff: Option<Bytes>,
        /// Bytes in the buffer down from which the host lets its switch send again; half of `xoff` by default.
        pub xon: Option<Bytes>,
        /// RDMA of hosts to themselves; none by default.
        pub loopback: Option<LoopbackSetting>,
    }
}

table! {
    /// RDMA of hosts to themselves: a flow that always has data.
    #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct LoopbackSetting {
        /// Rate if nothing else uses the bus; that of the bus by default.
        pub rate: Option<BitRate>,
        /// The hosts, as workloads select them; all by default.
        pub hosts: Option<String>,
    }
}

impl BusSetting {
    /// Returns the bus of hosts with these transports; packets of the loopback flow have `mtu` payload bytes.
    pub(super) fn config(&self, transports: &[TransportConfig], mtu: u32) -> Result<BusConfig, String> {
        let loopback = self.loopback.as_ref().map(|flow| flow.rate.unwrap_or(self.rate));
        above_zero(&[
            ("bus.rate", self.rate.as_bps()),
            ("bus.loopback.rate", loopback.map_or(1, BitRate::as_bps)),
        ])?;
        let buffer = self.buffer.unwrap_or(Bytes(512 << 10));
        let xoff = self.xoff.unwrap_or(Bytes(buffer.0 / 2));
        let xon = self.xon.unwrap_or(Bytes(xoff.0 / 2));
        if !(xon < xoff && xoff <= buffer) {
            return Err(format!(
                "hosts.bus has xon {xon}, xoff {xoff}, buffer {buffer}; expected xon below xoff, and xoff not above the \
                 buffer"
            ));
        }
        let data = |config: &TransportConfig| match config {
            TransportConfig::Rdma(rdma) => 1 << rdma.data.priority,
            TransportConfig::Tcp(_) | TransportConfig::Udp(_) => 0,
        };
        let priorities = transports.iter().map(data).fold(0, std::ops::BitOr::bitor);
        if priorities == 0 {
            return Err("hosts.bus: no transport has queue pairs, so there is no priority to pause; leave the table out".into());
        }
        let loopback = loopback.map(|rate| Loopback { rate, packet: Bytes(mtu.into()) });
        Ok(BusConfig { rate: self.rate, buffer, xoff, xon, priorities, loopback })
    }

    /// Returns for each host whether it has a loopback flow.
    ///
    /// # Errors
    /// If the selection has no hosts.
    pub fn loops_back(&self, hosts: &HostTable) -> Result<Vec<bool>, String> {
        let mut loops = vec![false; hosts.len()];
        if let Some(flow) = &self.loopback {
            let selection = match &flow.hosts {
                None => Selection::default(),
                Some(text) => Selection::of([text.as_str()])
                    .ok_or("hosts.bus.loopback.hosts is empty; expected hosts such as \"all\" or \"0..3\"")?,
            };
            let selected =
                hosts.select(&selection).map_err(|what| format!("hosts.bus.loopback.hosts: {what}"))?;
            selected.into_iter().for_each(|host| loops[host as usize] = true);
        }
        Ok(loops)
    }
}
