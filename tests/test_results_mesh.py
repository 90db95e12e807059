# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh of a result: layers, seams, shading and UVs are those of the render mesh, cut or not, bent or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.fractured_ball import OPENS, ball, broken, corner_points, values
from sinew.addon.cache.final_mesh_file import read_result
from sinew.addon.fracture_meshes import attribute_transfer, show_results
from sinew.solver.bake.cache import layout
from sinew.solver.bake.cache.pc2 import pc2_bytes


def test_layers_of_cut_polygons_are_those_of_the_render_mesh_there(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    made, arrays, _ = broken(tmp_path, obj)
    mesh = made.data
    assert not mesh.validate(verbose=True)
    inside = arrays["source_face"] < 0
    assert inside.sum() > 20 and np.allclose(values(mesh, "broken"), inside)
    on_surface = ~np.repeat(inside, np.diff(arrays["face_start"]))
    places = corner_points(mesh)
    # what is linear in space on the render mesh is so on its parts
    assert np.allclose(values(mesh, "Second", 2, "vector")[on_surface], places[on_surface, :2] * 3, atol=1e-5)
    assert np.allclose(values(mesh, "Corner", 4, "color")[on_surface, :3], places[on_surface], atol=1e-5)
    outer = np.unique(arrays["corners"][on_surface])
    heights = np.array([v.co.z for v in mesh.vertices])
    assert np.allclose(values(mesh, "Height")[outer], heights[outer], atol=1e-5)
    weights = np.array([sum(g.weight for g in v.groups) for v in mesh.vertices])
    assert [g.name for g in made.vertex_groups] == ["Up"]
    assert np.allclose(weights[outer], (heights[outer] + 1.0) / 2.0, atol=1e-5)
    # in the middle of the cut, the nearest vertex of the surface counts
    own = np.array([v.co for v in obj.data.vertices])
    for vertex in np.setdiff1d(np.arange(len(heights)), outer):
        nearest = np.argmin(np.linalg.norm(own - np.array(mesh.vertices[vertex].co), axis=1))
        assert np.isclose(values(mesh, "Height")[vertex], own[nearest, 2], atol=1e-6)
    assert np.array_equal(values(mesh, "Ring")[~inside], arrays["source_face"][~inside])
    slots = np.array([p.material_index for p in mesh.polygons])
    assert np.array_equal(slots[~inside], arrays["source_face"][~inside] % 2) and (slots[inside] == 2).all()
    assert [m.name for m in mesh.materials] == ["Red", "Blue", "Sinew Broken"]
    assert mesh.uv_layers.active.name == obj.data.uv_layers.active.name
    assert [layer.active_render for layer in mesh.uv_layers] == [layer.active_render for layer in obj.data.uv_layers]
    assert np.array_equal(values(mesh, "piece"), arrays["piece"])
    assert (values(mesh, "opens")[inside] == OPENS).all()


def test_seams_creases_and_sharp_edges_go_on_over_the_cut(tmp_path: Path) -> None:
    fresh()
    made, arrays, _ = broken(tmp_path, ball())
    mesh = made.data
    rims = {e for i in np.flatnonzero(arrays["source_face"] < 0) for e in mesh.polygons[i].edge_keys}
    crease = values(mesh, "crease_edge")
    seams = 0
    for edge in mesh.edges:
        a, b = (mesh.vertices[v].co for v in edge.vertices)
        wanted = abs(a.y) + abs(b.y) < 1e-6 and a.x > -1e-6 and b.x > -1e-6 and edge.key not in rims
        seams += wanted
        if edge.key not in rims:
            assert edge.use_seam == wanted and np.isclose(crease[edge.index], 0.5 * wanted)
        assert edge.use_edge_sharp == (wanted or edge.key in rims)
    assert seams == 13  # 12 edges from pole to pole, one of which was cut


@pytest.mark.parametrize("smooth", [True, False])
def test_shading_is_that_of_the_uncut_mesh(tmp_path: Path, smooth: bool) -> None:
    fresh()
    obj = ball(smooth=smooth)
    source = np.array([n.vector for n in obj.data.corner_normals])
    made, arrays, cache = broken(tmp_path, obj)
    mesh = made.data
    # with normals of corners, Cycles would shade a bent quad as one plane, which the original is not
    assert mesh.normals_domain == ("CORNER" if smooth else "FACE")
    stored = read_result(layout.result_paths(cache, "Ball")[0])
    obj.data.calc_loop_triangles()
    loops = np.array([t.loops for t in obj.data.loop_triangles])
    found = np.array([n.vector for n in mesh.corner_normals])
    on_surface = stored.corner_triangle >= 0
    wanted = np.einsum(
        "ij,ijk->ik", stored.corner_weights[on_surface], source[loops[stored.corner_triangle[on_surface]]]
    )
    wanted /= np.linalg.norm(wanted, axis=1)[:, None]
    assert np.abs(found[on_surface] - wanted).max() < 2e-3  # Blender keeps custom normals in 16 bits
    assert np.allclose(np.abs(found[~on_surface]), [0.0, 0.0, 1.0], atol=2e-3)


def test_uvs_of_broken_faces_are_a_projection_along_their_normal(tmp_path: Path) -> None:
    fresh()
    made, arrays, _ = broken(tmp_path, ball())
    inside = np.repeat(arrays["source_face"] < 0, np.diff(arrays["face_start"]))
    upper = np.repeat(arrays["piece"] == 0, np.diff(arrays["face_start"]))
    uv, places = values(made.data, "UVMap", 2, "vector"), corner_points(made.data)
    # the upper piece is seen from below: mirrored once, so that pictures are not
    wanted = places[:, :2] * np.where(upper, -1.0, 1.0)[:, None] ** [1, 0] / 2.0
    assert np.allclose(uv[inside], wanted[inside], atol=1e-5)
    normals = np.array([[3.0, 1.0, 1.0], [-1.0, 4.0, 0.0]])
    assert np.allclose(
        attribute_transfer.box_projection(np.array([[1.0, 2.0, 3.0]] * 2), normals, 2.0), [[1.0, 1.5], [1.5, 0.5]]
    )


def bent(points: np.ndarray) -> np.ndarray:
    """Returns points moved by a smooth, strong deformation."""
    x, y, z = points.T
    return np.stack([x + 0.6 * z**2, y + 0.3 * np.sin(3.0 * z), 0.6 * z], axis=1)


def final_normals(obj: bpy.types.Object, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    final = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = np.empty(len(final.loops) * 3, np.float32)
    final.corner_normals.foreach_get("vector", found)
    return found.reshape(-1, 3)


@pytest.mark.parametrize("smooth", [True, False])
def test_closed_cracks_are_shaded_as_if_they_were_not_there_however_the_body_bends(
    tmp_path: Path, smooth: bool
) -> None:
    fresh()
    obj = ball(smooth=smooth)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.quads_convert_to_tris()  # which stay flat when they bend
    bpy.ops.object.mode_set(mode="OBJECT")
    made, arrays, cache = broken(tmp_path, obj)
    obj.data.calc_loop_triangles()
    loops = np.array([t.loops for t in obj.data.loop_triangles])
    corners = np.array([t.vertices for t in obj.data.loop_triangles])
    points = bent(np.array([v.co for v in obj.data.vertices]))
    shape = bent(arrays["rest"])
    outer = arrays["corner_triangle"] >= 0
    triangle, weights = arrays["corner_triangle"][outer], arrays["corner_weights"][outer]
    shape[arrays["corners"][outer]] = np.einsum("ij,ijk->ik", weights, points[corners[triangle]])
    frames = len(arrays["shapes"])
    (cache / "result" / "Ball.pc2").write_bytes(
        pc2_bytes(np.repeat(shape[None], frames, 0).astype(np.float32), 1.0, 1.0)
    )
    (cache / "play" / "Ball.pc2").write_bytes(
        pc2_bytes(np.repeat(points[None], frames, 0).astype(np.float32), 1.0, 1.0)
    )

    closed, opened = (final_normals(made, frame) for frame in (OPENS - 1, OPENS))
    assert ("Sinew Shading" in made.modifiers) == smooth, "flat faces need no help"
    if smooth:
        made.modifiers["Sinew Shading"].show_viewport = False
    assert np.allclose(final_normals(made, OPENS), opened, atol=1e-6), "an open crack shows its rims as they are"
    plain = final_normals(made, OPENS - 1)
    show_results.restore_body(obj)
    source = final_normals(obj, OPENS - 1)
    wanted = np.einsum("ij,ijk->ik", weights, source[loops[triangle]])
    wanted /= np.linalg.norm(wanted, axis=1)[:, None]
    assert np.abs(closed[outer] - wanted).max() < 2e-3
    if smooth:
        assert np.abs(plain[outer] - wanted).max() > 0.05, "it would show without"
    assert np.allclose(closed[~outer], plain[~outer], atol=1e-3)
