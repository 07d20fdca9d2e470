//! Fields of any width in any order, and arrays with every attribute.

use super::Writer;
use sluice_asic::geometry::CounterFormat;
use sluice_asic::hash::{CrcParams, HashAlgorithm, XorWidth};
use sluice_asic::meter::LpfMode;
use sluice_asic::port::{DevPort, FrontPort, PortName};
use sluice_asic::salu::Format;
use sluice_asic::select::SelectorMode;
use sluice_asic::units::Duration;
use sluice_ir::{
    CONTAINER_KINDS, ContainerDemand, ContainerRule, CounterCell, CounterData, CounterHome, CounterKind,
    FieldData, HashData, Home, Intrinsic, LabelData, LabelKind, Loc, LpfSpec, MeterConfig, MeterData,
    MeterKind, ParamData, ParamValue, ProfileData, RandomData, RegisterData, RegisterParamData, SelectorData,
    StackData, TogetherData, ValueSetData,
};

/// Elements of registers, as their text form has them.
const FORMATS: [&str; 7] = ["1", "8", "32", "64", "128", "8x2", "32x2"];

impl Writer<'_, '_> {
    /// Adds at least one item of every kind that others refer to.
    pub(super) fn declarations(&mut self) {
        self.p.params = self.list(2, |w| ParamValue { key: w.name(), value: w.name(), doc: w.doc() });
        for _ in 0..self.below(8) {
            self.add_field();
        }
        let loc = Loc::default();
        for _ in 0..1 + self.below(2) {
            let kind = self.of(&[LabelKind::Drop, LabelKind::Consume]);
            let (name, doc) = (self.name(), self.doc());
            self.p.labels.push(LabelData { name, kind, doc, loc });
            let data = self.hash();
            self.p.hashes.push(data);
            let data = self.counter();
            self.p.counters.push(data);
            let data = self.register();
            self.p.registers.push(data);
            let data = self.profile();
            self.p.profiles.push(data);
            let data = self.meter();
            self.p.meters.push(data);
            let (name, gress, width, doc) = (self.name(), self.gress(), self.below(40) as u16, self.doc());
            self.p.randoms.push(RandomData { name, gress, width, doc, loc });
            let (name, gress, doc) = (self.name(), self.gress(), self.doc());
            let headers = self.list(3, |w| w.any(|p| &p.headers));
            self.p.stacks.push(StackData { name, gress, headers, doc, loc });
            let (name, gress, doc, size) = (self.name(), self.gress(), self.doc(), self.below(5) as u32);
            let fields = self.list(3, |w| ParamData { name: w.name(), width: 1 + w.below(40) as u16 });
            self.p.value_sets.push(ValueSetData { name, gress, fields, size, doc, loc });
        }
        self.p.container_rules = self.list(2, |w| {
            let demand = match w.below(5) {
                0 => ContainerDemand::Sizes(w.list(3, |w| w.of(&[8, 16, 32, 24]))),
                1 => ContainerDemand::Atomic,
                2 => ContainerDemand::Solitary,
                3 => ContainerDemand::NoOverlay,
                _ => ContainerDemand::Kind(w.of(&CONTAINER_KINDS).1),
            };
            ContainerRule { field: w.field(), demand, loc }
        });
        self.p.together = self.list(2, |w| TogetherData {
            name: w.name(),
            registers: w.list(2, |w| w.any(|p| &p.registers)),
            ports: w.list(3, |w| match DevPort::new(w.below(512) as u16) {
                Some(port) if w.flip() => PortName::Dev(port),
                _ => PortName::Front(FrontPort(w.below(64) as u16)),
            }),
            doc: w.doc(),
            loc,
        });
    }

    /// Adds a field; one of a header takes any place in it, whatever the order of declaration.
    fn add_field(&mut self) {
        let (width, gress, mut name) = (1 + self.below(128) as u16, self.gress(), self.name());
        let home = match self.below(4) {
            0 => Home::Metadata,
            1 => Home::PortMetadata,
            2 => {
                let info = self.of(&Intrinsic::TABLE);
                if !self.d.chance(1, 4) {
                    name = info.name.to_owned();
                }
                Home::Intrinsic(info.field)
            }
            _ => {
                let header = sluice_ir::entity::Entity::new(self.below(self.p.headers.len()));
                let at = self.below(self.p.headers[header].fields.len() + 1);
                let next = self.p.fields.next_key();
                self.p.headers[header].fields.insert(at, next);
                Home::Header(header)
            }
        };
        let doc = self.doc();
        self.p.fields.push(FieldData { name, gress, width, home, doc, loc: Loc::default() });
    }

