# SPDX-License-Identifier: GPL-3.0-or-later
"""From File: tets that an artist brings, in the object's own space, from the file to the bake."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_mesh, fresh
from fixtures.blender_scenes import evaluated as shown_at
from fixtures.tiny_bakes import box_of_tets
from sinew.addon.baking import bake_status
from sinew.addon.baking.addon_session import session
from sinew.addon.cache import cache_folder_status
from sinew.addon.export import artist_tet_files, export_scene, input_digest
from sinew.addon.objects import roles
from sinew.addon.panels import tets_layout
from sinew.addon.runtime.memo import Throttle
from sinew.solver.bake.cache import CacheReader
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Scene

pytestmark = pytest.mark.slow


def write_veg(path: Path, nodes: np.ndarray, tets: np.ndarray) -> Path:
    lines = ["*VERTICES", f"{len(nodes)} 3 0 0"]
    lines += [f"{i + 1} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(nodes.tolist())]
    lines += ["*ELEMENTS", "TET", f"{len(tets)} 4 0"]
    lines += [f"{i + 1} " + " ".join(map(str, tet)) for i, tet in enumerate((tets + 1).tolist())]
    path.write_text("\n".join(lines) + "\n")
    return path


def a_box(path: Path, turned: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Writes a box of tets, some of them inside out, and returns it as it should be read."""
    nodes, tets, _ = box_of_tets(3)
    written = tets.copy()
    written[:turned] = written[:turned][:, [0, 1, 3, 2]]
    write_veg(path, nodes, written)
    return nodes, tets


def imported(path: Path) -> bpy.types.Object:
    assert bpy.ops.sinew.import_tets(filepath=str(path)) == {"FINISHED"}
    return bpy.context.object


def exported(tmp_path: Path) -> Scene:
    list(export_scene.export_scene(bpy.context, bpy.context.scene, tmp_path / "c.sinew"))
    return Scene.load(tmp_path / "c.sinew" / "scene")


def six_volumes(nodes: np.ndarray, tets: np.ndarray) -> np.ndarray:
    corners = nodes[tets]
    return np.linalg.det(corners[:, 1:] - corners[:, :1])


def test_import_makes_a_body_of_the_outside_that_bakes(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 5
    nodes, tets = a_box(tmp_path / "block.veg", turned=4)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = imported(tmp_path / "block.veg")
    own = obj.sinew
    assert (obj.name, own.role, own.method, own.tets_path) == ("block", "BODY", "GIVEN", "//block.veg")
    assert obj.select_get() and roles.bodies(scene) == [obj]
    points = np.array([v.co for v in obj.data.vertices], float)
    assert {tuple(p) for p in points.round(5)} <= {tuple(p) for p in nodes.round(5)}
    assert np.ptp(points, axis=0) == pytest.approx(np.ptp(nodes, axis=0))
    obj.location.z = 5.0
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert any("4 inverted tets" in line for line in session.messages(scene).lines)
    reader = CacheReader(tmp_path / "shot.sinew")
    model = reader.read_model(reader.metadata.bodies[0].key)
    assert len(model["tets"]) == len(tets) and reader.last_frame() == 5
    assert bake_status.tet_count(scene, obj) == len(tets)
    fallen = points[:, 2].mean() - shown_at(obj, 5)[0][:, 2].mean()
    assert fallen == pytest.approx(9.81 / 2 * (4 / 24) ** 2, rel=0.2)


@pytest.mark.parametrize("scale", [(2.0, 1.0, 0.5), (-1.0, 1.0, 1.0)])
def test_tets_go_where_the_object_takes_its_vertices(tmp_path: Path, scale: tuple[float, float, float]) -> None:
    scene = fresh()
    scene.unit_settings.scale_length = 0.01
    scene.frame_end = 2
    nodes, tets = a_box(tmp_path / "block.veg")
    obj = imported(tmp_path / "block.veg")
    obj.location, obj.rotation_euler, obj.scale = (3.0, -2.0, 7.0), (0.3, 0.2, 1.0), scale
    bpy.context.view_layer.update()
    (body,) = exported(tmp_path).bodies
    wanted = 0.01 * (nodes @ np.array(obj.matrix_world)[:3, :3].T + np.array(obj.matrix_world)[:3, 3])
    assert body.tet_nodes == pytest.approx(wanted, abs=1e-6) and body.meshing.method == "given"
    assert (six_volumes(body.tet_nodes, body.tets) > 0).all() and len(body.tets) == len(tets)
    assert body.vertices.min(axis=0) == pytest.approx(wanted.min(axis=0), abs=1e-6)


def test_a_changed_file_is_out_of_date_and_a_moved_or_touched_one_is_not(tmp_path: Path) -> None:
    scene = fresh()
    nodes, tets = a_box(tmp_path / "block.veg")
    obj = imported(tmp_path / "block.veg")
    first = input_digest.settings_digest(scene)
    os.utime(tmp_path / "block.veg", (1.0e9, 1.0e9))
    (tmp_path / "there").mkdir()
    a_box(tmp_path / "there" / "copy.veg")
    obj.sinew.tets_path = str(tmp_path / "there" / "copy.veg")
    obj.sinew.divisions += 1
    assert input_digest.settings_digest(scene) == first
    write_veg(tmp_path / "there" / "copy.veg", nodes * 1.25, tets)
    assert input_digest.settings_digest(scene) != first
    assert artist_tet_files.read_object_tets(obj).nodes == pytest.approx(1.25 * nodes)
    obj.sinew.method = "SMOOTH"
    smooth = input_digest.settings_digest(scene)
    obj.sinew.tets_path = ""
    assert input_digest.settings_digest(scene) == smooth != first


def test_what_a_file_of_vega_includes_counts_too(tmp_path: Path) -> None:
    scene = fresh()
    nodes, tets = a_box(tmp_path / "whole.veg")
    head, _, tail = (tmp_path / "whole.veg").read_text().partition("*ELEMENTS")
    (tmp_path / "nodes.txt").write_text(head)
    (tmp_path / "block.veg").write_text("*INCLUDE nodes.txt\n*ELEMENTS" + tail)
    obj = imported(tmp_path / "block.veg")
    first = input_digest.settings_digest(scene)
    write_veg(tmp_path / "whole.veg", 2.0 * nodes, tets)
    (tmp_path / "nodes.txt").write_text((tmp_path / "whole.veg").read_text().partition("*ELEMENTS")[0])
    assert input_digest.settings_digest(scene) != first
    assert artist_tet_files.read_object_tets(obj).nodes == pytest.approx(2.0 * nodes)


def test_a_finished_bake_is_marked_when_the_file_changes(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 2
    nodes, tets = a_box(tmp_path / "block.veg")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    imported(tmp_path / "block.veg")
    bpy.ops.sinew.simulate()

    def label() -> str:
        cache_folder_status.invalidate()
        bake_status.invalidate()
        return bake_status.status(scene).label

    assert label() == "Simulate Again"
    write_veg(tmp_path / "block.veg", nodes, tets[:-1])
    assert label() == "Out of Date: Simulate Again"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("", None, "has no tet file"),
        ("none.msh", None, "cannot read"),
        ("a.obj", "", "cannot read files of the type"),
        ("a.vtu", "<VTKFile>", "cannot read"),
        ("a.veg", "*VERTICES\n0 3 0 0\n*ELEMENTS\nTET\n0 4 0\n", "contains no tets"),
    ],
)
def test_what_cannot_be_used_is_said_by_name(tmp_path: Path, name: str, content: str | None, words: str) -> None:
    scene = fresh()
    box = add_box("Box")
    roles.make_body(box)
    box.sinew.method = "GIVEN"
    box.sinew.tets_path = str(tmp_path / name) if name else ""
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(BadInput) as refused:
        list(export_scene.export_scene(bpy.context, scene, tmp_path / "c.sinew"))
    assert words in refused.value.sentence and '"Box"' in refused.value.sentence and "\n" not in refused.value.text
    assert words.split()[-1] in tets_layout._tet_count_text(box, scene)
    if name:
        count = len(bpy.data.objects)
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.sinew.import_tets(filepath=str(tmp_path / name))
        assert len(bpy.data.objects) == count


