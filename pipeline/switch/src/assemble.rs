//! Construction of a switch: timing constants, ports, pipes with their state, queues, initial control-plane
//! settings.

use super::batch::DueBatches;
use super::executors::Executors;
use super::flow_control::FlowControl;
use super::functional::Functional;
use super::generator::Generator;
use super::ghost::Ghost;
use super::idle::Sweeps;
use super::pipe::{Crowd, PipeState};
use super::pipes::state_is_whole;
use super::port::Ports;
use super::replicate::Replicator;
use super::timing::Timing;
use super::{Memory, Mode, Operations, Scratch, Switch, SwitchConfig, SwitchError, Totals, port};
use sluice_asic::chip::ChipSpec;
use sluice_asic::entry::PipeEntry;
use sluice_asic::event::EventQueue;
use sluice_asic::mac::MacTx;
use sluice_asic::port::PortMap;
use sluice_asic::tm::{AfcFifo, TrafficManager};
use sluice_asic::units::Time;
use sluice_control::{ControlError, ControlOp, ControlState, DeviceOp, classes};
use sluice_exec::packet::{HeadLayout, PacketStore};
use sluice_exec::pass::{Executor, State};
use sluice_ir::Program;
use sluice_ir::meter_array::Origin;
use sluice_place::Placement;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Returns the first feature of a program that has no meaning without time.
fn needs_time(program: &Program) -> Option<&'static str> {
    match (program.ghost.is_empty(), program.meters.is_empty()) {
        (false, _) => Some("sees queue depths in its ghost control"),
        (_, false) => Some("asks meters, filters or WRED when packets come"),
        _ => None,
    }
}

impl<'e> Switch<'e> {
    /// Makes an empty switch at time zero.
    ///
    /// # Errors
    /// Refuses a combination of ports, speeds and queues that the chip does not support.
    pub fn new(
        program: &Program,
        placement: &Placement,
        ports: &PortMap,
        control: ControlState,
        executor: Box<dyn Executor + 'e>,
        config: SwitchConfig,
    ) -> Result<Self, SwitchError> {
        let program = Arc::new(program.clone());
        Switch::with_memory(&program, placement, ports, control, executor, config, Memory::default())
    }

    /// Makes an empty switch in the memory of a switch that ran the same program ([`Switch::into_parts`]).
    /// The old state is cleared; large arrays are not allocated again.
    ///
    /// # Errors
    /// Refuses the same configurations as [`Switch::new`].
    pub fn with_memory(
        program: &Arc<Program>,
        placement: &Placement,
        ports: &PortMap,
        control: ControlState,
        executor: Box<dyn Executor + 'e>,
        config: SwitchConfig,
        memory: Memory,
    ) -> Result<Self, SwitchError> {
        let chip = &placement.chip;
        if config.mode == Mode::Functional
            && let Some(needs) = needs_time(program)
        {
            return Err(SwitchError::NeedsTime { program: program.name.clone(), needs });
        }
        state_is_whole(program, ports).map_err(|e| SwitchError::Split(Box::new(e)))?;
        let clock = chip.mau.clock;
        let states = port::states(chip, ports, &config)?;
        let setup = config.buffer.as_ref().filter(|_| config.mode == Mode::Timed);
        let buffer = setup.map(|setup| setup.resolve(&states).map(|c| (setup, c))).transpose();
        let buffer = buffer.map_err(|problems| SwitchError::Buffer(Box::new(problems)))?;
        let tm_config = config.tm(chip, &states, buffer.as_ref().map(|(_, c)| c));
        let Memory { states: memory, tm: used } = memory;
        let tm = match used {
            Some(used) => used.again(tm_config),
            None => TrafficManager::new(tm_config),
        };
        let mut tm = tm.map_err(SwitchError::TrafficManager)?;
        let flow = buffer.map(|(setup, resolved)| {
            let (flow, buffer) = FlowControl::new(resolved, setup, config.device, &states);
            tm.set_buffer(buffer);
            Box::new(flow)
        });
        let ports_with_queues = states.len();
        let pipe = |(number, state): (u32, State)| PipeState {
            // Egress packets wait in their queues, so the depth of a FIFO has no effect there.
            entry: [(); 2]
                .map(|()| PipeEntry::new(clock, chip.ports.ports_per_pipe, chip.parser.fifo_packets)),
            pending: [VecDeque::new(), VecDeque::new()],
            passes: [VecDeque::new(), VecDeque::new()],
            recirculation: MacTx::new(chip.ports.recirculation_rate),
            crowd: Crowd::new(),
            generator: Generator::new(chip, config.seed, config.device, number),
            copies: [0; 2],
            ghost: Ghost::new(ports_with_queues),
            words: 0,
            seen_words: AfcFifo::new(chip.tm.afc_fifo),
            deflection: None,
            clearing: BTreeMap::new(),
            state: Box::new(state),
        };
        let pipes = pipe_states(program, &control, chip, &config, memory)?;
        let all_ports = Ports::new(states, ports.clone());
        let settings: Vec<DeviceOp> = control.device.ops().collect();
        let pipes: Vec<PipeState> = (0..).zip(pipes).map(pipe).collect();
        let mut switch = Switch {
            program: Arc::clone(program),
            chip: Arc::clone(&placement.chip),
            executors: Executors::new(executor, pipes.len()),
            timing: Timing::of(placement),
            replicator: replicator(&control, chip, &all_ports)?,
            control,
            operations: Operations::default(),
            totals: Totals::new(program, &all_ports),
            due: DueBatches::new(pipes.len()),
            ports: all_ports,
            pipes,
            tm,
            flow,
            packets: PacketStore::new(HeadLayout::default()),
            info: Vec::new(),
            arrivals: VecDeque::new(),
            // One lane per pipe, because packets leave its ingress for the queues nearly in order; one more
            // lane for port events.
            events: EventQueue::with_lanes(chip.ports.pipes as usize + 1),
            scratch: Scratch::default(),
            functional: Functional::default(),
            watched: false,
            outside: 0,
            straight: None,
            now: Time::ORIGIN,
            sweeps: Sweeps::new(program),
            rounds: super::rounds::Rounds::default(),
            config,
        };
        let refused = |e| SwitchError::Control(Box::new(ControlError::Device(e)));
        switch.rounds.changed();
        settings.iter().try_for_each(|op| switch.set_device(op)).map_err(refused)?;
        for pipe in switch.control.own_pipes().map(|(pipe, _)| pipe).collect::<Vec<_>>() {
            switch.has_pipe(pipe)?;
            if switch.control.looks_up_alone(pipe) {
                switch.give_lookup(pipe)?;
            }
        }
        switch.fill_class_tables()?;
        Ok(switch)
    }

