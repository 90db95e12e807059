# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be baked: each gets one sentence with the object's name, and the file is as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_mesh, counts, fresh, link_object
from sinew.addon.baking import bake_status, last_failure
from sinew.addon.baking.addon_session import session
from sinew.addon.cache import cache_folder_status
from sinew.addon.command_line import commands
from sinew.addon.objects import roles
from sinew.solver.bake.cache import CacheReader

pytestmark = pytest.mark.slow

Object = bpy.types.Object


def fingerprint() -> list[object]:
    """Returns what an artist has made: counts, coordinates, modifiers and settings of everything in the file."""
    parts: list[object] = [counts()]
    for obj in bpy.data.objects:
        parts += [obj.name, [tuple(row) for row in obj.matrix_world], [(m.name, m.type) for m in obj.modifiers]]
        parts += [(p.identifier, str(getattr(obj.sinew, p.identifier))) for p in obj.sinew.bl_rna.properties]
        parts += [getattr(m, "filepath", "") for m in obj.modifiers]
        if obj.type == "MESH":
            points = np.empty(3 * len(obj.data.vertices), np.float32)
            obj.data.vertices.foreach_get("co", points)
            parts.append(points.tobytes())
    return parts


def refused(operator: Callable[[], set[str]]) -> str:
    """Returns the sentence with which an operator refuses; checks that it changed nothing."""
    before = fingerprint()
    with pytest.raises(RuntimeError) as caught:
        operator()
    assert fingerprint() == before
    assert session.bake is None
    sentence = str(caught.value).removeprefix("Error: ").strip()
    assert last_failure.failure_text(bpy.context.scene) == sentence
    assert "Traceback" not in sentence and "\n" not in sentence
    return sentence


@pytest.fixture
def box(tmp_path: Path) -> Object:
    """A small body named Blob in a saved file of three frames."""
    scene = fresh()
    scene.frame_end = 3
    obj = add_box("Blob", divisions=2)
    roles.make_body(obj)
    obj.sinew.divisions = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "bad.blend"))
    return obj


def test_nothing_selected() -> None:
    fresh()
    bpy.context.view_layer.objects.active = None
    assert refused(bpy.ops.sinew.make_body) == "Nothing is selected. Select a mesh object first"
    assert "no bodies" in refused(bpy.ops.sinew.simulate)


def test_not_a_mesh() -> None:
    scene = fresh()
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    scene.collection.objects.link(lamp)
    lamp.select_set(True)
    bpy.context.view_layer.objects.active = lamp
    assert '"Lamp" is not a mesh: its type is light' in refused(bpy.ops.sinew.make_body)
    assert '"Lamp" is not a mesh' in refused(bpy.ops.sinew.make_collider)


def test_one_bad_mesh_among_good_ones_changes_none() -> None:
    fresh()
    good, bad = add_box("Good"), add_mesh("Bad", np.eye(3), [])
    for obj in (good, bad):
        obj.select_set(True)
    assert '"Bad" has no faces' in refused(bpy.ops.sinew.make_body)
    assert good.sinew.role == "NONE"


def test_two_bodies_with_one_mesh() -> None:
    scene = fresh()
    box = add_box("First")
    twin = bpy.data.objects.new("Second", box.data)
    scene.collection.objects.link(twin)
    for obj in (box, twin):
        obj.select_set(True)
    sentence = refused(bpy.ops.sinew.make_body)
    assert '"First"' in sentence and '"Second"' in sentence and "Single User" in sentence


def test_a_linked_object_without_an_override(tmp_path: Path) -> None:
    fresh()
    add_box("Character")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    fresh()
    linked = link_object(tmp_path / "library.blend", "Character")
    linked.select_set(True)
    bpy.context.view_layer.objects.active = linked
    assert '"Character" is linked' in refused(bpy.ops.sinew.make_body)
    own = linked.override_create(remap_local_usages=True)
    own.select_set(True)
    bpy.context.view_layer.objects.active = own
    own.override_library.is_system_override = False
    assert bpy.ops.sinew.make_body() == {"FINISHED"} and own.sinew.role == "BODY"


def _nan(obj: Object) -> None:
    obj.data.vertices[3].co.y = float("nan")


def _empty(obj: Object) -> None:
    obj.data.clear_geometry()


def _set(**values: object) -> Callable[[Object], None]:
    def act(obj: Object) -> None:
        for name, value in values.items():
            setattr(obj.sinew, name, value)

    return act


def _pin_everything(obj: Object) -> None:
    group = obj.vertex_groups.new(name="All")
    group.add(list(range(len(obj.data.vertices))), 1.0, "REPLACE")
    obj.sinew.pin_group = "All"


def _collider_inside(obj: Object) -> None:
    pole = add_box("Pole", divisions=1)
    pole.scale = (0.2, 0.2, 0.2)
    roles.make_collider(pole)
    obj.sinew.divisions = 10  # tets as large as the gap would let it be pushed out


