//! The ASIC of a switch, by the name that SONiC has for its hardware.
//!
//! Names are those of the lists of HWSKUs by ASIC in sonic-mgmt (`ansible/group_vars/sonic/variables`).

use super::SonicText;
use serde_json::Value;

/// Beginnings of HWSKUs, the ASIC of each, and the shipped profile that has its memory; empty if there is none.
const ASICS: [(&str, &str, &str); 37] = [
    ("ACS-S6000", "Trident 2", "td2"),
    ("Force10-S6000", "Trident 2", "td2"),
    ("Arista-7050-QX", "Trident 2", "td2"),
    ("Arista-7050QX", "Trident 2", "td2"),
    ("Nexus-3164", "Trident 2", "td2"),
    ("Arista-7050CX3", "Trident 3", ""),
    ("Nokia-IXR7220-D4", "Trident 4", ""),
    ("Force10-S6100", "Tomahawk", "th"),
    ("Arista-7060CX-32S", "Tomahawk", "th"),
    ("Celestica-DX010", "Tomahawk", "th"),
    ("Seastone-DX010", "Tomahawk", "th"),
    ("Arista-7260CX3", "Tomahawk 2", "th2"),
    ("DellEMC-Z9332f", "Tomahawk 3", ""),
    ("Arista-7060DX5", "Tomahawk 4", ""),
    ("Arista-7060X6", "Tomahawk 5", ""),
    ("NH-4010", "Tomahawk 5", ""),
    ("NH-4210", "Tomahawk 6", ""),
    ("Nokia-IXR7220-H6", "Tomahawk 6", ""),
    ("Nokia-IXR7250", "Jericho 2C+", ""),
    ("Arista-7280DR3A", "Jericho 2C+", ""),
    ("Arista-7800R3A", "Jericho 2C+", ""),
    ("Arista-7800R3-48CQ", "Jericho 2", ""),
    ("ACS-MSN2", "Spectrum", ""),
    ("Mellanox-SN2", "Spectrum", ""),
    ("ACS-MSN3", "Spectrum-2", ""),
    ("Mellanox-SN3", "Spectrum-2", ""),
    ("ACS-MSN4", "Spectrum-3", ""),
    ("ACS-SN4", "Spectrum-3", ""),
    ("Mellanox-SN4", "Spectrum-3", ""),
    ("Mellanox-SN5640", "Spectrum-5", ""),
    ("ACS-SN56", "Spectrum-4", ""),
    ("Mellanox-SN56", "Spectrum-4", ""),
    ("Cisco-8", "Cisco Silicon One", ""),
    ("montara", "Tofino", "tofino"),
    ("mavericks", "Tofino", "tofino"),
    ("Arista-7170", "Tofino", "tofino"),
    ("newport", "Tofino 2", "tofino2"),
];

/// The hardware that a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    /// The name in `DEVICE_METADATA|localhost|hwsku`.
    pub hwsku: String,
    /// The ASIC; `None`: not known here.
    pub asic: Option<&'static str>,
    /// Name of the shipped profile with its memory.
    pub profile: Option<&'static str>,
}

impl Hardware {
    /// Returns the hardware that a text of SONiC names; the last one of several texts counts.
    #[must_use]
    pub fn of(texts: &[SonicText<'_>]) -> Option<Hardware> {
        let of_text = |text: &SonicText<'_>| {
            let value: Value = serde_json::from_str(text.text).ok()?;
            Some(value.get("DEVICE_METADATA")?.get("localhost")?.get("hwsku")?.as_str()?.to_owned())
        };
        let hwsku = texts.iter().rev().find_map(of_text)?;
        let found = ASICS.iter().find(|(begin, ..)| hwsku.starts_with(begin));
        let asic = found.map(|(_, asic, _)| *asic);
        let profile = found.map(|(.., profile)| *profile).filter(|profile| !profile.is_empty());
        Some(Hardware { hwsku, asic, profile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tm::buffer::BufferFile;

    fn of(hwsku: &str) -> Option<Hardware> {
        let text = format!("{{\"DEVICE_METADATA\": {{\"localhost\": {{\"hwsku\": \"{hwsku}\"}}}}}}");
        Hardware::of(&[SonicText { name: "a", text: &text }])
    }

    #[test]
    fn hwskus_of_an_asic_have_its_memory() {
        let profile = |hwsku| of(hwsku).unwrap().profile;
        for (hwsku, name) in [
            ("Arista-7060CX-32S-D48C8", Some("th")),
            ("Celestica-DX010-C32", Some("th")),
            ("Arista-7260CX3-D108C8", Some("th2")),
            ("Force10-S6000-Q24S32", Some("td2")),
            ("newport", Some("tofino2")),
            ("Arista-7050CX3-32S-C32", None),
            ("Mellanox-SN5640-C512S2", None),
            ("unheard-of", None),
        ] {
            assert_eq!(profile(hwsku), name, "{hwsku}");
        }
        assert_eq!(of("Mellanox-SN5640-C512S2").unwrap().asic, Some("Spectrum-5"));
        assert_eq!(of("unheard-of").unwrap().asic, None);
        assert_eq!(Hardware::of(&[SonicText { name: "a", text: "100000 5m 1 2 3 4" }]), None);
    }

    #[test]
    fn each_profile_is_shipped() {
        for (_, _, profile) in ASICS.iter().filter(|(.., profile)| !profile.is_empty()) {
            assert!(BufferFile::names().any(|name| name == *profile), "{profile}");
        }
    }
}
