//! Numbers of PFC at the ports' MACs.

use super::{Number, Row, class, known};
use crate::buffer::device::bench::Bench;
use sluice_switch::PortFlowView;

const PLACE: &str = "port, class";

/// Getter for a port and a priority.
type OfPriority = fn(&PortFlowView<'_>, usize) -> i128;

static PFC: [Number<OfPriority>; 9] = [
    Number::new("pfc.tx", PLACE, "frames", "PFC frames sent with the class's enable bit", |p, class| {
        p.sent[class].into()
    }),
    Number::new("pfc.rx", PLACE, "frames", "PFC frames received with the class's enable bit", |p, class| {
        p.received[class].frames.into()
    }),
    Number::new("pfc.pauses", PLACE, "times", "number of pauses of the port's queue", |p, class| {
        p.received[class].pauses.into()
    }),
    Number::new("pfc.resumes", PLACE, "times", "number of ended pauses of the port's queue", |p, class| {
        p.received[class].resumes.into()
    }),
    Number::new("pfc.paused", PLACE, "", "1 while the queue is paused", |p, class| {
        (p.paused >> class & 1).into()
    }),
    Number::new("pfc.paused_ps", PLACE, "ps", "time during which the queue was paused", |p, class| {
        p.received[class].paused.as_ps().into()
    }),
    Number::new(
        "pfc.paused_quanta",
        PLACE,
        "quanta",
        "time during which the queue was paused, in quanta at the port's speed",
        |p, class| p.paused_quanta[class].into(),
    ),
    Number::new("pfc.pausing", PLACE, "", "1 while the port keeps its peer paused", |p, class| {
        (p.pausing >> class & 1).into()
    }),
    Number::new("pfc.ignored_pauses", "port", "frames", "802.3x PAUSE frames, ignored", |p, _| {
        p.ignored_pauses.into()
    }),
];

static ALL: Row =
    Row { name: "pfc.tx_all", arguments: "", unit: "frames", meaning: "PFC frames sent by all ports" };

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    PFC.iter().map(|n| &n.row).chain([&ALL])
}

impl Bench {
    pub(super) fn of_pfc(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        if name == ALL.name {
            return Ok(self.switch.totals().made.pfc.into());
        }
        let (get, class) = (known(&PFC, name)?, usize::from(class(args)?));
        self.with_port(args, |view| get(view, class))
    }
}
