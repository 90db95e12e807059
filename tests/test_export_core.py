# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigid core of a body: what arrives of its settings, what cannot be, and what the panel says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, evaluated, fresh, world
from fixtures.export_scenes import exported, refused
from sinew.addon.baking import bake_status
from sinew.addon.baking.bake_status import Status
from sinew.addon.export import export_scene
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles, self_weight_collapse
from sinew.addon.overlays import tet_geometry
from sinew.solver.bake.cache import CacheReader
from sinew.solver.scene.rigid_core import Core, Pull
from sinew.solver.scene.settings.flesh_settings import NON_FLESH_SWITCHES
from test_addon import drawn


def empty(name: str, location: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    obj = bpy.data.objects.new(name, None)
    obj.location = location
    bpy.context.scene.collection.objects.link(obj)
    return obj


def body(name: str = "Box") -> bpy.types.Object:
    """Returns a box of 1 × 1 × 2 m with a core."""
    obj = add_box(name, divisions=4)
    roles.make_body(obj)
    obj.sinew.use_core, obj.sinew.core_skin_thickness, obj.sinew.divisions = True, 0.2, 10
    bpy.context.scene.frame_end = 9
    return obj


def swung(obj: bpy.types.Object, path: str, value: tuple[float, ...], frame: int = 9) -> None:
    """Animates a value from what it is at frame 1 to another one."""
    obj.keyframe_insert(path, frame=1)
    setattr(obj, path, value)
    obj.keyframe_insert(path, frame=frame)
    for layer in obj.animation_data.action.layers:
        for bag in layer.strips[0].channelbags:
            for curve in bag.fcurves:
                for point in curve.keyframe_points:
                    point.interpolation = "LINEAR"


def test_a_body_has_no_core_unless_it_asks_for_one(tmp_path: Path) -> None:
    fresh()
    body().sinew.use_core = False
    written, tracks = exported(bpy.context.scene, tmp_path / "c.sinew")
    assert written.bodies[0].core is None
    assert not tracks.has("body.Box.hinge") and not tracks.has("body.Box.pull")


def test_settings_arrive(tmp_path: Path) -> None:
    scene = fresh()
    obj = body()
    scene.unit_settings.scale_length = 0.5
    own = obj.sinew
    obj.vertex_groups.new(name="Head").add([v.index for v in obj.data.vertices if v.co.z > 0], 1.0, "REPLACE")
    own.core_group = "Head"
    own.core_hinge, own.core_pull = empty("Axis", (1.0, 2.0, 3.0)), empty("Hand", (0.0, 0.0, 4.0))
    own.core_hinge.rotation_euler, own.core_hinge.scale = (0.5 * np.pi, 0.0, 0.0), (2.0, 1.0, 3.0)
    own.core_pull_stiffness, own.core_pull_damping = 321.0, 12.0
    core = exported(scene, tmp_path / "c.sinew")[0].bodies[0].core
    assert core is not None and core.hinge is not None and core.pull is not None
    assert core.skin_thickness == pytest.approx(0.1)
    assert np.array_equal(core.paint, [float(v.co.z > 0) for v in obj.data.vertices])
    assert core.hinge.point == pytest.approx((0.5, 1.0, 1.5))
    assert np.allclose(core.hinge.direction / np.linalg.norm(core.hinge.direction), [0.0, -1.0, 0.0], atol=1e-6)
    assert core.pull.point == pytest.approx((0.0, 0.0, 2.0))
    assert (core.pull.stiffness, core.pull.damping) == (321.0, 12.0)


def test_defaults_of_the_panel_are_those_of_the_solver() -> None:
    fresh()
    own = add_box().sinew
    assert own.core_skin_thickness == pytest.approx(Core().skin_thickness)
    assert (own.core_pull_stiffness, own.core_pull_damping) == (Pull().stiffness, Pull().damping)


def test_hinge_and_pull_are_followed(tmp_path: Path) -> None:
    scene = fresh()
    own = body().sinew
    own.core_hinge, own.core_pull = empty("Axis"), empty("Hand", (0.0, 0.0, 1.0))
    swung(own.core_hinge, "rotation_euler", (0.0, 0.8, 0.0))
    swung(own.core_pull, "location", (0.0, 4.0, 1.0))
    scene.frame_set(5)
    _, tracks = exported(scene, tmp_path / "c.sinew")
    assert scene.frame_current == 5
    time = 4 / 24
    assert tracks.sample("body.Box.pull", time) == pytest.approx([0.0, 2.0, 1.0], abs=1e-5)
    assert tracks.sample("body.Box.hinge", time)[:3, 2] == pytest.approx([np.sin(0.4), 0.0, np.cos(0.4)], abs=1e-5)
    assert tracks.sample("body.Box.hinge", 0.0)[:3, 2] == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)


