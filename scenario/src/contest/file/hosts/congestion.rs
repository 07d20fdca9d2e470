//! Settings of the senders that a transport can have.

use super::{Generation, TransportKeys};
use crate::language::table;
use crate::nic_settings::{Preset, ReactionSetting, above_zero};
use serde::Deserialize;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::host::congestion::{CongestionConfig, WindowConfig};
use sluice_fabric::host::dcqcn::{Mellanox, Published, ReactionConfig, ReactionPoint};
use sluice_fabric::host::hpcc::{Cadence, HpccConfig, TelemetryFormat};
use sluice_fabric::host::rate_dctcp::RateDctcpConfig;
use sluice_fabric::host::timely::{Completions, TimelyConfig};
use sluice_pcaps::int::HpccLayout;

/// Congestion control of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CongestionName {
    /// None: pairs send at the link rate.
    None,
    /// DCQCN, with the keys of `reaction` or `vendor`.
    Dcqcn,
    /// HPCC, with the keys of `hpcc`.
    Hpcc,
    /// TIMELY, with the keys of `timely`.
    Timely,
    /// DCTCP in the NIC, with the keys of `dctcp`.
    Dctcp,
}

impl TransportKeys {
    /// Returns the sender that is named, or whose table is given; a generation alone means DCQCN.
    pub(super) fn sender(&self, telemetry: TelemetryFormat) -> Result<CongestionConfig, String> {
        use CongestionName::{Dcqcn, Dctcp, Hpcc, None, Timely};
        let tables = [
            ("reaction", Dcqcn, self.reaction.is_some()),
            ("vendor", Dcqcn, self.vendor.is_some()),
            ("hpcc", Hpcc, self.hpcc.is_some()),
            ("timely", Timely, self.timely.is_some()),
            ("dctcp", Dctcp, self.dctcp.is_some()),
        ];
        let given: Vec<_> = tables.iter().filter(|(_, _, given)| *given).collect();
        let name = self.congestion.or_else(|| given.first().map(|(_, name, _)| *name));
        let name = name.unwrap_or(if self.generation.is_some() { Dcqcn } else { None });
        if let Some((table, ..)) = given.iter().find(|(_, of, _)| *of != name) {
            return Err(format!(
                "`{table}` has no effect beside the other congestion control; leave one out"
            ));
        }
        if given.len() > 1 {
            return Err("`reaction` and `vendor` both describe DCQCN; leave one out".into());
        }
        Ok(match name {
            None => CongestionConfig::None,
            Dcqcn => CongestionConfig::Dcqcn(Box::new(self.dcqcn()?)),
            Hpcc => {
                let missing = || "congestion = \"hpcc\" needs the network's base round trip: `hpcc = { base_rtt = \"13us\" }`";
                let setting = self.hpcc.as_ref().ok_or_else(missing)?;
                CongestionConfig::Hpcc { sender: setting.config()?, telemetry }
            }
            Timely => CongestionConfig::Timely(self.timely.clone().unwrap_or_default().config()?),
            Dctcp => CongestionConfig::Dctcp(self.dctcp.clone().unwrap_or_default().config()?),
        })
    }

    /// Returns the reaction point: of firmware if the vendor's names are given, else as in `reaction`, with a generation's
    /// defaults.
    fn dcqcn(&self) -> Result<ReactionPoint, String> {
        if let Some(vendor) = &self.vendor {
            return vendor.point();
        }
        let cut_window = self.generation.map(Generation::cut_window);
        match &self.reaction {
            Some(reaction) => reaction.point_with(cut_window),
            None => {
                // A generation of NICs has the published form, with its own time between cuts.
                if let Some(cut_window) = cut_window {
                    let base = ReactionConfig::new(ReactionSetting::ANY_LINE);
                    return Ok(ReactionPoint::Published(Published::new(ReactionConfig {
                        cut_window,
                        ..base
                    })));
                }
                let (_, config) = Preset::default().config(ReactionSetting::ANY_LINE);
                Ok(ReactionPoint::Mellanox(Mellanox::new(config)))
            }
        }
    }
}