    fn hash(&mut self) -> HashData {
        let algorithm = match self.below(5) {
            0 => HashAlgorithm::Identity,
            1 => HashAlgorithm::Xor(self.of(&[XorWidth::W8, XorWidth::W16, XorWidth::W32])),
            2 => HashAlgorithm::Random { seed: self.word() >> self.of(&[0, 63]) },
            3 => HashAlgorithm::from_name("crc_32").unwrap_or(HashAlgorithm::Identity),
            _ => {
                let (poly, init, xor) = (self.word() >> 48 | 1, self.word() >> 48, self.word() >> 48);
                let crc = CrcParams::new(16, poly, self.flip(), init, xor);
                crc.map_or(HashAlgorithm::Identity, HashAlgorithm::Crc)
            }
        };
        HashData {
            name: self.name(),
            gress: self.gress(),
            algorithm,
            inputs: self.list(3, |w| w.expr(1)),
            symmetric: self.list(2, |w| [w.below(4) as u16, w.below(4) as u16]),
            width: self.below(70) as u16,
            seed: self.word() >> self.of(&[0, 32, 63]),
            rotate: self.below(3) as u16,
            doc: self.doc(),
            loc: Loc::default(),
        }
    }

    fn counter(&mut self) -> CounterData {
        CounterData {
            name: self.name(),
            gress: self.gress(),
            kind: self.of(&[CounterKind::Packets, CounterKind::Bytes, CounterKind::PacketsAndBytes]),
            home: self.home(),
            cell: CounterCell {
                format: self.flip().then(|| self.of(&CounterFormat::ALL)),
                adjust: self.word() as i16 >> self.of(&[0, 15, 12]),
                wraps: self.flip(),
            },
            doc: self.doc(),
            loc: Loc::default(),
        }
    }

    fn home(&mut self) -> CounterHome {
        match self.flip() {
            true => CounterHome::Direct(self.any(|p| &p.tables)),
            false => CounterHome::Indirect(self.word() as u32),
        }
    }

    fn profile(&mut self) -> ProfileData {
        let selector = self.d.chance(2, 3).then(|| SelectorData {
            mode: self.of(&[SelectorMode::Fair, SelectorMode::Resilient, SelectorMode::PlainModulo]),
            hash: self.any(|p| &p.hashes),
            groups: self.word() as u32,
            max_group_size: self.word() as u32,
            scramble: self.flip(),
        });
        let (size, gress) = (self.word() as u32, self.gress());
        ProfileData { name: self.name(), gress, size, selector, doc: self.doc(), loc: Loc::default() }
    }

    fn filter(&mut self) -> LpfSpec {
        LpfSpec {
            mode: self.of(&[LpfMode::Sample, LpfMode::Rate]),
            rise: Duration::from_ps(self.word()),
            fall: Duration::from_ps(self.word() >> 40),
            shift: self.below(32) as u8,
        }
    }

    fn meter(&mut self) -> MeterData {
        let initial = match self.below(4) {
            0 => None,
            1 => Some(MeterConfig::Rates {
                committed: self.word(),
                committed_burst: self.word() >> 40,
                peak: self.word(),
                peak_burst: self.word() >> 63,
            }),
            2 => Some(MeterConfig::Lpf(self.filter())),
            _ => Some(MeterConfig::Wred {
                min: self.word() as u32,
                max: self.word() as u32,
                probability: self.below(101) as u8,
                average: self.flip().then(|| self.filter()),
            }),
        };
        let (name, gress, kind, home) = (self.name(), self.gress(), self.of(&MeterKind::ALL), self.home());
        let adjust = self.word() as i16 >> self.of(&[0, 15, 12]);
        MeterData { name, gress, kind, home, adjust, initial, doc: self.doc(), loc: Loc::default() }
    }

    fn register(&mut self) -> RegisterData {
        RegisterData {
            name: self.name(),
            gress: self.gress(),
            format: self.of(&FORMATS).parse().unwrap_or(Format::BIT),
            home: self.home(),
            init: [self.word() >> self.of(&[0, 60, 63]), self.word() >> self.of(&[0, 32, 63])],
            params: self.list(2, |w| RegisterParamData { name: w.name(), init: w.d.word() }),
            doc: self.doc(),
            loc: Loc::default(),
        }
    }
}
