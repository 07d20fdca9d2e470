"""Tables, charts and results as texts, as HTML, and in other libraries."""

import json
import subprocess
import sys

import pytest

import sluice
from sluice import Chart, Error, Experiment, Table, sweep
from sluice.units import of_messages, of_runs

TABLE = Table(
    [("n", [1, None, 3]), ("name", ["a", "<b>", "c" * 40]), ("b", [b"\1\2", None, b""]), ("x", [1.5, 1234.567, 0.25])]
)


def test_a_table_shows_its_rows():
    lines = repr(TABLE).splitlines()
    assert lines[0] == "Table of 3 rows, 4 columns"
    assert [line.split() for line in lines[1:3]] == [["n", "name", "b", "x"], ["1", "a", "0102", "1.5"]]
    assert lines[4].split() == ["3", "c" * 23 + "…", "0.25"]
    shown = TABLE._repr_html_()
    assert "<td>&lt;b&gt;</td>" in shown and "3 rows, 4 columns" in shown


def test_a_long_and_wide_table_is_cut():
    table = Table([(f"column{n}", list(range(1000))) for n in range(40)])
    text = repr(table)
    assert text.startswith("Table of 1000 rows, 40 columns") and "and 990 rows" in text
    assert "and the columns column13, " in text and max(map(len, text.splitlines()[:12])) <= 130
    assert table._repr_html_().count("<tr>") == 11
    assert repr(Table([])) == "Table of 0 rows, 0 columns"


def test_tables_are_frames_and_rows():
    import pandas
    import polars

    frame = TABLE.to_polars()
    assert isinstance(frame, polars.DataFrame) and frame["n"].to_list() == [1, None, 3]
    frame = TABLE.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["x"]) == [1.5, 1234.567, 0.25]
    assert TABLE.to_rows()[1] == {"n": None, "name": "<b>", "b": None, "x": 1234.567}
    assert TABLE.slice(1, 5).to_dict()["n"] == [None, 3] and len(TABLE.slice(7, 1)) == 0


@pytest.mark.parametrize(("what", "package"), [("to_pandas", "pandas"), ("to_polars", "polars")])
def test_a_missing_package_is_named(what, package):
    code = f"import sys; sys.modules['{package}'] = None; import sluice; sluice.Table([('n', [1])]).{what}()"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"{what} needs the package {package}\n  = help: pip install {package}" in shown.stderr


def test_networkx_is_named():
    code = "import sys; sys.modules['networkx'] = None; import sluice; sluice.Network('leaf-spine', 'ecmp').graph()"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Network.graph needs the package networkx\n  = help: pip install networkx" in shown.stderr


def test_tables_have_nanoseconds_and_ratios():
    table = of_messages(Table([("start_ps", [1500, None]), ("slowdown_thousandths", [1250, 1000]), ("bytes", [1, 2])]))
    assert table.to_dict() == {"start_ns": [1.5, None], "slowdown": [1.25, 1.0], "bytes": [1, 2]}
    names = ["avg", "small_p99", "p999", "workload.web.own_p50", "bin_1000.avg", "fct_avg_ns", "queue.avg"]
    names += ["fairness", "workload.web.fairness", "link_share_avg", "imbalance_p99"]
    table = of_runs(Table([(name, [1500]) for name in names]))
    assert table.to_dict() == {
        "slowdown_avg": [1.5],
        "small_slowdown_p99": [1.5],
        "slowdown_p999": [1.5],
        "workload.web.own_slowdown_p50": [1.5],
        "bin_1000.slowdown_avg": [1.5],
        "fct_avg_ns": [1500],
        "queue.avg": [1500],
        "fairness": [1.5],
        "workload.web.fairness": [1.5],
        "link_share_avg": [1.5],
        "imbalance_p99": [1.5],
    }
    with pytest.raises(Error, match="column `n` of type Utf8 is not of numbers"):
        Table([("n", ["a"])]).divided([("n", "m", 2.0)])


def test_results_are_drawn(small):
    results = Experiment(small).run()
    assert repr(results).startswith("Results(1 contests, 4 runs, ") and "all expectations hold" in repr(results)
    drawn = results._repr_html_()
    assert "<svg" in drawn and "letflow" in drawn
    assert set(results.plots) == {"slowdown.svg", "sizes.svg"}
    # The ratios are those of the JSON, which has thousandths.
    seeds = results.to_dict()["contests"][0]["programs"][0]["numbers"]["avg"]["seeds"]
    assert results.runs["slowdown_avg"][:2] == [value / 1000 for value in seeds]
    with pytest.raises(
        Error, match=r"the table has no column `small_p99`; there are .*\n  = help: its name is `small_slowdown_p99`"
    ):
        results.runs["small_p99"]
    for start, end in zip(results.messages["start_ns"], results.messages["end_ns"]):
        # The load lasts for 100 us, and a message of the smallest size takes more than 1 us.
        assert 0 <= start <= 100_000 and end is None or end - start > 1000


def test_sweeps_are_drawn(small, tmp_path):
    dataset = sweep(small, {"workload.load": [20, 40]}, seeds=1, out=tmp_path, workers=1)
    chart = dataset.plot("slowdown_p99")
    assert isinstance(chart, Chart) and "workload.load" in chart.svg and "letflow" in chart.svg
    chart.save(tmp_path / "p99.svg")
    assert (tmp_path / "p99.svg").read_text().startswith("<svg")
    assert "<svg" in dataset._repr_html_() and repr(dataset).endswith("4 of 4 runs)")
    help_ = "`slowdown_p99` has the slowdown as a ratio, 1.0 as fast as alone"
    with pytest.raises(Error, match=f"^the runs have no column `p99`\n  = help: {help_}$"):
        dataset.plot("p99")
    with pytest.raises(Error, match="`load` is not a swept key with numbers\n  = help: there are workload.load"):
        dataset.plot(x="load")


def test_programs_and_reports_are_shown():
    program = sluice.Program("ecmp")
    assert "<b>ecmp</b>" in program._repr_html_() and "routes" in program._repr_html_()
    report = program.report()
    assert repr(report) == f"Report(ecmp on tofino2: fits, {report.stages} stages, {report.latency.total_ns} ns)"
    # A row for each resource in use, with a cell for each of the 20 stages of a Tofino 2.
    used = [row for row in report.resources.totals if row.used]
    assert report._repr_html_().count("<tr>") == 1 + len(used)
    assert report._repr_html_().count("<td") == 20 * len(used)
    assert repr(report.latency).startswith("Record(") and "total_ns=" in repr(report.latency)


def test_an_experiment_shows_progress(small):
    pytest.importorskip("IPython")
    code = """if True:
        import sys, json
        import IPython
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.kernel = object()
        import sluice, sluice.progress
        shown = []
        sluice.progress.Shown._show = lambda self, html: shown.append(html)
        sluice.Experiment(json.loads(sys.argv[1])).run()
        print(shown[0]); print(shown[-1])
    """
    words = [sys.executable, "-c", code, json.dumps(small)]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert shown[-2].endswith("0 of 4 runs") and shown[-1].endswith("4 of 4 runs") and "<progress" in shown[-1]
