# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Muscle on the twelve bare meshes of an upper limb, all selected at once: two clicks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

sys.path.append(str(Path(__file__).resolve().parents[1] / "demo_blends"))

import stage
import upper_limb
from sinew.solver.mesh.geometry.penetration_depth import penetration_depths
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import Surface, make_surface

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def limb():
    """Returns the bones and the muscles after one call of Make Muscle."""
    stage.empty_scene(10)
    _, bones = upper_limb.make_bones()
    muscles = upper_limb.make_muscle_meshes()
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in muscles)
    bpy.context.view_layer.objects.active = muscles[0]
    assert bpy.ops.sinew.make_muscle() == {"FINISHED"}
    return bones, muscles


def test_both_ends_of_all_twelve_are_at_their_bones(limb):
    """Eleven are asked for."""
    _, muscles = limb
    found = {
        obj.name: {modifier.name: modifier.subtarget for modifier in obj.modifiers if modifier.type == "HOOK"}
        for obj in muscles
    }
    wanted = {name: {"Origin": path.origin, "Insertion": path.insertion} for name, path in upper_limb.MUSCLES.items()}
    assert len(found) == 12 and found == wanted


def test_no_muscle_is_in_another_or_in_a_bone_by_a_tenth_of_its_thickness(limb):
    bones, muscles = limb
    bpy.context.view_layer.update()
    surfaces = {obj: _surface(obj) for obj in [*muscles, *bones]}
    trees = {obj: build_bvh(surface.vertices, surface.triangles) for obj, surface in surfaces.items()}
    for muscle in muscles:
        path = upper_limb.MUSCLES[muscle.name]
        thickness = 2.0 * path.flat * max(half for *_, half in path.points)
        for other, tree in trees.items():
            if other is not muscle:
                depth = penetration_depths(tree, surfaces[muscle].vertices).max()
                assert depth < 0.1 * thickness, (muscle.name, other.name)


def _surface(obj: bpy.types.Object) -> Surface:
    """Returns the surface of a mesh as it lies in the world."""
    obj.data.calc_loop_triangles()
    places = [obj.matrix_world @ vertex.co for vertex in obj.data.vertices]
    return make_surface(places, [tuple(each.vertices) for each in obj.data.loop_triangles], obj.name)
