//! Mirror sessions: parameters, per-packet overrides, and the length of the copy.
//!
//! Sources: model: tm §8. Overrides and padding follow the vendor's behavioural model in open-p4studio ("model"),
//! session numbers follow its driver ("driver").

use crate::chip::ChipSpec;
use crate::meter::Colour;
use crate::port::DevPort;
use crate::units::Bytes;
use thiserror::Error;

/// Kind of a session, which follows from its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MirrorKind {
    /// One copy per packet.
    Normal,
    /// Reports of packets that the traffic manager dropped.
    Negative,
    /// Small copies that are gathered into one packet.
    Coalescing,
}

/// Parameters of a session. The control plane can set all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MirrorSession {
    /// True if copies of ingress packets are made.
    pub ingress: bool,
    /// True if copies of egress packets are made.
    pub egress: bool,
    /// Port that the copy is sent to.
    pub port: Option<DevPort>,
    /// Queue of that port.
    pub qid: u8,
    /// Ingress class of service, which the buffer uses.
    pub cos: u8,
    /// Colour of the copy.
    pub colour: Colour,
    /// Multicast groups that the copy is sent to.
    pub groups: [Option<u16>; 2],
    /// Hashes that choose multicast members, 13 bits each.
    pub hashes: [u16; 2],
    /// Level-1 exclusion id.
    pub level1_exclusion: u16,
    /// Level-2 exclusion id, 9 bits.
    pub level2_exclusion: u16,
    /// Replication id.
    pub rid: u16,
    /// Class of service of the copy to the CPU; `None`: there is no such copy.
    pub cpu_cos: Option<u8>,
    /// True if a copy that would be dropped is deflected. Tofino 2 only.
    pub deflect_on_drop: bool,
    /// Longest copy in bytes, including its mirror header.
    pub max_length: u16,
    /// Parameters that the packet's own metadata replaces. Tofino 2 only.
    pub overrides: MirrorOverrides,
}

/// Parameters that come from the packet's metadata instead of the session. Tofino 2 only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct MirrorOverrides {
    /// Hash that the packet's `mirror_hash` replaces.
    pub hash: Option<HashIndex>,
    /// True if the class of service is replaced.
    pub cos: bool,
    /// True if the deflect-on-drop flag is replaced.
    pub deflect_on_drop: bool,
    /// True if the packet decides whether the session's multicast groups are used.
    pub multicast: bool,
    /// True if port and queue are replaced.
    pub port: bool,
}

/// Index of a multicast hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HashIndex {
    /// Level 1.
    First,
    /// Level 2.
    Second,
}

/// Mirror metadata of a packet (model: chip §10).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct MirrorMetadata {
    /// `mirror_hash`, 13 bits.
    pub hash: u16,
    /// `mirror_ingress_cos`.
    pub cos: u8,
    /// `mirror_deflect_on_drop`.
    pub deflect_on_drop: bool,
    /// `mirror_multicast_ctrl`.
    pub multicast: bool,
    /// `mirror_egress_port`, if the program wrote it.
    pub port: Option<DevPort>,
    /// `mirror_qid`.
    pub qid: u8,
}

/// Problem of a session's parameters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MirrorError {
    /// The session number does not exist.
    #[error("mirror session {found} does not exist; this chip has {limit} sessions, numbered from 0")]
    Session {
        /// Number of the session.
        found: u32,
        /// Number of sessions of the chip.
        limit: u32,
    },
    /// A value has more bits than its field.
    #[error("mirror session {session}: {field} {found} is too large; it is at most {limit}")]
    Field {
        /// Number of the session.
        session: u32,
        /// Name of the parameter.
        field: &'static str,
        /// Value of the parameter.
        found: u32,
        /// Largest value.
        limit: u32,
    },
    /// The chip lacks the feature.
    #[error("mirror session {session}: {what} is a feature of Tofino 2; leave it off")]
    Missing {
        /// Number of the session.
        session: u32,
        /// Name of the feature.
        what: &'static str,
    },
    /// The copy has no destination.
    #[error(
        "mirror session {session} has no destination; give it a port, a multicast group or a copy to the CPU"
    )]
    Nowhere {
        /// Number of the session.
        session: u32,
    },
}

