# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies attached to bodies in Blender: the operator, exact rows, the overlay, bakes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported
from fixtures.fake_layout import FakeLayout
from sinew.addon.cache import baked_tets
from sinew.addon.cache.bake_passes import body_folder
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import bone_rows, roles
from sinew.addon.overlays import attachment_load_overlay, bone_attachment_overlay
from sinew.addon.panels import attachments_layout
from sinew.solver.bake.cache import CacheReader
from sinew.solver.runtime.errors import BadInput
from sinew.solver.simulation.simulation import Simulation
from test_addon import context_of


def select(*objects: bpy.types.Object) -> None:
    """Selects objects alone, the last one as the active one."""
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def held_box() -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object]:
    """Returns a box with a pinned top, and a smaller one below that is attached to it and touches nothing else."""
    scene = fresh()
    top, box = add_box("Top"), add_box("Box")
    box.location, box.scale = (0.0, 0.0, -1.55), (0.5, 0.5, 0.5)
    for obj in (top, box):
        roles.make_body(obj)
        obj.sinew.youngs_modulus = 1.0e8
    group = top.vertex_groups.new(name="Pins")
    group.add([v.index for v in top.data.vertices if v.co.z > 0.0], 1.0, "REPLACE")
    top.sinew.pin_group = "Pins"
    scene.frame_end = 8
    bpy.context.view_layer.update()
    select(box, top)
    return scene, top, box


def fallen(scene: bpy.types.Scene, folder: Path, name: str = "Box") -> float:
    """Returns how far a body falls in a bake [m]."""
    written, tracks = exported(scene, folder)
    before = next(body.vertices for body in written.bodies if body.name == name)
    simulation = Simulation(written, tracks)
    for _ in range(7):
        moved = simulation.advance().positions[name] - before
    return -float(moved[:, 2].mean())


def test_attach_adds_a_row_to_each_selected_body() -> None:
    _, top, box = held_box()
    other = add_box("Other")
    roles.make_body(other)
    select(box, other, top)
    bpy.ops.sinew.attach(reach=0.2)
    (row,) = box.sinew.attachments
    assert (row.target, row.kind, row.is_exact, row.reach) == (top, "FIXED", True, pytest.approx(0.2))
    assert len(other.sinew.attachments) == 1 and not len(top.sinew.attachments)
    bpy.ops.sinew.attach(kind="SPRING")
    assert len(box.sinew.attachments) == 1, "it is attached already"
    ball = add_box("Ball")
    roles.make_collider(ball)
    select(box, ball)
    bpy.ops.sinew.attach(kind="SLIDING")
    assert (box.sinew.attachments[1].kind, box.sinew.attachments[1].is_exact) == ("SLIDING", False)
    select(top)
    with pytest.raises(RuntimeError, match='No selected body but "Top"'):
        bpy.ops.sinew.attach()


def test_attach_keeps_what_empties_and_bones_need() -> None:
    _, top, box = held_box()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    select(box, empty)
    bpy.ops.sinew.attach()
    assert box.sinew.attachments[0].kind == "SPRING", "an empty is at the end of a spring"
    bone = add_box("Bone")
    roles.make_bone(bone)
    bone.sinew.use_bone_spring, bone.sinew.bone_distance = True, 0.005
    roles.make_flesh(top)
    select(top, bone)
    bpy.ops.sinew.attach()
    row = top.sinew.attachments[0]
    assert row.kind == "SPRING" and row.reach == pytest.approx(0.005), "as the bone says"


def test_the_digest_knows_at_which_force_a_row_of_a_bone_breaks() -> None:
    """Also that of a row that says what the bone itself does, which else is not in it."""
    scene, top, _ = held_box()
    bone = add_box("Bone")
    roles.make_bone(bone)
    bone.sinew.use_bone_spring, bone.sinew.bone_stiffness = True, 0.0
    roles.make_flesh(top)
    top.sinew.bones_are_rows = False
    bone_rows.write_bone_rows(top)
    row = next(each for each in top.sinew.attachments if each.kind == "SPRING")
    path = row.path_from_id()
    assert bone_rows.says_own_settings(top, path, row, ())
    before = settings_digest(scene)
    row.breaking_force = 5.0
    assert not bone_rows.says_own_settings(top, path, row, ()) and settings_digest(scene) != before


def test_rows_between_bodies_may_let_them_collide(tmp_path: Path) -> None:
    scene, _, box = held_box()
    bpy.ops.sinew.attach(kind="SPRING")
    row, before = box.sinew.attachments[0], settings_digest(scene)
    found = []
    for collides in (False, True):
        row.collides = collides
        written, _ = exported(scene, tmp_path / str(collides))
        own = next(body for body in written.bodies if body.name == "Box")
        found.append(own.attachments[0].collides)
    assert found == [False, True] and settings_digest(scene) != before
    row.collides = False
    assert settings_digest(scene) == before
    layout = FakeLayout()
    attachments_layout.draw_attachments(layout, context_of(box))
    assert "collides" in {name for _, name in layout.drawn}


def test_attach_makes_no_exact_row_at_what_is_rigid() -> None:
    _, top, box = held_box()
    top.sinew.method = "RIGID"
    bpy.ops.sinew.attach()
    assert box.sinew.attachments[0].kind == "FIXED" and not box.sinew.attachments[0].is_exact


def test_the_panel_shows_exact_between_bodies_that_are_fixed() -> None:
    scene, _, box = held_box()
    bpy.ops.sinew.attach()
    bpy.context.view_layer.objects.active = box
    (row,) = box.sinew.attachments
    shown, digests = [], []
    for kind, is_exact in (("FIXED", True), ("FIXED", False), ("SPRING", True), ("SPRING", False)):
        row.kind, row.is_exact = kind, is_exact
        layout = FakeLayout()
        attachments_layout.draw_attachments(layout, context_of(box))
        shown.append("is_exact" in {name for _, name in layout.drawn})
        digests.append(settings_digest(scene))
    assert shown == [True, True, False, False]
    assert digests[0] != digests[1] and digests[2] == digests[3]