def test_the_panel_counts_quickly_and_leaves_large_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    _, tets = a_box(tmp_path / "block.veg")
    box = add_box("Box")
    roles.make_body(box)
    box.sinew.method, box.sinew.tets_path = "GIVEN", str(tmp_path / "block.veg")
    monkeypatch.setattr(artist_tet_files, "MAX_PANEL_BYTES", 10)
    monkeypatch.setattr(artist_tet_files, "_panel_counts", Throttle(artist_tet_files.MAX_CACHED_FILES, 0.0))
    assert tets_layout._tet_count_text(box, scene) == "The tets of a large file"
    artist_tet_files.read_object_tets(box)
    assert tets_layout._tet_count_text(box, scene) == f"{len(tets)} tets"


def test_tets_far_from_the_mesh_are_warned_of(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 2
    a_box(tmp_path / "block.veg")
    near = imported(tmp_path / "block.veg")
    far = add_mesh(
        "Far", np.array([v.co for v in near.data.vertices]) + [9, 0, 0], [p.vertices for p in near.data.polygons]
    )
    roles.make_body(far)
    far.sinew.method, far.sinew.tets_path = "GIVEN", near.sinew.tets_path
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    told = [line for line in session.messages(scene).lines if "hardly overlaps" in line]
    assert len(told) == 1 and '"Far"' in told[0]


def test_relative_paths_follow_save_as_and_stay_after_save_copy(tmp_path: Path) -> None:
    fresh()
    a_box(tmp_path / "block.veg")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    obj = imported(tmp_path / "block.veg")
    (tmp_path / "sub").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "sub" / "copy.blend"), copy=True)
    assert obj.sinew.tets_path == "//block.veg"
    obj.sinew.activation_file = "//emg.sto"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "sub" / "b.blend"))
    assert obj.sinew.tets_path == "//../block.veg" and obj.sinew.activation_file == "//../emg.sto"
    for name in ("copy", "b"):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "sub" / f"{name}.blend"))
        assert artist_tet_files.path_of(bpy.data.objects["block"]) == tmp_path / "block.veg"


def test_a_linked_body_finds_the_file_beside_its_own_blend(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    fresh()
    a_box(tmp_path / "library" / "block.veg")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library" / "prop.blend"))
    imported(tmp_path / "library" / "block.veg")
    bpy.ops.wm.save_mainfile()
    fresh()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    with bpy.data.libraries.load(str(tmp_path / "library" / "prop.blend"), link=True) as (_, target):
        target.objects = ["block"]
    own = target.objects[0].override_create(remap_local_usages=True)
    assert artist_tet_files.path_of(own) == tmp_path / "library" / "block.veg"


@pytest.mark.parametrize("name", ["polyfem_bar-651.msh", "polyfem_microstructure_P1.msh", "vega_beam3_tet.veg"])
def test_files_of_others_are_imported(shared: Path, name: str) -> None:
    fresh()
    obj = imported(shared / "testdata" / "tet" / name)
    counts: dict[tuple[int, int], int] = {}
    for polygon in obj.data.polygons:
        for edge in polygon.edge_keys:
            counts[edge] = counts.get(edge, 0) + 1
    assert len(obj.data.polygons) > 100 and all(count % 2 == 0 for count in counts.values()), "the outside is closed"
