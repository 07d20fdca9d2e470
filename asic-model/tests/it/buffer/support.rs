//! Ports, profiles from files, and a bench that sends trains of packets.

use sluice_asic::meter::Colour;
use sluice_asic::tm::buffer::{
    Arrival, Buffer, BufferConfig, BufferFile, Charge, PfcEdge, PortInfo, Refusal, Rule,
};
use sluice_asic::units::{BitRate, Bytes};

/// Config A (model: buffer §8).
pub(crate) const CONFIG_A: &str = r#"
name = "A"
doc = "model: buffer §8"
rules = "sai"
cell = "256B"
buffer = "2560000B"
pfc_enable = "3-4"
pool = [
    { name = "ingress_pool", direction = "ingress", size = "2304000B", xoff = "153600B" },
    { name = "egress_lossless_pool", direction = "egress", class = "lossless", size = "2560000B" },
    { name = "egress_lossy_pool", direction = "egress", class = "lossy", size = "2048000B" },
]
profile = [
    { name = "lossless", pool = "ingress_pool", size = "2560B", xoff = "51200B", xon = "2560B", xon_offset = "5120B", dynamic_th = -3 },
    { name = "ingress_lossy", pool = "ingress_pool", static_th = "0B" },
    { name = "egress_lossless", pool = "egress_lossless_pool", static_th = "0B" },
    { name = "egress_lossy", pool = "egress_lossy_pool", size = "2048B", dynamic_th = -2 },
]
pg = [{ pgs = "3-4", profile = "lossless" }, { pgs = "others", profile = "ingress_lossy" }]
queue = [{ queues = "3-4", profile = "egress_lossless" }, { queues = "others", profile = "egress_lossy" }]
"#;

pub(crate) fn ports(n: usize, gbps: u64) -> Vec<PortInfo> {
    let port = |i: usize| PortInfo {
        name: i.to_string(),
        speed: BitRate::from_gbps(gbps),
        queues: 8,
        internal: false,
    };
    (0..n).map(port).collect()
}

/// Returns a profile's text with changes, resolved for ports.
pub(crate) fn resolve(text: &str, changes: &[(&str, &str)], ports: &[PortInfo]) -> BufferConfig {
    let file = BufferFile::parse("test", &changed(text, changes)).unwrap();
    file.resolve(ports).unwrap_or_else(|problems| panic!("{problems}"))
}

pub(crate) fn changed(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "nothing to change: {from}");
        text.replace(from, to)
    })
}

/// Config A on its four ports.
pub(crate) fn config_a(changes: &[(&str, &str)]) -> Bench {
    Bench::new(&resolve(CONFIG_A, changes, &ports(4, 100)))
}

/// A buffer with all packets that it holds, in order.
pub(crate) struct Bench {
    pub(crate) buffer: Buffer,
    pub(crate) held: std::collections::VecDeque<Charge>,
    pub(crate) edges: Vec<PfcEdge>,
    pub(crate) drops: Vec<Refusal>,
}

impl Bench {
    pub(crate) fn new(config: &BufferConfig) -> Self {
        Self { buffer: Buffer::new(config), held: [].into(), edges: Vec::new(), drops: Vec::new() }
    }

    /// Sends one packet of class `tc` (group and queue alike) from a port to another.
    pub(crate) fn send(
        &mut self,
        in_port: u16,
        out_port: u16,
        pg: u8,
        queue: u8,
        bytes: u64,
    ) -> Result<(), Rule> {
        let colour = Colour::Green;
        let arrival = Arrival { in_port, pg, out_port, queue, bytes: Bytes(bytes), colour, copies: None };
        let result = self.buffer.admit(&arrival);
        self.edges.extend(self.buffer.edges());
        match result {
            Ok(charge) => {
                self.held.push_back(charge);
                Ok(())
            }
            Err(refusal) => {
                self.drops.push(refusal);
                Err(refusal.rule)
            }
        }
    }

    /// Sends lossless packets of class 3 until one is dropped; returns the numbers, from 1, of the first pause and
    /// the drop.
    pub(crate) fn flood(&mut self, in_port: u16, out_port: u16, bytes: u64) -> (Option<u32>, u32) {
        let mut xoff = None;
        for n in 1..10_000_000 {
            let before = self.edges.len();
            let sent = self.send(in_port, out_port, 3, 3, bytes);
            if self.edges[before..].iter().any(|e| e.xoff && e.port == in_port) {
                xoff = xoff.or(Some(n));
            }
            if sent.is_err() {
                return (xoff, n);
            }
        }
        panic!("never dropped");
    }

    /// Sends lossy packets of class 0 until one is dropped; returns the number of admitted packets.
    pub(crate) fn flood_lossy(&mut self, in_port: u16, out_port: u16, queue: u8) -> u32 {
        (0..).find(|_| self.send(in_port, out_port, 0, queue, 64).is_err()).unwrap()
    }

    /// Releases the oldest packets; the number, from 1, of the one with which a group resumed.
    pub(crate) fn drain(&mut self, n: usize) -> Option<usize> {
        let mut resumed = None;
        for i in 1..=n {
            let Some(charge) = self.held.pop_front() else { break };
            self.buffer.release(charge);
            let before = self.edges.len();
            self.edges.extend(self.buffer.edges());
            if self.edges[before..].iter().any(|e| !e.xoff) {
                resumed = resumed.or(Some(i));
            }
        }
        resumed
    }

    pub(crate) fn shared(&self, port: u16, pg: u8) -> u32 {
        self.buffer.group(port, pg).unwrap().shared().current().get()
    }

    pub(crate) fn headroom(&self, port: u16, pg: u8) -> u32 {
        self.buffer.group(port, pg).unwrap().headroom().current().get()
    }

    pub(crate) fn is_xoff(&self, port: u16, pg: u8) -> bool {
        self.buffer.group(port, pg).unwrap().is_xoff()
    }

    /// Cells in use of the pool of this name, first partition.
    pub(crate) fn pool(&self, config: &BufferConfig, name: &str) -> u32 {
        let view = self.buffer.pools(config).find(|p| p.name == name && p.partition == 0).unwrap();
        view.used.current().get()
    }
}
