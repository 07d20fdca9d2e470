"""The container image of a release: the binary, the libraries that it needs, and licences, on an empty base. buildah or podman
builds it without a registry, in a store that is removed afterwards."""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = "localhost/sluice"
# Where Debian states the licences of the libraries that Rust's programs need.
LIBRARIES = ["libc6", "libgcc-s1"]


def libraries(binary):
    """Paths of the libraries that a binary loads, the loader among them."""
    return re.findall(r"(/\S+) \(0x", subprocess.check_output(["ldd", binary], text=True))


def write(path, data, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)
    os.chmod(path, mode)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def prepare(root, binary, texts):
    """Writes the files of the image below a folder."""
    write(f"{root}/usr/bin/sluice", read(binary), 0o755)
    for library in libraries(binary):
        # The folder may be a link of this machine, such as /lib to /usr/lib; the image has the name that the loader looks for.
        write(f"{root}{library}", read(library), 0o755)
    for name, data in texts.items():
        write(f"{root}/usr/share/doc/sluice/{name}", data)
    for package in LIBRARIES:
        stated = f"/usr/share/doc/{package}/copyright"
        if os.path.exists(stated):
            write(f"{root}{stated}", read(stated))


def settle(path):
    """Packs an archive again, without the times and the order of this run."""
    packed = f"{path}.packed"
    with tarfile.open(path) as found, tarfile.open(packed, "w") as out:
        for member in sorted((m for m in found.getmembers() if m.isfile()), key=lambda m: m.name):
            info = tarfile.TarInfo(member.name)
            info.size, info.mode = member.size, 0o644
            out.addfile(info, found.extractfile(member))
    os.replace(packed, path)


def build(binary, texts, path):
    """Writes the image as an archive that `podman load` takes. buildah also runs the binary in it once."""
    tool = shutil.which("buildah") or shutil.which("podman")
    if tool is None:
        sys.exit("--image: neither buildah nor podman is installed; install one of them, such as by `apt-get install buildah`")
    is_buildah = os.path.basename(tool) == "buildah"
    if os.path.exists(path):
        os.remove(path)
    with tempfile.TemporaryDirectory() as folder:
        prepare(f"{folder}/context/root", binary, texts)
        store = [tool, "--root", f"{folder}/store", "--runroot", f"{folder}/run", "--storage-driver", "vfs"]

        def call(*words):
            done = subprocess.run([*store, *words], text=True, capture_output=True)
            if done.returncode != 0:
                sys.exit(f"--image: `{tool} {' '.join(words)}` ends with code {done.returncode}: {done.stderr.strip()}")
            return done.stdout.strip()

        file = ["--file", os.path.join(ROOT, "Containerfile"), "--isolation", "chroot", "--timestamp", "0"]
        call("bud" if is_buildah else "build", "--quiet", *file, "--tag", NAME, f"{folder}/context")
        if is_buildah:
            call("push", "--quiet", NAME, f"oci-archive:{path}:{NAME}")
            settle(path)
            started = call("from", f"oci-archive:{path}")
            said = call("run", "--isolation", "chroot", started, "--", "/usr/bin/sluice", "report", "ecmp")
            if not said.startswith("ecmp on tofino2: fits"):
                sys.exit(f"{path}: `sluice report ecmp` in the image prints {said[:200]!r}")
        else:
            call("save", "--quiet", "--format", "oci-archive", "--output", path, NAME)
            settle(path)
    return path