table! {
    /// Settings of HPCC (model: int §1.6); absent ones have the values of the authors' simulations.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct HpccSetting {
        /// Base round trip of the network, above 0: slightly more than its longest round trip without queues.
        pub base_rtt: Duration,
        /// Target utilisation, above 0 and at most 4; 0.95 by default.
        pub eta: Option<f64>,
        /// Additive step of the window; 80 bytes by default.
        pub w_ai: Option<Bytes>,
        /// Additive step of the rate, in place of `w_ai`.
        pub rate_ai: Option<BitRate>,
        /// Additive steps before a multiplicative one; 0 by default.
        pub max_stage: Option<u32>,
        /// Lower limit of the rate; 100 Mb/s by default.
        pub min: Option<BitRate>,
        /// Acknowledgements at which the window changes; `combined` by default.
        #[serde(default)]
        pub cadence: CadenceName,
        /// True if every hop has its own reference window; false by default.
        #[serde(default)]
        pub multi_rate: bool,
    }
}

/// Acknowledgements at which an HPCC window changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CadenceName {
    /// All, relative to a reference that changes once in a round trip.
    #[default]
    Combined,
    /// All, and each changes the reference.
    EveryAck,
    /// One in a round trip.
    EveryRoundTrip,
}

impl HpccSetting {
    fn config(&self) -> Result<HpccConfig, String> {
        let base = HpccConfig::new(self.base_rtt);
        above_zero(&[
            ("hpcc.base_rtt", self.base_rtt.as_ps()),
            ("hpcc.min", self.min.map_or(1, BitRate::as_bps)),
        ])?;
        let eta = self.eta.unwrap_or(base.eta);
        if !(eta > 0.0 && eta <= 4.0) {
            return Err(format!("hpcc.eta is {eta}; expected a number above 0 and at most 4"));
        }
        let base = match (self.w_ai, self.rate_ai) {
            (Some(_), Some(_)) => return Err("hpcc has `w_ai` and `rate_ai`; leave one out".into()),
            (Some(bytes), None) => HpccConfig { additive: bytes.0 as f64, ..base },
            (None, Some(rate)) => base.additive_rate(rate),
            (None, None) => base,
        };
        Ok(HpccConfig {
            eta,
            max_stage: self.max_stage.unwrap_or(base.max_stage),
            min: self.min.unwrap_or(base.min),
            cadence: match self.cadence {
                CadenceName::Combined => Cadence::Combined,
                CadenceName::EveryAck => Cadence::EveryAck,
                CadenceName::EveryRoundTrip => Cadence::EveryRoundTrip,
            },
            multi_rate: self.multi_rate,
            ..base
        })
    }
}

table! {
    /// Position and layout of the records that switches add to packets of HPCC.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct TelemetrySetting {
        /// UDP destination port of packets with records: `udp_port` of the program that adds them; 4791 by default.
        pub port: Option<u16>,
        /// Layout of the records: `layout` of the program; `paper` by default.
        #[serde(default)]
        pub layout: LayoutName,
        /// Bytes per unit of queue length; the buffer cell of the switches by default.
        pub cell: Option<Bytes>,
        /// Factor of the units, `multi` of the program, 1 to 8; 1 by default.
        pub multi: Option<u32>,
    }
}

/// Layout of HPCC's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutName {
    /// The paper's: switches append records.
    #[default]
    Paper,
    /// The simulator's: packets have five slots from the start.
    Ns3,
}

impl LayoutName {
    pub(super) const fn layout(self) -> HpccLayout {
        match self {
            LayoutName::Paper => HpccLayout::Paper,
            LayoutName::Ns3 => HpccLayout::Ns3,
        }
    }
}

impl TelemetrySetting {
    pub(super) fn format(&self, cell: Bytes) -> Result<TelemetryFormat, String> {
        let (port, cell) = (self.port.unwrap_or(4791), self.cell.unwrap_or(cell));
        if port == 0 || cell.0 == 0 {
            return Err("hosts.telemetry: `port` or `cell` is 0; expected a value above 0".into());
        }
        let multi = self.multi.unwrap_or(1);
        if !(1..=8).contains(&multi) {
            return Err(format!("hosts.telemetry: `multi` is {multi}; expected 1 to 8"));
        }
        Ok(TelemetryFormat { port, layout: self.layout.layout(), cell, multi })
    }
}

