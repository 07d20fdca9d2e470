//! A packet generator's application as pairs `key = value`, with the same keys in both file formats.
//!
//! | key | value |
//! |---|---|
//! | `trigger` | `one_shot`, `periodic`, `port_down`, `recirculation`, `request` or `pfc` |
//! | `time` | of a timer: delay of the one shot, or period (`1us`) |
//! | `ports` | of `port_down`: local ports (`0,8-15`) |
//! | `match` | of `recirculation` and `request`: the first bytes (`0x1234`), with a mask (`0x1234&&&0xff00`) |
//! | `header` | of `pfc`: the 16 bytes after the packet's generator header |
//! | `offset`, `length` | position and length of the packets' bytes in the generator's buffer |
//! | `batches`, `packets` | batches per trigger; packets per batch |
//! | `batch_gap`, `batch_jitter`, `packet_gap`, `packet_jitter` | times |
//! | `source_port`, `source_port_wrap` | local ports |
//! | `copy_key` | `true` if the matched bytes follow the header, else `false` |

use super::resolve::Problem;
use sluice_asic::pktgen::{AppConfig, Match, Trigger};
use sluice_asic::units::Duration;

/// All keys.
pub(super) const KEYS: [&str; 16] = [
    "trigger",
    "time",
    "ports",
    "match",
    "header",
    "offset",
    "length",
    "batches",
    "packets",
    "batch_gap",
    "batch_jitter",
    "packet_gap",
    "packet_jitter",
    "source_port",
    "source_port_wrap",
    "copy_key",
];

const TRIGGERS: [(&str, &[&str]); 6] = [
    ("one_shot", &["time"]),
    ("periodic", &["time"]),
    ("port_down", &["ports"]),
    ("recirculation", &["match"]),
    ("request", &["match"]),
    ("pfc", &["header"]),
];

/// Reads an application; keys left out have the values of [`AppConfig::new`].
pub(super) fn read(words: &[(&str, &str)]) -> Result<AppConfig, Problem> {
    if let Some((key, _)) = words.iter().find(|(key, _)| !KEYS.contains(key)) {
        return Err(Problem::unknown("packet generator key", key, KEYS));
    }
    let twice = words.iter().enumerate().find(|(i, (key, _))| words[..*i].iter().any(|w| w.0 == *key));
    if let Some((_, (key, _))) = twice {
        return Err(Problem::new(format!("`{key}` is given twice")));
    }
    let given = |key: &str| words.iter().find(|w| w.0 == key).map(|w| w.1);
    let required = |key: &str, of: &str| {
        given(key).ok_or_else(|| Problem::new(format!("a packet generator application{of} needs `{key}`")))
    };
    let name = required("trigger", "")?;
    let Some((_, own)) = TRIGGERS.iter().find(|(trigger, _)| *trigger == name) else {
        return Err(Problem::unknown("trigger", name, TRIGGERS.iter().map(|(trigger, _)| *trigger)));
    };
    for key in ["time", "ports", "match", "header"] {
        if given(key).is_some() && !own.contains(&key) {
            return Err(Problem::new(format!("`{key}` has no meaning with trigger `{name}`; leave it out")));
        }
    }
    let needed = |key: &str| required(key, &format!(" with trigger `{name}`"));
    let trigger = match name {
        "one_shot" => Trigger::OneShot { after: duration("time", needed("time")?)? },
        "periodic" => Trigger::Periodic { period: duration("time", needed("time")?)? },
        "port_down" => Trigger::PortDown { ports: ports(needed("ports")?)? },
        "recirculation" => Trigger::Recirculation(pattern(needed("match")?)?),
        "request" => Trigger::Request(pattern(needed("match")?)?),
        _ => Trigger::Pfc { header: key_bytes("header", needed("header")?)?.0 },
    };
    let length = number("length", required("length", "")?)?;
    let mut config = AppConfig::new(trigger, length, number("source_port", required("source_port", "")?)?);
    for (key, field) in
        [("offset", &mut config.offset), ("batches", &mut config.batches), ("packets", &mut config.packets)]
    {
        if let Some(text) = given(key) {
            *field = number(key, text)?;
        }
    }
    for (key, field) in [
        ("batch_gap", &mut config.batch_gap),
        ("batch_jitter", &mut config.batch_jitter),
        ("packet_gap", &mut config.packet_gap),
        ("packet_jitter", &mut config.packet_jitter),
    ] {
        if let Some(text) = given(key) {
            *field = duration(key, text)?;
        }
    }
    config.source_port_wrap = given("source_port_wrap").map(|t| number("source_port_wrap", t)).transpose()?;
    config.copy_key = match given("copy_key") {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(other) => return Err(Problem::new(format!("`copy_key` is `{other}`; expected true or false"))),
    };
    Ok(config)
}

