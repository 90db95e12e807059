# SPDX-License-Identifier: GPL-3.0-or-later
"""Fibres of a muscle made in Blender: lattices, curves, hair, painted directions, tendon, and their digests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.panels import fibres_layout, panels
from sinew.solver.mechanics.muscle.fibres.lattice_solid import make_lattice_solid
from sinew.solver.scene.fibres import Fibres
from sinew.solver.scene.scene import Scene
from test_addon import context_of
from test_export_muscle import muscle_box


def link(name: str, data: bpy.types.ID | None) -> bpy.types.Object:
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def add_lattice() -> bpy.types.Object:
    """Returns a lattice that is bent by a shape key, moved by a hook, and turned."""
    data = bpy.data.lattices.new("Cage")
    data.points_u, data.points_v, data.points_w = 2, 3, 4
    data.interpolation_type_u = "KEY_LINEAR"
    obj = link("Cage", data)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Bent", from_mix=False)
    for point in key.data:
        point.co.x += point.co.z**2
    key.value = 0.5
    hook = obj.modifiers.new("Hook", "HOOK")
    hook.object = link("Handle", None)
    hook.vertex_indices_set(range(24))
    hook.matrix_inverse.identity()
    hook.object.location.y = 0.25
    obj.scale, obj.rotation_euler, obj.location = (3.0, 4.0, 5.0), (0.1, 0.2, 0.3), (0.5, 0.0, 0.0)
    return obj


def add_curve(kind: str = "POLY") -> bpy.types.Object:
    """Returns a thick curve of two strands."""
    data = bpy.data.curves.new("Strands", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.1
    for x in (0.0, 0.2):
        spline = data.splines.new(kind)
        points = spline.points if kind == "POLY" else spline.bezier_points
        points.add(2)
        for i, point in enumerate(points):
            point.co = (x, 0.1 * i, float(i), 1.0)[: len(point.co)]
    return link("Strands", data)


def add_hair() -> bpy.types.Object:
    data = bpy.data.hair_curves.new("Hair")
    data.add_curves([3, 2])
    for i, point in enumerate(data.points):
        point.position = (0.1 * i, 0.0, 0.3 * i)
    return link("Hair", data)


def test_a_lattice_arrives_as_blender_deforms_with_it(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    cage = add_lattice()
    obj.sinew.fibre_source, obj.sinew.fibre_lattice, obj.sinew.fibre_axis = "LATTICE", cage, "V"
    scene.unit_settings.scale_length = 0.1
    fibres = exported(scene, tmp_path / "c.sinew")[0].bodies[0].muscle.fibres
    own = fibres.lattice
    assert (fibres.source, fibres.axis, own.name) == ("lattice", "v", "Cage")
    assert own.counts == (2, 3, 4) and own.interpolation == ("linear", "b-spline", "b-spline")
    solid = make_lattice_solid(own.rest, own.deformed, own.counts, own.interpolation, own.matrix)
    mesh = bpy.data.meshes.new("Cloud")
    places = np.random.default_rng(1).uniform(-0.5, 0.5, (20, 3))
    mesh.from_pydata(places.tolist(), [], [])
    cloud = link("Cloud", mesh)
    cloud.modifiers.new("Lattice", "LATTICE").object = cage
    cloud.matrix_world = cage.matrix_world
    bpy.context.view_layer.update()
    moved = cloud.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    there = np.array([cloud.matrix_world @ v.co for v in moved.vertices]) * 0.1
    here = solid.evaluate(places)[0] @ own.matrix[:3, :3].T + own.matrix[:3, 3]
    assert np.abs(there - here).max() < 1e-6


@pytest.mark.parametrize("kind", ["POLY", "BEZIER"])
def test_thick_curves_arrive_as_lines(tmp_path: Path, kind: str) -> None:
    scene, obj = muscle_box()
    strands = add_curve(kind)
    strands.location.x = 0.5
    obj.sinew.fibre_source, obj.sinew.fibre_curves = "CURVES", strands
    before = len(bpy.data.curves)
    curves = exported(scene, tmp_path / "c.sinew")[0].bodies[0].muscle.fibres.curves
    assert len(bpy.data.curves) == before and strands.data.bevel_depth == pytest.approx(0.1)
    assert len(curves.sizes) == 2 and (kind == "BEZIER" or list(curves.sizes) == [3, 3])
    for x, line in zip((0.5, 0.7), curves.polylines, strict=True):
        assert line[0] == pytest.approx([x, 0.0, 0.0], abs=1e-6)
        assert line[-1] == pytest.approx([x, 0.2, 2.0], abs=1e-6)


def test_hair_arrives(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    obj.sinew.fibre_source, obj.sinew.fibre_curves = "CURVES", add_hair()
    curves = exported(scene, tmp_path / "c.sinew")[0].bodies[0].muscle.fibres.curves
    assert list(curves.sizes) == [3, 2]
    assert curves.polylines[1] == pytest.approx(np.array([[0.3, 0.0, 0.9], [0.4, 0.0, 1.2]]))


def test_painted_directions_and_tendon_arrive(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    attribute = obj.data.attributes.new("Along", "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", [0.0, 2.0, 0.0] * len(obj.data.vertices))
    for name in ("Half", "Tendon"):
        obj.vertex_groups.new(name=name).add([0, 1], 0.5, "REPLACE")
    own = obj.sinew
    own.fibre_direction, own.fibre_direction_group, own.tendon_group = "Along", "Half", "Tendon"
    own.pennation_angle, own.tendon_mesh = np.radians(20.0), obj.copy()
    bpy.context.scene.collection.objects.link(own.tendon_mesh)
    own.tendon_mesh.sinew.role = "NONE"
    own.tendon_mesh.location.x += 0.25
    obj.rotation_euler.z = 0.5 * np.pi
    fibres = exported(scene, tmp_path / "c.sinew")[0].bodies[0].muscle.fibres
    assert fibres.direction == pytest.approx(np.tile([-2.0, 0.0, 0.0], (len(fibres.direction), 1)), abs=1e-6)
    assert list(fibres.direction_paint[:3]) == list(fibres.tendon_paint[:3]) == [0.5, 0.5, 0.0]
    assert fibres.pennation == pytest.approx(np.radians(20.0))
    assert fibres.tendon_mesh.vertices.mean(axis=0) == pytest.approx([0.25, 0.0, 0.0], abs=1e-6)


def test_lengths_arrive_in_metres(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    scene.unit_settings.scale_length = 0.1
    own = obj.sinew
    own.origin_tendon, own.fascia_depth, own.tendon_depth, own.tendon_group = 0.2, 0.3, 0.4, "Origin"
    muscle = exported(scene, tmp_path / "c.sinew")[0].bodies[0].muscle
    assert muscle.origin_tendon == pytest.approx(0.02) and muscle.fascia_depth == pytest.approx(0.03)
    assert muscle.fibres.tendon_depth == pytest.approx(0.04)


def keyed_curve() -> bpy.types.Object:
    line = add_curve()
    line.shape_key_add(name="Basis")
    line.shape_key_add(name="Bent", from_mix=False)
    return line


def bare_lattice() -> bpy.types.Object:
    data = bpy.data.lattices.new("Cage")
    data.points_w = 4
    return link("Cage", data)


MAKERS = {
    "lattice": bare_lattice,
    "poly": add_curve,
    "bezier": lambda: add_curve("BEZIER"),
    "hair": add_hair,
    "keyed": keyed_curve,
}
CHANGES: dict[str, tuple[str, Callable[[bpy.types.Object], None]]] = {
    "point of a lattice": ("lattice", lambda cage: setattr(cage.data.points[3], "co_deform", (1.0, 2.0, 3.0))),
    "interpolation": ("lattice", lambda cage: setattr(cage.data, "interpolation_type_w", "KEY_CARDINAL")),
    "resolution": ("lattice", lambda cage: setattr(cage.data, "points_w", 7)),
    "place": ("lattice", lambda cage: setattr(cage, "location", (1.0, 0.0, 0.0))),
    "point": ("poly", lambda line: setattr(line.data.splines[0].points[1], "co", (1.0, 0.0, 0.0, 1.0))),
    "handle": ("bezier", lambda line: setattr(line.data.splines[0].bezier_points[1], "handle_left", (1.0, 0.0, 0.0))),
    "shape key": ("keyed", lambda line: setattr(line.data.shape_keys.key_blocks["Bent"], "value", 0.5)),
    "key point": ("keyed", lambda line: setattr(line.data.shape_keys.key_blocks[1].data[0], "co", (1.0, 0.0, 0.0))),
    "hair": ("hair", lambda hair: setattr(hair.data.points[1], "position", (1.0, 0.0, 0.0))),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_digest_follows_what_gives_the_fibres(change: str) -> None:
    scene, obj = muscle_box()
    kind, edit = CHANGES[change]
    made, own = MAKERS[kind](), obj.sinew
    own.fibre_source = "LATTICE" if kind == "lattice" else "CURVES"
    setattr(own, "fibre_lattice" if kind == "lattice" else "fibre_curves", made)
    before = settings_digest(scene)
    edit(made)
    after = settings_digest(scene)
    assert after != before
    own.fibre_source = "HARMONIC"
    unused = settings_digest(scene)
    made.location.x += 1.0
    assert settings_digest(scene) == unused, "nothing reads it"


@pytest.mark.parametrize(
    ("setting", "make", "kind"),
    [
        ("fibre_lattice", add_hair, "fibre-object-type"),
        (
            "fibre_lattice",
            lambda: bpy.data.objects.new("Lost", bpy.data.lattices.new("Lost")),
            "fibre-object-elsewhere",
        ),
        ("fibre_curves", bare_lattice, "fibre-object-type"),
    ],
)
def test_an_object_that_gives_no_fibres_is_named(tmp_path: Path, setting: str, make, kind: str) -> None:
    scene, obj = muscle_box()
    other = make()
    obj.sinew.fibre_source = "LATTICE" if setting == "fibre_lattice" else "CURVES"
    setattr(obj.sinew, setting, other)
    found = refused(scene, tmp_path / "c.sinew")
    assert found.kind == kind and other.name in found.sentence and obj.name in found.sentence


def test_bakes_without_a_source_stay_up_to_date(tmp_path: Path) -> None:
    scene, obj = muscle_box()
    before = settings_digest(scene)
    obj.sinew.fibre_axis, obj.sinew.fibre_direction_group = "U", "Origin"
    assert settings_digest(scene) == before, "neither counts"
    body = exported(scene, tmp_path / "c.sinew")[0].bodies[0]
    plain = replace(body, muscle=replace(body.muscle, fibres=Fibres()))
    assert Scene((body,)).digest() == Scene((plain,)).digest()


def test_the_panel_of_fibres_is_there_for_muscles() -> None:
    _, obj = muscle_box()
    bpy.context.view_layer.objects.active = obj
    assert "fibres" in panels._shown_panels(context_of(obj))
    obj.sinew.use_muscle = False
    assert "fibres" not in panels._shown_panels(context_of(obj))
    obj.sinew.use_muscle, obj.sinew.fibre_source = True, "LATTICE"
    layout = FakeLayout()
    fibres_layout.draw_fibres(layout, context_of(obj))
    shown = [name for _, name in layout.drawn]
    assert shown[:3] == ["fibre_source", "fibre_lattice", "fibre_axis"] and "fibre_curves" not in shown
