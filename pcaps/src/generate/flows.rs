//! [`FlowMix`]: independent UDP and TCP flows to a list of prefixes.

use std::ops::RangeInclusive;

use super::{Draw, Envelope, FrameSource, Pace, Prefix, Schedule};
use crate::capture::CaptureTime;
use crate::wire::{FrameBuilder, MacAddr, ipv6, tcp, udp, vlan};

/// Least frame length, in bytes without FCS.
const MIN_LEN: u32 = 60;
/// Largest frame length, so that every IP length fits its field.
const MAX_LEN: u32 = 65_535;

/// Most flows; their sequence numbers take 64 MiB.
const MAX_FLOWS: u32 = 1 << 24;

/// The stream of [`Draw`] that packets draw from; flow number n draws from stream n.
const PACKET_STREAM: u64 = u64::MAX;

/// Traffic of many UDP and TCP flows. Each flow draws a five-tuple (and a flow label over IPv6), so two flows may have
/// the same; flows of [`Traffic`](super::Traffic) never do. The first packets of all flows come in order of the flows,
/// then every packet belongs to a flow that is drawn at random.
///
/// Flow `n` goes to the prefix `n` modulo the number of destinations of its family, so all prefixes are reached if
/// there are at least as many flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowMix {
    /// Frames to make.
    pub packets: u64,
    /// Flows, 1 to 16,777,216.
    pub flows: u32,
    /// Frame lengths in bytes without FCS, 60 to 65,535, drawn evenly; raised to the headers' length if less.
    pub size: RangeInclusive<u32>,
    /// Pace of the frames.
    pub pace: Pace,
    /// Start of the first frame.
    pub start: CaptureTime,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Destination MAC address: the router's.
    pub destination_mac: MacAddr,
    /// Source MAC address.
    pub source_mac: MacAddr,
    /// Source addresses of IPv4 flows.
    pub source_v4: Prefix,
    /// Source addresses of IPv6 flows.
    pub source_v6: Prefix,
    /// Destination prefixes, of either family.
    pub destinations: Vec<Prefix>,
    /// Flows over IPv6, in percent.
    pub ipv6_percent: u8,
    /// Flows of TCP, in percent; the others are of UDP.
    pub tcp_percent: u8,
    /// Flows with a VLAN tag, in percent.
    pub vlan_percent: u8,
    /// VLAN of the tagged flows, 0 to 4095.
    pub vlan_id: u16,
}

/// Reason for which a mix cannot be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MixError {
    /// A number is out of its range.
    #[error("{field}: found {found}, expected {least} to {most}")]
    Range {
        /// Field of [`FlowMix`].
        field: &'static str,
        /// Value found.
        found: u64,
        /// Least value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// The largest frame length is below the least.
    #[error("size: found {first} to {last}, expected the first value to be at most the last")]
    EmptySize {
        /// Least length.
        first: u32,
        /// Largest length.
        last: u32,
    },
    /// A source prefix is of the wrong family.
    #[error("{field}: found {found}, expected a prefix of the other family")]
    Family {
        /// Field of [`FlowMix`].
        field: &'static str,
        /// Prefix found.
        found: Prefix,
    },
    /// There are flows of a family that no destination has.
    #[error(
        "destinations: found no {family} prefix, expected one for the share of such flows; add one or change ipv6_percent"
    )]
    NoDestination {
        /// `IPv4` or `IPv6`.
        family: &'static str,
    },
}

impl FlowMix {
    /// Checks the mix and makes its generator.
    pub fn frames(self) -> Result<FlowFrames, MixError> {
        self.check_numbers()?;
        for (field, found, expect_v4) in
            [("source_v4", self.source_v4, true), ("source_v6", self.source_v6, false)]
        {
            if found.network().is_ipv4() != expect_v4 {
                return Err(MixError::Family { field, found });
            }
        }
        let (v4, v6): (Vec<_>, Vec<_>) =
            self.destinations.iter().partition(|prefix| prefix.network().is_ipv4());
        if v4.is_empty() && self.ipv6_percent < 100 {
            return Err(MixError::NoDestination { family: "IPv4" });
        }
        if v6.is_empty() && self.ipv6_percent > 0 {
            return Err(MixError::NoDestination { family: "IPv6" });
        }
        let (schedule, draw) = (Schedule::new(self.start, self.pace), Draw::new(self.seed, PACKET_STREAM));
        let sequences = vec![0; self.flows as usize];
        Ok(FlowFrames { mix: self, v4, v6, schedule, draw, sequences, made: 0, frame: Vec::new() })
    }

