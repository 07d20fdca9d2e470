//! Arguments of `sluice explain`.

use crate::console::numbers::quantity;
use crate::explain::headroom::HeadroomArgs;
use crate::open::target::key_value;
use clap::Args;
use sluice_asic::units::BitRate;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Word to explain, in any case; without it, all words are listed. `ports` prints the ports of the chip with their
    /// dev_ports, `buffer PROFILE` a buffer profile as a TOML file, `hashing` plans the hashing of a network
    pub(crate) word: Vec<String>,
    /// Input of the hashing plan, repeatable; `sluice explain hashing` lists the keys
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) sets: Vec<(String, String)>,
    /// Chip whose numbers and assumptions are shown
    #[arg(long, default_value = "tofino2", value_name = "CHIP")]
    pub(crate) chip: String,
    /// Speed of the front-panel ports, for the word `ports`
    #[arg(long, value_name = "RATE", value_parser = quantity::<BitRate>)]
    pub(crate) port_speed: Option<BitRate>,
    /// Names of the front-panel ports, for the words `ports` and `buffer`
    #[arg(long, value_name = "FILE")]
    pub(crate) port_map: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) headroom: HeadroomArgs,
}
