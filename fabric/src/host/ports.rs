//! TCP and UDP ports by which a host tells its transports apart.

use sluice_pcaps::wire::ipv4::{PROTOCOL_TCP, PROTOCOL_UDP};

/// Server port of the first transport of a host; the transport with number n has the port n higher.
pub const FIRST_PORT: u16 = 5001;

/// Offsets in a frame of Ethernet and IPv4 without options.
const PROTOCOL: usize = 23;
const PORTS: usize = 34;

/// Returns the number of the transport that a TCP segment or UDP datagram belongs to, of `count` transports; `None` for other
/// frames. Segments of both ends have the server's port.
pub(super) fn transport(frame: &[u8], count: usize) -> Option<usize> {
    let port = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let number = |port: u16| port.checked_sub(FIRST_PORT).map(usize::from).filter(|number| *number < count);
    let to = number(port(PORTS + 2)?);
    match *frame.get(PROTOCOL)? {
        PROTOCOL_TCP => to.or(number(port(PORTS)?)),
        PROTOCOL_UDP => to,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(protocol: u8, [from, to]: [u16; 2]) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[23] = protocol;
        frame[34..36].copy_from_slice(&from.to_be_bytes());
        frame[36..38].copy_from_slice(&to.to_be_bytes());
        frame
    }

    #[test]
    fn both_ends_of_a_connection_have_the_servers_transport() {
        let of = |protocol, ports| transport(&frame(protocol, ports), 3);
        assert_eq!([of(6, [49_152, 5_003]), of(6, [5_003, 49_152])], [Some(2); 2]);
        assert_eq!([of(6, [49_152, 5_004]), of(6, [5_000, 80]), of(1, [1, 5_001])], [None; 3]);
        assert_eq!([of(17, [49_152, 5_001]), of(17, [5_001, 49_152])], [Some(0), None]);
        assert_eq!(transport(&frame(6, [5_001, 5_001])[..36], 3), None);
    }
}
