//! [`FrameList`]: single frames and trains of equal frames from a TOML text, each at its picosecond.
//!
//! Every `[[frame]]` has `at` (picoseconds, or a time as `"6.72ns"`, since the start of the trace) and `kind`; with
//! `repeat` and `every` it is a train. The further keys depend on the kind:
//!
//! | kind | keys |
//! |---|---|
//! | `udp`, `tcp` | IP keys, `sport`, `dport`, `size` or `payload`; `seq`, `ack`, `flags` of TCP; `vni`, `tunnel_src`, `tunnel_dst`, `inner_dmac`, `inner_smac` inside VXLAN |
//! | `roce` | IP keys, `sport`, `opcode`, `qp`, `psn`, `ack_request`, `size` or `payload`; `address`, `key`, `length` of a RETH; `syndrome`, `msn` of an AETH |
//! | `cnp` | IP keys, `sport`, `qp` |
//! | `arp` | `op` (`request` or `reply`), `src`, `dst`, `target_mac` |
//! | `pfc` | `classes`, `quanta` |
//! | `pause` | `quanta` |
//! | `raw` | `hex`: the whole frame without FCS, and none of the keys below |
//!
//! IP keys are `src`, `dst`, `dscp`, `ecn`, `ttl` and `flow_label`. All kinds but `raw`, `pfc` and `pause` have `smac`, `dmac`,
//! `vlan`, `qinq` and `pcp`; `pfc` and `pause` have `smac`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{IpAddr, Ipv4Addr};

use toml::de::DeTable;

use super::keys::Keys;
use super::place::Source;
use super::{Envelope, FileError, FrameSource, MAX_LEN, later};
use crate::capture::{CaptureTime, MAX_FRAME_LEN};
use crate::wire::roce::{self, Bth, Extension, Headers};
use crate::wire::{
    FrameBuilder, MacAddr, Payload, WireError, arp, ethernet, ipv6, pause, tcp, udp, vlan, vxlan,
};

/// Frames with their times.
#[derive(Debug, Clone)]
pub struct FrameList {
    trains: Vec<Train>,
}

/// Equal frames at equal distances.
#[derive(Debug, Clone)]
struct Train {
    at: u64,
    every: u64,
    repeat: u64,
    frame: Vec<u8>,
}

impl FrameList {
    /// Reads the text of a file, whose name is for errors. `envelope` has the values for keys that a frame leaves out.
    ///
    /// # Errors
    /// Returns the line and column of the first text that does not fit the format.
    pub fn parse(file: &str, text: &str, envelope: Envelope) -> Result<Self, FileError> {
        let source = Source { file, text };
        let document = DeTable::parse(text)
            .map_err(|e| source.error(e.span().map_or(0, |span| span.start), e.message()))?;
        let mut trains = Vec::new();
        for (key, value) in document.get_ref() {
            let tables = value.get_ref().as_array().filter(|_| key.get_ref() == "frame");
            let Some(tables) = tables else {
                let what = format!("found `{}`, expected [[frame]] tables and nothing else", key.get_ref());
                return Err(source.error(key.span().start, what));
            };
            for table in tables.iter() {
                let Some(keys) = table.get_ref().as_table() else {
                    return Err(source.error(table.span().start, "frame: expected a table"));
                };
                trains.push(train(Keys::new(source, table.span(), keys), &envelope)?);
            }
        }
        if trains.is_empty() {
            return Err(source.error(0, "found no frame, expected [[frame]] tables"));
        }
        Ok(Self { trains })
    }

    /// Returns the frames in order of time; frames of one instant are in the order of the file.
    pub fn frames(self, start: CaptureTime) -> TrainFrames {
        let total = self.trains.iter().fold(0u64, |sum, train| sum.saturating_add(train.repeat));
        let some = self.trains.iter().enumerate().filter(|(_, train)| train.repeat > 0);
        let next = some.map(|(index, train)| Reverse((train.at.into(), index))).collect();
        let left = self.trains.iter().map(|train| train.repeat).collect();
        TrainFrames { trains: self.trains, next, left, total, start }
    }
}

/// The frames of a [`FrameList`].
#[derive(Debug, Clone)]
pub struct TrainFrames {
    trains: Vec<Train>,
    /// Trains that have frames left, by the start of the next frame.
    next: BinaryHeap<Reverse<(u128, usize)>>,
    left: Vec<u64>,
    total: u64,
    start: CaptureTime,
}

impl TrainFrames {
    /// Returns the number of frames of the whole list.
    pub const fn total(&self) -> u64 {
        self.total
    }
}

