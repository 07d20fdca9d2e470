//! The agreement of switches and senders of HPCC about records: units of queues, and speeds.

use sluice_asic::units::Bytes;
use sluice_catalogue::position::Position;
use sluice_fabric::host::hpcc::has_code;
use sluice_fabric::host::nic::TransportConfig;
use sluice_fabric::network::NetworkSetup;
use sluice_switch::BufferSetup;

/// Returns the bytes of the first switch's buffer cell, in which records count queues: its buffer profile's, else the chip's.
/// The second value is true if all switches have the same.
pub(super) fn cell(network: &NetworkSetup, chip: Bytes) -> (Bytes, bool) {
    common(network.switches.iter().map(|switch| &switch.config.buffer), chip)
}

fn common<'a>(buffers: impl Iterator<Item = &'a Option<BufferSetup>>, chip: Bytes) -> (Bytes, bool) {
    let mut cells = buffers.map(|buffer| buffer.as_ref().map_or(chip, |buffer| buffer.file.cell));
    let first = cells.next().unwrap_or(chip);
    (first, cells.all(|cell| cell == first))
}

/// Refuses senders that read records, because switches have buffer cells of several sizes.
pub(super) fn check_cells(transports: &[TransportConfig]) -> Result<(), String> {
    match transports.iter().any(|transport| transport.telemetry().is_some()) {
        false => Ok(()),
        true => Err("congestion = \"hpcc\": the switches' buffer profiles have cells of several sizes, and records count \
                     queues in cells; give all profiles the same `cell`, or name one in `[hosts] telemetry = { cell = .. }`"
            .into()),
    }
}

/// Checks that records can express the speeds of all ports, if senders read records.
pub(super) fn check_speeds(transports: &[TransportConfig], positions: &[Position]) -> Result<(), String> {
    if transports.iter().all(|transport| transport.telemetry().is_none()) {
        return Ok(());
    }
    for position in positions {
        if let Some(used) = position.ports.iter().find(|used| !has_code(used.speed)) {
            return Err(format!(
                "congestion = \"hpcc\": port {} of switch `{}` has {}, which HPCC's records cannot express; expected 25G, \
                 40G, 50G, 100G, 200G or 400G",
                used.port, position.name, used.speed
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::tm::buffer::BufferFile;

    fn buffer(cell: u64) -> Option<BufferSetup> {
        let mut file = BufferFile::parse("profile", BufferFile::text_of("tofino2").unwrap()).unwrap();
        file.cell = Bytes(cell);
        Some(BufferSetup { file, seed: 1 })
    }

    #[test]
    fn records_count_cells_of_the_buffer_profile() {
        const CHIP: Bytes = Bytes(176);
        assert_eq!(common([].iter(), CHIP), (CHIP, true));
        assert_eq!(common([None, None].iter(), CHIP), (CHIP, true));
        assert_eq!(common([buffer(80), buffer(80)].iter(), CHIP), (Bytes(80), true));
        assert_eq!(common([buffer(80), None].iter(), CHIP), (Bytes(80), false));
    }
}
