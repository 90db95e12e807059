# SPDX-License-Identifier: GPL-3.0-or-later
"""A layered character, bones, muscle, fat and skin, linked twice into a shot by library overrides, baked beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import evaluated, fresh, world
from fixtures.layered_arm import BELLY, layered_arm
from fixtures.operator_scenes import status
from sinew.addon.cache.bake_passes import body_folder, pass_numbers
from sinew.solver.bake.cache import CacheReader

FRAMES = 4
# [degrees]; at 60° the crease of the elbow has two shapes at rest (1.423 and 1.499 J in frame 2), and what the other
# character adds to a solve decides which of them it finds
BEND = 30.0
APART = 1.0  # along x, of the second character [m]
THICKNESS = 2.0 * BELLY
SAME = 0.01  # of the thickness: two characters in one solve come to rest within the same tolerances, not the same bytes
SAGGED = 0.1  # the same of fat that nothing but a sliding Wrap holds along the arm, under its weight; 0.05 measured
ARM_THICKNESS = 0.124


def shape(obj: bpy.types.Object, frame: int) -> np.ndarray:
    return world(*evaluated(obj, frame))


def save_character(path: Path) -> dict[str, np.ndarray]:
    """Saves the character in a collection; returns the last shapes of its muscle and skin, baked in its own file."""
    arm = layered_arm(FRAMES, 2, BEND)
    character = bpy.data.collections.new("Character")
    arm.scene.collection.children.link(character)
    for obj in list(arm.scene.collection.objects):
        arm.scene.collection.objects.unlink(obj)
        character.objects.link(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert bpy.ops.sinew.simulate() == {"FINISHED"} and status().phase == "baked"
    return {obj.name: shape(obj, FRAMES) for obj in (arm.biceps, arm.skin)}


def link_twice(library: Path, shot: Path) -> list[dict[str, bpy.types.Object]]:
    """Links the character into a new shot, twice; returns the objects of each by their names in the library."""
    scene = fresh()
    scene.frame_end = FRAMES
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    (source,) = wanted.collections
    made = [source.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True) for _ in range(2)]
    return [{obj.override_library.reference.name: obj for obj in each.all_objects} for each in made]


def still(objects: Iterable[bpy.types.Object]) -> None:
    for obj in objects:
        if obj.animation_data is not None:
            obj.animation_data.action = None


@pytest.mark.slow
def test_two_of_a_layered_character_bake_beside_the_shot(tmp_path: Path) -> None:
    library, shot = tmp_path / "library" / "arm.blend", tmp_path / "shots" / "shot.blend"
    for path in (library, shot):
        path.parent.mkdir()
    alone = save_character(library)
    before = sorted(path.name for path in library.parent.iterdir())
    moving, resting = link_twice(library, shot)
    still(resting.values())
    resting["Rig"].pose.bones["Lower"].rotation_quaternion.identity()
    resting["Biceps"].sinew.activation = 0.0
    for obj in resting.values():
        if obj.parent is None:
            obj.location.x += APART
    bpy.context.view_layer.update()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    moving, resting = (
        {o.override_library.reference.name: o for o in bpy.data.collections[name].all_objects if o.override_library}
        for name in sorted(each.name for each in bpy.data.collections if each.override_library)
    )
    scene = bpy.context.scene
    assert pass_numbers(scene) == (1, 2)
    modeled = {name: shape(resting[name], 1) for name in alone}
    assert bpy.ops.sinew.simulate() == {"FINISHED"} and status().phase == "baked"
    assert sorted(path.name for path in library.parent.iterdir()) == before, "nothing is written beside the library"
    for obj in (moving["Biceps"], resting["Skin"]):
        assert body_folder(scene, obj).is_relative_to(shot.parent)
    for folder in {body_folder(scene, resting[name]) for name in alone}:
        report = CacheReader(folder).report()
        assert not sum(line["not_converged"] for line in report) and not max(line["inverted_tets"] for line in report)
    for name, expected in alone.items():
        own, other = shape(moving[name], FRAMES), shape(resting[name], FRAMES)
        size = THICKNESS if name == "Biceps" else ARM_THICKNESS
        moved = np.linalg.norm(expected - modeled[name] + [APART, 0.0, 0.0], axis=1)
        assert moved.max() > 0.5 * size, "what bends moves far"
        assert np.linalg.norm(own - expected, axis=1).max() < SAME * size, name
        first = shape(resting[name], 1)
        assert np.linalg.norm(other - first, axis=1).max() < SAME * size, "the other one keeps still"
        assert np.linalg.norm(first - modeled[name], axis=1).max() < SAGGED * size, "and is where it was modeled"
