//! The ASIC of a switch, by the names that SONiC has for its hardware.
//!
//! HWSKUs are those of the lists by ASIC in sonic-mgmt (`ansible/group_vars/sonic/variables`), platforms the folders of
//! sonic-buildimage (`device/`), whose ASIC follows from the names of their configuration files.

use super::SonicText;
use serde_json::Value;

/// Beginnings of HWSKUs, and their ASIC. A longer beginning comes before a shorter one.
const HWSKUS: [(&str, &str); 57] = [
    ("ACS-S6000", "Trident 2"),
    ("Force10-S6000", "Trident 2"),
    ("Arista-7050-QX", "Trident 2"),
    ("Arista-7050QX", "Trident 2"),
    ("Nexus-3164", "Trident 2"),
    ("Arista-7050CX3", "Trident 3"),
    ("DellEMC-S5232f", "Trident 3"),
    ("Accton-AS7726", "Trident 3"),
    ("Seastone_2", "Trident 3"),
    ("Arista-7050DX4", "Trident 4"),
    ("Nokia-IXR7220-D4", "Trident 4"),
    ("DellEMC-Z9432f", "Trident 4"),
    ("Force10-S6100", "Tomahawk"),
    ("Force10-Z9100", "Tomahawk"),
    ("Arista-7060CX-32S", "Tomahawk"),
    ("Celestica-DX010", "Tomahawk"),
    ("Seastone-DX010", "Tomahawk"),
    ("Accton-AS7712", "Tomahawk"),
    ("Arista-7260CX3", "Tomahawk 2"),
    ("DellEMC-Z9264f", "Tomahawk 2"),
    ("DellEMC-Z9332f", "Tomahawk 3"),
    ("Arista-7060DX4", "Tomahawk 3"),
    ("Arista-7060PX4", "Tomahawk 3"),
    ("Accton-AS9716", "Tomahawk 3"),
    ("Nokia-IXR7220-H3", "Tomahawk 3"),
    ("Arista-7060DX5", "Tomahawk 4"),
    ("DellEMC-Z9664f", "Tomahawk 4"),
    ("Nokia-IXR7220-H4", "Tomahawk 4"),
    ("Arista-7060X6", "Tomahawk 5"),
    ("NH-4010", "Tomahawk 5"),
    ("Dell-Z9864f", "Tomahawk 5"),
    ("Nokia-IXR7220-H5", "Tomahawk 5"),
    ("NH-4210", "Tomahawk 6"),
    ("Nokia-IXR7220-H6", "Tomahawk 6"),
    ("Nokia-IXR7250E", "Jericho 2C+"),
    ("Nokia-IXR7250-X3B", "Jericho 2C+"),
    ("Arista-7280DR3A", "Jericho 2C+"),
    ("Arista-7800R3A", "Jericho 2C+"),
    ("Arista-7800R3-48CQ", "Jericho 2"),
    ("NH-5010", "Qumran 3D"),
    ("Arista-7280R4", "Qumran 3D"),
    ("ACS-MSN2", "Spectrum"),
    ("ACS-SN2", "Spectrum"),
    ("Mellanox-SN2", "Spectrum"),
    ("ACS-MSN3", "Spectrum-2"),
    ("Mellanox-SN3", "Spectrum-2"),
    ("ACS-MSN4", "Spectrum-3"),
    ("ACS-SN4", "Spectrum-3"),
    ("Mellanox-SN4", "Spectrum-3"),
    ("Mellanox-SN5640", "Spectrum-5"),
    ("ACS-SN5", "Spectrum-4"),
    ("Mellanox-SN5", "Spectrum-4"),
    ("Cisco-8", "Cisco Silicon One"),
    ("montara", "Tofino"),
    ("mavericks", "Tofino"),
    ("Arista-7170", "Tofino"),
    ("newport", "Tofino 2"),
];