@pytest.mark.slow
def test_a_box_that_is_attached_exactly_hangs(tmp_path: Path) -> None:
    scene, _, box = held_box()
    assert fallen(scene, tmp_path / "free.sinew") > 0.3
    bpy.ops.sinew.attach(reach=0.06)
    assert 0.0 < fallen(scene, tmp_path / "held.sinew") < 0.01
    written, _ = exported(scene, tmp_path / "again.sinew")
    own = next(body for body in written.bodies if body.name == "Box")
    assert own.attachments[0].binds_nodes


@pytest.mark.slow
def test_painted_strength_chooses_the_bound_nodes(tmp_path: Path) -> None:
    scene, top, box = held_box()
    bpy.ops.sinew.attach(reach=0.06)
    row, counts = box.sinew.attachments[0], []
    for weight in (None, 0.4, 0.6):
        group = box.vertex_groups.get("Half") or box.vertex_groups.new(name="Half")
        group.add([v.index for v in box.data.vertices if v.co.x > 0.0], weight or 0.0, "REPLACE")
        row.group = "Half" if weight else ""
        written, tracks = exported(scene, tmp_path / f"{weight}.sinew")
        try:
            counts.append(len(Simulation(written, tracks).built.model.bound.nodes))
        except BadInput as error:
            counts.append(error.kind)
    assert counts[1] == "binding-out-of-reach" and 0 < counts[2] < counts[0]
    row.group, row.target_group = "", "Pins"
    written, tracks = exported(scene, tmp_path / "target.sinew")
    with pytest.raises(BadInput) as caught:
        Simulation(written, tracks)
    assert caught.value.kind == "binding-out-of-reach", "the target is painted on its other side alone"


@pytest.mark.slow
@pytest.mark.parametrize("first", [True, False])
def test_keys_cannot_let_go_of_an_exact_row(tmp_path: Path, first: bool) -> None:
    """Nor take hold of one that does not hold at first."""
    scene, _, box = held_box()
    bpy.ops.sinew.attach(reach=0.06)
    row = box.sinew.attachments[0]
    for frame, is_on in ((1, first), (4, not first)):
        row.is_on = is_on
        row.keyframe_insert("is_on", frame=frame)
    with pytest.raises(BadInput) as caught:
        fallen(scene, tmp_path / "exact.sinew")
    assert caught.value.kind == "binding-keyed" and '"Top"' in caught.value.sentence
    row.is_exact = False
    if not first:
        return
    assert fallen(scene, tmp_path / "springs.sinew") > 0.05, "its springs let go at frame 4"


@pytest.mark.slow
def test_the_overlay_shows_bound_nodes_in_the_colour_of_their_row(tmp_path: Path) -> None:
    scene, _, box = held_box()
    bpy.ops.sinew.attach(reach=0.06)
    scene.sinew.cache_folder = str(tmp_path)
    bpy.ops.sinew.simulate()
    parts = list(bone_attachment_overlay.baked_parts(body_folder(scene, box), scene, box, 5))
    ((name, colour, _, lines),) = parts
    assert name == "" and np.allclose(colour, box.sinew.attachments[0].color) and len(lines)
    assert -1.5 < lines[:, 2].min() and lines[:, 2].max() < -0.9


@pytest.mark.slow
def test_a_spring_sags_by_m_g_over_k_and_breaks_above_its_force(tmp_path: Path) -> None:
    scene, _, box = held_box()
    bpy.ops.sinew.attach(kind="SPRING", reach=2.0)
    row = box.sinew.attachments[0]
    weight = box.sinew.density * float(np.prod(box.dimensions)) * 9.81
    row.spring_constant = weight / 0.1
    row.damping = 4900.0
    scene.frame_end = 30
    scene.sinew.cache_folder = str(tmp_path)
    for force, is_broken in ((0.0, False), (0.8 * row.spring_constant * 0.1, True)):
        row.breaking_force = force
        bpy.ops.sinew.simulate()
        folder = body_folder(scene, box)
        z = [float(CacheReader(folder).read_frame(frame).x[node_range(folder)][:, 2].mean()) for frame in (1, 30)]
        assert z[0] - z[1] > 1.0 if is_broken else z[0] - z[1] == pytest.approx(0.1, rel=0.02)
        colours = {colour for _, colour, _, _ in bone_attachment_overlay.baked_parts(folder, scene, box, 30)}
        assert (bone_attachment_overlay.BROKEN_COLOUR in colours) == is_broken
        scene.frame_set(30)
        loads = attachment_load_overlay.loads_of(scene, box)
        assert not loads if is_broken else loads[0][0] == pytest.approx(weight, rel=0.02)
        box.sinew.show_attachment = True
        shown = list(attachment_load_overlay.shown_loads(scene))
        assert len(shown) == len(loads)
        if not is_broken:
            assert loads[0][6] - loads[0][3] == pytest.approx(0.1, rel=0.02), "as the spring is drawn"
            assert f"Carries {shown[0][2]}" in panel_lines(box)


def panel_lines(obj: bpy.types.Object) -> list[str]:
    """Returns the texts in the panel Attachments of a body."""
    layout = FakeLayout()
    attachments_layout.draw_attachments(layout, context_of(obj))
    return layout.lines


def node_range(folder: Path) -> slice:
    """Returns which nodes of a frame are those of the box."""
    first, last = baked_tets.body_tets(CacheReader(folder), "Box").tets_and_nodes(CacheReader(folder), 0)[1]
    return slice(first, last)
