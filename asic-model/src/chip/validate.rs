//! Validation of a chip: checks that its numbers are consistent. All problems are collected, with their sums.

use super::ChipSpec;
use crate::units::BitRate;
use std::fmt;
use toml::Value;

/// One inconsistent value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {problem}")]
pub struct ChipProblem {
    /// The path of the field.
    pub path: String,
    /// Problem, with the sum, and the expected value.
    pub problem: String,
}

/// All problems of a chip; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChipProblems(pub Vec<ChipProblem>);

impl fmt::Display for ChipProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} impossible value{}", self.0.len(), if self.0.len() == 1 { "" } else { "s" })?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for ChipProblems {}

/// Largest count that any section but the traffic manager's may hold: far above any chip, small enough that
/// nothing built from it can exhaust memory.
const MAX_COUNT: i64 = 65_536;

/// Fields that may not be zero: without them there is no chip to run anything on.
const NONZERO: &[&str] = &[
    "mau.stages",
    "mau.logical_tables",
    "mau.sram_depth",
    "mau.sram_width",
    "mau.map_ram_depth",
    "mau.tcam_depth",
    "mau.tcam_width",
    "mau.exact_ways",
    "mau.pack_per_row",
    "mau.pack_per_word",
    "mau.exact_way_rams",
    "mau.atcam_rams_per_row",
    "mau.imem_rows",
    "mau.imem_colours",
    "phv.normal_per_group",
    "phv.gress_group_8",
    "phv.gress_group_16",
    "phv.gress_group_32",
    "parser.tcam_rows",
    "parser.window_bytes",
    "parser.fifo_packets",
    "deparser.entries",
    "deparser.entry_bytes",
    "salu.instructions",
    "latency.base",
    "latency.action_contribution",
    "latency.resubmit",
    "tm.port_groups",
    "tm.ports_per_group",
    "tm.queues_per_group",
    "tm.queues_per_port",
    "tm.cos_levels",
    "tm.priorities",
    "tm.weight_max",
    "ports.pipes",
    "ports.ports_per_pipe",
    "ports.macs_per_pipe",
    "ports.lanes_per_mac",
    "hash.selector_members_per_word",
];

impl ChipSpec {
    /// Checks that the numbers of the chip can belong together.
    ///
    /// # Errors
    /// All problems found, each with the field's path and the sum that does not add up.
    pub fn validate(&self) -> Result<(), ChipProblems> {
        let mut check = Check(Vec::new());
        check.ranges(self);
        check.mau(self);
        check.phv(self);
        check.ports(self);
        check.traffic_manager(self);
        check.features(self);
        if check.0.is_empty() { Ok(()) } else { Err(ChipProblems(check.0)) }
    }
}

struct Check(Vec<ChipProblem>);

impl Check {
    fn require(&mut self, holds: bool, path: &str, problem: impl FnOnce() -> String) {
        if !holds {
            self.0.push(ChipProblem { path: path.to_owned(), problem: problem() });
        }
    }

    fn ranges(&mut self, chip: &ChipSpec) {
        let Ok(tree) = Value::try_from(chip) else {
            let problem = || "a number is too large for TOML (above 2^63 - 1)".to_owned();
            return self.require(false, "chip", problem);
        };
        for path in NONZERO {
            let value = super::assumptions::at_path(&tree, path).and_then(Value::as_integer);
            self.require(value != Some(0), path, || "is 0; it must be at least 1".to_owned());
        }
        for section in ["mau", "phv", "parser", "deparser", "salu", "alu", "latency", "ports", "hash"] {
            let fields = tree.get(section).and_then(Value::as_table).into_iter().flatten();
            for (key, value) in fields {
                let value = value.as_integer().unwrap_or(0);
                self.require(value <= MAX_COUNT, &format!("{section}.{key}"), || {
                    format!("is {value}; at most {MAX_COUNT}")
                });
            }
        }
        self.require(chip.tm.cell.get() != 0, "tm.cell", || "is 0B; a cell must hold at least 1B".to_owned());
        self.require(chip.tm.cells.get() != 0, "tm.cells", || "is 0; the buffer needs cells".to_owned());
    }

