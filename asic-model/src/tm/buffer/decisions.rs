//! Where sources disagree or say nothing (model: buffer §9): what is done, and how to have it otherwise.

/// One such question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Its id.
    pub id: &'static str,
    /// The question.
    pub question: &'static str,
    /// What is done by default.
    pub taken: &'static str,
    /// The key of a profile file that changes it, or why none does.
    pub switch: &'static str,
}

const fn decision(
    id: &'static str,
    question: &'static str,
    taken: &'static str,
    switch: &'static str,
) -> Decision {
    Decision { id, question, taken, switch }
}

/// All seventeen.
pub const DECISIONS: [Decision; 17] = [
    decision(
        "D1",
        "when a lossless group is paused",
        "sai: after a packet that brings it to its threshold; tofino: by the packet that does not fit any more",
        "decisions.xoff_test",
    ),
    decision(
        "D2",
        "whether other groups are paused when a threshold falls",
        "not before their own next packet",
        "decisions.rescan",
    ),
    decision(
        "D3",
        "whether a pool's size includes what is reserved",
        "no; the sheet's Trident 2 profile says yes",
        "pool_includes_reserved",
    ),
    decision("D4", "partitions of the memory", "one; Tomahawk profiles say four", "partitions"),
    decision(
        "D5",
        "a lossy packet when the ingress pool is full",
        "dropped, as ingress_pool",
        "decisions.lossy_needs_ingress_pool",
    ),
    decision("D6", "alpha of index 7", "128", "alpha"),
    decision(
        "D7",
        "where packets are marked",
        "as they leave the queue, by the length left behind",
        "decisions.mark_point",
    ),
    decision(
        "D8",
        "packets without ECN beyond Kmin",
        "never marked; they pass, or are dropped by the same curve",
        "ecn.wred",
    ),
    decision(
        "D9",
        "DCQCN: cut before or after alpha is raised",
        "a host's",
        "none: no host is part of a switch",
    ),
    decision("D10", "DCQCN: byte counter", "a host's", "none: no host is part of a switch"),
    decision(
        "D11",
        "what a CNP is",
        "a packet of its own, in its class by its DSCP",
        "none: a switch treats it as any packet",
    ),
    decision(
        "D12",
        "whether a pause ends by itself",
        "after its quanta; senders ask again after half of them",
        "pfc.refresh_percent",
    ),
    decision("D13", "how the watchdog sees a storm", "as Broadcom's script", "watchdog.predicate"),
    decision(
        "D14",
        "which cells are given back first",
        "headroom, then shared, then reserved",
        "none: any other order would need a tag per packet",
    ),
    decision(
        "D15",
        "how soon a pause takes effect",
        "at the bound for the line's rate; at 10G 67 quanta",
        "pfc.reaction",
    ),
    decision(
        "D16",
        "PFC frames and CNPs in the accounting",
        "MAC control frames never enter it; CNPs are packets of their class",
        "none: a MAC control frame never reaches the buffer",
    ),
    decision(
        "D17",
        "what a multicast packet costs at ingress",
        "one charge, free with its last copy",
        "decisions.multicast_once",
    ),
];