    fn check_numbers(&self) -> Result<(), MixError> {
        let (first, last) = (*self.size.start(), *self.size.end());
        let mut fields = vec![
            ("flows", u64::from(self.flows), 1, MAX_FLOWS.into()),
            ("size", first.into(), MIN_LEN.into(), MAX_LEN.into()),
            ("size", last.into(), MIN_LEN.into(), MAX_LEN.into()),
            ("ipv6_percent", self.ipv6_percent.into(), 0, 100),
            ("tcp_percent", self.tcp_percent.into(), 0, 100),
            ("vlan_percent", self.vlan_percent.into(), 0, 100),
            ("vlan_id", self.vlan_id.into(), 0, vlan::MAX_VID.into()),
        ];
        match self.pace {
            Pace::Spacing { .. } => {}
            Pace::Packets { per_second } => fields.push(("pace.per_second", per_second, 1, u64::MAX)),
            Pace::BackToBack { bits_per_second } => {
                fields.push(("pace.bits_per_second", bits_per_second, 1, u64::MAX));
            }
        }
        for (field, found, least, most) in fields {
            if !(least..=most).contains(&found) {
                return Err(MixError::Range { field, found, least, most });
            }
        }
        if first > last { Err(MixError::EmptySize { first, last }) } else { Ok(()) }
    }
}

/// Frames of a [`FlowMix`], each in the same buffer.
#[derive(Debug, Clone)]
pub struct FlowFrames {
    mix: FlowMix,
    v4: Vec<Prefix>,
    v6: Vec<Prefix>,
    schedule: Schedule,
    draw: Draw,
    /// The next TCP sequence number of every flow.
    sequences: Vec<u32>,
    made: u64,
    frame: Vec<u8>,
}

impl FlowFrames {
    /// Returns the next frame and when it starts; `None` after the last.
    pub fn next_frame(&mut self) -> Option<(CaptureTime, &[u8])> {
        if self.made == self.mix.packets {
            return None;
        }
        let flows = u64::from(self.mix.flows);
        let flow = if self.made < flows { self.made } else { self.draw.below(flows) };
        let len = self.draw.between(*self.mix.size.start(), *self.mix.size.end());
        // This cannot fail: the lengths were checked, and every flow is over IP.
        let builder = self.builder(flow);
        builder.build_len(len as usize, &mut self.frame).ok()?;
        self.made += 1;
        let sequence = &mut self.sequences[flow as usize];
        *sequence = sequence.wrapping_add((self.frame.len() - builder.header_len()) as u32);
        Some((self.schedule.next(self.frame.len() as u32), &self.frame))
    }

    /// Returns the headers of the flow's next packet. The flow's values are drawn again each time from the flow's own
    /// stream, so a million flows take only four megabytes.
    fn builder(&self, flow: u64) -> FrameBuilder {
        let mix = &self.mix;
        let mut draw = Draw::new(mix.seed, flow);
        let is_v6 = draw.percent(mix.ipv6_percent);
        let is_tcp = draw.percent(mix.tcp_percent);
        let is_tagged = draw.percent(mix.vlan_percent);
        let (source, prefixes) = if is_v6 { (mix.source_v6, &self.v6) } else { (mix.source_v4, &self.v4) };
        let destination = prefixes[(flow % prefixes.len() as u64) as usize];
        let tag = is_tagged.then(|| vlan::Tag { vid: mix.vlan_id, ..vlan::Tag::default() });
        let envelope = Envelope { tag, ..Envelope::new(mix.destination_mac, mix.source_mac) };
        let (source, destination) =
            (source.address(draw.bits().into()), destination.address(draw.bits().into()));
        let flow_label = if is_v6 { draw.bits() as u32 & ipv6::MAX_FLOW_LABEL } else { 0 };
        let builder = envelope.ip(source, destination, flow_label, self.made as u16);
        // From the dynamic ports to ports that protocol analysers do not take for those of a service.
        let (from, to) = (draw.between(49_152, 65_535) as u16, draw.between(20_480, 20_543) as u16);
        if is_tcp {
            let sequence = self.sequences[flow as usize];
            builder.tcp(tcp::Header { sequence, ..tcp::Header::new(from, to) })
        } else {
            builder.udp(udp::Header::new(from, to))
        }
    }
}

