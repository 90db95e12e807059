# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes with holes do not break; a closed copy of them does, with their materials, UVs and weights."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from sinew.addon.baking import error_messages
from sinew.addon.evaluation.evaluated_mesh import triangles
from sinew.addon.export import export_scene
from sinew.addon.objects import breakable_mesh_check, mesh_defects, roles
from sinew.addon.objects.closed_copy import make_closed_copy
from sinew.solver.mesh.geometry.manifold_defects import ManifoldDefects, find_manifold_defects
from sinew.solver.runtime.errors import BadInput

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def test_every_way_of_being_open_is_counted() -> None:
    assert find_manifold_defects(TETRAHEDRON) is None
    assert find_manifold_defects(TETRAHEDRON[1:]) == ManifoldDefects(open_edges=3)
    twice = np.concatenate([TETRAHEDRON, TETRAHEDRON[:1]])
    assert find_manifold_defects(twice) == ManifoldDefects(nonmanifold_edges=3)
    turned = TETRAHEDRON.copy()
    turned[0] = turned[0, ::-1]
    assert find_manifold_defects(turned) == ManifoldDefects(flipped_edges=3)
    flat = np.concatenate([TETRAHEDRON, [[1, 1, 2]]])
    assert find_manifold_defects(flat) == ManifoldDefects(degenerate_triangles=1)
    words = mesh_defects.defects_text(ManifoldDefects(42, 1, 0, 2))
    assert words == "42 open edges, 1 edge with more than two faces and 2 faces without area"
    with pytest.raises(BadInput, match='cannot break "Bowl" into closed pieces: it has 3 open edges'):
        breakable_mesh_check.check_closed_mesh("Bowl", CORNERS, TETRAHEDRON[1:])
    breakable_mesh_check.check_closed_mesh("Tent", CORNERS, TETRAHEDRON)
    with pytest.raises(BadInput, match='faces of "Tent" point inwards'):
        breakable_mesh_check.check_closed_mesh("Tent", CORNERS + 100.0, TETRAHEDRON[:, ::-1])


def test_defects_are_those_that_a_count_edge_by_edge_finds() -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        faces = random.integers(0, 6, (random.integers(1, 12), 3)).astype(np.int32)
        solid = [face for face in faces.tolist() if len(set(face)) == 3]
        sides = Counter((face[i], face[(i + 1) % 3]) for face in solid for i in range(3))
        edges = [(sides[a, b], sides[b, a]) for a, b in {(min(side), max(side)) for side in sides}]
        counted = (
            sum(up + down == 1 for up, down in edges),
            sum(up + down > 2 for up, down in edges),
            sum(up + down == 2 and up != down for up, down in edges),
            len(faces) - len(solid),
        )
        assert (find_manifold_defects(faces) or ManifoldDefects()) == counted


def monkey() -> bpy.types.Object:
    """Returns Suzanne as she comes, a body that may break, with UVs, two materials and a group."""
    bpy.ops.mesh.primitive_monkey_add()
    obj = bpy.context.object
    for name in ("Fur", "Eyes"):
        obj.data.materials.append(bpy.data.materials.new(name))
    heights = np.array([p.center.z for p in obj.data.polygons])
    obj.data.polygons.foreach_set("material_index", (heights > 0).astype(np.int32))
    group = obj.vertex_groups.new(name="Up")
    for vertex in obj.data.vertices:
        group.add([vertex.index], (vertex.co.z + 1.0) / 2.0, "REPLACE")
    roles.make_body(obj)
    obj.sinew.use_fracture = True
    return obj


def test_suzanne_is_refused_with_a_next_step_and_nothing_is_written(tmp_path: Path) -> None:
    fresh()
    obj = monkey()
    with pytest.raises(BadInput) as refused:
        list(export_scene.export_scene(bpy.context, bpy.context.scene, tmp_path / "c.sinew"))
    assert refused.value.kind == "breaks-open" and "42 open edges" in error_messages.error_text(refused.value)
    assert "Make Closed Copy" in error_messages.error_text(refused.value) and not (tmp_path / "c.sinew").exists()
    obj.sinew.use_fracture = False
    list(export_scene.export_scene(bpy.context, bpy.context.scene, tmp_path / "c.sinew"))


