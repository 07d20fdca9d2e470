//! Port metadata (phase 0): values that the control plane sets per port.

use super::ControlError;
use sluice_asic::alu::width_mask;
use sluice_asic::port::DevPort;
use sluice_ir::Program;
use std::collections::BTreeMap;

/// One value per port metadata field of the program, by dev_port. A port without a row has zeros.
pub type PortMetadata = BTreeMap<u16, Vec<u128>>;

/// Checks a row against the program.
pub(super) fn check(program: &Program, port: u16, values: &[u128]) -> Result<(), ControlError> {
    let fields: Vec<_> = program.port_metadata().map(|(_, f)| f).collect();
    if fields.is_empty() {
        return Err(ControlError::NoPortMetadata);
    }
    if port >= DevPort::COUNT {
        return Err(ControlError::NoSuchDevPort { port, most: DevPort::COUNT - 1 });
    }
    if fields.len() != values.len() {
        let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
        let (found, expected) = (values.len(), names.len());
        return Err(ControlError::PortMetadataArity { port, found, expected, fields: names.join(", ") });
    }
    for (field, &value) in fields.iter().zip(values) {
        if value & !width_mask(field.width.into()) != 0 {
            let (field, width) = (field.name.clone(), field.width);
            return Err(ControlError::PortMetadataTooWide { port, field, value, width });
        }
    }
    Ok(())
}
