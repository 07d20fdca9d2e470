//! Pauses by the program: PFC frames, timers, storms (Tofino 2).
//!
//! Four registers hold the state of a queue, in this order in the pipeline: is it in a storm, the end of its pause, the
//! start of its pauses without a break, and the time of the last pause. Times are low bits of the global timestamp; 0
//! means that there is none.
//!
//! A pause whose register held no time starts a timer: a mirror copy that consists of the tag only.
//! Once per recirculation of about a microsecond the timer reads the end that the last frame has
//! stored. So later frames lengthen, shorten or end a pause without another timer. If a timer is lost,
//! the next frame finds an end that is long past, and starts another timer.

use super::Params;
use super::headers::{Control8808, FRAME, OVER, PAUSED, PFC, STORMED, TIMER, Tag};
use super::ingress::{LAP_PORT, Parsed, Ways};
use crate::forwarding::plain;
use sluice_build::*;

/// Elements of a register: local port and priority.
pub(super) const SLOTS: u32 = 1024;
/// Age of a pause's end after which its timer must be lost, ns.
const LOST: u64 = 16_384;
/// Nanoseconds per tick of the watchdog's times, as a power of two.
const TICK_BITS: u16 = 10;
/// Bits of a dev_port that are its pipe.
const PIPE_BITS: u64 = 0x180;
/// Mirror session of the timers of pipe 0; the sessions of the other pipes follow.
pub(super) const TIMER_SESSIONS: u64 = 200;

/// Metadata of frames and timers
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// dev_port on which the frame arrived
    port: Bits<16>,
    /// Priority that this pass processes
    class: Bits<8>,
    /// Class-enable bits of the priorities that wait for a pass
    rest: Bits<8>,
    /// Quanta of the priority (`time`: the same in 32 bits)
    quanta: Bits<16>,
    time: Bits<32>,
    /// Quanta times (400G / speed of the line): first summand (`more`: second summand)
    scaled: Bits<32>,
    more: Bits<32>,
    /// Sum of `scaled` and `more` (`quarter`: a quarter of it, then plus `part`; `part`: a 32nd of it)
    base: Bits<32>,
    quarter: Bits<32>,
    part: Bits<32>,
    /// Ingress time in ns, low 32 bits (`tick`: in ticks of 1.024 us)
    now: Bits<32>,
    tick: Bits<32>,
    /// Time at which the pause ends, ns
    until: Bits<32>,
    /// Register index of the queue (`word`: its flow-control word with credit 0)
    slot: Bits<16>,
    word: Bits<32>,
    /// Bits 8 and 7 of the ingress dev_port: its pipe
    pipe: Bits<9>,
    /// Mirror session of the pipe's timers
    session: Bits<10>,
    /// 1 if the queue is in a storm
    stormed: Bits<8>,
    /// 1 if a timer must be started
    arm: Bits<1>,
    /// 1 if the pause is over (`long`: if it lasts too long; `quiet`: if the storm is over)
    ended: Bits<1>,
    long: Bits<1>,
    quiet: Bits<1>,
}

/// Tables, actions and register actions of frames and timers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obey {
    m: Meta,
    ingress_port: Ro<9>,
    stamp: Ro<48>,
    pick: TableRef,
    widen: HashRef<32>,
    ticks: HashRef<32>,
    queue: TableRef,
    is_stormed: RegisterActionRef,
    set_stormed: ActionRef,
    clear_stormed: ActionRef,
    pause_until: RegisterActionRef,
    end_pause: ActionRef,
    check_pause: RegisterActionRef,
    forget_pause: ActionRef,
    begin: ActionRef,
    forget: ActionRef,
    check_age: RegisterActionRef,
    hear: ActionRef,
    check_quiet: RegisterActionRef,
    pause: ActionRef,
    resume: ActionRef,
    arm: ActionRef,
    again: ActionRef,
    lap: ActionRef,
    done: ActionRef,
    expired: ActionRef,
    storms: CounterRef,
}

