// conweave: Reroutes RDMA flows every round trip and puts them back in order before the host
// (ConWeave).
// Written by `sluice programs conweave --p4` with flows=4096 ways=4 queues=32 groups=2048
// routes=2048 reply=8 path_busy=8 inactive=300 resume_margin=16 resume_default=200 reply_bridge=4
// patience=14 watchdog=64 control_dscp=48 tail_without_path=false strict_deadline=false idle_ms=100
// known=4 pipe=0 hosts=0-3 uplinks=4-7.

#include <core.p4>
#include <t2na.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> IP_PROTOCOL_UDP = 17;

const DigestType_t DIGEST_TYPE_NEW_FLOW = 1;
const ResubmitType_t RESUBMIT_TYPE_1 = 1;
const MirrorType_t MIRROR_TYPE_COPY = 1;
const MirrorType_t MIRROR_TYPE_BIRTH = 2;

// Bridged metadata: facts about a frame from ingress to egress
header bridge_h {
    bit<8> kind; // See [`kind`]
}

// Bridged metadata of a flow that is being reordered
header order_h {
    bit<32> word; // The word that resumes the flow's queue
    bit<16> row; // The flow's row
}

// In front of the copy that becomes a timer packet
header birth_h {
    bit<8> kind; // [`kind::BIRTH`]
    bit<32> word; // The word that resumes the flow's queue
    bit<16> row; // The flow's row
}

// Learned by the control plane: a flow that the flow table does not know
header new_flow_h {
    bit<32> src; // IPv4 source
    bit<32> dst; // IPv4 destination
    bit<16> src_port; // UDP source port
    bit<8> at_destination; // 1 if the switch is the flow's DstToR
}

// Ethernet II header (IEEE 802.3 §3.2)
header ethernet_h {
    bit<48> dst; // Destination MAC address
    bit<48> src; // Source MAC address
    bit<16> ether_type; // EtherType of what follows
}

// IPv4 header without options (RFC 791)
header ipv4_h {
    bit<4> version; // 4
    bit<4> ihl; // Header length in 32-bit words; 5 without options
    bit<6> dscp; // Differentiated services code point (RFC 2474)
    // Explicit congestion notification (RFC 3168): 0 not capable, 1 and 2 capable, 3 congestion met
    bit<2> ecn;
    bit<16> total_len; // Bytes of header and payload
    bit<16> identification; // Identifies the fragments of one datagram
    bit<3> flags; // Reserved, don't fragment, more fragments
    bit<13> frag_offset; // Offset of the fragment in units of 8 bytes
    bit<8> ttl; // Hops left
    bit<8> protocol; // Protocol of what follows (6 TCP, 17 UDP, 1 ICMP)
    bit<16> checksum; // Ones' complement checksum of the header
    bit<32> src; // Source address
    bit<32> dst; // Destination address
}

// UDP header (RFC 768)
header udp_h {
    bit<16> src_port; // Source port
    bit<16> dst_port; // Destination port
    bit<16> length; // Bytes of header and payload
    bit<16> checksum; // Ones' complement checksum with pseudo header; 0 for none over IPv4
}

// Base transport header, its reserved bits as ConWeave uses them: hosts send and receive zeros
// there
header bth_h {
    bit<8> opcode; // RDMA operation
    // Solicited event, migration, padding, version; in an RTT_REPLY the RTT_REQUEST's ECN
    bit<8> flags;
    bit<16> partition; // Partition key
    bit<8> path; // PathID
    bit<24> queue_pair; // Destination queue pair
    bit<1> ack_request; // Acknowledgement request
    bit<2> cw_opcode; // 0 none, 1 DATA, 2 REPLY, 3 NOTIFY
    bit<1> phase; // 1 in REROUTED packets and in CLEAR
    bit<2> epoch; // Epoch modulo 4
    bit<1> ask_reply; // Asks DstToR for an answer: RTT_REQUEST and TAIL
    bit<1> tail; // The last packet on the old path
    bit<24> psn; // Packet sequence number
}

// ConWeave's header between BTH and payload
header cwh_h {
    bit<16> ts_tx; // When SrcToR sent the packet, ticks; in timer packets when DstToR began to wait
    bit<16> ts_tail; // When SrcToR sent the epoch's TAIL, 0 before
}

// State of a timer packet
header timer_h {
    bit<5> pad; // Zero
    bit<1> waiting; // T_resume is over and TAIL came: waiting for TAIL to leave
    bit<1> draining; // The queue was resumed: waiting for it to drain
    bit<1> last; // The queue is empty: the last lap
    bit<32> dequeued; // Packets that left the queue, as egress counted them
    bit<32> word; // The word that resumes the queue
    bit<16> row; // The flow's row
}

struct ig_headers_t {
    bridge_h bridge;
    order_h order;
    bridge_h copy;
    birth_h birth;
    new_flow_h new_flow;
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    bth_h bth;
    cwh_h cwh;
    timer_h timer;
}

struct ig_paths_t {
    bit<8> first; // PathID of the first sample; in a NOTIFY or a REPLY, the path that it names
    bit<8> second; // PathID of the second sample; in a NOTIFY or a REPLY, the path that it names
    bit<1> first_busy; // 1 if the first sample is busy
    bit<1> second_busy; // 1 if the second sample is busy
    bit<2> way; // Way of a busy path: the low bits of its PathID
    bit<8> good; // PathID of a sample that is not busy; the first sample if both are
    bit<8> found; // 1 if at least one sample is not busy
    // Ticks: the time; in a NOTIFY or a REPLY, the time until which the path that it names is busy
    bit<32> time;
}

struct ig_s_t {
    bit<32> reply; // theta_reply of the flow, ticks
    // Ticks: the time until which a reply to this packet is timely; in a REPLY, a time after its
    // second pass
    bit<32> deadline;
    bit<8> expired; // 1 if the flow was silent for theta_inactive
    // In DATA, 4 + the epoch that a timely RTT_REPLY or a CLEAR ended, 0 if none; in REPLY and
    // NOTIFY, 4 + the packet's epoch
    bit<8> ended;
    bit<1> timeout; // 1 if the reply is late, and there is a path to move to
    // 1 if the packet moves the flow: at once after silence, with the next packet at a timeout
    bit<8> moves;
    bit<1> timely; // 1 if a REPLY is in time
    bit<1> same_epoch; // 1 if the REPLY's epoch is the flow's
    bit<1> same_phase; // 1 if the REPLY's phase is the flow's
}

struct ig_q_t {
    bit<3> hash_1; // Hash of the flow in way 1
    bit<3> hash_2; // Hash of the flow in way 2
    bit<3> hash_3; // Hash of the flow in way 3
    bit<3> hash_4; // Hash of the flow in way 4
    bit<16> cell_1; // Cell of the candidate in way 1
    bit<16> cell_2; // Cell of the candidate in way 2
    bit<16> cell_3; // Cell of the candidate in way 3
    bit<16> cell_4; // Cell of the candidate in way 4
    bit<1> claim; // 1 to take a free queue
    bit<1> find; // 1 to find the flow's own queue
    bit<1> found; // 1 if the flow has a queue
    bit<16> cell; // Cell of the flow's queue
    bit<7> qid; // The flow's queue
    bit<32> word; // Flow-control word that resumes the flow's queue
}

struct ig_d_t {
    bit<8> next_epoch; // The epoch after the packet's
    bit<3> age; // See [`age`]
    bit<8> early; // 1 if the packet overtook its epoch's TAIL
    // 1 if packets of the epoch are delivered as they come, because no queue was free
    bit<1> given_up;
    bit<1> cached; // 1 if a packet of the old path was seen in this epoch
    // 1 if TAIL of this epoch was seen; in a packet that opens an epoch, TAIL of the epoch before
    bit<1> tail_seen;
    bit<32> old_tx; // TX time of the last packet of the old path, ticks
    bit<32> old_rx; // RX time of the last packet of the old path, ticks
    bit<32> tail_tx; // TX time of TAIL, ticks
    // TX time of TAIL minus that of the last packet of the old path, plus `resume_margin`, ticks
    bit<32> gap;
    bit<32> resume; // T_resume: estimated arrival of TAIL, ticks; 0 = TAIL is here
    bit<2> status; // Reorder status before this packet, see [`status`]
    bit<1> before; // 1 if T_resume has not come yet
    bit<2> verdict; // See [`verdict`]
    bit<1> lost; // 1 if the flow's timer packet was lost
}

struct ig_t_t {
    bit<16> elapsed; // Ticks since the present wait began
    bit<16> over; // Not 0 if the present wait is longer than `patience`
    bit<1> fires; // 1 if T_resume has come
    bit<1> drained; // 1 if as many packets left the queue as were sent to it
}

struct ig_metadata_t {
    bit<32> now; // Ticks of 1.024 us
    bit<16> now_16; // Its low half, as ConWeave's header has it
    bit<1> bad_checksum; // 1 if the IPv4 header checksum is wrong
    bit<1> recirculated; // 1 if the packet arrived on the recirculation port
    bit<1> rdma; // 1 if the UDP port and BTH opcode are those of RDMA data
    bit<1> last_hop; // 1 if the destination is a host of this ToR
    bit<1> known; // 1 if the flow is in the flow table
    // IPv4 source of the flow's DATA; in a REPLY or NOTIFY from a path, this is the packet's
    // destination address
    bit<32> src;
    // IPv4 destination of the flow's DATA; in a REPLY or NOTIFY from a path, this is the packet's
    // source address
    bit<32> dst;
    bit<16> group; // Group of paths to the other ToR
    bit<9> port; // Port of the host
    bit<16> row; // Row of the flow in all per-flow arrays, from 1
    bit<16> src_port; // UDP source port; 0 in other packets
    bit<16> dst_port; // UDP destination port; 0 in other packets
    bit<8> epoch_tag; // 4 + the packet's epoch
    bit<10> session; // Mirror session
    ig_paths_t paths;
    ig_s_t s;
    ig_q_t q;
    ig_d_t d;
    ig_t_t t;
}

