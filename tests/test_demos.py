# SPDX-License-Identifier: GPL-3.0-or-later
"""Every demo is a test: what it bakes has the numbers that it had, and the .blend files fit their scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("bpy", reason="needs Blender's module")

from demos.pinned_numbers import LONG, NEVER_INVERTED, PINNED

ROOT = Path(__file__).resolve().parent.parent

# larger .blend files have meshes of their own that no modifier makes
LARGEST_BLEND = {
    "playground": 450_000,
    "dragon": 400_000,
    "clay_head": 400_000,
    "bending_arm": 400_000,
    "shaken_cheek": 400_000,
    "flag_ear_dog": 400_000,
    "jelly_bowl": 550_000,
    "squeezed_ball": 400_000,
    "arm_layers": 1_450_000,  # twelve muscles, and a skin with the weights of a rig; builds differ by 7 kB
}
DESCRIBE = """
import json, sys
from pathlib import Path
sys.path.insert(0, "demo_blends")
import bpy, make_demo, stage
def describe():
    scene = bpy.context.scene
    fields = ("role", "preset", "youngs_modulus", "poisson_ratio", "divisions", "method", "pin_group", "pin_stiffness",
              "collider_shape", "friction", "tet_size", "use_plasticity", "yield_strain", "flow", "use_heat",
              "use_fracture", "breaking_stress", "seed", "source_temperature", "source_radius",
              "body_friction", "motion", "bone_distance", "use_armature_bones", "rest_from_keys", "affect_group")
    objects = {}
    for obj in scene.objects:
        entry = {name: getattr(obj.sinew, name) for name in fields} if obj.sinew.role != "NONE" else {}
        entry["matrix"] = [round(value, 5) for row in obj.matrix_world for value in row]
        entry["modifiers"] = [(modifier.name, modifier.type) for modifier in obj.modifiers]
        if obj.type == "MESH":
            entry["vertices"] = len(obj.data.vertices)
        objects[obj.name] = entry
    settings = [scene.sinew.substeps, scene.sinew.preroll, scene.frame_start, scene.frame_end, scene.render.fps]
    return {"objects": objects, "settings": settings, "baked": scene.sinew.baked_path}
out = Path(sys.argv[1])
found = {}
for name in make_demo.SCENES:
    bpy.ops.wm.open_mainfile(filepath=str(make_demo.build(name, out)))
    stage.ensure_sinew()
    fresh = describe()
    bpy.ops.wm.open_mainfile(filepath=str(make_demo.HERE / (name + ".blend")))
    stage.ensure_sinew()
    found[name] = {"fresh": fresh, "kept": describe()}
print("FOUND " + json.dumps(found))
"""


def run(*arguments: str) -> str:
    """Runs this Python with `arguments` and returns what it printed."""
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=540,
        stdin=subprocess.DEVNULL,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-4000:]
    return result.stdout


@pytest.mark.parametrize("scene", [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in PINNED])
def test_a_demo_bakes_to_its_numbers(scene: str, tmp_path: Path):
    frames, bodies = PINNED[scene]
    printed = run("tests/demos/measure_demo.py", scene, str(frames), str(tmp_path))
    numbers = json.loads(next(line for line in printed.splitlines() if line.startswith("NUMBERS "))[8:])
    assert numbers["frames"] == frames and numbers["not_converged"] == 0
    assert set(numbers["bodies"]) == set(bodies)
    assert numbers["inverted"] == 0 or scene not in NEVER_INVERTED
    wrong = [
        f"{body}: {name} is {numbers['bodies'][body][name]}, was {was} ± {off}"
        for body, pinned in bodies.items()
        for name, (was, off) in pinned.items()
        if abs(numbers["bodies"][body][name] - was) > off
    ]
    assert not wrong, "\n".join(wrong)


def test_the_blend_files_fit_their_scripts(tmp_path: Path):
    printed = run("-c", DESCRIBE, str(tmp_path))
    found = json.loads(next(line for line in printed.splitlines() if line.startswith("FOUND "))[6:])
    for name, states in found.items():
        assert states["kept"] == states["fresh"], f"make {name}.blend anew: make_demo.py --only-build --out demo_blends"
        assert states["kept"]["baked"] == ""
        assert [o for o in states["kept"]["objects"].values() if o.get("role") == "BODY"]
        size = (ROOT / "demo_blends" / f"{name}.blend").stat().st_size
        assert size < LARGEST_BLEND.get(name, 300_000), f"{name}.blend has {size} bytes"
