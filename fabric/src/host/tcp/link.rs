//! One end of a connection towards the wire: numbers, options and traffic class of its segments.

use super::config::TcpConfig;
use super::segment::{ECT0, Options, Path, Segment};
use super::sequence::Numbering;
use crate::host::rdma::TrafficClass;
use sluice_asic::units::{Duration, Time};
use sluice_pcaps::wire::tcp;

/// Options of a SYN that both ends need to use them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) mss: u32,
    pub(super) sack: bool,
    pub(super) timestamps: bool,
    /// Window scale; `None`: no end scales.
    pub(super) scale: Option<u8>,
}

impl Offer {
    pub(super) fn of(config: &TcpConfig) -> Offer {
        Offer {
            mss: config.mss(),
            sack: config.sack,
            timestamps: config.timestamps.is_some(),
            scale: Some(config.window_scale()),
        }
    }

    /// Returns what both this end and the sender of a SYN with these options can do; `scale` is that of the sender.
    /// Without an MSS option it is 536 bytes (RFC 9293 §3.7.1).
    pub(super) fn agree(self, options: Options) -> Offer {
        Offer {
            mss: self.mss.min(options.mss.map_or(536, u32::from)),
            sack: self.sack && options.sack_permitted,
            timestamps: self.timestamps && options.timestamps.is_some(),
            scale: options.window_scale,
        }
    }
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) path: Path,
    pub(super) own: Numbering,
    pub(super) peer: Numbering,
    /// Options that this end offers; after the SYN of the other end, those that both ends have.
    pub(super) offer: Offer,
    /// TSval of the last segment in order of the other end (TS.Recent).
    pub(super) recent: u32,
    /// True if all packets of this end are ECN-capable, as those of DCTCP are (RFC 8257 §3.6).
    pub(super) always_capable: bool,
}

impl Link {
    pub(super) fn new(config: &TcpConfig, path: Path, own: Numbering, peer: Numbering) -> Link {
        let always_capable = config.is_dctcp();
        Link { path, own, peer, offer: Offer::of(config), recent: 0, always_capable }
    }

    /// Returns the segment at a position, which acknowledges everything before `acknowledges`.
    pub(super) fn segment(
        &self,
        config: &TcpConfig,
        class: TrafficClass,
        now: Time,
        position: u64,
        acknowledges: u64,
    ) -> Segment {
        let scale = if self.offer.scale.is_some() { config.window_scale() } else { 0 };
        let options = Options { timestamps: self.timestamps(config, now), ..Options::default() };
        Segment {
            path: self.path,
            dscp: class.dscp,
            ecn: if self.always_capable { ECT0 } else { 0 },
            sequence: self.own.wire(position),
            acknowledgement: self.peer.wire(acknowledges),
            flags: tcp::ACK,
            window: u16::try_from(config.receive_buffer >> scale).unwrap_or(u16::MAX),
            options,
            payload: 0,
        }
    }

    /// Returns the options of this end's SYN.
    pub(super) fn syn_options(&self, config: &TcpConfig, now: Time) -> Options {
        let Offer { sack, scale, .. } = self.offer;
        Options {
            mss: Some(config.mss().min(u16::MAX.into()) as u16),
            window_scale: scale.map(|_| config.window_scale()),
            sack_permitted: sack,
            timestamps: self.timestamps(config, now),
            ..Options::default()
        }
    }

    fn timestamps(&self, config: &TcpConfig, now: Time) -> Option<(u32, u32)> {
        let tick = config.timestamps.filter(|_| self.offer.timestamps)?;
        Some((clock(now, tick), self.recent))
    }

    /// Returns the round-trip time that an echoed timestamp says, at least one tick; `None` without timestamps.
    pub(super) fn echoed(&self, config: &TcpConfig, now: Time, segment: &Segment) -> Option<Duration> {
        let tick = config.timestamps.filter(|_| self.offer.timestamps)?;
        let ticks = clock(now, tick).wrapping_sub(segment.options.timestamps?.1);
        // An echo of the future is damaged.
        (ticks < 1 << 31).then(|| tick * u64::from(ticks.max(1)))
    }

    /// Returns the window that a segment of the other end advertises, bytes. A SYN's window is not scaled.
    pub(super) fn window(&self, segment: &Segment) -> u64 {
        let scaled = segment.flags & tcp::SYN == 0;
        u64::from(segment.window) << self.offer.scale.filter(|_| scaled).unwrap_or(0)
    }
}

/// Returns the timestamp clock: whole ticks since the start of the run, plus one, because 0 means that there is no echo.
fn clock(now: Time, tick: Duration) -> u32 {
    (now.as_ps() / tick.as_ps().max(1)) as u32 + 1
}
