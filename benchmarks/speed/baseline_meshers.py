# SPDX-License-Identifier: GPL-3.0-or-later
"""Other programs that fill surfaces with tets, as they are called here; loaded when they are asked."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sinew.solver.mesh.geometry.triangle_surface import Surface

TETGEN_CODE = """
import sys
import numpy as np
import tetgen
given = np.load(sys.argv[1])
nodes, tets = tetgen.TetGen(given["vertices"], given["triangles"]).tetrahedralize(order=1)[:2]
print("tets:", len(tets))
"""
TIMEOUT_SECONDS = 60.0  # [s]


def find_ftetwild() -> Callable[..., Any] | None:
    """Returns pytetwild's `tetrahedralize`, or None where it is not installed; it leaves files where it is called."""
    found = importlib.util.find_spec("pytetwild")
    if found is None or not found.submodule_search_locations:
        return None
    # the package itself would load PyVista and VTK, half a gigabyte, to register accessors that nobody needs here
    package = types.ModuleType("pytetwild")
    package.__path__ = list(found.submodule_search_locations)
    sys.modules.setdefault("pytetwild", package)
    return importlib.import_module("pytetwild.pytetwild").tetrahedralize


def run_tetgen(surface: Surface) -> str:
    """Returns what TetGen makes of a surface, in words: in a process of its own, since it may end that."""
    if importlib.util.find_spec("tetgen") is None:
        return "tetgen is not installed"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "surface.npz"
        np.savez(file, vertices=surface.vertices, triangles=surface.triangles)
        command = [sys.executable, "-c", TETGEN_CODE, str(file)]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, cwd=folder)
        except subprocess.TimeoutExpired:
            return f"fails: not done in {TIMEOUT_SECONDS:g} s"
    said = [line.strip() for line in (ended.stdout + ended.stderr).splitlines() if line.strip()]
    if ended.returncode == 0:
        return next((line for line in said if line.startswith("tets:")), "ends without a word")
    return f"fails: {said[-1] if said else f'exit code {ended.returncode}'}"
