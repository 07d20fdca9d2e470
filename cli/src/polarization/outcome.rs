//! Outcomes of schemes, and their JSON (`sluice.polarization/1`).

use super::PolarizationArgs;
use super::draws::{Draws, percentiles};
use serde::{Serialize, Serializer};
use sluice_fabric::decimals;
use sluice_fabric::flows::{Extracted, Workload};
use sluice_fabric::polarization::{Compared, NoPlan, Results};
use sluice_fabric::topology::Network;
use sluice_hashing::scheme::Scheme;

/// All results of a run.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    /// Name of the program of `--packets`.
    #[serde(skip)]
    pub(super) program: Option<&'a str>,
    #[serde(skip)]
    pub(super) network: &'a Network,
    pub(super) schema: &'static str,
    topology: &'a str,
    /// Name of the generator of the flows; `None` if they are those of a capture.
    workload: Option<&'static str>,
    pub(super) capture: Option<Extracted>,
    seed: u32,
    functions: Vec<String>,
    draw_rule: &'static str,
    #[serde(rename = "schemes")]
    pub(super) outcomes: Vec<Outcome>,
    /// Schemes with several draws, all draws together.
    draws: Vec<Together>,
    /// Sizes of coprime groups, with the remaining variation (figure 16 of the paper).
    pub(super) sizes: Vec<Size>,
}

/// Outcome of a scheme. The results are boxed because they are large.
pub(super) struct Outcome {
    pub(super) name: String,
    /// Scheme; `None` for the ideal mixer.
    pub(super) scheme: Option<Scheme>,
    pub(super) results: Result<Box<Results>, NoPlan>,
    /// Packets beside the walks of their flows, if they were sent; else why they could not be.
    pub(super) packets: Option<Result<Compared, String>>,
}

#[derive(Serialize)]
struct Together {
    name: String,
    draws: usize,
    #[serde(rename = "above_0.2")]
    above_02: usize,
    #[serde(rename = "above_0.5")]
    above_05: usize,
    #[serde(rename = "above_0.6")]
    above_06: usize,
    cdf_percent: Vec<Option<f64>>,
}

/// A size of coprime groups.
#[derive(Serialize)]
pub(super) struct Size {
    pub(super) members: u32,
    /// Variation without the part that chance explains.
    #[serde(serialize_with = "decimals::one")]
    pub(super) cv: f64,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        args: &'a PolarizationArgs,
        program: Option<&'a str>,
        network: &'a Network,
        capture: Option<Extracted>,
        outcomes: Vec<Outcome>,
        sizes: Vec<Size>,
    ) -> Report<'a> {
        let made = Workload::ALL.iter().filter(|_| capture.is_none()).find(|(_, w)| *w == args.workload);
        let draws = Draws::of(&outcomes).into_iter().filter(|draws| draws.results.len() > 1);
        let together = |draws: Draws<'_>| Together {
            draws: draws.results.len(),
            above_02: draws.above(0.2),
            above_05: draws.above(0.5),
            above_06: draws.above(0.6),
            cdf_percent: percentiles(&draws.cdf()),
            name: draws.name,
        };
        Report {
            program,
            network,
            schema: "sluice.polarization/1",
            topology: &network.name,
            workload: made.map(|(name, _)| *name),
            capture,
            seed: args.seed,
            functions: args.functions.0.iter().map(ToString::to_string).collect(),
            draw_rule: "per-stage: one function per stage (and block, without spine), drawn with replacement, 32-bit seed",
            draws: draws.map(together).collect(),
            outcomes,
            sizes,
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Planned<'a> {
            Not {
                scheme: &'a str,
                plan: bool,
                reason: String,
            },
            Measured {
                scheme: &'a str,
                plan: bool,
                #[serde(flatten)]
                results: &'a Results,
                cdf_percent: Vec<Option<f64>>,
                #[serde(skip_serializing_if = "Option::is_none")]
                packets: Option<Packets<'a>>,
            },
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Packets<'a> {
            Not {
                sent: bool,
                reason: &'a str,
            },
            Sent {
                sent: bool,
                #[serde(flatten)]
                compared: &'a Compared,
            },
        }
        fn packets(packets: &Result<Compared, String>) -> Packets<'_> {
            match packets {
                Err(reason) => Packets::Not { sent: false, reason },
                Ok(compared) => Packets::Sent { sent: true, compared },
            }
        }
        let scheme = &self.name;
        match &self.results {
            Err(why) => Planned::Not { scheme, plan: false, reason: why.to_string() },
            Ok(results) => Planned::Measured {
                scheme,
                plan: true,
                results,
                cdf_percent: percentiles(&results.cdf()),
                packets: self.packets.as_ref().map(packets),
            },
        }
        .serialize(serializer)
    }
}
