//! The hosts of a contest: their port, and one transport or several.
//!
//! The keys of a transport are in `[hosts]`, or in `[[hosts.transport]]` with a name for each. A key that a named
//! transport lacks has the value that `[hosts]` gives.

mod bus;
mod congestion;
mod generation;
mod tcp;
mod udp;
mod vendor;

pub use bus::{BusSetting, LoopbackSetting};
pub use congestion::{
    CadenceName, CongestionName, HpccSetting, LayoutName, RateDctcpSetting, TelemetrySetting, TimelySetting,
    WindowSetting,
};
pub use generation::Generation;
pub use tcp::{IdleName, PacingSetting, ReuseName, TcpCongestionName, TcpSetting};
pub use udp::UdpSetting;
pub use vendor::VendorSetting;

use crate::nic_settings::{NotificationSetting, ReactionSetting, RecoveryName, ScopeName, above_zero};
use congestion::Senders;
use serde::Deserialize;
use sluice_asic::mac::WireOverhead;
use sluice_asic::tm::pfc::PfcConfig;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::host::congestion::{CongestionConfig, WindowConfig};
use sluice_fabric::host::dcqcn::{Coalescing, NotificationScope};
use sluice_fabric::host::hpcc::TelemetryFormat;
use sluice_fabric::host::nic::{BusConfig, PortConfig, TransportConfig};
use sluice_fabric::host::rdma::{Carrier, RdmaConfig, TrafficClass};
use sluice_fabric::host::recovery::Recovery;

/// Form of a receiver's notification of congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CarrierName {
    /// A CNP.
    #[default]
    Packet,
    /// BECN in the acknowledgement.
    Acknowledgement,
}

/// Traffic class of a host's packets: the DSCP that they carry, and the PFC priority that stops them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSetting {
    /// DSCP, 0 to 63.
    pub dscp: u8,
    /// PFC priority, 0 to 7.
    pub priority: u8,
}

/// Declares a table of a contest file that has the keys of a transport in addition to its own.
macro_rules! with_transport_keys {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$own_meta:meta])* pub $own:ident: $own_type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$own_meta])* pub $own: $own_type,)*
            /// TCP connections in place of queue pairs; none by default.
            pub tcp: Option<TcpSetting>,
            /// UDP in place of queue pairs; none by default.
            pub udp: Option<UdpSetting>,
            /// Generation of the sender's NIC in Azure's network, which gives defaults; none by default.
            pub generation: Option<Generation>,
            /// Generation of the receiver's NIC; the sender's by default.
            pub receiver_generation: Option<Generation>,
            /// Loss recovery.
            pub recovery: Option<RecoveryName>,
            /// Go-back-N: least time between two NACKs for the same packet; 4us by default.
            pub nack_interval: Option<Duration>,
            /// Go-back-N, any order: time without an acknowledgement after which the sender goes back, or sends the first
            /// missing packet again; 4ms by default.
            pub timeout: Option<Duration>,
            /// Selective: most unacknowledged bytes; 104000 by default.
            pub in_flight: Option<Bytes>,
            /// Congestion control of the senders; by default the one whose table is given, else none: they send at the
            /// link rate.
            pub congestion: Option<CongestionName>,
            /// DCQCN.
            pub reaction: Option<ReactionSetting>,
            /// DCQCN of mlx5 firmware, by the vendor's names.
            pub vendor: Option<VendorSetting>,
            /// HPCC.
            pub hpcc: Option<HpccSetting>,
            /// TIMELY.
            pub timely: Option<TimelySetting>,
            /// DCTCP in the NIC.
            pub dctcp: Option<RateDctcpSetting>,
            /// Window in addition to a rate; none by default.
            pub window: Option<WindowSetting>,
            /// Packets that a pair sends at once and that are paced together, 1 to 1024; 1 by default.
            pub burst: Option<u32>,
            /// True if a rate cut delays the packet that waits for its time, the default; false if only packets after it
            /// have the new rate.
            pub repaces: Option<bool>,
            /// True if a pair that must wait for its time holds up the pairs behind it, a fault of NIC firmware; false by
            /// default.
            pub head_of_line_blocking: Option<bool>,
            /// Marked packets that the receiver answers with a notification; all by default.
            pub notification: Option<NotificationSetting>,
            /// Form of notifications: `packet` (a CNP, the default), or `acknowledgement` (BECN in the acknowledgement).
            pub carrier: Option<CarrierName>,
            /// Sends a CNP with a NACK too, as RNICs do; true by default.
            pub notify_missing: Option<bool>,
            /// Traffic class of data; DSCP 3 and priority 3 by default, of TCP and UDP DSCP 0 and priority 0.
            pub data: Option<ClassSetting>,
            /// Traffic class of acknowledgements and CNPs; DSCP 48 and priority 6 by default, of TCP that of data.
            pub control: Option<ClassSetting>,
        }

        impl $name {
            /// Returns the keys of the transport, without a name.
            fn keys(&self) -> TransportSetting {
                TransportSetting {
                    name: String::new(),
                    tcp: self.tcp.clone(),
                    udp: self.udp,
                    generation: self.generation,
                    receiver_generation: self.receiver_generation,
                    recovery: self.recovery,
                    nack_interval: self.nack_interval,
                    timeout: self.timeout,
                    in_flight: self.in_flight,
                    congestion: self.congestion,
                    reaction: self.reaction.clone(),
                    vendor: self.vendor.clone(),
                    hpcc: self.hpcc.clone(),
                    timely: self.timely.clone(),
                    dctcp: self.dctcp.clone(),
                    window: self.window,
                    burst: self.burst,
                    repaces: self.repaces,
                    head_of_line_blocking: self.head_of_line_blocking,
                    notification: self.notification.clone(),
                    carrier: self.carrier,
                    notify_missing: self.notify_missing,
                    data: self.data,
                    control: self.control,
                }
            }
        }
    };
}

