#!/usr/bin/env python3
"""Builds the binary and packs it with completions, manual pages, licences and the notices of the crates in it.

    checks/release.py                     target/dist/sluice-VERSION-PLATFORM.tar.gz
    checks/release.py --profile NAME      builds with this profile of Cargo.toml in place of dist
    checks/release.py --binary FILE       packs this binary instead of building one
    checks/release.py --most-bytes N      fails if the binary has more bytes
    checks/release.py --environment       prints the build's settings, NAME=VALUE and a zero byte each, for other builds to share

The archive has no times and no owners, so the same binary gives the same archive. A binary that holds a path of the machine
that built it is refused.
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

# The folder of checks stays as it is.
sys.dont_write_bytecode = True
import dependencies  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHELLS = {"bash": "sluice.bash", "zsh": "_sluice", "fish": "sluice.fish"}
PAGES = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "CITATION.cff"]


def sysroot():
    return subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()


def target():
    return os.path.abspath(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")))


def machine_paths():
    """Folders of this machine from which code comes, with what stands for them in a binary."""
    home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    return {ROOT: "sluice", target(): "target", home: "cargo", sysroot(): "rust"}


def environment():
    """Settings by which a build writes names for folders of this machine."""
    rust = [f"--remap-path-prefix={path}={name}" for path, name in machine_paths().items()]
    # C code that crates compile has the names of its files too.
    c = [f"-ffile-prefix-map={path}={name}" for path, name in machine_paths().items()]
    # `sluice new` has no checkout that crates could depend on.
    return {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(rust), "CFLAGS": " ".join(c), "SLUICE_CHECKOUT": ""}


def build(profile):
    """Builds the binary and returns its path."""
    command = ["cargo", "build", "--profile", profile, "-p", "sluice", "--features", dependencies.FEATURES, "--locked"]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | environment())
    return os.path.join(target(), profile, "sluice")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", help="a binary that exists")
    parser.add_argument("--profile", default="dist", help="profile of the build")
    parser.add_argument("--most-bytes", type=int, help="largest size of the binary")
    parser.add_argument("--output", default=os.path.join(ROOT, "target", "dist"), help="folder of the archive")
    parser.add_argument("--environment", action="store_true", help="prints the build's settings")
    args = parser.parse_args()
    if args.environment:
        print("".join(f"{name}={value}\0" for name, value in environment().items()), end="")
        return
    binary = args.binary or build(args.profile)
    size = os.path.getsize(binary)
    doctor = json.loads(subprocess.check_output([binary, "doctor", "--json"]))
    name = f"sluice-{doctor['version']}-{doctor['platform']}"
    with open(binary, "rb") as code:
        files = {f"{name}/sluice": (code.read(), 0o755)}
    for path in machine_paths():
        if path.encode() in files[f"{name}/sluice"][0]:
            sys.exit(f"{binary} holds the path {path} of this machine: build it without --binary")
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
    files[f"{name}/THIRD-PARTY"] = (dependencies.notices().encode(), 0o644)
    with open(os.path.join(sysroot(), "share", "doc", "rust", "COPYRIGHT-library.html"), "rb") as text:
        files[f"{name}/THIRD-PARTY-rust-library.html"] = (text.read(), 0o644)
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