    fn mau(&mut self, chip: &ChipSpec) {
        let mau = &chip.mau;
        let codes = 1_u64.checked_shl(mau.next_table_bits).unwrap_or(u64::MAX);
        let needed = u64::from(mau.stages) * u64::from(mau.logical_tables);
        self.require(needed <= codes, "mau.stages", || {
            format!(
                "{} stages x {} logical tables = {needed} next-table codes, but {} bits hold {codes}",
                mau.stages, mau.logical_tables, mau.next_table_bits
            )
        });
        let partners = (mau.map_ram_rows, mau.map_ram_columns) == (mau.sram_rows, mau.sram_right_columns);
        self.require(partners, "mau.map_ram_columns", || {
            format!(
                "{} x {} map RAMs, but {} x {} SRAMs right of the centre; each needs one partner",
                mau.map_ram_rows, mau.map_ram_columns, mau.sram_rows, mau.sram_right_columns
            )
        });
        let slots = u64::from(mau.action_bus_slots_8)
            + 2 * u64::from(mau.action_bus_slots_16)
            + 4 * u64::from(mau.action_bus_slots_32);
        self.require(slots == u64::from(mau.action_bus_bytes), "mau.action_bus_bytes", || {
            format!(
                "is {}, but the slots hold {} x 1 + {} x 2 + {} x 4 = {slots} bytes",
                mau.action_bus_bytes,
                mau.action_bus_slots_8,
                mau.action_bus_slots_16,
                mau.action_bus_slots_32
            )
        });
        let inputs = u64::from(mau.hash_tables) * u64::from(mau.hash_table_bits);
        let crossbar = 8 * u64::from(mau.exact_xbar_groups) * u64::from(mau.exact_xbar_group_bytes);
        self.require(inputs == crossbar, "mau.hash_tables", || {
            format!(
                "{} tables x {} bits = {inputs} hash inputs, but the exact crossbar has {crossbar} bits",
                mau.hash_tables, mau.hash_table_bits
            )
        });
        for (path, rows) in
            [("mau.meter_alu_rows", &mau.meter_alu_rows), ("mau.stats_alu_rows", &mau.stats_alu_rows)]
        {
            let inside = rows.iter().all(|row| *row < mau.logical_rows());
            let ascending = rows.windows(2).all(|pair| pair[0] < pair[1]);
            self.require(inside && ascending, path, || {
                format!("is {rows:?}; expected ascending logical rows below {}", mau.logical_rows())
            });
        }
        let latency = &chip.latency;
        self.require(latency.base_predication <= latency.base, "latency.base_predication", || {
            format!("is {}, beyond the stage's length of {} cycles", latency.base_predication, latency.base)
        });
        self.require(latency.forced_match_stage < mau.stages.max(1), "latency.forced_match_stage", || {
            format!(
                "is stage {}, but there are {} stages; 0 means none",
                latency.forced_match_stage, mau.stages
            )
        });
        let cases = 1_u64.checked_shl(chip.salu.comparators).unwrap_or(u64::MAX);
        self.require(cases == u64::from(chip.salu.predicate_bits), "salu.predicate_bits", || {
            format!(
                "is {}, but {} comparators have {cases} outcomes",
                chip.salu.predicate_bits, chip.salu.comparators
            )
        });
    }

    fn phv(&mut self, chip: &ChipSpec) {
        let phv = &chip.phv;
        let groups = u64::from(phv.groups_8) + u64::from(phv.groups_16) + u64::from(phv.groups_32);
        let per_group =
            u64::from(phv.normal_per_group) + u64::from(phv.mocha_per_group) + u64::from(phv.dark_per_group);
        let visible = groups.saturating_mul(per_group);
        let per_collection =
            u64::from(phv.tagalong_8) + u64::from(phv.tagalong_16) + u64::from(phv.tagalong_32);
        let tagalong = u64::from(phv.tagalong_collections).saturating_mul(per_collection);
        self.require((1..=4096).contains(&visible), "phv.groups_8", || {
            format!("{groups} groups x {per_group} = {visible} containers; expected 1 to 4096")
        });
        self.require(tagalong <= 4096, "phv.tagalong_collections", || {
            format!("{} collections x {per_collection} = {tagalong}; at most 4096", phv.tagalong_collections)
        });
        self.require(tagalong == 0 || u64::from(phv.tagalong_base) >= visible, "phv.tagalong_base", || {
            format!("is {}, but the MAU's containers take addresses 0 to {}", phv.tagalong_base, visible - 1)
        });
        self.require(matches!(phv.parser_width, 0 | 16), "phv.parser_width", || {
            format!("is {}; expected 16, or 0 for native widths", phv.parser_width)
        });
    }