impl FrameSource for FlowFrames {
    fn next_frame(&mut self) -> Option<(CaptureTime, &[u8])> {
        Self::next_frame(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ethernet, ipv4};

    fn mix() -> FlowMix {
        FlowMix {
            packets: 400,
            flows: 100,
            size: 60..=1500,
            pace: Pace::Spacing { ps: 1_000_000 },
            start: CaptureTime::EPOCH,
            seed: 1,
            destination_mac: MacAddr::from_u64(1),
            source_mac: MacAddr::from_u64(2),
            source_v4: "10.0.0.0/16".parse().unwrap(),
            source_v6: "2001:db8::/48".parse().unwrap(),
            destinations: (0..50).map(|net| Prefix::new([10, net, 0, 0].into(), 16).unwrap()).collect(),
            ipv6_percent: 0,
            tcp_percent: 30,
            vlan_percent: 0,
            vlan_id: 0,
        }
    }

    fn all(mix: FlowMix) -> Vec<(CaptureTime, Vec<u8>)> {
        let mut frames = mix.frames().unwrap();
        std::iter::from_fn(|| frames.next_frame().map(|(time, frame)| (time, frame.to_vec()))).collect()
    }

    #[test]
    fn the_seed_decides_everything() {
        assert_eq!(all(mix()), all(mix()));
        assert_ne!(all(mix()), all(FlowMix { seed: 2, ..mix() }));
    }

    #[test]
    fn every_flow_and_every_prefix_is_reached() {
        let frames = all(mix());
        assert_eq!(frames.len(), 400);
        let (mut tuples, mut prefixes) = (Vec::new(), Vec::new());
        for (_, frame) in &frames {
            let ip = ipv4::View::new(ethernet::View::new(frame).unwrap().payload()).unwrap();
            assert!(ip.checksum_ok());
            prefixes.push(ip.destination().octets()[1]);
            let ports = udp::View::new(ip.payload()).unwrap();
            tuples.push((ip.header().source, ip.destination(), ip.protocol(), ports.source_port()));
        }
        prefixes.sort_unstable();
        prefixes.dedup();
        assert_eq!(prefixes, (0..50).collect::<Vec<u8>>());
        tuples.sort_unstable();
        tuples.dedup();
        assert_eq!(tuples.len(), 100);
        let tcp = tuples.iter().filter(|tuple| tuple.2 == ipv4::PROTOCOL_TCP).count();
        assert!((15..45).contains(&tcp), "{tcp}");
    }

    #[test]
    fn shares_of_the_whole() {
        let destinations = vec!["2001:db8:1::/48".parse().unwrap()];
        let frames =
            all(FlowMix { ipv6_percent: 100, vlan_percent: 100, vlan_id: 100, destinations, ..mix() });
        for (_, frame) in &frames {
            let link = ethernet::View::new(frame).unwrap();
            let tag = vlan::View::new(link.payload()).unwrap();
            assert_eq!((link.ethertype(), tag.vid(), tag.ethertype()), (0x8100, 100, 0x86dd));
            assert!(ipv6::View::new(tag.payload()).is_ok());
            assert!(frame.len() >= 66 && frame.len() <= 1500);
        }
    }

    #[test]
    fn impossible_mixes_are_refused() {
        let refusal = |mix: FlowMix| mix.frames().unwrap_err().to_string();
        assert_eq!(refusal(FlowMix { flows: 0, ..mix() }), "flows: found 0, expected 1 to 16777216");
        assert!(refusal(FlowMix { size: 10..=70, ..mix() }).starts_with("size: found 10"));
        assert!(matches!(
            FlowMix { size: RangeInclusive::new(70, 60), ..mix() }.frames(),
            Err(MixError::EmptySize { first: 70, last: 60 })
        ));
        assert!(refusal(FlowMix { ipv6_percent: 1, ..mix() }).contains("no IPv6 prefix"));
        assert!(refusal(FlowMix { destinations: Vec::new(), ..mix() }).contains("no IPv4 prefix"));
        let source_v4 = "::/0".parse().unwrap();
        assert!(refusal(FlowMix { source_v4, ..mix() }).starts_with("source_v4"));
        let pace = Pace::BackToBack { bits_per_second: 0 };
        assert!(refusal(FlowMix { pace, ..mix() }).starts_with("pace.bits_per_second"));
    }
}
