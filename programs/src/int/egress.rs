//! Egress of `int`: source and transit, and the order of all parts of egress.

use super::block::{block, changes, measure, show, show_rest};
use super::carrier::{mark, put_udp};
use super::observe::{Hardware, identify, observe};
use super::params::{Carrier, Mode, Params, UnknownDomain};
use super::parser::{Headers, headers};
use super::report::{ask, make, parts};
use super::strip::{change, flag_sum, strip, take_off};
use sluice_build::*;

/// Outcomes for INT headers: indices of the counter `events`.
pub(super) mod event {
    /// The block was added.
    pub(crate) const PUSHED: u64 = 1;
    /// No hops remained: E is set.
    pub(crate) const HOP_LIMIT: u64 = 2;
    /// The packet would have been too long: M is set, or no INT begins.
    pub(crate) const MTU: u64 = 3;
    /// The instructions request metadata that this node cannot add.
    pub(crate) const SKIPPED: u64 = 4;
    /// No complement is requested, and an L4 checksum covers INT.
    pub(crate) const NO_COMPLEMENT: u64 = 5;
}

/// Declares all of egress.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>, p: &Params) {
    let h = headers(eg, p);
    let k = block(eg);
    let r = parts(eg);
    let Headers { ethernet, ipv4, ipv6, tcp, udp, int_udp, shim, int, m, .. } = h;
    let hw = Hardware { out: eg.intrinsic::<tna::Egress>(), parser: eg.intrinsic::<tna::FromParser>() };
    identify(eg, p, m);
    observe(eg, p, h, k, hw);
    instructions(eg, p, h);
    measure(eg, m);
    // Early, because later parts wait for the fields that both write.
    make(eg, p, h, k, r, hw);
    if p.mode != Mode::Xd {
        summed(eg, p, h);
    }
    if p.adds() {
        transit(eg, p, h);
    } else if p.begins() {
        begin_mx(eg, p, h);
    }
    ask(eg, p, h, hw);
    if p.ends() {
        strip(eg, p, h);
    }
    if p.mode != Mode::Xd {
        commit(eg, p, h);
    }
    if p.adds() || p.ends() {
        flag_sum(eg, h);
    }
    if p.ends() {
        take_off(eg, p, h);
    }
    show(eg, m, k);
    if p.adds() {
        show_rest(eg, p, h, k);
    }
    let deparser = eg.deparser().checksum(ipv4, ipv4.checksum, ipv4.summed());
    let deparser = match p.adds() {
        true => deparser.checksum_over(k.complement, k.complement.value, changes(p, m, k)),
        false => deparser,
    };
    let deparser = super::report::copies(deparser, h);
    let deparser = deparser.emit(ethernet).emit(ipv4).emit(ipv6);
    let deparser = match p.carrier {
        Carrier::NewUdp => deparser.emit(int_udp),
        Carrier::Dscp | Carrier::UdpPort => deparser.emit(tcp).emit(udp),
    };
    let deparser = deparser.emit(r.report).emit(shim).emit(int);
    let deparser = deparser.emit(k.node).emit(k.interfaces).emit(k.latency).emit(k.queue);
    let deparser = deparser.emit(k.ingress_time).emit(k.egress_time).emit(k.l2).emit(k.util);
    let deparser = match p.adds() {
        true => {
            let deparser = deparser.emit(k.ones2).emit(k.ones1);
            let deparser = if p.domain == 0 { deparser } else { deparser.emit(k.ds) };
            deparser.emit(k.complement)
        }
        false => deparser,
    };
    let deparser = deparser.emit(k.drop_reason);
    match p.carrier {
        Carrier::NewUdp => deparser.emit(tcp).emit(udp),
        Carrier::Dscp | Carrier::UdpPort => deparser,
    };
}

