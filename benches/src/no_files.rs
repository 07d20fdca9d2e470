//! Networks that name no file but one buffer profile.

use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::tm::buffer::BufferFile;
use sluice_control::ControlState;
use sluice_fabric::deploy::Files;
use sluice_ir::Program;

/// The profile of the contest of RDMA hosts.
const PROFILE: &str = include_str!("../../fabric/contests/rdma-66mb.toml");

/// Files of the networks: none but the profile `rdma-66mb`.
pub(crate) struct NoFiles;

impl Files for NoFiles {
    type Error = String;

    fn entries(
        &self,
        name: &str,
        _: &Program,
        _: &PortMap,
        _: &ControlState,
        _: &mut ControlState,
    ) -> Result<Vec<String>, String> {
        Err(format!("no file {name}"))
    }

    fn buffer(&self, name: &str, _: &ChipSpec) -> Result<BufferFile, String> {
        match name {
            "rdma-66mb" => BufferFile::parse(name, PROFILE).map_err(|e| e.to_string()),
            _ => Err(format!("no file {name}")),
        }
    }
}