def _share_the_mesh(obj: Object) -> None:
    twin = bpy.data.objects.new("Twin", obj.data)
    bpy.context.scene.collection.objects.link(twin)
    roles.make_body(twin)


def _multiply_the_ground(obj: Object) -> None:
    floor = add_box("Floor", divisions=2)
    floor.location.z = -9.0
    array = floor.modifiers.new("Array", "ARRAY")
    for frame, count in ((1, 1), (3, 4)):
        array.count = count
        array.keyframe_insert("count", frame=frame)
    roles.make_collider(floor)


def _render_finer(obj: Object) -> None:
    subdivision = obj.modifiers.new("Finer", "SUBSURF")
    subdivision.levels, subdivision.render_levels = 1, 2
    obj.modifiers.move(1, 0)


BAD_BODIES = pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_share_the_mesh, ['"Twin"', "Make Single User"]),
        (_render_finer, ['modifier "Finer"', "render"]),
        (_nan, ["coordinates are not numbers"]),
        (_empty, ["has no faces"]),
        (_set(youngs_modulus=0.0), ["Stiffness", "above 0 Pa"]),
        (_set(youngs_modulus=-5.0), ["Stiffness", "above 0 Pa"]),
        (_set(density=0.0), ["Density", "above 0"]),
        (_set(pin_group="Gone"), ['"Gone"']),
        (_set(affect_group="Gone"), ['"Gone"']),
        (_set(sizing="SIZE", tet_size=50.0), ["larger than the object"]),
        (_set(sizing="SIZE", tet_size=1.0e-4), ["memory"]),
        (_pin_everything, ["nothing is left to simulate"]),
        (_collider_inside, ['"Pole"', "inside"]),
    ],
    ids=lambda value: getattr(value, "__name__", None) or "-".join(value)[:30],
)


@BAD_BODIES
def test_bodies_that_cannot_be_baked(box: Object, spoil: Callable[[Object], None], words: list[str]) -> None:
    spoil(box)
    bpy.context.view_layer.update()
    sentence = refused(bpy.ops.sinew.simulate)
    assert '"Blob"' in sentence, sentence
    for word in words:
        assert word in sentence, sentence


@BAD_BODIES
def test_bodies_that_cannot_be_baked_without_a_window_either(
    box: Object,
    spoil: Callable[[Object], None],
    words: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, one sentence, and neither the file on disk nor what is open was touched."""
    spoil(box)
    bpy.context.view_layer.update()
    before, stored = fingerprint(), (tmp_path / "bad.blend").read_bytes()
    assert commands.run_in_blender(["bake", "--json"]) == 2
    told = capfd.readouterr()
    lines = [line for line in told.err.splitlines() if line.startswith("sinew:")]
    assert len(lines) == 1 and '"Blob"' in lines[0], told.err
    for word in words:
        assert word in lines[0], lines[0]
    error = json.loads(told.out.splitlines()[-1])
    assert error["event"] == "error" and error["exit_code"] == 2
    assert fingerprint() == before and (tmp_path / "bad.blend").read_bytes() == stored


def test_a_collider_with_ever_more_vertices(box: Object) -> None:
    _multiply_the_ground(box)
    bpy.context.view_layer.update()
    sentence = refused(bpy.ops.sinew.simulate)
    assert 'The collider "Floor" has ' in sentence and "at frame 2" in sentence


def test_poissons_ratio_cannot_leave_its_range(box: Object) -> None:
    for value, wanted in ((-0.3, 0.0), (0.5, 0.45), (7.0, 0.45)):
        box.sinew.poisson_ratio = value
        assert box.sinew.poisson_ratio == pytest.approx(wanted)


def test_an_empty_frame_range(box: Object) -> None:
    settings = bpy.context.scene.sinew
    settings.use_scene_range, settings.frame_start, settings.frame_end = False, 10, 9
    assert "10 to 9" in refused(bpy.ops.sinew.simulate)


def test_a_folder_of_other_files_is_not_taken(box: Object, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words")
    bpy.context.scene.sinew.cache_path = str(tmp_path / "mine")
    assert "contains other files" in refused(bpy.ops.sinew.simulate)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made(box: Object, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    bpy.context.scene.sinew.cache_path = str(tmp_path / "file" / "cache")
    assert str(tmp_path / "file") in refused(bpy.ops.sinew.simulate)


def test_a_refused_bake_leaves_the_last_one_and_says_that_it_is_old(box: Object, tmp_path: Path) -> None:
    bpy.ops.sinew.simulate()
    _pin_everything(box)
    assert "nothing is left" in refused(bpy.ops.sinew.simulate)
    assert CacheReader(tmp_path / "bad.sinew").last_frame() == 3
    cache_folder_status.invalidate()
    bake_status.invalidate()
    assert bake_status.status(bpy.context.scene).label == "Out of Date: Simulate Again"
