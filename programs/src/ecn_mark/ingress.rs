//! Ingress of `ecn-mark`: forwarding.

use super::Params;
use crate::forwarding::plain::{self, Headers};
use sluice_build::*;

/// Declares all of ingress.
pub(super) fn ingress(ig: &GressBuilder<'_>, p: &Params) {
    let h = plain::headers(ig);
    let tables = plain::tables(ig, h, p.routes);
    ig.start(h.parse_ethernet);
    ig.control(|c| plain::forward(c, h, tables));
    let Headers { ethernet, vlan, ipv4, ipv6, .. } = h;
    ig.deparser().emit(ethernet).emit(vlan).emit(ipv4).emit(ipv6);
}