/// Declares tables, actions and registers of frames and timers.
#[stage_program]
pub(super) fn obey(ig: &GressBuilder<'_>, p: &Params, h: Parsed<'_>) -> Obey {
    let Parsed { tag, control, .. } = h;
    let m = ig.metadata::<Meta>();
    let port = ig.intrinsic::<tna::Ingress>();
    let prsr = ig.intrinsic::<tna::FromParser>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let flow = ig.intrinsic::<tna::FlowControl>();
    let mirror = ig.intrinsic::<tna::ForMirror>();
    let timer = ig.header::<Tag>();

    /// By local port and priority: 1 while the queue is in a storm
    let stormed = ig.register::<8>(SLOTS);
    let is_stormed = ig.register_action(stormed, |r| r.out = r.value);
    let set_stormed_in = ig.register_action(stormed, |r| r.value = 1);
    let clear_stormed_in = ig.register_action(stormed, |r| r.value = 0);

    /// By local port and priority: time at which the pause ends, ns; 0 = no timer is running
    let paused_until = ig.register::<32>(SLOTS);
    /// Stores the end of a pause; returns 1 if a timer must be started
    let pause_until = ig.register_action(paused_until, |r| {
        if r.value == 0 || m.now - r.value > LOST {
            r.out = 1;
        }
        r.value = m.until;
    });
    /// Ends a pause now, which its timer then finds
    let end_pause_in = ig.register_action(paused_until, |r| {
        if r.value != 0 {
            r.value = m.now;
        }
    });
    /// Returns 1 if the pause is over, and clears it
    let check_pause = ig.register_action(paused_until, |r| {
        if r.value == 0 || serial(le(r.value, m.now)) {
            r.value = 0;
            r.out = 1;
        }
    });
    let forget_pause_in = ig.register_action(paused_until, |r| r.value = 0);

    /// By local port and priority: start of the pauses without a break, in ticks of 1.024 us; 0 = not paused
    let paused_since = ig.register::<32>(SLOTS);
    let begin_in = ig.register_action(paused_since, |r| {
        if r.value == 0 {
            r.value = m.tick;
        }
    });
    let forget_in = ig.register_action(paused_since, |r| r.value = 0);
    /// Returns 1 if the pause lasts longer than `detection_time`
    let check_age = ig.register_action(paused_since, |r| {
        if m.tick - r.value > in_ticks(p.detection_time) {
            r.out = 1;
        }
    });

    /// By local port and priority: arrival of the last pause, in ticks of 1.024 us
    let heard = ig.register::<32>(SLOTS);
    let hear_in = ig.register_action(heard, |r| r.value = m.tick);
    /// Returns 1 if no pause has arrived for `restoration_time`
    let check_quiet = ig.register_action(heard, |r| {
        if m.tick - r.value > in_ticks(p.restoration_time) {
            r.out = 1;
        }
    });

    /// Pauses obeyed, by local port and priority
    let pauses = ig.counter(SLOTS, CounterKind::Packets);
    /// Pauses that expired, by local port and priority
    let expiries = ig.counter(SLOTS, CounterKind::Packets);
    /// Storms that ended, by local port and priority
    let storms = ig.counter(SLOTS, CounterKind::Packets);
    let pause = ig.action(|a| {
        flow.adv_flow_ctl = m.word | 1;
        pauses.count(m.slot);
    });
    let resume = ig.action(|a| flow.adv_flow_ctl = m.word);
    let expired = ig.action(|a| expiries.count(m.slot));
    /// Starts a timer for the queue
    let arm = ig.action(|a| {
        timer.kind = TIMER;
        timer.state = PAUSED;
        timer.slot = m.slot;
        timer.port = m.port;
        timer.word = m.word;
        mirror.mirror_type = 1;
    });
    /// Recirculates the frame for its other priorities
    let again = ig.action(|a| {
        tag.set_valid();
        tag.kind = FRAME;
        tag.port = m.port;
        control.enabled = m.rest;
        tm.ucast_egress_port = m.pipe | u64::from(LAP_PORT);
    });
    /// Recirculates the timer
    let lap = ig.action(|a| tm.ucast_egress_port = port.ingress_port);
    // Separate actions: all registers of one action must be in one stage, and these registers are not.
    let set_stormed = ig.action(|a| set_stormed_in.execute(m.slot));
    let clear_stormed = ig.action(|a| clear_stormed_in.execute(m.slot));
    let end_pause = ig.action(|a| end_pause_in.execute(m.slot));
    let forget_pause = ig.action(|a| forget_pause_in.execute(m.slot));
    let begin = ig.action(|a| begin_in.execute(m.slot));
    let forget = ig.action(|a| forget_in.execute(m.slot));
    let hear = ig.action(|a| hear_in.execute(m.slot));
    let pfc_taken =
        ig.consume_label("A PFC frame that the program obeyed, or the timer of a pause that is over");
    let done = ig.action(|a| drop(pfc_taken));

    let pick = pick(ig, control, m);
    /// Widens the quanta to 32 bits through the hash unit, because an instruction reads containers of one size only
    let widen = ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), m.quanta]).build();
    /// Ingress time in ticks of 1.024 us: bits 41 to 10 of the timestamp
    let ticks = ig.hash::<32>(HashAlgorithm::Identity);
    let ticks = ticks.inputs(list![prsr.global_tstamp.slice::<41, 10, 32>()]).build();
    let queue = queues(ig, m);
    ig.deparser().mirror(1, m.session, timer);
    Obey {
        m,
        ingress_port: port.ingress_port,
        stamp: prsr.global_tstamp,
        pick,
        widen,
        ticks,
        queue,
        is_stormed,
        set_stormed,
        clear_stormed,
        pause_until,
        end_pause,
        check_pause,
        forget_pause,
        begin,
        forget,
        check_age,
        hear,
        check_quiet,
        pause,
        resume,
        arm,
        again,
        lap,
        done,
        expired,
        storms,
    }
}

