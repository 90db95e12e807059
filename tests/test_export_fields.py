# SPDX-License-Identifier: GPL-3.0-or-later
"""Which force fields of a Blender scene act on which bodies, what the scene folder says of them, and the warnings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported, refused
from fixtures.operator_scenes import panel_lines
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.export.input_warnings import input_warnings
from sinew.addon.objects import field_objects, roles
from sinew.addon.panels import field_weights_layout
from sinew.solver.scene.force_fields import FieldWeights
from sinew.solver.simulation.simulation import Simulation


def body(name: str = "Box") -> bpy.types.Object:
    obj = add_box(name)
    roles.make_body(obj)
    return obj


def add_field(kind: str = "FORCE", name: str = "Field", mesh: bool = False) -> bpy.types.Object:
    if mesh:
        bpy.ops.mesh.primitive_cube_add()
    else:
        bpy.ops.object.empty_add()
    obj = bpy.context.object
    obj.name = name
    bpy.ops.object.forcefield_toggle()
    obj.field.type = kind
    return obj


def fields_in(scene: bpy.types.Scene) -> list[str]:
    return [obj.name for obj in field_objects.force_fields(scene)]


def kinds_of_warnings(scene: bpy.types.Scene) -> list[str]:
    return [warning.kind for warning in input_warnings(scene) if "field" in warning.kind]


def test_what_is_set_in_blender_arrives(tmp_path: Path) -> None:
    scene = fresh()
    body()
    scene.unit_settings.scale_length = 0.5
    obj = add_field("HARMONIC", mesh=True)
    own = obj.field
    own.strength, own.harmonic_damping, own.rest_length, own.noise, own.seed = 3.0, 0.25, 0.5, 0.75, 9
    own.shape, own.falloff_type, own.z_direction = "POINTS", "CONE", "NEGATIVE"
    own.falloff_power, own.use_min_distance, own.distance_min = 2.0, True, 0.125
    own.radial_falloff, own.use_radial_max, own.radial_max = 1.0, True, 30.0
    own.use_absorption, own.wind_factor = True, 0.5
    obj.location = (0.0, 0.0, 4.0)
    scene.frame_end = 2
    written, tracks = exported(scene, tmp_path / "c.sinew")
    (found,) = written.force_fields
    assert (found.kind, found.shape, found.falloff, found.z_direction) == ("harmonic", "points", "cone", "negative")
    assert (found.strength, found.damping, found.size, found.noise, found.seed) == (3.0, 0.25, 0.5, 0.75, 9)
    limits = (found.use_distance_min, found.distance_min, found.use_distance_max)
    assert found.power == 2.0 and limits == (True, 0.125, False)
    assert (found.radial_power, found.use_radial_max, found.radial_max) == (1.0, True, 30.0)
    assert (found.is_absorbed, found.wind_factor, found.unit) == (True, 0.5, 0.5)
    assert len(found.vertices) == 8 and np.abs(found.vertices).max() == 0.5 and len(found.triangles) == 12
    assert tracks.sample("field.Field.matrix", 0.0)[:3, 3] == pytest.approx([0.0, 0.0, 2.0])
    assert not tracks.has("field.Field.strength") and not tracks.has("field.Field.vertices")


def test_animated_settings_and_deforming_meshes_are_tracks(tmp_path: Path) -> None:
    scene = fresh()
    box = body()
    scene.frame_end = 11
    scene.render.fps = 10
    obj = add_field("DRAG", mesh=True)
    obj.field.shape = "SURFACE"
    for frame, strength, weight in ((1, 1.0, 0.0), (11, 3.0, 1.0)):
        obj.field.linear_drag, box.sinew.weight_drag = strength, weight
        obj.field.keyframe_insert("linear_drag", frame=frame)
        box.sinew.keyframe_insert("weight_drag", frame=frame)
    wave = obj.modifiers.new("Wave", "WAVE")
    wave.height = 1.0
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert tracks.sample("field.Field.strength", 1.0) == pytest.approx(3.0)
    assert tracks.sample("body.Box.weight_drag", 0.0) == 0.0 and tracks.sample("body.Box.weight_drag", 1.0) == 1.0
    assert tracks.sample("field.Field.vertices", 0.5).shape == (8, 3)
    assert written.force_fields[0].damping == 1.0
    array = obj.modifiers.new("Array", "ARRAY")
    for frame, array.count in ((1, 1), (11, 2)):
        array.keyframe_insert("count", frame=frame)
    assert refused(scene, tmp_path / "d.sinew").kind == "field-vertices-change"


def test_collections_and_own_fields_leave_bodies_out(tmp_path: Path) -> None:
    scene = fresh()
    first, second = body("First"), body("Second")
    wind = add_field("WIND", "Wind")
    add_field("FORCE", "Force")
    chosen = bpy.data.collections.new("Chosen")
    chosen.objects.link(wind)
    first.sinew.effector_collection = chosen
    bpy.context.view_layer.objects.active = second
    bpy.ops.object.forcefield_toggle()
    second.sinew.weight_wind, second.sinew.weight_gravity, second.sinew.field_charge = 0.5, 0.25, -2.0
    written, _ = exported(scene, tmp_path / "c.sinew")
    assert [own.name for own in written.force_fields] == ["Force", "Second", "Wind"]
    one, two = (own.field_weights for own in written.bodies)
    size = float(np.float32(0.05))  # Blender's properties have 32 bits
    assert one == FieldWeights(particle_size=size, excluded=("Force", "Second"))
    assert two == FieldWeights(wind=0.5, gravity=0.25, own_charge=-2.0, particle_size=size, excluded=("Second",))


def test_hidden_and_empty_fields_do_not_act() -> None:
    scene = fresh()
    body()
    obj = add_field("WIND")
    assert fields_in(scene) == ["Field"]
    obj.hide_viewport = True
    assert fields_in(scene) == []
    obj.hide_viewport = False
    obj.field.apply_to_location = False
    assert fields_in(scene) == []
    obj.field.apply_to_location = True
    obj.field.type = "NONE"
    assert fields_in(scene) == []


@pytest.mark.parametrize(("kind", "label"), [("BOID", "Boid"), ("GUIDE", "Curve Guide"), ("FLUID_FLOW", "Fluid Flow")])
def test_kinds_that_do_nothing_are_named(kind: str, label: str) -> None:
    scene = fresh()
    body()
    if kind == "GUIDE":
        bpy.ops.curve.primitive_bezier_curve_add()
        bpy.context.object.name = "Field"
        bpy.ops.object.forcefield_toggle()
        bpy.context.object.field.type = kind
    else:
        add_field(kind)
    (warning,) = [each for each in input_warnings(scene) if "field" in each.kind]
    assert warning.kind == "field-kind-idle" and f"the type {label} act" in warning.sentence
    assert '"Field"' in warning.sentence and fields_in(scene) == []


def test_fields_that_lack_something_are_named() -> None:
    scene = fresh()
    box = body()
    obj = add_field("TEXTURE")
    assert kinds_of_warnings(scene) == ["field-without-texture"]
    obj.field.texture = bpy.data.textures.new("Clouds", "CLOUDS")
    assert kinds_of_warnings(scene) == ["texture-field-sampled"]
    obj.field.type = "FORCE"
    assert kinds_of_warnings(scene) == []
    empty = add_field("WIND", "Empty", mesh=True)
    empty.field.shape = "POINTS"
    empty.data.clear_geometry()
    assert kinds_of_warnings(scene) == ["field-without-mesh"]
    bpy.data.objects.remove(empty)
    box.sinew.motion = "POSE"
    assert kinds_of_warnings(scene) == ["field-on-posed-flesh"]
    box.sinew.motion = "ELASTIC"
    bpy.ops.mesh.primitive_plane_add()
    bpy.ops.object.particle_system_add()
    bpy.context.object.particle_systems[0].settings.force_field_1.type = "FORCE"
    assert kinds_of_warnings(scene) == ["field-of-particles"]


def test_the_bake_is_outdated_by_what_it_reads_of_fields_and_by_nothing_else() -> None:
    scene = fresh()
    box = body()
    bare = settings_digest(scene)
    obj = add_field("TEXTURE", mesh=True)
    obj.field.texture = bpy.data.textures.new("Clouds", "CLOUDS")
    seen = {bare, settings_digest(scene)}
    for change in (
        lambda: setattr(obj.field, "strength", 2.0),
        lambda: setattr(obj, "location", (1.0, 0.0, 0.0)),
        lambda: setattr(obj.field.texture, "noise_scale", 0.7),
        lambda: setattr(obj.data.vertices[0], "co", (3.0, 0.0, 0.0)),
        lambda: setattr(box.sinew, "weight_wind", 0.5),
        lambda: setattr(box.sinew, "effector_collection", bpy.data.collections.new("None")),
    ):
        before = len(seen)
        change()
        seen.add(settings_digest(scene))
        assert len(seen) == before + 1
    box.sinew.weight_wind, box.sinew.effector_collection = 1.0, None
    obj.field.type = "BOID"
    assert settings_digest(scene) == bare


def test_an_exported_wind_blows_a_body_away(tmp_path: Path) -> None:
    """As Blender makes it: with a wind factor of 1 and a flow, along the z axis of the object."""
    scene = fresh()
    box = body()
    box.sinew.weight_gravity = 0.0
    box.sinew.density = 10.0
    wind = add_field("WIND")
    wind.field.strength, wind.field.flow, wind.field.wind_factor = 10.0, 1.0, 1.0
    wind.rotation_euler = (0.0, np.pi / 2, 0.0)
    scene.frame_end = 6
    written, tracks = exported(scene, tmp_path / "c.sinew")
    simulation = Simulation(written, tracks)
    for _ in range(5):
        simulation.advance()
    model, v = simulation.built.model, simulation.state.v
    moved = model.mass @ v / model.mass.sum()
    size = np.ptp(written.bodies[0].vertices, axis=0)
    pressed = 0.5 * 1.2 * 100.0 * size[1] * size[2] / model.mass.sum() * 5 / 24
    assert 0.8 * pressed < moved[0] < pressed and np.abs(moved[1:]).max() < 1e-3 * moved[0]


def test_the_panel_says_how_many_fields_act() -> None:
    scene = fresh()
    box = body()
    bpy.context.view_layer.objects.active = box

    def words() -> str:
        return " ".join(panel_lines(box, field_weights_layout.draw_field_weights))

    assert "No force field acts on this body" in words()
    add_field()
    bpy.context.view_layer.objects.active = box
    assert "1 force field in the scene" in words()
    box.sinew.motion = "POSE"
    assert "do not act on flesh" in words()
    assert scene.objects["Field"] is not None


@pytest.mark.parametrize(
    ("kind", "name"), [("WIND", "strength"), ("DRAG", "linear_drag"), ("HARMONIC", "rest_length"), ("WIND", "flow")]
)
def test_a_keyed_field_is_not_out_of_date_at_another_frame(kind: str, name: str) -> None:
    scene = fresh()
    body()
    own = add_field(kind).field
    for frame, value in ((1, 0.25), (9, 0.75)):
        setattr(own, name, value)
        own.keyframe_insert(name, frame=frame)
    digests = []
    for frame in (1, 5):
        scene.frame_set(frame)
        digests.append(settings_digest(scene))
    assert digests[0] == digests[1], "Blender has two names for the number, and keys under one of them"
    own.noise = 0.5
    assert settings_digest(scene) != digests[1]


def test_the_color_ramp_of_a_texture_is_in_the_digest() -> None:
    scene = fresh()
    body()
    own = add_field("TEXTURE").field
    own.texture = bpy.data.textures.new("Clouds", "CLOUDS")
    own.texture.use_color_ramp = True
    before = settings_digest(scene)
    own.texture.color_ramp.elements[0].color = (1.0, 0.0, 0.0, 1.0)
    red = settings_digest(scene)
    own.texture.color_ramp.elements[0].position = 0.25
    assert len({before, red, settings_digest(scene)}) == 3


def test_the_pixels_of_a_texture_are_in_the_digest() -> None:
    scene = fresh()
    body()
    own = add_field("TEXTURE").field
    own.texture = bpy.data.textures.new("Painted", "IMAGE")
    image = own.texture.image = bpy.data.images.new("Painted", 4, 4)
    before = settings_digest(scene)
    image.pixels[0] = 0.5
    painted = settings_digest(scene)
    image.pack()
    assert before != painted == settings_digest(scene), "packing changes no pixel"
    image.pixels[5] = 0.25
    assert settings_digest(scene) not in {before, painted}
    own.texture.type = "CLOUDS"
    clouds = settings_digest(scene)
    image.pixels[6] = 0.25
    assert settings_digest(scene) == clouds, "not read"
