//! A request to a server, and its response.

use super::{Begun, Ended, Footprint};
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::Builder;
use crate::contest::workload::sizes::Sizes;
use sluice_asic::units::Duration;
use sluice_pcaps::generate::Draw;

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestResponse {
    /// Sizes of requests.
    pub request: Sizes,
    /// Sizes of responses.
    pub response: Sizes,
    /// Time from a request's arrival to its response.
    pub service: Duration,
}

impl RequestResponse {
    pub(super) fn footprint(&self) -> Footprint {
        let (request, response) = (self.request.mean(), self.response.mean());
        Footprint { client: (request, response), servers: (response, request) }
    }

    pub(super) fn plan(
        &self,
        begun: &Begun<'_>,
        draw: &mut Draw,
        into: &mut Builder<'_>,
    ) -> Result<Ended, Fault> {
        let server = begun.servers[0];
        let (asked, answered) = (self.request.draw(draw), self.response.draw(draw));
        let request = into.send(begun.client, server, asked, begun.when)?;
        let when = into.after(&[request], self.service).following(begun.when);
        let response = into.send(server, begun.client, answered, when)?;
        Ok(Ended {
            received: vec![response],
            line: asked + answered,
            messages: 2,
            service: self.service,
            after: Duration::ZERO,
        })
    }
}
