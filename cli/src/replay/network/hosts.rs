//! Inputs of a whole network: a capture or a list of flows, whose frames go to the ports of the hosts that send them.
//!
//! Frames are sorted by source address into a capture for each host, in a temporary folder that lives as long as the inputs.

use crate::console::fail::Failure;
use crate::console::text_file::read_text;
use sluice_asic::port::DevPort;
use sluice_catalogue::position::IPV6_BASE;
use sluice_fabric::deploy::HostPort;
use sluice_pcaps::capture::write::{
    CaptureWriter, InterfaceSpec, Packet, TraceFormat, TraceWriter, WriteError,
};
use sluice_pcaps::capture::{CaptureReader, CaptureTime, Frame};
use sluice_pcaps::generate::{Envelope, FlowList, FrameSource, ListDefaults, Pace};
use sluice_pcaps::wire::{MacAddr, ethernet, ipv4, ipv6};
use sluice_replay::Input;
use std::collections::BTreeMap;
use std::fs::File;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The word before the `@` of an input that goes to the ports of all hosts.
pub(super) const HOSTS: &str = "hosts";
/// MAC addresses of frames of a list, as `sluice gen` has them: of the router, and of the sender.
const ROUTER: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const SENDER: MacAddr = MacAddr([2, 0, 0, 0, 1, 0]);
/// Length of the frames of a list that gives none.
const SIZE: u32 = 1_000;
/// Most unknown addresses that a warning names.
const NAMED: usize = 3;

/// Inputs by host, and warnings.
pub(super) type Split = (Vec<Input>, Vec<String>);

/// Splits a capture by the source addresses of its frames. `port` returns the port of a host, with its name.
pub(super) fn of_capture(
    path: &str,
    hosts: &[HostPort],
    port: impl Fn(&HostPort) -> Option<(DevPort, String)>,
) -> Result<Split, Failure> {
    let mut reader = match path {
        "-" => CaptureReader::from_read(std::io::stdin(), "standard input"),
        _ => CaptureReader::open(path),
    }
    .map_err(sluice_replay::Error::from)?;
    let mut spool = Spool::new(hosts)?;
    while let Some(frame) = reader.next_frame().map_err(sluice_replay::Error::from)? {
        let Frame { data, orig_len, time, .. } = frame;
        spool.add(data, |folder, sink| {
            let sink = sink.get_or_insert_with_capture(folder)?;
            sink.write(&Packet { time, head: data, orig_len, ..Packet::default() }).map_err(failure)
        })?;
    }
    spool.inputs(path, port)
}

/// Splits a list of flows by their source addresses. A flow without a rate has that of the slowest host's link.
pub(super) fn of_flows(
    path: &Path,
    hosts: &[HostPort],
    port: impl Fn(&HostPort) -> Option<(DevPort, String)>,
) -> Result<Split, Failure> {
    let text = read_text(path)?;
    let rate = hosts.iter().map(|host| host.rate.as_bps()).min().unwrap_or(0);
    let pace = Pace::BackToBack { bits_per_second: rate };
    let defaults = ListDefaults { envelope: Envelope::new(ROUTER, SENDER), pace, size: SIZE };
    let name = path.display().to_string();
    let help = "docs/gen.md lists the columns; the first line of the file names its columns";
    let list = FlowList::parse(&name, &text, defaults).map_err(|e| Failure::with_help(e, help))?;
    let mut frames = list.frames(CaptureTime::EPOCH);
    let mut spool = Spool::new(hosts)?;
    while let Some((time, data)) = frames.next_frame() {
        spool.add(data, |folder, sink| {
            sink.get_or_insert_with_trace(folder)?.write(time, data).map_err(failure)
        })?;
    }
    spool.inputs(&name, port)
}

fn failure(error: WriteError) -> Failure {
    match error {
        WriteError::Io(e) => Failure::input(format!("cannot write a temporary file: {e}")),
        other => Failure::input(other),
    }
}

