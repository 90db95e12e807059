# SPDX-License-Identifier: GPL-3.0-or-later
"""CONTRIBUTING.md shows how to add things: its diffs work in a copy of the tree, and its quotations are in the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.solver.scene.scene import Body, Heat, Scene

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAX_FILES_BESIDE_ITS_OWN = 3


def section(heading: str) -> str:
    """Returns the text below a heading of the guide, up to the next one."""
    return GUIDE[GUIDE.index(heading) + len(heading) :].split("\n##", 1)[0]


def patched_tree(folder: Path, heading: str) -> tuple[Path, list[str]]:
    """Returns a copy of the tree with the diff below a heading, and the files that it changes."""
    if shutil.which("git") is None:
        pytest.skip("takes git")
    match = re.search(r"```diff\n(.*?)```", section(heading), re.DOTALL)
    assert match is not None, heading
    root = folder / "sinew"
    for part in ("solver", "addon", "scripts", "tests"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    subprocess.run(["git", "apply", "-"], input=match[1], cwd=root, text=True, check=True)
    return root, re.findall(r"^\+\+\+ b/(\S+)", match[1], re.MULTILINE)


def run_in(folder: Path, *arguments: str) -> str:
    """Returns what a new Python prints that finds the package in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


PROLOGUE = """
import sys
sys.path.insert(0, {tests!r})
import bpy, sinew
sinew.register()
from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from types import SimpleNamespace
from sinew.addon.objects import roles
assert sinew.__file__.startswith({root!r}), sinew.__file__
scene = fresh()
obj = add_box(divisions=3)
"""


def run_added(folder: Path, root: Path, code: str, **words: object) -> str:
    """Returns what code prints about a box in a fresh scene of the add-on in `root`, with `words` filled in."""
    return run_in(folder, "-c", (PROLOGUE + code).format(tests=str(ROOT / "tests"), root=str(root), **words))


ADDED_SETTING = """
import dataclasses
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.export.body_features import read_heat
from sinew.addon.panels import heat_layout
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Body, Heat, Scene
from sinew.solver.scene.serialisation.range_check import check_ranges
import numpy as np

roles.make_body(obj)
obj.sinew.use_heat = True
print("DIGEST", settings_digest(scene))
body = Body(np.zeros((3, 3)), np.array([[0, 1, 2]], np.int32), key="a", name="A", heat=Heat())
print("SCENE", Scene((body,)).digest())
obj.sinew.preset = "WAX"
obj.sinew.{name} = {value}
assert obj.sinew.preset == "CUSTOM", "it is a value of the material"
obj.sinew.preset = "WAX"
assert obj.sinew.{name} == 0.0, "which presets fill in"
obj.sinew.{name} = {value}
print("CHANGED", settings_digest(scene))
heat = read_heat(obj.sinew)
print("FIELD", round(heat.{field}, 9))
print("SCENE", Scene((dataclasses.replace(body, heat=heat),)).digest())
layout = FakeLayout()
preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))
region = SimpleNamespace(width=300)
heat_layout.draw_heat(layout, SimpleNamespace(scene=scene, object=obj, preferences=preferences, region=region))
print("DRAWN", *(line for line in layout.lines if "Expansion" in line))
try:
    check_ranges(dataclasses.replace(heat, {field}=-1.0))
except BadInput as problem:
    print("REFUSED", problem.sentence)
sys.path.insert(0, {root!r} + "/scripts")
import settings_page
print("MANUAL", [line for line in settings_page.page().splitlines() if "`{name}`" in line])
"""


@pytest.mark.slow
def test_the_setting_of_the_guide_takes_two_files(tmp_path: Path) -> None:
    root, changed = patched_tree(tmp_path, "### A setting")
    assert len(changed) == 2 and all(name.startswith("solver/scene/") for name in changed), changed
    words = {"name": "expansion", "field": "expansion", "value": 2.5e-4}
    result = run_added(tmp_path, root, ADDED_SETTING, **words)
    lines = result.splitlines()
    said = {line.split()[0]: line for line in lines if line and line.split()[0].isupper()}
    scenes = [line.split()[1] for line in lines if line.startswith("SCENE")]
    made = fresh()
    obj = add_box(divisions=3)
    roles.make_body(obj)
    obj.sinew.use_heat = True
    assert said["DIGEST"].split()[1] == settings_digest(made), "bakes of before stay up to date"
    assert said["CHANGED"].split()[1] != said["DIGEST"].split()[1]
    assert said["FIELD"] == "FIELD 0.00025"
    assert "Thermal Expansion (1/K)" in said["DRAWN"]
    assert "Thermal Expansion" in said["REFUSED"] and "0 1/K or more" in said["REFUSED"]
    assert "Thermal Expansion" in said["MANUAL"]
    assert len(set(scenes)) == 2 and scenes[0] == _scene_digest(), "bakes of before can be resumed"


