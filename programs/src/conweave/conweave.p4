/* A sketch of conweave for T2NA, written by hand after the builder code beside this file, for comparison. No compiler
 * reads it.
 *
 * Headers, metadata, parsers, deparsers and the two checksums are in `headers.rs` field by field and are left out of
 * this text, and so are the IPv4 header's checks. Comparisons written SERIAL(a > b) are of sequence numbers:
 * (int<32>)(a - b) > 0. Table sizes and times are the defaults of `--set`; ticks are 1.024 us.
 */
#include <core.p4>
#include <t2na.p4>

#define FLOWS          4096
#define GROUPS         2048
#define CELLS          1024
#define PATH_BUSY      8
#define INACTIVE       300
#define RESUME_MARGIN  16
#define RESUME_DEFAULT 200
#define REPLY_BRIDGE   4
#define TOO_LONG       0xc000   /* patience = 14 */
#define WATCHDOG       64
#define CONTROL_DSCP   48
#define RECIRCULATION  6
#define PIPE           0
#define PAUSE          1
#define SERIAL(c)      c

/* cw_opcode, kind of what egress gets, answers of the epoch test, reorder status */
#define DATA 1
#define REPLY 2
#define NOTIFY 3
#define KIND_PLAIN 0
#define KIND_CLEAR 1
#define KIND_REPLY 2
#define KIND_NOTIFY 3
#define KIND_BIRTH 4
#define KIND_TAIL 5
#define KIND_REBIRTH 6
#define KIND_REBIRTH_OLD 7
#define NEW 1
#define CURRENT 2
#define PREVIOUS 4
#define IDLE 0
#define WAITING 1
#define DRAINING 2
#define OLD 3

struct pair { bit<32> lo; bit<32> hi; }

