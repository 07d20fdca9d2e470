#!/usr/bin/env python3
"""Packs a wheel twice, the second time from entries in another order and of another time, and compares the bytes.

    checks/wheel.py WHEEL

`checks/release.py` packs wheels by this module: with licences, notices, a list of components, completions and manual pages. A
packed wheel has no times and no owners, so the same native module gives the same wheel. Its `RECORD` lists the SHA-256 of each
file, as installers expect.
"""
import argparse
import base64
import hashlib
import io
import re
import sys
import zipfile

NEVER = (1980, 1, 1, 0, 0, 0)
"""The earliest time of a zip file."""


def entries(wheel):
    """Contents of a wheel's files by name, without the list that is made last."""
    with zipfile.ZipFile(wheel) as packed:
        files = {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}
    return {name: data for name, data in files.items() if not name.endswith(".dist-info/RECORD")}


def info_folder(files):
    found = {name.split("/")[0] for name in files if re.match(r"[^/]+\.dist-info/METADATA$", name)}
    if len(found) != 1:
        sys.exit(f"a wheel has one folder *.dist-info, and this has {len(found)}")
    return found.pop()


def with_parts(files, licences, sbom, shared):
    """The files with texts of licences by name, a list of components, and files below `share` of the environment by path."""
    info = info_folder(files)
    name = info.removesuffix(".dist-info")
    made = dict(files)
    head, blank, body = made[f"{info}/METADATA"].decode().partition("\n\n")
    head = [line for line in head.splitlines() if not line.startswith("License-File:")]
    head += [f"License-File: {file}" for file in sorted(licences)]
    made[f"{info}/METADATA"] = ("\n".join(head) + blank + body).encode()
    made |= {f"{info}/licenses/{file}": text for file, text in licences.items()}
    made[f"{info}/sboms/sluice.cdx.json"] = sbom
    return made | {f"{name}.data/data/share/{path}": data for path, data in shared.items()}


def packed(files):
    """Bytes of the wheel: files in order of their names, those of the `.dist-info` folder last, as the format recommends."""
    info = info_folder(files)
    record = f"{info}/RECORD"
    names = sorted(files, key=lambda name: (name.startswith(f"{info}/"), name))
    rows = []
    for name in names:
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(files[name])}\n")
    rows.append(f"{record},,\n")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in [*names, record]:
            entry = zipfile.ZipInfo(name, NEVER)
            entry.create_system = 3
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, "".join(rows) if name == record else files[name])
    return buffer.getvalue()


def glibc(files):
    """The newest version of glibc that a native module of the wheel names, as text."""
    versions = set()
    for name, data in files.items():
        if name.endswith(".so"):
            versions |= {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(\d+\.\d+)(?=[\0.])", data)}
    return ".".join(map(str, max(versions))) if versions else "none"


def check(wheel):
    """Packs a wheel twice, the second time from a copy with other times and another order, and compares the bytes."""
    parts = ({"LICENSE": b"text\n"}, b"{}\n", {"man/man1/sluice.1": b"page\n"})
    first = packed(with_parts(entries(wheel), *parts))
    other = io.BytesIO()
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(other, "w", zipfile.ZIP_STORED) as copy:
        for name in reversed(source.namelist()):
            copy.writestr(zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6)), source.read(name))
    if packed(with_parts(entries(other), *parts)) != first:
        sys.exit(f"{wheel}: two wheels of the same files differ")
    again = entries(io.BytesIO(first))
    if with_parts(again, *parts) != again:
        sys.exit(f"{wheel}: a wheel that is packed again is another one")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", metavar="WHEEL")
    check(parser.parse_args().wheel)


if __name__ == "__main__":
    main()