/// Selects the instructions: those of the report, of the packet, or, at a source, those of the watch-list profile.
#[stage_program]
fn instructions(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { bridge, copy, tcp, udp, int, m, .. } = h;
    let of_report = eg.action(|a| {
        m.bits_hi = copy.bits_hi;
        m.bits_lo = copy.bits_lo;
    });
    eg.control(|c| {
        if copy.is_valid() {
            of_report.call();
        }
    });
    if p.mode == Mode::Xd {
        return;
    }
    let of_packet = eg.action(|a| {
        m.bits_hi = int.bits_hi;
        m.bits_lo = int.bits_lo;
        m.hop_words = int.hop_ml & 0x1f;
    });
    let Some(profile) = p.begins().then(|| begin(eg, p, h)) else {
        eg.control(|c| {
            if int.is_valid() {
                of_packet.call();
            }
        });
        return;
    };
    let over_udp_only = p.carrier == Carrier::UdpPort;
    eg.control(|c| {
        if int.is_valid() {
            of_packet.call();
        } else if bridge.is_valid() && bridge.watched && !bridge.sink {
            if over_udp_only {
                if udp.is_valid() {
                    profile.apply();
                }
            } else if tcp.is_valid() || udp.is_valid() {
                profile.apply();
            }
        }
    });
}

/// Declares the table by which a source adds shim and INT header.
#[stage_program]
fn begin(eg: &GressBuilder<'_>, p: &Params, h: Headers) -> TableRef {
    let Headers { bridge, shim, int, m, .. } = h;
    let (kind, npt) = (
        if p.mode == Mode::Mx { 3 } else { 1 },
        match p.carrier {
            Carrier::Dscp => 0,
            Carrier::UdpPort => 1,
            Carrier::NewUdp => 2,
        },
    );
    /// Adds shim and INT header. `sum` is the ones' complement sum of both as added, and of the 16 bytes by
    /// which they lengthen the packet
    let begin = eg.action(
        |a,
         remaining: Arg<8>,
         hop_words: Arg<8>,
         bits_hi: Arg<8>,
         bits_lo: Arg<8>,
         domain: Arg<16>,
         ds_instruction: Arg<16>,
         sum: Arg<16>| {
            shim.set_valid();
            shim.types = kind << 4 | npt << 2;
            shim.length = 3;
            int.set_valid();
            int.version = 2;
            int.discard = 0;
            int.exceeded = 0;
            int.mtu = 0;
            int.reserved = 0;
            int.ds_flags = 0;
            int.hop_ml = hop_words;
            int.remaining = remaining;
            int.bits_hi = bits_hi;
            int.bits_lo = bits_lo;
            int.domain = domain;
            int.ds_instruction = ds_instruction;
            m.bits_hi = bits_hi;
            m.bits_lo = bits_lo;
            m.hop_words = hop_words;
            m.fixed_sum = sum;
            m.begun = 1;
        },
    );
    let nothing = eg.action(|_a| {});
    let profile =
        eg.named("profile", "Watch-list profile to the instructions that a source gives to its flows");
    profile.table([exact(bridge.profile)]).actions([begin, nothing]).default(nothing).size(256).build()
}

/// Sets `summed` if an L4 checksum covers INT: TCP's always, UDP's unless it is 0, none with carrier=new-udp.
#[stage_program]
fn summed(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { tcp, udp, m, .. } = h;
    if p.carrier == Carrier::NewUdp {
        return;
    }
    let yes = eg.action(|a| m.summed = 1);
    eg.control(|c| {
        if tcp.is_valid() {
            yes.call();
        } else if udp.is_valid() && udp.checksum != 0 {
            yes.call();
        }
    });
}

/// Returns the bytes of shim and INT header, and of the UDP header that carrier=new-udp adds.
fn fixed(p: &Params) -> u64 {
    if p.carrier == Carrier::NewUdp { 24 } else { 16 }
}