/// Beginnings of platforms without their `x86_64-`, and their ASIC, for HWSKUs that are not in [`HWSKUS`].
const PLATFORMS: [(&str, &str); 43] = [
    ("dell_s6000", "Trident 2"),
    ("arista_7050_qx32", "Trident 2"),
    ("arista_7050cx3", "Trident 3"),
    ("dellemc_s5232f", "Trident 3"),
    ("accton_as7726", "Trident 3"),
    ("cel_seastone_2", "Trident 3"),
    ("arista_7050dx4", "Trident 4"),
    ("nokia_ixr7220_d4", "Trident 4"),
    ("dellemc_z9432f", "Trident 4"),
    ("arista_7060_cx32s", "Tomahawk"),
    ("cel_seastone-", "Tomahawk"),
    ("dell_s6100", "Tomahawk"),
    ("dell_z9100", "Tomahawk"),
    ("arista_7260cx3", "Tomahawk 2"),
    ("dellemc_z9264f", "Tomahawk 2"),
    ("dellemc_z9332f", "Tomahawk 3"),
    ("arista_7060dx4", "Tomahawk 3"),
    ("arista_7060px4", "Tomahawk 3"),
    ("accton_as9716", "Tomahawk 3"),
    ("nokia_ixr7220_h3", "Tomahawk 3"),
    ("arista_7060dx5", "Tomahawk 4"),
    ("dell_z9664f", "Tomahawk 4"),
    ("nokia_ixr7220_h4", "Tomahawk 4"),
    ("arista_7060x6", "Tomahawk 5"),
    ("nexthop_4010", "Tomahawk 5"),
    ("dell_z9864f", "Tomahawk 5"),
    ("nokia_ixr7220_h5", "Tomahawk 5"),
    ("nexthop_4210", "Tomahawk 6"),
    ("nokia_ixr7220_h6", "Tomahawk 6"),
    ("nokia_ixr7250e", "Jericho 2C+"),
    ("arista_7280dr3a", "Jericho 2C+"),
    ("arista_7800r3a", "Jericho 2C+"),
    ("mlnx_msn2", "Spectrum"),
    ("nvidia_sn2", "Spectrum"),
    ("mlnx_msn3", "Spectrum-2"),
    ("mlnx_msn4", "Spectrum-3"),
    ("nvidia_sn4", "Spectrum-3"),
    ("nvidia_sn5640", "Spectrum-5"),
    ("nvidia_sn5", "Spectrum-4"),
    ("nvidia_sn6", "Spectrum-6"),
    ("accton_wedge100bf", "Tofino"),
    ("arista_7170", "Tofino"),
    ("accton_as9516", "Tofino 2"),
];

/// The shipped profile that has the memory of an ASIC.
const PROFILES: [(&str, &str); 8] = [
    ("Trident 2", "td2"),
    ("Trident 3", "td3"),
    ("Tomahawk", "th"),
    ("Tomahawk 2", "th2"),
    ("Tomahawk 3", "th3"),
    ("Tomahawk 5", "th5"),
    ("Tofino", "tofino"),
    ("Tofino 2", "tofino2"),
];

/// The hardware that a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    /// The name that decides, with its field: `hwsku newport` or `platform x86_64-dell_s6100_c2538-r0`. Both if neither is known.
    pub name: String,
    /// The ASIC; `None`: not known here.
    pub asic: Option<&'static str>,
    /// Name of the shipped profile with its memory.
    pub profile: Option<&'static str>,
}

