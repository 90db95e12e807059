# SPDX-License-Identifier: GPL-3.0-or-later
"""Join Tendon: a muscle and a rod become one closed mesh, whose tendon the rod is."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from mathutils import Matrix

from fixtures.blender_scenes import add_mesh, fresh
from fixtures.muscle_bodies import revolved
from sinew.addon.evaluation.evaluated_mesh import positions, triangles
from sinew.addon.evaluation.mesh_signed_distance import MeshDistance
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from test_make_muscle import elbow, group, select, spindle

ROD_RADIUS = 0.035


def rod(name: str = "Rod", lower: float = 0.0, upper: float = 0.6):
    """Returns a closed cylinder with a round edge around x = 1, y = 0.1."""
    z = np.linspace(lower, upper, 15)
    radius = ROD_RADIUS * np.array([0.0, 0.7, *([1.0] * 11), 0.7, 0.0])
    surface = revolved(radius, z, 16)
    return add_mesh(name, surface.vertices + (1.0, 0.1, 0.0), surface.triangles)


def test_a_rod_becomes_the_tendon_of_a_muscle() -> None:
    fresh()
    rig = elbow()
    muscle = spindle(lower=(1.0, 0.1, 0.4))
    muscle.data.materials.append(bpy.data.materials.new("Meat"))
    select(muscle)
    bpy.ops.sinew.make_muscle()
    muscle.vertex_groups.new(name="Mine").add(list(range(len(muscle.data.vertices))), 0.25, "REPLACE")
    before = MeshDistance(positions(muscle.data), triangles(muscle.data))
    tendon = rod()
    of_rod = MeshDistance(positions(tendon.data), triangles(tendon.data))
    select(muscle, tendon)
    assert bpy.ops.sinew.join_tendon(voxel_size=0.02) == {"FINISHED"}
    assert [obj.name for obj in bpy.context.scene.objects if obj.type == "MESH"] == [muscle.name]
    points, faces = positions(muscle.data), triangles(muscle.data)
    assert find_manifold_defects(faces) is None and len(bpy.data.meshes) == 1
    assert points[:, 2].min() == pytest.approx(0.0, abs=0.01) and points[:, 2].max() == pytest.approx(1.9, abs=0.01)
    off = np.abs(np.minimum(before(points)[0], of_rod(points)[0]))
    assert (off < 0.5 * 0.02)[points[:, 2] > 0.9].all(), "the belly is where it was"
    painted = group(muscle, "Tendon")
    assert painted[points[:, 2] < 0.35].all() and not painted[points[:, 2] > 0.7].any()
    assert muscle.sinew.tendon_group == "Tendon"
    assert muscle.data.materials[0].name == "Meat"
    index = muscle.vertex_groups["Mine"].index
    assert all(any(e.group == index and abs(e.weight - 0.25) < 1e-3 for e in v.groups) for v in muscle.data.vertices)
    hooks = {m.name: (m.object, m.subtarget) for m in muscle.modifiers if m.type == "HOOK"}
    assert hooks == {"Origin": (rig, "Upper.L"), "Insertion": (rig, "Fore.L")}
    assert points[group(muscle, "Insertion")][:, 2].max() < 0.2, "the muscle now ends where the tendon does"


def test_what_cannot_be_joined_stays_as_it_is() -> None:
    scene = fresh()
    elbow()
    muscle, apart, inside = spindle(), rod("Apart", 5.0, 6.0), rod("Inside", 0.9, 1.1)
    inside.data.transform(Matrix(((0.5, 0, 0, 0.5), (0, 0.5, 0, 0.05), (0, 0, 1, 0), (0, 0, 0, 1))))
    sheet = add_mesh("Sheet", np.eye(3) + (1.0, 0.0, 0.5), [[0, 1, 2]])
    vertices = len(muscle.data.vertices)
    for other, words in ((apart, "do not touch"), (inside, "meets no surface"), (sheet, "open edges")):
        select(muscle, other)
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.sinew.join_tendon(voxel_size=0.03)
    select(muscle)
    with pytest.raises(RuntimeError, match="at least one other mesh"):
        bpy.ops.sinew.join_tendon()
    touching = rod("Touching")
    select(muscle, touching)
    with pytest.raises(RuntimeError, match="voxels are too many"):
        bpy.ops.sinew.join_tendon(voxel_size=0.0005)
    muscle.shape_key_add(name="Basis")
    with pytest.raises(RuntimeError, match="shape keys"):
        bpy.ops.sinew.join_tendon()
    assert len(muscle.data.vertices) == vertices and "Touching" in scene.objects