impl MirrorKind {
    /// Returns the kind of session `id`. The last sessions gather copies, the one before them reports drops (driver;
    /// known for Tofino, assumed for Tofino 2).
    ///
    /// # Errors
    /// Fails if the session does not exist.
    pub fn of(chip: &ChipSpec, id: u32) -> Result<Self, MirrorError> {
        let limit = chip.tm.mirror_sessions;
        let first_coalescing = limit.saturating_sub(chip.tm.coalescing_sessions);
        match id {
            _ if id >= limit => Err(MirrorError::Session { found: id, limit }),
            _ if id >= first_coalescing => Ok(Self::Coalescing),
            _ if id + 1 == first_coalescing => Ok(Self::Negative),
            _ => Ok(Self::Normal),
        }
    }
}

impl MirrorSession {
    /// Returns a session that sends complete copies of ingress and egress packets to one port.
    pub const fn to_port(port: DevPort) -> Self {
        Self {
            ingress: true,
            egress: true,
            port: Some(port),
            qid: 0,
            cos: 0,
            colour: Colour::Green,
            groups: [None; 2],
            hashes: [0; 2],
            level1_exclusion: 0,
            level2_exclusion: 0,
            rid: 0,
            cpu_cos: None,
            deflect_on_drop: false,
            max_length: u16::MAX,
            overrides: MirrorOverrides {
                hash: None,
                cos: false,
                deflect_on_drop: false,
                multicast: false,
                port: false,
            },
        }
    }

