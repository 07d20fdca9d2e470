//! Trace of the published measurement of advanced flow control: pause, eleven packets, resume.

use super::l3_ecmp::SampleError;
use crate::capture::CaptureTime;
use crate::capture::write::PcapWriter;
use crate::wire::{FrameBuilder, MacAddr, Payload, icmp, ipv4};

const PROBES: u16 = 0x88b5;
/// dev_port of front-panel port 20 of a Tofino 2 at 400G, and its queue 3 in a flow-control word.
const PORT: u16 = 296;
const QUEUE: u8 = 3;
const WORD: u32 = 1 << 31 | 2 << 29 | 5 << 25 | 3 << 15;
const ORIGIN_S: u64 = 1_700_000_000;

/// Makes the bytes of [`AFC_LEAK`](super::AFC_LEAK).
pub fn afc_leak() -> Result<Vec<u8>, SampleError> {
    let mut writer = PcapWriter::new(Vec::new())?;
    let at =
        |ns: u64| CaptureTime::from_ps(CaptureTime::from_secs(ORIGIN_S).as_ps() + u128::from(ns) * 1_000);
    let link =
        FrameBuilder::new(MacAddr::from_u64(0x02_00_00_00_00_01), MacAddr::from_u64(0x02_00_00_00_01_00));
    let probe = |gress: u8, credit: u32, len: usize| -> Result<Vec<u8>, SampleError> {
        let mut body = vec![gress, QUEUE];
        body.extend(PORT.to_be_bytes());
        body.extend((WORD | credit).to_be_bytes());
        body.resize(len - 14, 0);
        let mut frame = Vec::new();
        link.ethertype(PROBES).build(Payload::Bytes(&body), &mut frame)?;
        Ok(frame)
    };
    let mut write = |ns: u64, frame: &[u8]| writer.write(at(ns), frame, &[], frame.len() as u32);
    write(0, &probe(1, 1, 60)?)?;
    // Two cells; its length is not published.
    write(2_000, &probe(2, 1, 200)?)?;
    for n in 0..10u16 {
        let ip = ipv4::Header {
            dscp: 3,
            identification: n,
            ..ipv4::Header::new([10, 8, 0, 1].into(), [10, 9, 9, 9].into())
        };
        let mut frame = Vec::new();
        link.ipv4(ip)
            .icmp(icmp::Header {
                kind: icmp::ECHO_REQUEST,
                rest: [0, 1, 0, n as u8],
                ..icmp::Header::default()
            })
            .build_len(98, &mut frame)?;
        write(3_000 + 100 * u64::from(n), &frame)?;
    }
    write(10_000, &probe(1, 0, 60)?)?;
    Ok(writer.finish()?)
}
