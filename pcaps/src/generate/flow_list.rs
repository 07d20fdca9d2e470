//! [`FlowList`]: flows from a CSV text, one per line, merged by time.
//!
//! The first line names the columns, in any order; lines that begin with `#` and empty lines are skipped, cells are
//! not quoted, an empty cell means the default.
//!
//! | column | meaning | default |
//! |---|---|---|
//! | `src`, `dst` | addresses of one family | required |
//! | `proto` | `udp`, `tcp` or `roce` | `udp` |
//! | `sport`, `dport` | ports; RoCEv2's destination port is fixed | 49152, 20480 |
//! | `start` | start of the first frame, such as `12.5us` | `0ps` |
//! | `packets` or `bytes` | frames, or payload bytes, of which the last frame carries the rest | one of them is required |
//! | `size` | frame length; of RoCEv2, payload bytes of a packet | the caller's |
//! | `rate` | rate of the flow: `10G`, `1Mpps` or a spacing as `1us` | the caller's |
//! | `dscp`, `ecn`, `ttl`, `vlan` | header fields; congestion notification of RoCEv2 is 2 | the caller's |
//! | `flow_label` | of IPv6 | 0 |
//!
//! `from`, `to` and `port` are other names of `src`, `dst` and `sport`, so that a list of messages is a list of flows as well.
//!
//! A RoCEv2 flow is one RDMA WRITE.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

use super::compose::Composer;
use super::place::Source;
use super::run::{Amount, ECT_0, FlowRun, Pacing, Protocol};
use super::tuples::Tuple;
use super::{Envelope, FileError, FrameSource, MAX_LEN, MIN_LEN, Pace, later, parse_ps};
use crate::capture::CaptureTime;
use crate::wire::{roce, vlan};

const COLUMNS: [&str; 15] = [
    "src",
    "dst",
    "proto",
    "sport",
    "dport",
    "start",
    "packets",
    "bytes",
    "size",
    "rate",
    "dscp",
    "ecn",
    "ttl",
    "vlan",
    "flow_label",
];

/// Names of columns in lists of messages, with ours.
const OTHER_NAMES: [(&str, &str); 3] = [("from", "src"), ("to", "dst"), ("port", "sport")];

/// Values for a line that leaves a cell empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListDefaults {
    /// Header fields that all frames share.
    pub envelope: Envelope,
    /// Pace of a flow.
    pub pace: Pace,
    /// Frame length; of RoCEv2, payload bytes of a packet.
    pub size: u32,
}

/// Most frames of a list: more than a disk takes.
const MOST_FRAMES: u64 = 10_000_000_000;

/// Flows, each with its time, length and pace.
#[derive(Debug, Clone)]
pub struct FlowList {
    flows: Vec<FlowRun>,
}

impl FlowList {
    /// Reads the text of a file, whose name is for errors.
    ///
    /// # Errors
    /// Returns the line and column of the first text that does not fit the format.
    pub fn parse(file: &str, text: &str, defaults: ListDefaults) -> Result<Self, FileError> {
        let source = Source { file, text };
        let mut lines = lines(text);
        let Some((byte, header)) = lines.next() else {
            return Err(source.error(0, "found no line, expected one with the names of the columns"));
        };
        let mut columns = Vec::new();
        for (byte, name) in cells(byte, header) {
            let column =
                OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, column)| column);
            let Some(index) = COLUMNS.iter().position(|known| *known == column) else {
                let known = COLUMNS.join(", ");
                return Err(source.error(byte, format!("column: found `{name}`, expected one of {known}")));
            };
            if columns.contains(&index) {
                return Err(source.error(byte, format!("column: found `{column}` twice")));
            }
            columns.push(index);
        }
        for (name, index) in COLUMNS.iter().zip(0..2) {
            if !columns.contains(&index) {
                return Err(source.error(byte, format!("found no column `{name}`, expected one")));
            }
        }
        let mut composer = Composer::default();
        let (mut flows, mut total) = (Vec::new(), 0u64);
        for (byte, line) in lines {
            let cells: Vec<(usize, &str)> = cells(byte, line).collect();
            if cells.len() != columns.len() {
                let (found, expected) = (cells.len(), columns.len());
                let what = format!("found {found} cells, expected {expected} as in the first line");
                return Err(source.error(byte, what));
            }
            let mut row = Row { source, byte, cells: [None; COLUMNS.len()] };
            for (index, cell) in columns.iter().zip(cells) {
                row.cells[*index] = Some(cell).filter(|(_, text)| !text.is_empty());
            }
            let flow = row.flow(&defaults, flows.len() as u64, &mut composer)?;
            total = total.saturating_add(flow.left());
            if total > MOST_FRAMES {
                let what =
                    format!("the flows have {total} frames up to here; expected at most {MOST_FRAMES}");
                return Err(source.error(byte, what));
            }
            flows.push(flow);
        }
        Ok(Self { flows })
    }

    /// Returns the frames of all flows in order of time; frames of one instant are in the order of the file.
    pub fn frames(self, start: CaptureTime) -> ListFrames {
        let next = self.flows.iter().zip(0..).map(|(flow, index)| Reverse((flow.due(), index))).collect();
        let total = self.flows.iter().fold(0u64, |sum, flow| sum.saturating_add(flow.left()));
        ListFrames { flows: self.flows, next, total, start, composer: Composer::default(), frame: Vec::new() }
    }
}