def test_slices_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    own = body().sinew
    own.core_hinge, own.core_pull = empty("Axis"), empty("Hand", (0.0, 0.0, 1.0))
    swung(own.core_pull, "location", (0.0, 4.0, 1.0))
    whole, tracks = exported(scene, tmp_path / "whole.sinew")
    monkeypatch.setattr(export_scene, "slice_end", lambda begun: 0.0)
    sliced, others = exported(scene, tmp_path / "sliced.sinew")
    assert whole.digest() == sliced.digest() and tracks.digest() == others.digest()


def test_what_is_deleted_meanwhile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    own = body().sinew
    own.core_pull = empty("Hand")
    monkeypatch.setattr(export_scene, "slice_end", lambda begun: 0.0)
    work = export_scene.export_scene(bpy.context, scene, tmp_path / "c.sinew")
    next(work)
    bpy.data.objects.remove(bpy.data.objects["Hand"])
    with pytest.raises(Exception, match='"Hand" was deleted'):
        next(work)


@pytest.mark.parametrize(
    ("feature", "change"),
    [
        ("Fracture", {"use_fracture": True}),
        ("the Method Green", {"formulation": "GREEN"}),
        ("the Method Hierarchical", {"formulation": "HIERARCHICAL"}),
        ("BDF2 as Time Integration", {"formulation_scheme": "BDF2"}),
    ],
)
def test_what_does_not_go_with_a_core_is_said_before_and_refused(tmp_path: Path, feature: str, change: dict) -> None:
    scene = fresh()
    obj = body()
    for name, value in change.items():
        setattr(obj.sinew, name, value)
    said = " ".join(drawn(obj, "draw_core").lines)
    assert f"does not support {feature}" in said
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "core-combined" and '"Box"' in problem.sentence and feature in problem.sentence
    obj.sinew.use_core = False
    assert "does not support" not in " ".join(drawn(obj, "draw_core").lines)
    exported(scene, tmp_path / "fine.sinew")


def test_gravity_in_the_shape_goes_with_a_free_core_only(tmp_path: Path) -> None:
    scene = fresh()
    own = body().sinew
    own.gravity_in_shape = True
    exported(scene, tmp_path / "free.sinew")
    own.core_hinge = empty("Axis")
    assert refused(scene, tmp_path / "hinged.sinew").kind == "core-combined"


def test_objects_and_groups_that_are_not_there_are_named(tmp_path: Path) -> None:
    scene = fresh()
    own = body().sinew
    own.core_group = "gone"
    assert refused(scene, tmp_path / "a.sinew").kind == "group-gone"
    own.core_group = ""
    own.core_pull = bpy.data.objects.new("Elsewhere", None)
    problem = refused(scene, tmp_path / "b.sinew")
    assert problem.kind == "core-object-elsewhere" and '"Elsewhere"' in problem.sentence


def test_flesh_has_no_core() -> None:
    fresh()
    obj = body()
    obj.sinew.motion = "POSE"
    assert not obj.sinew.use_core, "as all that flesh does not do"
    assert "use_core" in NON_FLESH_SWITCHES
    assert "choose Soft Body" in " ".join(drawn(obj, "draw_core").lines)
    assert not drawn(obj, "draw_core").enabled_of("core_skin_thickness")


def test_a_soft_body_stands_on_its_core() -> None:
    scene = fresh()
    obj = body()
    obj.sinew.youngs_modulus = 1000.0
    assert not self_weight_collapse.collapses(obj, scene)
    obj.sinew.use_core = False
    assert self_weight_collapse.collapses(obj, scene)