    /// Writes the maps of the buffer profile into the program's class tables that have no entries.
    fn fill_class_tables(&mut self) -> Result<(), SwitchError> {
        let Some(flow) = &self.flow else { return Ok(()) };
        let ops = classes::operations(&self.program, &self.control, &flow.config().maps);
        ops.map_err(Box::new)?.into_iter().try_for_each(|op| self.apply(op))
    }
}

/// Returns the operations with which a switch of this configuration fills the program's class tables.
///
/// # Errors
/// Refuses ports, speeds and buffer profiles as [`Switch::new`] does.
pub fn class_operations(
    program: &Program,
    placement: &Placement,
    ports: &PortMap,
    control: &ControlState,
    config: &SwitchConfig,
) -> Result<Vec<ControlOp>, SwitchError> {
    let Some(setup) = &config.buffer else { return Ok(Vec::new()) };
    let states = port::states(&placement.chip, ports, config)?;
    let buffer = setup.resolve(&states).map_err(|problems| SwitchError::Buffer(Box::new(problems)))?;
    classes::operations(program, control, &buffer.maps).map_err(|e| SwitchError::Classes(Box::new(e)))
}

/// Returns the initial state of every pipe, with the control plane's writes.
fn pipe_states(
    program: &Program,
    control: &ControlState,
    chip: &ChipSpec,
    config: &SwitchConfig,
    memory: Vec<State>,
) -> Result<Vec<State>, SwitchError> {
    let mut memory = memory.into_iter();
    let origin = Origin { seed: config.seed, switch: config.device, ..Origin::of(chip) };
    let state = |pipe| {
        let origin = Origin { pipe, ..origin };
        let mut state = match memory.next() {
            Some(used) => used.again(program, &origin),
            None => State::new(program, &origin),
        };
        if config.count_hits {
            state.count_hits(control.of_pipe(pipe as u8));
        }
        for change in control.of_pipe(pipe as u8).arrays.changes() {
            state.apply(program, change).map_err(SwitchError::Control)?;
        }
        Ok(state)
    };
    (0..chip.ports.pipes).map(state).collect()
}

/// Returns the sessions and groups of a control state; refuses those that chip and ports do not allow.
pub(super) fn replicator(
    control: &ControlState,
    chip: &ChipSpec,
    ports: &Ports,
) -> Result<Replicator, SwitchError> {
    let index = |port| ports.index_of(port);
    let refused = |e| SwitchError::Control(Box::new(ControlError::Replication(e)));
    Replicator::new(&control.replication, chip, index).map_err(refused)
}
