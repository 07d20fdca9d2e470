//! Compares the shared buffer's accounting with a ledger of its packets.

use sluice_asic::meter::Colour;
use sluice_asic::tm::buffer::{Arrival, Buffer, BufferConfig, BufferFile, Charge, PortInfo};
use sluice_asic::units::{BitRate, Bytes};
use std::sync::OnceLock;

/// Ports of the device.
const PORTS: u16 = 4;
/// Queues of each port.
const QUEUES: u16 = 8;

pub(super) fn ports() -> Vec<PortInfo> {
    let port = |n: u16| PortInfo {
        name: n.to_string(),
        speed: BitRate::from_gbps(100),
        queues: QUEUES,
        internal: false,
    };
    (0..PORTS).map(port).collect()
}

/// Returns the shipped profiles for these ports.
fn profiles() -> &'static [BufferConfig] {
    static PROFILES: OnceLock<Vec<BufferConfig>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let files = BufferFile::names().filter_map(|n| BufferFile::shipped(n)?.ok());
        files.filter_map(|f| f.resolve(&ports()).ok()).collect()
    })
}

/// A packet in the ledger.
struct Held {
    arrival: Arrival,
    charge: Charge,
    cells: u32,
}

/// Cells of the packets in the buffer, added up by port, group and queue.
#[derive(Default)]
struct Ledger {
    all: u32,
    /// Cells by ingress port, and by egress port.
    ports: [[u32; 2]; PORTS as usize],
    groups: [[u32; 8]; PORTS as usize],
    queues: [[u32; QUEUES as usize]; PORTS as usize],
}

impl Ledger {
    /// Adds or removes a packet.
    fn change(&mut self, arrival: &Arrival, by: impl Fn(u32) -> u32) {
        let (from, to) = (usize::from(arrival.in_port), usize::from(arrival.out_port));
        let (group, queue) = (usize::from(arrival.pg), usize::from(arrival.queue));
        let counts = [
            &mut self.all,
            &mut self.ports[from][0],
            &mut self.groups[from][group],
            &mut self.queues[to][queue],
        ];
        counts.into_iter().for_each(|n| *n = by(*n));
        self.ports[to][1] = by(self.ports[to][1]);
    }
}

/// Admits and releases packets, four bytes each, with the profile that the first byte names. After each operation the
/// buffer's counters must be the sums over its packets, and zero when all have left.
pub fn buffer(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let profiles = profiles();
    let Some(config) = profiles.get(usize::from(*first) % profiles.len().max(1)) else { return };
    let (mut buffer, mut held, mut ledger) = (Buffer::new(config), Vec::<Held>::new(), Ledger::default());
    for op in rest.as_chunks::<4>().0 {
        if op[0] & 0xc0 == 0xc0 && !held.is_empty() {
            let gone = held.swap_remove(usize::from(op[1]) % held.len());
            ledger.change(&gone.arrival, |n| n - gone.cells);
            buffer.release(gone.charge);
        } else {
            let bytes = Bytes(1 + (u64::from(op[2]) << 6 | u64::from(op[3]) >> 2));
            let arrival = Arrival {
                in_port: u16::from(op[0]) % PORTS,
                pg: op[1] & 7,
                out_port: u16::from(op[0] >> 3) % PORTS,
                queue: op[1] >> 3 & 7,
                bytes,
                colour: [Colour::Green, Colour::Yellow, Colour::Red, Colour::Green][usize::from(op[3] & 3)],
                copies: None,
            };
            let cells = buffer.cells_of(bytes).0;
            if let Ok(charge) = buffer.admit(&arrival) {
                ledger.change(&arrival, |n| n + cells);
                held.push(Held { arrival, charge, cells });
            }
        }
        buffer.edges().for_each(drop);
        agrees(&buffer, config, &ledger);
    }
    held.drain(..).for_each(|h| buffer.release(h.charge));
    agrees(&buffer, config, &Ledger::default());
}

fn agrees(buffer: &Buffer, config: &BufferConfig, ledger: &Ledger) {
    assert_eq!(buffer.total().current().0, ledger.all, "the whole memory");
    assert!(buffer.total().current().0 <= config.size.0, "more cells than there are");
    for (port, sums) in (0..PORTS).zip(&ledger.ports) {
        let found = buffer.port(port).map(|sides| sides.map(|g| g.current().0)).unwrap_or_default();
        assert_eq!(found, *sums, "in and out by port {port}");
    }
    for (port, groups) in (0..PORTS).zip(&ledger.groups) {
        for (pg, cells) in (0..).zip(groups) {
            assert_eq!(buffer.pg_total(port, pg).0, *cells, "group {pg} of port {port}");
        }
    }
    for (port, queues) in (0..PORTS).zip(&ledger.queues) {
        for (queue, cells) in (0..).zip(queues) {
            assert_eq!(buffer.depth(port, queue).0, *cells, "queue {queue} of port {port}");
        }
    }
}