impl Hardware {
    /// Returns the hardware that a text of SONiC names in `DEVICE_METADATA|localhost`: by its `hwsku`, or else by its `platform`. Of
    /// several texts, the last one that has a field counts.
    #[must_use]
    pub fn of(texts: &[SonicText<'_>]) -> Option<Hardware> {
        let field = |name: &str| {
            let of_text = |text: &SonicText<'_>| {
                let value: Value = serde_json::from_str(text.text).ok()?;
                Some(value.get("DEVICE_METADATA")?.get("localhost")?.get(name)?.as_str()?.to_owned())
            };
            texts.iter().rev().find_map(of_text)
        };
        let begins = |table: &[(&str, &'static str)], name: &str| {
            table.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, asic)| *asic)
        };
        let (hwsku, platform) = (field("hwsku"), field("platform"));
        let by_hwsku = hwsku.as_deref().and_then(|name| begins(&HWSKUS, name));
        let by_platform = platform.as_deref().and_then(|name| {
            let model = name.split_once('-').map_or(name, |(_, model)| model);
            begins(&PLATFORMS, model)
        });
        let asic = by_hwsku.or(by_platform);
        let mut names = Vec::new();
        names.extend(
            hwsku.filter(|_| asic.is_none() || by_hwsku.is_some()).map(|name| format!("hwsku {name}")),
        );
        names.extend(platform.filter(|_| by_hwsku.is_none()).map(|name| format!("platform {name}")));
        if names.is_empty() {
            return None;
        }
        let profile = PROFILES.iter().find(|(of, _)| Some(*of) == asic).map(|(_, profile)| *profile);
        Some(Hardware { name: names.join(", "), asic, profile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tm::buffer::BufferFile;

    fn of(fields: &str) -> Option<Hardware> {
        let text = format!("{{\"DEVICE_METADATA\": {{\"localhost\": {{{fields}}}}}}}");
        Hardware::of(&[SonicText { name: "a", text: &text }])
    }

    fn of_hwsku(hwsku: &str) -> Hardware {
        of(&format!("\"hwsku\": \"{hwsku}\"")).unwrap()
    }

    #[test]
    fn hwskus_of_an_asic_have_its_memory() {
        for (hwsku, name) in [
            ("Arista-7060CX-32S-D48C8", Some("th")),
            ("Celestica-DX010-C32", Some("th")),
            ("Arista-7260CX3-D108C8", Some("th2")),
            ("Force10-S6000-Q24S32", Some("td2")),
            ("newport", Some("tofino2")),
            ("Arista-7050CX3-32S-C32", Some("td3")),
            ("DellEMC-S5232f-C8D48", Some("td3")),
            ("DellEMC-Z9332f-O32", Some("th3")),
            ("Arista-7060PX4-C64", Some("th3")),
            ("Arista-7060X6-64PE-B-O128", Some("th5")),
            ("NH-4010-128x400G-2x25G", Some("th5")),
            ("Nokia-IXR7220-D4-36D", None),
            ("Mellanox-SN5640-C512S2", None),
            ("unheard-of", None),
        ] {
            assert_eq!(of_hwsku(hwsku).profile, name, "{hwsku}");
        }
        for (hwsku, asic) in [
            ("Mellanox-SN5640-C512S2", Some("Spectrum-5")),
            ("Mellanox-SN5610N-C256S2", Some("Spectrum-4")),
            ("ACS-MSN4700", Some("Spectrum-3")),
            ("Arista-7060DX5-64S", Some("Tomahawk 4")),
            ("Nokia-IXR7220-H6-O256", Some("Tomahawk 6")),
            ("Arista-7280DR3AK-36", Some("Jericho 2C+")),
            ("unheard-of", None),
        ] {
            assert_eq!(of_hwsku(hwsku).asic, asic, "{hwsku}");
        }
        assert_eq!(Hardware::of(&[SonicText { name: "a", text: "100000 5m 1 2 3 4" }]), None);
    }

    #[test]
    fn a_platform_stands_for_a_hwsku_that_is_not_known() {
        let found = of("\"hwsku\": \"mine\", \"platform\": \"x86_64-dellemc_z9332f_d1508-r0\"").unwrap();
        assert_eq!(
            (found.name.as_str(), found.asic, found.profile),
            ("platform x86_64-dellemc_z9332f_d1508-r0", Some("Tomahawk 3"), Some("th3"))
        );
        let found = of("\"hwsku\": \"newport\", \"platform\": \"x86_64-dell_s6000_s1220-r0\"").unwrap();
        assert_eq!((found.name.as_str(), found.profile), ("hwsku newport", Some("tofino2")));
        let found = of("\"hwsku\": \"mine\", \"platform\": \"x86_64-kvm_x86_64-r0\"").unwrap();
        assert_eq!((found.name.as_str(), found.asic), ("hwsku mine, platform x86_64-kvm_x86_64-r0", None));
        let found = of("\"platform\": \"x86_64-cel_seastone_2-r0\"").unwrap();
        assert_eq!(found.asic, Some("Trident 3"));
        assert_eq!(of("\"hostname\": \"a\""), None);
    }

    #[test]
    fn no_beginning_hides_a_longer_one() {
        for table in [&HWSKUS[..], &PLATFORMS] {
            for (i, (begin, asic)) in table.iter().enumerate() {
                let found = table.iter().position(|(other, _)| begin.starts_with(other));
                assert_eq!(found, Some(i), "{begin} {asic}");
            }
        }
    }

    #[test]
    fn each_profile_is_shipped() {
        for (asic, profile) in PROFILES {
            assert!(BufferFile::names().any(|name| name == profile), "{profile}");
            assert!(HWSKUS.iter().any(|(_, of)| *of == asic), "{asic}");
        }
    }
}
