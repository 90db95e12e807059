# SPDX-License-Identifier: GPL-3.0-or-later
"""The quick effects make of selected meshes a scene that plays well at once, and say what they did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, add_mesh, evaluated, fresh
from fixtures.closed_surfaces import sphere
from fixtures.fake_layout import FakeLayout
from fixtures.flesh_rigs import arm, bent
from sinew.addon.baking import last_failure
from sinew.addon.baking.addon_session import session
from sinew.addon.objects import quick_scene, roles
from sinew.addon.objects.quick_scene import MAX_PLAYED_SIZE, MIN_PLAYED_SIZE
from sinew.addon.operators import quick
from sinew.solver.bake.cache import CacheReader

FRAMES = 16


def ready(tmp_path: Path, frames: int = FRAMES) -> bpy.types.Scene:
    scene = fresh()
    scene.frame_end = frames
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    return scene


def coarse(obj: bpy.types.Object) -> bpy.types.Object:
    """Returns a mesh that will have few tets, so that tests take seconds; the material is still to be chosen."""
    obj.sinew.sizing, obj.sinew.tet_count = "COUNT", 400
    return obj


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.02, 1.0, 20.0])
@pytest.mark.parametrize(("effect", "preset"), [("quick_jelly", "JELLY_BY_SIZE"), ("quick_clay", "CLAY_BY_SIZE")])
def test_a_quick_scene_plays_well(tmp_path: Path, effect: str, preset: str, size: float) -> None:
    scene = ready(tmp_path, round(FRAMES * np.sqrt(np.clip(size, MIN_PLAYED_SIZE, MAX_PLAYED_SIZE))))
    bpy.ops.mesh.primitive_cube_add(size=size)
    cube = coarse(bpy.context.object)
    assert getattr(bpy.ops.sinew, effect)() == {"FINISHED"}
    (ground,) = roles.colliders(scene)
    assert cube.sinew.preset == preset and ground.location.z == pytest.approx(-size, rel=1e-5)
    summary = CacheReader(tmp_path / "c.sinew").convergence()
    assert summary.not_converged == 0 and summary.contacts > 0, "it has fallen on the ground"
    frames = [evaluated(cube, frame)[0][:, 2] for frame in range(1, scene.frame_end + 1)]
    assert min(z.min() for z in frames) > ground.location.z - 0.01 * size, "sunk by more than 1 %"
    assert min(np.ptp(z) for z in frames) > 0.3 * size, "it keeps a shape"
    # the bound had been lowered at 2 cm, where what swings came to rest between two frames
    assert max(abs(np.ptp(z) - size) for z in frames) > 0.02 * size, "and is seen to be soft"
    (line, *_) = session.messages(scene).lines
    assert line.startswith('Made "Cube"') and "tets" in line and "Ground" in line and "panels" in line


def test_small_and_large_meshes_are_simulated_at_a_size_that_plays_well() -> None:
    fresh()
    objects = []
    for size in (0.02, 0.01, 0.04):
        bpy.ops.mesh.primitive_cube_add(size=size)
        objects.append(bpy.context.object)
    first, small, later = objects
    words = quick_scene.make_bodies(bpy.context, [first, small])
    assert "as if 0.3 m long" in words
    assert first.sinew.use_simulated_size and first.sinew.simulated_size == pytest.approx(0.3)
    assert small.sinew.simulated_size == pytest.approx(0.15), "by the same factor"
    quick_scene.make_bodies(bpy.context, [later])
    assert later.sinew.simulated_size == pytest.approx(0.6), "by that of the bodies that are there"
    assert "as if" not in quick_scene.make_bodies(bpy.context, [first]), "a body keeps its settings"


@pytest.mark.parametrize(("size", "simulated"), [(1.0, None), (20.0, 3.0)])
def test_only_what_plays_badly_gets_a_simulated_size(size: float, simulated: float | None) -> None:
    fresh()
    bpy.ops.mesh.primitive_cube_add(size=size)
    cube = bpy.context.object
    quick_scene.make_bodies(bpy.context, [cube])
    assert cube.sinew.use_simulated_size == (simulated is not None)
    assert simulated is None or cube.sinew.simulated_size == pytest.approx(simulated)


@pytest.mark.slow
def test_a_first_suzanne_has_one_note(tmp_path: Path) -> None:
    """Her eyes are thinner than the tets and her mesh has holes: she plays well, so both notes are folded away."""
    scene = ready(tmp_path, 2)
    bpy.ops.mesh.primitive_monkey_add()
    bpy.ops.sinew.simulate_selected()
    notes = session.messages(scene).all_notes
    assert [note.line.startswith("Made ") for note in notes if not note.is_minor] == [True]
    assert sum(note.is_minor for note in notes) == 2


@pytest.mark.slow
def test_flesh_on_an_armature_swings(tmp_path: Path) -> None:
    obj = arm(divisions=6)  # in a new scene, and flesh already: it would keep its settings
    obj.sinew.role = "NONE"
    bent(obj, (1, 8))
    scene = bpy.context.scene
    scene.frame_end, scene.sinew.cache_path = 8, str(tmp_path / "c.sinew")
    obj = coarse(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    assert bpy.ops.sinew.quick_flesh() == {"FINISHED"}
    own = obj.sinew
    assert (own.motion, own.use_armature_bones, own.gravity_in_shape) == ("JIGGLE", True, True)
    assert CacheReader(tmp_path / "c.sinew").convergence().not_converged == 0
    (line, *_) = session.messages(scene).lines
    assert "bones of" in line and "panel Bones" in line


def test_flesh_without_an_armature_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    ready(tmp_path)
    obj = add_box()
    with pytest.raises(RuntimeError, match='No Armature modifier poses "Box"'):
        bpy.ops.sinew.quick_flesh()
    assert obj.sinew.role == "NONE"


@pytest.mark.slow
def test_a_polygon_soup_is_baked_and_a_note_says_how(tmp_path: Path) -> None:
    scene = ready(tmp_path, 2)
    vertices, triangles = sphere(6)
    corners = vertices[triangles] * 0.98 + 0.02 * vertices[triangles].mean(axis=1, keepdims=True)
    corners[::2] = corners[::2, ::-1]  # every other face is turned inwards
    soup = coarse(add_mesh("Soup", corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)))
    bpy.context.view_layer.objects.active = soup
    soup.select_set(True)
    assert bpy.ops.sinew.quick_jelly() == {"FINISHED"}
    assert '"Soup" is a polygon soup' in " ".join(session.messages(scene).lines)


@pytest.mark.parametrize("is_body", [False, True])
def test_a_refused_bake_leaves_the_scene_as_it_was(tmp_path: Path, is_body: bool) -> None:
    scene = ready(tmp_path, 2)
    good, bad = add_box("Good"), add_box("Bad", 1)
    if is_body:
        roles.make_body(good)
        good.sinew.preset, good.sinew.density = "WAX", 700.0
    bad.data.vertices[0].co.x = float("nan")
    for obj in (good, bad):
        obj.select_set(True)

    def state() -> tuple[object, ...]:
        settings = [
            {rna.identifier: str(getattr(o.sinew, rna.identifier)) for rna in o.sinew.bl_rna.properties}
            for o in (good, bad)
        ]
        names = [[m.name for m in o.modifiers] for o in (good, bad)]
        return (
            settings,
            names,
            [o.name for o in scene.objects],
            len(bpy.data.meshes),
            good.sinew.is_property_set("method"),
        )

    before = state()
    with pytest.raises(RuntimeError, match='"Bad" has 193 vertices whose coordinates are not'):
        bpy.ops.sinew.quick_clay()
    assert state() == before
    assert "Made" not in " ".join(session.messages(scene).lines)
    assert "not numbers" in last_failure.failure_to_show(scene, {})


@pytest.mark.slow
def test_a_scene_with_colliders_gets_no_ground(tmp_path: Path) -> None:
    scene = ready(tmp_path, 2)
    table = add_box("Table")
    roles.make_collider(table)
    table.location.z = -3.0
    bpy.ops.mesh.primitive_cube_add()
    coarse(bpy.context.object)
    bpy.ops.sinew.quick_jelly()
    assert roles.colliders(scene) == [table]


def test_the_menu_has_all_of_them() -> None:
    layout = FakeLayout()
    quick.draw_menu_entries(type("Menu", (), {"layout": layout})(), bpy.context)  # type: ignore[arg-type]
    assert [name for _, name in layout.drawn] == ["sinew.quick_jelly", "sinew.quick_clay", "sinew.quick_flesh"]
