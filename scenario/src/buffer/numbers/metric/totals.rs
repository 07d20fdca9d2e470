//! Numbers of the whole device.

use super::{Number, Row, known};
use crate::buffer::device::bench::Bench;
use crate::buffer::device::invariants;
use sluice_asic::tm::buffer::Reader;

type OfDevice = fn(&Bench, &[i128]) -> Result<i128, String>;

static DEVICE: [Number<OfDevice>; 11] = [
    Number::new("total", "", "cells", "all cells in use", |b, _| {
        Ok(b.buffer()?.total().current().get().into())
    }),
    Number::new("total_watermark", "", "cells", "largest number of cells in use", |b, _| {
        Ok(b.buffer()?.total().watermark(Reader::User).get().into())
    }),
    Number::new(
        "rx_errors",
        "port",
        "frames",
        "frames that the MAC could not use, such as damaged ones",
        |b, args| {
            let port = b.port(args)?.number();
            let found = b.switch.totals().ports.iter().find(|p| p.dev_port == port);
            Ok(found.map_or(0, |p| p.rx_errors.into()))
        },
    ),
    Number::new("received", "", "packets", "packets that entered", |b, _| {
        Ok(b.switch.totals().received.into())
    }),
    Number::new("sent", "", "packets", "packets that were sent, MAC control frames included", |b, _| {
        Ok(b.switch.totals().sent.into())
    }),
    Number::new("held", "", "packets", "packets inside", |b, _| Ok(b.switch.held().total().into())),
    Number::new("drops", "", "packets", "packets that were dropped", |b, _| {
        Ok(b.switch.totals().dropped.into())
    }),
    Number::new(
        "flood.xoff",
        "",
        "packets",
        "number of the packet, within its group, that paused the last group to be paused, from 1; 0 if none was paused",
        |b, _| Ok(b.flooded.xoff.into()),
    ),
    Number::new(
        "flood.first_xoff",
        "",
        "packets",
        "number of the packet, within its group, that paused the first group, from 1; 0 if none was paused",
        |b, _| Ok(b.flooded.first_xoff.into()),
    ),
    Number::new(
        "flood.drop",
        "",
        "packets",
        "number of the packet, within its group, that was dropped, from 1; 0 if none was dropped",
        |b, _| Ok(b.flooded.drop.into()),
    ),
    Number::new("violations", "", "", "invariants that do not hold", |b, _| {
        Ok(invariants::violations(b)?.len() as i128)
    }),
];

static REASON: Row = Row {
    name: "drops.REASON",
    arguments: "",
    unit: "packets",
    meaning: "packets that were dropped for this reason",
};

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    DEVICE.iter().map(|n| &n.row).chain([&REASON])
}

impl Bench {
    pub(super) fn of_device(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        known(&DEVICE, name)?(self, args)
    }
}
