#!/usr/bin/env python3
"""Builds the binary and the wheel, and packs them with completions, manual pages, licences, notices and the list of their crates.

    checks/release.py                     target/dist: sluice-VERSION-PLATFORM.tar.gz, the wheel, and SHA256SUMS
    checks/release.py --no-wheel          without the wheel
    checks/release.py --image             also sluice-VERSION-PLATFORM.oci.tar, a container image; needs buildah or podman
    checks/release.py --profile NAME      builds the binary with this profile of Cargo.toml in place of dist
    checks/release.py --binary FILE       packs this binary instead of building one
    checks/release.py --wheel FILE        packs this wheel of maturin's instead of building one
    checks/release.py --most-bytes N      fails if the binary has more bytes
    checks/release.py --environment       prints the build's settings, NAME=VALUE and a zero byte each, for other builds to share

Archive, wheel and image have no times and no owners, so the same binary gives the same archive and image, and the same native module
the same wheel. A binary or a module that holds a path of the machine that built it is refused. `sha256sum -c SHA256SUMS` checks the files.
The wheel is built by maturin, from a virtual environment in the folder of the build.
"""
import argparse
import glob
import gzip
import hashlib
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
import image as images  # noqa: E402
import wheel as wheels  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHELLS = {"bash": "sluice.bash", "zsh": "_sluice", "fish": "sluice.fish"}
# Where shells look for completions below the `share` of an environment.
WHEEL_PLACES = {
    "completions/sluice.bash": "bash-completion/completions/sluice",
    "completions/_sluice": "zsh/site-functions/_sluice",
    "completions/sluice.fish": "fish/vendor_completions.d/sluice.fish",
}
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


def build_wheel():
    """Builds the wheel and returns its path."""
    venv, out = os.path.join(target(), "venv"), os.path.join(target(), "wheels")
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([python, "-m", "pip", "--quiet", "install", "maturin>=1.9,<2"], check=True)
    for old in glob.glob(os.path.join(out, "*.whl")):
        os.remove(old)
    command = [os.path.join(venv, "bin", "maturin"), "build", "--release", "--locked", "--interpreter", python, "--out", out]
    subprocess.run(command, cwd=os.path.join(ROOT, "python"), check=True, env=os.environ | environment() | {"CARGO_TARGET_DIR": target()})
    (path,) = glob.glob(os.path.join(out, "*.whl"))
    return path


def refuse_paths(name, data):
    for path in machine_paths():
        if path.encode() in data:
            sys.exit(f"{name} holds the path {path} of this machine: let checks/release.py build it")


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def shell_files(binary):
    """Completions and manual pages by their names in an archive."""
    files = {}
    for shell, file in SHELLS.items():
        files[f"completions/{file}"] = subprocess.check_output([binary, "completions", shell])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "man", "-o", folder], check=True)
        for page in sorted(os.listdir(folder)):
            if page.endswith(".1"):
                files[f"man/man1/{page}"] = read(folder, page)
    return files


def licences(product):
    """Notices of the crates in a product, and of Rust's library."""
    rust = read(sysroot(), "share", "doc", "rust", "COPYRIGHT-library.html")
    return {"THIRD-PARTY": dependencies.notices(product).encode(), "THIRD-PARTY-rust-library.html": rust}


def write_archive(binary, name, shells, output):
    """Packs the binary and returns the path of the archive."""
    files = {"sluice": read(binary), **shells, **licences(dependencies.BINARY)}
    refuse_paths(binary, files["sluice"])
    files |= {page: read(ROOT, page) for page in PAGES}
    files["sluice.cdx.json"] = dependencies.sbom(dependencies.BINARY).encode()
    path = os.path.join(output, f"{name}.tar.gz")
    with open(path, "wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for entry, data in sorted(files.items()):
            info = tarfile.TarInfo(f"{name}/{entry}")
            info.size, info.mode = len(data), 0o755 if entry == "sluice" else 0o644
            tar.addfile(info, io.BytesIO(data))
    return path


def write_wheel(built, shells, output):
    """Packs a wheel of maturin's again, with all that belongs to it, and returns its path."""
    texts = {page: read(ROOT, page) for page in PAGES if page.startswith("LICENSE-")} | licences(dependencies.WHEEL)
    shared = {WHEEL_PLACES.get(name, name): data for name, data in shells.items()}
    files = wheels.with_parts(wheels.entries(built), texts, dependencies.sbom(dependencies.WHEEL).encode(), shared)
    for name, data in sorted(files.items()):
        refuse_paths(f"{name} of {built}", data)
    path = os.path.join(output, os.path.basename(built))
    with open(path, "wb") as out:
        out.write(wheels.packed(files))
    print(f"{path}: {os.path.getsize(path)} bytes; needs glibc {wheels.glibc(files)}")
    return path


def write_image(binary, name, output):
    """Builds the container image and returns the path of its archive."""
    texts = {page: read(ROOT, page) for page in PAGES if page.startswith("LICENSE-")} | licences(dependencies.BINARY)
    path = images.build(binary, texts, os.path.join(output, f"{name}.oci.tar"))
    print(f"{path}: {os.path.getsize(path)} bytes")
    return path


def write_sums(paths, output):
    """Writes the SHA-256 of files as `sha256sum` does."""
    lines = [f"{hashlib.sha256(read(path)).hexdigest()}  {os.path.basename(path)}\n" for path in sorted(paths)]
    with open(os.path.join(output, "SHA256SUMS"), "w", encoding="utf-8") as out:
        out.writelines(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", help="a binary that exists")
    parser.add_argument("--wheel", help="a wheel of maturin's that exists")
    parser.add_argument("--no-wheel", action="store_true", help="the archive alone")
    parser.add_argument("--image", action="store_true", help="a container image, too")
    parser.add_argument("--profile", default="dist", help="profile of the binary's build")
    parser.add_argument("--most-bytes", type=int, help="largest size of the binary")
    parser.add_argument("--output", default=os.path.join(ROOT, "target", "dist"), help="folder of archive and wheel")
    parser.add_argument("--environment", action="store_true", help="prints the build's settings")
    args = parser.parse_args()
    if args.environment:
        print("".join(f"{name}={value}\0" for name, value in environment().items()), end="")
        return
    binary = args.binary or build(args.profile)
    size = os.path.getsize(binary)
    doctor = json.loads(subprocess.check_output([binary, "doctor", "--json"]))
    os.makedirs(args.output, exist_ok=True)
    shells = shell_files(binary)
    name = f"sluice-{doctor['version']}-{doctor['platform']}"
    archive = write_archive(binary, name, shells, args.output)
    print(f"{archive}: {os.path.getsize(archive)} bytes; the binary has {size}")
    made = [archive]
    if not args.no_wheel:
        made.append(write_wheel(args.wheel or build_wheel(), shells, args.output))
    if args.image:
        made.append(write_image(binary, name, args.output))
    write_sums(made, args.output)
    if args.most_bytes and size > args.most_bytes:
        sys.exit(f"the binary has {size} bytes; at most {args.most_bytes} are allowed")


if __name__ == "__main__":
    main()
