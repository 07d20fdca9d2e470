//! Ingress of `ecn-mark`: forwarding. What may not live here: marking.

use super::Params;
use crate::forwarding::{self, Headers};
use sluice_pipeline::build::*;

/// Declares all of ingress.
pub(super) fn ingress(ig: &GressBuilder<'_>, p: &Params) {
    let h = forwarding::headers(ig);
    let tables = forwarding::tables(ig, h, p.routes);
    ig.start(h.parse_ethernet);
    ig.control(|c| forwarding::forward(c, h, tables));
    let Headers { ethernet, vlan, ipv4, ipv6, .. } = h;
    ig.deparser().emit(ethernet).emit(vlan).emit(ipv4).emit(ipv6);
}
