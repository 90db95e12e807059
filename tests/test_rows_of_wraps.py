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
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.export.reversed_attachments import with_reversed_attachments
from sinew.addon.objects import roles
from sinew.addon.objects.attachment_rows import attachment_targets
from sinew.addon.panels import attachments_layout
from sinew.addon.properties.table_editing import add_row
from sinew.solver.bake.cache import CacheReader
from sinew.solver.constraints.attachments.surface_links import SurfaceLinks
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.attachment_validation import attached_pairs
from sinew.solver.scene.scene import Body, Meshing, Scene
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


def test_what_a_baked_body_has_to_a_wrap_is_reversed_onto_the_wrap_alone() -> None:
    """Fat follows a baked core that is tied to its Wrap, where the core has painted it."""
    fat = two_balls().bodies[0]
    first = len(fat.vertices) - fat.wrap_vertices
    given = Attachment("body/wrap", "spring", 0.3, target_paint=(fat.vertices[:, 0] > 0.0).astype(float))
    core = with_core(given).bodies[1]
    ground = SimpleNamespace(body=core, is_felt_by=lambda body: True, tracks=MemoryTracks({}, {}))
    (own,) = with_reversed_attachments(Scene((fat,)), [ground])[0].bodies[0].attachments
    assert (own.targets, own.kind, own.reach, own.is_reversed) == (("core",), "spring", 0.3, True)
    assert not own.paint[:first].any() and not len(own.target_paint)
    assert (own.paint[first:] == (fat.vertices[first:, 0] > 0.0)).all()


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
