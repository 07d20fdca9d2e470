//! Refuses workloads that offer more than the hosts' links carry.

use super::fault::Fault;
use super::hosts::HostTable;
use sluice_asic::units::Duration;

/// Mean payload rates of hosts, bit/s.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    sent: Vec<u128>,
    received: Vec<u128>,
}

impl Rates {
    pub(super) fn new(hosts: usize) -> Rates {
        Rates { sent: vec![0; hosts], received: vec![0; hosts] }
    }

    /// Returns the rate of bytes over a time.
    pub(super) fn over(&self, bytes: u128, time: Duration) -> u128 {
        const PS: u128 = 1_000_000_000_000;
        bytes.saturating_mul(8 * PS) / u128::from(time.as_ps().max(1))
    }

    pub(super) fn send(&mut self, host: u32, rate: u128) {
        self.sent[host as usize] += rate;
    }

    pub(super) fn receive(&mut self, host: u32, rate: u128) {
        self.received[host as usize] += rate;
    }

    /// Checks that no host sends or receives more than its link carries. Rounding may add a bit/s for each pair of hosts.
    ///
    /// # Errors
    /// The first host with more; `key` is the setting that makes the rates.
    pub(super) fn check(&self, hosts: &HostTable, key: &'static str) -> Result<(), Fault> {
        for (verb, rates) in [("send", &self.sent), ("receive", &self.received)] {
            for (host, rate) in (0..).zip(rates) {
                let line = hosts.station(host).rate;
                let most = u128::from(line.as_bps());
                if *rate > most {
                    let percent = rate.saturating_mul(100) / most.max(1);
                    let what = format!(
                        "host {} would {verb} {percent} % of its {line} on average, with the workloads that run at the \
                         same time; lower the load, or select more hosts",
                        hosts.describe(host)
                    );
                    return Err(Fault::new(key, what));
                }
            }
        }
        Ok(())
    }
}