/// The capture of one host.
#[derive(Default)]
enum Sink {
    /// No frame yet.
    #[default]
    Empty,
    /// Frames of a capture, in nanoseconds.
    Capture(Box<CaptureWriter<File>>),
    /// Frames of a list, in picoseconds.
    Trace(Box<TraceWriter<File>>),
}

impl Sink {
    fn get_or_insert_with_capture(&mut self, path: &Path) -> Result<&mut CaptureWriter<File>, Failure> {
        if !matches!(self, Sink::Capture(_)) {
            let writer = CaptureWriter::new(create(path)?, &[InterfaceSpec::default()]).map_err(failure)?;
            *self = Sink::Capture(Box::new(writer));
        }
        match self {
            Sink::Capture(writer) => Ok(writer),
            Sink::Empty | Sink::Trace(_) => Err(Failure::Inconsistent("a host has no capture".to_owned())),
        }
    }

    fn get_or_insert_with_trace(&mut self, path: &Path) -> Result<&mut TraceWriter<File>, Failure> {
        if !matches!(self, Sink::Trace(_)) {
            let writer = TraceWriter::new(create(path)?, TraceFormat::PcapngPs, CaptureTime::EPOCH);
            *self = Sink::Trace(Box::new(writer.map_err(failure)?));
        }
        match self {
            Sink::Trace(writer) => Ok(writer),
            Sink::Empty | Sink::Capture(_) => Err(Failure::Inconsistent("a host has no trace".to_owned())),
        }
    }

    fn finish(self) -> Result<bool, Failure> {
        match self {
            Sink::Empty => Ok(false),
            Sink::Capture(writer) => writer.finish(&[]).map(|_| true).map_err(failure),
            Sink::Trace(writer) => writer.finish().map(|_| true).map_err(failure),
        }
    }
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|e| Failure::file("create", path, &e))
}

/// Captures of all hosts that send.
struct Spool<'h> {
    folder: TempDir,
    hosts: &'h [HostPort],
    /// By address, the index of the first port of the host.
    by_address: BTreeMap<Ipv4Addr, usize>,
    sinks: Vec<Sink>,
    /// Frames of senders that are no hosts.
    strangers: BTreeMap<String, u64>,
}

