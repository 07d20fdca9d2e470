//! Warns before a run whose packet generators make most of its packets.

use sluice_control::ControlState;
use sluice_pcaps::replay::Schedule;
use sluice_replay::{GeneratorLoad, Inputs};

/// Generated packets from which on a warning is worth its line: a release build takes about a minute for them.
const MANY: u64 = 50_000_000;

/// Prints a warning to stderr if the generators of a run will make many packets.
pub(super) fn warn<'c>(
    inputs: &Inputs,
    schedule: Schedule,
    switches: impl IntoIterator<Item = &'c ControlState>,
) {
    if let Some(text) = GeneratorLoad::of(inputs, schedule, switches).and_then(warning) {
        eprintln!("{text}");
    }
}

/// Returns the warning and its remedy; `None` if the load is small.
fn warning(load: GeneratorLoad) -> Option<String> {
    if load.packets < MANY {
        return None;
    }
    let GeneratorLoad { time, packets } = load;
    let times = packets.div_ceil(MANY);
    Some(format!(
        "warning: the packet generators will make {packets} packets within the {time} of simulated time that the captures \
         last at least; rounds of them that change nothing and read no clock are skipped, and each other packet costs as much \
         as a packet of a capture\n  = help: send {times} times as fast, `--speed {times}x` if this run is at 1x, or \
         `--speed line-rate`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::Duration;

    #[test]
    fn a_warning_names_the_load_and_the_speed_that_ends_it() {
        let load = |packets| GeneratorLoad { time: Duration::from_secs(100), packets };
        assert_eq!(warning(load(49_999_999)), None);
        let text = warning(load(1_600_000_001)).unwrap_or_default();
        for word in ["make 1600000001 packets within the 100s", "33 times as fast", "`--speed 33x`"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
