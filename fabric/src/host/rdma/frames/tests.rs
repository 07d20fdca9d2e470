//! Frames are read as they were built, and switches find what they need in them.

use super::super::answers::Answers;
use super::super::arrived::{AnswerPacket, Arrived, DataPacket, pair, read, unwrap};
use super::*;
use crate::host::recovery::Answer;
use sluice_asic::units::Bytes;
use sluice_pcaps::int::{HpccHop, Marks, Telemetry, decode};

fn address(telemetry: Option<TelemetryFormat>) -> Address {
    let [from, to] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 2)];
    Address { from, to, port: 49_152, pair: 0x01_0203, dscp: 3, capable: true, telemetry }
}

const PAPER: TelemetryFormat =
    TelemetryFormat { port: 4791, layout: HpccLayout::Paper, cell: Bytes(80), multi: 1 };
const NS3: TelemetryFormat =
    TelemetryFormat { port: 4792, layout: HpccLayout::Ns3, cell: Bytes(80), multi: 1 };

#[test]
fn data_is_read_as_it_was_made() {
    // 54 bytes of headers and 4 of invariant CRC; telemetry takes 2 or 48 more.
    for (telemetry, room) in [(None, 0), (Some(PAPER), 2), (Some(NS3), 48)] {
        let address = address(telemetry);
        let mut data = Data::new(&address, 2_500, 1_000);
        assert_eq!(data.packets(), 3);
        let lens: Vec<u32> = (0..3).map(|psn| data.len(psn)).collect();
        let opcodes: Vec<u8> = (0..3).map(|psn| data.head(psn)[BTH + room as usize]).collect();
        assert_eq!((lens, opcodes), (vec![1_058 + room, 1_058 + room, 558 + room], vec![0, 1, 2]));
        let head = data.head(2).to_vec();
        assert_eq!(head.len(), 54 + room as usize);
        let Address { from, to, port, .. } = address;
        let packet = DataPacket { psn: 2, marked: false, last: true };
        let records = vec![
            0;
            match room {
                48 => 42,
                _ => room as usize,
            }
        ];
        let expected = Arrived::Data { from, port, pair: address.pair, packet, records: &records };
        assert_eq!(read(to, &head, telemetry.as_ref()), Some(expected));
        assert_eq!(read(from, &head, telemetry.as_ref()), None, "it is somebody else's");
        assert_eq!(pair(&head, telemetry.as_slice()), Some(address.pair));
        let mut marked = head.clone();
        marked[IP + 1] |= CE;
        assert!(matches!(
            read(to, &marked, telemetry.as_ref()),
            Some(Arrived::Data { packet: DataPacket { marked: true, .. }, .. })
        ));
        // The lengths in the headers are those of the whole packet, the IPv4 checksum is right, and UDP has none.
        let len = data.len(2) as u16 - IP as u16;
        assert_eq!(head[IP + 2..IP + 4], len.to_be_bytes());
        assert_eq!(head[UDP + 4..UDP + 8], [&(len - 20).to_be_bytes()[..], &[0, 0]].concat());
        assert_eq!(Checksum::new().with(&head[IP..UDP]).finish(), 0);
    }
}

#[test]
fn answers_are_read_as_they_were_made() {
    let address = address(None);
    let (to, pair) = (address.to, address.pair);
    let mut answers = Answers::new(address);
    for notifies in [false, true] {
        let answer = |expected, missing, msn| {
            let answer = AnswerPacket { expected, missing, msn, notifies };
            Some(Arrived::Answer { pair, answer, records: &[] })
        };
        let ack = answers.answer(Answer::Ack(0x0200_0007), notifies, &[]);
        assert_eq!(read(to, &ack, None), answer(7, false, 7));
        let nack = answers.answer(Answer::Nack { expected: 7, received: 0x0100_0009 }, notifies, &[]);
        assert_eq!(read(to, &nack, None), answer(7, true, 9));
        let placed = answers.answer(Answer::Placed { expected: 7, count: 0x0100_000b }, notifies, &[]);
        assert_eq!(read(to, &placed, None), answer(7, false, 11));
        assert_eq!(ack.len(), 62);
    }
    let notification = answers.notification(address.dscp);
    assert_eq!(
        (notification.len(), read(to, &notification, None)),
        (74, Some(Arrived::Notification { pair }))
    );
    assert_eq!(read(to, &notification[..60], None), Some(Arrived::Notification { pair }));
    assert_eq!(read(to, &notification[..50], None), None);
}

#[test]
fn answers_carry_the_records_of_both_layouts() {
    // One record of each layout: model: int §1.8, §1.9.
    let paper = [&[0x10, 0x07][..], &0x25bc_d157_3594_04e2_u64.to_be_bytes()].concat();
    let mut slots = vec![0; 42];
    slots[..8].copy_from_slice(&0x0271_39ac_a2de_68aa_u64.to_le_bytes());
    slots[40] = 1;
    // The simulator's 42 bytes are padded to words.
    for (format, records, len) in [(PAPER, &paper, 72), (NS3, &slots, 106)] {
        let address = address(Some(format));
        let frame = Answers::new(address).answer(Answer::Ack(7), false, records);
        let answer = AnswerPacket { expected: 7, missing: false, msn: 7, notifies: false };
        let expected = Arrived::Answer { pair: address.pair, answer, records };
        assert_eq!(read(address.to, &frame, Some(&format)), Some(expected));
        assert_eq!(frame.len(), len);
        assert_eq!(pair(&frame, &[format]), Some(address.pair));
        let found = crate::host::hpcc::Records::read(&format, records).unwrap();
        let hop = found.hops()[0];
        assert_eq!((hop.time, hop.sent, hop.queue), (0x5b_cd15, 0x7_3594, 100_000));
    }
    // Another reader of the paper's layout finds the same record.
    let frame = Answers::new(address(Some(PAPER))).answer(Answer::Ack(7), false, &paper);
    let marks = Marks { hpcc_port: Some(4791), ..Marks::default() };
    let hop = HpccHop { speed: 2, time: 0x5b_cd15, bytes: 0x7_3594, queue: 0x4e2 };
    assert!(matches!(decode(&frame, &marks), Ok(Some(Telemetry::Hpcc(7, hops))) if hops == [hop]));
}

#[test]
fn telemetry_that_is_cut_off_is_no_frame() {
    let address = address(Some(PAPER));
    let mut head = Data::new(&address, 1_000, 1_000).head(0).to_vec();
    head[BTH] = 0x30;
    assert_eq!(read(address.to, &head, Some(&PAPER)), None, "three records need more bytes than there are");
    head[BTH] = 0x60;
    assert_eq!(pair(&head, &[PAPER]), None, "six records are too many");
}

#[test]
fn sequence_numbers_unwrap_to_the_nearest() {
    for (near, bits, found) in [
        (0, 5, 5),
        (5, 0, 0),
        (0x0100_0000, 0xff_ffff, 0xff_ffff),
        (0x00ff_fffe, 1, 0x0100_0001),
        (3, 0xff_ffff, 0xff_ffff),
    ] {
        assert_eq!(unwrap(near, bits), found, "{bits:#x} near {near:#x}");
    }
}