    fn ports(&mut self, chip: &ChipSpec) {
        let ports = &chip.ports;
        self.require(ports.pipes <= 4, "ports.pipes", || {
            format!("is {}, but a dev_port has 2 bits for the pipe: at most 4", ports.pipes)
        });
        self.require(ports.ports_per_pipe <= 128, "ports.ports_per_pipe", || {
            format!("is {}, but a dev_port has 7 bits for the local port: at most 128", ports.ports_per_pipe)
        });
        let front = u64::from(ports.macs_per_pipe) * u64::from(ports.lanes_per_mac);
        let end = u64::from(ports.first_front_local) + front;
        self.require(end <= u64::from(ports.ports_per_pipe), "ports.macs_per_pipe", || {
            format!(
                "local ports {} + {} MACs x {} lanes = {end}, but a pipe has {}",
                ports.first_front_local, ports.macs_per_pipe, ports.lanes_per_mac, ports.ports_per_pipe
            )
        });
        let local_of = |dev_port: u32| (dev_port >> 7 < ports.pipes).then_some(u64::from(dev_port & 127));
        let special = |dev_port: u32| {
            local_of(dev_port).is_some_and(|local| {
                local < u64::from(ports.ports_per_pipe)
                    && !(u64::from(ports.first_front_local)..end).contains(&local)
            })
        };
        let lists = [
            ("ports.recirculation_dev_ports", ports.recirculation_dev_ports.clone()),
            ("ports.cpu_dev_port", vec![ports.cpu_dev_port]),
            ("ports.pktgen_local_ports", ports.pktgen_local_ports.clone()),
        ];
        for (path, list) in lists {
            let wrong: Vec<u32> = list.into_iter().filter(|dev_port| !special(*dev_port)).collect();
            self.require(wrong.is_empty(), path, || {
                format!("{wrong:?} cannot be special ports: they are outside the pipes or on the front panel")
            });
        }
        let default = ports.speeds.iter().any(|speed| speed.speed == ports.default_speed);
        self.require(default, "ports.default_speed", || {
            format!("{} is not in `ports.speeds`", ports.default_speed)
        });
        for speed in &ports.speeds {
            let fits = speed.lanes != 0 && ports.lanes_per_mac.is_multiple_of(speed.lanes);
            self.require(fits, "ports.speeds", || {
                format!(
                    "{} takes {} lanes; expected a divisor of {}",
                    speed.speed, speed.lanes, ports.lanes_per_mac
                )
            });
            let lanes = BitRate::from_bps(ports.lane_rate.as_bps().saturating_mul(u64::from(speed.lanes)));
            self.require(speed.speed <= lanes && speed.speed.as_bps() != 0, "ports.speeds", || {
                format!("{} on {} lanes x {} = {lanes}", speed.speed, speed.lanes, ports.lane_rate)
            });
        }
    }

    fn traffic_manager(&mut self, chip: &ChipSpec) {
        let (tm, ports) = (&chip.tm, &chip.ports);
        let grouped = u64::from(tm.port_groups) * u64::from(tm.ports_per_group);
        self.require(grouped == u64::from(ports.ports_per_pipe), "tm.port_groups", || {
            format!(
                "{} groups x {} ports = {grouped}, but a pipe has {} ports",
                tm.port_groups, tm.ports_per_group, ports.ports_per_pipe
            )
        });
        let queues = u64::from(tm.ports_per_group) * u64::from(tm.queues_per_port);
        self.require(queues <= u64::from(tm.queues_per_group), "tm.queues_per_port", || {
            format!(
                "{} ports x {} queues = {queues}, but a group has {}",
                tm.ports_per_group, tm.queues_per_port, tm.queues_per_group
            )
        });
        let ids = 1_u64.checked_shl(tm.queue_id_bits).unwrap_or(u64::MAX);
        self.require(u64::from(tm.queues_per_group) <= ids, "tm.queue_id_bits", || {
            format!("{} bits name {ids} queues, but a group has {}", tm.queue_id_bits, tm.queues_per_group)
        });
        self.require(tm.mirror_port >= ports.ports_per_pipe, "tm.mirror_port", || {
            format!("is {}, one of the pipe's {} own ports", tm.mirror_port, ports.ports_per_pipe)
        });
        self.require(tm.global_limit <= tm.cells, "tm.global_limit", || {
            format!("is {}, but the buffer has {}", tm.global_limit, tm.cells)
        });
        let every_port = (u64::from(ports.ports_per_pipe) + 1).saturating_mul(u64::from(ports.pipes));
        let mirror = every_port.saturating_mul(u64::from(tm.negative_mirror_per_port.get()));
        let pools = [
            u64::from(tm.unicast_cut_through_pool.get()),
            u64::from(tm.multicast_cut_through_pool.get()),
            u64::from(tm.multicast_reserve.get()),
            u64::from(tm.skid_pool.get()),
            mirror,
        ];
        let sum = pools.iter().fold(0_u64, |sum, pool| sum.saturating_add(*pool));
        self.require(sum <= u64::from(tm.cells.get()), "tm.cells", || {
            let [unicast, multicast, reserve, skid, mirror] = pools;
            format!(
                "unicast cut-through {unicast} + multicast cut-through {multicast} + multicast reserve {reserve} + \
                 skid {skid} + negative mirror {mirror} = {sum} cells, but the buffer has {}",
                tm.cells.get()
            )
        });
    }

    fn features(&mut self, chip: &ChipSpec) {
        let (features, tm) = (&chip.features, &chip.tm);
        let concurrent = chip.latency.concurrent_contribution != 0;
        self.require(features.concurrent_dependency == concurrent, "latency.concurrent_contribution", || {
            format!(
                "is {}, but `features.concurrent_dependency` is {}",
                chip.latency.concurrent_contribution, features.concurrent_dependency
            )
        });
        let counts = [
            (features.ghost, "features.ghost", "tm.ghost_interval_cycles", tm.ghost_interval_cycles),
            (
                features.advanced_flow_control,
                "features.advanced_flow_control",
                "tm.afc_credit_bits",
                tm.afc_credit_bits,
            ),
        ];
        for (has, path, needed, value) in counts {
            self.require(!has || value != 0, path, || format!("is true, but `{needed}` is 0"));
        }
    }
}