impl FrameSource for TrainFrames {
    fn next_frame(&mut self) -> Option<(CaptureTime, &[u8])> {
        let Reverse((ps, index)) = self.next.pop()?;
        let train = &self.trains[index];
        self.left[index] -= 1;
        if self.left[index] > 0 {
            self.next.push(Reverse((ps + u128::from(train.every), index)));
        }
        Some((later(self.start, ps), &train.frame))
    }
}

const KINDS: &str = "\"udp\", \"tcp\", \"roce\", \"cnp\", \"arp\", \"pfc\", \"pause\" or \"raw\"";

fn train(mut keys: Keys<'_>, defaults: &Envelope) -> Result<Train, FileError> {
    let at = keys
        .time("at")?
        .ok_or_else(|| keys.error("at: found nothing, expected the time at which the frame starts"))?;
    let repeat = keys.number("repeat", u64::MAX)?.unwrap_or(1);
    let every = keys.time("every")?;
    if repeat > 1 && every.is_none() {
        return Err(keys.error("every: found nothing, expected the time from one repeat to the next"));
    }
    let kind = keys.text("kind", KINDS, |text| Some(text.to_owned()))?.unwrap_or_default();
    let mut frame = Vec::new();
    match kind.as_str() {
        "udp" | "tcp" => segment(&mut keys, defaults, kind == "tcp", &mut frame)?,
        "roce" => roce_packet(&mut keys, defaults, &mut frame)?,
        "cnp" => {
            let headers = Headers::cnp(keys.long("qp", roce::MAX_U24)?.unwrap_or(0x100));
            let builder = ip(&mut keys, defaults, 48, 2)?.roce(roce_ports(&mut keys)?, headers);
            built(&keys, builder.build(Payload::Zeros(0), &mut frame))?;
        }
        "arp" => arp_packet(&mut keys, defaults, &mut frame)?,
        "pfc" | "pause" => pause_frame(&mut keys, defaults, kind == "pfc", &mut frame)?,
        "raw" => {
            let bytes = keys.text("hex", "hexadecimal digits, two for each byte", hex)?;
            frame = bytes.ok_or_else(|| keys.error("hex: found nothing, expected the bytes of the frame"))?;
            if frame.len() > MAX_FRAME_LEN as usize {
                return Err(
                    keys.error(format!("hex: found {} bytes, expected at most {MAX_FRAME_LEN}", frame.len()))
                );
            }
        }
        _ => return Err(keys.error(format!("kind: found `{kind}`, expected {KINDS}"))),
    }
    keys.finish(&format!("a frame of kind `{kind}`"))?;
    Ok(Train { at, every: every.unwrap_or(0), repeat, frame })
}

fn built(keys: &Keys<'_>, result: Result<(), WireError>) -> Result<(), FileError> {
    result.map_err(|e| keys.error(e))
}

/// Takes MAC addresses and tags.
fn envelope(keys: &mut Keys<'_>, defaults: &Envelope) -> Result<Envelope, FileError> {
    let mut envelope = *defaults;
    envelope.destination_mac = keys.mac("dmac")?.unwrap_or(envelope.destination_mac);
    envelope.source_mac = keys.mac("smac")?.unwrap_or(envelope.source_mac);
    let pcp = keys.byte("pcp", 7)?;
    for (name, tag) in [("vlan", &mut envelope.tag), ("qinq", &mut envelope.service_tag)] {
        if let Some(vid) = keys.word(name, vlan::MAX_VID)? {
            *tag = Some(vlan::Tag { vid, ..tag.unwrap_or_default() });
        }
        if let (Some(tag), Some(pcp)) = (tag, pcp) {
            tag.pcp = pcp;
        }
    }
    if pcp.is_some() && envelope.tag.is_none() && envelope.service_tag.is_none() {
        return Err(keys.error(
            "pcp: found a value, expected vlan or qinq as well, because pcp is a field of a VLAN tag",
        ));
    }
    Ok(envelope)
}

fn address(keys: &mut Keys<'_>, name: &str) -> Result<IpAddr, FileError> {
    let address =
        keys.text(name, "an address as \"10.0.0.1\" or \"2001:db8::1\"", |text| text.parse().ok())?;
    address.ok_or_else(|| keys.error(format!("{name}: found nothing, expected an address")))
}

