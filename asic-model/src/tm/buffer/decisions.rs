//! Questions on which sources disagree or are silent (model: buffer §9): the default answer, and the profile key that
//! changes it.

/// One question and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Id, `D1` to `D17`.
    pub id: &'static str,
    /// Question.
    pub question: &'static str,
    /// Default answer.
    pub taken: &'static str,
    /// Key of a profile file that changes the answer, or the reason why there is none.
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

/// All decisions, in the order of their ids.
pub const DECISIONS: [Decision; 17] = [
    decision(
        "D1",
        "when a lossless group is paused",
        "sai: by the packet that reaches the threshold, after its admission; tofino: by the first packet that no longer fits",
        "decisions.xoff_test",
    ),
    decision(
        "D2",
        "whether other groups are paused when a threshold falls",
        "no: each group is checked at its own next packet",
        "decisions.rescan",
    ),
    decision(
        "D3",
        "what a pool's size includes in addition to shared cells",
        "nothing; reserved cells on Trident 2; also headroom on Trident 3, and headroom and queues on Tomahawk 3 and 5 (keys \
         pool_includes_headroom, pool_includes_queues)",
        "pool_includes_reserved",
    ),
    decision("D4", "partitions of the memory", "one; th and th2 say four, th3 and th5 two", "partitions"),
    decision(
        "D5",
        "a lossy packet when the ingress pool is full",
        "the packet is dropped; drop reason ingress_pool",
        "decisions.lossy_needs_ingress_pool",
    ),
    decision("D6", "alpha of index 7", "128", "alpha"),
    decision(
        "D7",
        "where packets are marked",
        "at dequeue, by the queue length without the packet",
        "decisions.mark_point",
    ),
    decision(
        "D8",
        "packets without ECN beyond Kmin",
        "they are never marked; they pass, or the same curve drops them",
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
        "form of a CNP",
        "a separate packet, whose class follows from its DSCP",
        "none: a switch treats it as any packet",
    ),
    decision(
        "D12",
        "whether a pause ends by itself",
        "yes, after its quanta; the sender repeats the frame after half of them",
        "pfc.refresh_percent",
    ),
    decision(
        "D13",
        "how the watchdog detects a storm",
        "as SONiC's script for Broadcom does",
        "watchdog.predicate",
    ),
    decision(
        "D14",
        "which cells are released first",
        "headroom, then shared, then reserved",
        "none: any other order would need a tag per packet",
    ),
    decision(
        "D15",
        "how soon a pause takes effect",
        "after the standard's bound for the line rate; 67 quanta at 10G",
        "pfc.reaction",
    ),
    decision(
        "D16",
        "PFC frames and CNPs in the accounting",
        "MAC control frames are not counted; CNPs count as packets of their class",
        "none: a MAC control frame never reaches the buffer",
    ),
    decision(
        "D17",
        "charge for a multicast packet at ingress",
        "one charge, which is released with the last copy",
        "decisions.multicast_once",
    ),
];