impl<'h> Spool<'h> {
    fn new(hosts: &'h [HostPort]) -> Result<Spool<'h>, Failure> {
        let folder =
            TempDir::new().map_err(|e| Failure::input(format!("cannot create a temporary folder: {e}")))?;
        let mut by_address = BTreeMap::new();
        for (index, host) in hosts.iter().enumerate() {
            by_address.entry(host.address).or_insert(index);
        }
        let sinks = hosts.iter().map(|_| Sink::default()).collect();
        Ok(Spool { folder, hosts, by_address, sinks, strangers: BTreeMap::new() })
    }

    fn path(&self, index: usize) -> PathBuf {
        self.folder.path().join(format!("{index}.pcapng"))
    }

    /// Adds a frame to the capture of its sender, by `write`.
    fn add(
        &mut self,
        frame: &[u8],
        write: impl FnOnce(&Path, &mut Sink) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let sender = sender(frame);
        let host = sender.as_ref().ok().and_then(|address| self.by_address.get(address)).copied();
        match host {
            Some(index) => {
                let path = self.path(index);
                write(&path, &mut self.sinks[index])
            }
            None => {
                let name = sender.map_or_else(|why| why, |address| address.to_string());
                *self.strangers.entry(name).or_default() += 1;
                Ok(())
            }
        }
    }

    /// Completes the captures and returns them as inputs.
    fn inputs(
        mut self,
        name: &str,
        port: impl Fn(&HostPort) -> Option<(DevPort, String)>,
    ) -> Result<Split, Failure> {
        let paths: Vec<PathBuf> = (0..self.hosts.len()).map(|index| self.path(index)).collect();
        let sinks = std::mem::take(&mut self.sinks);
        let folder = Arc::new(self.folder);
        let mut inputs = Vec::new();
        let short = Path::new(name).file_name().map_or(name.to_owned(), |n| n.to_string_lossy().into_owned());
        for ((host, path), sink) in self.hosts.iter().zip(paths).zip(sinks) {
            if !sink.finish()? {
                continue;
            }
            let size = std::fs::metadata(&path).ok().map(|meta| meta.len());
            let folder = Arc::clone(&folder);
            let open = move || {
                // The folder is removed when no input needs it.
                let _ = &folder;
                CaptureReader::open(&path)
            };
            let Some((dev_port, port_name)) = port(host) else {
                return Err(Failure::Inconsistent(format!("host {} has no port", host.address)));
            };
            let input = Input::new(dev_port, short.clone(), open).with_bytes(size);
            inputs.push(input.with_port_name(port_name).at(host.end.switch));
        }
        if inputs.is_empty() {
            let some: Vec<String> = self.hosts.iter().take(4).map(|host| host.address.to_string()).collect();
            let found: Vec<String> = self.strangers.into_keys().take(NAMED).collect();
            let found = if found.is_empty() { "no frame".to_owned() } else { found.join(", ") };
            return Err(Failure::with_help(
                format!("{name}: no frame comes from a host of the network; found {found}"),
                format!("hosts are {}, ..; or name a port: leaf0:0@FILE", some.join(", ")),
            ));
        }
        Ok((inputs, warning(name, &self.strangers)))
    }
}

/// Returns a warning about frames that no host sent.
fn warning(name: &str, strangers: &BTreeMap<String, u64>) -> Vec<String> {
    if strangers.is_empty() {
        return Vec::new();
    }
    let frames: u64 = strangers.values().sum();
    let some: Vec<&str> = strangers.keys().take(NAMED).map(String::as_str).collect();
    let more = if strangers.len() > NAMED { ", .." } else { "" };
    let senders = some.join(", ");
    vec![format!(
        "{name}: {frames} frames are not sent, because no host of the network sends them: {senders}{more}"
    )]
}

/// Returns the IPv4 address of the host that sends a frame; for IPv6, that whose IPv6 address it is. Otherwise, what the
/// sender is.
fn sender(frame: &[u8]) -> Result<Ipv4Addr, String> {
    const VLANS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
    let view = ethernet::View::new(frame).map_err(|_| "short frames".to_owned())?;
    let (mut kind, mut payload) = (view.ethertype(), view.payload());
    while VLANS.contains(&kind)
        && let [_, _, high, low, rest @ ..] = payload
    {
        (kind, payload) = (u16::from_be_bytes([*high, *low]), rest);
    }
    match kind {
        0x0800 => ipv4::View::new(payload).map(|ip| ip.source()).map_err(|_| "damaged IPv4".to_owned()),
        0x86dd => {
            let ip = ipv6::View::new(payload).map_err(|_| "damaged IPv6".to_owned())?;
            let bits = ip.source().to_bits();
            let host = bits ^ IPV6_BASE.to_bits();
            u32::try_from(host).map(Ipv4Addr::from_bits).map_err(|_| ip.source().to_string())
        }
        other => Err(format!("EtherType {other:#06x}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with these bytes after the MAC addresses.
    fn frame(rest: &[u8]) -> Vec<u8> {
        [&[0u8; 12], rest].concat()
    }

    #[test]
    fn senders() {
        let mut ip = [0u8; 20];
        ip[0] = 0x45;
        ip[3] = 20;
        ip[12..16].copy_from_slice(&[10, 0, 1, 2]);
        assert_eq!(sender(&frame(&[&[8, 0][..], &ip].concat())), Ok(Ipv4Addr::new(10, 0, 1, 2)));
        let tagged = frame(&[&[0x81, 0, 0, 7, 8, 0][..], &ip].concat());
        assert_eq!(sender(&tagged), Ok(Ipv4Addr::new(10, 0, 1, 2)));
        assert_eq!(sender(&frame(&[8, 6, 0, 1])), Err("EtherType 0x0806".to_owned()));
        assert_eq!(sender(&[0; 3]), Err("short frames".to_owned()));
    }
}
