# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of attachments about a Wrap: they link to the Wrap inside of the body that ends there, or are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.closed_surfaces import sphere
from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from fixtures.fat_balls import fat_ball
from fixtures.scenes import Run
from fixtures.selected_bodies import bake_here as bake_pass_here
from fixtures.selected_bodies import only_pass
from fixtures.sliding_scenes import attachments_of, check_felt_forces
from sinew.addon.export.attachments_of_baked_bodies import with_attachments_of_baked_bodies
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.objects.attachment_rows import attachment_targets
from sinew.addon.panels import attachments_layout
from sinew.addon.properties.table_editing import add_row
from sinew.solver.bake.cache import CacheReader
from sinew.solver.constraints.attachments.surface_links import SurfaceLinks
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import NOTHING, Attachment
from sinew.solver.scene.attachment_validation import attached_pairs
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene
from sinew.solver.scene.tracks import MemoryTracks, TrackReader
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.build import build
from test_addon import context_of
from test_fat import two_balls
from test_passes import bake_here, passes_at


def with_core(attachment: Attachment) -> Scene:
    """Returns fat around a hollow with a radius of 0.6 m, and a ball in it with one of 0.5 m."""
    scene = two_balls()
    vertices, triangles = sphere(5, 0.5)
    core = Body(np.asarray(vertices, float), np.asarray(triangles, np.int32), meshing=Meshing(divisions=4), key="core")
    return replace(scene, bodies=(*scene.bodies, replace(core, name="Core", attachments=(attachment,))))


def links_of(scene: Scene) -> tuple[SurfaceLinks, ...]:
    check_scene(scene)
    built = build(scene, MemoryTracks({}, {}), lambda *stage: None)
    return next(force for force in built.forces if force.kind == "attachments").links


@pytest.mark.parametrize("kind", ["sliding", "spring", "fixed"])
def test_a_body_inside_is_linked_to_the_wrap_and_not_to_the_skin(kind: str) -> None:
    scene = with_core(Attachment("body/wrap", kind, 0.3))
    fat = scene.bodies[0]
    (links,) = links_of(scene)
    first = len(fat.vertices) - fat.wrap_vertices
    assert links.target.body == 0 and (links.target.surface.triangles >= first).all()
    assert len(links.stiffness) > 50 and links.name == "Core"
    if kind == "sliding":  # the gap is 0.1 m, of polyhedra
        assert abs(np.median(links.rest_distance)) == pytest.approx(0.1, abs=0.03)


def test_a_row_about_a_body_has_all_of_its_surface() -> None:
    """From outside, a body reaches the skin, and the Wrap of the same body not."""
    scene = with_core(Attachment("body", "spring", 0.2))
    far = replace(scene.bodies[1], vertices=scene.bodies[1].vertices + [1.6, 0.0, 0.0])
    scene = replace(scene, bodies=(scene.bodies[0], far))
    (links,) = links_of(scene)
    assert (links.target.surface.triangles < len(scene.bodies[0].vertices) - scene.bodies[0].wrap_vertices).any()
    to_wrap = replace(far, attachments=(Attachment("body/wrap", "spring", 0.2),))
    with pytest.raises(BadInput) as refusal:
        links_of(replace(scene, bodies=(scene.bodies[0], to_wrap)))
    assert refusal.value.kind == "attachment-out-of-reach"


def test_what_is_attached_to_a_wrap_does_not_collide_with_the_body() -> None:
    assert attached_pairs(with_core(Attachment("body/wrap", "sliding", 0.3))) == [("core", "body")]


def test_several_targets_are_one_attachment() -> None:
    """Those out of reach are left out; with none in reach, the sentence names one."""
    scene = with_core(Attachment("body/wrap", "spring", 0.3, more_targets=("far",)))
    other = replace(scene.bodies[1], key="far", name="Far", attachments=())
    other = replace(other, vertices=other.vertices + [9.0, 0.0, 0.0])
    scene = replace(scene, bodies=(*scene.bodies, other))
    (links,) = links_of(scene)
    assert links.target.body == 0
    own = replace(scene.bodies[1], attachments=(Attachment("far", "spring", 0.3),))
    with pytest.raises(BadInput, match='"Far"'):
        links_of(replace(scene, bodies=(scene.bodies[0], own, other)))


