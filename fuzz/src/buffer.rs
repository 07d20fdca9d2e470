//! Random buffer profiles: a shipped one with other sizes, thresholds and ECN settings.

use crate::Draw;
use sluice_asic::port::{PortKind, PortMap};
use sluice_asic::tm::buffer::{BufferFile, PortInfo};
use sluice_asic::units::BitRate;

/// Most edits of a profile.
const EDITS: usize = 24;

/// Range of values that are drawn for a key: sizes in bytes, or numbers. Headroom and PFC settings do not change, so that
/// traffic that is lossless under the shipped profile stays lossless.
enum Kind {
    Bytes,
    Number(i64, i64),
}

const KEYS: [(&str, Kind); 10] = [
    ("size", Kind::Bytes),
    ("xon", Kind::Bytes),
    ("xon_offset", Kind::Bytes),
    ("static_th", Kind::Bytes),
    ("base", Kind::Bytes),
    ("kmin", Kind::Bytes),
    ("kmax", Kind::Bytes),
    ("dynamic_th", Kind::Number(-8, 7)),
    ("baf", Kind::Number(0, 8)),
    ("pmax", Kind::Number(0, 100)),
];

/// Properties of a device's ports on which a profile depends; some ports run at other speeds.
#[must_use]
pub fn port_infos(ports: &PortMap, speeds: &[(u16, BitRate)]) -> Vec<PortInfo> {
    let info = |p: &sluice_asic::port::Port| {
        let number = p.dev_port.number();
        let name = match p.kind {
            PortKind::Front(front) => front.0.to_string(),
            PortKind::Cpu => "cpu".to_owned(),
            PortKind::Recirculation => format!("recirc:{number}"),
        };
        let set = speeds.iter().rev().find(|(port, _)| *port == number).map(|(_, speed)| *speed);
        let internal = !matches!(p.kind, PortKind::Front(_));
        PortInfo { name, speed: set.unwrap_or(p.speed), queues: p.queues, internal }
    };
    ports.iter().map(info).collect()
}

/// Draws a profile for a device with these ports, as the text of its file: a shipped one with some values replaced, mostly
/// by values so small that a few packets reach them. The smallest choice is the first shipped profile for these ports,
/// unchanged; `None` if there is none.
#[must_use]
pub fn buffer(ports: &[PortInfo], d: &mut Draw<'_>) -> Option<String> {
    let fits = |text: &str| BufferFile::parse("drawn", text).is_ok_and(|file| file.resolve(ports).is_ok());
    let bases: Vec<&str> = BufferFile::names().filter_map(BufferFile::text_of).filter(|t| fits(t)).collect();
    let mut lines: Vec<String> = d.pick(&bases)?.lines().map(str::to_owned).collect();
    let places: Vec<usize> = (0..lines.len()).filter(|n| kind(&lines, *n).is_some()).collect();
    for _ in 0..d.below(EDITS) {
        let Some(at) = d.pick(&places) else { break };
        let Some((key, kind)) = kind(&lines, at) else { continue };
        let line = match kind {
            Kind::Bytes => {
                let bytes = match d.below(4) {
                    0 => 0,
                    1 => d.below(64) * 208,
                    2 => d.below(1 << 16),
                    _ => d.below(1 << 22),
                };
                format!("{key} = \"{bytes}B\"")
            }
            Kind::Number(low, high) => format!("{key} = {}", low + d.below((high - low) as usize + 1) as i64),
        };
        let was = std::mem::replace(&mut lines[at], line);
        // An edit that contradicts other values is undone.
        if !fits(&lines.join("\n")) {
            lines[at] = was;
        }
    }
    lines.push(String::new());
    Some(lines.join("\n"))
}

/// Returns the range of values for a line; `None` if the line stays. Sizes of skid pools stay, because they are headroom.
fn kind(lines: &[String], at: usize) -> Option<(&'static str, &'static Kind)> {
    let key = lines[at].split('=').next()?.trim();
    let (name, kind) = KEYS.iter().find(|(name, _)| *name == key)?;
    let table = lines[..at].iter().rposition(|l| l.starts_with('[')).unwrap_or(0);
    let skid = lines[table..at].iter().any(|l| l.contains("\"skid\""));
    (!skid).then_some((*name, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::chip::ChipSpec;

    #[test]
    fn profiles_differ_and_can_be() {
        let ports = port_infos(&PortMap::default_for(&ChipSpec::tofino2()).unwrap(), &[]);
        let mut seen = std::collections::BTreeSet::new();
        for n in 0u32..40 {
            let words: Vec<u32> = (0..128).map(|i| (n * 128 + i).wrapping_mul(0x9e37_79b9)).collect();
            let text = buffer(&ports, &mut Draw::new(&words)).unwrap();
            let file = BufferFile::parse("drawn", &text).unwrap();
            assert!(file.resolve(&ports).is_ok());
            seen.insert(text);
        }
        assert!(seen.len() > 30, "{} of 40", seen.len());
        let smallest = buffer(&ports, &mut Draw::new(&[])).unwrap();
        assert!(BufferFile::names().any(|name| BufferFile::text_of(name) == Some(&smallest)));
    }
}
