//! The keys of a transport, each declared once.

use super::congestion::CongestionName;
use super::{
    Generation, HpccSetting, RateDctcpSetting, TcpSetting, TimelySetting, UdpSetting, VendorSetting,
    WindowSetting,
};
use crate::nic_settings::{NotificationSetting, ReactionSetting, RecoveryName, ScopeName, above_zero};
use serde::Deserialize;
use sluice_asic::units::{Bytes, Duration};
use sluice_fabric::host::congestion::{CongestionConfig, WindowConfig};
use sluice_fabric::host::dcqcn::{Coalescing, NotificationScope};
use sluice_fabric::host::hpcc::TelemetryFormat;
use sluice_fabric::host::nic::TransportConfig;
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

/// What a key of a transport is about. Keys of one subject replace those of `[hosts]` together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// TCP or UDP in place of queue pairs.
    Layer,
    /// Queue pairs in general.
    Pair,
    /// Loss recovery.
    Recovery,
    /// The choice of the sender.
    Sender,
    /// What depends on the sender.
    Marks,
    /// Traffic classes, which every transport has.
    Class,
}

/// Passes the keys of a transport to the macro `$then`, after that macro's own arguments: for each its meaning, subject, name
/// and type.
macro_rules! transport_keys {
    ($then:ident { $($own:tt)* }) => {
        $then! {
            { $($own)* }
            /// TCP connections in place of queue pairs; none by default.
            [Layer] tcp: TcpSetting,
            /// UDP in place of queue pairs; none by default.
            [Layer] udp: UdpSetting,
            /// Generation of the sender's NIC in Azure's network, which gives defaults; none by default.
            [Pair] generation: Generation,
            /// Generation of the receiver's NIC; the sender's by default.
            [Pair] receiver_generation: Generation,
            /// Loss recovery.
            [Recovery] recovery: RecoveryName,
            /// Go-back-N: least time between two NACKs for the same packet; 4us by default.
            [Recovery] nack_interval: Duration,
            /// Go-back-N, any order: time without an acknowledgement after which the sender goes back, or sends the first
            /// missing packet again; 4ms by default.
            [Recovery] timeout: Duration,
            /// Selective: most unacknowledged bytes; 104000 by default.
            [Recovery] in_flight: Bytes,
            /// Congestion control of the senders; by default the one whose table is given, else none: they send at the
            /// link rate.
            [Sender] congestion: CongestionName,
            /// DCQCN.
            [Sender] reaction: ReactionSetting,
            /// DCQCN of mlx5 firmware, by the vendor's names.
            [Sender] vendor: VendorSetting,
            /// HPCC.
            [Sender] hpcc: HpccSetting,
            /// TIMELY.
            [Sender] timely: TimelySetting,
            /// DCTCP in the NIC.
            [Sender] dctcp: RateDctcpSetting,
            /// Window in addition to a rate; none by default.
            [Marks] window: WindowSetting,
            /// Packets that a pair sends at once and that are paced together, 1 to 1024; 1 by default.
            [Pair] burst: u32,
            /// True if a rate cut delays the packet that waits for its time, the default; false if only packets after it
            /// have the new rate.
            [Pair] repaces: bool,
            /// True if a pair that must wait for its time holds up the pairs behind it, a fault of NIC firmware; false by
            /// default.
            [Pair] head_of_line_blocking: bool,
            /// Marked packets that the receiver answers with a notification; all by default.
            [Marks] notification: NotificationSetting,
            /// Form of notifications: `packet` (a CNP, the default), or `acknowledgement` (BECN in the acknowledgement).
            [Marks] carrier: CarrierName,
            /// Sends a CNP with a NACK too, as RNICs do; true by default.
            [Marks] notify_missing: bool,
            /// Traffic class of data; DSCP 3 and priority 3 by default, of TCP and UDP DSCP 0 and priority 0.
            [Class] data: ClassSetting,
            /// Traffic class of acknowledgements and CNPs; DSCP 48 and priority 6 by default, of TCP that of data.
            [Class] control: ClassSetting,
        }
    };
}