table! {
    /// Settings of TIMELY (model: int §7.2); absent ones have the values of HPCC's simulator.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct TimelySetting {
        /// Lower limit of the rate; 100 Mb/s by default.
        pub min: Option<BitRate>,
        /// Additive step; a thousandth of the line by default.
        pub additive: Option<BitRate>,
        /// Step after `hyper_after` increases in a row; a two-hundredth of the line by default.
        pub hyper: Option<BitRate>,
        /// Increases in a row by the additive step; 5 by default.
        pub hyper_after: Option<u32>,
        /// Round trip below which the rate rises; 50us by default.
        pub low: Option<Duration>,
        /// Round trip above which the rate falls, above `low`; 500us by default.
        pub high: Option<Duration>,
        /// Unit of the gradient, above 0; 20us by default.
        pub min_rtt: Option<Duration>,
        /// Weight of a new difference, 0 to 1; 0.875 by default.
        pub weight: Option<f64>,
        /// Decrease, 0 to 1; 0.8 by default.
        pub beta: Option<f64>,
        /// Bytes of a segment, at whose completion the rate changes; once in a round trip by default.
        pub segment: Option<Bytes>,
    }
}

impl TimelySetting {
    fn config(&self) -> Result<TimelyConfig, String> {
        let base = TimelyConfig::default();
        let config = TimelyConfig {
            min: self.min.unwrap_or(base.min),
            additive: self.additive.or(base.additive),
            hyper: self.hyper.or(base.hyper),
            hyper_after: self.hyper_after.unwrap_or(base.hyper_after),
            low: self.low.unwrap_or(base.low),
            high: self.high.unwrap_or(base.high),
            min_rtt: self.min_rtt.unwrap_or(base.min_rtt),
            weight: self.weight.unwrap_or(base.weight),
            beta: self.beta.unwrap_or(base.beta),
            completions: self.segment.map_or(base.completions, Completions::Segment),
        };
        above_zero(&[
            ("timely.min", config.min.as_bps()),
            ("timely.min_rtt", config.min_rtt.as_ps()),
            ("timely.segment", self.segment.map_or(1, |bytes| bytes.0)),
        ])?;
        for (key, share) in [("weight", config.weight), ("beta", config.beta)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("timely.{key} is {share}; expected 0 to 1"));
            }
        }
        if config.low >= config.high {
            return Err(format!(
                "timely.low is {}, timely.high {}; expected low below high",
                config.low, config.high
            ));
        }
        Ok(config)
    }
}

table! {
    /// Settings of DCTCP in the NIC (model: int §7.1); absent ones have the values of HPCC's evaluation.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct RateDctcpSetting {
        /// Lower limit of the rate; 100 Mb/s by default.
        pub min: Option<BitRate>,
        /// Step in a round trip without a cut; 615 Mb/s by default.
        pub additive: Option<BitRate>,
        /// 1 / g, where g is the weight of a round trip in alpha; at least 1; 16 by default.
        pub one_by_g: Option<f64>,
    }
}

impl RateDctcpSetting {
    fn config(&self) -> Result<RateDctcpConfig, String> {
        let base = RateDctcpConfig::default();
        let one_by_g = self.one_by_g.unwrap_or(1.0 / base.g);
        if !(one_by_g >= 1.0 && one_by_g.is_finite()) {
            return Err(format!("dctcp.one_by_g is {one_by_g}; expected at least 1"));
        }
        above_zero(&[("dctcp.min", self.min.map_or(1, BitRate::as_bps))])?;
        let (min, additive) = (self.min.unwrap_or(base.min), self.additive.unwrap_or(base.additive));
        Ok(RateDctcpConfig { min, additive, g: 1.0 / one_by_g })
    }
}

table! {
    /// A window in addition to a rate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct WindowSetting {
        /// Most unacknowledged payload bytes, above 0.
        pub bytes: Bytes,
        /// True if the window shrinks in proportion to the rate; false by default.
        #[serde(default)]
        pub scales: bool,
    }
}

impl WindowSetting {
    pub(super) fn config(self) -> Result<WindowConfig, String> {
        above_zero(&[("window.bytes", self.bytes.0)])?;
        Ok(WindowConfig { bytes: self.bytes, scales: self.scales })
    }
}
