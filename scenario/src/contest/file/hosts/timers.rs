//! Retransmission timers of transports, and how long a run waits for them.

use sluice_asic::units::Duration;
use sluice_fabric::host::nic::TransportConfig;
use sluice_fabric::host::recovery::Recovery;

/// Least time for which a run goes on after its workload by default.
const LEAST_DRAIN: Duration = Duration::from_millis(50);

/// A time without an acknowledgement after which a sender sends a packet again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RetransmissionTimer {
    /// The key that sets it.
    pub(crate) key: &'static str,
    pub(crate) time: Duration,
    /// Multiples of `time` for which a run waits by default.
    waits: u64,
}

/// Returns the retransmission timers that keys of transports set.
pub(crate) fn retransmission_timers(transports: &[TransportConfig]) -> Vec<RetransmissionTimer> {
    let timer = |key, time, waits| RetransmissionTimer { key, time, waits };
    let mut all = Vec::new();
    for transport in transports {
        match transport {
            // TCP doubles the timeout when it expires: it has expired twice after three of the first one.
            TransportConfig::Tcp(tcp) => {
                all.push(timer("tcp.min_rto", tcp.rto.min, 4));
                // This one holds until a packet of the connection is acknowledged. It is long, so it may expire once.
                all.push(timer("tcp.initial_rto", tcp.rto.initial, 2));
            }
            TransportConfig::Rdma(rdma) => match rdma.recovery {
                Recovery::GoBackN { timeout: Some(time), .. } | Recovery::AnyOrder { timeout: time } => {
                    all.push(timer("timeout", time, 4));
                }
                // Its timers have no keys, and are below a millisecond.
                Recovery::GoBackN { timeout: None, .. } | Recovery::Selective { .. } => {}
            },
            TransportConfig::Udp(_) => {}
        }
    }
    all
}

/// Returns the time for which a run goes on after its workload by default: long enough for a lost packet to be sent again.
pub(crate) fn default_drain(transports: &[TransportConfig]) -> Duration {
    let waits = retransmission_timers(transports).into_iter().map(|timer| timer.time * timer.waits);
    waits.fold(LEAST_DRAIN, Duration::max)
}

#[cfg(test)]
mod tests {
    use crate::contest::file::contest::Contest;
    use sluice_asic::units::Duration;

    fn drain(keys: &str) -> Duration {
        let text = format!(
            "name = \"n\"\ntopology = \"t\"\n[workload]\nsizes = \"solar\"\nload = 1\ntime = \"1ms\"\n[[program]]\n\
             name = \"ecmp\"\n[hosts]\ncable = \"1us\"\n{keys}\n"
        );
        Contest::parse("f", &text).unwrap().drain()
    }

    #[test]
    fn a_run_waits_for_retransmissions_by_default() {
        let ms = Duration::from_millis;
        // 4 ms and 100 to 320 us.
        assert_eq!(drain("recovery = \"go-back-n\""), ms(50));
        assert_eq!(drain("recovery = \"selective\""), ms(50));
        assert_eq!(drain("recovery = \"any-order\"\ntimeout = \"20ms\""), ms(80));
        // Linux's values: 200 ms, and 1 s before the first measurement.
        assert_eq!(drain("tcp = {}"), ms(2_000));
        assert_eq!(drain("tcp = { initial_rto = \"1ms\" }"), ms(800));
        assert_eq!(drain("tcp = { initial_rto = \"1ms\", min_rto = \"1ms\" }"), ms(50));
        assert_eq!(drain("udp = { rate = \"1Gbps\" }"), ms(50));
        // The longest of several transports, and the file's own value.
        let two = "[[hosts.transport]]\nname = \"a\"\nrecovery = \"go-back-n\"\n[[hosts.transport]]\nname = \"b\"\ntcp = {}";
        assert_eq!(drain(two), ms(2_000));
    }
}
