//! State per pipe: every pipe has separate registers and counters.

use super::Switch;
use super::pipe::PipeState;
use sluice_asic::gress::Gress;
use sluice_asic::port::{Port, PortMap, PortName};
use sluice_asic::units::{Bytes, Cycles, Duration};
use sluice_exec::pass::State;
use sluice_ir::{Program, TogetherData};

/// Error: a port map puts ports into different pipes although a register must see them together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "program `{program}`: {registers} must see ports {ports} together ({why}), but every pipe has separate state, \
     and {places}; use ports of one pipe"
)]
pub struct SplitState {
    /// The program.
    pub program: String,
    /// The registers.
    pub registers: String,
    /// The ports.
    pub ports: String,
    /// Reason, as given by the program.
    pub why: String,
    /// Pipes of the ports.
    pub places: String,
}

/// Checks that ports whose packets share registers are in one pipe of this port map.
///
/// # Errors
/// Refuses a port map that puts such ports into different pipes, or that does not have all of them. Names the
/// first group.
pub fn state_is_whole(program: &Program, ports: &PortMap) -> Result<(), SplitState> {
    program.together.iter().try_for_each(|group| whole(program, group, ports))
}

fn whole(program: &Program, group: &TogetherData, ports: &PortMap) -> Result<(), SplitState> {
    let found: Vec<(PortName, Option<&Port>)> =
        group.ports.iter().map(|&name| (name, ports.resolve(name).ok())).collect();
    let mut pipes: Vec<Option<u8>> = found.iter().map(|(_, port)| port.map(|p| p.pipe().0)).collect();
    pipes.sort_unstable();
    pipes.dedup();
    if matches!(pipes[..], [] | [Some(_)]) {
        return Ok(());
    }
    let place = |pipe: &Option<u8>| {
        let of = found.iter().filter(|(_, port)| port.map(|p| p.pipe().0) == *pipe);
        let names: Vec<String> = of.map(|(name, _)| name.to_string()).collect();
        match pipe {
            Some(pipe) => format!("pipe {pipe} has {}", names.join(", ")),
            None => format!("there is no {}", names.join(", ")),
        }
    };
    let join = |list: Vec<String>, with: &str| list.join(with);
    let registers = group.registers.iter().map(|r| format!("`{}`", program.registers[*r].name)).collect();
    Err(SplitState {
        program: program.name.clone(),
        registers: join(registers, ", "),
        ports: join(group.ports.iter().map(ToString::to_string).collect(), ", "),
        why: group.doc.split_whitespace().collect::<Vec<_>>().join(" "),
        places: join(pipes.iter().map(place).collect(), "; "),
    })
}

/// Overload of a gress of a pipe: it received more than one packet per cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeOverload {
    /// The pipe.
    pub pipe: u8,
    /// The gress.
    pub gress: Gress,
    /// Longest wait of a packet for its slot, in cycles.
    pub waited: Cycles,
}

/// Overload of a pipe's recirculation ports: they received more than their line carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecirculationOverload {
    /// The pipe.
    pub pipe: u8,
    /// Longest wait of a packet for the busy line, in its queue and after it.
    pub waited: Duration,
}

impl Switch<'_> {
    /// Returns the pipes in which a packet waited longer for the line of the recirculation ports than one 1500-byte frame per
    /// recirculation port takes.
    #[must_use]
    pub fn recirculation_overloads(&self) -> Vec<RecirculationOverload> {
        let ports = |pipe| self.ports.iter().filter(|p| p.recirculation && p.pipe == pipe).count() as u64;
        let usual = |p: &PipeState, pipe| p.recirculation.line_time(Bytes(1500)) * ports(pipe);
        let pipes = self.pipes.iter().zip(0..);
        pipes
            .filter(|(p, pipe)| p.crowd.longest > usual(p, *pipe))
            .map(|(p, pipe)| RecirculationOverload { pipe, waited: p.crowd.longest })
            .collect()
    }

    /// Returns the gresses in which a packet waited more cycles for a slot than the pipe has ports.
    #[must_use]
    pub fn pipe_overloads(&self) -> Vec<PipeOverload> {
        let ports = u64::from(self.chip.ports.ports_per_pipe);
        let pipes = self.pipes.iter().zip(0..);
        let all = pipes.flat_map(|(p, pipe)| {
            Gress::ALL.map(|gress| PipeOverload {
                pipe,
                gress,
                waited: p.entry[gress.index()].longest_wait(),
            })
        });
        all.filter(|o| o.waited.get() > ports).collect()
    }

    /// Returns the program's state in one pipe.
    #[must_use]
    pub fn state_of(&self, pipe: u8) -> Option<&State> {
        self.pipes.get(usize::from(pipe)).map(|p| &*p.state)
    }
}
