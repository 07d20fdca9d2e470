//! Functions of the meter ALU other than register actions: three-colour meters, low-pass filters, WRED.
//!
//! Each submodule has one entry, its configuration as the chip encodes it, and one access.
//!
//! Times are cycles of the MAU clock, which the chip counts. The chip's timestamps have 28 bits, and a background sweep
//! updates entries before they wrap (model: chip §5); timestamps here do not wrap, so no sweep is needed.
//!
//! Sources: model: chip §5 for formats and sizes. Filter and token arithmetic is not public (model: chip §12); it
//! follows the behavioural model and the driver that the vendor published with open-p4studio (`tofino-model`, meter and
//! LPF; `bf-drivers`, meter entries). Items that rest on those say "model" or "driver".

mod code;
mod colour;
mod lpf;
mod policer;
mod wred;

pub use code::{BurstCode, MeterError, RateCode};
pub use colour::Colour;
pub use lpf::{Lpf, LpfConfig, LpfError, LpfMode};
pub use policer::{Meter, MeterRate, MeterSpec};
pub use wred::{Wred, WredConfig, WredError, WredSpec};