with_transport_keys! {
    /// Settings of the hosts. All hosts are alike.
    pub struct HostsSetting {
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
}

with_transport_keys! {
    /// A named transport.
    pub struct TransportSetting {
        /// Name, unique, by which workloads choose it: letters, digits, `_` and `-`.
        pub name: String,
    }
}

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
        let base = self.keys();
        let telemetry = self
            .telemetry
            .as_ref()
            .map_or_else(|| TelemetrySetting::default().format(cell), |t| t.format(cell))?;
        let config = |keys: &TransportSetting, place: &str| {
            keys.config(self.mtu(), telemetry).map_err(|what| format!("{place}: {what}"))
        };
        let all: Vec<TransportConfig> = if self.transport.is_empty() {
            vec![config(&base, "hosts")?]
        } else {
            let named =
                |own: &TransportSetting| config(&own.or(&base), &format!("hosts.transport `{}`", own.name));
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

/// Returns a traffic class, which has a default.
fn class(given: Option<ClassSetting>, dscp: u8, priority: u8) -> TrafficClass {
    let ClassSetting { dscp, priority } = given.unwrap_or(ClassSetting { dscp, priority });
    TrafficClass { dscp, priority }
}

impl TransportSetting {
    /// Returns these keys, and those of `base` in place of absent ones. Keys of one subject replace each other together.
    fn or(&self, base: &TransportSetting) -> TransportSetting {
        let own = self.keys();
        if own.tcp.is_some() || own.udp.is_some() {
            // Of the hosts' keys only the traffic classes are not those of queue pairs.
            let (data, control) = (own.data.or(base.data), base.control.filter(|_| own.tcp.is_some()));
            let control = own.control.or(control);
            return TransportSetting { name: self.name.clone(), data, control, ..own };
        }
        let sender = self.chooses_sender();
        let other = sender || own.recovery.is_some() || own.generation.is_some();
        TransportSetting {
            name: self.name.clone(),
            tcp: own.tcp.or_else(|| base.tcp.clone().filter(|_| !other)),
            udp: own.udp.or(base.udp.filter(|_| !other)),
            generation: own.generation.or(base.generation),
            receiver_generation: own.receiver_generation.or(base.receiver_generation),
            recovery: own.recovery.or(base.recovery),
            nack_interval: own.nack_interval.or(base.nack_interval.filter(|_| own.recovery.is_none())),
            timeout: own.timeout.or(base.timeout.filter(|_| own.recovery.is_none())),
            in_flight: own.in_flight.or(base.in_flight.filter(|_| own.recovery.is_none())),
            congestion: own.congestion.or(base.congestion.filter(|_| !sender)),
            reaction: own.reaction.or_else(|| base.reaction.clone().filter(|_| !sender)),
            vendor: own.vendor.or_else(|| base.vendor.clone().filter(|_| !sender)),
            hpcc: own.hpcc.or_else(|| base.hpcc.clone().filter(|_| !sender)),
            timely: own.timely.or_else(|| base.timely.clone().filter(|_| !sender)),
            dctcp: own.dctcp.or_else(|| base.dctcp.clone().filter(|_| !sender)),
            window: own.window.or(base.window.filter(|_| !sender)),
            burst: own.burst.or(base.burst),
            repaces: own.repaces.or(base.repaces),
            head_of_line_blocking: own.head_of_line_blocking.or(base.head_of_line_blocking),
            notification: own.notification.or_else(|| base.notification.clone().filter(|_| !sender)),
            carrier: own.carrier.or(base.carrier.filter(|_| !sender)),
            notify_missing: own.notify_missing.or(base.notify_missing.filter(|_| !sender)),
            data: own.data.or(base.data),
            control: own.control.or(base.control),
        }
    }

    /// Returns true if these keys choose the sender.
    const fn chooses_sender(&self) -> bool {
        self.congestion.is_some()
            || self.reaction.is_some()
            || self.vendor.is_some()
            || self.hpcc.is_some()
            || self.timely.is_some()
            || self.dctcp.is_some()
    }

    /// Returns the transport.
    fn config(&self, mtu: u32, telemetry: TelemetryFormat) -> Result<TransportConfig, String> {
        for (name, class) in [("data", self.data), ("control", self.control)] {
            if let Some(ClassSetting { dscp, priority }) = class.filter(|c| c.dscp > 63 || c.priority > 7) {
                return Err(format!("{name} is dscp {dscp}, priority {priority}; expected 0 to 63, 0 to 7"));
            }
        }
        if self.tcp.is_some() || self.udp.is_some() {
            self.check_unpaired()?;
        }
        let data = class(self.data, 0, 0);
        match (&self.tcp, &self.udp) {
            (None, None) => self.rdma(mtu, telemetry).map(TransportConfig::Rdma),
            (Some(tcp), None) => {
                tcp.config(data, class(self.control, data.dscp, data.priority)).map(TransportConfig::Tcp)
            }
            (None, Some(_)) if self.control.is_some() => {
                Err("`control` has no effect, because nothing answers UDP; leave it out".into())
            }
            (None, Some(udp)) => udp.config(data).map(TransportConfig::Udp),
            (Some(_), Some(_)) => Err("a transport has `tcp` or `udp`, not both".into()),
        }
    }

    /// Checks that a transport without queue pairs has no keys of queue pairs.
    fn check_unpaired(&self) -> Result<(), String> {
        let keys = [
            ("generation", self.generation.is_some()),
            ("receiver_generation", self.receiver_generation.is_some()),
            ("recovery", self.recovery.is_some()),
            ("nack_interval", self.nack_interval.is_some()),
            ("timeout", self.timeout.is_some()),
            ("in_flight", self.in_flight.is_some()),
            ("congestion", self.congestion.is_some()),
            ("reaction", self.reaction.is_some()),
            ("vendor", self.vendor.is_some()),
            ("hpcc", self.hpcc.is_some()),
            ("timely", self.timely.is_some()),
            ("dctcp", self.dctcp.is_some()),
            ("window", self.window.is_some()),
            ("burst", self.burst.is_some()),
            ("repaces", self.repaces.is_some()),
            ("head_of_line_blocking", self.head_of_line_blocking.is_some()),
            ("notification", self.notification.is_some()),
            ("carrier", self.carrier.is_some()),
            ("notify_missing", self.notify_missing.is_some()),
        ];
        match keys.iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(format!(
                "`{key}` is a key of RDMA and has no effect beside `tcp` or `udp`; leave it out, or write it in another \
                 [[hosts.transport]]"
            )),
            None => Ok(()),
        }
    }

    fn rdma(&self, mtu: u32, telemetry: TelemetryFormat) -> Result<RdmaConfig, String> {
        let burst = self.burst.or(self.generation.map(Generation::burst)).unwrap_or(1);
        if !(1..=1_024).contains(&burst) {
            return Err(format!("burst is {burst}; expected 1 to 1024 packets"));
        }
        let congestion = self.congestion(telemetry)?;
        let (coalescing, scope) = self.limit(&congestion)?;
        let control = class(self.control, 48, 6);
        Ok(RdmaConfig {
            mtu,
            recovery: self.recovery(mtu)?,
            window: self.window(&congestion)?,
            burst,
            repaces: self.repaces.unwrap_or(true),
            head_of_line: self.head_of_line(&congestion)?,
            coalescing,
            scope,
            carrier: match self.carrier(&congestion)? {
                CarrierName::Packet => Carrier::Packet,
                CarrierName::Acknowledgement => Carrier::Acknowledgement,
            },
            // DCTCP takes every echo as a mark, so a request for a missing packet must not be one.
            notify_missing: self.notify_missing.unwrap_or(!matches!(congestion, CongestionConfig::Dctcp(_))),
            data: class(self.data, 3, 3),
            cnp: self.vendor.as_ref().map_or(control, |vendor| vendor.cnp_class(control)),
            control,
            congestion,
        })
    }

    fn head_of_line(&self, congestion: &CongestionConfig) -> Result<bool, String> {
        let given = self.head_of_line_blocking;
        match (given.unwrap_or(false), congestion) {
            (_, CongestionConfig::None) if given.is_some() => {
                Err("`head_of_line_blocking` has no effect, because pairs without congestion control do not wait; leave it out".into())
            }
            (true, _) if self.repaces == Some(false) => Err(
                "`repaces = false` has no effect beside `head_of_line_blocking`, which reads the rate of the pair whose \
                 turn it is; leave one out"
                    .into(),
            ),
            (given, _) => Ok(given),
        }
    }

    fn recovery(&self, mtu: u32) -> Result<Recovery, String> {
        let Some(name) = self.recovery.or(self.generation.map(|_| RecoveryName::GoBackN)) else {
            return Err("`recovery` is missing; expected go-back-n, selective or any-order".into());
        };
        above_zero(&[("timeout", self.timeout.map_or(1, Duration::as_ps))])?;
        let unused = [
            ("nack_interval", self.nack_interval.is_some() && name != RecoveryName::GoBackN),
            ("timeout", self.timeout.is_some() && name == RecoveryName::Selective),
            ("in_flight", self.in_flight.is_some() && name != RecoveryName::Selective),
        ];
        if let Some((key, _)) = unused.iter().find(|(_, unused)| *unused) {
            return Err(format!("`{key}` has no effect with this `recovery`; leave it out"));
        }
        let timeout = self.timeout.unwrap_or(Duration::from_millis(4));
        Ok(match name {
            RecoveryName::GoBackN => Recovery::GoBackN {
                nack_interval: self.nack_interval.unwrap_or(Duration::from_micros(4)),
                timeout: Some(timeout),
            },
            RecoveryName::Selective => Recovery::irn(self.in_flight, mtu.into()),
            RecoveryName::AnyOrder => Recovery::AnyOrder { timeout },
        })
    }

    fn congestion(&self, telemetry: TelemetryFormat) -> Result<CongestionConfig, String> {
        Senders {
            name: self.congestion,
            generation: self.generation,
            reaction: self.reaction.as_ref(),
            vendor: self.vendor.as_ref(),
            hpcc: self.hpcc.as_ref(),
            timely: self.timely.as_ref(),
            dctcp: self.dctcp.as_ref(),
        }
        .chosen(telemetry)
    }

    fn window(&self, congestion: &CongestionConfig) -> Result<Option<WindowConfig>, String> {
        match (&self.window, congestion) {
            (Some(_), CongestionConfig::Hpcc { .. }) => {
                Err("`window` has no effect, because HPCC has a window; leave it out".into())
            }
            (Some(window), _) => window.config().map(Some),
            (None, _) => Ok(None),
        }
    }

    /// Returns the receiver's limit on notifications.
    fn limit(&self, congestion: &CongestionConfig) -> Result<(Coalescing, NotificationScope), String> {
        if !congestion.reads_marks() && (self.notification.is_some() || self.notify_missing.is_some()) {
            return Err(
                "`notification` and `notify_missing` have no effect, because the sender reads no marks"
                    .into(),
            );
        }
        if let CongestionConfig::Dctcp(_) = congestion
            && (self.notification.is_some() || self.notify_missing == Some(true))
        {
            return Err(
                "DCTCP needs the mark of every packet: leave out `notification` and `notify_missing`".into(),
            );
        }
        if let Some(vendor) = self.vendor.as_ref().filter(|vendor| vendor.limits_notifications()) {
            return match self.notification {
                None => Ok((vendor.coalescing(), NotificationScope::Pair)),
                Some(_) => {
                    Err("`vendor.np_min_time_between_cnps` and `notification` both limit CNPs; leave one out"
                        .into())
                }
            };
        }
        let Some(notification) = &self.notification else {
            let receiver = self.receiver_generation.or(self.generation);
            let default = receiver.map_or(Coalescing::PerPacket, Generation::coalescing);
            let dctcp = matches!(congestion, CongestionConfig::Dctcp(_));
            return Ok((if dctcp { Coalescing::PerPacket } else { default }, NotificationScope::Pair));
        };
        let scope = match notification.scope {
            ScopeName::Pair => NotificationScope::Pair,
            ScopeName::Nic => NotificationScope::Nic,
        };
        Ok((notification.coalescing()?, scope))
    }

    fn carrier(&self, congestion: &CongestionConfig) -> Result<CarrierName, String> {
        match (congestion, self.carrier) {
            (CongestionConfig::Dctcp(_), Some(CarrierName::Packet)) => {
                Err("DCTCP reads marks in acknowledgements: leave out `carrier`, or write `carrier = \"acknowledgement\"`".into())
            }
            (CongestionConfig::Dctcp(_), _) => Ok(CarrierName::Acknowledgement),
            (_, Some(_)) if !congestion.reads_marks() => {
                Err("`carrier` has no effect, because the sender reads no marks; leave it out".into())
            }
            (_, carrier) => Ok(carrier.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests;