    /// Checks the parameters of session `id` against a chip.
    ///
    /// # Errors
    /// Returns every problem.
    pub fn validate(&self, chip: &ChipSpec, id: u32) -> Result<(), Vec<MirrorError>> {
        let mut errors: Vec<MirrorError> = MirrorKind::of(chip, id).err().into_iter().collect();
        let queue = (1_u32.checked_shl(chip.tm.queue_id_bits).unwrap_or(0)).saturating_sub(1);
        let hash = (1 << chip.hash.multicast_bits.min(16)) - 1;
        let fields = [
            ("queue", self.qid.into(), queue),
            ("class of service", self.cos.into(), 7),
            ("hash 1", self.hashes[0].into(), hash),
            ("hash 2", self.hashes[1].into(), hash),
            ("level-2 exclusion id", self.level2_exclusion.into(), 511),
            ("class of service of the CPU copy", self.cpu_cos.unwrap_or(0).into(), 7),
        ];
        for (field, found, limit) in fields {
            if found > limit {
                errors.push(MirrorError::Field { session: id, field, found, limit });
            }
        }
        if self.deflect_on_drop && !chip.features.mirror_deflect_on_drop {
            errors.push(MirrorError::Missing { session: id, what: "deflect on drop" });
        }
        if self.overrides != MirrorOverrides::default() && !chip.features.mirror_overrides {
            errors.push(MirrorError::Missing { session: id, what: "override by the packet" });
        }
        let somewhere = self.port.is_some()
            || self.overrides.port
            || self.groups.iter().any(Option::is_some)
            || self.cpu_cos.is_some();
        if !somewhere {
            errors.push(MirrorError::Nowhere { session: id });
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Returns the session as it applies to one packet: overridden parameters are taken from the packet's metadata.
    #[inline]
    pub const fn resolve(&self, packet: &MirrorMetadata) -> Self {
        let mut copy = *self;
        match self.overrides.hash {
            Some(HashIndex::First) => copy.hashes[0] = packet.hash,
            Some(HashIndex::Second) => copy.hashes[1] = packet.hash,
            None => {}
        }
        if self.overrides.cos {
            copy.cos = packet.cos;
        }
        if self.overrides.deflect_on_drop {
            copy.deflect_on_drop = packet.deflect_on_drop;
        }
        if self.overrides.multicast && !packet.multicast {
            copy.groups = [None; 2];
        }
        if self.overrides.port {
            copy.port = packet.port;
            copy.qid = packet.qid;
        }
        copy
    }

    /// Returns the length of the copy of a packet of `packet` bytes with a mirror header of `header`.
    #[inline]
    pub fn copy_length(&self, header: Bytes, packet: Bytes) -> Bytes {
        (header + packet).min(Bytes(self.max_length.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> MirrorSession {
        MirrorSession::to_port(DevPort::new(137).unwrap())
    }

    #[test]
    fn session_numbers() {
        // model: tm §8: 0-1014 normal, 1015 negative, 1016-1023 coalescing.
        let chip = ChipSpec::tofino();
        let kinds = [1014, 1015, 1016, 1023].map(|id| MirrorKind::of(&chip, id).unwrap());
        let expected =
            [MirrorKind::Normal, MirrorKind::Negative, MirrorKind::Coalescing, MirrorKind::Coalescing];
        assert_eq!(kinds, expected);
        assert_eq!(MirrorKind::of(&chip, 1024), Err(MirrorError::Session { found: 1024, limit: 1024 }));
        assert_eq!(MirrorKind::of(&ChipSpec::tofino2(), 240), Ok(MirrorKind::Coalescing));
        assert!(MirrorKind::of(&ChipSpec::tofino2(), 256).is_err());
    }

    #[test]
    fn refusals() {
        let overrides = MirrorOverrides { port: true, ..MirrorOverrides::default() };
        let wrong =
            MirrorSession { qid: 40, cos: 8, hashes: [0, 1 << 13], overrides, port: None, ..session() };
        let texts: Vec<String> =
            wrong.validate(&ChipSpec::tofino(), 7).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "mirror session 7: queue 40 is too large; it is at most 31",
                "mirror session 7: class of service 8 is too large; it is at most 7",
                "mirror session 7: hash 2 8192 is too large; it is at most 8191",
                "mirror session 7: override by the packet is a feature of Tofino 2; leave it off",
            ]
        );
        assert_eq!(session().validate(&ChipSpec::tofino(), 7), Ok(()));
        let nowhere = MirrorSession { port: None, ..session() };
        assert_eq!(nowhere.validate(&ChipSpec::tofino2(), 7), Err(vec![MirrorError::Nowhere { session: 7 }]));
        let group = MirrorSession { groups: [None, Some(5)], ..nowhere };
        assert_eq!(group.validate(&ChipSpec::tofino2(), 7), Ok(()));
    }

    #[test]
    fn packets_override_what_they_may() {
        let port = DevPort::new(5);
        let packet =
            MirrorMetadata { hash: 9, cos: 3, deflect_on_drop: true, multicast: false, port, qid: 4 };
        assert_eq!(session().resolve(&packet), session());
        let overrides = MirrorOverrides {
            hash: Some(HashIndex::Second),
            cos: true,
            deflect_on_drop: true,
            multicast: true,
            port: true,
        };
        let base = MirrorSession { groups: [Some(1), None], overrides, ..session() };
        let copy = base.resolve(&packet);
        assert_eq!((copy.port, copy.qid, copy.cos, copy.hashes), (port, 4, 3, [0, 9]));
        assert_eq!((copy.groups, copy.deflect_on_drop), ([None, None], true));
        assert_eq!(base.resolve(&MirrorMetadata { multicast: true, ..packet }).groups, base.groups);
    }

    #[test]
    fn truncation_counts_the_mirror_header() {
        let short = MirrorSession { max_length: 128, ..session() };
        assert_eq!(short.copy_length(Bytes(10), Bytes(1500)), Bytes(128));
        assert_eq!(short.copy_length(Bytes(10), Bytes(64)), Bytes(74));
    }
}