/// Reads two addresses of one family.
fn addresses(keys: &mut Keys<'_>, names: [&str; 2]) -> Result<[IpAddr; 2], FileError> {
    let [source, destination] = [address(keys, names[0])?, address(keys, names[1])?];
    if source.is_ipv4() != destination.is_ipv4() {
        let what = format!("{}: found {destination}, expected the family of {source}", names[1]);
        return Err(keys.error(what));
    }
    Ok([source, destination])
}

/// Takes the link and IP headers. `dscp` and `ecn` are the defaults of the frame's kind.
fn ip(keys: &mut Keys<'_>, defaults: &Envelope, dscp: u8, ecn: u8) -> Result<FrameBuilder, FileError> {
    let mut envelope = envelope(keys, defaults)?;
    envelope.dscp = keys.byte("dscp", 63)?.unwrap_or(dscp);
    envelope.ecn = keys.byte("ecn", 3)?.unwrap_or(ecn);
    envelope.ttl = keys.byte("ttl", 255)?.unwrap_or(envelope.ttl);
    let flow_label = keys.long("flow_label", ipv6::MAX_FLOW_LABEL)?.unwrap_or(0);
    let [source, destination] = addresses(keys, ["src", "dst"])?;
    Ok(envelope.ip(source, destination, flow_label, 0))
}

/// Returns the bytes of `payload`, or none and the length that `size` asks for.
fn payload(keys: &mut Keys<'_>) -> Result<(Option<Vec<u8>>, usize), FileError> {
    let size = keys.long("size", MAX_LEN)?;
    let bytes = keys.text("payload", "hexadecimal digits, two for each byte", hex)?;
    if size.is_some() && bytes.is_some() {
        return Err(keys.error("found size and payload, expected one of them"));
    }
    Ok((bytes, size.unwrap_or(ethernet::MIN_FRAME_LEN) as usize))
}

/// Writes a frame with the payload or length that the keys ask for.
fn fill(keys: &mut Keys<'_>, builder: FrameBuilder, frame: &mut Vec<u8>) -> Result<(), FileError> {
    let result = match payload(keys)? {
        (Some(bytes), _) => builder.build(Payload::Bytes(&bytes), frame),
        (None, len) => builder.build_len(len, frame),
    };
    built(keys, result)
}

fn segment(
    keys: &mut Keys<'_>,
    defaults: &Envelope,
    is_tcp: bool,
    frame: &mut Vec<u8>,
) -> Result<(), FileError> {
    let outer = match keys.long("vni", vxlan::MAX_VNI)? {
        None => None,
        Some(vni) => Some(tunnel(keys, defaults, vni)?),
    };
    let inside = match &outer {
        None => ip(keys, defaults, defaults.dscp, defaults.ecn)?,
        Some(_) => {
            let macs = [keys.mac("inner_dmac")?, keys.mac("inner_smac")?];
            let [destination, source] = macs.map(|mac| mac.unwrap_or(MacAddr::from_u64(0x02_00_00_00_02_00)));
            ip(keys, &Envelope::new(destination, source), 0, 0)?
        }
    };
    let (from, to) = (keys.word("sport", u16::MAX)?.unwrap_or(49_152), keys.word("dport", u16::MAX)?);
    let to = to.unwrap_or(20_480);
    let inside = if is_tcp {
        let base = tcp::Header::new(from, to);
        inside.tcp(tcp::Header {
            sequence: keys.long("seq", u32::MAX)?.unwrap_or(0),
            acknowledgement: keys.long("ack", u32::MAX)?.unwrap_or(0),
            flags: keys.byte("flags", u8::MAX)?.unwrap_or(base.flags),
            ..base
        })
    } else {
        inside.udp(udp::Header::new(from, to))
    };
    let Some(outer) = outer else { return fill(keys, inside, frame) };
    let mut inner = Vec::new();
    let result = match payload(keys)? {
        (Some(bytes), _) => inside.build(Payload::Bytes(&bytes), &mut inner),
        (None, len) => inside.build_len(len.saturating_sub(outer.header_len()), &mut inner),
    };
    built(keys, result)?;
    built(keys, outer.build(Payload::Bytes(&inner), frame))
}

/// Reads the outer headers of a frame inside VXLAN. The inner headers have no tags.
fn tunnel(keys: &mut Keys<'_>, defaults: &Envelope, vni: u32) -> Result<FrameBuilder, FileError> {
    let envelope = envelope(keys, defaults)?;
    let [source, destination] = addresses(keys, ["tunnel_src", "tunnel_dst"])?;
    let ports = udp::Header::new(49_152, vxlan::PORT);
    Ok(envelope.ip(source, destination, 0, 0).vxlan(ports, vxlan::Header { vni }))
}

