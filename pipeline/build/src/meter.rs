//! Meters, low-pass filters, WRED and random numbers.

use super::draft::{Builder, Unattached};
use super::gress::GressBuilder;
use super::handles::{MeterRef, RandomRef};
use super::value::{ArrayIndex, Rhs, Val};
use sluice_ir::{
    self as ir, CounterHome, Loc, LpfSpec, MeterAccess, MeterConfig, MeterData, MeterKind, PrimitiveKind,
    RandomData,
};

/// Size and initial configuration of a meter array: a number of cells, or [`cells`] with a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeterSize {
    /// Number of cells; `None`: one per entry of a table.
    cells: Option<u32>,
    initial: Option<MeterConfig>,
}

/// Returns a size of `cells` cells. A cell is unlimited until the control plane configures it.
#[must_use]
pub fn cells(cells: u32) -> MeterSize {
    MeterSize { cells: Some(cells), initial: None }
}

/// Returns a size of one cell per entry of a table. Attach the array with
/// [`TableBuilder::meter`](super::TableBuilder::meter).
#[must_use]
pub fn meter_per_entry() -> MeterSize {
    MeterSize { cells: None, initial: None }
}

impl From<u32> for MeterSize {
    fn from(number: u32) -> Self {
        cells(number)
    }
}

impl MeterSize {
    /// Sets committed rate and burst, peak rate and burst: bits per second and bytes, or packets per second
    /// and packets.
    #[must_use]
    pub fn rates(mut self, committed: u64, committed_burst: u64, peak: u64, peak_burst: u64) -> Self {
        self.initial = Some(MeterConfig::Rates { committed, committed_burst, peak, peak_burst });
        self
    }

    /// Sets a low-pass filter's time constants and output.
    #[must_use]
    pub fn lpf(mut self, spec: LpfSpec) -> Self {
        self.initial = Some(MeterConfig::Lpf(spec));
        self
    }

    /// Sets WRED: lower and upper threshold, drop probability in percent at the upper threshold, and the
    /// averaging of the input.
    #[must_use]
    pub fn wred(mut self, min: u32, max: u32, probability: u8, average: Option<LpfSpec>) -> Self {
        self.initial = Some(MeterConfig::Wred { min, max, probability, average });
        self
    }
}

impl<'b> GressBuilder<'b> {
    /// Declares an array of meters (in packets or bytes), filters or WRED entries.
    #[track_caller]
    pub fn meter(&self, kind: MeterKind, size: impl Into<MeterSize>) -> MeterRef {
        let (size, loc) = (size.into(), Loc::caller());
        let name = self.builder.take_name("meter", loc);
        let mut draft = self.builder.draft();
        let unique = name.unique(|n| draft.program.meter_named(n).is_some());
        let meter = draft.program.meters.push(MeterData {
            name: unique,
            gress: self.gress,
            kind,
            // The table of a direct array is not known yet: `build` of a table replaces this home, otherwise
            // `finish` refuses.
            home: CounterHome::Indirect(size.cells.unwrap_or(0)),
            adjust: 0,
            initial: size.initial,
            doc: name.doc,
            loc,
        });
        if size.cells.is_none() {
            draft.unattached.push(Unattached::Meter(meter));
        }
        MeterRef(meter)
    }

    /// Declares a generator of random numbers of `W` bits; `W` is 1 to 32.
    #[track_caller]
    pub fn random<const W: u16>(&self) -> RandomRef<W> {
        const { assert!(W >= 1 && W <= 32, "a random number has 1 to 32 bits") };
        let loc = Loc::caller();
        let name = self.builder.take_name("generator of random numbers", loc);
        let mut draft = self.builder.draft();
        let unique = name.unique(|n| draft.program.randoms.values().any(|r| r.name == n));
        let data = RandomData { name: unique, gress: self.gress, width: W, doc: name.doc, loc };
        RandomRef(draft.program.randoms.push(data))
    }
}

/// Access to a meter, filter or WRED entry; its result is assigned to a field.
#[must_use = "a meter is accessed where its result is assigned"]
#[derive(Debug)]
pub struct MeterResult {
    meter: ir::Meter,
    index: ir::Index,
    input: Option<ir::Expr>,
}

impl MeterRef {
    /// Accesses the cell with this index. An index beyond the end returns 0. A hash is accepted as index.
    pub fn execute(self, index: impl ArrayIndex) -> MeterResult {
        MeterResult { meter: self.0, index: index.array_index(), input: None }
    }

    /// Accesses the cell of the matched entry. Allowed only in actions of the table that the array is
    /// attached to.
    pub fn at_entry(self) -> MeterResult {
        MeterResult { meter: self.0, index: ir::Index::Entry, input: None }
    }
}

impl MeterResult {
    /// Passes an input: the packet's colour before the meter (0 green, 1 yellow, 3 red), or the sample of a
    /// filter or WRED.
    pub fn with<const W: u16>(mut self, input: impl Val<W>) -> MeterResult {
        self.input = Some(input.ir());
        self
    }
}

impl<const W: u16> Rhs<W> for MeterResult {
    fn assign(self, place: ir::Field, _: &Builder) -> PrimitiveKind {
        let MeterResult { meter, index, input } = self;
        PrimitiveKind::Meter(MeterAccess { meter, index, input, to: place })
    }
}

/// A random number, to be assigned to a field of its width.
#[must_use = "a random number is drawn where it is assigned"]
#[derive(Debug)]
pub struct RandomNumber<const W: u16>(ir::Random);

impl<const W: u16> RandomRef<W> {
    /// Draws a number. A pass may draw from a generator once.
    pub fn get(self) -> RandomNumber<W> {
        RandomNumber(self.0)
    }
}

impl<const W: u16> Rhs<W> for RandomNumber<W> {
    fn assign(self, place: ir::Field, _: &Builder) -> PrimitiveKind {
        PrimitiveKind::Random(place, self.0)
    }
}
