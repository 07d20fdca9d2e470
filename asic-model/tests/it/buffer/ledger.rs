//! A naive model of the accounting, written from the rules of `docs/model/buffer.md` alone: named counters in a map,
//! and every sum computed anew on each request. It checks the real accounting, never the other way round.

use std::collections::BTreeMap;

/// Settings in cells; one partition, ports of one kind, groups 3 and 4 lossless by queue, the rest lossy.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) cell: u64,
    pub(crate) memory: i64,
    pub(crate) ingress: i64,
    pub(crate) headroom: i64,
    pub(crate) lossy: i64,
    pub(crate) reserved: i64,
    pub(crate) cap: i64,
    pub(crate) alpha: i32,
    pub(crate) queue_min: i64,
    pub(crate) queue_alpha: i32,
    pub(crate) xon: i64,
    pub(crate) xon_offset: i64,
    pub(crate) pre_admission: bool,
    pub(crate) rescan: bool,
}

#[derive(Clone, Debug)]
struct Held {
    in_port: u16,
    pg: u8,
    out_port: u16,
    queue: u8,
    cells: i64,
}

/// Result of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    In,
    Dropped(&'static str),
}

pub(crate) struct Ledger {
    rules: Rules,
    held: Vec<Held>,
    /// Headroom cells and paused flag of each lossless group, reserved and shared ones by name.
    counters: BTreeMap<(&'static str, u16, u8), i64>,
}

fn share(free: i64, n: i32) -> i64 {
    let free = free.max(0) as i128;
    (if n >= 0 { free * (1 << n) } else { free / (1 << -n) }) as i64
}

fn lossless(class: u8) -> bool {
    class == 3 || class == 4
}

impl Ledger {
    pub(crate) fn new(rules: Rules) -> Self {
        Self { rules, held: Vec::new(), counters: BTreeMap::new() }
    }

    pub(crate) fn get(&self, what: &'static str, port: u16, class: u8) -> i64 {
        self.counters.get(&(what, port, class)).copied().unwrap_or(0)
    }

    fn add(&mut self, what: &'static str, port: u16, class: u8, cells: i64) {
        *self.counters.entry((what, port, class)).or_insert(0) += cells;
    }

    pub(crate) fn sum(&self, what: &str) -> i64 {
        self.counters.iter().filter(|((w, ..), _)| *w == what).map(|(_, n)| n).sum()
    }

    pub(crate) fn total(&self) -> i64 {
        self.held.iter().map(|h| h.cells).sum()
    }

    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    fn lossy_used(&self) -> i64 {
        let lossy = self.counters.iter().filter(|((w, _, q), _)| *w == "queue shared" && !lossless(*q));
        lossy.map(|(_, n)| n).sum()
    }

    fn threshold(&self) -> i64 {
        share(self.rules.ingress - self.sum("pg shared"), self.rules.alpha)
    }

    pub(crate) fn send(&mut self, in_port: u16, class: u8, out_port: u16, bytes: u64) -> Fate {
        let fate = self.offer(in_port, class, out_port, bytes);
        // A group that holds no packet is not paused.
        let holds = self.held.iter().any(|h| (h.in_port, h.pg) == (in_port, class));
        if fate != Fate::In && !holds && self.get("xoff", in_port, class) == 1 {
            self.add("xoff", in_port, class, -1);
        }
        fate
    }

