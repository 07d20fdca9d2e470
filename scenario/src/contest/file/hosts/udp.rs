//! Keys of UDP transports.

use crate::language::table;
use crate::nic_settings::above_zero;
use serde::Deserialize;
use sluice_asic::units::{BitRate, Duration};
use sluice_fabric::host::rdma::TrafficClass;
use sluice_fabric::host::udp::{OnOff, UdpConfig};

table! {
    /// Settings of a UDP transport (model: tcp §8).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct UdpSetting {
        /// Rate of a message while it sends: bits on the line, preamble and gap included.
        pub rate: BitRate,
        /// Payload bytes of a datagram, 8 to 9172; 1472 by default.
        pub payload: Option<u32>,
        /// Time of sending, after which the time `off` of silence follows, in turns; without both, a message sends all the time.
        pub on: Option<Duration>,
        /// Time of silence.
        pub off: Option<Duration>,
        /// True if datagrams are ECN-capable; false by default.
        pub ecn: Option<bool>,
    }
}

impl UdpSetting {
    /// Returns the transport with this traffic class.
    ///
    /// # Errors
    /// If a setting is out of range; the error names its key.
    pub(super) fn config(&self, data: TrafficClass) -> Result<UdpConfig, String> {
        let payload = self.payload.unwrap_or(1_472);
        if !(8..=9_172).contains(&payload) {
            return Err(format!("udp.payload is {payload}; expected 8 to 9172 bytes"));
        }
        above_zero(&[("udp.rate", self.rate.as_bps()), ("udp.on", self.on.map_or(1, Duration::as_ps))])?;
        let on_off = match (self.on, self.off) {
            (Some(on), Some(off)) => Some(OnOff { on, off }),
            (None, None) => None,
            _ => return Err("udp.on and udp.off belong together; write both, or leave both out".into()),
        };
        Ok(UdpConfig { payload, rate: self.rate, on_off, data, ecn: self.ecn.unwrap_or(false) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_needed_and_turns_have_two_times() {
        let data = TrafficClass { dscp: 8, priority: 1 };
        let config = |text| {
            let setting: Result<UdpSetting, _> = toml::from_str(text);
            setting.map_err(|e| e.message().to_owned()).and_then(|setting| setting.config(data))
        };
        let rate = BitRate::from_gbps(3);
        let usual = UdpConfig { payload: 1_472, rate, on_off: None, data, ecn: false };
        assert_eq!(config("rate = \"3Gbps\""), Ok(usual));
        let us = Duration::from_micros;
        let turns = UdpConfig { on_off: Some(OnOff { on: us(3), off: us(9) }), ecn: true, ..usual };
        assert_eq!(config("rate = \"3Gbps\"\non = \"3us\"\noff = \"9us\"\necn = true"), Ok(turns));
        for (text, why) in [
            ("", "missing field `rate`"),
            ("rate = \"0bps\"", "`udp.rate` of the host is 0"),
            ("rate = \"1Gbps\"\non = \"1us\"", "udp.on and udp.off belong together"),
            ("rate = \"1Gbps\"\npayload = 7", "udp.payload is 7; expected 8 to 9172 bytes"),
        ] {
            let found = config(text).expect_err(text);
            assert!(found.contains(why), "{text}: {found}");
        }
    }
}
