//! DCQCN by the names of mlx5 firmware (model: buffer §4.4): files of `roce_rp` and `roce_np` in sysfs, or of `cc_params`
//! in debugfs, in lower case.

use crate::nic_settings::ReactionSetting;
use serde::Deserialize;
use sluice_asic::names::did_you_mean;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::host::dcqcn::{Clamp, Coalescing, Mellanox, ReactionConfig, ReactionPoint};
use sluice_fabric::host::rdma::TrafficClass;
use std::collections::BTreeMap;

/// Parameters by name, with integer values or, for switches, true and false. Unknown names and values out of range are
/// refused.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "BTreeMap<String, toml::Value>")]
pub struct VendorSetting {
    values: BTreeMap<&'static str, u64>,
}

/// Names, least and largest values. Times are us, rates Mb/s.
const NAMES: [(&str, u64, u64); 19] = [
    ("clamp_tgt_rate", 0, 1),
    ("clamp_tgt_rate_after_time_inc", 0, 1),
    ("dce_tcp_g", 0, 1_023),
    ("dce_tcp_rtt", 1, 131_071),
    ("initial_alpha_value", 1, 1_023),
    ("np_cnp_802p_prio", 0, 7),
    ("np_cnp_dscp", 0, 63),
    ("np_min_time_between_cnps", 0, 4_095),
    ("rate_reduce_monitor_period", 1, u32::MAX as u64),
    ("rate_to_set_on_first_cnp", 0, MOST_RATE),
    ("rpg_ai_rate", 1, MOST_RATE),
    ("rpg_byte_reset", 0, u32::MAX as u64),
    ("rpg_gd", 10, 11),
    ("rpg_hai_rate", 1, MOST_RATE),
    ("rpg_max_rate", 0, MOST_RATE),
    ("rpg_min_dec_fac", 0, 100),
    ("rpg_min_rate", 1, MOST_RATE),
    ("rpg_threshold", 1, 31),
    ("rpg_time_reset", 1, 131_071),
];
/// Highest rate, Mb/s.
const MOST_RATE: u64 = 800_000;
/// Prefix of the notification point's names, which files of `roce_np` lack.
const NP: &str = "np_";

impl TryFrom<BTreeMap<String, toml::Value>> for VendorSetting {
    type Error = String;

    fn try_from(given: BTreeMap<String, toml::Value>) -> Result<VendorSetting, String> {
        let mut values = BTreeMap::new();
        for (name, value) in given {
            let full = format!("{NP}{name}");
            let found = NAMES.iter().find(|(known, ..)| *known == full || *known == name);
            let Some(&(known, least, most)) = found else { return Err(unknown(&name)) };
            let number = match value {
                toml::Value::Integer(number) => u64::try_from(number).ok(),
                toml::Value::Boolean(on) if most == 1 => Some(on.into()),
                _ => None,
            };
            let Some(number) = number.filter(|number| (least..=most).contains(number)) else {
                return Err(format!("`{name}` is {value}; expected {least} to {most}"));
            };
            if values.insert(known, number).is_some() {
                return Err(format!("`{known}` is given twice"));
            }
        }
        Ok(VendorSetting { values })
    }
}

fn unknown(name: &str) -> String {
    let all = || NAMES.iter().map(|(name, ..)| *name);
    let near = did_you_mean(name, all());
    format!("there is no parameter `{name}`{near} (parameters: {})", all().collect::<Vec<_>>().join(", "))
}

impl VendorSetting {
    fn get(&self, name: &str) -> Option<u64> {
        self.values.get(name).copied()
    }

    /// Returns the reaction point of firmware with these parameters.
    pub(super) fn point(&self) -> Result<ReactionPoint, String> {
        let mbps = |number: u64| BitRate::from_bps(number * 1_000_000);
        let rate = |name| self.get(name).map(mbps);
        let time = |name| self.get(name).map(Duration::from_micros);
        const FIXED_POINT: f64 = 1024.0;
        let fixed = |name| self.get(name).map(|number| number as f64 / FIXED_POINT);
        // 0 means the line's rate.
        let line = rate("rpg_max_rate").filter(|rate| rate.as_bps() > 0).unwrap_or(ReactionSetting::ANY_LINE);
        let base = ReactionConfig::firmware(line);
        let clamp = match (self.get("clamp_tgt_rate"), self.get("clamp_tgt_rate_after_time_inc")) {
            (Some(1), _) => Clamp::Always,
            (_, Some(0)) => Clamp::AfterBytes,
            _ => Clamp::AfterRaise,
        };
        let config = ReactionConfig {
            min: rate("rpg_min_rate").unwrap_or(base.min),
            g: fixed("dce_tcp_g").map_or(base.g, |kept| 1.0 - kept),
            alpha: fixed("initial_alpha_value").unwrap_or(base.alpha),
            alpha_timer: time("dce_tcp_rtt").unwrap_or(base.alpha_timer),
            rate_timer: time("rpg_time_reset").unwrap_or(base.rate_timer),
            byte_counter: self.get("rpg_byte_reset").map_or(base.byte_counter, Bytes),
            stages: self.get("rpg_threshold").map_or(base.stages, |number| number as u32),
            additive: rate("rpg_ai_rate").unwrap_or(base.additive),
            hyper: rate("rpg_hai_rate").unwrap_or(base.hyper),
            clamp,
            monitor: time("rate_reduce_monitor_period").unwrap_or(base.monitor),
            // The parameter is the logarithm of a fixed-point divisor: 11 is 2, so alpha 1 halves the rate.
            cut_share: self.get("rpg_gd").map_or(base.cut_share, |gd| FIXED_POINT / (1u64 << gd) as f64),
            kept_share: self.get("rpg_min_dec_fac").map_or(base.kept_share, |percent| percent as f64 / 100.0),
            first_rate: rate("rate_to_set_on_first_cnp").filter(|rate| rate.as_bps() > 0),
            ..base
        };
        if config.min > config.line {
            return Err(format!("vendor: rpg_min_rate {} is above rpg_max_rate {}", config.min, config.line));
        }
        Ok(ReactionPoint::Mellanox(Mellanox::firmware(config)))
    }

    /// Returns true if the parameters limit the receiver's CNPs.
    pub(super) fn limits_notifications(&self) -> bool {
        self.gap().is_some()
    }

    fn gap(&self) -> Option<u64> {
        self.get("np_min_time_between_cnps")
    }

    /// Returns the receiver's limit on CNPs, by default none.
    pub(super) fn coalescing(&self) -> Coalescing {
        match self.gap() {
            None | Some(0) => Coalescing::PerPacket,
            Some(us) => Coalescing::Interval(Duration::from_micros(us)),
        }
    }

    /// Returns the traffic class of CNPs; absent parameters have the values of other control packets.
    pub(super) fn cnp_class(&self, control: TrafficClass) -> TrafficClass {
        let byte = |name, other: u8| self.get(name).map_or(other, |number| number as u8);
        let (dscp, priority) =
            (byte("np_cnp_dscp", control.dscp), byte("np_cnp_802p_prio", control.priority));
        TrafficClass { dscp, priority }
    }
}