/// Returns the application as pairs of key and value; default values are left out.
pub(super) fn show(config: &AppConfig) -> Vec<(&'static str, String)> {
    let plain = AppConfig::new(config.trigger, config.length, config.source_port);
    let mut words = Vec::new();
    let pattern = |m: &Match| format!("{}&&&{}", hex(&m.value), hex(&m.mask));
    match &config.trigger {
        Trigger::OneShot { after } => {
            words.extend([("trigger", "one_shot".to_owned()), ("time", time(*after))])
        }
        Trigger::Periodic { period } => {
            words.extend([("trigger", "periodic".to_owned()), ("time", time(*period))]);
        }
        Trigger::PortDown { ports } => {
            let list: Vec<String> = (0..128).filter(|p| ports >> p & 1 != 0).map(|p| p.to_string()).collect();
            words.extend([("trigger", "port_down".to_owned()), ("ports", list.join(","))]);
        }
        Trigger::Recirculation(m) => {
            words.extend([("trigger", "recirculation".to_owned()), ("match", pattern(m))]);
        }
        Trigger::Request(m) => words.extend([("trigger", "request".to_owned()), ("match", pattern(m))]),
        Trigger::Pfc { header } => words.extend([("trigger", "pfc".to_owned()), ("header", hex(header))]),
    }
    words.push(("length", config.length.to_string()));
    words.push(("source_port", config.source_port.to_string()));
    for (key, value, usual) in [
        ("offset", config.offset, plain.offset),
        ("batches", config.batches, plain.batches),
        ("packets", config.packets, plain.packets),
    ] {
        if value != usual {
            words.push((key, value.to_string()));
        }
    }
    for (key, value) in [
        ("batch_gap", config.batch_gap),
        ("batch_jitter", config.batch_jitter),
        ("packet_gap", config.packet_gap),
        ("packet_jitter", config.packet_jitter),
    ] {
        if !value.is_zero() {
            words.push((key, time(value)));
        }
    }
    words.extend(config.source_port_wrap.map(|port| ("source_port_wrap", port.to_string())));
    if config.copy_key {
        words.push(("copy_key", "true".to_owned()));
    }
    words
}

fn time(duration: Duration) -> String {
    duration.to_string()
}

fn number(key: &str, text: &str) -> Result<u32, Problem> {
    text.parse().map_err(|_| Problem::new(format!("`{key}` is `{text}`; expected a number")))
}

fn duration(key: &str, text: &str) -> Result<Duration, Problem> {
    text.parse().map_err(|e| Problem::new(format!("`{key}`: {e}")))
}

/// Parses local ports, `0,8-15`, to a bit mask.
fn ports(text: &str) -> Result<u128, Problem> {
    let wrong =
        || Problem::new(format!("`ports` is `{text}`; expected local ports as in 0,8-15, at most 127"));
    let port = |text: &str| text.parse::<u8>().ok().filter(|p| *p < 128).ok_or_else(wrong);
    let mut bits = 0u128;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        for p in port(first)?..=port(last)? {
            bits |= 1 << p;
        }
    }
    Ok(bits)
}

fn pattern(text: &str) -> Result<Match, Problem> {
    let (value, mask) = match text.split_once("&&&") {
        Some((value, mask)) => (value.trim(), Some(mask.trim())),
        None => (text, None),
    };
    let (value, length) = key_bytes("match", value)?;
    let mut full = [0; 16];
    full[..length].fill(0xff);
    Ok(Match { value, mask: mask.map_or(Ok(full), |mask| key_bytes("match", mask).map(|(mask, _)| mask))? })
}

/// Parses up to 16 bytes; returns them and their number.
fn key_bytes(key: &str, text: &str) -> Result<([u8; 16], usize), Problem> {
    let list = bytes(text)?;
    if list.len() > 16 {
        return Err(Problem::new(format!("`{key}` has {} bytes; expected at most 16", list.len())));
    }
    let mut array = [0; 16];
    array[..list.len()].copy_from_slice(&list);
    Ok((array, list.len()))
}

/// Parses hexadecimal digits, with or without `0x`.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, Problem> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let wrong = || Problem::new(format!("`{text}` is not bytes; expected pairs of hexadecimal digits"));
    if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let pair = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).map_err(|_| wrong());
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// Formats bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::from("0x"), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trigger_reads_back() {
        for text in [
            "trigger=one_shot time=3us length=64 source_port=6",
            "trigger=periodic time=1500ns length=64 source_port=6 packets=7 packet_gap=10ns packet_jitter=3ns",
            "trigger=port_down ports=0,8-15,71 length=64 source_port=68 offset=32 batches=2 batch_gap=5us",
            "trigger=recirculation match=0x12345678&&&0xffff00ff length=64 source_port=68 source_port_wrap=71",
            "trigger=request match=0x01 length=0 source_port=6 copy_key=true",
            "trigger=pfc header=000102030405060708090a0b0c0d0e0f length=64 source_port=6 batch_jitter=1ns",
        ] {
            let words: Vec<(&str, &str)> =
                text.split_whitespace().map(|w| w.split_once('=').unwrap()).collect();
            let config = read(&words).unwrap_or_else(|p| panic!("{text}: {}", p.text));
            let shown = show(&config);
            let shown: Vec<(&str, &str)> = shown.iter().map(|(k, v)| (*k, v.as_str())).collect();
            assert_eq!(read(&shown).map_err(|p| p.text), Ok(config), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let said = |text: &str| {
            let words: Vec<(&str, &str)> =
                text.split_whitespace().map(|w| w.split_once('=').unwrap()).collect();
            read(&words).err().map(|p| p.text).unwrap_or_default()
        };
        assert_eq!(said("length=4"), "a packet generator application needs `trigger`");
        assert_eq!(
            said("trigger=periodic length=64 source_port=6"),
            "a packet generator application with trigger `periodic` needs `time`"
        );
        assert_eq!(
            said("trigger=pfc time=1us length=64 source_port=6"),
            "`time` has no meaning with trigger `pfc`; leave it out"
        );
        assert_eq!(
            said("trigger=request match=0x123 length=1 source_port=6"),
            "`0x123` is not bytes; expected pairs of hexadecimal digits"
        );
        assert!(said("trigger=cron length=1 source_port=6").contains("cron"));
        assert_eq!(
            said("trigger=port_down ports=3-200 length=1 source_port=6"),
            "`ports` is `3-200`; expected local ports as in 0,8-15, at most 127"
        );
    }
}
