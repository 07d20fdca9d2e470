"""Names of the package, each with its module. ``__init__.py`` reads this list and imports a module at the first use of a name."""

from ._native import Error as Error, Packet as Packet, Table as Table, read_parquet as read_parquet
from .chart import Chart as Chart
from .commands import Called as Called, programs as programs, run as run
from .dataset import Dataset as Dataset
from .digest import Digest as Digest
from .experiment import Experiment as Experiment, Results as Results
from .hunting import Hunted as Hunted, hunt as hunt
from .network import Network as Network
from .papers import reproduce as reproduce
from .program import Hunt as Hunt, Program as Program, Replay as Replay, Report as Report
from .record import Record as Record
from .scenarios import Outcomes as Outcomes
from .sweeping import sweep as sweep
from .switch import Run as Run, Switch as Switch

__version__: str