struct eg_headers_t {
    bridge_h bridge;
    order_h order;
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    bth_h bth;
    cwh_h cwh;
    timer_h timer;
}

struct eg_k_t {
    // Marking probability in 256ths; after the draw, the amount by which it exceeds the draw (0 =
    // no mark)
    bit<8> probability;
    bit<8> draw; // Random number from 0 to 255; the packet is marked if the probability is above it
    bit<13> depth; // Depth of the packet's queue when the packet was dequeued, in units of 64 cells
}

struct eg_metadata_t {
    bit<16> cell; // Cell of the reorder queue's counter
    bit<1> tail_left; // 1 if TAIL has left
    bit<48> mac; // Source MAC address of the copied packet
    bit<32> ip; // Source IPv4 address of the copied packet
    eg_k_t k;
}

// The two halves of an element of a register.
struct pair_32_t {
    bit<32> lo;
    bit<32> hi;
}

parser IngressParser(packet_in pkt,
                     out ig_headers_t hdr,
                     out ig_metadata_t ig_md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type, pkt.lookahead<bit<8>>()) {
            (ETHERTYPE_IPV4, 69) : parse_ipv4;
            (0x2001, 69) : parse_timer_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        ig_md.bad_checksum = (bit<1>) ipv4_checksum.verify();
        transition select(hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0 &&& 0x1, 0, IP_PROTOCOL_UDP) : parse_udp;
            default : accept;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        ig_md.src_port = hdr.udp.src_port;
        ig_md.dst_port = hdr.udp.dst_port;
        transition select(hdr.udp.dst_port) {
            0x12b7 : parse_bth;
            default : accept;
        }
    }

    state parse_bth {
        pkt.extract(hdr.bth);
        transition select(hdr.bth.cw_opcode) {
            0 : accept;
            default : parse_cwh;
        }
    }

    state parse_cwh {
        pkt.extract(hdr.cwh);
        transition accept;
    }

    state parse_timer_ipv4 {
        pkt.extract(hdr.ipv4);
        transition parse_timer_udp;
    }

    state parse_timer_udp {
        pkt.extract(hdr.udp);
        ig_md.src_port = hdr.udp.src_port;
        transition parse_timer_bth;
    }

    state parse_timer_bth {
        pkt.extract(hdr.bth);
        transition parse_timer_cwh;
    }

    state parse_timer_cwh {
        pkt.extract(hdr.cwh);
        transition parse_timer;
    }

    state parse_timer {
        pkt.extract(hdr.timer);
        transition accept;
    }
}