/// Converts microseconds to ticks.
fn in_ticks(micros: u64) -> u64 {
    micros.saturating_mul(1_000) >> TICK_BITS
}

/// Declares the table that picks the lowest enabled priority, its quanta, and the rest of the class-enable vector.
fn pick(ig: &GressBuilder<'_>, control: Hdr<Control8808>, m: Meta) -> TableRef {
    let take = |class: usize| {
        ig.named(&format!("take_{class}"), "Processes this priority").action(|a| {
            a.set(m.class, class as u64);
            a.set(m.quanta, control.times()[class]);
            a.set(m.rest, control.enabled & (0xff ^ 1u64 << class));
        })
    };
    let take: [ActionRef; 8] = std::array::from_fn(take);
    let rows: [Row<1>; 8] = std::array::from_fn(|class| {
        let bit = 1u128 << class;
        Row::new([Cell::Masked(bit, bit | (bit - 1))], take[class], Vec::new())
    });
    let table =
        ig.named("pick", "Class-enable vector to its lowest priority").table([ternary(control.enabled)]);
    table.actions(take).entries(rows).build()
}

/// Declares the table from port and priority to the queue that they pause. A quantum is 512 bit times: 1.28 ns
/// at 400G, and longer on slower lines in proportion. The factor 1.28 is 1 + 1/4 + 1/32, to within a thousandth.
fn queues(ig: &GressBuilder<'_>, m: Meta) -> TableRef {
    let at = |gbps: u32, shifts: [Option<u16>; 2]| {
        let doc = format!("Queue of a port at {gbps}G");
        ig.named(&format!("at_{gbps}g"), &doc).action(|a| {
            let (slot, word, session) = (a.arg::<16>("slot"), a.arg::<32>("word"), a.arg::<10>("session"));
            a.set(m.session, session);
            a.set(m.slot, slot);
            a.set(m.word, word);
            for (place, shift) in [m.scaled, m.more].into_iter().zip(shifts) {
                match shift {
                    Some(0) => a.set(place, m.time),
                    Some(shift) => a.set(place, m.time << shift),
                    None => {}
                }
            }
        })
    };
    let actions = SPEEDS.map(|(gbps, shifts)| at(gbps, shifts));
    let table = ig.named("queue", "Ingress port and priority to the queue that they pause");
    table.table([exact(m.port), exact(m.class)]).actions(actions).size(1024).build()
}

