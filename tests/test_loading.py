# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake loads what it needs; a solver that waits has loaded all."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from sinew.solver.runtime import preload
from speed.bake_startup import write_cube

# of what a cube that falls does not need
IDLE = (
    "scipy.spatial", "sinew.solver.simulation.flesh.flesh_bodies",
    "sinew.solver.constraints.bones.build_bones",
    "sinew.solver.mesh.cutting.cut", "sinew.solver.linalg.multigrid.solve",
    "sinew.solver.bake.warmup.compile_small_scene",
)  # fmt: skip


def _told(code: str) -> str:
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()[-1]


@pytest.mark.slow
def test_what_falls_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    write_cube(tmp_path / "cube.sinew", is_held=False)
    code = f"""
import sys
from sinew.solver.__main__ import main
assert main(["simulate", {str(tmp_path / "cube.sinew")!r}]) == 0
print(*[name for name in {IDLE!r} if name in sys.modules])
"""
    # the first bake on a machine compiles, and loads what that needs
    assert _told(code) == "" or _told(code) == ""


def test_all_is_loaded_ahead() -> None:
    code = """
import sys
from sinew.solver.runtime.preload import preload_modules
preload_modules()
from sinew.solver import __path__ as folders
print(*[name for name in ("sinew.solver.bake.postprocess.finish_cache", "sinew.solver.bake.warmup.compile_flesh",
    "scipy.spatial") if name not in sys.modules])
"""
    assert _told(code) == ""


def test_what_is_loaded_to_stay_is_not_looked_through() -> None:
    before = gc.get_freeze_count()
    try:
        with pytest.raises(ImportError), preload.loading_permanently():
            assert not gc.isenabled()
            raise ImportError
        assert gc.isenabled() and gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