    fn offer(&mut self, in_port: u16, class: u8, out_port: u16, bytes: u64) -> Fate {
        let r = self.rules.clone();
        let cells = bytes.div_ceil(r.cell).max(1) as i64;
        if self.total() + cells > r.memory {
            return Fate::Dropped("buffer_full");
        }
        let (pg, queue) = (if lossless(class) { class } else { 0 }, class);
        let mut charges: Vec<(&'static str, u16, u8, i64)> = Vec::new();
        let own = if lossless(pg) { r.reserved } else { 0 };
        let reserved = cells.min(own - self.get("pg reserved", in_port, pg)).max(0);
        let beyond = cells - reserved;
        let mut paused_now = false;
        if lossless(pg) {
            let over = r.pre_admission
                && beyond > 0
                && self.get("pg shared", in_port, pg) + beyond > self.threshold();
            if self.get("xoff", in_port, pg) == 0 && over {
                paused_now = true;
            }
            if paused_now || self.get("xoff", in_port, pg) == 1 {
                if paused_now {
                    self.add("xoff", in_port, pg, 1);
                }
                if self.get("headroom", in_port, pg) + cells > r.cap {
                    return Fate::Dropped("pg_headroom");
                }
                if self.sum("headroom") + cells > r.headroom {
                    return Fate::Dropped("headroom_pool");
                }
                charges.push(("headroom", in_port, pg, cells));
            } else {
                charges.push(("pg reserved", in_port, pg, reserved));
                charges.push(("pg shared", in_port, pg, beyond));
            }
        } else {
            if beyond > 0 && self.sum("pg shared") + beyond > r.ingress {
                return Fate::Dropped("ingress_pool");
            }
            charges.push(("pg shared", in_port, pg, beyond));
        }
        if lossless(queue) {
            charges.push(("queue shared", out_port, queue, cells));
        } else {
            let min = cells.min(r.queue_min - self.get("queue min", out_port, queue)).max(0);
            let rest = cells - min;
            if rest > 0 {
                let free = r.lossy - self.lossy_used();
                if self.get("queue shared", out_port, queue) + rest > share(free, r.queue_alpha) {
                    return Fate::Dropped("queue_shared");
                }
                if rest > free {
                    return Fate::Dropped("egress_pool");
                }
            }
            charges.push(("queue min", out_port, queue, min));
            charges.push(("queue shared", out_port, queue, rest));
        }
        for (what, port, class, n) in charges {
            self.add(what, port, class, n);
        }
        self.held.push(Held { in_port, pg, out_port, queue, cells });
        self.pause(in_port, pg);
        Fate::In
    }

    fn groups(&self) -> Vec<(u16, u8)> {
        (0..4).flat_map(|port| [(port, 3), (port, 4)]).collect()
    }

    fn pause(&mut self, in_port: u16, pg: u8) {
        let looked_at = if self.rules.rescan { self.groups() } else { vec![(in_port, pg)] };
        for (port, pg) in looked_at {
            let shared = self.get("pg shared", port, pg);
            if !lossless(pg) || self.get("xoff", port, pg) == 1 || shared == 0 {
                continue;
            }
            let due = match (self.rules.pre_admission, self.rules.rescan) {
                (false, _) => shared >= self.threshold(),
                (true, true) => shared > self.threshold(),
                (true, false) => false,
            };
            if due {
                self.add("xoff", port, pg, 1);
            }
        }
    }

    /// Releases the held packet at an index.
    pub(crate) fn release(&mut self, index: usize) {
        let h = self.held.remove(index);
        let mut left = h.cells;
        for what in ["headroom", "pg shared", "pg reserved"] {
            let n = left.min(self.get(what, h.in_port, h.pg));
            self.add(what, h.in_port, h.pg, -n);
            left -= n;
        }
        assert_eq!(left, 0);
        let mut left = h.cells;
        for what in ["queue shared", "queue min"] {
            let n = left.min(self.get(what, h.out_port, h.queue));
            self.add(what, h.out_port, h.queue, -n);
            left -= n;
        }
        assert_eq!(left, 0);
        let looked_at = if self.rules.rescan { self.groups() } else { vec![(h.in_port, h.pg)] };
        for (port, pg) in looked_at {
            let low = self.rules.xon.max(self.threshold() - self.rules.xon_offset);
            if self.get("xoff", port, pg) == 1
                && self.get("headroom", port, pg) == 0
                && self.get("pg shared", port, pg) <= low
            {
                self.add("xoff", port, pg, -1);
            }
        }
    }
}
