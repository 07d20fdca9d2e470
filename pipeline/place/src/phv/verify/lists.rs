//! Lists of requests: each is a sequence of whole containers and of bytes of zeros.

use super::View;
use sluice_asic::phv::Container;
use sluice_ir::verify::Diag;
use sluice_ir::{ListItem, Request};

pub(super) fn check(view: &View) -> Vec<Diag> {
    let requests = view.program.pipes.iter().flat_map(|p| &p.deparser.requests);
    requests.filter_map(|r| request(view, r)).collect()
}

fn request(view: &View, request: &Request) -> Option<Diag> {
    let bits = sent(view, request);
    let mut at = 0;
    while at < bits.len() {
        let Some(ahead) = bits[at..].iter().position(Option::is_some) else { break };
        let Some((container, bit)) = bits[at + ahead] else { break };
        let size = view.info(container).map_or(0, |i| i.size.bits());
        // Zeros above the first bit are in its container; those before them are bytes of their own.
        let above = size.saturating_sub(1 + bit) as usize;
        let fits = above <= ahead && (ahead - above).is_multiple_of(8);
        let from = at + ahead.saturating_sub(above);
        let used = view
            .held
            .get(&container)
            .map_or(0u32, |held| held.iter().fold(0, |used, h| used | super::ones(h.width, h.at)));
        let same = |i: u32| match bits.get(from + i as usize) {
            Some(Some(found)) => *found == (container, size - 1 - i),
            Some(None) => used >> (size - 1 - i) & 1 == 0,
            None => false,
        };
        if !fits || !(0..size).all(same) {
            let text = format!(
                "PHV: byte {} of a {} is in {}, of which it does not send the whole",
                (at + ahead) / 8,
                request.kind.word(),
                view.name(container)
            );
            return Some(
                Diag::error(request.loc, text).help("the allocator must give lists whole containers"),
            );
        }
        at = from + size as usize;
    }
    None
}

/// Returns the bits that a request sends, most significant first: container and bit, or `None` for a zero.
fn sent(view: &View, request: &Request) -> Vec<Option<(Container, u32)>> {
    let mut bits = Vec::new();
    for item in request.data.iter().filter_map(|e| ListItem::of(view.program, e)) {
        match item {
            ListItem::Zeros(width) => bits.extend(std::iter::repeat_n(None, width.into())),
            ListItem::Bits(field, hi, lo) => bits.extend((lo..=hi).rev().map(|bit| {
                let slices = view.allocation.slices(field);
                let s = slices.iter().find(|s| (s.lo..s.lo + s.width).contains(&bit))?;
                Some((s.container, u32::from(s.at) + u32::from(bit - s.lo)))
            })),
        }
    }
    bits
}