/// Adds the block to a packet with INT that is sent to another node, or sets E or M.
#[stage_program]
fn transit(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { bridge, shim, int, m, .. } = h;
    sizes(eg, p, h);
    let give_up = |event: u64| move |a: &mut Act<'_>| a.set(m.event, event);
    let too_long = eg.named("too_long", "The block would exceed the MTU").action(give_up(event::MTU));
    let skip = eg.named("skip", "This node cannot make the block").action(give_up(event::SKIPPED));
    let no_complement =
        eg.named("no_complement", "The L4 checksum would be invalid").action(give_up(event::NO_COMPLEMENT));
    let hop_limit = eg.action(|a| {
        m.event = event::HOP_LIMIT;
        int.exceeded = 1;
    });
    let flag_hop_limit = eg.action(|a| m.flags = change::SET_E);
    let mark_mtu = eg.action(|a| int.mtu = 1);
    let flag_mtu = eg.action(|a| m.flags = change::SET_M);
    /// Removes the shim and INT header that this node added: no INT begins here
    let cancel = eg.action(|a| {
        shim.set_invalid();
        int.set_invalid();
        m.begun = 0;
    });
    let push = eg.action(|a| {
        m.event = event::PUSHED;
        m.adds = 1;
        shim.length = m.shim_length;
        int.remaining -= 1;
    });
    /// Adds no block; a source adds shim and header only
    let no_block = eg.action(|a| m.block = 0);
    let begins = p.begins();
    /// INT headers by outcome: 1 block added, 2 hop limit, 3 MTU, 4 block impossible, 5 no complement
    let events = eg.counter(8, CounterKind::Packets);
    eg.control(|c| {
        if int.is_valid() && !bridge.sink {
            if begins && m.begun && m.mtu != 0 {
                too_long.call();
                cancel.call();
            } else if int.remaining == 0 {
                // A node that set E earlier has already corrected the checksum for it.
                if m.summed && !int.exceeded {
                    flag_hop_limit.call();
                }
                hop_limit.call();
            } else if m.summed && m.bits_lo.slice::<0, 0, 1>() == 0 {
                no_complement.call();
                if begins && m.begun {
                    cancel.call();
                }
            } else if m.odd {
                skip.call();
            } else if m.longest != 0 {
                too_long.call();
                if !begins || !m.begun {
                    if m.summed && !int.mtu {
                        flag_mtu.call();
                    }
                    mark_mtu.call();
                } else if m.summed {
                    // A header without a complement could not be removed from the checksum again.
                    cancel.call();
                } else {
                    mark_mtu.call();
                }
            } else {
                push.call();
            }
            events.count(m.event);
            if !m.adds {
                no_block.call();
            }
        }
    });
}

/// Computes the lengths of block and packet, and the number of words of ones that fill the block.
#[stage_program]
fn sizes(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { bridge, ipv4, ipv6, shim, int, m, .. } = h;
    let fixed = fixed(p);
    let domain = u64::from(p.domain);
    let size = eg.action(|a, block: Arg<16>, changes: Arg<16>| {
        m.block = block;
        m.changes = changes;
    });
    // The shim's length grows by the block's words, one hop less remains, and the lengths that an L4 checksum covers
    // grow by its bytes: the pseudo header's, and UDP's own.
    // A block has 11 words of bits 0 to 7, two of a domain and of the complement, and three of ones at most.
    let rows: [Row<2>; 34] = std::array::from_fn(|row| {
        let (words, lengths) = (row as u32 / 2, 1 + row as u32 % 2);
        let changes = words + 0xfffe + 4 * words * lengths;
        let changes = (changes & 0xffff) + (changes >> 16);
        let key = [Cell::Value(words.into()), Cell::Value(u128::from(lengths - 1))];
        Row::new(key, size, vec![u128::from(4 * words), changes.into()])
    });
    /// Hop ML to the bytes of the block, and to the sum of its changes in shim, header and lengths
    let block_size = eg.table([exact(m.hop_words), exact(m.udp)]).actions([size]).entries(rows).build();
    let fill = eg.action(|a| {
        m.pad = m.hop_words - m.words;
        m.shim_length = shim.length.sat_add(m.hop_words);
    });
    let other_domain = eg.action(|a| m.unknown = 1);
    let take_tail = eg.action(|a| m.pad -= m.tail);
    let ipv4_longest = eg.action(|a| m.longest = ipv4.total_len + m.block);
    let ipv6_longest = eg.action(|a| m.longest = ipv6.payload_len + m.block);
    let with_header = eg.action(|a| m.longest += fixed);
    let exceed = eg.action(|a| m.longest = m.longest.sat_sub(m.mtu));
    /// Notes that Hop ML disagrees with the instructions
    let differ = eg.action(|a| m.odd = 1);
    let (pads, begins) = (p.unknown_domain == UnknownDomain::Pad, p.begins());
    /// Computes the excess over the MTU without the block
    let exceed_fixed = eg.action(|a| m.mtu = m.longest.sat_sub(m.block));
    eg.control(|c| {
        if int.is_valid() && !bridge.sink {
            block_size.apply();
            fill.call();
        }
    });
    if domain == 0 {
        eg.control(|c| {
            if int.is_valid() && int.domain != 0 {
                other_domain.call();
            }
        });
    } else {
        let add_ds = eg.action(|a| {
            m.asks_ds = 1;
            m.tail += 1;
        });
        eg.control(|c| {
            if int.is_valid() && int.domain != 0 {
                if int.domain != domain {
                    other_domain.call();
                } else if int.ds_instruction.slice::<15, 15, 1>() == 1 {
                    add_ds.call();
                }
            }
        });
    }
    eg.control(|c| {
        if int.is_valid() && !bridge.sink {
            take_tail.call();
            if ipv4.is_valid() {
                ipv4_longest.call();
            } else {
                ipv6_longest.call();
            }
            if begins && m.begun {
                with_header.call();
            }
            exceed.call();
            if begins {
                exceed_fixed.call();
            }
            // There are headers for three words of ones, and the shim's length is at most 254 words.
            if m.pad.slice::<7, 2, 6>() != 0 {
                differ.call();
            } else if m.shim_length == 255 {
                differ.call();
            } else if m.pad != m.ones {
                if !pads {
                    differ.call();
                } else if !m.unknown {
                    differ.call();
                }
            }
        }
    });
}

