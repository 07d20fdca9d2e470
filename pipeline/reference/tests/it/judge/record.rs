//! The results of a pass in one form.

use sluice_asic::gress::Gress;
use sluice_exec::packet::{Packet, PacketStore};
use sluice_exec::pass::{Made, MadeKind, Pass, PassIn, Verdict};
use sluice_reference::{self as tree, RequestKind};

/// The results of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) verdict: String,
    /// The packet that goes on.
    bytes: Vec<u8>,
    /// Ingress, of a packet that goes on: port, queue, class of service, and whether it bypasses egress.
    way: Option<(Option<u16>, u64, u64, bool)>,
    groups: [u16; 2],
    /// Copies: session and bytes.
    mirrors: Vec<(u64, Vec<u8>)>,
    /// Digests: type and bytes.
    digests: Vec<(u64, Vec<u8>)>,
    /// Flow-control word for a queue.
    word: Option<u64>,
}

/// Returns the input of a pass on the tree.
pub(super) fn tree_input(
    gress: Gress,
    input: &PassIn,
    bytes: &[u8],
    resubmitted: Option<Vec<u8>>,
    length: usize,
) -> tree::PassIn {
    let fields = [
        ("ingress_mac_tstamp", input.mac_tstamp),
        ("global_tstamp", input.global_tstamp),
        ("enq_qdepth", input.enq_qdepth.into()),
        ("enq_tstamp", input.enq_tstamp.into()),
        ("deq_qdepth", input.deq_qdepth.into()),
        ("deq_timedelta", input.deq_timedelta.into()),
        ("egress_qid", input.qid.into()),
        ("egress_rid", input.rid.into()),
        ("egress_rid_first", input.rid_first.into()),
        ("egress_cos", input.cos.into()),
        ("deflection_flag", input.deflected.into()),
        ("enq_congest_stat", input.enq_congest_stat.into()),
    ];
    let gress = match gress {
        Gress::Ingress => tree::Gress::Ingress,
        Gress::Egress => tree::Gress::Egress,
    };
    tree::PassIn {
        resubmitted,
        length: length as u64,
        fields: fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        ..tree::PassIn::new(gress, input.port, bytes.to_vec())
    }
}

impl Record {
    /// Returns the results of the tree.
    pub(super) fn of_tree(input: &tree::PassIn, out: &tree::PassOut) -> Record {
        let verdict = match out.verdict {
            tree::Verdict::Forward => "forward".to_owned(),
            tree::Verdict::Dropped => "dropped".to_owned(),
            tree::Verdict::ParserError(bits) => format!("parser error {bits:#x}"),
            tree::Verdict::Resubmit => "resubmit".to_owned(),
            tree::Verdict::NoPort => "no port".to_owned(),
        };
        let mut record = Record { verdict, ..Record::default() };
        for request in &out.requests {
            match request.kind {
                RequestKind::Mirror { session } => {
                    let packet = if out.mirrors_output { &out.bytes } else { &input.bytes };
                    record.mirrors.push((session, [request.data.as_slice(), packet].concat()));
                }
                RequestKind::Digest => record.digests.push((out.field("digest_type"), request.data.clone())),
                RequestKind::Resubmit if out.verdict == tree::Verdict::Resubmit => {
                    record.bytes = [request.data.as_slice(), &input.bytes].concat();
                }
                RequestKind::Resubmit => {}
            }
        }
        if out.verdict == tree::Verdict::Forward {
            record.bytes.clone_from(&out.bytes);
            if input.gress == tree::Gress::Ingress {
                let bypass = out.field("bypass_egress") == 1;
                record.way = Some((out.port, out.field("qid"), out.field("ingress_cos"), bypass));
                record.groups = out.groups;
            }
        }
        if !matches!(out.verdict, tree::Verdict::ParserError(_)) {
            record.word = Some(out.field("adv_flow_ctl")).filter(|word| word >> 31 == 1);
        }
        record
    }

    /// Returns the results of an executor, with the number of bits that the device takes of a session's number.
    pub(super) fn of_pass(
        gress: Gress,
        pass: &Pass,
        made: &[Made],
        (store, session_bits): (&mut PacketStore, u32),
    ) -> Record {
        let verdict = match pass.output.verdict {
            Verdict::Forward => "forward".to_owned(),
            Verdict::Label(_) => "dropped".to_owned(),
            Verdict::ParserError(bits) => format!("parser error {bits:#x}"),
            Verdict::Resubmit => "resubmit".to_owned(),
            Verdict::NoPort => "no port".to_owned(),
            Verdict::NoRoom => "no room".to_owned(),
        };
        let mut record = Record { verdict, ..Record::default() };
        if matches!(pass.output.verdict, Verdict::Forward | Verdict::Resubmit) {
            record.bytes = content(store, pass.packet);
        }
        if pass.output.verdict == Verdict::Forward && gress == Gress::Ingress {
            let out = &pass.output;
            let port = Some(out.port).filter(|port| *port != 0x1ff);
            record.way = Some((port, out.qid.into(), out.cos.into(), out.bypass));
        }
        for made in made {
            match made.kind {
                MadeKind::Mirror { session, copy, .. } => {
                    let session = u64::from(session) & ((1 << session_bits) - 1);
                    record.mirrors.push((session, content(store, copy)));
                    store.remove(copy);
                }
                MadeKind::Digest { kind, data } => {
                    record.digests.push((kind.into(), content(store, data)));
                    store.remove(data);
                }
                MadeKind::Multicast(request) => record.groups = request.groups,
                MadeKind::FlowControl(word) => record.word = Some(word.into()),
                MadeKind::Pktgen(_) => {}
            }
        }
        record
    }
}

fn content(store: &PacketStore, packet: Packet) -> Vec<u8> {
    [store.head(packet), store.tail(packet)].concat()
}