macro_rules! declare {
    ({} $($(#[doc = $doc:literal])+ [$subject:ident] $key:ident: $type:ty,)*) => {
        /// Keys of a transport.
        #[derive(Clone, Debug)]
        pub struct TransportKeys {
            $($(#[doc = $doc])+ pub $key: Option<$type>,)*
        }

        impl TransportKeys {
            /// Returns the keys that are there, in the order of the declaration.
            fn given(&self) -> impl Iterator<Item = (Subject, &'static str)> {
                let all = [$((Subject::$subject, stringify!($key), self.$key.is_some())),*];
                all.into_iter().filter(|(.., given)| *given).map(|(subject, key, _)| (subject, key))
            }

            /// Returns these keys, and in place of absent ones those of `base` whose subject is `inherited`.
            fn or(&self, base: &TransportKeys, inherited: impl Fn(Subject) -> bool) -> TransportKeys {
                TransportKeys {
                    $($key: {
                        let base = base.$key.as_ref().filter(|_| inherited(Subject::$subject));
                        self.$key.as_ref().or(base).cloned()
                    },)*
                }
            }
        }

        /// The keys of a transport with their values and meanings.
        #[cfg(test)]
        pub(crate) const KEYS: &[crate::language::keys::Key] =
            &[$(crate::language::keys::key!($key: $type, $($doc)+)),*];
    };
}
transport_keys!(declare {});

/// Declares a table of a contest file that has the keys of a transport after its own. `$read` is the table as serde reads it.
macro_rules! with_transport_keys {
    (
        {
            $(#[$meta:meta])*
            pub struct $name:ident, read as $read:ident {
                $($(#[doc = $own_doc:literal])+ $(#[serde($($option:tt)*)])? pub $own:ident: $own_type:ty,)*
            }
        }
        $($(#[doc = $doc:literal])+ [$subject:ident] $key:ident: $type:ty,)*
    ) => {
        #[derive(Clone, Debug, Deserialize)]
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $own_doc])+ pub $own: $own_type,)*
            /// Keys of the transport, or of all transports.
            pub keys: TransportKeys,
        }

        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $read {
            $($(#[serde($($option)*)])? $own: $own_type,)*
            $($key: Option<$type>,)*
        }

        impl From<$read> for $name {
            fn from(read: $read) -> $name {
                $name { $($own: read.$own,)* keys: TransportKeys { $($key: read.$key,)* } }
            }
        }

        #[cfg(test)]
        impl $name {
            /// The keys of this table alone, with their values and meanings.
            pub(crate) const OWN: &[crate::language::keys::Key] =
                &[$(crate::language::keys::key!($own: $own_type, $($own_doc)+)),*];
        }
    };
}
pub(super) use {transport_keys, with_transport_keys};

/// Returns a traffic class, which has a default.
pub(super) fn class(given: Option<ClassSetting>, dscp: u8, priority: u8) -> TrafficClass {
    let ClassSetting { dscp, priority } = given.unwrap_or(ClassSetting { dscp, priority });
    TrafficClass { dscp, priority }
}

impl TransportKeys {
    /// Returns these keys, and those of `base` in place of absent ones.
    pub(super) fn with_defaults(&self, base: &TransportKeys) -> TransportKeys {
        if self.tcp.is_some() || self.udp.is_some() {
            // Of the hosts' keys only the traffic classes are not those of queue pairs, and nothing answers UDP.
            let control = base.control.filter(|_| self.tcp.is_some());
            return self.or(&TransportKeys { control, ..base.clone() }, |subject| subject == Subject::Class);
        }
        let sender = self.given().any(|(subject, _)| subject == Subject::Sender);
        let other = sender || self.recovery.is_some() || self.generation.is_some();
        self.or(base, |subject| match subject {
            Subject::Layer => !other,
            Subject::Sender | Subject::Marks => !sender,
            Subject::Recovery => self.recovery.is_none(),
            Subject::Pair | Subject::Class => true,
        })
    }

    /// Returns the transport.
    pub(super) fn config(&self, mtu: u32, telemetry: TelemetryFormat) -> Result<TransportConfig, String> {
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
        let mut given = self.given();
        match given.find(|(subject, _)| !matches!(subject, Subject::Layer | Subject::Class)) {
            Some((_, key)) => Err(format!(
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
        let congestion = self.sender(telemetry)?;
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
