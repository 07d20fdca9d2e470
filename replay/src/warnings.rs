//! Warnings about a run: damaged inputs, overload, queues that are stopped at the end.

use crate::collector::Unparsed;
use crate::outcome::Outcome;
use sluice_asic::gress::Gress;
use sluice_asic::units::{BitRate, Duration};
use sluice_ir::cfg::Var;
use sluice_ir::group::writes;
use sluice_ir::{ActionData, Intrinsic};
use sluice_pcaps::replay::Pace;
use sluice_switch::{
    DeviceDrop, FUNCTIONAL_RECIRCULATIONS, PipeOverload, Reason, RecirculationOverload, Stalled,
};

impl Outcome<'_> {
    /// Returns warnings about anomalies of inputs, overload, and queues that are stopped at the end.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut list: Vec<String> = self.cut_inputs().map(|cut| cut.to_string()).collect();
        list.extend(self.oddities());
        list.extend(self.offloaded());
        let shortened = self.inputs.iter().filter(|i| i.report.gaps > 0);
        list.extend(shortened.map(|i| {
            format!(
                "{}: {} gaps of more than 102 hours each take 24 to 102 hours of simulated time; the timestamps of \
                 outputs have the whole gaps",
                i.name, i.report.gaps
            )
        }));
        list.extend(self.laps_warning());
        list.extend(self.unparsed.iter().map(|u| self.unparsed_warning(u)));
        list.extend(self.stalled.iter().map(|stalled| self.stall_warning(stalled)));
        if self.view.is_timed() && self.schedule.pace != Pace::LineRate {
            list.extend(self.delays());
        }
        list.extend(self.overtaxed.iter().map(|o| self.overtaxed_warning(o)));
        list.extend(self.crowded.iter().map(|c| self.crowded_warning(c)));
        list
    }

    /// Returns warnings about anomalies of the inputs.
    fn oddities(&self) -> impl Iterator<Item = String> + '_ {
        self.inputs.iter().flat_map(|i| {
            i.report.oddities.iter().map(|(oddity, t)| {
                format!("{}: {oddity}: {} records, first is record {}", i.name, t.count, t.first_record)
            })
        })
    }

    /// Warns of frames that a NIC's offload made.
    fn offloaded(&self) -> impl Iterator<Item = String> + '_ {
        self.inputs.iter().filter_map(|i| {
            let found = i.report.offload.found()?;
            Some(format!(
                "{}: {} TCP frames of up to {} bytes hold several segments each, the first is record {}: the NIC of the host on which \
                 they were captured cuts or joins segments, and no wire has such frames; capture with offloads off (`ethtool -K IF \
                 gro off lro off gso off tso off`), or on a port of a switch",
                i.name, found.frames, found.longest, found.first_record
            ))
        })
    }

    /// Warns of a gress that got more than one packet per cycle.
    fn overtaxed_warning(&self, o: &PipeOverload) -> String {
        let clock = self.view.placement().chip.mau.clock;
        format!(
            "pipe {} took packets into {} at its ceiling, one per cycle of {clock}, those that are recirculated or made inside \
             included; they came faster and waited up to {} for a slot",
            o.pipe,
            o.gress,
            clock.span(o.waited),
        )
    }

    /// Warns of recirculation ports that got more than their line rate.
    fn crowded_warning(&self, c: &RecirculationOverload) -> String {
        format!(
            "the recirculation ports of pipe {} were at their ceiling, {} together; packets waited up to {} for the line",
            c.pipe,
            self.view.placement().chip.ports.recirculation_rate,
            c.waited,
        )
    }

    /// Warns of packets that went round for ever, with what in the program may send them round.
    fn laps_warning(&self) -> Option<String> {
        let given_up = Reason::Device(DeviceDrop::TooManyRecirculations);
        let count = self.totals.reasons().find(|(reason, n)| *reason == given_up && *n > 0)?.1;
        let program = self.view.program();
        let port = program.intrinsic(Gress::Ingress, Intrinsic::UcastEgressPort).map(Var::Field);
        let sets = |action: &&ActionData| {
            action.gress == Gress::Ingress
                && action
                    .body
                    .iter()
                    .any(|p| writes(program, action.gress, &p.kind).into_iter().any(|v| Some(v) == port))
        };
        let by: Vec<String> = program
            .actions
            .values()
            .filter(sets)
            .map(|action| match action.loc.line {
                0 => format!("`{}`", action.name),
                line => format!("`{}` in line {line}", action.name),
            })
            .collect();
        let by = if by.is_empty() { "no action".to_owned() } else { by.join(", ") };
        Some(format!(
            "{count} packets went round more than {} times and were given up ({}); their egress port is set by {by}",
            match self.view.is_timed() {
                true => self.view.config().max_recirculations,
                false => FUNCTIONAL_RECIRCULATIONS,
            },
            DeviceDrop::TooManyRecirculations.name(),
        ))
    }

    /// Warns of a queue that holds packets at the end and may not send.
    fn stall_warning(&self, s: &Stalled) -> String {
        let (port, queue, packets) = (self.view.port_name(s.dev_port), s.queue, s.packets);
        let who = match s.by_peer {
            true => "PFC frames of the port's peer (a profile's `watchdog` ends pauses that last)",
            false => "the program or an operator",
        };
        format!("port {port}: queue {queue} still holds {packets} packets, kept from sending by {who}")
    }

    /// Warns of input ports whose frames came closer together than the line allows.
    fn delays(&self) -> Vec<String> {
        let mut list = Vec::new();
        for load in &self.loads {
            // Timestamps have a resolution of 1 ns, so a shorter wait is rounding, not traffic.
            if load.longest_wait < Duration::from_nanos(1) {
                continue;
            }
            let line = self.view.speed_of(load.port.number());
            let mut text = format!(
                "port {}: {} of {} packets came closer together than its {line} line allows and were delayed, by {} at \
                 most and {} at the end",
                self.view.port_name(load.port.number()),
                load.delayed,
                load.packets,
                load.longest_wait,
                load.last_wait,
            );
            let span = self.last.since_origin().saturating_sub(load.last_wait).as_ps();
            let bits = u128::from(load.wire_bytes) * 8 * 1_000_000_000_000;
            if let Some(offered) = bits.checked_div(span.into()).and_then(|b| u64::try_from(b).ok())
                && offered > line.as_bps()
            {
                text.push_str(&format!("; the whole trace offers {}", BitRate::from_bps(offered)));
            }
            list.push(text);
        }
        list
    }

    /// Warns of packets that the parser could not read, with the place of the first one in its input.
    fn unparsed_warning(&self, u: &Unparsed) -> String {
        let wanted = Reason::Device(u.reason);
        let count = self.totals.reasons().find(|(reason, _)| *reason == wanted).map_or(0, |(_, n)| n);
        let what = match u.reason {
            DeviceDrop::ParserPartialHeader => "end inside a header that the parser extracts",
            _ => "match no transition of the parser",
        };
        let first = u.first.as_ref().map_or(String::new(), |place| {
            format!(
                "; the first is record {} at byte {} of {}, {} bytes long",
                place.record, place.offset, place.input, u.bytes
            )
        });
        format!("{count} packets {what} ({}){first}", u.reason.name())
    }
}