fn roce_ports(keys: &mut Keys<'_>) -> Result<udp::Header, FileError> {
    Ok(udp::Header::new(keys.word("sport", u16::MAX)?.unwrap_or(49_152), roce::PORT))
}

fn roce_packet(keys: &mut Keys<'_>, defaults: &Envelope, frame: &mut Vec<u8>) -> Result<(), FileError> {
    let opcode = keys.byte("opcode", u8::MAX)?.unwrap_or(roce::opcode::RC_SEND_ONLY);
    let qp = keys.long("qp", roce::MAX_U24)?.unwrap_or(0x100);
    let psn = keys.long("psn", roce::MAX_U24)?.unwrap_or(0);
    let bth = Bth { ack_request: keys.flag("ack_request")?, ..Bth::new(opcode, qp, psn) };
    let (address, key, length) =
        (keys.number("address", u64::MAX)?, keys.long("key", u32::MAX)?, keys.long("length", u32::MAX)?);
    let (syndrome, msn) = (keys.byte("syndrome", u8::MAX)?, keys.long("msn", roce::MAX_U24)?);
    let has_reth = address.is_some() || key.is_some() || length.is_some();
    let has_aeth = syndrome.is_some() || msn.is_some();
    let extension = match (has_reth, has_aeth) {
        (false, false) => Extension::None,
        (true, false) => Extension::Reth {
            address: address.unwrap_or(0),
            key: key.unwrap_or(0),
            length: length.unwrap_or(0),
        },
        (false, true) => Extension::Aeth { syndrome: syndrome.unwrap_or(0), msn: msn.unwrap_or(0) },
        (true, true) => return Err(keys.error("found keys of RETH and AETH, expected those of one")),
    };
    let builder = ip(keys, defaults, defaults.dscp, 2)?.roce(roce_ports(keys)?, Headers { bth, extension });
    fill(keys, builder, frame)
}

fn arp_packet(keys: &mut Keys<'_>, defaults: &Envelope, frame: &mut Vec<u8>) -> Result<(), FileError> {
    let operation = keys.text("op", "\"request\" or \"reply\"", |text| match text {
        "request" => Some(arp::REQUEST),
        "reply" => Some(arp::REPLY),
        _ => None,
    })?;
    let operation = operation.unwrap_or(arp::REQUEST);
    let is_request = operation == arp::REQUEST;
    let broadcast = Envelope { destination_mac: MacAddr::BROADCAST, ..*defaults };
    let envelope = envelope(keys, if is_request { &broadcast } else { defaults })?;
    let v4 = |keys: &mut Keys<'_>, name: &str| {
        let address: Option<Ipv4Addr> = keys.text(name, "an IPv4 address", |text| text.parse().ok())?;
        address.ok_or_else(|| keys.error(format!("{name}: found nothing, expected an IPv4 address")))
    };
    let (sender_ip, target_ip) = (v4(keys, "src")?, v4(keys, "dst")?);
    let unknown = if is_request { MacAddr::default() } else { envelope.destination_mac };
    let target_mac = keys.mac("target_mac")?.unwrap_or(unknown);
    let sender_mac = envelope.source_mac;
    let builder =
        envelope.link().arp(arp::Packet { operation, sender_mac, sender_ip, target_mac, target_ip });
    built(keys, builder.build_len(ethernet::MIN_FRAME_LEN as usize, frame))
}

fn pause_frame(
    keys: &mut Keys<'_>,
    defaults: &Envelope,
    is_pfc: bool,
    frame: &mut Vec<u8>,
) -> Result<(), FileError> {
    let quanta = keys.word("quanta", u16::MAX)?.unwrap_or(u16::MAX);
    let packet = if is_pfc {
        let classes = keys.numbers("classes", pause::CLASSES as u64 - 1)?;
        let classes =
            classes.ok_or_else(|| keys.error("classes: found nothing, expected a list as [3, 4]"))?;
        pause::Packet::pfc(classes.iter().fold(0, |vector, class| vector | 1 << class), quanta)
    } else {
        pause::Packet::Pause { quanta }
    };
    let source = keys.mac("smac")?.unwrap_or(defaults.source_mac);
    let builder = FrameBuilder::new(pause::DESTINATION, source).ethertype(ethernet::TYPE_MAC_CONTROL);
    built(keys, builder.build(Payload::Bytes(&packet.to_bytes()), frame))
}

/// Returns the bytes from hexadecimal digits; blanks are skipped.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
