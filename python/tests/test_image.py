"""Packing of container images by checks/image.py."""

import importlib.util
import io
import sys
import tarfile

import pytest
from conftest import REPOSITORY

_SPEC = importlib.util.spec_from_file_location("checks_image", REPOSITORY / "checks" / "image.py")
image = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(image)


def write(path, names, time):
    """Write an archive of these files, each of which holds its name, with this time."""
    with tarfile.open(path, "w") as out:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.uid = len(name), time, time
            out.addfile(info, io.BytesIO(name.encode()))


def test_an_archive_depends_on_its_files_alone(tmp_path):
    write(tmp_path / "a.tar", ["index.json", "blobs/sha256/1"], 5)
    write(tmp_path / "b.tar", ["blobs/sha256/1", "index.json"], 77)
    for name in ["a.tar", "b.tar"]:
        image.settle(str(tmp_path / name))
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
    with tarfile.open(tmp_path / "a.tar") as packed:
        assert packed.getnames() == ["blobs/sha256/1", "index.json"]
        assert packed.extractfile("index.json").read() == b"index.json"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar", "b.tar"]


@pytest.mark.skipif(sys.platform != "linux", reason="asks ldd")
def test_an_image_has_the_binary_its_libraries_and_texts(tmp_path):
    image.prepare(str(tmp_path), "/bin/cat", {"LICENSE-MIT": b"mit\n"})
    assert (tmp_path / "usr/bin/sluice").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "usr/share/doc/sluice/LICENSE-MIT").read_bytes() == b"mit\n"
    names = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert any(name.startswith("libc.so") for name in names)
    assert any(name.startswith("ld-linux") for name in names)


def test_without_a_tool_the_message_names_both(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="neither buildah nor podman is installed; install one of them"):
        image.build("/bin/cat", {}, str(tmp_path / "image.tar"))