@pytest.mark.slow
def test_paint_on_a_wrap_is_that_of_its_own_vertices() -> None:
    fat = two_balls().bodies[0]
    half = (fat.vertices[-fat.wrap_vertices :, 0] > 0.0).astype(float)
    (whole,) = links_of(with_core(Attachment("body/wrap", "spring", 0.3)))
    scene = with_core(Attachment("body/wrap", "spring", 0.3, target_paint=half))
    (links,) = links_of(scene)
    model = build(scene, MemoryTracks({}, {}), lambda *stage: None).model
    at = links.points(model.X, model.tets)
    assert 0.4 < len(at) / len(whole.stiffness) < 0.7 and at[:, 0].min() > -0.2
    with pytest.raises(BadInput, match="Target Group"):
        links_of(with_core(Attachment("body/wrap", "spring", 0.3, target_paint=np.ones(len(half) + 1))))


def test_what_a_baked_body_has_to_several_bodies_goes_to_those_that_feel_it() -> None:
    """A core is tied to Wraps of three bodies: one that is baked, too, one that feels it and one that does not."""
    given = Attachment("baked/wrap", "spring", 0.3, more_targets=("body/wrap", "posed/wrap"), target_paint=[0.0, 1.0])
    fat, core = with_core(given).bodies
    collider = Collider("core", "Core", "mesh", core.vertices, core.triangles, rest_vertices=core.vertices)
    ground = SimpleNamespace(
        body=replace(core, attachments=(Attachment("baked"), given)),
        collider=collider,
        is_felt_by=lambda body: body.key != "posed",
        tracks=MemoryTracks({"body.core.attachment.1.strength": (np.zeros(1), np.array([3.0]))}, {}),
        tet_volume=lambda: 0.5,
        tet_size=lambda: 0.1,
    )
    scene = Scene((fat, replace(fat, key="posed")), (collider,))
    written, (strength,) = with_attachments_of_baked_bodies(scene, [ground])
    assert written.bodies == scene.bodies and strength.track == "collider.core.attachment.0.strength"
    (own,) = written.colliders[0].attached_surface.attachments
    assert own.targets == (NOTHING, "body/wrap", NOTHING) and own.target_paint.tolist() == [0.0, 1.0]
    assert (own.kind, own.reach) == ("spring", 0.3)
    assert attached_pairs(written) == [("core", "body")]
    check_scene(written)


def muscle_in_fat() -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """Returns a ball of fat around a Wrap around a soft core, which has a row about the Wrap."""
    scene, skin, wrap, core = fat_ball()
    wrap.sinew.attachments.clear()
    roles.make_body(core)
    row = add_row(core.sinew.attachments)
    row.target, row.reach = wrap, 0.5
    return scene, skin, wrap, core


def test_a_row_names_the_wrap_of_another_body(tmp_path: Path) -> None:
    scene, skin, wrap, core = muscle_in_fat()
    assert list(attachment_targets(core)) == [skin]
    written, _ = exported(scene, tmp_path / "a.sinew")
    check_scene(written)
    body = next(each for each in written.bodies if each.name == "Core")
    assert [each.target for each in body.attachments] == ["Skin/wrap"]
    # a second body that ends there is a target, too
    other = skin.copy()
    other.data = skin.data.copy()
    scene.collection.objects.link(other)
    other.name = "Tail"
    assert [each.targets for each in _attachments(scene, tmp_path / "b.sinew")] == [("Skin/wrap", "Tail/wrap")]
    found = settings_digest(scene)
    core.sinew.attachments[0].target = skin
    assert settings_digest(scene) != found
    assert [each.targets for each in _attachments(scene, tmp_path / "c.sinew")] == [("Skin",)]


def _attachments(scene: bpy.types.Scene, cache: Path) -> tuple[Attachment, ...]:
    return next(each for each in exported(scene, cache)[0].bodies if each.name == "Core").attachments


def test_rows_about_a_wrap_that_cannot_be_are_told(tmp_path: Path) -> None:
    scene, skin, wrap, core = muscle_in_fat()
    skin.sinew.wrap = None
    problem = refused(scene, tmp_path / "a.sinew")
    assert problem.kind == "attachment-to-free-wrap" and '"Core"' in problem.sentence and '"Wrap"' in problem.sentence
    skin.sinew.wrap, core.sinew.attachments[0].is_on = wrap, False
    own = add_row(skin.sinew.attachments)
    own.target = wrap
    with pytest.raises(BadInput) as refusal:
        check_scene(exported(scene, tmp_path / "b.sinew")[0])
    assert refusal.value.kind == "attachment-to-own-wrap" and '"Skin"' in refusal.value.sentence
    skin.sinew.attachments.clear()
    core.sinew.attachments[0].is_on, skin.sinew.bake_pass = True, 2
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "pass-follows-later" and '"Core"' in problem.sentence and '"Skin"' in problem.sentence


