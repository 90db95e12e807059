# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the extension: one zip per system and per Python that Blender comes with, wheels inside.

    python scripts/build_zip.py [--python cp311 …] [--platform linux-x64 …] [--out dist] [--no-kernels]

The wheels are those of requirements/runtime.txt and tets.txt, downloaded once into build/wheels and bundled unmodified.
NumPy is not among them, since Blender brings its own. Where the Python of a zip runs here, all kernels are compiled by
it, which takes two minutes and more, and bundled as a wheel of their own (kernel_wheel.py). Every zip is checked with
the code behind `blender --command extension validate`. But for the kernels, the same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

from kernel_wheel import PACKAGE as KERNEL_PACKAGE
from kernel_wheel import kernel_wheel

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = [ROOT / "requirements" / name for name in ("runtime.txt", "tets.txt")]
WHEELS = ROOT / "build" / "wheels"
MANIFEST = "blender_manifest.toml"
CONTENT = ["__init__.py", "__main__.py", "LICENSE", "README.md", "addon", "solver"]
EXCLUDED_NAMES = {"__pycache__", ".DS_Store"}
NO_KERNELS = "WITHOUT KERNELS: Sinew compiles them once"
FIXED_DATE = (2026, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class BlenderPython:
    """A Python that Blender comes with: its version, the Blenders from `first` up to before `end`, and where."""

    version: str
    first: str
    end: str | None
    label: str
    platforms: tuple[str, ...] = ("linux-x64", "windows-x64", "macos-arm64")


PYTHONS = {
    "cp311": BlenderPython("3.11", "4.5.0", "5.1.0", "blender4.5-5.0"),
    "cp313": BlenderPython("3.13", "5.1.0", None, "blender5.1-5.2"),
    # the Blender 5.2 of Debian, which uses the system's Python
    "cp314": BlenderPython("3.14", "5.2.0", None, "blender5.2-debian", ("linux-x64",)),
}
# Blender's name of a system → pip's names of the wheels that run there
PLATFORMS = {
    "linux-x64": ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64"],
    "windows-x64": ["win_amd64"],
    "macos-arm64": ["macosx_12_0_arm64", "macosx_11_0_arm64"],
}


def download(python: BlenderPython, platform: str) -> list[Path]:
    """Returns the wheels of the bundled requirements for one Python and system, fetched where they are not here."""
    folder = WHEELS / f"{python.version}-{platform}"
    pins = "".join(path.read_text() for path in BUNDLED)
    mark = folder / "pins.txt"
    if not mark.is_file() or mark.read_text() != pins:
        for old in folder.glob("*.whl"):
            old.unlink()
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", "--implementation", "cp", "--python-version", python.version]
        command += [option for name in PLATFORMS[platform] for option in ("--platform", name)]
        command += [option for path in BUNDLED for option in ("--requirement", str(path))]
        subprocess.run([*command, "--dest", str(folder)], check=True)
        mark.write_text(pins, newline="\n")
    return sorted(folder.glob("*.whl"))


def manifest(python: BlenderPython, platform: str, wheels: list[Path]) -> str:
    """Returns the text of the manifest of one zip: the repository's, with system, versions and wheels put in."""
    lines = [f'blender_version_min = "{python.first}"']
    if python.end:
        lines.append(f'blender_version_max = "{python.end}"')
    lines.append(f'platforms = ["{platform}"]')
    lines.append("wheels = [\n" + "".join(f'    "./wheels/{wheel.name}",\n' for wheel in wheels) + "]")
    text = (ROOT / MANIFEST).read_text(encoding="utf-8")
    before, found, after = text.partition('blender_version_min = "4.5.0"')
    if not found:
        raise SystemExit(f"{MANIFEST} does not name blender_version_min as expected")
    return before + "\n".join(lines) + after


def sources() -> list[Path]:
    """Returns the files of the package that go into every zip, sorted."""
    files = []
    for name in CONTENT:
        path = ROOT / name
        files += [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
    return sorted(file for file in files if not EXCLUDED_NAMES & set(file.parts) and file.suffix != ".pyc")


def build(python_tag: str, platform: str, out: Path, has_kernels: bool = True) -> Path:
    """Writes the zip for one Python and system into `out` and returns its path.

    With `has_kernels` it bundles compiled kernels, where they can be compiled here.
    """
    python = PYTHONS[python_tag]
    wheels = download(python, platform)
    version = tomllib.loads((ROOT / MANIFEST).read_text(encoding="utf-8"))["version"]
    if has_kernels:
        kernels = kernel_wheel(python_tag, python.version, platform, version, sources(), wheels)
        wheels += [kernels] if kernels else []
    text = manifest(python, platform, wheels)
    path = out / f"sinew-{version}-{python.label}-{platform}.zip"
    out.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as target:
        _add(target, MANIFEST, text.encode(), zipfile.ZIP_DEFLATED)
        for file in sources():
            _add(target, file.relative_to(ROOT).as_posix(), file.read_bytes(), zipfile.ZIP_DEFLATED)
        for wheel in wheels:
            _add(target, f"wheels/{wheel.name}", wheel.read_bytes(), zipfile.ZIP_STORED)
    part.replace(path)
    return path


def _add(target: zipfile.ZipFile, name: str, content: bytes, compression: int) -> None:
    entry = zipfile.ZipInfo(name, FIXED_DATE)
    entry.external_attr = 0o644 << 16
    entry.compress_type = compression
    target.writestr(entry, content)


def validate(path: Path) -> None:
    """Checks a zip with the code behind Blender's own command; ends the program when it is refused."""
    # found without importing bpy, which takes seconds
    tools = sorted(Path(sys.prefix).glob("lib/python3*/site-packages/bpy/*/scripts/addons_core/bl_pkg"))
    tools += sorted(Path(sys.prefix).glob("Lib/site-packages/bpy/*/scripts/addons_core/bl_pkg"))
    if not tools:
        raise SystemExit("no bpy in this environment to validate with: run `make environment` first")
    command = [sys.executable, str(tools[-1] / "cli" / "blender_ext.py"), "validate", str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{path.name} is no valid extension:\n{result.stdout}{result.stderr}")


def kernels_text(path: Path) -> str:
    """Returns whether a zip holds compiled kernels, and how large they are."""
    with zipfile.ZipFile(path) as packed:
        sizes = [
            entry.file_size for entry in packed.infolist() if entry.filename.startswith(f"wheels/{KERNEL_PACKAGE}")
        ]
    return f"kernels inside ({sizes[0] / 1e6:.1f} MB)" if sizes else NO_KERNELS


def main() -> None:
    """Builds and checks the zips that the command line asks for, and prints each with its size."""
    parser = argparse.ArgumentParser(description="Build the extension's zips, with the wheels inside.")
    parser.add_argument("--python", nargs="*", choices=list(PYTHONS), default=list(PYTHONS))
    parser.add_argument("--platform", nargs="*", choices=list(PLATFORMS), default=list(PLATFORMS))
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--no-kernels", action="store_true", help="bundle no compiled kernels: Sinew compiles them")
    parser.add_argument("--require-kernels", action="store_true", help="fail where kernels cannot be compiled here")
    asked = parser.parse_args()
    for python_tag in asked.python:
        for platform in [name for name in asked.platform if name in PYTHONS[python_tag].platforms]:
            path = build(python_tag, platform, asked.out, not asked.no_kernels)
            validate(path)
            text = kernels_text(path)
            print(f"{path}  {path.stat().st_size / 1e6:.1f} MB, valid, {text}", flush=True)
            if asked.require_kernels and text == NO_KERNELS:
                raise SystemExit(f"{path.name} holds no kernels")


if __name__ == "__main__":
    main()
