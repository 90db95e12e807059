# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles all kernels for one Python and system and packs them as a wheel, so that no artist waits for a compiler.

Kernels belong to one system and one version of Python, which has to run here: this one, another one of this machine,
that of the Blender of tests/window, or the one for Windows of tests/windows.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from inner_kernels import inner_kernels

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "kernels"
CONSTRAINTS = ROOT / "requirements" / "constraints.txt"
PACKAGE = "sinew_kernels"  # solver/runtime/kernel_cache/cache_folder.py looks for it
STAMP = "all-compiled"  # what the same file calls the stamp
MAX_WHEEL_BYTES = 15_000_000
FIXED_DATE = (2026, 1, 1, 0, 0, 0)
# the processor that kernels are compiled for, which solver/runtime/kernel_cache/kernel_target.py finds on a machine
TARGETS = {"linux-x64": "x86-64-v3", "windows-x64": "x86-64-v3", "macos-arm64": "apple-m1"}
WHEEL_PLATFORMS = {
    "linux-x64": "manylinux_2_28_x86_64",
    "windows-x64": "win_amd64",
    "macos-arm64": "macosx_11_0_arm64",
}
# sysconfig's names of the systems
SYSTEMS = {"linux-x64": "linux-x86_64", "windows-x64": "win-amd64", "macos-arm64": "macosx"}
PYTHONS_VARIABLE = "SINEW_PYTHONS"  # more Pythons of this machine to compile with, as in PATH
PRINT_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


@dataclass(frozen=True)
class Interpreter:
    """A Python that can be run here.

    Attributes:
        command: What runs it; "{folder}" and "{variables}" are replaced.
        folder: How it calls the folder that is shared with it.
        has_numpy: Whether it brings a NumPy of its own.
    """

    command: tuple[str, ...]
    folder: str = "{folder}"
    has_numpy: bool = False

    def run(self, shared: Path, arguments: Sequence[str], variables: dict[str, str]) -> None:
        """Runs Python; arguments and variables name files below `shared` as "{shared}/…"."""
        inside = self.folder.replace("{folder}", str(shared))
        given = {name: value.replace("{shared}", inside) for name, value in variables.items()}
        words = [word.replace("{shared}", inside) for word in arguments]
        before: list[str] = []
        for word in self.command:
            options = [part for name, value in given.items() for part in ("-e", f"{name}={value}")]
            before += options if word == "{variables}" else [word.replace("{folder}", str(shared))]
        subprocess.run([*before, *words], check=True, env={**os.environ, **given})


