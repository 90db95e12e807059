# SPDX-License-Identifier: GPL-3.0-or-later
"""Fat: what the scene has of a body that ends at a Wrap, what is refused, and that its object plays the skin alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import evaluated
from fixtures.closed_surfaces import sphere
from fixtures.export_scenes import exported, refused
from fixtures.fat_balls import ball, fat_ball
from fixtures.operator_scenes import status
from sinew.addon.baking import attach_bake
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.export.input_warnings import input_warnings
from sinew.addon.properties.table_editing import add_row
from sinew.solver.bake.cache import CacheReader
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Body, Meshing, Scene, Settings
from sinew.solver.scene.tracks import MemoryTracks
from sinew.solver.simulation.build import LEAST_FAT_FILL, build


def test_the_scene_has_skin_caps_and_the_wrap_as_a_hollow(tmp_path: Path) -> None:
    scene, skin, wrap, core = fat_ball(is_open=True)
    group = skin.vertex_groups.new(name="Stiff")
    group.add([v.index for v in skin.data.vertices if v.co.x > 0.0], 1.0, "REPLACE")
    skin.sinew.stiffness_group = "Stiff"
    body = exported(scene, tmp_path / "c.sinew")[0].bodies[0]
    count = len(skin.data.vertices)
    assert (body.played_count, body.cap_vertices, body.wrap_vertices) == (count, 1, len(wrap.data.vertices))
    assert find_manifold_defects(body.triangles) is None
    # the volume between the two balls, as coarse as they are
    skin_volume, wrap_volume = (Surface(*_arrays(obj)).signed_volume for obj in (ball("A", 6, 1.0), wrap))
    volume = Surface(body.vertices, body.triangles).signed_volume
    assert 0.85 * (skin_volume - wrap_volume) < volume < skin_volume - wrap_volume
    # paint goes on inside, and the wrap alone slides
    stiff = body.material_paint.youngs_modulus
    assert len(stiff) == len(body.vertices)
    assert (stiff[count + 1 :] == (body.vertices[count + 1 :, 0] > 0.1)).mean() > 0.9
    (slides,) = body.attachments
    assert (
        slides.target == "Core" and set(slides.paint[: count + 1]) == {0.0} and set(slides.paint[count + 1 :]) == {1.0}
    )
    (note,) = (each for each in input_warnings(scene) if each.kind == "skin-capped")
    assert note.details["count"] == 1


def _arrays(obj: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    obj.data.calc_loop_triangles()
    points = np.array([v.co[:] for v in obj.data.vertices])
    return points, np.array([t.vertices[:] for t in obj.data.loop_triangles], np.int32)


def test_an_inside_out_skin_or_wrap_makes_no_difference(tmp_path: Path) -> None:
    volumes = []
    for turned in (None, "Skin", "Wrap"):
        scene, *_ = fat_ball()
        if turned:
            bpy.data.objects[turned].data.flip_normals()
        body = exported(scene, tmp_path / f"{turned}.sinew")[0].bodies[0]
        volumes.append(abs(Surface(body.vertices, body.triangles).signed_volume))
    assert volumes[1:] == pytest.approx(volumes[:1] * 2)


def test_keys_of_a_wrap_come_after_those_of_the_fat(tmp_path: Path) -> None:
    scene, skin, wrap, core = fat_ball()
    own = add_row(skin.sinew.attachments)
    own.target, own.reach = core, 1.0
    wrap.sinew.attachments[0].keyframe_insert("strength", frame=1)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert tracks.has("body.Skin.attachment.1.strength") and not tracks.has("body.Skin.attachment.0.strength")


def test_what_fat_cannot_be_is_told(tmp_path: Path) -> None:
    scene, skin, wrap, _ = fat_ball()
    skin.sinew.use_goal = True
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "wrap-combined" and '"Skin"' in problem.sentence and "Goal" in problem.sentence
    skin.sinew.use_goal = False
    wrap.sinew.role = "BODY"
    assert refused(scene, tmp_path / "c.sinew").kind == "wrap-is-body"
    wrap.sinew.role = "WRAP"
    scene.collection.objects.unlink(wrap)
    assert refused(scene, tmp_path / "c.sinew").kind == "wrap-elsewhere"


def test_the_digest_follows_the_wrap_and_its_attachments() -> None:
    scene, skin, wrap, _ = fat_ball()
    digests = [settings_digest(scene)]
    wrap.data.vertices[0].co.z += 0.01
    digests.append(settings_digest(scene))
    wrap.sinew.attachments[0].reach = 0.4
    digests.append(settings_digest(scene))
    skin.sinew.wrap = None
    digests.append(settings_digest(scene))
    assert len(set(digests)) == 4


def test_a_wrap_plays_nothing_before_a_bake_and_after_its_fat_has_let_it_go(tmp_path: Path) -> None:
    scene, skin, wrap, _ = fat_ball()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fat.blend"))
    modifier = sinew_modifier.find_modifier(wrap)
    assert modifier.filepath == "", "Blender's first save makes a path of folders of an empty one"
    modifier.filepath = "//fat.sinew/wrap/Skin.pc2"
    skin.sinew.wrap = None
    attach_bake.attach(scene)
    assert modifier.filepath == ""


def two_balls(inner_at: float = 0.0) -> Scene:
    skin, wrap = (tuple(np.asarray(part) for part in sphere(n, radius)) for n, radius in ((8, 1.0), (6, 0.6)))
    vertices = np.concatenate([skin[0], wrap[0] + [inner_at, 0.0, 0.0]]).astype(float)
    triangles = np.concatenate([skin[1], wrap[1][:, ::-1] + len(skin[0])]).astype(np.int32)
    body = Body(vertices, triangles, meshing=Meshing(divisions=8), wrap_vertices=len(wrap[0]))
    return Scene((body,), settings=Settings(1, 2))


def test_tets_fill_the_space_between_skin_and_wrap_alone() -> None:
    scene = two_balls()
    mesh = build(scene, MemoryTracks({}, {}), lambda stage, body: None).bodies[0].mesh
    middle = np.linalg.norm(mesh.nodes[mesh.tets].mean(axis=1), axis=1)
    assert middle.min() > 0.55 and middle.max() < 1.0
    assert mesh.report.volume == pytest.approx(4.0 / 3.0 * np.pi * (1.0 - 0.6**3), rel=0.05)
    # also where some of the Wrap is outside of the skin
    beyond = two_balls()
    wrap = beyond.bodies[0].vertices[-beyond.bodies[0].wrap_vertices :]
    wrap[wrap[:, 0] == wrap[:, 0].max()] *= 2.0
    tets = build(beyond, MemoryTracks({}, {}), lambda stage, body: None).bodies[0].mesh
    assert np.linalg.norm(tets.nodes[tets.tets].mean(axis=1), axis=1).min() > 0.55
    with pytest.raises(BadInput) as refusal:
        build(two_balls(inner_at=0.6), MemoryTracks({}, {}), lambda stage, body: None)
    assert refusal.value.kind == "wrap-outside"


def test_robust_tets_of_fat_that_hold_hardly_any_of_it_have_a_least_fill() -> None:
    """Empty ones cover the surfaces, and would turn inside out first."""
    fat = two_balls().bodies[0]
    fills = []
    for wrap_vertices in (fat.wrap_vertices, 0):
        body = replace(fat, meshing=Meshing("robust", divisions=8), wrap_vertices=wrap_vertices)
        scene = Scene((body,), settings=Settings(1, 2))
        fills.append(build(scene, MemoryTracks({}, {}), lambda stage, body: None).bodies[0].mesh.fill)
    assert fills[0].min() == LEAST_FAT_FILL > fills[1].min()
    assert (fills[0] == np.maximum(fills[1], LEAST_FAT_FILL)).all()


@pytest.mark.slow
def test_the_object_plays_the_skin_and_fat_keeps_the_wrap_on_its_core(tmp_path: Path) -> None:
    scene, skin, _, core = fat_ball(is_open=True)
    core.keyframe_insert("location", frame=1)
    core.location.x = 0.2
    core.keyframe_insert("location", frame=4)
    scene.frame_end, scene.use_gravity = 4, False
    skin.sinew.wrap.sinew.attachments[0].strength = 10.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fat.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    assert CacheReader(tmp_path / "fat.sinew").metadata.bodies[0].vertices == len(skin.data.vertices)
    before, after = (evaluated(skin, frame)[0] for frame in (1, 4))
    # the Wrap moves with the fat, on the core, and does not make the bake out of date by that
    moved = evaluated(bpy.data.objects["Wrap"], 4)[0] - evaluated(bpy.data.objects["Wrap"], 1)[0]
    assert moved[:, 0].mean() == pytest.approx(0.2, abs=0.05)
    assert status().phase == "baked" and not status().outdated
    assert 0.05 < (after - before)[:, 0].mean() < 0.3
