"""Every example of docs/python.md runs."""

import re

import pytest
from conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "python.md"


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    text = PAGE.read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S))
    assert len(blocks) >= 10
    names: dict = {}
    for block in blocks:
        # Blank lines in front give errors the line of the page.
        source = "\n" * text.count("\n", 0, block.start(1)) + block[1]
        exec(compile(source, str(PAGE), "exec"), names)
    assert names["dataset"].is_complete
