# SPDX-License-Identifier: GPL-3.0-or-later
"""A body too soft for its size is told so, and stands after one click."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from test_addon import context_of


@pytest.fixture
def cube():
    fresh()
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    bpy.ops.sinew.make_body()
    return bpy.context.object


def test_jelly_two_metres_high_collapses_and_stands_at_its_likeness(cube):
    from sinew.addon.objects import self_weight_collapse as collapse

    scene = bpy.context.scene
    cube.sinew.preset = "JELLY"
    density, modulus = cube.sinew.density, cube.sinew.youngs_modulus
    assert collapse.self_weight_strain(cube, scene) == pytest.approx(density * 9.81 * 2.0 / modulus, rel=1e-3)
    assert collapse.collapses(cube, scene)
    bpy.ops.sinew.stand_up()
    assert cube.sinew.use_simulated_size
    assert collapse.self_weight_strain(cube, scene) == pytest.approx(collapse.SAG_STRAIN, rel=0.06)
    assert not collapse.collapses(cube, scene)


def test_stiffened_it_stands_at_its_own_size(cube):
    from sinew.addon.objects import self_weight_collapse as collapse

    scene = bpy.context.scene
    cube.sinew.preset = "JELLY"
    bpy.ops.sinew.stiffen()
    assert cube.sinew.youngs_modulus == pytest.approx(200000.0) and not cube.sinew.use_simulated_size
    assert cube.sinew.preset == "CUSTOM"
    assert collapse.self_weight_strain(cube, scene) == pytest.approx(collapse.SAG_STRAIN, rel=0.06)


def test_the_panel_offers_both_in_words_of_the_scene(cube):
    from fixtures.fake_layout import FakeLayout
    from sinew.addon.panels import material_layout, self_weight_hints

    cube.sinew.preset = "JELLY"
    layout = FakeLayout()
    material_layout.draw_material(layout, context_of(cube))
    assert "Stiffen to 200 kPa" in layout.lines and "Simulate as if 5 cm Long" in layout.lines
    bpy.context.scene.unit_settings.system = "NONE"
    assert self_weight_hints.length_text(0.05, bpy.context.scene) == "0.05"


def drawn_in_main():
    """Returns what the panel with the Simulate button draws."""
    from fixtures.fake_layout import FakeLayout
    from sinew.addon.panels import main_layout

    layout = FakeLayout()
    main_layout.draw_main(layout, context_of(bpy.context.object))
    return layout


def test_the_cure_is_offered_beside_simulate_before_the_bake_whatever_is_selected(cube):
    from sinew.addon.objects import self_weight_collapse as collapse

    cube.sinew.preset = "JELLY"
    bpy.ops.object.light_add()  # is selected now
    layout = drawn_in_main()
    names = [name for _, name in layout.drawn]
    assert "Cube is too soft to stand at its size" in layout.lines and "Stiffen to 200 kPa" in layout.lines
    assert names.index("sinew.stand_up") > names.index("sinew.simulate"), "which stays where it is when a hint goes"
    bpy.ops.sinew.stand_up(every=True)
    assert cube.sinew.use_simulated_size and not collapse.collapses(cube, bpy.context.scene)
    assert "sinew.stand_up" not in {name for _, name in drawn_in_main().drawn}


def test_one_press_lets_every_soft_body_stand_and_is_undone_as_one(cube):
    from sinew.addon.objects import self_weight_collapse as collapse

    cube.sinew.preset = "RUBBER"
    for place in (3.0, 6.0):
        bpy.ops.mesh.primitive_cube_add(size=2.0, location=(place, 0.0, 0.0))
        bpy.ops.sinew.make_body()
        bpy.context.object.sinew.preset = "JELLY"
    soft = [bpy.data.objects[name] for name in ("Cube.001", "Cube.002")]
    assert collapse.collapsing_bodies(bpy.context.scene.objects, bpy.context.scene) == soft
    lines = drawn_in_main().lines
    assert "2 bodies are too soft to stand at their size" in " ".join(lines) and "Stiffen Them" in lines
    stiff = cube.sinew.youngs_modulus
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.sinew.stiffen("EXEC_DEFAULT", True, every=True)
    assert [body.sinew.youngs_modulus for body in soft] == pytest.approx([200000.0] * 2)
    assert cube.sinew.youngs_modulus == stiff
    bpy.ops.ed.undo()
    again = [bpy.data.objects[name].sinew.youngs_modulus for name in ("Cube.001", "Cube.002")]
    assert again == pytest.approx([5000.0] * 2)


def test_what_the_panel_told_before_is_not_told_again_by_the_bake(cube):
    from sinew.addon.baking import bake_control, error_messages
    from sinew.addon.baking.state_machine import Job
    from sinew.addon.export import input_warnings
    from sinew.solver.scene.self_weight_check import collapse_warning

    cube.sinew.preset = "JELLY"
    told = [error_messages.note_of(note.as_warning()) for note in input_warnings.input_warnings(bpy.context.scene)]
    same, other = collapse_warning("Cube", 4.002, 2e5, 0.05, 0.025), collapse_warning("Sphere", 4.002, 2e5, 0.05, 0.025)
    events = tuple(warning.as_warning() for warning in (same, other))
    (note,) = bake_control._warning_notes(Job(1, 2, warnings=events), told)
    assert '"Sphere"' in note.line and "4 times its Stiffness" in note.measured


def test_rubber_of_the_same_size_is_left_alone(cube):
    from sinew.addon.export import input_warnings
    from sinew.addon.objects import self_weight_collapse as collapse

    cube.sinew.preset = "RUBBER"
    assert not collapse.collapses(cube, bpy.context.scene)
    assert [note.kind for note in input_warnings.input_warnings(bpy.context.scene)] == []


def test_the_note_names_the_body_and_the_size(cube):
    from sinew.addon.export import input_warnings

    cube.sinew.preset = "JELLY"
    (note,) = input_warnings.input_warnings(bpy.context.scene)
    assert note.kind == "collapses"
    assert '"Cube"' in note.sentence and "0.05" in note.next_step and "200 kPa" in note.next_step
    assert "--" not in note.next_step, "options are for the command line"


def test_without_gravity_nothing_collapses(cube):
    from sinew.addon.objects import self_weight_collapse as collapse

    cube.sinew.preset = "JELLY"
    bpy.context.scene.use_gravity = False
    assert not collapse.collapses(cube, bpy.context.scene)


def belly(high: float):
    """Returns a ball of fat that a bone holds."""
    from sinew.addon.objects import roles

    fresh()
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=high / 2.0)
    ball = bpy.context.object
    bpy.ops.sinew.make_flesh()
    ball.sinew.preset = "FAT"
    bpy.ops.mesh.primitive_cube_add(size=0.1)
    roles.make_bone(bpy.context.object)
    bpy.context.view_layer.objects.active = ball
    bpy.context.view_layer.update()
    return ball


def test_a_belly_of_fat_that_hangs_far_is_told_and_stiffened():
    from fixtures.fake_layout import FakeLayout
    from sinew.addon.export import input_warnings
    from sinew.addon.objects import self_weight_collapse as collapse
    from sinew.addon.panels import material_layout, self_weight_hints
    from sinew.addon.runtime.quantity_text import stress_text

    ball, scene = belly(0.7), bpy.context.scene
    density, modulus = ball.sinew.density, ball.sinew.youngs_modulus
    assert collapse.self_weight_strain(ball, scene) == pytest.approx(density * 9.81 * 0.7 / modulus, rel=0.02)
    assert collapse.is_too_soft_to_hang(ball, scene) and not collapse.collapses(ball, scene)
    (note,) = input_warnings.input_warnings(scene)
    assert note.kind == "hangs-far" and '"Sphere"' in note.sentence and "Pa" in note.next_step
    layout = FakeLayout()
    context = context_of(ball)
    material_layout.draw_material(layout, context)
    wanted = collapse.standing_stiffness(ball, scene)
    assert f"Stiffen to {stress_text(wanted)}" in layout.lines and "sinew.stand_up" not in {
        name for _, name in layout.drawn
    }
    assert self_weight_hints.HANGING_NOTE in " ".join(layout.lines)
    bpy.ops.sinew.stiffen()
    assert collapse.self_weight_strain(ball, scene) == pytest.approx(collapse.HANGING_TARGET_STRAIN, rel=0.06)
    assert not collapse.is_too_soft_to_hang(ball, scene) and list(input_warnings.input_warnings(scene)) == []


def test_thin_held_flesh_is_as_soft_as_it_is_thick_however_high():
    from sinew.addon.objects import self_weight_collapse as collapse

    ball, scene = belly(0.2), bpy.context.scene
    assert not collapse.is_too_soft_to_hang(ball, scene)
    ball.scale.z = 10.0
    bpy.context.view_layer.update()
    assert collapse.self_weight_strain(ball, scene) < collapse.HANGING_WARNING_STRAIN
    ball.sinew.motion = "ELASTIC"
    assert collapse.collapses(ball, scene), "on its foot it stands 2 m high"