control Ingress(inout ig_headers_t hdr,
                inout ig_metadata_t ig_md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_intr_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_intr_tm_md) {
    // Hash that picks the flow's candidate in this way; the table limits it to the queues that
    // exist
    Hash<bit<3>>(HashAlgorithm_t.CRC8) pick_queue;

    // Hash that picks the flow's candidate in this way; the table limits it to the queues that
    // exist
    Hash<bit<3>>(HashAlgorithm_t.CRC16) pick_queue_1;

    // Hash that picks the flow's candidate in this way; the table limits it to the queues that
    // exist
    Hash<bit<3>>(HashAlgorithm_t.IDENTITY) pick_queue_2;

    // Hash that picks the flow's candidate in this way; the table limits it to the queues that
    // exist
    Hash<bit<3>>(HashAlgorithm_t.CRC32) pick_queue_3;

    // A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    Register<pair_32_t, bit<16>>(2048) path_busy;

    // Returns 1 if the sample is busy; removes an expired entry
    RegisterAction<pair_32_t, bit<16>, bit<1>>(path_busy) check = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) (value.hi - ig_md.paths.time) > 0) {
                if (value.lo == ((bit<32>) ig_md.paths.first)) {
                    rv = 1;
                }
            } else {
                value.lo = 0;
            }
        }
    };

    // Replaces the entry, whichever path it has
    RegisterAction<pair_32_t, bit<16>, bit<32>>(path_busy) mark = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) ig_md.paths.first;
            value.hi = ig_md.paths.time;
        }
    };

    // A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    Register<pair_32_t, bit<16>>(2048) path_busy_1;

    // Returns 1 if the sample is busy; removes an expired entry
    RegisterAction<pair_32_t, bit<16>, bit<1>>(path_busy_1) check_1 = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) (value.hi - ig_md.paths.time) > 0) {
                if (value.lo == ((bit<32>) ig_md.paths.second)) {
                    rv = 1;
                }
            } else {
                value.lo = 0;
            }
        }
    };

    // Replaces the entry, whichever path it has
    RegisterAction<pair_32_t, bit<16>, bit<32>>(path_busy_1) mark_1 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) ig_md.paths.second;
            value.hi = ig_md.paths.time;
        }
    };

    // A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    Register<pair_32_t, bit<16>>(2048) path_busy_2;

    // Returns 1 if the sample is busy; removes an expired entry
    RegisterAction<pair_32_t, bit<16>, bit<1>>(path_busy_2) check_2 = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) (value.hi - ig_md.paths.time) > 0) {
                if (value.lo == ((bit<32>) ig_md.paths.first)) {
                    rv = 1;
                }
            } else {
                value.lo = 0;
            }
        }
    };

    // Replaces the entry, whichever path it has
    RegisterAction<pair_32_t, bit<16>, bit<32>>(path_busy_2) mark_2 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) ig_md.paths.first;
            value.hi = ig_md.paths.time;
        }
    };

    // A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    Register<pair_32_t, bit<16>>(2048) path_busy_3;

    // Returns 1 if the sample is busy; removes an expired entry
    RegisterAction<pair_32_t, bit<16>, bit<1>>(path_busy_3) check_3 = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) (value.hi - ig_md.paths.time) > 0) {
                if (value.lo == ((bit<32>) ig_md.paths.second)) {
                    rv = 1;
                }
            } else {
                value.lo = 0;
            }
        }
    };

    // Replaces the entry, whichever path it has
    RegisterAction<pair_32_t, bit<16>, bit<32>>(path_busy_3) mark_3 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) ig_md.paths.second;
            value.hi = ig_md.paths.time;
        }
    };

    // A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    Register<pair_32_t, bit<16>>(2048) path_busy_4;

    // Returns 1 if the sample is busy; removes an expired entry
    RegisterAction<pair_32_t, bit<16>, bit<1>>(path_busy_4) check_4 = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) (value.hi - ig_md.paths.time) > 0) {
                if (value.lo == ((bit<32>) ig_md.paths.first)) {
                    rv = 1;
                }
            } else {
                value.lo = 0;
            }
        }
    };

    // Replaces the entry, whichever path it has
    RegisterAction<pair_32_t, bit<16>, bit<32>>(path_busy_4) mark_4 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) ig_md.paths.first;
            value.hi = ig_md.paths.time;
        }
    };

    // A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    Register<pair_32_t, bit<16>>(2048) path_busy_5;

    // Returns 1 if the sample is busy; removes an expired entry
    RegisterAction<pair_32_t, bit<16>, bit<1>>(path_busy_5) check_5 = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) (value.hi - ig_md.paths.time) > 0) {
                if (value.lo == ((bit<32>) ig_md.paths.second)) {
                    rv = 1;
                }
            } else {
                value.lo = 0;
            }
        }
    };

    // Replaces the entry, whichever path it has
    RegisterAction<pair_32_t, bit<16>, bit<32>>(path_busy_5) mark_5 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) ig_md.paths.second;
            value.hi = ig_md.paths.time;
        }
    };

    // A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    Register<pair_32_t, bit<16>>(2048) path_busy_6;

    // Returns 1 if the sample is busy; removes an expired entry
    RegisterAction<pair_32_t, bit<16>, bit<1>>(path_busy_6) check_6 = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) (value.hi - ig_md.paths.time) > 0) {
                if (value.lo == ((bit<32>) ig_md.paths.first)) {
                    rv = 1;
                }
            } else {
                value.lo = 0;
            }
        }
    };

    // Replaces the entry, whichever path it has
    RegisterAction<pair_32_t, bit<16>, bit<32>>(path_busy_6) mark_6 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) ig_md.paths.first;
            value.hi = ig_md.paths.time;
        }
    };

    // A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    Register<pair_32_t, bit<16>>(2048) path_busy_7;

    // Returns 1 if the sample is busy; removes an expired entry
    RegisterAction<pair_32_t, bit<16>, bit<1>>(path_busy_7) check_7 = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) (value.hi - ig_md.paths.time) > 0) {
                if (value.lo == ((bit<32>) ig_md.paths.second)) {
                    rv = 1;
                }
            } else {
                value.lo = 0;
            }
        }
    };

    // Replaces the entry, whichever path it has
    RegisterAction<pair_32_t, bit<16>, bit<32>>(path_busy_7) mark_7 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) ig_md.paths.second;
            value.hi = ig_md.paths.time;
        }
    };

    // Time of the flow's last DATA, ticks; 0 = none yet
    Register<bit<32>, bit<16>>(4096) active_time;

    RegisterAction<bit<32>, bit<16>, bit<8>>(active_time) active_check = {
        void apply(inout bit<32> value, out bit<8> rv) {
            if (value == 0 || (int<32>) ig_md.now - (int<32>) value > 0x12c) {
                rv = 1;
            }
            value = ig_md.now;
        }
    };

    // 4 + the epoch that a timely RTT_REPLY or a CLEAR ended, until the next DATA; 0 = none
    Register<bit<8>, bit<16>>(4096) ended;

    RegisterAction<bit<8>, bit<16>, bit<8>>(ended) ended_take = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
            value = 0;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(ended) ended_write_ended = {
        void apply(inout bit<8> value) {
            value = ig_md.s.ended;
        }
    };

    // Time until which an RTT_REPLY is timely, ticks; 0 = not armed
    Register<bit<32>, bit<16>>(4096) reply_timer;

    RegisterAction<bit<32>, bit<16>, bit<1>>(reply_timer) timer_check = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value != 0 && (int<32>) (ig_md.now - value) > 0) {
                value = 0;
                rv = 1;
            }
        }
    };

    // Moves the deadline of a timely reply, so that no timeout comes before the reply's second pass
    RegisterAction<bit<32>, bit<16>, bit<1>>(reply_timer) timer_timely = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value != 0 && (int<32>) (value - ig_md.now) >= 0) {
                value = ig_md.s.deadline;
                rv = 1;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(reply_timer) reply_timer_write_deadline = {
        void apply(inout bit<32> value) {
            value = ig_md.s.deadline;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(reply_timer) reply_timer_write_0 = {
        void apply(inout bit<32> value) {
            value = 0;
        }
    };

    // 4 + the epoch modulo 4
    Register<bit<8>, bit<16>>(4096, 4) epoch;

    // Starts a new epoch after silence, or if the epoch that ended is the present one: a reply
    // whose second pass comes after silence has started a new epoch ends nothing
    RegisterAction<bit<8>, bit<16>, bit<2>>(epoch) epoch_step = {
        void apply(inout bit<8> value, out bit<2> rv) {
            if (ig_md.s.expired == 1 || value == ig_md.s.ended) {
                if (value == 7) {
                    value = 4;
                } else {
                    value = value + 1;
                }
            }
            rv = (bit<2>) value;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<1>>(epoch) epoch_compare = {
        void apply(inout bit<8> value, out bit<1> rv) {
            if (value == ig_md.s.ended) {
                rv = 1;
            }
        }
    };

    // 1 after TAIL of the epoch was sent
    Register<bit<8>, bit<16>>(4096) phase;

    RegisterAction<bit<8>, bit<16>, bit<1>>(phase) phase_compare = {
        void apply(inout bit<8> value, out bit<1> rv) {
            if (value == ((bit<8>) hdr.bth.phase)) {
                rv = 1;
            }
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(phase) phase_write_0 = {
        void apply(inout bit<8> value) {
            value = 0;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(phase) phase_write_1 = {
        void apply(inout bit<8> value) {
            value = 1;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<1>>(phase) phase_read_1 = {
        void apply(inout bit<8> value, out bit<1> rv) {
            rv = (bit<1>) value;
        }
    };

    // Time at which TAIL was sent, ticks; 0 = not in this epoch
    Register<bit<32>, bit<16>>(4096) tail_time;

    RegisterAction<bit<32>, bit<16>, bit<32>>(tail_time) tail_time_write_0 = {
        void apply(inout bit<32> value) {
            value = 0;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<16>>(tail_time) tail_time_write_now = {
        void apply(inout bit<32> value, out bit<16> rv) {
            value = ig_md.now;
            rv = (bit<16>) value;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<16>>(tail_time) tail_time_read = {
        void apply(inout bit<32> value, out bit<16> rv) {
            rv = (bit<16>) value;
        }
    };

    // PathID in use; 0 = none yet
    Register<bit<8>, bit<16>>(4096) path;

    // Returns the flow's path, after a move the new one
    RegisterAction<bit<8>, bit<16>, bit<8>>(path) path_now = {
        void apply(inout bit<8> value, out bit<8> rv) {
            if (ig_md.s.moves == 1 || value == 0) {
                value = ig_md.paths.good;
            }
            rv = value;
        }
    };

    // Returns the old path for TAIL, and stores the new one for later packets
    RegisterAction<bit<8>, bit<16>, bit<8>>(path) path_next = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
            if (ig_md.s.moves == 1) {
                value = ig_md.paths.good;
            }
        }
    };

    // Owner of each reorder queue: its row, or 0
    Register<bit<32>, bit<16>>(1024) owner;

    RegisterAction2<bit<32>, bit<16>, bit<1>, bit<16>>(owner) claim = {
        void apply(inout bit<32> value, out bit<1> rv1, out bit<16> rv2) {
            if (value == 0) {
                value = (bit<32>) ig_md.row;
                rv1 = 1;
            }
            rv2 = this.address<bit<16>>();
        }
    };

    RegisterAction2<bit<32>, bit<16>, bit<1>, bit<16>>(owner) find = {
        void apply(inout bit<32> value, out bit<1> rv1, out bit<16> rv2) {
            if (value == ((bit<32>) ig_md.row)) {
                rv1 = 1;
            }
            rv2 = this.address<bit<16>>();
        }
    };

    // Frees the cell if the flow owns it
    RegisterAction<bit<32>, bit<16>, bit<32>>(owner) release = {
        void apply(inout bit<32> value) {
            if (value == ((bit<32>) ig_md.row)) {
                value = 0;
            }
        }
    };

    // Owner of each reorder queue: its row, or 0
    Register<bit<32>, bit<16>>(1024) owner_1;

    RegisterAction2<bit<32>, bit<16>, bit<1>, bit<16>>(owner_1) claim_1 = {
        void apply(inout bit<32> value, out bit<1> rv1, out bit<16> rv2) {
            if (value == 0) {
                value = (bit<32>) ig_md.row;
                rv1 = 1;
            }
            rv2 = this.address<bit<16>>();
        }
    };

    RegisterAction2<bit<32>, bit<16>, bit<1>, bit<16>>(owner_1) find_1 = {
        void apply(inout bit<32> value, out bit<1> rv1, out bit<16> rv2) {
            if (value == ((bit<32>) ig_md.row)) {
                rv1 = 1;
            }
            rv2 = this.address<bit<16>>();
        }
    };

    // Frees the cell if the flow owns it
    RegisterAction<bit<32>, bit<16>, bit<32>>(owner_1) release_1 = {
        void apply(inout bit<32> value) {
            if (value == ((bit<32>) ig_md.row)) {
                value = 0;
            }
        }
    };

    // Owner of each reorder queue: its row, or 0
    Register<bit<32>, bit<16>>(1024) owner_2;

    RegisterAction2<bit<32>, bit<16>, bit<1>, bit<16>>(owner_2) claim_2 = {
        void apply(inout bit<32> value, out bit<1> rv1, out bit<16> rv2) {
            if (value == 0) {
                value = (bit<32>) ig_md.row;
                rv1 = 1;
            }
            rv2 = this.address<bit<16>>();
        }
    };

    RegisterAction2<bit<32>, bit<16>, bit<1>, bit<16>>(owner_2) find_2 = {
        void apply(inout bit<32> value, out bit<1> rv1, out bit<16> rv2) {
            if (value == ((bit<32>) ig_md.row)) {
                rv1 = 1;
            }
            rv2 = this.address<bit<16>>();
        }
    };

    // Frees the cell if the flow owns it
    RegisterAction<bit<32>, bit<16>, bit<32>>(owner_2) release_2 = {
        void apply(inout bit<32> value) {
            if (value == ((bit<32>) ig_md.row)) {
                value = 0;
            }
        }
    };

    // Owner of each reorder queue: its row, or 0
    Register<bit<32>, bit<16>>(1024) owner_3;

    RegisterAction2<bit<32>, bit<16>, bit<1>, bit<16>>(owner_3) claim_3 = {
        void apply(inout bit<32> value, out bit<1> rv1, out bit<16> rv2) {
            if (value == 0) {
                value = (bit<32>) ig_md.row;
                rv1 = 1;
            }
            rv2 = this.address<bit<16>>();
        }
    };

    RegisterAction2<bit<32>, bit<16>, bit<1>, bit<16>>(owner_3) find_3 = {
        void apply(inout bit<32> value, out bit<1> rv1, out bit<16> rv2) {
            if (value == ((bit<32>) ig_md.row)) {
                rv1 = 1;
            }
            rv2 = this.address<bit<16>>();
        }
    };

    // Frees the cell if the flow owns it
    RegisterAction<bit<32>, bit<16>, bit<32>>(owner_3) release_3 = {
        void apply(inout bit<32> value) {
            if (value == ((bit<32>) ig_md.row)) {
                value = 0;
            }
        }
    };

    // Epoch modulo 4; 4 before the first packet
    Register<bit<8>, bit<16>>(4096, 4) epoch_rx;

    // Compares the packet's epoch with the present one and the one before; any other epoch is new
    // and is stored
    RegisterAction<bit<8>, bit<16>, bit<3>>(epoch_rx) epoch_test = {
        void apply(inout bit<8> value, out bit<3> rv) {
            rv = this.predicate(value == ((bit<8>) hdr.bth.epoch), value == ig_md.d.next_epoch);
            if (value != ((bit<8>) hdr.bth.epoch) && value != ig_md.d.next_epoch) {
                value = (bit<8>) hdr.bth.epoch;
            }
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<3>>(epoch_rx) epoch_peek = {
        void apply(inout bit<8> value, out bit<3> rv) {
            rv = this.predicate(value == ((bit<8>) hdr.bth.epoch), value == ig_md.d.next_epoch);
        }
    };

    // TX time of the last packet of the old path
    Register<bit<32>, bit<16>>(4096) phase0_tx_rx;

    RegisterAction<bit<32>, bit<16>, bit<32>>(phase0_tx_rx) phase0_tx_rx_write_ts_tx = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = (bit<32>) hdr.cwh.ts_tx;
            rv = value;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(phase0_tx_rx) phase0_tx_rx_read = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    // RX time of the last packet of the old path
    Register<bit<32>, bit<16>>(4096) phase0_rx_rx;

    RegisterAction<bit<32>, bit<16>, bit<32>>(phase0_rx_rx) phase0_rx_rx_write_now = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = ig_md.now;
            rv = value;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(phase0_rx_rx) phase0_rx_rx_read = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    // 1 after TAIL came or the timer packet stopped waiting for it: REROUTED packets of the epoch
    // are in order
    Register<bit<8>, bit<16>>(4096) phase_rx;

    RegisterAction<bit<8>, bit<16>, bit<8>>(phase_rx) phase_read = {
        void apply(inout bit<8> value, out bit<8> rv) {
            if (value == 0) {
                rv = 1;
            }
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(phase_rx) phase_rx_write_tail = {
        void apply(inout bit<8> value) {
            value = (bit<8>) hdr.bth.tail;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(phase_rx) phase_rx_write_1 = {
        void apply(inout bit<8> value) {
            value = 1;
        }
    };

    // 1 after a packet of the old path was seen in this epoch
    Register<bit<8>, bit<16>>(4096) phase_cached_rx;

    RegisterAction<bit<8>, bit<16>, bit<1>>(phase_cached_rx) phase_cached_rx_write_1 = {
        void apply(inout bit<8> value, out bit<1> rv) {
            value = 1;
            rv = (bit<1>) value;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(phase_cached_rx) phase_cached_rx_write_0 = {
        void apply(inout bit<8> value) {
            value = 0;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<1>>(phase_cached_rx) phase_cached_rx_read = {
        void apply(inout bit<8> value, out bit<1> rv) {
            rv = (bit<1>) value;
        }
    };

    // 1 after TAIL was seen in this epoch
    Register<bit<8>, bit<16>>(4096) tail_cached_rx;

    RegisterAction<bit<8>, bit<16>, bit<1>>(tail_cached_rx) tail_new = {
        void apply(inout bit<8> value, out bit<1> rv) {
            rv = (bit<1>) value;
            value = (bit<8>) hdr.bth.tail;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<1>>(tail_cached_rx) tail_cached_rx_write_1 = {
        void apply(inout bit<8> value, out bit<1> rv) {
            value = 1;
            rv = (bit<1>) value;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<1>>(tail_cached_rx) tail_cached_rx_read = {
        void apply(inout bit<8> value, out bit<1> rv) {
            rv = (bit<1>) value;
        }
    };

    // TX time of the epoch's TAIL
    Register<bit<32>, bit<16>>(4096) tail_time_rx;

    RegisterAction<bit<32>, bit<16>, bit<32>>(tail_time_rx) tail_time_rx_write_ts_tail = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = (bit<32>) hdr.cwh.ts_tail;
            rv = value;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(tail_time_rx) tail_time_rx_read = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    // 1 if no queue was free for the epoch
    Register<bit<8>, bit<16>>(4096) give_up;

    RegisterAction<bit<8>, bit<16>, bit<8>>(give_up) give_up_write_0 = {
        void apply(inout bit<8> value) {
            value = 0;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<1>>(give_up) give_up_write_1 = {
        void apply(inout bit<8> value, out bit<1> rv) {
            value = 1;
            rv = (bit<1>) value;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<1>>(give_up) give_up_read = {
        void apply(inout bit<8> value, out bit<1> rv) {
            rv = (bit<1>) value;
        }
    };

    // Reorder status: 0 idle, 1 waiting, 2 draining, 3 draining what an earlier epoch left
    Register<bit<8>, bit<16>>(4096) reorder_status_rx;

    RegisterAction<bit<8>, bit<16>, bit<2>>(reorder_status_rx) status_new = {
        void apply(inout bit<8> value, out bit<2> rv) {
            rv = (bit<2>) value;
            if (value != 0) {
                value = 3;
            } else if (ig_md.d.early == 1) {
                value = 1;
            }
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<2>>(reorder_status_rx) status_data = {
        void apply(inout bit<8> value, out bit<2> rv) {
            rv = (bit<2>) value;
            if (value == 0 && ig_md.d.early == 1) {
                value = 1;
            }
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<2>>(reorder_status_rx) status_drain = {
        void apply(inout bit<8> value, out bit<2> rv) {
            rv = (bit<2>) value;
            if (value == 1) {
                value = 2;
            }
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(reorder_status_rx) reorder_status_rx_write_0 = {
        void apply(inout bit<8> value) {
            value = 0;
        }
    };

    // T_resume; 0 = it has come
    Register<bit<32>, bit<16>>(4096) resume_time_rx;

    RegisterAction<bit<32>, bit<16>, bit<1>>(resume_time_rx) resume_refresh = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value != 0) {
                value = ig_md.d.resume;
                rv = 1;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<1>>(resume_time_rx) resume_fire = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value == 0 || (int<32>) (ig_md.now - value) > 0) {
                value = 0;
                rv = 1;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(resume_time_rx) resume_time_rx_write_resume = {
        void apply(inout bit<32> value) {
            value = ig_md.d.resume;
        }
    };

    // Packets sent to the reorder queue
    Register<bit<32>, bit<16>>(4096) queued;

    RegisterAction<bit<32>, bit<16>, bit<32>>(queued) queued_count = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<1>>(queued) queued_compare = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value == hdr.timer.dequeued) {
                rv = 1;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(queued) queued_write_0 = {
        void apply(inout bit<32> value) {
            value = 0;
        }
    };

    // Time at which the flow's timer packet was seen last
    Register<bit<32>, bit<16>>(4096) timer_time_rx;

    // Returns 1 if the timer packet was not seen for `watchdog` ticks: another one is made
    RegisterAction<bit<32>, bit<16>, bit<1>>(timer_time_rx) check_8 = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if ((int<32>) ig_md.now - (int<32>) value > 64) {
                value = ig_md.now;
                rv = 1;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(timer_time_rx) timer_time_rx_write_now = {
        void apply(inout bit<32> value) {
            value = ig_md.now;
        }
    };

    // Ticks of 1.024 us of the last packet: nobody reads it again
    Register<bit<32>, bit<1>>(1) ticks;

    RegisterAction<bit<32>, bit<1>, bit<32>>(ticks) read_clock = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = ig_intr_prsr_md.global_tstamp[41:10];
            rv = value;
        }
    };

    // Packets that may reach their host out of order: 0 no free queue, 1 an older queue still
    // drains, 2 of the epoch before, 3 new epochs while packets waited
    Counter<bit<64>, bit<2>>(4, CounterType_t.PACKETS) unsorted;

    // Timer packets made in place of lost ones
    Counter<bit<64>, bit<1>>(1, CounterType_t.PACKETS) revived;

    // Timer packets that stopped waiting: 0 for TAIL to leave, 1 for the queue to drain
    Counter<bit<64>, bit<1>>(2, CounterType_t.PACKETS) forced;

    // Queues that T_resume resumed before TAIL came: TAIL was lost, or is later than expected and
    // the packets in the queue overtake packets on the old path
    Counter<bit<64>, bit<1>>(1, CounterType_t.PACKETS) resumed_unseen;

    action set_class(bit<1> queue, bit<3> traffic_class) {
        ig_intr_tm_md.qid = (bit<7>) queue;
        ig_intr_tm_md.ingress_cos = traffic_class;
    }

    // DSCP to queue (0: data, 1: control) and traffic class
    table class {
        key = {
            hdr.ipv4.dscp : exact;
        }
        actions = {
            set_class;
        }
        default_action = set_class(0, 0);
        size = 64;
    }

    action to_host(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
        ig_md.port = port;
        ig_md.last_hop = 1;
    }

    action to_group(bit<16> group) {
        ig_md.group = group;
    }

    @sluice_drop("no_route")
    action unreachable() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: No route to the destination
    }

    // Hosts of this ToR, and prefixes of other ToRs to their groups of paths
    table route {
        key = {
            ig_md.dst : lpm;
        }
        actions = {
            to_host;
            to_group;
            @defaultonly unreachable;
        }
        default_action = unreachable();
        size = 2048;
    }

    action is_rdma() {
        ig_md.rdma = 1;
    }

    // RDMA operations that ConWeave reroutes
    table rdma {
        key = {
            ig_md.dst_port : exact;
            hdr.bth.opcode : exact;
        }
        actions = {
            is_rdma;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 64;
    }

    action hash() {
        ig_md.q.hash_1 = pick_queue.get({ hdr.ipv4.src, hdr.ipv4.dst, ig_md.src_port });
    }

    action hash_1() {
        ig_md.q.hash_2 = pick_queue_1.get({ hdr.ipv4.src, hdr.ipv4.dst, ig_md.src_port });
    }

    action hash_2() {
        ig_md.q.hash_3 = pick_queue_2.get({ hdr.ipv4.src, hdr.ipv4.dst, ig_md.src_port });
    }

    action hash_3() {
        ig_md.q.hash_4 = pick_queue_3.get({ hdr.ipv4.src, hdr.ipv4.dst, ig_md.src_port });
    }

    action set_next(bit<8> epoch, bit<8> tag) {
        ig_md.d.next_epoch = epoch;
        ig_md.epoch_tag = tag;
    }

    // The packet's epoch to the next epoch and to the tag 4 + epoch, because a two-bit field has no
    // adder
    table epoch_after {
        key = {
            hdr.bth.epoch : exact;
        }
        actions = {
            set_next;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : set_next(1, 4);
            1 : set_next(2, 5);
            2 : set_next(3, 6);
            3 : set_next(0, 7);
        }
        size = 4;
    }

    action set_flow(bit<16> row, bit<32> theta_reply) {
        ig_md.row = row;
        ig_md.s.reply = theta_reply;
        ig_md.known = 1;
    }

    // Flows under ConWeave's control, by their key in the direction of DATA
    @sluice_idle("notify", 6, "5ms", "100ms")
    table flow {
        key = {
            ig_md.src : exact;
            ig_md.dst : exact;
            ig_md.src_port : exact;
        }
        actions = {
            set_flow;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 4096;
        idle_timeout = true;
    }

    action set_candidate(bit<16> number) {
        ig_md.q.cell_1 = number;
    }

    // Port and hash to a cell
    table candidate {
        key = {
            ig_md.port : exact;
            ig_md.q.hash_1 : exact;
        }
        actions = {
            set_candidate;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    action set_candidate_1(bit<16> number) {
        ig_md.q.cell_2 = number;
    }

    // Port and hash to a cell
    table candidate_1 {
        key = {
            ig_md.port : exact;
            ig_md.q.hash_2 : exact;
        }
        actions = {
            set_candidate_1;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    action set_candidate_2(bit<16> number) {
        ig_md.q.cell_3 = number;
    }

    // Port and hash to a cell
    table candidate_2 {
        key = {
            ig_md.port : exact;
            ig_md.q.hash_3 : exact;
        }
        actions = {
            set_candidate_2;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    action set_candidate_3(bit<16> number) {
        ig_md.q.cell_4 = number;
    }

    // Port and hash to a cell
    table candidate_3 {
        key = {
            ig_md.port : exact;
            ig_md.q.hash_4 : exact;
        }
        actions = {
            set_candidate_3;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    // Ports of the groups
    ActionProfile(2048) ecmp_ports_profile;
    Hash<bit<51>>(HashAlgorithm_t.CRC64) flow_hash;
    ActionSelector(ecmp_ports_profile, flow_hash, SelectorMode_t.RESILIENT, 32, 256) ecmp_ports;

    action ecmp_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    // Group to the port that the flow's hash picks: for what ConWeave leaves alone
    table ecmp {
        key = {
            ig_md.group : exact;
            hdr.ipv4.src : selector;
            hdr.ipv4.dst : selector;
            hdr.ipv4.protocol : selector;
            ig_md.src_port : selector;
            ig_md.dst_port : selector;
        }
        actions = {
            ecmp_to;
        }
        size = 2048;
        implementation = ecmp_ports;
    }

    // Paths that the first sample is drawn from
    ActionProfile(2048) first_paths_profile;
    Hash<bit<51>>(HashAlgorithm_t.CRC64) first_draw;
    ActionSelector(first_paths_profile, first_draw, SelectorMode_t.RESILIENT, 32, 256) first_paths;

    action set_first(bit<8> path) {
        ig_md.paths.first = path;
    }

    // First sample of the paths to the destination
    table sample_first {
        key = {
            ig_md.group : exact;
            ig_md.now : selector;
        }
        actions = {
            set_first;
        }
        size = 2048;
        implementation = first_paths;
    }

    // Paths that the second sample is drawn from
    ActionProfile(2048) second_paths_profile;
    @sluice_hash("matrix", 1)
    Hash<bit<51>>(HashAlgorithm_t.RANDOM) second_draw;
    ActionSelector(
        second_paths_profile, second_draw, SelectorMode_t.RESILIENT, 32, 256
    ) second_paths;

    action set_second(bit<8> path) {
        ig_md.paths.second = path;
    }

    // Second sample of the paths to the destination
    table sample_second {
        key = {
            ig_md.group : exact;
            ig_md.now : selector;
        }
        actions = {
            set_second;
        }
        size = 2048;
        implementation = second_paths;
    }

    @sluice_consume("done")
    action drop_done() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: Timer packet whose queue is empty
    }

    @sluice_drop("foreign")
    action drop_foreign() {
        // reason: A timer packet that does not come from the recirculation port
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    @sluice_drop("bad_checksum")
    action drop_bad_checksum() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The IPv4 header checksum is wrong
    }

    @sluice_drop("ttl_expired")
    action drop_ttl_expired() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The time to live is used up
    }

    action set_queue_of(bit<32> resume, bit<7> queue) {
        ig_md.q.word = resume;
        ig_md.q.qid = queue;
    }

    // Cell to the queue and the word that resumes it
    table queue {
        key = {
            ig_md.q.cell : exact;
        }
        actions = {
            set_queue_of;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    @sluice_consume("no_flow")
    action drop_no_flow() {
        // reason: RTT_REPLY, CLEAR or NOTIFY of a flow that is not in the flow table
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    @sluice_consume("notify_done")
    action drop_notify_done() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: NOTIFY that marked a path as busy
    }

    @sluice_consume("reply_done")
    action drop_reply_done() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: RTT_REPLY or CLEAR that ended an epoch
    }

    @sluice_consume("reply_late")
    action drop_reply_late() {
        // reason: RTT_REPLY or CLEAR that is late, or of another epoch or phase
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    action to_path(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    // PathID to port
    table path_port {
        key = {
            hdr.bth.path : exact;
        }
        actions = {
            to_path;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 256;
    }

    action bridge_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    @sluice_drop("no_port")
    action nowhere() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: No port for this MAC address, and no default port
    }

    // Bridges what is no IPv4 without options; the control plane sets the port of unknown addresses
    table l2 {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            bridge_to;
            @defaultonly nowhere;
        }
        default_action = nowhere();
        size = 1024;
    }

    apply {
        ig_md.now = read_clock.execute(0);
        ig_md.now_16 = ig_intr_prsr_md.global_tstamp[25:10];
        hdr.bridge.setValid();
        if (ig_intr_md.ingress_port == 6) {
            ig_md.recirculated = 1;
        }
        if (hdr.ipv4.isValid()) {
            if (hdr.cwh.isValid() && hdr.bth.cw_opcode != 1 && ig_intr_md.ingress_port != 6) {
                ig_md.src = hdr.ipv4.dst;
                ig_md.dst = hdr.ipv4.src;
            } else {
                ig_md.src = hdr.ipv4.src;
                ig_md.dst = hdr.ipv4.dst;
            }
            class.apply();
            route.apply();
            if (hdr.bth.isValid()) {
                rdma.apply();
                hash();
                hash_1();
                hash_2();
                hash_3();
                epoch_after.apply();
                if (hdr.timer.isValid()) {
                    ig_md.row = hdr.timer.row;
                } else if (ig_intr_md.ingress_port[8:7] == 0) {
                    flow.apply();
                }
                candidate.apply();
                candidate_1.apply();
                candidate_2.apply();
                candidate_3.apply();
            }
            if (ig_md.last_hop == 0) {
                ecmp.apply();
                sample_first.apply();
                sample_second.apply();
            }
            if (hdr.timer.isValid()) {
                if (ig_md.recirculated == 1) {
                    ig_md.t.elapsed = ig_md.now_16 - hdr.cwh.ts_tx;
                    ig_md.t.over = ig_md.t.elapsed & 0xc000;
                    timer_time_rx_write_now.execute(ig_md.row);
                    ig_md.d.age = epoch_peek.execute(ig_md.row);
                    if (hdr.timer.draining == 1 && ig_md.d.age == 2 && hdr.bth.phase == 1) {
                        phase_rx_write_1.execute(ig_md.row);
                    }
                    ig_md.d.tail_seen = tail_cached_rx_read.execute(ig_md.row);
                    if (hdr.timer.last == 1) {
                        reorder_status_rx_write_0.execute(ig_md.row);
                        release.execute(ig_md.q.cell_1);
                        release_1.execute(ig_md.q.cell_2);
                        release_2.execute(ig_md.q.cell_3);
                        release_3.execute(ig_md.q.cell_4);
                        queued_write_0.execute(ig_md.row);
                    } else if (hdr.timer.draining == 1) {
                        ig_md.d.status = status_drain.execute(ig_md.row);
                        ig_md.t.drained = queued_compare.execute(ig_md.row);
                    } else {
                        ig_md.d.status = status_data.execute(ig_md.row);
                        if (hdr.timer.waiting == 0) {
                            ig_md.t.fires = resume_fire.execute(ig_md.row);
                        }
                    }
                    ig_intr_tm_md.ucast_egress_port = 6;
                    ig_intr_tm_md.qid = 1;
                    hdr.bridge.kind = 0;
                    if (hdr.timer.last == 1) {
                        if (ig_md.t.over == 0) {
                            ig_intr_dprsr_md.adv_flow_ctl = hdr.timer.word | 1;
                        }
                        if (ig_md.d.age == 2 && hdr.bth.phase == 1) {
                            ig_intr_dprsr_md.mirror_type = MIRROR_TYPE_COPY;
                            ig_md.session = 221;
                            hdr.copy.kind = 1;
                        }
                        drop_done();
                    } else if (hdr.timer.draining == 1) {
                        if (ig_md.t.drained == 1) {
                            hdr.timer.last = 1;
                        } else if (ig_md.t.over != 0) {
                            hdr.timer.last = 1;
                            forced.count(1);
                        }
                    } else if (hdr.timer.waiting == 1) {
                        if (ig_md.t.over != 0) {
                            hdr.timer.waiting = 0;
                            hdr.timer.draining = 1;
                            ig_intr_dprsr_md.adv_flow_ctl = hdr.timer.word;
                            hdr.cwh.ts_tx = ig_md.now_16;
                            forced.count(0);
                        }
                    } else if (ig_md.d.status != 1) {
                        hdr.timer.draining = 1;
                        hdr.cwh.ts_tx = ig_md.now_16;
                    } else if (ig_md.t.fires == 1) {
                        hdr.cwh.ts_tx = ig_md.now_16;
                        if (ig_md.d.tail_seen == 1) {
                            hdr.timer.waiting = 1;
                        } else {
                            hdr.timer.draining = 1;
                            ig_intr_dprsr_md.adv_flow_ctl = hdr.timer.word;
                            resumed_unseen.count(0);
                        }
                    }
                } else {
                    drop_foreign();
                }
            } else if (ig_md.bad_checksum == 1) {
                drop_bad_checksum();
            } else if (ig_md.recirculated == 0 && hdr.ipv4.ttl <= 1) {
                drop_ttl_expired();
            } else if (hdr.cwh.isValid()) {
                if (hdr.bth.cw_opcode == 1) {
                    if (ig_md.last_hop == 1) {
                        if (ig_md.known == 1) {
                            ig_md.d.age = epoch_test.execute(ig_md.row);
                            if (ig_md.d.age == 1) {
                                phase_rx_write_tail.execute(ig_md.row);
                                if (hdr.bth.phase == 1 && hdr.bth.tail == 0) {
                                    ig_md.d.early = 1;
                                }
                                ig_md.d.tail_seen = tail_new.execute(ig_md.row);
                                give_up_write_0.execute(ig_md.row);
                            } else if (ig_md.d.age == 2) {
                                if (hdr.bth.tail == 1) {
                                    phase_rx_write_1.execute(ig_md.row);
                                    ig_md.d.tail_seen = tail_cached_rx_write_1.execute(ig_md.row);
                                } else if (hdr.bth.phase == 1) {
                                    ig_md.d.early = phase_read.execute(ig_md.row);
                                }
                                if (ig_intr_md.resubmit_flag == 1) {
                                    ig_md.d.given_up = give_up_write_1.execute(ig_md.row);
                                } else {
                                    ig_md.d.given_up = give_up_read.execute(ig_md.row);
                                }
                            }
                            if (ig_md.d.age != 4) {
                                if (hdr.bth.phase == 0) {
                                    ig_md.d.old_tx = phase0_tx_rx_write_ts_tx.execute(ig_md.row);
                                    ig_md.d.old_rx = phase0_rx_rx_write_now.execute(ig_md.row);
                                    ig_md.d.cached = phase_cached_rx_write_1.execute(ig_md.row);
                                } else {
                                    ig_md.d.old_tx = phase0_tx_rx_read.execute(ig_md.row);
                                    ig_md.d.old_rx = phase0_rx_rx_read.execute(ig_md.row);
                                    if (ig_md.d.age == 1) {
                                        phase_cached_rx_write_0.execute(ig_md.row);
                                    } else {
                                        ig_md.d.cached = phase_cached_rx_read.execute(ig_md.row);
                                    }
                                }
                                if (hdr.bth.tail == 1 || hdr.bth.phase == 1) {
                                    ig_md.d.tail_tx = tail_time_rx_write_ts_tail.execute(ig_md.row);
                                } else {
                                    ig_md.d.tail_tx = tail_time_rx_read.execute(ig_md.row);
                                }
                            }
                            if (ig_md.d.old_tx[15:15] == 1 && ig_md.d.tail_tx[15:15] == 0) {
                                ig_md.d.gap = ig_md.d.tail_tx + 0x10010;
                            } else {
                                ig_md.d.gap = ig_md.d.tail_tx + 16;
                            }
                            ig_md.d.gap = ig_md.d.gap |-| ig_md.d.old_tx;
                            if (ig_md.d.cached == 1) {
                                ig_md.d.resume = ig_md.d.old_rx + ig_md.d.gap;
                            } else {
                                ig_md.d.resume = ig_md.now + 200;
                            }
                            if (hdr.bth.tail == 1) {
                                ig_md.d.resume = 0;
                            } else if (ig_md.d.resume == 0) {
                                ig_md.d.resume = 1;
                            }
                            if (ig_md.d.given_up == 1) {
                                ig_md.d.early = 0;
                            }
                            if (ig_intr_md.resubmit_flag == 1) {
                                reorder_status_rx_write_0.execute(ig_md.row);
                            } else if (ig_md.d.age == 1) {
                                ig_md.d.status = status_new.execute(ig_md.row);
                            } else if (ig_md.d.age == 2) {
                                ig_md.d.status = status_data.execute(ig_md.row);
                            }
                            if (ig_md.d.status == 0 && ig_md.d.early == 1) {
                                ig_md.q.claim = 1;
                            } else if (ig_md.d.status != 0) {
                                ig_md.q.find = 1;
                            }
                            if (ig_md.q.found == 0) {
                                if (ig_md.q.claim == 1) {
                                    ig_md.q.found = claim.execute(ig_md.q.cell_1, ig_md.q.cell);
                                } else if (ig_md.q.find == 1) {
                                    ig_md.q.found = find.execute(ig_md.q.cell_1, ig_md.q.cell);
                                }
                            }
                            if (ig_md.q.found == 0) {
                                if (ig_md.q.claim == 1) {
                                    ig_md.q.found = claim_1.execute(ig_md.q.cell_2, ig_md.q.cell);
                                } else if (ig_md.q.find == 1) {
                                    ig_md.q.found = find_1.execute(ig_md.q.cell_2, ig_md.q.cell);
                                }
                            }
                            if (ig_md.q.found == 0) {
                                if (ig_md.q.claim == 1) {
                                    ig_md.q.found = claim_2.execute(ig_md.q.cell_3, ig_md.q.cell);
                                } else if (ig_md.q.find == 1) {
                                    ig_md.q.found = find_2.execute(ig_md.q.cell_3, ig_md.q.cell);
                                }
                            }
                            if (ig_md.q.found == 0) {
                                if (ig_md.q.claim == 1) {
                                    ig_md.q.found = claim_3.execute(ig_md.q.cell_4, ig_md.q.cell);
                                } else if (ig_md.q.find == 1) {
                                    ig_md.q.found = find_3.execute(ig_md.q.cell_4, ig_md.q.cell);
                                }
                            }
                            queue.apply();
                            if (ig_md.q.claim == 1) {
                                if (ig_md.q.found == 1) {
                                    resume_time_rx_write_resume.execute(ig_md.row);
                                    ig_intr_dprsr_md.adv_flow_ctl = ig_md.q.word | 1;
                                    ig_intr_tm_md.qid = ig_md.q.qid;
                                    queued_count.execute(ig_md.row);
                                    timer_time_rx_write_now.execute(ig_md.row);
                                    ig_md.d.verdict = 1;
                                } else {
                                    ig_md.d.verdict = 2;
                                    ig_intr_dprsr_md.resubmit_type = RESUBMIT_TYPE_1;
                                }
                            } else if (ig_md.q.find == 1 && ig_md.q.found == 1) {
                                ig_md.d.lost = check_8.execute(ig_md.row);
                                if (ig_md.d.status == 1) {
                                    if (ig_md.d.age == 1) {
                                        if (ig_md.d.tail_seen == 0) {
                                            ig_intr_dprsr_md.adv_flow_ctl = ig_md.q.word;
                                        }
                                    } else if (hdr.bth.phase == 1 && hdr.bth.tail == 0) {
                                        ig_intr_tm_md.qid = ig_md.q.qid;
                                        queued_count.execute(ig_md.row);
                                    } else {
                                        ig_md.d.before = resume_refresh.execute(ig_md.row);
                                        if (hdr.bth.tail == 1 && ig_md.d.before == 1) {
                                            hdr.order.setValid();
                                            hdr.order.word = ig_md.q.word;
                                            hdr.order.row = ig_md.row;
                                            hdr.bridge.kind = 5;
                                        }
                                    }
                                }
                            }
                            if (hdr.bth.tail == 1) {
                                if (ig_md.d.age == 4) {
                                    ig_md.d.verdict = 0;
                                } else if (ig_md.d.status == 0 || ig_md.d.status == 3) {
                                    ig_md.d.verdict = 3;
                                } else if (ig_md.d.status == 1 && ig_md.q.found == 0) {
                                    ig_md.d.verdict = 3;
                                }
                            }
                            if (ig_md.d.verdict != 2 && ig_md.d.age != 4) {
                                if (ig_md.d.verdict == 3) {
                                    ig_intr_dprsr_md.mirror_type = MIRROR_TYPE_COPY;
                                    ig_md.session = 220;
                                    hdr.copy.kind = 1;
                                } else if (hdr.bth.ask_reply == 1 && hdr.bth.tail == 0 &&
                                        hdr.bth.phase == 0) {
                                    ig_intr_dprsr_md.mirror_type = MIRROR_TYPE_COPY;
                                    ig_md.session = 220;
                                    hdr.copy.kind = 2;
                                } else if (ig_md.d.verdict == 1) {
                                    ig_intr_dprsr_md.mirror_type = MIRROR_TYPE_BIRTH;
                                    ig_md.session = 222;
                                    hdr.birth.kind = 4;
                                    hdr.birth.word = ig_md.q.word;
                                    hdr.birth.row = ig_md.row;
                                } else if (ig_md.d.lost == 1) {
                                    ig_intr_dprsr_md.mirror_type = MIRROR_TYPE_BIRTH;
                                    ig_md.session = 222;
                                    if (ig_md.d.status == 3 || ig_md.d.age == 1) {
                                        hdr.birth.kind = 7;
                                    } else {
                                        hdr.birth.kind = 6;
                                    }
                                    hdr.birth.word = ig_md.q.word;
                                    hdr.birth.row = ig_md.row;
                                    revived.count(0);
                                } else if (hdr.ipv4.ecn == 3) {
                                    ig_intr_dprsr_md.mirror_type = MIRROR_TYPE_COPY;
                                    ig_md.session = 220;
                                    hdr.copy.kind = 3;
                                }
                            }
                            if (ig_md.d.age == 4) {
                                unsorted.count(2);
                            } else if (ig_md.d.verdict == 2) {
                                unsorted.count(0);
                            } else if (ig_md.d.age == 1 && ig_md.d.status == 1) {
                                unsorted.count(3);
                            } else if (ig_md.d.early == 1 && (ig_md.q.found == 0 ||
                                    ig_md.d.status == 2 || ig_md.d.status == 3)) {
                                unsorted.count(1);
                            }
                        } else {
                            hdr.new_flow.src = hdr.ipv4.src;
                            hdr.new_flow.dst = hdr.ipv4.dst;
                            hdr.new_flow.src_port = ig_md.src_port;
                            hdr.new_flow.at_destination = 1;
                            ig_intr_dprsr_md.digest_type = DIGEST_TYPE_NEW_FLOW;
                        }
                    }
                } else if (ig_md.recirculated == 1) {
                    ig_intr_tm_md.qid = 1;
                } else {
                    ig_md.s.ended = ig_md.epoch_tag;
                    ig_md.paths.first = hdr.bth.path;
                    ig_md.paths.second = hdr.bth.path;
                    ig_md.paths.way = hdr.bth.path[1:0];
                    ig_md.paths.time = ig_md.now + 8;
                    ig_md.s.deadline = ig_md.now + 4;
                    if (ig_md.known == 0) {
                        drop_no_flow();
                    } else if (hdr.bth.cw_opcode == 3) {
                        if (ig_md.paths.way == 0) {
                            mark.execute(ig_md.group);
                            mark_1.execute(ig_md.group);
                        }
                        if (ig_md.paths.way == 1) {
                            mark_2.execute(ig_md.group);
                            mark_3.execute(ig_md.group);
                        }
                        if (ig_md.paths.way == 2) {
                            mark_4.execute(ig_md.group);
                            mark_5.execute(ig_md.group);
                        }
                        if (ig_md.paths.way == 3) {
                            mark_6.execute(ig_md.group);
                            mark_7.execute(ig_md.group);
                        }
                        drop_notify_done();
                    } else if (ig_intr_md.resubmit_flag == 1) {
                        ended_write_ended.execute(ig_md.row);
                        reply_timer_write_0.execute(ig_md.row);
                        drop_reply_done();
                    } else {
                        if (hdr.bth.phase == 0 && hdr.bth.flags == 3) {
                            if (ig_md.paths.way == 0) {
                                mark.execute(ig_md.group);
                                mark_1.execute(ig_md.group);
                            }
                            if (ig_md.paths.way == 1) {
                                mark_2.execute(ig_md.group);
                                mark_3.execute(ig_md.group);
                            }
                            if (ig_md.paths.way == 2) {
                                mark_4.execute(ig_md.group);
                                mark_5.execute(ig_md.group);
                            }
                            if (ig_md.paths.way == 3) {
                                mark_6.execute(ig_md.group);
                                mark_7.execute(ig_md.group);
                            }
                        }
                        if (hdr.bth.phase == 0) {
                            ig_md.s.timely = timer_timely.execute(ig_md.row);
                        } else {
                            ig_md.s.timely = 1;
                        }
                        ig_md.s.same_epoch = epoch_compare.execute(ig_md.row);
                        ig_md.s.same_phase = phase_compare.execute(ig_md.row);
                        if (ig_md.s.timely == 1 && ig_md.s.same_epoch == 1 &&
                                ig_md.s.same_phase == 1) {
                            ig_intr_dprsr_md.resubmit_type = RESUBMIT_TYPE_1;
                        } else {
                            drop_reply_late();
                        }
                    }
                }
            } else if (hdr.bth.isValid() && ig_md.rdma == 1 && ig_md.last_hop == 0) {
                if (ig_md.known == 1) {
                    ig_md.s.deadline = ig_md.now + ig_md.s.reply;
                    ig_md.paths.time = ig_md.now;
                    ig_md.s.expired = active_check.execute(ig_md.row);
                    ig_md.s.ended = ended_take.execute(ig_md.row);
                    if (ig_md.s.deadline == 0) {
                        ig_md.s.deadline = 1;
                    }
                    if (ig_md.paths.first_busy == 0) {
                        ig_md.paths.first_busy = check.execute(ig_md.group);
                    }
                    if (ig_md.paths.second_busy == 0) {
                        ig_md.paths.second_busy = check_1.execute(ig_md.group);
                    }
                    if (ig_md.paths.first_busy == 0) {
                        ig_md.paths.first_busy = check_2.execute(ig_md.group);
                    }
                    if (ig_md.paths.second_busy == 0) {
                        ig_md.paths.second_busy = check_3.execute(ig_md.group);
                    }
                    if (ig_md.paths.first_busy == 0) {
                        ig_md.paths.first_busy = check_4.execute(ig_md.group);
                    }
                    if (ig_md.paths.second_busy == 0) {
                        ig_md.paths.second_busy = check_5.execute(ig_md.group);
                    }
                    if (ig_md.paths.first_busy == 0) {
                        ig_md.paths.first_busy = check_6.execute(ig_md.group);
                    }
                    if (ig_md.paths.second_busy == 0) {
                        ig_md.paths.second_busy = check_7.execute(ig_md.group);
                    }
                    if (ig_md.paths.first_busy == 0) {
                        ig_md.paths.good = ig_md.paths.first;
                        ig_md.paths.found = 1;
                    } else if (ig_md.paths.second_busy == 0) {
                        ig_md.paths.good = ig_md.paths.second;
                        ig_md.paths.found = 1;
                    } else {
                        ig_md.paths.good = ig_md.paths.first;
                    }
                    hdr.cwh.setValid();
                    hdr.bth.epoch = epoch_step.execute(ig_md.row);
                    if (ig_md.s.expired == 1 || ig_md.s.ended[2:2] == 1) {
                        reply_timer_write_deadline.execute(ig_md.row);
                    } else if (ig_md.paths.found == 1) {
                        ig_md.s.timeout = timer_check.execute(ig_md.row);
                    }
                    if (ig_md.s.expired == 1 || ig_md.s.timeout == 1) {
                        ig_md.s.moves = ig_md.paths.found;
                    }
                    if (ig_md.s.expired == 1 || ig_md.s.ended[2:2] == 1) {
                        phase_write_0.execute(ig_md.row);
                        tail_time_write_0.execute(ig_md.row);
                        hdr.cwh.ts_tail = 0;
                        hdr.bth.phase = 0;
                        hdr.bth.ask_reply = 1;
                        hdr.bth.tail = 0;
                        hdr.bth.path = path_now.execute(ig_md.row);
                    } else if (ig_md.s.timeout == 1) {
                        phase_write_1.execute(ig_md.row);
                        hdr.cwh.ts_tail = tail_time_write_now.execute(ig_md.row);
                        hdr.bth.phase = 0;
                        hdr.bth.ask_reply = 1;
                        hdr.bth.tail = 1;
                        hdr.bth.path = path_next.execute(ig_md.row);
                    } else {
                        hdr.cwh.ts_tail = tail_time_read.execute(ig_md.row);
                        hdr.bth.phase = phase_read_1.execute(ig_md.row);
                        hdr.bth.ask_reply = 0;
                        hdr.bth.tail = 0;
                        hdr.bth.path = path_now.execute(ig_md.row);
                    }
                    hdr.bth.cw_opcode = 1;
                    hdr.cwh.ts_tx = ig_md.now_16;
                    path_port.apply();
                } else {
                    hdr.new_flow.src = hdr.ipv4.src;
                    hdr.new_flow.dst = hdr.ipv4.dst;
                    hdr.new_flow.src_port = ig_md.src_port;
                    hdr.new_flow.at_destination = 0;
                    ig_intr_dprsr_md.digest_type = DIGEST_TYPE_NEW_FLOW;
                }
            }
            if (ig_md.recirculated == 0) {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            }
        } else {
            l2.apply();
        }
    }
}

control IngressDeparser(packet_out pkt,
                        inout ig_headers_t hdr,
                        in ig_metadata_t ig_md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md) {
    Checksum() ipv4_checksum;
    Digest<new_flow_h>() digest;
    Resubmit() resubmit;
    Mirror() mirror;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        if (ig_intr_dprsr_md.digest_type == DIGEST_TYPE_NEW_FLOW) {
            digest.pack(hdr.new_flow);
        }
        if (ig_intr_dprsr_md.resubmit_type == RESUBMIT_TYPE_1) {
            resubmit.emit();
        }
        if (ig_intr_dprsr_md.mirror_type == MIRROR_TYPE_COPY) {
            mirror.emit((MirrorId_t) ig_md.session, hdr.copy);
        }
        if (ig_intr_dprsr_md.mirror_type == MIRROR_TYPE_BIRTH) {
            mirror.emit((MirrorId_t) ig_md.session, hdr.birth);
        }
        pkt.emit(hdr.bridge);
        pkt.emit(hdr.order);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.bth);
        pkt.emit(hdr.cwh);
        pkt.emit(hdr.timer);
    }
}

parser EgressParser(packet_in pkt,
                    out eg_headers_t hdr,
                    out eg_metadata_t eg_md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.bridge);
        transition select(hdr.bridge.kind) {
            4 : parse_order;
            5 : parse_order;
            6 : parse_order;
            7 : parse_order;
            default : parse_ethernet;
        }
    }

    state parse_order {
        pkt.extract(hdr.order);
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type, pkt.lookahead<bit<8>>()) {
            (ETHERTYPE_IPV4, 69) : parse_ipv4;
            (0x2001, 69) : parse_timer_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0 &&& 0x1, 0, IP_PROTOCOL_UDP) : parse_udp;
            default : accept;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            0x12b7 : parse_bth;
            default : accept;
        }
    }

    state parse_bth {
        pkt.extract(hdr.bth);
        transition select(hdr.bth.cw_opcode) {
            0 : accept;
            default : parse_cwh;
        }
    }

    state parse_cwh {
        pkt.extract(hdr.cwh);
        transition accept;
    }

    state parse_timer_ipv4 {
        pkt.extract(hdr.ipv4);
        transition parse_timer_udp;
    }

    state parse_timer_udp {
        pkt.extract(hdr.udp);
        transition parse_timer_bth;
    }

    state parse_timer_bth {
        pkt.extract(hdr.bth);
        transition parse_timer_cwh;
    }

    state parse_timer_cwh {
        pkt.extract(hdr.cwh);
        transition parse_timer;
    }

    state parse_timer {
        pkt.extract(hdr.timer);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr,
               inout eg_metadata_t eg_md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_intr_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_intr_oport_md) {
    // Packets that left each reorder queue
    Register<bit<32>, bit<16>>(1024) dequeued;

    RegisterAction<bit<32>, bit<16>, bit<32>>(dequeued) count = {
        void apply(inout bit<32> value) {
            value = value |+| 1;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(dequeued) dequeued_write_0 = {
        void apply(inout bit<32> value) {
            value = 0;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(dequeued) dequeued_read = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    // 1 once the flow's TAIL has left by its port
    Register<bit<8>, bit<16>>(4096) tail_resume;

    RegisterAction<bit<8>, bit<16>, bit<1>>(tail_resume) tail_take = {
        void apply(inout bit<8> value, out bit<1> rv) {
            rv = (bit<1>) value;
            value = 0;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(tail_resume) tail_resume_write_0 = {
        void apply(inout bit<8> value) {
            value = 0;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(tail_resume) tail_resume_write_1 = {
        void apply(inout bit<8> value) {
            value = 1;
        }
    };

    // Random number of a packet, 0 to 255, that is compared with the marking probability
    Random<bit<8>>() mark_draw;

    action swap() {
        eg_md.mac = hdr.ethernet.src;
        eg_md.ip = hdr.ipv4.src;
    }

    action set_flags(bit<8> flags) {
        hdr.bth.flags = flags;
    }

    // ECN of the RTT_REQUEST to the flags of the RTT_REPLY
    table ecn_flags {
        key = {
            hdr.ipv4.ecn : exact;
        }
        actions = {
            set_flags;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : set_flags(0);
            1 : set_flags(1);
            2 : set_flags(2);
            3 : set_flags(3);
        }
        size = 4;
    }

    // Sends the copy back to its sender as a control packet without payload
    action craft() {
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = eg_md.mac;
        hdr.ipv4.src = hdr.ipv4.dst;
        hdr.ipv4.dst = eg_md.ip;
        hdr.ipv4.ttl = 64;
        hdr.ipv4.dscp = 48;
        hdr.ipv4.ecn = 0;
        hdr.ipv4.total_len = 44;
        hdr.udp.length = 24;
        hdr.udp.checksum = 0;
        hdr.bth.ask_reply = 0;
        hdr.bth.tail = 0;
    }

    action set_word(bit<16> cell) {
        eg_md.cell = cell;
    }

    // Flow-control word of a timer packet to the cell of its queue's counter
    table word_cell {
        key = {
            hdr.timer.word : exact;
        }
        actions = {
            set_word;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    action set_queue(bit<16> cell) {
        eg_md.cell = cell;
    }

    // Port and queue to the cell of a reorder queue's counter
    table queue_cell {
        key = {
            eg_intr_md.egress_port : exact;
            eg_intr_md.egress_qid : exact;
        }
        actions = {
            set_queue;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    action set_probability(bit<8> p) {
        eg_md.k.probability = p;
    }

    // Queue depth in units of 64 cells to marking probability in 256ths; without an entry the
    // probability is 0
    table mark_probability {
        key = {
            eg_md.k.depth : ternary;
        }
        actions = {
            set_probability;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 64;
    }

    action is_host() {
    }

    // Ports of hosts
    table to_host {
        key = {
            eg_intr_md.egress_port : exact;
        }
        actions = {
            is_host;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 256;
    }

    action strip() {
        hdr.cwh.setInvalid();
        hdr.bth.path = 0;
        hdr.bth.cw_opcode = 0;
        hdr.bth.phase = 0;
        hdr.bth.epoch = 0;
        hdr.bth.ask_reply = 0;
        hdr.bth.tail = 0;
    }

    apply {
        if (hdr.bth.isValid() && (hdr.bridge.kind == 1 || hdr.bridge.kind == 2 ||
                hdr.bridge.kind == 3)) {
            swap();
            if (hdr.bridge.kind == 1) {
                hdr.bth.cw_opcode = 2;
                hdr.bth.phase = 1;
                hdr.bth.flags = 0;
                hdr.timer.setInvalid();
                hdr.ethernet.ether_type = ETHERTYPE_IPV4;
            } else if (hdr.bridge.kind == 2) {
                hdr.bth.cw_opcode = 2;
                hdr.bth.phase = 0;
                ecn_flags.apply();
            } else {
                hdr.bth.cw_opcode = 3;
                hdr.bth.flags = 0;
            }
            craft();
        } else if (hdr.order.isValid() && hdr.cwh.isValid() && hdr.bridge.kind != 5) {
            hdr.timer.setValid();
            hdr.timer.pad = 0;
            hdr.timer.waiting = 0;
            hdr.timer.draining = 0;
            hdr.timer.last = 0;
            hdr.timer.dequeued = 0;
            hdr.timer.word = hdr.order.word;
            hdr.timer.row = hdr.order.row;
            hdr.ethernet.ether_type = 0x2001;
            hdr.ipv4.ecn = 0;
            hdr.bth.flags = 0;
            hdr.bth.ask_reply = 0;
            hdr.bth.tail = 0;
            if (hdr.bridge.kind == 4) {
                tail_resume_write_0.execute(hdr.order.row);
            }
            if (hdr.bridge.kind == 7) {
                hdr.bth.phase = 0;
            } else {
                hdr.bth.phase = 1;
            }
        } else if (hdr.timer.isValid()) {
            word_cell.apply();
            if (hdr.timer.last == 1) {
                dequeued_write_0.execute(eg_md.cell);
            } else if (hdr.timer.draining == 1) {
                hdr.timer.dequeued = dequeued_read.execute(eg_md.cell);
            } else if (hdr.timer.waiting == 1) {
                eg_md.tail_left = tail_take.execute(hdr.timer.row);
                if (eg_md.tail_left == 1) {
                    hdr.timer.waiting = 0;
                    hdr.timer.draining = 1;
                    hdr.cwh.ts_tx = eg_intr_prsr_md.global_tstamp[25:10];
                }
            }
        } else {
            if (hdr.order.isValid()) {
                eg_intr_dprsr_md.adv_flow_ctl = hdr.order.word;
                tail_resume_write_1.execute(hdr.order.row);
            }
            if (queue_cell.apply().hit) {
                count.execute(eg_md.cell);
            }
            eg_md.k.depth = eg_intr_md.deq_qdepth[18:6];
            eg_md.k.draw = mark_draw.get();
            mark_probability.apply();
            eg_md.k.probability = eg_md.k.probability |-| eg_md.k.draw;
            if (hdr.ipv4.isValid() && hdr.ipv4.ecn != 0 && eg_md.k.probability != 0) {
                hdr.ipv4.ecn = 3;
            }
            if (hdr.cwh.isValid() && hdr.bth.cw_opcode == 1) {
                if (to_host.apply().hit) {
                    strip();
                }
            }
        }
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.bth);
        pkt.emit(hdr.cwh);
        pkt.emit(hdr.timer);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