def test_every_setting_stands_in_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    obj = body()
    group = next(kind for kind in type(obj.sinew).__mro__ if kind.__name__ == "CoreProperties")
    wanted = set(group.__annotations__) - {"use_core"}
    for state in (Status(), Status("baking"), Status("baked", frame=8)):
        monkeypatch.setattr(bake_status, "status", lambda _, state=state: state)
        layout = drawn(obj, "draw_core")
        assert wanted <= {name for _, name in layout.drawn}
        assert all(layout.enabled_of(name) == (not state.is_locked) for name in wanted)
    assert any("moves freely" in line for line in drawn(obj, "draw_core").lines)
    obj.sinew.core_hinge, obj.sinew.core_pull = empty("Axis"), empty("Hand")
    said = " ".join(drawn(obj, "draw_core").lines)
    assert "Z axis of Axis" in said and "A spring joins Hand to the point of the core" in said


def test_a_bake_gets_out_of_date_with_what_it_reads_and_with_nothing_else() -> None:
    scene = fresh()
    obj = body()
    own = obj.sinew
    obj.vertex_groups.new(name="Head").add(range(20), 1.0, "REPLACE")
    hand, axis = empty("Hand"), empty("Axis")

    def changes(act) -> bool:  # type: ignore[no-untyped-def]
        before = settings_digest(scene)
        act()
        bpy.context.view_layer.update()
        return settings_digest(scene) != before

    assert not changes(lambda: setattr(own, "core_pull_stiffness", 5.0)), "nothing pulls"
    assert changes(lambda: setattr(own, "core_pull", hand))
    assert changes(lambda: setattr(own, "core_pull_stiffness", 6.0))
    assert changes(lambda: setattr(own, "core_hinge", axis))
    assert changes(lambda: setattr(axis, "rotation_euler", (0.1, 0.0, 0.0)))
    assert changes(lambda: swung(hand, "location", (1.0, 0.0, 0.0)))
    assert not changes(lambda: scene.frame_set(4)), "only the playhead"
    assert changes(lambda: setattr(own, "core_group", "Head"))
    assert changes(lambda: setattr(own, "core_skin_thickness", 0.3))
    assert changes(lambda: setattr(own, "use_core", False))
    for name, value in (("core_skin_thickness", 0.1), ("core_group", ""), ("core_hinge", None), ("core_pull", None)):
        assert not changes(lambda name=name, value=value: setattr(own, name, value)), name


@pytest.mark.slow
def test_a_head_on_a_hinge_is_baked_as_it_is_pulled(tmp_path: Path) -> None:
    """From the panel to the picture: the core turns about the hinge alone, as far as the hand pulls it."""
    scene = fresh()
    obj = body("Head")
    own = obj.sinew
    own.core_hinge, own.core_pull = empty("Neck", (0.0, 0.0, -1.0)), empty("Hand", (0.0, 0.0, 1.0))
    own.core_hinge.rotation_euler = (0.0, 0.5 * np.pi, 0.0)  # its z axis is the world's x axis
    swung(own.core_pull, "location", (0.0, 1.5, 0.0), frame=20)
    scene.frame_end = 30
    scene.use_gravity = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "head.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    start, end = (world(*evaluated(obj, frame)) for frame in (1, 30))
    upper, lower = start[:, 2] > 0.9, start[:, 2] < -0.9
    assert end[upper, 1].mean() > 0.8 and np.abs(end[:, 0] - start[:, 0]).max() < 0.1
    assert np.abs(end[lower].mean(axis=0) - start[lower].mean(axis=0)).max() < 0.3
    cache = CacheReader(tmp_path / "head.sinew")
    model = cache.read_model(cache.metadata.bodies[0].key)
    core, tets = model["core_tets"], model["tets"]
    depth = 1.0 - np.abs(model["nodes"][tets[core]]).max(axis=2)
    assert 0 < len(core) < len(tets) and depth.min() > own.core_skin_thickness - 1e-6
    assert bake_status.core_tet_count(scene, obj) == len(core)
    words = f"{len(core):,} of {len(tets):,} tets are rigid"
    assert words in " ".join(drawn(obj, "draw_core").lines)
    display = tet_geometry.load_geometry(cache, cache.metadata.bodies[0].key)
    assert display is not None and np.isin(display.core, tets[core]).all() and len(display.core)