/// At a source of INT-MX, keeps shim and header if the packet fits the MTU and has no L4 checksum.
#[stage_program]
fn begin_mx(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { ipv4, ipv6, shim, int, m, .. } = h;
    let fixed = fixed(p);
    let ipv4_longest = eg.action(|a| m.longest = ipv4.total_len + fixed);
    let ipv6_longest = eg.action(|a| m.longest = ipv6.payload_len + fixed);
    let exceed = eg.action(|a| m.longest = m.longest.sat_sub(m.mtu));
    let cancel = eg.action(|a| {
        shim.set_invalid();
        int.set_invalid();
        m.begun = 0;
    });
    eg.control(|c| {
        if m.begun {
            if ipv4.is_valid() {
                ipv4_longest.call();
            } else {
                ipv6_longest.call();
            }
            exceed.call();
            // Nothing in an INT-MX header could keep an L4 checksum valid.
            if m.longest != 0 || m.summed {
                cancel.call();
            }
        }
    });
}

/// Updates the lengths of a packet that grows, or shrinks at a sink, and marks packets in which INT begins.
#[stage_program]
fn commit(eg: &GressBuilder<'_>, p: &Params, h: Headers) {
    let Headers { ipv4, ipv6, udp, int_udp, int, m, .. } = h;
    let fixed = fixed(p);
    let ipv4_block = eg.action(|a| ipv4.total_len += m.block);
    let ipv6_block = eg.action(|a| ipv6.payload_len += m.block);
    let ipv4_header = eg.action(|a| ipv4.total_len += fixed);
    let ipv6_header = eg.action(|a| ipv6.payload_len += fixed);
    let begins = p.begins();
    eg.control(|c| {
        if int.is_valid() {
            if ipv4.is_valid() {
                ipv4_block.call();
                if begins && m.begun {
                    ipv4_header.call();
                }
            } else {
                ipv6_block.call();
                if begins && m.begun {
                    ipv6_header.call();
                }
            }
        }
    });
    if p.carrier == Carrier::NewUdp {
        /// Updates the added UDP header, whose checksum is 0 and so needs no complement
        let int_udp_block = eg.action(|a| {
            int_udp.length += m.block;
            int_udp.checksum = 0;
        });
        eg.control(|c| {
            if int.is_valid() && int_udp.is_valid() {
                int_udp_block.call();
            }
        });
        if begins {
            put_udp(eg, p, h);
        }
        return;
    }
    let udp_block = eg.action(|a| udp.length += m.block);
    let udp_header = eg.action(|a| {
        udp.length += fixed;
        m.fixed_udp = fixed;
    });
    eg.control(|c| {
        if int.is_valid() && udp.is_valid() {
            udp_block.call();
            if begins && m.begun {
                udp_header.call();
            }
        }
    });
    if begins {
        mark(eg, p, h);
    }
}
