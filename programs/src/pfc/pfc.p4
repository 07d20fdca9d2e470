// pfc: Obeys PFC by flow-control words, asks for pauses by queue depth, and ends pause storms, all
// in the data plane.
// Written by `sluice programs pfc --p4` with obey=true storm_drop=true xoff=50000 xon=30000
// quanta=65535 refresh=40000 detection_time=200000 restoration_time=200000 probe=false routes=1024.

#include <core.p4>
#include <t2na.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<16> ETHERTYPE_MAC_CONTROL = 0x8808;
const bit<16> ETHERTYPE_VLAN = 0x8100;

const MirrorType_t MIRROR_TYPE_TIMER = 1;
const MirrorType_t MIRROR_TYPE_WANTED = 1;

// Ethernet II header (IEEE 802.3 §3.2)
header ethernet_h {
    bit<48> dst; // Destination MAC address
    bit<48> src; // Source MAC address
    bit<16> ether_type; // EtherType of what follows
}

// VLAN tag control information and the EtherType behind it (IEEE 802.1Q §9.6)
header vlan_h {
    bit<3> pcp; // Priority code point
    bit<1> dei; // Drop eligible indicator
    bit<12> vid; // VLAN identifier
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

// The first four bytes of an IPv6 header; the other 36 are not parsed
header ipv6_h {
    bit<4> version; // IP version: 6
    bit<6> dscp; // Differentiated services code point
    bit<2> ecn; // Explicit congestion notification
    bit<20> flow_label; // Flow label
}

// Tag in front of every packet between ingress and egress, and of recirculated packets
header tag_h {
    // Kind: 0 data, 1 copy that becomes a PFC frame, 2 timer, 3 PFC frame with further priorities,
    // 4 probe
    bit<8> kind;
    // Timer: 0 = queue paused, 1 = storm, 2 = storm over. Copy that becomes a PFC frame: its
    // class-enable vector
    bit<8> state;
    bit<16> slot; // Timer: register index of its queue. Copy that becomes a PFC frame: the quanta
    bit<16> port; // dev_port on which the packet arrived from outside
    // Timer: flow-control word of its queue with credit 0. Probe: the word that egress sends
    bit<32> word;
}

// PFC frame after its Ethernet header (IEEE 802.1Qbb; model: buffer §2.1)
header control_h {
    bit<16> opcode; // Opcode; 0x0101 = PFC
    bit<8> reserved; // Zero
    bit<8> enabled; // Class-enable vector
    bit<16> time0; // Quanta of priority 0
    bit<16> time1; // Quanta of priority 1
    bit<16> time2; // Quanta of priority 2
    bit<16> time3; // Quanta of priority 3
    bit<16> time4; // Quanta of priority 4
    bit<16> time5; // Quanta of priority 5
    bit<16> time6; // Quanta of priority 6
    bit<16> time7; // Quanta of priority 7
}

// The 26 zero bytes that make a PFC frame 60 bytes long
header padding_h {
    bit<32> pad0; // Zero
    bit<32> pad1; // Zero
    bit<32> pad2; // Zero
    bit<32> pad3; // Zero
    bit<32> pad4; // Zero
    bit<32> pad5; // Zero
    bit<16> pad6; // Zero
}

struct ig_headers_t {
    ethernet_h ethernet;
    vlan_h vlan;
    ipv4_h ipv4;
    ipv6_h ipv6;
    tag_h tag;
    @name("control") control_h control_member;
    tag_h timer;
}

struct ig_metadata_t {
    bit<16> port; // dev_port on which the frame arrived
    bit<8> class; // Priority that this pass processes
    bit<8> rest; // Class-enable bits of the priorities that wait for a pass
    bit<16> quanta; // Quanta of the priority (`time`: the same in 32 bits)
    bit<32> time;
    // Quanta times (400G / speed of the line): first summand (`more`: second summand)
    bit<32> scaled;
    bit<32> more;
    // Sum of `scaled` and `more` (`quarter`: a quarter of it, then plus `part`; `part`: a 32nd of
    // it)
    bit<32> base;
    bit<32> quarter;
    bit<32> part;
    bit<32> now; // Ingress time in ns, low 32 bits (`tick`: in ticks of 1.024 us)
    bit<32> tick;
    bit<32> until; // Time at which the pause ends, ns
    bit<16> slot; // Register index of the queue (`word`: its flow-control word with credit 0)
    bit<32> word;
    bit<9> pipe; // Bits 8 and 7 of the ingress dev_port: its pipe
    bit<10> session; // Mirror session of the pipe's timers
    bit<8> stormed; // 1 if the queue is in a storm
    bit<1> arm; // 1 if a timer must be started
    // 1 if the pause is over (`long`: if it lasts too long; `quiet`: if the storm is over)
    bit<1> ended;
    bit<1> long;
    bit<1> quiet;
}

struct eg_headers_t {
    tag_h tag;
    ethernet_h ethernet;
    @name("control") control_h control_member;
    padding_h padding;
    tag_h wanted;
}

struct eg_metadata_t {
    bit<32> depth; // Depth of the packet's queue in cells when the packet was dequeued
    // Depth in cells above which a pause is requested (`xon`: below which it ends; `bit`: of the
    // class-enable vector)
    bit<32> xoff;
    bit<32> xon;
    @name("bit") bit<8> bit_member;
    bit<8> class; // Priority of the queue (`slot`: its element of the register of storms)
    bit<16> slot;
    bit<32> over; // Cells by which the depth is above `xoff`; 0 = not above (`under`: below `xon`)
    bit<32> under;
    bit<32> now; // Egress time in ns, low 32 bits
    bit<1> ask; // 1 if a frame must be sent that requests a pause or ends one
    bit<1> lossless; // 1 for a packet of a lossless queue that is not in a storm
    bit<8> stormed; // 1 if the queue is in a storm, so that its packets are dropped
    bit<10> session; // Mirror session that sends to the packet's ingress port
}

parser IngressParser(packet_in pkt,
                     out ig_headers_t hdr,
                     out ig_metadata_t ig_md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN : parse_vlan;
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            ETHERTYPE_MAC_CONTROL : parse_control;
            default : accept;
        }
    }

    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition accept;
    }

    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition accept;
    }

    state parse_control {
        pkt.extract(hdr.control_member);
        transition accept;
    }

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            6 &&& 0x7f : parse_tag;
            default : parse_ethernet;
        }
    }

    state parse_tag {
        pkt.extract(hdr.tag);
        transition select(hdr.tag.kind) {
            3 : parse_ethernet;
            default : accept;
        }
    }
}