ADDED_PANEL = """
context = SimpleNamespace(scene=scene, object=obj)
for panel in (bpy.types.SINEW_PT_physics_wave_speed, bpy.types.SINEW_PT_sidebar_wave_speed):
    assert panel.bl_label == "Wave Speed" and not panel.poll(context)
roles.make_body(obj)
obj.sinew.youngs_modulus, obj.sinew.density = 1.6e6, 1000.0
layout = FakeLayout()
self = SimpleNamespace(layout=layout, bl_space_type="PROPERTIES")
assert panel.poll(context)
panel.draw(self, context)
print("DRAWN", *layout.lines)
"""


@pytest.mark.slow
def test_the_panel_of_the_guide_takes_three_files(tmp_path: Path) -> None:
    root, changed = patched_tree(tmp_path, "### A panel")
    assert len(changed) == 3, changed
    result = run_added(tmp_path, root, ADDED_PANEL)
    assert "DRAWN Waves travel at 40 m/s" in result


def _scene_digest() -> str:
    triangle = np.array([[0, 1, 2]], np.int32)
    return Scene((Body(np.zeros((3, 3)), triangle, key="a", name="A", heat=Heat()),)).digest()


@pytest.mark.slow
def test_the_law_of_the_guide_takes_three_files_and_has_right_derivatives(tmp_path: Path) -> None:
    root, changed = patched_tree(tmp_path, "### A material law")
    assert len(changed) == 3, changed
    menu = "from sinew.solver.scene.flesh import FLESH_LAWS; print(*FLESH_LAWS)"
    assert "stiffening-corotated" in run_in(tmp_path, "-c", menu).split()
    tests = "tests/test_hyperelastic.py", "tests/test_law_branches.py"
    chosen = "stiffening-corotated and (derivatives or clamped) or branch"
    options = "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", chosen
    result = run_in(tmp_path, "-m", "pytest", "--rootdir", str(root), *options, *(str(root / name) for name in tests))
    assert "7 passed" in result, result


@dataclass(frozen=True)
class Quotation:
    """Lines that the guide says are in a file of the tree, in their order."""

    path: str
    lines: tuple[str, ...]
    is_own_file: bool  # new in the example, and shown as code instead of a diff


def quotations(heading: str) -> list[Quotation]:
    """Returns what a section quotes: code and diffs, each from the file that the text before names last."""
    found, text = [], section(heading)
    for match in re.finditer(r"```(python|diff)\n(.*?)```", text, re.DOTALL):
        path = re.findall(r"`([\w/]+\.py)`", text[: match.start()])[-1]
        is_diff = match[1] == "diff"
        lines = [line[1:] if is_diff else line for line in match[2].splitlines() if not line.startswith("-")]
        kept = tuple(line.strip() for line in lines if line.strip() not in ("", "..."))
        found.append(Quotation(path, kept, not is_diff))
    return found


@pytest.mark.parametrize("heading", ["### A force", "### A paper's experiment"])
def test_what_the_guide_quotes_is_in_the_tree_and_takes_few_files(heading: str) -> None:
    quoted = quotations(heading)
    assert len(quoted) >= 2 and any(each.is_own_file for each in quoted)
    for each in quoted:
        rest = [line.strip() for line in (ROOT / each.path).read_text(encoding="utf-8").splitlines()]
        for line in each.lines:
            assert line in rest, f"{each.path} has no line {line!r} below the one before"
            rest = rest[rest.index(line) + 1 :]
    beside = {each.path for each in quoted if not each.is_own_file}
    assert len(beside) <= MAX_FILES_BESIDE_ITS_OWN, beside
