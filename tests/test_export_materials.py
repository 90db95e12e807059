# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set and painted about flow, heat and fracture is what the scene folder says; changes make a bake outdated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, counts, fresh
from fixtures.export_scenes import exported, refused
from sinew.addon.export import input_digest
from sinew.addon.objects import heat_transfer_coefficient, new_role_objects, roles
from sinew.addon.properties import softening_table_editing
from sinew.solver.runtime.error_messages import TEXTS
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.material_presets import BRITTLE_FEATURE, MATERIAL_PRESETS
from sinew.solver.scene.scene import ATTRIBUTES
from sinew.solver.scene.validation import check_scene


def body(name: str = "Box") -> bpy.types.Object:
    obj = add_box(name)
    roles.make_body(obj)
    return obj


def everything_on(obj: bpy.types.Object) -> bpy.types.PropertyGroup:
    own = obj.sinew
    own.use_plasticity = own.use_heat = own.use_fracture = True
    return own


def paint(obj: bpy.types.Object, name: str, weight: float = 0.25) -> None:
    """Adds a group that has a weight where z is above 0."""
    obj.vertex_groups.new(name=name).add([v.index for v in obj.data.vertices if v.co.z > 0], weight, "REPLACE")


def animate(struct: bpy.types.bpy_struct, setting: str, values: dict[int, float]) -> None:
    for frame, value in values.items():
        setattr(struct, setting, value)
        struct.keyframe_insert(setting, frame=frame)
    data = struct.id_data.animation_data
    for layer in data.action.layers:
        for strip in layer.strips:
            for curve in strip.channelbag(data.action_slot).fcurves:
                for point in curve.keyframe_points:
                    point.interpolation = "LINEAR"


def test_an_elastic_body_has_none_of_it(tmp_path: Path) -> None:
    scene = fresh()
    body()
    scene.frame_end = 2
    written, tracks = exported(scene, tmp_path / "c.sinew")
    found = written.bodies[0]
    assert found.plasticity is found.heat is found.fracture is None
    assert found.attributes == () and len(found.face_of_triangle) == 0 and written.heat_sources == ()
    assert not tracks.has("body.Box.flow") and not tracks.has("air_temperature")


def test_settings_arrive(tmp_path: Path) -> None:
    scene = fresh()
    own = everything_on(body())
    own.plastic_law = "ADDITIVE"
    own.yield_strain, own.flow, own.maximum_strain = 0.125, 3.0, 0.75
    own.temperature, own.conductivity, own.heat_capacity, own.heat_exchange, own.melting_point = 30, 2, 900, 25, 70
    softening_table_editing.write_rows(own.softening, np.array([[20.0, 1, 1, 1], [70.0, 0.5, 0.25, 8.0]]))
    own.breaking_stress, own.scatter, own.seed, own.most_splits, own.most_pieces = 2.0e5, 0.5, 7, 9, 11
    own.attributes = {"velocity", "stress"}
    scene.sinew.air_temperature = -5.0
    written, _ = exported(scene, tmp_path / "c.sinew")
    found = written.bodies[0]
    plastic, heat, fracture = found.plasticity, found.heat, found.fracture
    assert (plastic.law, plastic.yield_strain, plastic.flow, plastic.maximum_strain) == ("additive", 0.125, 3.0, 0.75)
    assert (heat.temperature, heat.conductivity, heat.heat_capacity) == (30.0, 2.0, 900.0)
    assert (heat.exchange, heat.melting_point) == (25.0, 70.0)
    assert np.array_equal(heat.softening, [[20, 1, 1, 1], [70, 0.5, 0.25, 8]])
    assert (fracture.breaking_stress, fracture.scatter, fracture.seed) == (2.0e5, 0.5, 7)
    assert (fracture.most_splits, fracture.most_pieces, fracture.toughness) == (9, 11, None)
    assert found.attributes == ("stress", "velocity")
    assert written.settings.air_temperature == -5.0
    own.use_toughness, own.toughness, own.plastic_law, own.hardening = True, 3.0e4, "MULTIPLICATIVE", 0.5
    own.attributes = set(ATTRIBUTES)
    found = exported(scene, tmp_path / "d.sinew")[0].bodies[0]
    assert found.fracture.toughness == 3.0e4 and found.plasticity.hardening == 0.5
    assert found.plasticity.law == "multiplicative" and found.attributes == ATTRIBUTES


