//! A pass through a gress: the packet that enters, and what becomes of it.

/// The two halves of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gress {
    /// Before the traffic manager.
    Ingress,
    /// After the traffic manager.
    Egress,
}

impl Gress {
    /// Returns the type of the intrinsic metadata in front of a packet.
    pub(crate) fn front(self) -> &'static str {
        match self {
            Gress::Ingress => "ingress_intrinsic_metadata_t",
            Gress::Egress => "egress_intrinsic_metadata_t",
        }
    }

    /// Returns the type of what the parser adds.
    pub(crate) fn parser_metadata(self) -> &'static str {
        match self {
            Gress::Ingress => "ingress_intrinsic_metadata_from_parser_t",
            Gress::Egress => "egress_intrinsic_metadata_from_parser_t",
        }
    }

    /// Returns the type of what the deparser obeys.
    pub(crate) fn for_deparser(self) -> &'static str {
        match self {
            Gress::Ingress => "ingress_intrinsic_metadata_for_deparser_t",
            Gress::Egress => "egress_intrinsic_metadata_for_deparser_t",
        }
    }
}

/// A packet that enters a gress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassIn {
    /// The gress.
    pub gress: Gress,
    /// dev_port on which the packet arrived, or is sent.
    pub port: u16,
    /// Bytes without FCS.
    pub bytes: Vec<u8>,
    /// Length in bytes, which counters count and `pkt_length` says.
    pub length: u64,
    /// In a resubmitted packet, the data that the resubmit left.
    pub resubmitted: Option<Vec<u8>>,
    /// Port metadata as bytes; missing bytes are zeros.
    pub port_metadata: Vec<u8>,
    /// Other fields of the intrinsic metadata by name, such as timestamps and the depths of queues; all others are 0.
    pub fields: Vec<(String, u64)>,
}

impl PassIn {
    /// Makes a packet that was not resubmitted, with zeros in the intrinsic metadata.
    #[must_use]
    pub fn new(gress: Gress, port: u16, bytes: Vec<u8>) -> PassIn {
        let length = bytes.len() as u64;
        PassIn {
            gress,
            port,
            bytes,
            length,
            resubmitted: None,
            port_metadata: Vec::new(),
            fields: Vec::new(),
        }
    }
}

/// A kind of request of a deparser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A copy for a mirror session.
    Mirror {
        /// Number of the session.
        session: u64,
    },
    /// The packet enters ingress again.
    Resubmit,
    /// A message for the control plane.
    Digest,
}

/// A request of a deparser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The kind.
    pub kind: RequestKind,
    /// Its data; of a mirror copy, the bytes in front of the packet.
    pub data: Vec<u8>,
}

/// The fate of a packet at the end of a gress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Forward,
    /// The program dropped it.
    Dropped,
    /// It had a parser error, with these bits in `parser_err`, and the program does not look at them.
    ParserError(u16),
    /// It enters ingress again.
    Resubmit,
    /// Ingress chose no port and no group.
    NoPort,
}

/// The results of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassOut {
    /// The fate of the packet.
    pub verdict: Verdict,
    /// The packet as it leaves the deparser.
    pub bytes: Vec<u8>,
    /// Ingress: the port that was chosen.
    pub port: Option<u16>,
    /// Ingress: multicast groups; 0 is none.
    pub groups: [u16; 2],
    /// Requests of the deparser, in order.
    pub requests: Vec<Request>,
    /// True if mirror copies are of the packet as it leaves the deparser, false if they are of the packet as it entered.
    pub mirrors_output: bool,
    /// Ingress: other results of the program for the traffic manager, and in both gresses those for the deparser, by name.
    pub fields: Vec<(String, u64)>,
}

impl PassOut {
    /// Returns a field of the intrinsic metadata for the traffic manager or the deparser; 0 if there is none.
    #[must_use]
    pub fn field(&self, name: &str) -> u64 {
        self.fields.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value)
    }
}