/// Returns the lines that have contents, and the bytes at which they start.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .map(move |line| (line.as_ptr() as usize - text.as_ptr() as usize, line))
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Returns the cells of a line without surrounding blanks, and the bytes at which they start.
fn cells(start: usize, line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split(',').map(move |cell| {
        let trimmed = cell.trim();
        (start + (trimmed.as_ptr() as usize - line.as_ptr() as usize), trimmed)
    })
}

/// Cells of one line by column; `None` for an empty or absent cell.
struct Row<'a> {
    source: Source<'a>,
    byte: usize,
    cells: [Option<(usize, &'a str)>; COLUMNS.len()],
}

impl<'a> Row<'a> {
    fn cell(&self, name: &str) -> Option<(usize, &'a str)> {
        let index = COLUMNS.iter().position(|known| *known == name)?;
        self.cells[index]
    }

    /// Returns a number of a column from `least` to `most`.
    fn number(&self, name: &'static str, least: u64, most: u64) -> Result<Option<u64>, FileError> {
        let Some((byte, text)) = self.cell(name) else { return Ok(None) };
        match text.parse().ok().filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => {
                Err(self.source.error(byte, format!("{name}: found `{text}`, expected {least} to {most}")))
            }
        }
    }

    fn address(&self, name: &'static str) -> Result<(usize, IpAddr), FileError> {
        let Some((byte, text)) = self.cell(name) else {
            return Err(self.source.error(self.byte, format!("{name}: found nothing, expected an address")));
        };
        let address = text.parse().map_err(|_| {
            self.source.error(byte, format!("{name}: found `{text}`, expected an address as 10.0.0.1"))
        })?;
        Ok((byte, address))
    }

    fn tuple(&self) -> Result<Tuple, FileError> {
        let (_, source) = self.address("src")?;
        let (byte, destination) = self.address("dst")?;
        if source.is_ipv4() != destination.is_ipv4() {
            let what = format!("dst: found {destination}, expected an address of the family of src");
            return Err(self.source.error(byte, what));
        }
        let port = |name, default| {
            let number = self.number(name, 0, u16::MAX.into())?;
            Ok::<u16, FileError>(number.map_or(default, |number| number as u16))
        };
        let flow_label = self.number("flow_label", 0, 0xf_ffff)?.unwrap_or(0) as u32;
        Ok(Tuple {
            source,
            destination,
            source_port: port("sport", 49_152)?,
            destination_port: port("dport", 20_480)?,
            flow_label,
        })
    }

    fn envelope(&self, defaults: &Envelope) -> Result<Envelope, FileError> {
        let mut envelope = *defaults;
        let byte = |name, most, field: &mut u8| {
            if let Some(number) = self.number(name, 0, most)? {
                *field = number as u8;
            }
            Ok::<(), FileError>(())
        };
        byte("dscp", 63, &mut envelope.dscp)?;
        byte("ecn", 3, &mut envelope.ecn)?;
        byte("ttl", 255, &mut envelope.ttl)?;
        if let Some(vid) = self.number("vlan", 0, vlan::MAX_VID.into())? {
            envelope.tag = Some(vlan::Tag { vid: vid as u16, ..envelope.tag.unwrap_or_default() });
        }
        Ok(envelope)
    }

    /// Returns the number of frames, or of payload bytes.
    fn amount(&self) -> Result<(Option<u64>, Option<u64>), FileError> {
        // More would take a million years at any rate.
        let (packets, bytes) = (self.number("packets", 1, 1 << 60)?, self.number("bytes", 1, 1 << 60)?);
        match (packets, bytes) {
            (None, None) => {
                Err(self.source.error(self.byte, "found neither packets nor bytes, expected one"))
            }
            (Some(_), Some(_)) => {
                let byte = self.cell("bytes").map_or(self.byte, |(byte, _)| byte);
                Err(self
                    .source
                    .error(byte, "found packets and bytes, expected one; leave the other cell empty"))
            }
            one => Ok(one),
        }
    }

    fn flow(
        &self,
        defaults: &ListDefaults,
        number: u64,
        composer: &mut Composer,
    ) -> Result<FlowRun, FileError> {
        let mut tuple = self.tuple()?;
        let (mut pace, mut start) = (defaults.pace, 0);
        if let Some((byte, rate)) = self.cell("rate") {
            pace = rate.parse().map_err(|e| self.source.error(byte, e))?;
        }
        if let Some((byte, time)) = self.cell("start") {
            // Lists of messages have bare numbers of ns, too.
            let bare = time.parse::<u64>().ok().and_then(|ns| ns.checked_mul(1_000));
            start =
                bare.map_or_else(|| parse_ps("start", time), Ok).map_err(|e| self.source.error(byte, e))?;
        }
        let mut envelope = self.envelope(&defaults.envelope)?;
        let (packets, bytes) = self.amount()?;
        let (byte, proto) = self.cell("proto").unwrap_or((self.byte, "udp"));
        let Ok(protocol) = proto.parse() else {
            return Err(self
                .source
                .error(byte, format!("proto: found `{proto}`, expected udp, tcp or roce")));
        };
        let (least, most) = match protocol {
            Protocol::Roce => (0, u32::MAX),
            Protocol::Udp | Protocol::Tcp => (MIN_LEN, MAX_LEN),
        };
        let size = self.number("size", least.into(), most.into())?.map_or(defaults.size, |size| size as u32);
        if protocol == Protocol::Roce {
            tuple.destination_port = roce::PORT;
            if self.cell("ecn").is_none() && envelope.ecn == 0 {
                envelope.ecn = ECT_0;
            }
        }
        let amount = match (packets, bytes) {
            (Some(packets), _) => Amount::Packets(packets),
            (None, bytes) => Amount::Bytes(bytes.unwrap_or(0)),
        };
        let byte = self.cell("size").map_or(self.byte, |(byte, _)| byte);
        FlowRun::new(
            number,
            tuple,
            protocol,
            envelope,
            Pacing { pace, start: start.into() },
            size,
            amount,
            composer,
        )
        .map_err(|e| self.source.error(byte, e))
    }
}