def test_paint_arrives_and_triangles_know_their_polygon(tmp_path: Path) -> None:
    scene = fresh()
    obj = body()
    own = everything_on(obj)
    fields = ("yield_group", "flow_group", "maximum_group", "strength_group", "unbreakable_group")
    for i, field in enumerate(fields):
        paint(obj, field, 0.25 * (i + 1) if i < 3 else 1.0)
        setattr(own, field, field)
    found = exported(scene, tmp_path / "c.sinew")[0].bodies[0]
    upper = np.array([v.co.z > 0 for v in obj.data.vertices])
    painted = (
        found.plasticity.yield_paint,
        found.plasticity.flow_paint,
        found.plasticity.maximum_paint,
        found.fracture.strength_paint,
        found.fracture.unbreakable,
    )
    for values, weight in zip(painted, (0.25, 0.5, 0.75, 1.0, 1.0), strict=True):
        assert np.allclose(values, np.where(upper, weight, 0.0))
    assert (np.diff(found.face_of_triangle) >= 0).all()
    for corners, face in zip(found.triangles, found.face_of_triangle, strict=True):
        assert set(corners.tolist()) <= set(obj.data.polygons[face].vertices)


def test_keyframes_become_tracks(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 5
    own = everything_on(body())
    for setting in ("yield_strain", "flow", "maximum_strain"):
        animate(own, setting, {1: 1.0, 5: 3.0})
    animate(own, "breaking_stress", {1: 1.0e5, 5: 3.0e5})
    animate(scene.sinew, "air_temperature", {1: 20.0, 5: 60.0})
    scene.frame_set(4)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    for frame, share in ((1, 0.0), (3, 0.5), (5, 1.0)):
        time = written.settings.time(frame)
        for setting in ("yield_strain", "flow", "maximum_strain"):
            assert tracks.sample(f"body.Box.{setting}", time) == pytest.approx(1.0 + 2.0 * share)
        assert tracks.sample("body.Box.breaking_stress", time) == pytest.approx(1.0e5 + 2.0e5 * share)
        assert tracks.sample("air_temperature", time) == pytest.approx(20.0 + 40.0 * share)
    assert written.bodies[0].fracture.breaking_stress == pytest.approx(1.0e5), "the first frame counts"


def test_drivers_become_tracks(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 3
    obj = body()
    obj.sinew.use_fracture = True
    obj.sinew.driver_add("breaking_stress").driver.expression = "1000 * frame"
    written, tracks = exported(scene, tmp_path / "c.sinew")
    assert tracks.sample("body.Box.breaking_stress", written.settings.time(3)) == pytest.approx(3000.0)


def test_heat_sources_arrive(tmp_path: Path) -> None:
    scene = fresh()
    scene.unit_settings.scale_length = 0.5
    scene.frame_end = 5
    everything_on(body())
    assert bpy.ops.sinew.add_heat_source() == {"FINISHED"}
    flame = roles.heat_sources(scene)[0]
    box = roles.bodies(scene)[0].sinew
    per_kelvin = box.heat_speed * flame.sinew.source_exchange / (flame.sinew.source_radius * 0.5)
    alone = heat_transfer_coefficient.HEATING_RATE * box.density * box.heat_capacity
    assert per_kelvin > alone, "large bodies would melt slower than small ones"
    assert flame.sinew.source_exchange == new_role_objects.AIR_LOSS_MARGIN * box.heat_exchange, (
        "it loses more to the air"
    )
    flame.sinew.source_radius, flame.sinew.source_exchange = 0.5, 800.0
    assert flame.empty_display_type == "SPHERE" and flame.empty_display_size == pytest.approx(0.5)
    animate(flame.sinew, "source_temperature", {1: 100.0, 5: 500.0})
    flame.location = (0.0, 0.0, 1.0)
    flame.keyframe_insert("location", frame=1)
    flame.location = (4.0, 0.0, 1.0)
    flame.keyframe_insert("location", frame=5)
    iron = add_box("Iron")
    iron.location.x = 3.0
    roles.make_heat_source(iron)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    by_name = {source.name: source for source in written.heat_sources}
    assert by_name[flame.name].radius == pytest.approx(0.25) and by_name[flame.name].exchange == 800.0
    assert len(by_name[flame.name].vertices) == 0
    assert np.abs(by_name["Iron"].vertices).max() == pytest.approx(0.5) and len(by_name["Iron"].triangles)
    key, last = by_name[flame.name].key, written.settings.time(5)
    assert tracks.sample(f"heat.{key}.matrix", last)[:3, 3] == pytest.approx([2.0, 0.0, 0.5])
    assert tracks.sample(f"heat.{key}.temperature", last) == pytest.approx(500.0)
    assert np.allclose(tracks.sample("heat.Iron.matrix", last)[:3, 3], [1.5, 0.0, 0.0])
    assert not tracks.has("heat.Iron.temperature") and not tracks.has(f"heat.{key}.exchange")
    animate(flame.sinew, "source_exchange", {1: 100.0, 5: 500.0})
    _, tracks = exported(scene, tmp_path / "keyed.sinew")
    assert tracks.sample(f"heat.{key}.exchange", last) == pytest.approx(500.0)


@pytest.mark.parametrize("key", MATERIAL_PRESETS)
def test_every_value_of_a_preset_arrives(key: str, tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 1
    own = body().sinew
    own.preset = key
    preset = MATERIAL_PRESETS[key]
    assert own.preset == key
    chosen = {p for p in ("plasticity", "heat", "fracture") if getattr(own, f"use_{p}")}
    assert chosen | ({BRITTLE_FEATURE} if own.motion == "BRITTLE" else set()) == set(preset.features)
    own.use_plasticity, own.use_heat, own.use_fracture = (
        part is not None for part in (preset.plasticity, preset.heat, preset.fracture)
    )
    assert own.preset == key, "what is switched on is no value of the material"
    found = exported(scene, tmp_path / "c.sinew")[0].bodies[0]
    for part in ("material", "plasticity", "heat", "fracture"):
        wanted, got = getattr(preset, part), getattr(found, part)
        assert (wanted is None) == (got is None)
        for name, value in vars(wanted).items() if wanted is not None else ():
            if isinstance(value, (float, np.ndarray)):
                assert np.allclose(getattr(got, name), value, rtol=1e-6), (part, name)
            else:
                assert np.array_equal(getattr(got, name), value), (part, name)


def test_a_preset_that_is_chosen_later_takes_away_what_the_first_one_did() -> None:
    fresh()
    own = body().sinew
    own.preset = "WAX"
    assert len(own.softening) == 4 and own.use_heat and own.use_plasticity
    own.softening[1].flow = 5.0
    assert own.preset == "CUSTOM"
    own.preset = "PLASTER"
    assert not own.use_plasticity and own.use_fracture and len(own.softening) == 0
    own.breaking_stress *= 2.0
    assert own.preset == "CUSTOM"


PHYSICS = {
    "use_plasticity": False, "plastic_law": "ADDITIVE", "yield_strain": 0.3, "flow": 0.7, "maximum_strain": 0.2,
    "hardening": 0.4, "yield_group": "Paint", "flow_group": "Paint", "maximum_group": "Paint",
    "use_heat": False, "temperature": 40.0, "conductivity": 3.0, "heat_capacity": 1234.0, "heat_exchange": 77.0,
    "melting_point": 99.0, "heat_speed": 3.0, "use_fracture": False, "breaking_stress": 777.0, "use_toughness": True,
    "scatter": 0.3, "seed": 5, "strength_group": "Paint", "unbreakable_group": "Paint", "most_splits": 3,
    "most_pieces": 4, "attributes": {"damage"},
}  # fmt: skip


def test_every_change_makes_a_bake_outdated() -> None:
    scene = fresh()
    obj = body()
    own = everything_on(obj)
    paint(obj, "Paint")
    seen = {input_digest.settings_digest(scene)}

    def changed(what: str) -> None:
        digest = input_digest.settings_digest(scene)
        assert digest not in seen, what
        seen.add(digest)

    for setting, value in PHYSICS.items():
        before = getattr(own, setting)
        setattr(own, setting, value)
        changed(setting)
        setattr(own, setting, before)
    bpy.ops.sinew.add_softening()
    changed("rows")
    own.softening[1].stiffness = 0.9
    changed("a factor")
    source = new_role_objects.add_heat_source(bpy.context)
    changed("a heat source")
    for setting in ("source_temperature", "source_radius", "source_exchange"):
        setattr(source.sinew, setting, 3.0)
        changed(setting)
    source.location.x += 1.0
    changed("its place")
    animate(source.sinew, "source_temperature", {1: 3.0, 9: 4.0})
    changed("its animation")
    animate(own, "flow", {1: 10.0, 9: 4.0})
    changed("animated flow")
    digest = input_digest.settings_digest(scene)
    scene.frame_set(5)
    assert input_digest.settings_digest(scene) == digest, "the playhead changes nothing"
    scene.sinew.air_temperature = 50.0
    changed("air")


def test_what_is_switched_off_or_only_for_show_changes_nothing() -> None:
    scene = fresh()
    own = body().sinew
    digest = input_digest.settings_digest(scene)
    own.yield_strain, own.melting_point, own.breaking_stress, own.toughness = 0.5, 300.0, 1.0, 2.0
    own.separate_pieces, own.broken_material = True, bpy.data.materials.new("Inside")
    scene.sinew.air_temperature = 50.0
    assert input_digest.settings_digest(scene) == digest


WRONG = (
    ("breaking_stress", 0.0, "Breaking Stress"),
    ("breaking_stress", -2.0, "Breaking Stress"),
    ("yield_strain", -0.1, "Yield"),
)


@pytest.mark.parametrize(("setting", "value", "label"), WRONG)
def test_values_out_of_range_are_told(setting: str, value: float, label: str, tmp_path: Path) -> None:
    scene = fresh()
    own = everything_on(body())
    setattr(own, setting, value)
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "setting-out-of-range"
    assert label in problem.sentence and '"Box"' in problem.sentence


def test_values_out_of_range_at_a_later_frame_are_told(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 9
    animate(everything_on(body()), "breaking_stress", {1: 100.0, 5: -100.0})
    assert refused(scene, tmp_path / "c.sinew").kind == "setting-out-of-range"


@pytest.mark.parametrize("field", ["yield_group", "flow_group", "maximum_group", "strength_group", "unbreakable_group"])
def test_empty_and_missing_paint_is_told(field: str, tmp_path: Path) -> None:
    scene = fresh()
    obj = body()
    own = everything_on(obj)
    obj.vertex_groups.new(name="Nothing")
    setattr(own, field, "Nothing")
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "group-empty"
    label = own.bl_rna.properties[field].name
    assert all(word in problem.sentence for word in ('"Box"', '"Nothing"', label))
    setattr(own, field, "gone")
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "group-gone" and label in problem.sentence


def test_heat_sources_that_cannot_be_are_told(tmp_path: Path) -> None:
    scene = fresh()
    body()
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    scene.collection.objects.link(lamp)
    lamp.sinew.role = "HEAT"
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "not-a-heat-source" and '"Lamp"' in problem.sentence and "light" in problem.sentence
    for obj in scene.objects:
        obj.select_set(obj == lamp)
    lamp.sinew.role = "NONE"
    with pytest.raises(RuntimeError, match="cannot be a heat source"):
        bpy.ops.sinew.make_heat_source()
    assert lamp.sinew.role == "NONE"


def test_the_table_of_softening_is_edited() -> None:
    fresh()
    own = body().sinew
    before = counts()
    own.melting_point = 60.0
    assert bpy.ops.sinew.add_softening() == {"FINISHED"}
    rows = softening_table_editing.table_rows(own.softening)
    assert rows[0].tolist() == [20.0, 1.0, 1.0, 1.0] and rows[-1, 0] == 60.0
    assert (np.diff(rows[:, 0]) > 0).all() and own.softening_index == len(rows) - 1
    bpy.ops.sinew.add_softening()
    assert len(own.softening) == 5 and own.softening[4].temperature == 80.0
    own.softening[4].temperature = 10.0
    bpy.ops.sinew.sort_softening()
    assert own.softening[0].temperature == 10.0
    for _ in range(6):
        bpy.ops.sinew.remove_softening()
    assert len(own.softening) == 0 and own.softening_index == 0
    assert counts() == before


def test_removing_a_heat_source_leaves_an_empty() -> None:
    scene = fresh()
    source = new_role_objects.add_heat_source(bpy.context)
    source.select_set(True)
    assert bpy.ops.sinew.remove() == {"FINISHED"}
    assert source.sinew.role == "NONE" and source.name in scene.objects
    assert "not-a-heat-source" in TEXTS


def test_paint_in_an_attribute_counts_too(tmp_path: Path) -> None:
    scene = fresh()
    obj = body()
    own = everything_on(obj)
    values = np.linspace(0.0, 1.0, len(obj.data.vertices)).astype(np.float32)
    obj.data.attributes.new("Strong", "FLOAT", "POINT").data.foreach_set("value", values)
    own.strength_group = "Strong"
    assert np.allclose(exported(scene, tmp_path / "c.sinew")[0].bodies[0].fracture.strength_paint, values)
    first = input_digest.settings_digest(scene)
    obj.data.attributes["Strong"].data[0].value = 0.5
    assert input_digest.settings_digest(scene) != first
    own.strength_group = ""
    other = input_digest.settings_digest(scene)
    obj.data.attributes["Strong"].data[0].value = 0.75
    assert input_digest.settings_digest(scene) == other


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        ("radius", "setting-out-of-range", "Radius"),
        ("rows", "softening-not-rising", "Box"),
        ("open", "breaks-open", "Box"),
        ("law", "", ""),
    ],
)
def test_what_the_exporter_lets_through_is_told_before_the_work(
    wrong: str, kind: str, words: str, tmp_path: Path
) -> None:
    scene = fresh()
    scene.frame_end = 1
    obj = body()
    own = everything_on(obj)
    source = new_role_objects.add_heat_source(bpy.context)
    if wrong == "radius":
        source.sinew.source_radius = 0.0
    elif wrong == "rows":
        softening_table_editing.write_rows(own.softening, np.array([[60.0, 1, 1, 1], [20.0, 1, 1, 1]]))
    elif wrong == "open":
        bpy.context.view_layer.objects.active = obj
        obj.data.clear_geometry()
        obj.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 2, 1), (0, 1, 3), (1, 2, 3)])

    def bake() -> None:
        check_scene(exported(scene, tmp_path / "c.sinew")[0])

    if not kind:
        bake()
        return
    with pytest.raises(BadInput) as caught:
        bake()
    assert caught.value.kind == kind and words in caught.value.sentence and caught.value.next_step
