# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake costs beside its solver, and its memory: the benchmarks run, reduced."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("bpy")

ROOT = Path(__file__).resolve().parent.parent


def values(name: str, folder: Path) -> dict[str, float]:
    """Returns the values of a benchmark of the folder `speed`, run quickly."""
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT / 'benchmarks')!r}, {str(ROOT / 'tests')!r}]\n"
        f"import importlib, json; found = importlib.import_module('speed.{name}').run(True)\n"
        f"open(sys.argv[1], 'w').write(json.dumps(found.values))"
    )
    subprocess.run([sys.executable, "-c", code, str(folder / "values.json")], check=True, capture_output=True)
    return dict(json.loads((folder / "values.json").read_text()))


def test_the_parts_of_a_bake_are_told(tmp_path: Path) -> None:
    found = values("bake_overhead", tmp_path)
    assert found["tets"] > 100 and found["vertices"] == 1280
    assert min(found[name] for name in ("solver", "export", "beside the steps", "set-up", "synced write")) > 0.0
    parts = found["export"] + found["beside the steps"] + found["reading back"]
    assert found["share"] == pytest.approx(parts / found["solver"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory each stage takes")
def test_the_memory_of_a_bake_is_told_by_stage(tmp_path: Path) -> None:
    found = values("memory", tmp_path)
    stages = ("filling", "tying points", "before the first step", "steps")
    assert all(5e7 < found[f"quick {stage}"] <= found["quick peak"] for stage in stages)
    assert found["bytes per tet"] == pytest.approx(found["quick peak"] / found["quick tets"])
