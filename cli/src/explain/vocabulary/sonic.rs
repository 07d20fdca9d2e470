//! Words of SONiC's configuration and commands.

/// Fields, profiles and commands.
pub(super) const SONIC: [(&str, &str); 46] = [
    (
        "pfcwd",
        "SONiC's PFC watchdog: finds queues that pause frames hold for too long, and drops or forwards their packets; \
         table PFC_WD",
    ),
    (
        "detection_time",
        "of PFC_WD: time that a queue must be paused without a packet sent before it is a storm, in ms",
    ),
    ("restoration_time", "of PFC_WD: time without pause frames after which a storm has ended, in ms"),
    ("POLL_INTERVAL", "of PFC_WD: time between two looks of the watchdog at the queues, in ms"),
    ("action", "of PFC_WD: what happens to packets of a queue in a storm: drop, forward or alert"),
    ("pfcwd_sw_enable", "of PORT_QOS_MAP: the priorities that the watchdog watches"),
    ("storm", "pause frames that hold a queue for longer than the watchdog's detection time"),
    ("pfc_enable", "of PORT_QOS_MAP: the priorities of the port that are lossless"),
    (
        "alpha",
        "factor of a dynamic threshold: a group or queue may hold alpha x the free bytes of its pool. SONiC writes \
         alpha = 2^n as dynamic_th n. In DCQCN and DCTCP: estimate of congestion, 0 to 1, by which a sender slows down",
    ),
    (
        "dynamic_th",
        "of BUFFER_PROFILE: exponent of alpha: n from -8 to 8 lets a group or queue hold 2^n x the free bytes of its pool",
    ),
    ("static_th", "of BUFFER_PROFILE: fixed limit in bytes of a group or queue in its pool"),
    (
        "xon_offset",
        "of BUFFER_PROFILE: bytes below the dynamic threshold at which a paused group lets its sender go on",
    ),
    (
        "size",
        "of BUFFER_PROFILE: bytes that are reserved for each group or queue; of BUFFER_POOL: bytes of the pool",
    ),
    ("pool", "of BUFFER_PROFILE: pool whose free bytes a group or queue shares"),
    ("mode", "of BUFFER_POOL: dynamic or static thresholds"),
    ("buffer_pool", "part of the packet memory that groups or queues share: table BUFFER_POOL"),
    (
        "buffer_profile",
        "reserve, pool, threshold and headroom of priority groups or queues: table BUFFER_PROFILE",
    ),
    (
        "pg_lossless",
        "profiles of lossless groups that SONiC makes from speed and cable, such as pg_lossless_100000_300m_profile",
    ),
    (
        "pg_profile_lookup.ini",
        "SONiC's table of headroom (xoff), xon and size by speed and cable, for one model of a switch",
    ),
    ("ingress_lossless_pool", "pool of the priority groups; its xoff is the headroom pool"),
    ("ingress_lossy_pool", "pool of the lossy priority groups, if they have a separate one"),
    (
        "egress_lossless_pool",
        "pool of the queues of lossless classes; large enough that it never refuses a packet",
    ),
    ("egress_lossy_pool", "pool of the queues of lossy classes"),
    (
        "headroom pool",
        "headroom that all lossless groups share: xoff of the pool in BUFFER_POOL. Frames that arrive after XOFF wait in it",
    ),
    (
        "headroom_pool_oversubscription",
        "sum of the groups' xoff over the headroom pool: more than 1 may drop if all senders are paused at once",
    ),
    (
        "over_subscribe_ratio",
        "of DEFAULT_LOSSLESS_BUFFER_PARAMETER: sum of the groups' headroom over the headroom pool, for dynamic buffers",
    ),
    (
        "wred_profile",
        "thresholds and probabilities of ECN marks and early drops, by colour: table WRED_PROFILE",
    ),
    (
        "green_min_threshold",
        "of WRED_PROFILE: bytes in the queue from which on green packets may be marked or dropped",
    ),
    (
        "green_max_threshold",
        "of WRED_PROFILE: bytes in the queue from which on all green packets are marked or dropped",
    ),
    (
        "green_drop_probability",
        "of WRED_PROFILE: percent of green packets that are marked or dropped just below the maximum",
    ),
    ("wred_green_enable", "of WRED_PROFILE: drops packets that cannot be marked, by the same curve"),
    ("ecn_none", "of WRED_PROFILE, field ecn: no packet is marked"),
    ("ecn_all", "of WRED_PROFILE, field ecn: packets of all colours are marked"),
    (
        "dscp_to_tc_map",
        "of PORT_QOS_MAP: map from the DSCP of a packet to its traffic class; table DSCP_TO_TC_MAP",
    ),
    (
        "dot1p_to_tc_map",
        "of PORT_QOS_MAP: map from the priority of a VLAN tag to a traffic class; table DOT1P_TO_TC_MAP",
    ),
    ("tc_to_queue_map", "of PORT_QOS_MAP: map from a traffic class to a queue; table TC_TO_QUEUE_MAP"),
    (
        "tc_to_pg_map",
        "of PORT_QOS_MAP: map from a traffic class to a priority group; table TC_TO_PRIORITY_GROUP_MAP",
    ),
    (
        "pfc_to_queue_map",
        "of PORT_QOS_MAP: map from the priority of a pause frame to the queue that it pauses; table \
         MAP_PFC_PRIORITY_TO_QUEUE",
    ),
    (
        "pfc_to_pg_map",
        "of PORT_QOS_MAP: map from a priority to the group that asks for its pauses; PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    ),
    ("traffic class", "number of a packet, 0 to 7, from which its queue and its priority group follow"),
    ("priority group", "packets of one port whose priorities share buffer and pauses"),
    (
        "scheduler",
        "order in which the queues of a port send: STRICT, DWRR or WRR; table SCHEDULER. Replays choose it by --scheduler",
    ),
    ("DWRR", "deficit weighted round robin: queues share a port in proportion to their weights"),
    ("cable length", "length of a port's cable, on which its headroom depends; table CABLE_LENGTH"),
    (
        "hwsku",
        "model of a switch in SONiC, such as Arista-7060CX-32S-D48C8; it names the ASIC and its memory",
    ),
    ("DEVICE_METADATA", "table of SONiC with the switch's hwsku, from which the memory follows"),
];
