"""The notebook of the repository."""

import shutil

import pytest
from conftest import REPOSITORY


@pytest.mark.slow
def test_the_notebook_runs(tmp_path):
    import nbformat
    from nbclient import NotebookClient

    shutil.copy(REPOSITORY / "examples" / "notebook.ipynb", tmp_path)
    notebook = nbformat.read(tmp_path / "notebook.ipynb", as_version=4)
    assert len(notebook.cells) == 10
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    assert (tmp_path / "out" / "slowdown.png").stat().st_size > 1000
    placed = notebook.cells[3].outputs[0]["data"]["text/html"]
    assert "conweave" in placed and "fits" in placed