def kernel_wheel(
    tag: str, version: str, platform: str, sinew: str, sources: Sequence[Path], wheels: Sequence[Path]
) -> Path | None:
    """Returns a wheel with all kernels, compiled where it is not here; None: no such Python runs here, or it failed.

    Args:
        tag, version: Of Python, such as "cp311" and "3.11".
        platform: Blender's name of the system.
        sinew: Sinew's version.
        sources: The files of the extension.
        wheels: What the extension bundles.
    """
    interpreter = next(_interpreters(version, platform), None)
    if interpreter is None:
        return None
    shared = FOLDER / f"{version}-{platform}"
    _stage(shared, version, platform, sources, wheels, interpreter.has_numpy)
    variables = {
        "SINEW_DEVELOP": "0",
        "SINEW_KERNEL_CACHE": "{shared}/kernels",
        "NUMBA_CPU_NAME": TARGETS[platform],
        "NUMBA_CPU_FEATURES": "",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
    }
    bootstrap = ["-s", "{shared}/sinew/solver/cli/bootstrap.py", "--package-dir", "{shared}/sinew"]
    try:
        interpreter.run(shared, [*bootstrap, "--site", "{shared}/site", "warm-up"], variables)
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"kernels for Python {version} on {platform} could not be compiled: {problem}", file=sys.stderr)
        return None
    (stamp,) = (shared / "kernels").glob(f"*/{STAMP}")
    name = f"{sinew}+{stamp.parent.name.rpartition('-')[2][:8]}"
    wheel = shared / f"{PACKAGE}-{name}-{tag}-{tag}-{WHEEL_PLATFORMS[platform]}.whl"
    _pack(wheel, name, stamp.parent, inner_kernels(file for file in sources if file.suffix == ".py"))
    if wheel.stat().st_size > MAX_WHEEL_BYTES:
        raise SystemExit(f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB, too many")
    return wheel


def _interpreters(version: str, platform: str) -> Iterator[Interpreter]:
    """Yields the Pythons of a version and system that run here."""
    if sysconfig.get_platform().startswith(SYSTEMS[platform]):
        for python in _local_pythons(version):
            if _prints(version, [python]):
                yield Interpreter((python,))
    for interpreter in _other_pythons(platform):
        command = [word for word in interpreter.command if word != "{variables}"]
        if _prints(version, [word.replace("{folder}", str(FOLDER)) for word in command]):
            yield interpreter


def _local_pythons(version: str) -> Iterator[str]:
    yield sys.executable
    yield from filter(None, os.environ.get(PYTHONS_VARIABLE, "").split(os.pathsep))
    yield from filter(None, [shutil.which(f"python{version}")])
    for found in sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")):
        yield str(found)


def _other_pythons(platform: str) -> Iterator[Interpreter]:
    """Yields the Pythons of tests/window and tests/windows, where their scripts have made them."""
    if platform == "linux-x64":
        enter = (ROOT / os.environ.get("REAL_BLENDER_TOOLS", "../shared/tools/real_blender")).resolve() / "enter.sh"
        blender = Path(os.environ.get("SINEW_WINDOW_BLENDER", "/var/tmp/sinew-blender52"))
        if enter.is_file() and (blender / "made").is_file():
            bind = ("-b", "{folder}:/kernels")
            yield Interpreter((str(enter), str(blender), *bind, "{variables}", "python3"), "/kernels", has_numpy=True)
    if platform == "windows-x64":
        enter = (ROOT / os.environ.get("WINDOWS_TOOLS", "../shared/tools/windows")).resolve() / "enter.sh"
        windows = Path(os.environ.get("SINEW_WINDOWS_PYTHON", "/var/tmp/sinew-windows-5.0"))
        if enter.is_file() and (windows / "made").is_file() and shutil.which("wine"):
            yield Interpreter((str(enter), str(windows)), "Z:{folder}", has_numpy=True)


def _prints(version: str, command: Sequence[str]) -> bool:
    """Returns whether a command runs a Python of a version."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        ended = subprocess.run([*command, "-c", PRINT_VERSION], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.stdout.strip() == version


def _stage(
    shared: Path, version: str, platform: str, sources: Sequence[Path], wheels: Sequence[Path], has_numpy: bool
) -> None:
    """Lays out the package as it is installed; kernels that were compiled from the same files stay."""
    total = hashlib.sha256()
    for file in (*sources, *wheels):
        content = file.name if file.suffix == ".whl" else hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{file.name}\0{content}\0".encode())
    mark = shared / "made-from.txt"
    if mark.is_file() and mark.read_text() == total.hexdigest():
        return
    shutil.rmtree(shared, ignore_errors=True)
    for file in sources:
        there = shared / "sinew" / file.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, there)
    for wheel in (*wheels, *([] if has_numpy else [_numpy(version, platform)])):
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(shared / "site")
    mark.write_text(total.hexdigest(), newline="\n")


def _numpy(version: str, platform: str) -> Path:
    """Returns the wheel of the NumPy that Blender brings with that Python."""
    lines = [line for line in CONSTRAINTS.read_text().splitlines() if line.startswith("numpy")]
    pins = [Requirement(line) for line in lines]
    (pin,) = [pin for pin in pins if pin.marker is None or pin.marker.evaluate({"python_version": version})]
    folder = FOLDER / "numpy" / f"{version}-{platform}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version", version, "--dest", str(folder), f"numpy{pin.specifier}"]
    if not list(folder.glob("*.whl")):
        subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def _pack(wheel: Path, version: str, folder: Path, left_out: Collection[str]) -> None:
    """Writes a wheel of the package whose one folder are these kernels, but for those of these names."""
    kept = [file for file in sorted(folder.iterdir()) if _function(file) not in left_out]
    files = {f"{PACKAGE}/{folder.name}/{file.name}": file.read_bytes() for file in kept}
    files[f"{PACKAGE}/__init__.py"] = b'"""Compiled kernels of Sinew (GPL-3.0-or-later)."""\n'
    info = f"{PACKAGE}-{version}.dist-info"
    tag = "-".join(wheel.stem.split("-")[2:])
    metadata = f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {version}\n"
    files[f"{info}/METADATA"] = f"{metadata}Summary: Compiled kernels of Sinew\nLicense: GPL-3.0-or-later\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: sinew\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},sha256={_record_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(wheel, "w") as target:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, FIXED_DATE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, data, compresslevel=9)


def _function(file: Path) -> str:
    """Returns the name of the function in that of Numba's file: "MODULE.FUNCTION-LINE-…"."""
    return file.name.partition("-")[0].rpartition(".")[2]


def _record_digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
