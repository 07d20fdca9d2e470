//! Inventory of PHV containers: names, addresses, groups and capabilities, derived from a [`PhvSpec`].

use crate::chip::PhvSpec;
use crate::gress::Gress;
use serde::Serialize;
use std::fmt;

/// Container, by its index in the [`PhvInventory`]: MAU-visible containers in address order, then tagalong containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Container(pub u16);

impl Container {
    /// Returns the position in dense per-container arrays.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The width of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerSize {
    /// 8 bits, letter B.
    B8,
    /// 16 bits, letter H.
    B16,
    /// 32 bits, letter W.
    B32,
}

impl ContainerSize {
    /// Every size, in the order of addresses (model: chip §2.1).
    pub const ALL: [Self; 3] = [Self::B32, Self::B8, Self::B16];

    /// Returns the width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::B8 => 8,
            Self::B16 => 16,
            Self::B32 => 32,
        }
    }

    /// Returns the letter in container names.
    pub const fn letter(self) -> char {
        match self {
            Self::B8 => 'B',
            Self::B16 => 'H',
            Self::B32 => 'W',
        }
    }
}

/// Kind of storage of a container (model: chip §2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainerKind {
    /// Everything: matched, parsed, deparsed, full ALU.
    Normal,
    /// Matched, parsed and deparsed; the ALU only moves it as a whole.
    Mocha,
    /// Neither matched nor parsed nor deparsed; the ALU only moves it as a whole from another container.
    Dark,
    /// Only parser and deparser see it.
    Tagalong,
}

impl ContainerKind {
    /// Returns the letter in front of the size's letter in container names.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Normal => "",
            Self::Mocha => "M",
            Self::Dark => "D",
            Self::Tagalong => "T",
        }
    }
}

/// Capabilities of a container's ALU (model: chip §2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AluClass {
    /// There is none.
    None,
    /// `set` of the whole container from a container of its group.
    MoveFromContainer,
    /// `set` of the whole container from a container of its group, action data or a constant.
    Move,
    /// All instructions.
    Full,
}

/// Description of one container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContainerInfo {
    /// Width.
    pub size: ContainerSize,
    /// Kind of storage.
    pub kind: ContainerKind,
    /// Number among containers of its size and kind, as in its name.
    pub number: u16,
    /// Hardware address.
    pub address: u16,
    /// MAU group: an ALU's container sources must be in the destination's group. `None` for tagalong containers.
    pub mau_group: Option<u16>,
    /// Gress group: all containers of a gress group belong to one gress.
    pub gress_group: u16,
    /// The gress that it is wired to, if it is.
    pub hard_wired: Option<Gress>,
}

impl ContainerInfo {
    /// Returns true if match keys, gateways and hashes can read it.
    pub const fn matchable(&self) -> bool {
        matches!(self.kind, ContainerKind::Normal | ContainerKind::Mocha)
    }

    /// Returns true if the parser can write it.
    pub const fn parsed(&self) -> bool {
        !matches!(self.kind, ContainerKind::Dark)
    }

    /// Returns true if the deparser can read it.
    pub const fn deparsed(&self) -> bool {
        !matches!(self.kind, ContainerKind::Dark)
    }

    /// Returns the capabilities of the container's ALU.
    pub const fn alu(&self) -> AluClass {
        match self.kind {
            ContainerKind::Normal => AluClass::Full,
            ContainerKind::Mocha => AluClass::Move,
            ContainerKind::Dark => AluClass::MoveFromContainer,
            ContainerKind::Tagalong => AluClass::None,
        }
    }
}

/// The name, for example `W12`, `MH3`, `TB4`.
impl fmt::Display for ContainerInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}{}", self.kind.prefix(), self.size.letter(), self.number))
    }
}

/// All containers of one pipe's PHV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhvInventory {
    containers: Vec<ContainerInfo>,
    mau_groups: u16,
    gress_groups: u16,
    pairs_bytes: bool,
}

impl PhvInventory {
    /// Returns the containers of a chip that [`crate::chip::ChipSpec::validate`] accepts.
    pub fn new(spec: &PhvSpec) -> Self {
        let mut inventory = Self {
            containers: Vec::new(),
            mau_groups: 0,
            gress_groups: 0,
            pairs_bytes: spec.parser_width == 16,
        };
        for size in ContainerSize::ALL {
            inventory.add_mau_groups(spec, size);
        }
        inventory.assign_gress_groups(spec);
        inventory.add_tagalong(spec);
        inventory
    }

    fn add_mau_groups(&mut self, spec: &PhvSpec, size: ContainerSize) {
        let groups = match size {
            ContainerSize::B8 => spec.groups_8,
            ContainerSize::B16 => spec.groups_16,
            ContainerSize::B32 => spec.groups_32,
        };
        let kinds = [
            (ContainerKind::Normal, spec.normal_per_group),
            (ContainerKind::Mocha, spec.mocha_per_group),
            (ContainerKind::Dark, spec.dark_per_group),
        ];
        for group in 0..groups {
            for (kind, count) in kinds {
                for slot in 0..count {
                    let number = narrow(group * count + slot);
                    let address = self.len();
                    self.push(size, kind, number, address, Some(self.mau_groups));
                }
            }
            self.mau_groups = self.mau_groups.saturating_add(1);
        }
    }

