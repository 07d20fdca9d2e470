//! Flows through the five-stage Clos, eight choices each.

use sluice_fabric::flows::{Flow, Generator, Workload};
use sluice_fabric::polarization::{Compiled, Picker, Question, plan};
use sluice_fabric::topology::Clos;
use sluice_hashing::replicas::Order;
use sluice_hashing::scheme::Terms;
use sluice_hashing::wcmp::Method;

/// Flows and the five-stage Clos that they go through.
pub(crate) struct FlowPaths {
    compiled: Compiled,
    flows: Vec<Flow>,
}

impl FlowPaths {
    /// `flows` uniform flows under a scheme of hashing.
    pub(crate) fn new(flows: u64, scheme: &str) -> FlowPaths {
        let network = Clos::default().build().expect("the default Clos");
        let functions = ["crc32_lo", "ccitt", "bisync", "crc32_hi", "xor16", "crc16_xor8"];
        let supply = functions.map(|f| f.parse().expect("a function")).to_vec();
        let terms =
            Terms { supply, seed: 1, hash_bits: 16, width: 512, target: 50, order: Order::Interleaved };
        let scheme = scheme.parse().expect("a scheme");
        let question =
            Question { scheme, terms, picker: Picker::Modulo16, members: None, method: Method::Split };
        let planned = plan(&network, &question).expect("a plan");
        let compiled = Compiled::new(&network, &planned, question.picker);
        let flows = Generator::new(Workload::Uniform, &network, flows, 42).flows().collect();
        FlowPaths { compiled, flows }
    }

    /// Walks all flows. Returns how many.
    pub(crate) fn walk(&self) -> u64 {
        let mut counters = self.compiled.counters();
        self.compiled.walk_all(&self.flows, &mut counters);
        counters.walked
    }
}
