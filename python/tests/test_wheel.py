"""Packing of wheels by checks/wheel.py."""

import base64
import hashlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import zipfile

import pytest
from conftest import REPOSITORY

_SPEC = importlib.util.spec_from_file_location("checks_wheel", REPOSITORY / "checks" / "wheel.py")
wheel = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(wheel)

INFO = "sluice_emulator-1.0.dist-info"
FILES = {
    "sluice/__init__.py": b"pass\n",
    "sluice/_native.abi3.so": b"\x7fELF GLIBC_2.4\0 GLIBC_2.34\0 GLIBC_2.9\0",
    f"{INFO}/METADATA": b"Metadata-Version: 2.4\nName: sluice-emulator\n\nText: of the page\n",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\n",
    f"{INFO}/RECORD": b"old\n",
}
PARTS = ({"LICENSE-MIT": b"mit\n", "THIRD-PARTY": b"notices\n"}, b"{}\n", {"man/man1/sluice.1": b"page\n"})


def made(names, time):
    """Return a wheel of the files in this order and of this time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name in names:
            out.writestr(zipfile.ZipInfo(name, time), FILES[name])
    buffer.seek(0)
    return buffer


def test_equal_files_give_equal_wheels():
    one = made(FILES, (2020, 1, 1, 0, 0, 0))
    two = made(reversed(list(FILES)), (2026, 5, 6, 7, 8, 10))
    packed = [wheel.packed(wheel.with_parts(wheel.entries(source), *PARTS)) for source in (one, two)]
    assert packed[0] == packed[1]


def test_a_wheel_has_its_parts_and_a_record():
    data = wheel.packed(wheel.with_parts(wheel.entries(made(FILES, (2020, 1, 1, 0, 0, 0))), *PARTS))
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        names = packed.namelist()
        contents = {name: packed.read(name) for name in names}
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in packed.infolist()}
    assert contents["sluice_emulator-1.0.data/data/share/man/man1/sluice.1"] == b"page\n"
    assert (
        contents[f"{INFO}/licenses/THIRD-PARTY"] == b"notices\n"
        and contents[f"{INFO}/sboms/sluice.cdx.json"] == b"{}\n"
    )
    # Headers end at the first empty line; the text after it stays as it is.
    head = b"Metadata-Version: 2.4\nName: sluice-emulator\nLicense-File: LICENSE-MIT\nLicense-File: THIRD-PARTY"
    assert contents[f"{INFO}/METADATA"] == head + b"\n\nText: of the page\n"
    assert names[-1] == f"{INFO}/RECORD" and modes["sluice/_native.abi3.so"] == 0o755
    rows = [line.split(",") for line in contents[f"{INFO}/RECORD"].decode().splitlines()]
    assert [row[0] for row in rows] == names and rows[-1][1:] == ["", ""]
    for name, digest, size in rows[:-1]:
        expected = base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).decode().rstrip("=")
        assert digest == f"sha256={expected}" and int(size) == len(contents[name])


def test_the_newest_glibc_is_found():
    assert wheel.glibc(FILES) == "2.34"


@pytest.mark.slow
def test_the_list_of_crates_is_the_same_each_time(tmp_path):
    words = [sys.executable, REPOSITORY / "checks" / "dependencies.py", "--wheel", "--sbom"]
    for name in ("a", "b"):
        subprocess.run([*words, tmp_path / name], check=True)
    text = (tmp_path / "a").read_text()
    assert text == (tmp_path / "b").read_text() and str(REPOSITORY) not in text and os.path.expanduser("~") not in text
    value = json.loads(text)
    crates = {crate["name"]: crate for crate in value["components"]}
    assert value["specVersion"] == "1.5" and value["metadata"]["component"]["name"] == "sluice-python"
    # A crate of the registry has the checksum of the lock file; a crate of this repository has none.
    lock = (REPOSITORY / "python" / "Cargo.lock").read_text()
    checksum = lock.split('name = "pyo3"\n')[1].split('checksum = "')[1].split('"')[0]
    assert crates["pyo3"]["hashes"] == [{"alg": "SHA-256", "content": checksum}]
    assert "hashes" not in crates["sluice-asic"] and crates["pyo3"]["licenses"] == [{"expression": "MIT OR Apache-2.0"}]
    known = {*(crate["bom-ref"] for crate in value["components"]), value["metadata"]["component"]["bom-ref"]}
    assert {ref for one in value["dependencies"] for ref in (one["ref"], *one["dependsOn"])} == known