/// The frames of a [`FlowList`].
#[derive(Debug, Clone)]
pub struct ListFrames {
    flows: Vec<FlowRun>,
    /// Flows that have frames left, by the start of the next frame.
    next: BinaryHeap<Reverse<(u128, u32)>>,
    total: u64,
    start: CaptureTime,
    composer: Composer,
    frame: Vec<u8>,
}

impl ListFrames {
    /// Returns the number of frames of the whole list.
    pub const fn total(&self) -> u64 {
        self.total
    }
}

impl FrameSource for ListFrames {
    fn next_frame(&mut self) -> Option<(CaptureTime, &[u8])> {
        let Reverse((ps, index)) = self.next.pop()?;
        let flow = &mut self.flows[index as usize];
        flow.write(&mut self.composer, &mut self.frame)?;
        if flow.left() > 0 {
            self.next.push(Reverse((flow.due(), index)));
        }
        Some((later(self.start, ps), &self.frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{MacAddr, ethernet, ipv4, udp};

    const MACS: [MacAddr; 2] = [MacAddr::from_u64(1), MacAddr::from_u64(2)];

    fn defaults() -> ListDefaults {
        let pace = Pace::Spacing { ps: 100 };
        ListDefaults { envelope: Envelope::new(MACS[0], MACS[1]), pace, size: 1024 }
    }

    fn all(text: &str) -> Vec<(u128, Vec<u8>)> {
        let mut frames = FlowList::parse("f.csv", text, defaults()).unwrap().frames(CaptureTime::EPOCH);
        let total = frames.total();
        let all: Vec<_> =
            std::iter::from_fn(|| frames.next_frame().map(|(time, frame)| (time.as_ps(), frame.to_vec())))
                .collect();
        assert_eq!(all.len() as u64, total);
        all
    }

    #[test]
    fn flows_are_merged_by_time() {
        let text = "# two flows\nsrc, dst, sport, packets, start, rate\n\
                    10.0.0.1, 10.1.0.1, 1, 3, 0ps,\n\n10.0.0.2, 10.1.0.1, 2, 2, 100ps, 50ps\n";
        let seen: Vec<(u128, u16, usize)> = all(text)
            .iter()
            .map(|(ps, frame)| {
                let ip = ipv4::View::new(ethernet::View::new(frame).unwrap().payload()).unwrap();
                (*ps, udp::View::new(ip.payload()).unwrap().source_port(), frame.len())
            })
            .collect();
        assert_eq!(seen, [(0, 1, 1024), (100, 1, 1024), (100, 2, 1024), (150, 2, 1024), (200, 1, 1024)]);
    }

    #[test]
    fn a_start_without_a_unit_is_in_ns() {
        let row = |start: &str| all(&format!("src,dst,bytes,start\n10.0.0.1,10.1.0.1,2500,{start}\n"));
        assert_eq!(row("0"), row("0ps"));
        assert_eq!(row("7"), row("7000ps"));
        let text = "src,dst,bytes,start\n10.0.0.1,10.1.0.1,2500,99999999999999999999\n";
        assert!(FlowList::parse("f.csv", text, defaults()).is_err());
    }

    #[test]
    fn a_list_of_messages_has_other_names_for_three_columns() {
        let rest = "10.0.0.1,10.1.0.1,7,2500\n";
        assert_eq!(all(&format!("from,to,port,bytes\n{rest}")), all(&format!("src,dst,sport,bytes\n{rest}")));
    }

    #[test]
    fn bytes_are_cut_into_frames() {
        let payload: Vec<usize> = all("src,dst,proto,bytes,size\n10.0.0.1,10.1.0.1,tcp,2500,1054\n")
            .iter()
            .map(|(_, frame)| frame.len() - 54)
            .collect();
        assert_eq!(payload, [1000, 1000, 500]);
        let roce = all("src,dst,proto,bytes\n10.0.0.1,10.1.0.1,roce,2500\n");
        let opcodes: Vec<u8> = roce.iter().map(|(_, frame)| frame[42]).collect();
        assert_eq!(opcodes, [6, 7, 8]);
        assert_eq!(roce[2].1.len(), 58 + 452);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let refusal = |text: &str| FlowList::parse("f.csv", text, defaults()).unwrap_err().to_string();
        assert!(refusal("").starts_with("f.csv:1:1: found no line"));
        assert!(
            refusal("src,dst,color").starts_with("f.csv:1:9: column: found `color`, expected one of src")
        );
        assert!(refusal("src,packets").starts_with("f.csv:1:1: found no column `dst`"));
        assert!(refusal("src,dst,from").starts_with("f.csv:1:9: column: found `src` twice"));
        assert!(refusal("src,dst,src").starts_with("f.csv:1:9: column: found `src` twice"));
        let of = |line: &str| refusal(&format!("src,dst,proto,packets,bytes,dport,rate,size\n{line}\n"));
        let place = |found: &str, expected: &str| {
            assert!(found.starts_with(expected), "found    {found}\nexpected {expected}");
        };
        place(&of("10.0.0.1,10.0.0.2,udp,1"), "f.csv:2:1: found 4 cells, expected 8");
        place(&of("10.0.0.1,host,udp,1,,,,"), "f.csv:2:10: dst: found `host`, expected an address");
        place(&of("10.0.0.1,::1,udp,1,,,,"), "f.csv:2:10: dst: found ::1, expected an address of the family");
        place(
            &of("10.0.0.1,10.0.0.2,icmp,1,,,,"),
            "f.csv:2:19: proto: found `icmp`, expected udp, tcp or roce",
        );
        place(&of("10.0.0.1,10.0.0.2,udp,,,,,"), "f.csv:2:1: found neither packets nor bytes");
        place(&of("10.0.0.1,10.0.0.2,udp,1,1,,,"), "f.csv:2:25: found packets and bytes");
        place(
            &of("10.0.0.1,10.0.0.2,udp,1,,99999,,"),
            "f.csv:2:26: dport: found `99999`, expected 0 to 65535",
        );
        place(&of("10.0.0.1,10.0.0.2,udp,1,,, fast,"), "f.csv:2:28: rate: found `fast`, expected a bit rate");
        place(&of("10.0.0.1,10.0.0.2,udp,1,,,,59"), "f.csv:2:28: size: found `59`, expected 60 to 65535");
        place(&of("10.0.0.1,10.0.0.2,roce,1,,,,1000"), "f.csv:2:29: mtu: found `1000`, expected 256, 512");
        place(
            &of("10.0.0.1,10.0.0.2,roce,,3000000000,,,"),
            "f.csv:2:1: message: found 3000000000, expected 0 to 2147483648",
        );
    }
}
