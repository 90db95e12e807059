# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the command line in another Python: makes this package importable as `sinew`, whatever its folder is called.

    python -s bootstrap.py --package-dir FOLDER [--site FOLDER ...] COMMAND ARGUMENTS ...
    blender -b --python bootstrap.py -- --package-dir FOLDER [--site FOLDER ...] COMMAND ARGUMENTS ...

Inside Blender the package is called bl_ext.….sinew, and another Python does not know the folder of its wheels; the
arguments name both. Standard output is for JSON lines only; all other prints go to standard error.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import sys
from pathlib import Path

PACKAGE_NAME = "sinew"
# Options of glibc's `mallopt`: the process keeps the memory of arrays below 32 MB, and up to 64 MB of free memory.
# glibc arrives at these values by itself after large arrays; until then it requests and returns pages again and again,
# a twentieth of the time of a small bake.
MALLOPT_THRESHOLDS = {-3: 32 << 20, -1: 64 << 20}  # M_MMAP_THRESHOLD and M_TRIM_THRESHOLD [bytes]


def main(arguments: list[str]) -> int:
    """Runs the command line and returns its exit code."""
    package, sites, rest = _split_arguments(arguments)
    _raise_malloc_thresholds()
    # Python puts the folder of a script on the path, but the modules here are not top-level modules.
    here = Path(__file__).resolve().parent
    sys.path[:] = [folder for folder in sys.path if not folder or Path(folder).resolve() != here]
    sys.path[:] = [folder for folder in sys.path if folder] + [site for site in sites if site not in sys.path]
    _import_package(package)
    importlib.import_module(f"{PACKAGE_NAME}.solver.runtime.reproducible_library_environment").fix_numeric_environment()
    with importlib.import_module(f"{PACKAGE_NAME}.solver.runtime.preload").loading_permanently():
        command_line = importlib.import_module(f"{PACKAGE_NAME}.solver.__main__")
    return int(command_line.main(rest))


def _raise_malloc_thresholds() -> None:
    """Lets glibc reuse the memory of arrays."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in MALLOPT_THRESHOLDS.items():
            mallopt(option, value)


def _split_arguments(arguments: list[str]) -> tuple[Path, list[str], list[str]]:
    """Splits the arguments into the package's folder, the folders of its wheels, and the command."""
    package, sites, rest = Path(__file__).resolve().parents[2], [], list(arguments)
    while len(rest) > 1 and rest[0] in ("--package-dir", "--site"):
        option, value, *rest = rest
        if option == "--site":
            sites.append(value)
        else:
            package = Path(value)
    return package, sites, rest


def _import_package(folder: Path) -> None:
    spec = importlib.util.spec_from_file_location(
        PACKAGE_NAME, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no package in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE_NAME] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    code = main(words)
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: Blender would run its own shutdown, and threads of Numba may delay it.
    os._exit(code)
