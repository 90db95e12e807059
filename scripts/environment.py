# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a Python environment with the pinned packages, or keeps the one that is there (standard library only).

    python3 scripts/environment.py FOLDER [--peers] [REQUIREMENTS…]

Without REQUIREMENTS it is the environment to work in: what develops Sinew, and Sinew itself, editable. With --peers it
gets what `make bench` compares with, too, which stays when the rest is made anew.
The folder keeps a digest of what it was made from, so that the next call takes no time.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

import system_libraries

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS_FOLDER = ROOT / "requirements"
CONSTRAINTS = REQUIREMENTS_FOLDER / "constraints.txt"
ALL_REQUIREMENTS = ["runtime", "tets", "files", "blender", "develop"]
PEERS = REQUIREMENTS_FOLDER / "peers.txt"
PYTHONS = [(3, 11), (3, 13)]
MADE_FROM = "made-from.txt"
PEERS_MADE_FROM = "peers-made-from.txt"


def make(folder: Path, requirements: list[Path], editable: bool) -> None:
    """Makes or updates the environment in `folder`, unless it was made from the same pins."""
    wanted = _digest([*requirements, CONSTRAINTS, *([ROOT / "pyproject.toml"] if editable else [])])
    mark = folder / MADE_FROM
    python = _python(folder)
    if mark.is_file() and mark.read_text() == wanted and python.exists():
        return
    print(f"Making the Python environment {folder} (downloads about 600 MB the first time)", flush=True)
    mark.unlink(missing_ok=True)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if not python.exists() or not _is_version(python, version):
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    _install(python, requirements)
    if editable:
        _run([*_pip(python), "--no-deps", "--editable", str(ROOT)])
    mark.write_text(wanted, newline="\n")


def add_peers(folder: Path) -> None:
    """Adds what benchmarks compare with to the environment in `folder`, unless it has just these."""
    wanted = _digest([PEERS, CONSTRAINTS])
    mark = folder / PEERS_MADE_FROM
    if mark.is_file() and mark.read_text() == wanted:
        return
    print(f"Adding what benchmarks compare with to {folder} (downloads about 40 MB the first time)", flush=True)
    mark.unlink(missing_ok=True)
    _install(_python(folder), [PEERS])
    mark.write_text(wanted, newline="\n")


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _pip(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]


def _install(python: Path, requirements: list[Path]) -> None:
    _run([*_pip(python), "-c", str(CONSTRAINTS), *(option for path in requirements for option in ("-r", str(path)))])


def _is_version(python: Path, version: str) -> bool:
    command = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() == version


def _digest(files: list[Path]) -> str:
    total = hashlib.sha256(f"{sys.version_info[:2]} {ROOT}".encode())
    for path in files:
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest() + "\n"


def _run(command: list[str]) -> None:
    # pip as root inside an environment of its own is what is meant here: its warning would only confuse
    code = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    if code:
        print(f"This command failed with exit code {code}: {' '.join(command)}", file=sys.stderr)
        sys.exit(1)


def main() -> int:
    """Makes the environment that the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(description="Make a Python environment with the pinned packages.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("requirements", type=Path, nargs="*")
    parser.add_argument("--peers", action="store_true", help="and what `make bench` compares with")
    asked = parser.parse_args()
    if sys.version_info[:2] not in PYTHONS:
        found = ".".join(map(str, sys.version_info[:2]))
        known = " or ".join(f"{major}.{minor}" for major, minor in PYTHONS)
        print(
            f"This is Python {found}; Blender comes as a module for Python {known} only. "
            "Name one that you have: make PYTHON=python3.11 …",
            file=sys.stderr,
        )
        return 1
    code = system_libraries.main()
    if code:
        return code
    requirements = [path.resolve() for path in asked.requirements]
    make(
        asked.folder,
        requirements or [REQUIREMENTS_FOLDER / f"{name}.txt" for name in ALL_REQUIREMENTS],
        editable=not requirements,
    )
    if asked.peers:
        add_peers(asked.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
