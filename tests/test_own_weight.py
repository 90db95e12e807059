# SPDX-License-Identifier: GPL-3.0-or-later
"""A body too soft for its size is told so, and stands after one click."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import fresh


@pytest.fixture
def cube():
    fresh()
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    bpy.ops.sinew.make_body()
    return bpy.context.object


def test_jelly_two_metres_high_collapses_and_stands_at_its_likeness(cube):
    from sinew.addon.drawing import own_weight

    scene = bpy.context.scene
    cube.sinew.preset = "JELLY"
    density, modulus = cube.sinew.density, cube.sinew.youngs_modulus
    assert own_weight.strain_at_foot(cube, scene) == pytest.approx(density * 9.81 * 2.0 / modulus, rel=1e-3)
    assert own_weight.collapses(cube, scene)
    bpy.ops.sinew.stand_up()
    assert cube.sinew.use_simulated_size
    assert own_weight.strain_at_foot(cube, scene) == pytest.approx(own_weight.STANDS, rel=0.06)
    assert not own_weight.collapses(cube, scene)


def test_stiffened_it_stands_at_its_own_size(cube):
    from sinew.addon.drawing import own_weight

    scene = bpy.context.scene
    cube.sinew.preset = "JELLY"
    bpy.ops.sinew.stiffen()
    assert cube.sinew.youngs_modulus == pytest.approx(200000.0) and not cube.sinew.use_simulated_size
    assert cube.sinew.preset == "CUSTOM"
    assert own_weight.strain_at_foot(cube, scene) == pytest.approx(own_weight.STANDS, rel=0.06)


def test_the_panel_offers_both_in_words_of_the_scene(cube):
    from fake_layout import FakeLayout
    from sinew.addon.drawing import layouts

    cube.sinew.preset = "JELLY"
    layout = FakeLayout()
    layouts.draw_material(layout, bpy.context)
    assert "Stiffen to 200,000 Pa" in layout.lines and "Simulate as if 5 cm Long" in layout.lines
    bpy.context.scene.unit_settings.system = "NONE"
    assert layouts.length(0.05, bpy.context.scene) == "0.05"


def test_rubber_of_the_same_size_is_left_alone(cube):
    from sinew.addon.drawing import own_weight
    from sinew.addon.reading import input_notes

    cube.sinew.preset = "RUBBER"
    assert not own_weight.collapses(cube, bpy.context.scene)
    assert [note.kind for note in input_notes.notes(bpy.context.scene)] == []


def test_the_note_names_the_body_and_the_size(cube):
    from sinew.addon.reading import input_notes

    cube.sinew.preset = "JELLY"
    (note,) = input_notes.notes(bpy.context.scene)
    assert note.kind == "collapses"
    assert '"Cube"' in note.sentence and "0.05" in note.next_step and "200,000 Pa" in note.next_step


def test_without_gravity_nothing_collapses(cube):
    from sinew.addon.drawing import own_weight

    cube.sinew.preset = "JELLY"
    bpy.context.scene.use_gravity = False
    assert not own_weight.collapses(cube, bpy.context.scene)