    fn add_tagalong(&mut self, spec: &PhvSpec) {
        let per_collection = [
            (ContainerSize::B32, spec.tagalong_32),
            (ContainerSize::B8, spec.tagalong_8),
            (ContainerSize::B16, spec.tagalong_16),
        ];
        let mut address = narrow(spec.tagalong_base);
        for (size, count) in per_collection {
            for number in 0..spec.tagalong_collections * count {
                self.push(size, ContainerKind::Tagalong, narrow(number), address, None);
                if let Some(container) = self.containers.last_mut() {
                    container.gress_group = self.gress_groups.saturating_add(narrow(number / count));
                }
                address = address.saturating_add(1);
            }
        }
        self.gress_groups = self.gress_groups.saturating_add(narrow(spec.tagalong_collections));
    }

    fn push(
        &mut self,
        size: ContainerSize,
        kind: ContainerKind,
        number: u16,
        address: u16,
        mau_group: Option<u16>,
    ) {
        if self.len() == u16::MAX {
            return;
        }
        let container =
            ContainerInfo { size, kind, number, address, mau_group, gress_group: 0, hard_wired: None };
        self.containers.push(container);
    }

    /// Assigns gress groups. Normal and mocha containers belong to a gress in runs of a fixed length; the last run of a
    /// size is possibly divided into single containers. Dark containers, which no deparser reads, are assigned one by
    /// one (model: chip §2.1).
    fn assign_gress_groups(&mut self, spec: &PhvSpec) {
        for size in ContainerSize::ALL {
            let run = match size {
                ContainerSize::B8 => spec.gress_group_8,
                ContainerSize::B16 => spec.gress_group_16,
                ContainerSize::B32 => spec.gress_group_32,
            };
            for kind in [ContainerKind::Normal, ContainerKind::Mocha, ContainerKind::Dark] {
                self.assign_runs(
                    spec,
                    size,
                    kind,
                    if kind == ContainerKind::Dark { 1 } else { narrow(run).max(1) },
                );
            }
        }
    }

    fn assign_runs(&mut self, spec: &PhvSpec, size: ContainerSize, kind: ContainerKind, run: u16) {
        let of_kind = |container: &&mut ContainerInfo| container.size == size && container.kind == kind;
        let count =
            narrow(u32::try_from(self.containers.iter_mut().filter(of_kind).count()).unwrap_or(u32::MAX));
        let whole_runs = if spec.last_group_individual { (count / run).saturating_sub(1) } else { u16::MAX };
        let base = self.gress_groups;
        for container in self.containers.iter_mut().filter(of_kind) {
            let index = container.number / run;
            let alone = index >= whole_runs;
            let group =
                if alone { whole_runs.saturating_add(container.number - whole_runs * run) } else { index };
            container.gress_group = base.saturating_add(group);
            if spec.hard_wired_gress && kind == ContainerKind::Normal && !alone {
                container.hard_wired = Gress::ALL.get(index as usize).copied();
            }
            self.gress_groups = self.gress_groups.max(container.gress_group.saturating_add(1));
        }
    }

    /// Returns the number of containers.
    pub fn len(&self) -> u16 {
        u16::try_from(self.containers.len()).unwrap_or(u16::MAX)
    }

    /// Returns true if there are no containers.
    pub fn is_empty(&self) -> bool {
        self.containers.is_empty()
    }

    /// Returns the number of MAU groups.
    pub const fn mau_groups(&self) -> u16 {
        self.mau_groups
    }

    /// Returns the number of gress groups.
    pub const fn gress_groups(&self) -> u16 {
        self.gress_groups
    }

    /// Returns the container's description; `None` if the chip has no such container.
    pub fn get(&self, container: Container) -> Option<&ContainerInfo> {
        self.containers.get(container.index())
    }

    /// Returns all containers in order.
    pub fn iter(&self) -> impl Iterator<Item = (Container, &ContainerInfo)> {
        (0..=u16::MAX).map(Container).zip(&self.containers)
    }

    /// Returns all containers of a size and kind, by number.
    pub fn of(&self, size: ContainerSize, kind: ContainerKind) -> impl Iterator<Item = Container> {
        self.iter()
            .filter(move |(_, info)| info.size == size && info.kind == kind)
            .map(|(container, _)| container)
    }

    /// Returns the containers of a MAU group.
    pub fn in_mau_group(&self, group: u16) -> impl Iterator<Item = Container> {
        self.iter().filter(move |(_, info)| info.mau_group == Some(group)).map(|(container, _)| container)
    }

    /// Returns the containers that share a gress group.
    pub fn in_gress_group(&self, group: u16) -> impl Iterator<Item = Container> {
        self.iter().filter(move |(_, info)| info.gress_group == group).map(|(container, _)| container)
    }

    /// Returns the container of this name, for example `W12`.
    pub fn by_name(&self, name: &str) -> Option<Container> {
        self.iter().find(|(_, info)| info.to_string() == name).map(|(container, _)| container)
    }

    /// Returns the container at this hardware address.
    pub fn by_address(&self, address: u16) -> Option<Container> {
        self.iter().find(|(_, info)| info.address == address).map(|(container, _)| container)
    }

    /// Returns the 8-bit container that shares a parser container with this one, and so its gress and write mode;
    /// `None` if the parser sees native widths (model: chip §2.1).
    pub fn parser_partner(&self, container: Container) -> Option<Container> {
        let info = self.get(container)?;
        if !self.pairs_bytes || info.size != ContainerSize::B8 || !info.parsed() {
            return None;
        }
        let partner = info.number ^ 1;
        self.of(info.size, info.kind).nth(partner as usize)
    }
}

fn narrow(count: u32) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
