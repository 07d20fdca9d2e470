//! Default entries of `hpcc-int`, which forward the packets of any capture.
//!
//! | destination | port |
//! |---|---|
//! | 10.1.0.0/16, 2001:db8:1::/48 | 1 |
//! | 10.9.9.9, 2001:db8:9::9 | 20, which runs at a quarter of the ports' speed: bursts to it queue up |
//! | 10.3.0.0/16, 2001:db8:3::/48 | 16 or 17, by flow |
//! | anything else | 16 |

use super::{Layout, Params};
use crate::forwarding::routes::{DefaultRoutes, default_routes, routes_at};
use sluice_asic::port::PortMap;
use sluice_asic::units::BitRate;
use sluice_catalogue::position::Position;
use sluice_catalogue::setup::{Ops, Setup, SetupError, front_port};
use sluice_ir::{KeyValue, Program};

const HOST: u16 = 20;

/// Returns the code of a port speed: those of the authors' simulator, and 40G (model: int §1.9); 15 for other speeds.
#[must_use]
pub fn speed_code(speed: BitRate) -> u8 {
    const GBPS: [u64; 6] = [25, 50, 100, 200, 400, 40];
    let code = GBPS.iter().position(|g| g * 1_000_000_000 == speed.as_bps());
    code.map_or(15, |code| code as u8)
}

pub(super) fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    default_routes(
        &mut ops,
        ports,
        DefaultRoutes { near: 1, host: HOST, home: None, far: 16, either: [16, 17] },
    )?;
    let (host, host_port) = front_port(ports, HOST)?;
    let slow = BitRate::from_bps(ports.speed().as_bps() / 4);
    set_port(&mut ops, None, p, p.switch_id, ports.speed())?;
    set_port(&mut ops, Some(host_port), p, p.switch_id, slow)?;
    Ok(Setup { ops: ops.into_vec(), port_speeds: vec![(host, slow)] })
}

/// Returns the setup at a position in a network. Switches are numbered from 1, in 12 bits.
pub(super) fn setup_at(program: &Program, at: &Position, p: &Params) -> Result<Setup, SetupError> {
    let mut ops = Ops::new(program);
    routes_at(&mut ops, at)?;
    let switch_id = (at.number + 1) as u16 & 0xfff;
    for used in &at.ports {
        set_port(&mut ops, Some(used.dev_port), p, switch_id, used.speed)?;
    }
    Ok(Setup { ops: ops.into_vec(), port_speeds: Vec::new() })
}

/// Sets the speed code, switch number and longest packet of a port, or, without a port, of all ports
/// without an entry. In the simulator's layout unknown speeds have code 0, and packets do not grow.
fn set_port(
    ops: &mut Ops<'_>,
    port: Option<u16>,
    p: &Params,
    switch_id: u16,
    speed: BitRate,
) -> Result<(), SetupError> {
    let code = u128::from(speed_code(speed));
    let key = port.map(|port| [KeyValue::Exact(port.into())]);
    match p.layout {
        Layout::Paper => {
            let row = [code << 28, switch_id.into(), u128::from(p.mtu) - 8];
            match key {
                Some(key) => ops.entry("port", key, "set_port", row),
                None => ops.default("port", "set_port", row),
            }
        }
        Layout::Ns3 => {
            let row = [if code < 8 { code } else { 0 }];
            match key {
                Some(key) => ops.entry("port", key, "set_port", row),
                None => ops.default("port", "set_port", row),
            }
        }
    }
}