control Ingress(inout ig_headers_t hdr,
                inout ig_metadata_t ig_md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_intr_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_intr_tm_md) {
    // Widens the quanta to 32 bits through the hash unit, because an instruction reads containers
    // of one size only
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) widen;

    // Ingress time in ticks of 1.024 us: bits 41 to 10 of the timestamp
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ticks;

    // By local port and priority: 1 while the queue is in a storm
    Register<bit<8>, bit<16>>(1024) stormed;

    RegisterAction<bit<8>, bit<16>, bit<8>>(stormed) is_stormed = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(stormed) set_stormed_in = {
        void apply(inout bit<8> value) {
            value = 1;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(stormed) clear_stormed_in = {
        void apply(inout bit<8> value) {
            value = 0;
        }
    };

    // By local port and priority: time at which the pause ends, ns; 0 = no timer is running
    Register<bit<32>, bit<16>>(1024) paused_until;

    // Stores the end of a pause; returns 1 if a timer must be started
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_until) pause_until = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value == 0 || (int<32>) ig_md.now - (int<32>) value > 0x4000) {
                rv = 1;
            }
            value = ig_md.until;
        }
    };

    // Ends a pause now, which its timer then finds
    RegisterAction<bit<32>, bit<16>, bit<32>>(paused_until) end_pause_in = {
        void apply(inout bit<32> value) {
            if (value != 0) {
                value = ig_md.now;
            }
        }
    };

    // Returns 1 if the pause is over, and clears it
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_until) check_pause = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value == 0 || (int<32>) (value - ig_md.now) <= 0) {
                value = 0;
                rv = 1;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(paused_until) forget_pause_in = {
        void apply(inout bit<32> value) {
            value = 0;
        }
    };

    // By local port and priority: start of the pauses without a break, in ticks of 1.024 us; 0 =
    // not paused
    Register<bit<32>, bit<16>>(1024) paused_since;

    RegisterAction<bit<32>, bit<16>, bit<32>>(paused_since) begin_in = {
        void apply(inout bit<32> value) {
            if (value == 0) {
                value = ig_md.tick;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(paused_since) forget_in = {
        void apply(inout bit<32> value) {
            value = 0;
        }
    };

    // Returns 1 if the pause lasts longer than `detection_time`
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_since) check_age = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if ((int<32>) ig_md.tick - (int<32>) value > 0x2faf0) {
                rv = 1;
            }
        }
    };

    // By local port and priority: arrival of the last pause, in ticks of 1.024 us
    Register<bit<32>, bit<16>>(1024) heard;

    RegisterAction<bit<32>, bit<16>, bit<32>>(heard) hear_in = {
        void apply(inout bit<32> value) {
            value = ig_md.tick;
        }
    };

    // Returns 1 if no pause has arrived for `restoration_time`
    RegisterAction<bit<32>, bit<16>, bit<1>>(heard) check_quiet = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if ((int<32>) ig_md.tick - (int<32>) value > 0x2faf0) {
                rv = 1;
            }
        }
    };

    // Pauses obeyed, by local port and priority
    Counter<bit<64>, bit<16>>(1024, CounterType_t.PACKETS) pauses;

    // Pauses that expired, by local port and priority
    Counter<bit<64>, bit<16>>(1024, CounterType_t.PACKETS) expiries;

    // Storms that ended, by local port and priority
    Counter<bit<64>, bit<16>>(1024, CounterType_t.PACKETS) storms;

    // Recirculates the timer
    action lap() {
        ig_intr_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
    }

    action forget() {
        forget_in.execute(ig_md.slot);
    }

    action resume() {
        ig_intr_dprsr_md.adv_flow_ctl = ig_md.word;
    }

    action expired() {
        expiries.count(ig_md.slot);
    }

    @sluice_consume("pfc_taken")
    action done() {
        // reason: A PFC frame that the program obeyed, or the timer of a pause that is over
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    action set_stormed() {
        set_stormed_in.execute(ig_md.slot);
    }

    action clear_stormed() {
        clear_stormed_in.execute(ig_md.slot);
    }

    action forget_pause() {
        forget_pause_in.execute(ig_md.slot);
    }

    // Processes this priority
    action take_0() {
        ig_md.class = 0;
        ig_md.quanta = hdr.control_member.time0;
        ig_md.rest = hdr.control_member.enabled & 254;
    }

    // Processes this priority
    action take_1() {
        ig_md.class = 1;
        ig_md.quanta = hdr.control_member.time1;
        ig_md.rest = hdr.control_member.enabled & 253;
    }

    // Processes this priority
    action take_2() {
        ig_md.class = 2;
        ig_md.quanta = hdr.control_member.time2;
        ig_md.rest = hdr.control_member.enabled & 251;
    }

    // Processes this priority
    action take_3() {
        ig_md.class = 3;
        ig_md.quanta = hdr.control_member.time3;
        ig_md.rest = hdr.control_member.enabled & 247;
    }

    // Processes this priority
    action take_4() {
        ig_md.class = 4;
        ig_md.quanta = hdr.control_member.time4;
        ig_md.rest = hdr.control_member.enabled & 239;
    }

    // Processes this priority
    action take_5() {
        ig_md.class = 5;
        ig_md.quanta = hdr.control_member.time5;
        ig_md.rest = hdr.control_member.enabled & 223;
    }

    // Processes this priority
    action take_6() {
        ig_md.class = 6;
        ig_md.quanta = hdr.control_member.time6;
        ig_md.rest = hdr.control_member.enabled & 191;
    }

    // Processes this priority
    action take_7() {
        ig_md.class = 7;
        ig_md.quanta = hdr.control_member.time7;
        ig_md.rest = hdr.control_member.enabled & 127;
    }

    // Class-enable vector to its lowest priority
    table pick {
        key = {
            hdr.control_member.enabled : ternary;
        }
        actions = {
            take_0;
            take_1;
            take_2;
            take_3;
            take_4;
            take_5;
            take_6;
            take_7;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            1 &&& 0x1 : take_0();
            2 &&& 0x3 : take_1();
            4 &&& 0x7 : take_2();
            8 &&& 0xf : take_3();
            16 &&& 0x1f : take_4();
            32 &&& 0x3f : take_5();
            64 &&& 0x7f : take_6();
            128 : take_7();
        }
        size = 8;
    }

    // Queue of a port at 400G
    action at_400g(bit<16> slot, bit<32> word, bit<10> session) {
        ig_md.session = session;
        ig_md.slot = slot;
        ig_md.word = word;
        ig_md.scaled = ig_md.time;
    }

    // Queue of a port at 200G
    action at_200g(bit<16> slot, bit<32> word, bit<10> session) {
        ig_md.session = session;
        ig_md.slot = slot;
        ig_md.word = word;
        ig_md.scaled = ig_md.time << 1;
    }

    // Queue of a port at 100G
    action at_100g(bit<16> slot, bit<32> word, bit<10> session) {
        ig_md.session = session;
        ig_md.slot = slot;
        ig_md.word = word;
        ig_md.scaled = ig_md.time << 2;
    }

    // Queue of a port at 50G
    action at_50g(bit<16> slot, bit<32> word, bit<10> session) {
        ig_md.session = session;
        ig_md.slot = slot;
        ig_md.word = word;
        ig_md.scaled = ig_md.time << 3;
    }

    // Queue of a port at 25G
    action at_25g(bit<16> slot, bit<32> word, bit<10> session) {
        ig_md.session = session;
        ig_md.slot = slot;
        ig_md.word = word;
        ig_md.scaled = ig_md.time << 4;
    }

    // Queue of a port at 40G
    action at_40g(bit<16> slot, bit<32> word, bit<10> session) {
        ig_md.session = session;
        ig_md.slot = slot;
        ig_md.word = word;
        ig_md.scaled = ig_md.time << 3;
        ig_md.more = ig_md.time << 1;
    }

    // Queue of a port at 10G
    action at_10g(bit<16> slot, bit<32> word, bit<10> session) {
        ig_md.session = session;
        ig_md.slot = slot;
        ig_md.word = word;
        ig_md.scaled = ig_md.time << 5;
        ig_md.more = ig_md.time << 3;
    }

    // Ingress port and priority to the queue that they pause
    table queue {
        key = {
            ig_md.port : exact;
            ig_md.class : exact;
        }
        actions = {
            at_400g;
            at_200g;
            at_100g;
            at_50g;
            at_25g;
            at_40g;
            at_10g;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    action end_pause() {
        end_pause_in.execute(ig_md.slot);
    }

    action hear() {
        hear_in.execute(ig_md.slot);
    }

    action begin() {
        begin_in.execute(ig_md.slot);
    }

    action pause() {
        ig_intr_dprsr_md.adv_flow_ctl = ig_md.word | 1;
        pauses.count(ig_md.slot);
    }

    // Starts a timer for the queue
    action arm() {
        hdr.timer.kind = 2;
        hdr.timer.state = 0;
        hdr.timer.slot = ig_md.slot;
        hdr.timer.port = ig_md.port;
        hdr.timer.word = ig_md.word;
        ig_intr_dprsr_md.mirror_type = MIRROR_TYPE_TIMER;
    }

    // Recirculates the frame for its other priorities
    action again() {
        hdr.tag.setValid();
        hdr.tag.kind = 3;
        hdr.tag.port = ig_md.port;
        hdr.control_member.enabled = ig_md.rest;
        ig_intr_tm_md.ucast_egress_port = ig_md.pipe | 6;
    }

    @sluice_consume("pfc_ignored")
    action ignore() {
        // reason: MAC control frame that is not PFC, or PFC that is not obeyed
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    action announce() {
        hdr.tag.setValid();
        hdr.tag.kind = 0;
        hdr.tag.port = (bit<16>) ig_intr_md.ingress_port;
    }

    action to_port(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    @sluice_drop("nowhere")
    action refuse() {
        // reason: No matching route, or a route whose action is `refuse`
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    // IPv4 longest prefix to egress port
    table ipv4_route {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            to_port;
            refuse;
        }
        default_action = refuse();
        size = 1024;
    }

    action set_class(QueueId_t queue, bit<3> traffic_class) {
        ig_intr_tm_md.qid = queue;
        ig_intr_tm_md.ingress_cos = traffic_class;
    }

    // IPv4 DSCP to egress queue and traffic class
    table ipv4_class {
        key = {
            hdr.ipv4.dscp : exact;
        }
        actions = {
            set_class;
        }
        default_action = set_class(1, 1);
        size = 64;
    }

    action elsewhere_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    // Port of frames that no routing table looks up, such as ARP
    table elsewhere {
        actions = {
            elsewhere_to;
        }
        default_action = elsewhere_to(0x1ff);
    }

    // IPv6 DSCP to egress queue and traffic class
    table ipv6_class {
        key = {
            hdr.ipv6.dscp : exact;
        }
        actions = {
            set_class;
        }
        default_action = set_class(1, 1);
        size = 64;
    }

    apply {
        if (hdr.tag.isValid() || hdr.control_member.isValid()) {
            ig_md.now = ig_intr_prsr_md.global_tstamp[31:0];
            ig_md.tick = ticks.get({ ig_intr_prsr_md.global_tstamp[41:10] });
        }
        if (hdr.tag.isValid() && hdr.tag.kind == 2) {
            ig_md.slot = hdr.tag.slot;
            ig_md.word = hdr.tag.word;
            lap();
            if (hdr.tag.state == 0) {
                ig_md.ended = check_pause.execute(ig_md.slot);
                if (ig_md.ended == 1) {
                    forget();
                    resume();
                    expired();
                    done();
                } else {
                    ig_md.long = check_age.execute(ig_md.slot);
                    if (ig_md.long == 1) {
                        hdr.tag.state = 1;
                    }
                }
            } else if (hdr.tag.state == 1) {
                set_stormed();
                resume();
                ig_md.quiet = check_quiet.execute(ig_md.slot);
                if (ig_md.quiet == 1) {
                    hdr.tag.state = 2;
                }
            } else {
                clear_stormed();
                forget_pause();
                forget();
                storms.count(ig_md.slot);
                done();
            }
        } else if (hdr.control_member.isValid()) {
            if (hdr.control_member.opcode == 0x101) {
                ig_md.pipe = ig_intr_md.ingress_port & 0x180;
                ig_md.port = (bit<16>) ig_intr_md.ingress_port;
                if (hdr.tag.isValid()) {
                    ig_md.port = hdr.tag.port;
                }
                pick.apply();
                ig_md.time = widen.get({ 16w0, ig_md.quanta });
                if (queue.apply().hit) {
                    ig_md.stormed = is_stormed.execute(ig_md.slot);
                    ig_md.base = ig_md.scaled + ig_md.more;
                    ig_md.quarter = ig_md.base >> 2;
                    ig_md.part = ig_md.base >> 5;
                    ig_md.until = ig_md.now + ig_md.base;
                    ig_md.quarter = ig_md.quarter + ig_md.part;
                    ig_md.until = ig_md.until + ig_md.quarter;
                    if (ig_md.quanta == 0) {
                        if (ig_md.stormed == 0) {
                            end_pause();
                            forget();
                            resume();
                        }
                    } else {
                        hear();
                        if (ig_md.stormed == 0) {
                            ig_md.arm = pause_until.execute(ig_md.slot);
                            begin();
                            pause();
                            if (ig_md.arm == 1) {
                                arm();
                            }
                        }
                    }
                }
                if (ig_md.rest != 0) {
                    again();
                } else {
                    done();
                }
            } else {
                ignore();
            }
        } else {
            announce();
            if (hdr.ipv4.isValid()) {
                ipv4_route.apply();
                ipv4_class.apply();
            } else {
                elsewhere.apply();
                if (hdr.ipv6.isValid()) {
                    ipv6_class.apply();
                }
            }
        }
    }
}

control IngressDeparser(packet_out pkt,
                        inout ig_headers_t hdr,
                        in ig_metadata_t ig_md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md) {
    Mirror() mirror;

    apply {
        if (ig_intr_dprsr_md.mirror_type == MIRROR_TYPE_TIMER) {
            mirror.emit((MirrorId_t) ig_md.session, hdr.timer);
        }
        pkt.emit(hdr.tag);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv6);
        pkt.emit(hdr.control_member);
    }
}

parser EgressParser(packet_in pkt,
                    out eg_headers_t hdr,
                    out eg_metadata_t eg_md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.tag);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr,
               inout eg_metadata_t eg_md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_intr_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_intr_oport_md) {
    // Index of a sender: ingress port and priority, concatenated
    Hash<bit<12>>(HashAlgorithm_t.IDENTITY) sender;

    // By ingress port and priority: time of the last pause request in ns; 0 = the sender may send
    Register<bit<32>, bit<12>>(4096) asked;

    // Returns 1 if a pause must be requested: none was, or the last request is older than `refresh`
    RegisterAction<bit<32>, bit<12>, bit<1>>(asked) ask = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value == 0 || (int<32>) eg_md.now - (int<32>) value > 0x9c40) {
                value = eg_md.now;
                rv = 1;
            }
        }
    };

    // Returns 1 if the end of a pause must be requested
    RegisterAction<bit<32>, bit<12>, bit<1>>(asked) release = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (value != 0) {
                value = 0;
                rv = 1;
            }
        }
    };

    // By local port and priority: 1 while the queue's packets are dropped
    Register<bit<8>, bit<16>>(1024) dropping;

    RegisterAction<bit<8>, bit<16>, bit<8>>(dropping) is_dropping = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(dropping) set_dropping = {
        void apply(inout bit<8> value) {
            value = 1;
        }
    };

    RegisterAction<bit<8>, bit<16>, bit<8>>(dropping) clear_dropping = {
        void apply(inout bit<8> value) {
            value = 0;
        }
    };

    action set_limits(bit<8> class, @name("bit") bit<8> bit_value, bit<16> slot, bit<32> xoff,
            bit<32> xon) {
        eg_md.class = class;
        eg_md.bit_member = bit_value;
        eg_md.slot = slot;
        eg_md.xoff = xoff;
        eg_md.xon = xon;
    }

    // Egress port and queue, for lossless queues, to priority and to thresholds in cells
    table limits {
        key = {
            eg_intr_md.egress_port : exact;
            eg_intr_md.egress_qid : exact;
        }
        actions = {
            set_limits;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    @sluice_drop("pfc_storm")
    action refuse_1() {
        eg_md.lossless = 0;
        eg_intr_dprsr_md.drop_ctl = 1; // reason: The packet's queue is in a pause storm
    }

    action to_session(bit<10> session) {
        eg_md.session = session;
        eg_intr_dprsr_md.mirror_type = MIRROR_TYPE_WANTED;
    }

    // Ingress port to the mirror session that sends to that port
    table upstream {
        key = {
            hdr.tag.port : exact;
        }
        actions = {
            to_session;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    action build() {
        hdr.ethernet.setValid();
        hdr.control_member.setValid();
        hdr.padding.setValid();
        hdr.ethernet.dst = 0x180c2000001;
        hdr.ethernet.ether_type = ETHERTYPE_MAC_CONTROL;
        hdr.control_member.opcode = 0x101;
        hdr.control_member.enabled = hdr.tag.state;
    }

    // Writes the quanta of this priority
    action fill_0() {
        hdr.control_member.time0 = hdr.tag.slot;
    }

    // Writes the quanta of this priority
    action fill_1() {
        hdr.control_member.time1 = hdr.tag.slot;
    }

    // Writes the quanta of this priority
    action fill_2() {
        hdr.control_member.time2 = hdr.tag.slot;
    }

    // Writes the quanta of this priority
    action fill_3() {
        hdr.control_member.time3 = hdr.tag.slot;
    }

    // Writes the quanta of this priority
    action fill_4() {
        hdr.control_member.time4 = hdr.tag.slot;
    }

    // Writes the quanta of this priority
    action fill_5() {
        hdr.control_member.time5 = hdr.tag.slot;
    }

    // Writes the quanta of this priority
    action fill_6() {
        hdr.control_member.time6 = hdr.tag.slot;
    }

    // Writes the quanta of this priority
    action fill_7() {
        hdr.control_member.time7 = hdr.tag.slot;
    }

    // Class-enable bit to its priority's quanta
    table fill {
        key = {
            hdr.tag.state : exact;
        }
        actions = {
            fill_0;
            fill_1;
            fill_2;
            fill_3;
            fill_4;
            fill_5;
            fill_6;
            fill_7;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            1 : fill_0();
            2 : fill_1();
            4 : fill_2();
            8 : fill_3();
            16 : fill_4();
            32 : fill_5();
            64 : fill_6();
            128 : fill_7();
        }
        size = 8;
    }

    action set_source(bit<48> source) {
        hdr.ethernet.src = source;
    }

    // Egress port to its MAC address, the source of PFC frames
    table own_mac {
        key = {
            eg_intr_md.egress_port : exact;
        }
        actions = {
            set_source;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    apply {
        if (hdr.tag.kind == 0) {
            eg_md.depth = (bit<32>) eg_intr_md.deq_qdepth;
            eg_md.now = eg_intr_prsr_md.global_tstamp[31:0];
            if (limits.apply().hit) {
                eg_md.lossless = 1;
            }
        }
        if (eg_md.lossless == 1) {
            eg_md.stormed = is_dropping.execute(eg_md.slot);
            if (eg_md.stormed == 1) {
                refuse_1();
            }
        } else if (hdr.tag.kind == 2) {
            if (hdr.tag.state == 1) {
                set_dropping.execute(hdr.tag.slot);
            } else if (hdr.tag.state == 2) {
                clear_dropping.execute(hdr.tag.slot);
            }
        }
        if (eg_md.lossless == 1) {
            eg_md.over = eg_md.depth |-| eg_md.xoff;
            eg_md.under = eg_md.xon |-| eg_md.depth;
            if (eg_md.over != 0) {
                eg_md.ask = ask.execute(sender.get({ hdr.tag.port[8:0], eg_md.class[2:0] }));
                hdr.wanted.slot = 0xffff;
            } else if (eg_md.under != 0) {
                eg_md.ask = release.execute(sender.get({ hdr.tag.port[8:0], eg_md.class[2:0] }));
                hdr.wanted.slot = 0;
            }
            if (eg_md.ask == 1) {
                hdr.wanted.kind = 1;
                hdr.wanted.state = eg_md.bit_member;
                upstream.apply();
            }
        }
        if (hdr.tag.kind == 1) {
            build();
            fill.apply();
            own_mac.apply();
            hdr.tag.setInvalid();
        } else if (hdr.tag.kind == 0) {
            hdr.tag.setInvalid();
        }
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    Mirror() mirror;

    apply {
        if (eg_intr_dprsr_md.mirror_type == MIRROR_TYPE_WANTED) {
            mirror.emit((MirrorId_t) eg_md.session, hdr.wanted);
        }
        pkt.emit(hdr.tag);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.control_member);
        pkt.emit(hdr.padding);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