/// Speeds in Gb/s, and left shifts of a time: the shifted times add up to the time multiplied by 400 / speed.
pub(super) const SPEEDS: [(u32, [Option<u16>; 2]); 7] = [
    (400, [Some(0), None]),
    (200, [Some(1), None]),
    (100, [Some(2), None]),
    (50, [Some(3), None]),
    (25, [Some(4), None]),
    (40, [Some(3), Some(1)]),
    (10, [Some(5), Some(3)]),
];

/// Declares the control block: timers, PFC frames, and forwarded packets.
#[stage_program]
pub(super) fn control(ig: &GressBuilder<'_>, o: Obey, h: Parsed<'_>, ways: Ways) {
    let Parsed { forwarded, tag, control, .. } = h;
    let (m, port) = (o.m, o.ingress_port);
    ig.control(|c| {
        if tag.is_valid() || control.is_valid() {
            m.now = o.stamp.slice::<31, 0, 32>();
            m.tick = o.ticks.get();
        }
        if tag.is_valid() && tag.kind == TIMER {
            m.slot = tag.slot;
            m.word = tag.word;
            o.lap.call();
            if tag.state == PAUSED {
                m.ended = o.check_pause.execute(m.slot);
                if m.ended {
                    o.forget.call();
                    o.resume.call();
                    o.expired.call();
                    o.done.call();
                } else {
                    m.long = o.check_age.execute(m.slot);
                    if m.long {
                        tag.state = STORMED;
                    }
                }
            } else if tag.state == STORMED {
                o.set_stormed.call();
                o.resume.call();
                m.quiet = o.check_quiet.execute(m.slot);
                if m.quiet {
                    tag.state = OVER;
                }
            } else {
                o.clear_stormed.call();
                o.forget_pause.call();
                o.forget.call();
                o.storms.count(m.slot);
                o.done.call();
            }
        } else if control.is_valid() {
            if control.opcode == PFC {
                m.pipe = port & PIPE_BITS;
                m.port = port.cast::<16>();
                if tag.is_valid() {
                    m.port = tag.port;
                }
                o.pick.apply();
                m.time = o.widen.get();
                if o.queue.apply().hit() {
                    m.stormed = o.is_stormed.execute(m.slot);
                    m.base = m.scaled + m.more;
                    m.quarter = m.base >> 2;
                    m.part = m.base >> 5;
                    m.until = m.now + m.base;
                    m.quarter = m.quarter + m.part;
                    m.until = m.until + m.quarter;
                    if m.quanta == 0 {
                        if m.stormed == 0 {
                            o.end_pause.call();
                            o.forget.call();
                            o.resume.call();
                        }
                    } else {
                        o.hear.call();
                        if m.stormed == 0 {
                            m.arm = o.pause_until.execute(m.slot);
                            o.begin.call();
                            o.pause.call();
                            if m.arm {
                                o.arm.call();
                            }
                        }
                    }
                }
                if m.rest != 0 {
                    o.again.call();
                } else {
                    o.done.call();
                }
            } else {
                ways.ignore.call();
            }
        } else {
            ways.announce.call();
            plain::forward(c, forwarded, ways.tables);
        }
    });
}