control Ingress(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprsr,
                inout ingress_intrinsic_metadata_for_tm_t tm) {

    /* ------------------------------------------------------------ clock, routes, flows */

    Register<bit<32>, bit<1>>(1) ticks;
    RegisterAction<bit<32>, bit<1>, bit<32>>(ticks) read_clock = {
        void apply(inout bit<32> v, out bit<32> o) { v = prsr.global_tstamp[41:10]; o = v; } };

    action drop() { dprsr.drop_ctl = 1; }
    action to_host(PortId_t port) { tm.ucast_egress_port = port; m.port = port; m.last_hop = 1; }
    action to_group(bit<16> group) { m.group = group; }
    table route { key = { m.dst : lpm; } actions = { to_host; to_group; drop; } default_action = drop; size = 2048; }
    action forward(PortId_t port) { tm.ucast_egress_port = port; }
    table l2 { key = { hdr.ethernet.dst : exact; } actions = { forward; drop; } default_action = drop; size = 1024; }
    Hash<bit<51>>(HashAlgorithm_t.CRC64) flow_hash;
    ActionProfile(GROUPS) ecmp_ports;
    ActionSelector(ecmp_ports, flow_hash, SelectorMode_t.RESILIENT, 32, 256) ecmp_selector;
    table ecmp {
        key = { m.group : exact; hdr.ipv4.src : selector; hdr.ipv4.dst : selector; hdr.ipv4.protocol : selector;
                m.src_port : selector; m.dst_port : selector; }
        actions = { forward; } implementation = ecmp_selector; size = GROUPS;
    }
    action is_rdma() { m.rdma = 1; }
    table rdma { key = { m.dst_port : exact; hdr.bth.opcode : exact; } actions = { is_rdma; } size = 64; }
    action set_flow(bit<16> row, bit<32> theta_reply) { m.row = row; m.reply = theta_reply; m.known = 1; }
    table flow {
        key = { m.src : exact; m.dst : exact; m.src_port : exact; } actions = { set_flow; } size = FLOWS;
    }

    /* ------------------------------------------------------------ busy: two samples, four ways each */

    Hash<bit<51>>(HashAlgorithm_t.CRC64) first_draw;
    Hash<bit<51>>(HashAlgorithm_t.RANDOM) second_draw;
    ActionProfile(GROUPS) first_paths;
    ActionProfile(GROUPS) second_paths;
    ActionSelector(first_paths, first_draw, SelectorMode_t.RESILIENT, 32, 256) first_selector;
    ActionSelector(second_paths, second_draw, SelectorMode_t.RESILIENT, 32, 256) second_selector;
    action set_first(bit<8> path) { m.first = path; }
    action set_second(bit<8> path) { m.second = path; }
    table sample_first {
        key = { m.group : exact; m.now : selector; } actions = { set_first; }
        implementation = first_selector; size = GROUPS;
    }
    table sample_second {
        key = { m.group : exact; m.now : selector; } actions = { set_second; }
        implementation = second_selector; size = GROUPS;
    }
    /* One array per way and sample: lo = path (0 is none), hi = busy until. */
    #define PATH_BUSY_WAY(NAME, SAMPLE)                                                                   \
        Register<pair, bit<11>>(GROUPS) NAME;                                                             \
        RegisterAction<pair, bit<11>, bit<1>>(NAME) NAME##_check = {                                      \
            void apply(inout pair v, out bit<1> o) {                                                      \
                o = 0;                                                                                    \
                if (SERIAL(v.hi > m.time)) { if (v.lo == (bit<32>)SAMPLE) { o = 1; } } else { v.lo = 0; } \
            } };                                                                                          \
        RegisterAction<pair, bit<11>, bit<1>>(NAME) NAME##_mark = {                                       \
            void apply(inout pair v) { v.lo = (bit<32>)SAMPLE; v.hi = m.time; } };
    PATH_BUSY_WAY(first_1, m.first)  PATH_BUSY_WAY(second_1, m.second)
    PATH_BUSY_WAY(first_2, m.first)  PATH_BUSY_WAY(second_2, m.second)
    PATH_BUSY_WAY(first_3, m.first)  PATH_BUSY_WAY(second_3, m.second)
    PATH_BUSY_WAY(first_4, m.first)  PATH_BUSY_WAY(second_4, m.second)

    /* ------------------------------------------------------------ SrcToR */

    #define CELL(W, NAME, INIT) Register<bit<W>, bit<16>>(FLOWS, INIT) NAME;
    #define ACT(W, NAME, ACTION, BODY) RegisterAction<bit<W>, bit<16>, bit<W>>(NAME) ACTION = { \
        void apply(inout bit<W> v, out bit<W> o) { o = 0; BODY } };

    CELL(32, active_time, 0)
    ACT(32, active_time, active_check, if (v == 0 || SERIAL(m.now - v > INACTIVE)) { o = 1; } v = m.now;)
    CELL(8, ended, 0)
    ACT(8, ended, ended_take, o = v; v = 0;)
    ACT(8, ended, ended_set, v = m.ended;)
    CELL(32, reply_timer, 0)
    ACT(32, reply_timer, timer_arm, v = m.deadline;)
    ACT(32, reply_timer, timer_check, if (v != 0 && SERIAL(m.now > v)) { v = 0; o = 1; })
    ACT(32, reply_timer, timer_timely, if (v != 0 && SERIAL(v >= m.now)) { v = m.deadline; o = 1; })
    ACT(32, reply_timer, timer_disarm, v = 0;)
    CELL(8, epoch, 4)
    ACT(8, epoch, epoch_step,
        if (m.expired == 1 || v == m.ended) { if (v == 7) { v = 4; } else { v = v + 1; } } o = v;)
    ACT(8, epoch, epoch_compare, if (v == m.ended) { o = 1; })
    CELL(8, phase, 0)
    ACT(8, phase, phase_get, o = v;)
    ACT(8, phase, phase_set, v = 1;)
    ACT(8, phase, phase_clear, v = 0;)
    ACT(8, phase, phase_compare, if (v == (bit<8>)hdr.bth.phase) { o = 1; })
    CELL(32, tail_time, 0)
    ACT(32, tail_time, tail_get, o = v;)
    ACT(32, tail_time, tail_now, v = m.now; o = v;)
    ACT(32, tail_time, tail_zero, v = 0;)
    CELL(8, path, 0)
    ACT(8, path, path_now, if (m.moves == 1 || v == 0) { v = m.good; } o = v;)
    ACT(8, path, path_next, o = v; if (m.moves == 1) { v = m.good; })
    table path_port { key = { hdr.bth.path : exact; } actions = { forward; } size = 256; }

    /* Four stages: a way is looked up only if no earlier way has found the sample busy. */
    #define BUSY_CHECK_WAY(N)                                                            \
        if (m.first_busy == 0) { m.first_busy = first_##N##_check.execute(m.group); }    \
        if (m.second_busy == 0) { m.second_busy = second_##N##_check.execute(m.group); }
    #define BUSY_CHECK BUSY_CHECK_WAY(1) BUSY_CHECK_WAY(2) BUSY_CHECK_WAY(3) BUSY_CHECK_WAY(4)
    /* The way is the path's low bits. */
    #define BUSY_MARK_WAY(N, WAY) \
        if (hdr.bth.path[1:0] == WAY) { first_##N##_mark.execute(m.group); second_##N##_mark.execute(m.group); }
    #define BUSY_MARK BUSY_MARK_WAY(1, 0) BUSY_MARK_WAY(2, 1) BUSY_MARK_WAY(3, 2) BUSY_MARK_WAY(4, 3)

    /* ------------------------------------------------------------ queues: four ways, a hash each */

    Hash<bit<3>>(HashAlgorithm_t.CRC8) pick_queue;
    Hash<bit<3>>(HashAlgorithm_t.CRC16) pick_queue_1;
    Hash<bit<3>>(HashAlgorithm_t.IDENTITY) pick_queue_2;
    Hash<bit<3>>(HashAlgorithm_t.CRC32) pick_queue_3;
    #define WAY(N, HASH, CELL_OF)                                                                            \
        action set_candidate##N(bit<16> number) { CELL_OF = number; }                                        \
        table candidate##N { key = { m.port : exact; HASH : exact; } actions = { set_candidate##N; } size = CELLS; } \
        Register<bit<32>, bit<10>>(CELLS) owner##N;                                                          \
        RegisterAction<bit<32>, bit<10>, bit<32>>(owner##N) claim##N = {                                     \
            void apply(inout bit<32> v, out bit<32> o, out bit<32> at) {                                     \
                o = 0; if (v == 0) { v = (bit<32>)m.row; o = 1; } at = this.address(); } };                  \
        RegisterAction<bit<32>, bit<10>, bit<32>>(owner##N) find##N = {                                      \
            void apply(inout bit<32> v, out bit<32> o, out bit<32> at) {                                     \
                o = 0; if (v == (bit<32>)m.row) { o = 1; } at = this.address(); } };                         \
        RegisterAction<bit<32>, bit<10>, bit<32>>(owner##N) release##N = {                                   \
            void apply(inout bit<32> v) { if (v == (bit<32>)m.row) { v = 0; } } };
    WAY(, m.hash_1, m.cell_1)  WAY(_1, m.hash_2, m.cell_2)  WAY(_2, m.hash_3, m.cell_3)  WAY(_3, m.hash_4, m.cell_4)
    #define CLAIM_OR_FIND(N, CELL_OF)                                                     \
        if (m.found_queue == 0) {                                                         \
            if (m.claim == 1) { m.found_queue = claim##N.execute(CELL_OF, m.cell); }      \
            else if (m.find == 1) { m.found_queue = find##N.execute(CELL_OF, m.cell); }   \
        }
    action set_queue_of(bit<32> resume, QueueId_t queue) { m.word = resume; m.qid = queue; }
    table queue_of { key = { m.cell : exact; } actions = { set_queue_of; } size = CELLS; }

    /* ------------------------------------------------------------ DstToR */

    action set_next(bit<8> next, bit<8> tag) { m.next_epoch = next; m.epoch_tag = tag; }
    table epoch_after {
        key = { hdr.bth.epoch : exact; } actions = { set_next; }
        const entries = { 0 : set_next(1, 4); 1 : set_next(2, 5); 2 : set_next(3, 6); 3 : set_next(0, 7); }
    }
    CELL(8, epoch_rx, 4)
    ACT(8, epoch_rx, epoch_test,
        o = this.predicate(v == (bit<8>)hdr.bth.epoch, v == m.next_epoch);
        if (v != (bit<8>)hdr.bth.epoch && v != m.next_epoch) { v = (bit<8>)hdr.bth.epoch; })
    ACT(8, epoch_rx, epoch_peek, o = this.predicate(v == (bit<8>)hdr.bth.epoch, v == m.next_epoch);)
    CELL(32, phase0_tx_rx, 0)
    ACT(32, phase0_tx_rx, old_tx_write, v = (bit<32>)hdr.cwh.ts_tx; o = v;)
    ACT(32, phase0_tx_rx, old_tx_read, o = v;)
    CELL(32, phase0_rx_rx, 0)
    ACT(32, phase0_rx_rx, old_rx_write, v = m.now; o = v;)
    ACT(32, phase0_rx_rx, old_rx_read, o = v;)
    CELL(8, phase_rx, 0)
    ACT(8, phase_rx, phase_new, v = (bit<8>)hdr.bth.tail;)
    ACT(8, phase_rx, phase_read, if (v == 0) { o = 1; })
    ACT(8, phase_rx, phase_force, v = 1;)
    CELL(8, phase_cached_rx, 0)
    ACT(8, phase_cached_rx, cached_set, v = 1; o = v;)
    ACT(8, phase_cached_rx, cached_clear, v = 0;)
    ACT(8, phase_cached_rx, cached_read, o = v;)
    CELL(8, tail_cached_rx, 0)
    ACT(8, tail_cached_rx, tail_new, o = v; v = (bit<8>)hdr.bth.tail;)
    ACT(8, tail_cached_rx, tail_set, v = 1; o = v;)
    ACT(8, tail_cached_rx, tail_read, o = v;)
    CELL(32, tail_time_rx, 0)
    ACT(32, tail_time_rx, tail_tx_write, v = (bit<32>)hdr.cwh.ts_tail; o = v;)
    ACT(32, tail_time_rx, tail_tx_read, o = v;)
    CELL(8, give_up, 0)
    ACT(8, give_up, give_up_clear, v = 0;)
    ACT(8, give_up, give_up_set, v = 1; o = v;)
    ACT(8, give_up, give_up_read, o = v;)
    CELL(8, reorder_status_rx, 0)
    ACT(8, reorder_status_rx, status_new, o = v; if (v != 0) { v = 3; } else if (m.early == 1) { v = 1; })
    ACT(8, reorder_status_rx, status_data, o = v; if (v == 0 && m.early == 1) { v = 1; })
    ACT(8, reorder_status_rx, status_drain, o = v; if (v == 1) { v = 2; })
    ACT(8, reorder_status_rx, status_clear, v = 0;)
    CELL(32, resume_time_rx, 0)
    ACT(32, resume_time_rx, resume_arm, v = m.resume;)
    ACT(32, resume_time_rx, resume_refresh, if (v != 0) { v = m.resume; o = 1; })
    ACT(32, resume_time_rx, resume_fire, if (v == 0 || SERIAL(m.now > v)) { v = 0; o = 1; })
    CELL(32, queued, 0)
    ACT(32, queued, queued_count, v = v + 1;)
    ACT(32, queued, queued_compare, if (v == hdr.timer.dequeued) { o = 1; })
    ACT(32, queued, queued_reset, v = 0;)
    CELL(32, timer_time_rx, 0)
    ACT(32, timer_time_rx, seen, v = m.now;)
    ACT(32, timer_time_rx, check, if (m.now - v > WATCHDOG) { v = m.now; o = 1; })
    Counter<bit<32>, bit<2>>(4, CounterType_t.PACKETS) unsorted;
    Counter<bit<32>, bit<1>>(1, CounterType_t.PACKETS) revived;
    Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS) forced;
    Counter<bit<32>, bit<1>>(1, CounterType_t.PACKETS) resumed_unseen;

    /* ------------------------------------------------------------ which role */

    /* Queue 0 is for data, 1 for control; the queues from 2 on are reorder queues. */
    action set_class(bit<1> queue, bit<3> traffic_class) {
        tm.qid = (QueueId_t) queue; tm.ingress_cos = traffic_class;
    }
    table class {
        key = { hdr.ipv4.dscp: exact; }
        actions = { set_class; }
        default_action = set_class(0, 0);
        size = 64;
    }

    apply {
        m.now = read_clock.execute(0);
        m.now_16 = prsr.global_tstamp[25:10];
        hdr.bridge.setValid();
        if (ig.ingress_port == RECIRCULATION) { m.recirculated = 1; }
        if (!hdr.ipv4.isValid()) { l2.apply(); return; }
        if (hdr.cwh.isValid() && hdr.bth.cw_opcode != DATA && ig.ingress_port != RECIRCULATION) {
            m.src = hdr.ipv4.dst; m.dst = hdr.ipv4.src;
        } else { m.src = hdr.ipv4.src; m.dst = hdr.ipv4.dst; }
        class.apply();
        route.apply();
        if (hdr.bth.isValid()) {
            m.hash_1 = pick_queue.get({ hdr.ipv4.src, hdr.ipv4.dst, m.src_port });
            m.hash_2 = pick_queue_1.get({ hdr.ipv4.src, hdr.ipv4.dst, m.src_port });
            m.hash_3 = pick_queue_2.get({ hdr.ipv4.src, hdr.ipv4.dst, m.src_port });
            m.hash_4 = pick_queue_3.get({ hdr.ipv4.src, hdr.ipv4.dst, m.src_port });
            epoch_after.apply();
            rdma.apply();
            if (hdr.timer.isValid()) { m.row = hdr.timer.row; }
            else if (ig.ingress_port[8:7] == PIPE) { flow.apply(); }
            candidate.apply(); candidate_1.apply(); candidate_2.apply(); candidate_3.apply();
        }
        if (m.last_hop == 0) { ecmp.apply(); sample_first.apply(); sample_second.apply(); }
        if (hdr.timer.isValid()) {
            if (m.recirculated == 1) {
                /* one lap of the timer */
                m.elapsed = m.now_16 - hdr.cwh.ts_tx;
                m.over = m.elapsed & TOO_LONG;
                seen.execute(m.row);
                m.age = epoch_peek.execute(m.row)[2:0];
                if (hdr.timer.draining == 1 && m.age == CURRENT && hdr.bth.phase == 1) { phase_force.execute(m.row); }
                m.tail_seen = tail_read.execute(m.row);
                if (hdr.timer.last == 1) {
                    status_clear.execute(m.row);
                    release.execute(m.cell_1); release_1.execute(m.cell_2);
                    release_2.execute(m.cell_3); release_3.execute(m.cell_4);
                    queued_reset.execute(m.row);
                } else if (hdr.timer.draining == 1) {
                    m.status = status_drain.execute(m.row)[1:0];
                    m.drained = queued_compare.execute(m.row);
                } else {
                    m.status = status_data.execute(m.row)[1:0];
                    if (hdr.timer.waiting == 0) { m.fires = resume_fire.execute(m.row); }
                }
                tm.ucast_egress_port = RECIRCULATION;
                tm.qid = 1;
                hdr.bridge.kind = KIND_PLAIN;
                if (hdr.timer.last == 1) {
                    if (m.over == 0) { dprsr.adv_flow_ctl = hdr.timer.word | PAUSE; }
                    if (m.age == CURRENT && hdr.bth.phase == 1) { dprsr.mirror_type = 1; m.session = 221; hdr.copy.kind = KIND_CLEAR; }
                    drop();
                } else if (hdr.timer.draining == 1) {
                    if (m.drained == 1) { hdr.timer.last = 1; }
                    else if (m.over != 0) { hdr.timer.last = 1; forced.count(1); }
                } else if (hdr.timer.waiting == 1) {
                    if (m.over != 0) {
                        hdr.timer.waiting = 0; hdr.timer.draining = 1;
                        dprsr.adv_flow_ctl = hdr.timer.word; hdr.cwh.ts_tx = m.now_16;
                        forced.count(0);
                    }
                } else if (m.status != WAITING) {
                    hdr.timer.draining = 1; hdr.cwh.ts_tx = m.now_16;
                } else if (m.fires == 1) {
                    hdr.cwh.ts_tx = m.now_16;
                    if (m.tail_seen == 1) { hdr.timer.waiting = 1; }
                    else { hdr.timer.draining = 1; dprsr.adv_flow_ctl = hdr.timer.word; resumed_unseen.count(0); }
                }
            } else { drop(); }
        } else if (m.bad_checksum == 1) { drop(); }
        else if (m.recirculated == 0 && hdr.ipv4.ttl <= 1) { drop(); }
        else if (hdr.cwh.isValid()) {
            if (hdr.bth.cw_opcode == DATA) {
                if (m.last_hop == 1) {
                    if (m.known == 1) {
                        /* DstToR: DATA for a host */
                        m.age = epoch_test.execute(m.row)[2:0];
                        if (m.age == NEW) {
                            phase_new.execute(m.row);
                            /* TAIL is the last packet of the old path, even if its phase bit is 1. */
                            if (hdr.bth.phase == 1 && hdr.bth.tail == 0) { m.early = 1; }
                            m.tail_seen = tail_new.execute(m.row);
                            give_up_clear.execute(m.row);
                        } else if (m.age == CURRENT) {
                            if (hdr.bth.tail == 1) { phase_force.execute(m.row); m.tail_seen = tail_set.execute(m.row); }
                            else if (hdr.bth.phase == 1) { m.early = phase_read.execute(m.row); }
                            if (ig.resubmit_flag == 1) { m.given_up = give_up_set.execute(m.row); }
                            else { m.given_up = give_up_read.execute(m.row); }
                        }
                        if (m.age != PREVIOUS) {
                            if (hdr.bth.phase == 0) {
                                m.old_tx = old_tx_write.execute(m.row);
                                m.old_rx = old_rx_write.execute(m.row);
                                m.cached = cached_set.execute(m.row);
                            } else {
                                m.old_tx = old_tx_read.execute(m.row);
                                m.old_rx = old_rx_read.execute(m.row);
                                if (m.age == NEW) { cached_clear.execute(m.row); } else { m.cached = cached_read.execute(m.row); }
                            }
                            if (hdr.bth.tail == 1 || hdr.bth.phase == 1) { m.tail_tx = tail_tx_write.execute(m.row); }
                            else { m.tail_tx = tail_tx_read.execute(m.row); }
                        }
                        /* T_resume */
                        if (m.old_tx[15:15] == 1 && m.tail_tx[15:15] == 0) { m.gap = m.tail_tx + 65536 + RESUME_MARGIN; }
                        else { m.gap = m.tail_tx + RESUME_MARGIN; }
                        m.gap = m.gap |-| m.old_tx;
                        if (m.cached == 1) { m.resume = m.old_rx + m.gap; } else { m.resume = m.now + RESUME_DEFAULT; }
                        if (hdr.bth.tail == 1) { m.resume = 0; } else if (m.resume == 0) { m.resume = 1; }
                        /* status and queue */
                        if (m.given_up == 1) { m.early = 0; }
                        if (ig.resubmit_flag == 1) { status_clear.execute(m.row); }
                        else if (m.age == NEW) { m.status = status_new.execute(m.row)[1:0]; }
                        else if (m.age == CURRENT) { m.status = status_data.execute(m.row)[1:0]; }
                        if (m.status == IDLE && m.early == 1) { m.claim = 1; } else if (m.status != IDLE) { m.find = 1; }
                        /* way after way, each in a stage after the previous one */
                        CLAIM_OR_FIND(, m.cell_1) CLAIM_OR_FIND(_1, m.cell_2)
                        CLAIM_OR_FIND(_2, m.cell_3) CLAIM_OR_FIND(_3, m.cell_4)
                        queue_of.apply();
                        if (m.claim == 1) {
                            if (m.found_queue == 1) {
                                resume_arm.execute(m.row);
                                dprsr.adv_flow_ctl = m.word | PAUSE;
                                tm.qid = m.qid;
                                queued_count.execute(m.row);
                                seen.execute(m.row);
                                m.verdict = 1;                               /* first */
                            } else { m.verdict = 2; dprsr.resubmit_type = 1; }   /* again */
                        } else if (m.find == 1 && m.found_queue == 1) {
                            m.lost = check.execute(m.row);
                            if (m.status != WAITING) { }
                            else if (m.age == NEW) { if (m.tail_seen == 0) { dprsr.adv_flow_ctl = m.word; } }
                            /* TAIL does not wait for itself, even if its phase bit is 1. */
                            else if (hdr.bth.phase == 1 && hdr.bth.tail == 0) { tm.qid = m.qid; queued_count.execute(m.row); }
                            else {
                                m.before = resume_refresh.execute(m.row);
                                if (hdr.bth.tail == 1 && m.before == 1) {
                                    hdr.order.setValid();
                                    hdr.order.word = m.word;
                                    hdr.order.row = m.row;
                                    hdr.bridge.kind = KIND_TAIL;
                                }
                            }
                        }
                        if (hdr.bth.tail == 1) {
                            if (m.age == PREVIOUS) { m.verdict = 0; }
                            else if (m.status == IDLE || m.status == OLD) { m.verdict = 3; }             /* clear */
                            else if (m.status == WAITING && m.found_queue == 0) { m.verdict = 3; }
                        }
                        /* one copy, by rank */
                        if (m.verdict != 2 && m.age != PREVIOUS) {
                            if (m.verdict == 3) { dprsr.mirror_type = 1; m.session = 220; hdr.copy.kind = KIND_CLEAR; }
                            /* REROUTED packets get no RTT_REPLY: one that pauses a queue must make its timer packet. */
                            else if (hdr.bth.ask_reply == 1 && hdr.bth.tail == 0 && hdr.bth.phase == 0) {
                                dprsr.mirror_type = 1; m.session = 220; hdr.copy.kind = KIND_REPLY;
                            } else if (m.verdict == 1) {
                                dprsr.mirror_type = 2; m.session = 222;
                                hdr.birth.kind = KIND_BIRTH; hdr.birth.word = m.word; hdr.birth.row = m.row;
                            } else if (m.lost == 1) {
                                dprsr.mirror_type = 2; m.session = 222;
                                if (m.status == OLD || m.age == NEW) { hdr.birth.kind = KIND_REBIRTH_OLD; }
                                else { hdr.birth.kind = KIND_REBIRTH; }
                                hdr.birth.word = m.word; hdr.birth.row = m.row;
                                revived.count(0);
                            } else if (hdr.ipv4.ecn == 3) { dprsr.mirror_type = 1; m.session = 220; hdr.copy.kind = KIND_NOTIFY; }
                        }
                        /* packets that may reach the host out of order */
                        if (m.age == PREVIOUS) { unsorted.count(2); }
                        else if (m.verdict == 2) { unsorted.count(0); }
                        else if (m.age == NEW && m.status == WAITING) { unsorted.count(3); }
                        else if (m.early == 1 && (m.found_queue == 0 || m.status == DRAINING || m.status == OLD)) {
                            unsorted.count(1);
                        }
                    } else { dprsr.digest_type = 1; }
                }
            } else if (m.recirculated == 1) { tm.qid = 1; }
            else {
                /* SrcToR: RTT_REPLY, CLEAR and NOTIFY from a path */
                m.ended = m.epoch_tag;
                m.first = hdr.bth.path;
                m.second = hdr.bth.path;
                m.time = m.now + PATH_BUSY;
                m.deadline = m.now + REPLY_BRIDGE;
                if (m.known == 0) { drop(); }
                else if (hdr.bth.cw_opcode == NOTIFY) { BUSY_MARK drop(); }
                else if (ig.resubmit_flag == 1) { ended_set.execute(m.row); timer_disarm.execute(m.row); drop(); }
                else {
                    if (hdr.bth.phase == 0 && hdr.bth.flags == 3) { BUSY_MARK }
                    if (hdr.bth.phase == 0) { m.timely = timer_timely.execute(m.row); } else { m.timely = 1; }
                    m.same_epoch = epoch_compare.execute(m.row);
                    m.same_phase = phase_compare.execute(m.row);
                    if (m.timely == 1 && m.same_epoch == 1 && m.same_phase == 1) { dprsr.resubmit_type = 1; }
                    else { drop(); }
                }
            }
        } else if (hdr.bth.isValid() && m.rdma == 1 && m.last_hop == 0) {
            if (m.known == 1) {
                /* SrcToR: DATA from a host */
                m.deadline = m.now + m.reply;
                m.time = m.now;
                m.expired = active_check.execute(m.row);
                m.ended = ended_take.execute(m.row);
                /* From here on these bits are ConWeave's: a host may have written them. */
                hdr.bth.phase = 0;
                hdr.bth.ask_reply = 0;
                hdr.bth.tail = 0;
                if (m.deadline == 0) { m.deadline = 1; }
                BUSY_CHECK
                if (m.first_busy == 0) { m.good = m.first; m.found = 1; }
                else if (m.second_busy == 0) { m.good = m.second; m.found = 1; }
                else { m.good = m.first; }
                hdr.cwh.setValid();
                hdr.bth.epoch = epoch_step.execute(m.row)[1:0];
                if (m.expired == 1 || m.ended[2:2] == 1) { timer_arm.execute(m.row); }
                else if (m.found == 1) { m.timeout = timer_check.execute(m.row); }
                if (m.expired == 1 || m.timeout == 1) { m.moves = m.found; }
                if (m.expired == 1 || m.ended[2:2] == 1) {
                    phase_clear.execute(m.row);
                    tail_zero.execute(m.row);
                    hdr.cwh.ts_tail = 0;
                    hdr.bth.ask_reply = 1;
                    hdr.bth.path = path_now.execute(m.row);
                } else if (m.timeout == 1) {
                    phase_set.execute(m.row);
                    hdr.cwh.ts_tail = tail_now.execute(m.row)[15:0];
                    hdr.bth.ask_reply = 1;
                    hdr.bth.tail = 1;
                    hdr.bth.path = path_next.execute(m.row);
                } else {
                    hdr.bth.phase = phase_get.execute(m.row)[0:0];
                    hdr.cwh.ts_tail = tail_get.execute(m.row)[15:0];
                    hdr.bth.path = path_now.execute(m.row);
                }
                hdr.bth.cw_opcode = DATA;
                hdr.cwh.ts_tx = m.now_16;
                path_port.apply();
            } else { dprsr.digest_type = 1; }
        }
        if (m.recirculated == 0) {
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        }
    }
}

control Egress(inout eg_headers_t hdr, inout eg_meta_t m, in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprsr) {
    action set_queue(bit<16> cell) { m.cell = cell; }
    table queue_cell {
        key = { eg.egress_port : exact; eg.egress_qid : exact; } actions = { set_queue; } size = CELLS;
    }
    table word_cell { key = { hdr.timer.word : exact; } actions = { set_queue; } size = CELLS; }
    Register<bit<32>, bit<10>>(CELLS) dequeued;
    RegisterAction<bit<32>, bit<10>, bit<32>>(dequeued) count = { void apply(inout bit<32> v) { v = v |+| 1; } };
    RegisterAction<bit<32>, bit<10>, bit<32>>(dequeued) read = {
        void apply(inout bit<32> v, out bit<32> o) { o = v; } };
    RegisterAction<bit<32>, bit<10>, bit<32>>(dequeued) reset = { void apply(inout bit<32> v) { v = 0; } };
    Register<bit<8>, bit<16>>(FLOWS) tail_resume;
    RegisterAction<bit<8>, bit<16>, bit<1>>(tail_resume) tail_left = { void apply(inout bit<8> v) { v = 1; } };
    RegisterAction<bit<8>, bit<16>, bit<1>>(tail_resume) tail_take = {
        void apply(inout bit<8> v, out bit<1> o) { o = v[0:0]; v = 0; } };
    RegisterAction<bit<8>, bit<16>, bit<1>>(tail_resume) tail_forget = { void apply(inout bit<8> v) { v = 0; } };
    action is_host() {}
    table to_host { key = { eg.egress_port : exact; } actions = { is_host; } size = 256; }
    action set_flags(bit<8> flags) { hdr.bth.flags = flags; }
    table ecn_flags {
        key = { hdr.ipv4.ecn : exact; } actions = { set_flags; }
        const entries = { 0 : set_flags(0); 1 : set_flags(1); 2 : set_flags(2); 3 : set_flags(3); }
    }
    action set_probability(bit<8> p) { m.probability = p; }
    table mark_probability { key = { m.depth : ternary; } actions = { set_probability; } size = 64; }
    Random<bit<8>>() mark_draw;

    apply {
        if (hdr.bth.isValid() && hdr.bridge.kind >= KIND_CLEAR && hdr.bridge.kind <= KIND_NOTIFY) {
            m.mac = hdr.ethernet.src;
            m.ip = hdr.ipv4.src;
            if (hdr.bridge.kind == KIND_CLEAR) {
                hdr.bth.cw_opcode = REPLY; hdr.bth.phase = 1; hdr.bth.flags = 0;
                hdr.timer.setInvalid(); hdr.ethernet.ether_type = 0x0800;
            } else if (hdr.bridge.kind == KIND_REPLY) {
                hdr.bth.cw_opcode = REPLY; hdr.bth.phase = 0; ecn_flags.apply();
            } else { hdr.bth.cw_opcode = NOTIFY; hdr.bth.flags = 0; }
            hdr.ethernet.src = hdr.ethernet.dst; hdr.ethernet.dst = m.mac;
            hdr.ipv4.src = hdr.ipv4.dst; hdr.ipv4.dst = m.ip;
            hdr.ipv4.ttl = 64; hdr.ipv4.dscp = CONTROL_DSCP; hdr.ipv4.ecn = 0; hdr.ipv4.total_len = 44;
            hdr.udp.length = 24; hdr.udp.checksum = 0;
            hdr.bth.ask_reply = 0; hdr.bth.tail = 0;
        } else if (hdr.order.isValid() && hdr.cwh.isValid() && hdr.bridge.kind != KIND_TAIL) {
            hdr.timer.setValid();
            hdr.timer = { 0, 0, 0, 0, 0, hdr.order.word, hdr.order.row };
            hdr.ethernet.ether_type = 0x2001;
            hdr.ipv4.ecn = 0; hdr.bth.flags = 0; hdr.bth.ask_reply = 0; hdr.bth.tail = 0;
            if (hdr.bridge.kind == KIND_BIRTH) { tail_forget.execute(hdr.order.row); }
            if (hdr.bridge.kind == KIND_REBIRTH_OLD) { hdr.bth.phase = 0; } else { hdr.bth.phase = 1; }
        } else if (hdr.timer.isValid()) {
            word_cell.apply();
            if (hdr.timer.last == 1) { reset.execute(m.cell); }
            else if (hdr.timer.draining == 1) { hdr.timer.dequeued = read.execute(m.cell); }
            else if (hdr.timer.waiting == 1) {
                m.tail_left = tail_take.execute(hdr.timer.row);
                if (m.tail_left == 1) {
                    hdr.timer.waiting = 0; hdr.timer.draining = 1; hdr.cwh.ts_tx = prsr.global_tstamp[25:10];
                }
            }
        } else {
            if (hdr.order.isValid()) { dprsr.adv_flow_ctl = hdr.order.word; tail_left.execute(hdr.order.row); }
            if (queue_cell.apply().hit) { count.execute(m.cell); }
            m.depth = eg.deq_qdepth[18:6];
            m.draw = mark_draw.get();
            mark_probability.apply();
            m.probability = m.probability |-| m.draw;
            if (hdr.ipv4.isValid() && hdr.ipv4.ecn != 0 && m.probability != 0) { hdr.ipv4.ecn = 3; }
            if (hdr.cwh.isValid() && hdr.bth.cw_opcode == DATA) {
                if (to_host.apply().hit) {
                    hdr.cwh.setInvalid();
                    hdr.bth.path = 0; hdr.bth.cw_opcode = 0; hdr.bth.phase = 0; hdr.bth.epoch = 0;
                    hdr.bth.ask_reply = 0; hdr.bth.tail = 0;
                }
            }
        }
    }
}
