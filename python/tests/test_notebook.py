"""The notebooks of the repository run, and show what is stored in them."""

import os

import pytest
from conftest import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "python" / "notebooks").glob("*.ipynb"))


def run(path, folder):
    """Return a notebook after all its cells were run in a folder."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, record_timing=False, resources={"metadata": {"path": folder}})
    client.execute()
    return notebook


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored(path, tmp_path):
    import nbformat

    fresh = run(path, tmp_path)
    fresh.metadata.pop("language_info", None)
    if "UPDATE_EXPECT" in os.environ:
        nbformat.write(fresh, path)
    stored = nbformat.read(path, as_version=4)
    for cell, kept in zip(fresh.cells, stored.cells, strict=True):
        if cell.cell_type == "code":
            assert kept.outputs and cell.outputs == kept.outputs, cell.source


def test_stored_notebooks_have_outputs_and_no_path_of_a_machine():
    assert [path.stem for path in NOTEBOOKS] == ["fit", "load-balancers", "pfc-headroom"]
    for path in NOTEBOOKS:
        text = path.read_text()
        assert '"output_type"' in text and "Traceback" not in text
        assert not any(place in text for place in ("/home/", "/root/", "/tmp/", "site-packages"))
