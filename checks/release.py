#!/usr/bin/env python3
"""Builds the binary and packs it with completions, manual pages and licences.

    checks/release.py                     target/dist/sluice-VERSION-PLATFORM.tar.gz
    checks/release.py --binary FILE       packs this binary instead of building one
    checks/release.py --most-bytes N      fails if the binary has more bytes

The archive has no times and no owners, so the same binary gives the same archive.
"""
import argparse
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHELLS = {"bash": "sluice.bash", "zsh": "_sluice", "fish": "sluice.fish"}
PAGES = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "CITATION.cff"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", help="a binary that exists")
    parser.add_argument("--most-bytes", type=int, help="largest size of the binary")
    parser.add_argument("--output", default=os.path.join(ROOT, "target", "dist"), help="folder of the archive")
    args = parser.parse_args()
    binary = args.binary
    if not binary:
        subprocess.run(["cargo", "build", "--profile", "dist", "-p", "sluice", "--locked"], cwd=ROOT, check=True)
        target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
        binary = os.path.join(target, "dist", "sluice")
    size = os.path.getsize(binary)
    doctor = json.loads(subprocess.check_output([binary, "doctor", "--json"]))
    name = f"sluice-{doctor['version']}-{doctor['platform']}"
    files = {f"{name}/sluice": (open(binary, "rb").read(), 0o755)}
    for shell, file in SHELLS.items():
        script = subprocess.check_output([binary, "completions", shell])
        files[f"{name}/completions/{file}"] = (script, 0o644)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "man", "-o", folder], check=True)
        for page in sorted(os.listdir(folder)):
            if page.endswith(".1"):
                with open(os.path.join(folder, page), "rb") as text:
                    files[f"{name}/man/man1/{page}"] = (text.read(), 0o644)
    for page in PAGES:
        with open(os.path.join(ROOT, page), "rb") as text:
            files[f"{name}/{page}"] = (text.read(), 0o644)
    os.makedirs(args.output, exist_ok=True)
    path = os.path.join(args.output, f"{name}.tar.gz")
    with open(path, "wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for entry, (data, mode) in sorted(files.items()):
            info = tarfile.TarInfo(entry)
            info.size, info.mode = len(data), mode
            tar.addfile(info, io.BytesIO(data))
    print(f"{path}: {os.path.getsize(path)} bytes; the binary has {size}")
    if args.most_bytes and size > args.most_bytes:
        sys.exit(f"the binary has {size} bytes; at most {args.most_bytes} are allowed")


if __name__ == "__main__":
    main()