def test_the_panel_says_what_a_wrap_stands_for() -> None:
    scene, skin, wrap, core = muscle_in_fat()

    def lines(obj: bpy.types.Object) -> str:
        layout = FakeLayout()
        attachments_layout.draw_attachments(layout, context_of(obj))
        return " ".join(layout.lines)

    assert "the Wrap inside of Skin" in lines(core)
    add_row(skin.sinew.attachments).target = wrap
    assert "moves with it anyway" in lines(skin)
    skin.sinew.wrap = None
    assert "nothing moves it" in lines(core)


@pytest.mark.slow
def test_fat_alone_feels_a_core_that_stays_as_where_both_are_baked(tmp_path: Path) -> None:
    """The core is painted and has painted the Wrap: forces are the same, on what is painted alone.

    It is not quite in the middle, where two places of the Wrap may be as near to a point.
    """
    scene, skin, wrap, core = muscle_in_fat()
    scene.use_gravity, core.location = False, (0.013, 0.007, 0.011)
    for obj, axis, name in ((wrap, 0, "target_group"), (core, 1, "group")):
        painted = [vertex.index for vertex in obj.data.vertices if vertex.co[axis] > 0.0]
        obj.vertex_groups.new(name="Half").add(painted, 1.0, "REPLACE")
        setattr(core.sinew.attachments[0], name, "Half")
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    together = Scene.load(bake_pass_here(scene, bake_pass) / "scene")
    selected = Scene.load(bake_pass_here(scene, bake_pass, skin) / "scene")
    assert [body.key for body in together.bodies] == ["Core", "Skin"] and selected.bodies[0].attachments == ()
    (collider,) = selected.colliders
    surface = collider.attached_surface
    (given,) = surface.attachments
    assert given.targets == ("Skin/wrap",) and len(given.target_paint) == selected.bodies[0].wrap_vertices
    for kind in ("sliding", "spring", "fixed"):
        of_core = replace(together.bodies[0], attachments=(replace(given, kind=kind),))
        on_collider = replace(collider, attached_surface=replace(surface, attachments=of_core.attachments))
        both = Run(tmp_path / f"{kind}1", replace(together, bodies=(of_core, together.bodies[1])))
        alone = Run(tmp_path / f"{kind}2", replace(selected, colliders=(on_collider,)))
        check_felt_forces(both, alone, 1, 1e-5)
        (links,) = attachments_of(alone).links
        quarter = links.animated.positions(collider.rest_vertices)
        assert len(quarter) > 20 and quarter[:, 0].min() > -0.3 and quarter[:, 1].min() > -0.3


@pytest.mark.slow
def test_a_later_pass_holds_to_the_wrap_of_an_earlier_one(tmp_path: Path) -> None:
    """A core in pass 2 is tied to the Wrap of fat in pass 1, which falls: it falls along, and collides with nothing."""
    scene, skin, wrap, core = muscle_in_fat()
    scene.frame_end, core.sinew.bake_pass = 3, 2
    core.sinew.attachments[0].kind, core.sinew.attachments[0].strength = "SPRING", 10.0
    core.sinew.density = 100.0
    first, second = passes_at(scene, tmp_path / "c.sinew")
    bake_here(scene, first)
    bake_here(scene, second)
    written, tracks = Scene.load(second.folder / "scene"), TrackReader(second.folder / "scene")
    grounds = {ground.key: ground for ground in written.colliders}
    assert set(grounds) == {"Skin", "Skin-wrap"} and grounds["Skin-wrap"].name == "Wrap"
    assert written.bodies[0].attachments[0].targets == ("Skin-wrap",)
    assert {("Core", "Skin-wrap"), ("Core", "Skin")} <= set(written.ignored_pairs)
    count = len(wrap.data.vertices)
    assert len(grounds["Skin-wrap"].vertices) == count == len(grounds["Skin-wrap"].rest_vertices)
    assert grounds["Skin-wrap"].triangles.max() == count - 1
    fall = [tracks.sample("collider.Skin-wrap.vertices", n / 24.0)[:, 2].mean() for n in (0, 2)]
    assert fall[0] - fall[1] == pytest.approx(0.5 * 9.81 * (2.0 / 24.0) ** 2, rel=0.6) and fall[1] < fall[0]
    own = [CacheReader(second.folder).read_samples("Core", n)[0][:, 2].mean() for n in (0, 2)]
    assert own[0] - own[1] == pytest.approx(fall[0] - fall[1], abs=0.01)
    # the Wrap is gone from the body: nothing to hold to
    skin.sinew.wrap = None
    bake_here(scene, first)
    skin.sinew.wrap = wrap
    with pytest.raises(BadInput) as refusal:
        bake_here(scene, second)
    assert refusal.value.kind == "baked-without-wrap"