def test_a_closed_copy_of_suzanne_is_exported(tmp_path: Path) -> None:
    fresh()
    obj = monkey()
    bpy.context.scene.frame_end = 2
    assert bpy.ops.sinew.remesh_closed() == {"FINISHED"}
    made = bpy.context.object
    assert made.name == "Suzanne Closed" and made.sinew.role == "BODY" and made.sinew.use_fracture
    assert obj.hide_viewport and obj.hide_render and obj.sinew.role == "NONE" and not len(obj.modifiers)
    assert [m.name for m in made.modifiers] == ["Sinew"]
    mesh = made.data
    assert find_manifold_defects(triangles(mesh)) is None and len(mesh.polygons) > 2000
    size, wanted = np.array(made.dimensions), np.array(obj.dimensions)
    assert np.allclose(size, wanted, rtol=0.05)
    heights = np.array([p.center.z for p in mesh.polygons])
    slots = np.array([p.material_index for p in mesh.polygons])
    clear = np.abs(heights) > 0.15
    assert [m.name for m in mesh.materials] == ["Fur", "Eyes"]
    assert (slots == (heights > 0))[clear].mean() > 0.98
    weights = np.array([sum(g.weight for g in v.groups) for v in mesh.vertices])
    points = np.array([v.co for v in mesh.vertices])
    assert np.abs(weights - (points[:, 2] + 1.0) / 2.0).mean() < 0.02
    uv = np.array([d.uv for d in mesh.uv_layers[0].data]).reshape(-1, 4, 2)
    assert np.median(np.ptp(uv, axis=1)) < 0.02 and 0.0 <= np.median(uv) <= 1.0
    list(export_scene.export_scene(bpy.context, bpy.context.scene, tmp_path / "c.sinew"))


def test_a_mirrored_body_is_not_inside_out(tmp_path: Path) -> None:
    fresh()
    obj = add_box()
    obj.scale = (1.0, -1.0, 2.0)
    roles.make_body(obj)
    obj.sinew.use_fracture = True
    bpy.context.scene.frame_end = 2
    list(export_scene.export_scene(bpy.context, bpy.context.scene, tmp_path / "c.sinew"))
    obj.data.flip_normals()
    with pytest.raises(BadInput, match="point inwards"):
        list(export_scene.export_scene(bpy.context, bpy.context.scene, tmp_path / "c.sinew"))


def test_a_plane_cannot_be_closed_and_stays_as_it_was() -> None:
    fresh()
    bpy.ops.mesh.primitive_plane_add()
    obj = bpy.context.object
    roles.make_body(obj)
    before = sorted(o.name for o in bpy.data.objects), sorted(m.name for m in bpy.data.meshes)
    with pytest.raises(BadInput):
        make_closed_copy(bpy.context, obj, 100.0)
    assert (sorted(o.name for o in bpy.data.objects), sorted(m.name for m in bpy.data.meshes)) == before
    assert obj.sinew.role == "BODY" and not obj.hide_viewport


def test_the_size_of_voxels_follows_the_tets() -> None:
    fresh()
    obj = add_box(divisions=2, height=2.0)
    obj.scale = (3.0, 3.0, 3.0)
    bpy.context.view_layer.update()
    roles.make_body(obj)
    obj.sinew.divisions = 40
    made = make_closed_copy(bpy.context, obj)
    sides = np.array([e.vertices for e in made.data.edges])
    points = np.array([v.co for v in made.data.vertices])
    edge = np.median(np.linalg.norm(points[sides[:, 0]] - points[sides[:, 1]], axis=1))
    assert np.isclose(edge, 2.0 / 120, rtol=0.1)
