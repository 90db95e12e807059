# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw Muscle by script: the muscle runs between two bones, its settings stay live, and it keeps out of bones."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from mathutils import Matrix

from fixtures.blender_scenes import add_mesh, evaluated, fresh
from fixtures.closed_surfaces import sphere
from sinew.addon.baking import fibre_preview, scene_check
from sinew.addon.evaluation.evaluated_mesh import positions, triangles
from sinew.addon.evaluation.matrix_units import transform_points
from sinew.addon.evaluation.mesh_signed_distance import MeshDistance, welded
from sinew.addon.objects import diagnostic_fixes, drawn_muscles, roles
from sinew.addon.objects.diagnostic_fixes import FixTarget
from sinew.addon.operators.draw_muscle import SINEW_OT_draw_muscle
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.mesh.geometry.signed_distance_derivatives import MovingSurface
from sinew.solver.mesh.geometry.surface_defects import find_surface_defects
from sinew.solver.mesh.geometry.triangle_surface import Surface, signed_volume
from sinew.solver.runtime.errors import BadInput
from test_make_muscle import elbow, group

PATH = [(1.0, 0.0, 1.9), (1.0, 0.25, 1.5), (1.0, 0.25, 1.1), (1.0, 0.0, 0.7)]

STRAIGHT = [(1.0, 0.1, 1.9), (1.0, 0.1, 1.3), (1.0, 0.1, 0.7)]


def draw(points=PATH, origin=("Rig", "Upper.L"), insertion=("Rig", "Fore.L"), **more):
    """Draws a muscle by script and returns its object."""
    ends = {"origin": origin[0], "origin_bone": origin[1], "insertion": insertion[0], "insertion_bone": insertion[1]}
    places = [{"name": "", "location": point} for point in points]
    assert bpy.ops.sinew.draw_muscle("EXEC_DEFAULT", points=places, **ends, **more) == {"FINISHED"}
    return bpy.context.object


def volume(obj) -> float:
    return signed_volume(positions(obj.data), triangles(obj.data))


def test_a_drawn_muscle_ends_at_its_two_bones_and_follows_them() -> None:
    fresh()
    rig = elbow()
    muscle = draw()
    settings = muscle.sinew
    assert roles.is_flesh(muscle) and settings.use_muscle
    hooks = {m.name: (m.object, m.subtarget) for m in muscle.modifiers if m.type == "HOOK"}
    assert hooks == {"Origin": (rig, "Upper.L"), "Insertion": (rig, "Fore.L")}
    assert find_manifold_defects(triangles(muscle.data)) is None and volume(muscle) > 0.0
    world = positions(muscle.data) + np.array(muscle.location)
    assert np.abs(world[group(muscle, "Origin")].mean(axis=0) - PATH[0]).max() < 0.05
    assert np.abs(world[group(muscle, "Insertion")].mean(axis=0) - PATH[-1]).max() < 0.05
    assert (group(muscle, "Muscle Ends") == group(muscle, "Origin") | group(muscle, "Insertion")).all()
    assert settings.origin_tendon > 0.05 and settings.tet_size == pytest.approx(settings.muscle_thickness / 3, rel=0.05)
    assert settings.shape_facing[1] > 0.9 * np.linalg.norm(settings.shape_facing), "thick away from the bones"
    rest = evaluated(muscle, 1)[0]
    rig.pose.bones["Fore.L"].rotation_mode = "XYZ"
    rig.pose.bones["Fore.L"].rotation_euler.x = 0.5
    bpy.context.view_layer.update()
    moved = np.linalg.norm(evaluated(muscle, 1)[0] - rest, axis=1)
    assert moved[group(muscle, "Insertion")].min() > 0.05 and moved[~group(muscle, "Insertion")].max() < 1e-5


def test_its_settings_stay_live() -> None:
    fresh()
    elbow()
    muscle = draw()
    settings, count, before = muscle.sinew, len(muscle.data.vertices), volume(muscle)
    tets = settings.tet_size
    settings.muscle_thickness *= 0.5
    assert volume(muscle) == pytest.approx(0.5 * before, rel=0.02) and len(muscle.data.vertices) == count
    assert settings.tet_size == pytest.approx(0.5 * tets, rel=0.05), "tets that nobody has chosen follow"
    halved = volume(muscle)
    settings.origin_tendon = settings.insertion_tendon = 0.3
    assert volume(muscle) < 0.85 * halved, "longer tendons leave less belly"
    settings.muscle_profile = "STRAP"
    assert volume(muscle) > halved
    settings.origin_count = 3
    assert find_manifold_defects(triangles(muscle.data)) is None
    heads = [group(muscle, f"Head {k}") for k in (1, 2, 3)]
    origin = group(muscle, "Origin")
    assert all((head & origin).any() for head in heads) and not (heads[0] & heads[2]).any()
    assert origin.any() and group(muscle, "Insertion").any()
    settings.origin_count = 1
    assert "Head 1" not in muscle.vertex_groups and len(muscle.data.vertices) == count
    settings.pennation_angle = 0.35
    assert settings.tendon_group == "Aponeurosis" and settings.tendon_depth > 0.0
    painted = group(muscle, "Aponeurosis")
    assert 0.1 < painted.mean() < 0.5
    settings.pennation_angle = 0.0
    assert settings.tendon_group == ""


def test_painted_weights_and_shape_keys_stay() -> None:
    fresh()
    elbow()
    muscle = draw()
    muscle.vertex_groups.new(name="Mine").add(list(range(40)), 1.0, "REPLACE")
    muscle.sinew.muscle_width *= 1.2
    assert group(muscle, "Mine").sum() == 40
    muscle.shape_key_add(name="Basis")
    before = positions(muscle.data)
    muscle.sinew.muscle_width *= 2.0
    assert (positions(muscle.data) == before).all(), "a sculpted mesh stays as it is"
    modeled = add_mesh("Modeled", *sphere(4, radius=0.1))
    modeled.sinew.muscle_width = 0.3
    assert len(modeled.data.vertices) == len(sphere(4, radius=0.1)[0])


def test_a_drawn_muscle_whose_scale_was_applied_is_rebuilt_as_large() -> None:
    fresh()
    elbow()
    obj = draw()
    obj.scale = (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    before = transform_points(np.array(obj.matrix_world), positions(obj.data))
    diagnostic_fixes.fix(bpy.context, "scale-not-applied", FixTarget(obj))
    drawn_muscles.rebuild_shape(obj)
    bpy.context.view_layer.update()
    after = transform_points(np.array(obj.matrix_world), positions(obj.data))
    assert after == pytest.approx(before, abs=1e-4)
    obj.scale = (1.0, 2.0, 1.0)
    with pytest.raises(BadInput, match="one scale for all axes"):
        diagnostic_fixes.fix(bpy.context, "scale-not-applied", FixTarget(obj))


def bone_mesh(name: str, centre, radius: float):
    vertices, faces = sphere(10, radius=radius)
    bone = add_mesh(name, vertices, faces)
    bone.location = centre
    roles.make_bone(bone)
    return bone


def distance_from(obj, other) -> np.ndarray:
    """Returns how far the vertices of an object are from another one, negative inside."""
    world = positions(obj.data) + np.array(obj.matrix_world.translation)
    surface = welded(positions(other.data) + np.array(other.matrix_world.translation), triangles(other.data))
    field = MeshDistance(*surface)
    return field(world)[0]


@pytest.mark.slow
def test_it_is_kept_outside_bone_meshes_and_other_muscles() -> None:
    fresh()
    upper, lower = bone_mesh("Upper", (0, 0, 2.2), 0.2), bone_mesh("Lower", (0, 0, -0.2), 0.2)
    knee = bone_mesh("Knee", (0.02, 0.0, 1.0), 0.25)
    bpy.context.view_layer.update()
    path = [(0.0, 0.0, 2.0), (0.0, 0.1, 1.0), (0.0, 0.0, 0.0)]
    first = draw(path, ("Upper", ""), ("Lower", ""), width=0.3)
    assert {row.object.name for row in first.sinew.shape_obstacles} >= {"Knee"}
    assert distance_from(first, knee).min() > -1e-4
    assert {m.object.name for m in first.modifiers if m.type == "HOOK"} == {"Upper", "Lower"}
    second = draw(path, ("Upper", ""), ("Lower", ""), width=0.3)
    belly = np.abs(positions(second.data)[:, 2]) < 0.7  # both share the places of their ends
    assert second != first and distance_from(second, first)[belly].min() > -1e-3
    second.sinew.muscle_gap = 0.05
    assert distance_from(second, knee)[belly].min() > 0.049
    # where bones are in a pose does not change the shape; Rebuild Shape takes them as they are
    shape = positions(second.data)
    knee.location.y = 5.0
    upper.location.x, lower.location.x = 3.0, 3.0
    bpy.context.view_layer.update()
    second.sinew.muscle_gap = 0.05
    assert np.abs(positions(second.data) - shape).max() < 1e-6
    bpy.context.view_layer.objects.active = second
    assert bpy.ops.sinew.rebuild_muscle_shape() == {"FINISHED"}
    assert np.abs(positions(second.data) - shape).max() > 0.01


def test_a_bone_mesh_with_a_hole_is_told_and_pushes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    fresh()
    elbow()
    bone = bone_mesh("Scan", (1.0, 0.3, 1.3), 0.3)
    free = positions(draw().data)
    bpy.data.objects.remove(bpy.context.object)
    vertices, faces = sphere(10, radius=0.3)
    bone.data.clear_geometry()
    bone.data.from_pydata(vertices.tolist(), [], faces[:-1].tolist())
    bpy.context.view_layer.update()
    with_hole = positions(draw().data)
    assert 'mesh of "Scan" is not closed' in capfd.readouterr().out
    bpy.data.objects.remove(bpy.context.object)
    bpy.data.objects.remove(bone)
    alone = positions(draw().data)
    assert np.abs(with_hole - alone).max() < 1e-6 < np.abs(free - alone).max()


def test_signed_distances_are_those_of_the_solver() -> None:
    rng = np.random.default_rng(3)
    vertices, faces = welded(*sphere(5, radius=1.0))
    vertices = vertices * (1.0, 0.3, 2.0) + 0.05 * rng.normal(size=vertices.shape)
    points = 1.5 * rng.normal(size=(300, 3))
    found, direction = MeshDistance(vertices, faces)(points)
    wanted = MovingSurface(vertices, faces).at(vertices).distances(points)
    assert np.abs(found - wanted.distance).max() < 1e-5
    far = np.abs(wanted.distance) > 0.01
    assert np.abs(direction - wanted.normal)[far].max() < 1e-3


def test_what_cannot_be_drawn_is_told() -> None:
    scene = fresh()
    elbow()
    with pytest.raises(RuntimeError, match="at one place"):
        draw([(1.0, 0.0, 1.0)] * 3)
    with pytest.raises(RuntimeError, match='no bone "Nobody"'):
        draw(insertion=("Rig", "Nobody"))
    assert [obj.name for obj in scene.objects] == ["Rig"]
    draw(insertion=("Rig", "Upper.L"))
    assert drawn_muscles.is_drawn(bpy.context.object)


def built_fibres(muscle) -> dict[str, np.ndarray]:
    """Returns what Build Fibres finds in a muscle."""
    assert bpy.ops.sinew.build_fibres() == {"FINISHED"}
    return fibre_preview.preview_of(bpy.context.scene, muscle).arrays


@pytest.mark.slow
def test_fibres_run_through_every_shape_and_turn_by_the_pennation_angle() -> None:
    fresh()
    elbow()
    muscle = draw()
    settings = muscle.sinew
    straight = built_fibres(muscle)
    settings.pennation_angle = 0.35
    turned = built_fibres(muscle)
    tendon = turned["fibre_tendon"]
    assert 0.05 < (tendon > 0.5).mean() < 0.5, "an aponeurosis, and a belly beside it"
    both = (tendon < 0.1) & (straight["fibre_tendon"] < 0.1)
    cosine = np.abs(np.einsum("ki,ki->k", straight["fibre_direction"], turned["fibre_direction"]))[both]
    assert np.median(np.arccos(np.clip(cosine, -1.0, 1.0))) == pytest.approx(0.35, abs=0.08)
    settings.pennation_angle = 0.0
    for profile in ("FAN", "STRAP", "BELLY"):
        settings.muscle_profile = profile
        for heads in (1, 4):
            settings.origin_count = heads
            found = built_fibres(muscle)
            assert np.allclose(np.linalg.norm(found["fibre_direction"], axis=1), 1.0)
            assert found["is_origin"].any() and found["is_insertion"].any()


def test_a_second_click_at_one_place_of_one_view_ends_a_muscle_however_late_it_comes() -> None:
    view = SimpleNamespace(perspective_matrix=Matrix())
    area = SimpleNamespace(spaces=SimpleNamespace(active=SimpleNamespace(region_3d=view)))
    drawing = SimpleNamespace(_last_press=None, _picks=[], _area=area)

    def press(x: int, y: int) -> bool:
        return SINEW_OT_draw_muscle._is_second_click(drawing, SimpleNamespace(mouse_x=x, mouse_y=y))

    assert not press(100, 100) and not press(100, 100), "the muscle has no origin yet"
    drawing._picks = ["origin"]
    assert not press(140, 100) and not press(140, 106)
    assert press(142, 104)
    view.perspective_matrix = Matrix.Translation((0.1, 0.0, 0.0))
    assert not press(142, 104), "the artist has turned the view since"
    assert press(142, 104)


@pytest.mark.parametrize("points", (STRAIGHT, PATH))
@pytest.mark.parametrize(("profile", "width"), list(itertools.product(("BELLY", "FAN", "STRAP"), (0.0, 0.08))))
def test_no_drawing_crosses_itself_wherever_it_is_moved(points, profile: str, width: float) -> None:
    fresh()
    elbow()
    muscle = draw(points, profile=profile, width=width)
    for turn in ((0.0, 0.0, 0.0), (0.3, 0.5, 0.2)):
        muscle.rotation_euler = turn
        bpy.context.view_layer.update()
        places = transform_points(np.array(muscle.matrix_world), positions(muscle.data))
        defects = find_surface_defects(Surface(places, triangles(muscle.data)))
        found = [len(each) for each in (defects.open, defects.doubled, defects.crossing, defects.inward)]
        assert found == [0, 0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "profile", "width"),
    [
        ([PATH[0], PATH[-1]], "BELLY", 0.0),
        ([PATH[0], PATH[1], PATH[-1]], "BELLY", 0.0),
        (PATH, "BELLY", 0.08),
        (STRAIGHT, "BELLY", 0.0),  # its walls and caps are flat
    ],
)
def test_check_finds_nothing_about_a_muscle_that_was_just_drawn(points, profile: str, width: float) -> None:
    """Its tendons are thinner than its tets: Robust tets cover them, where Smooth ones would end before the bone."""
    fresh()
    elbow()
    muscle = draw(points, profile=profile, **({"width": width} if width else {}))
    assert muscle.sinew.method == "ROBUST"
    assert bpy.ops.sinew.check() == {"FINISHED"}
    assert [row.line for row in scene_check.result_of(bpy.context.scene).rows] == []
    muscle.sinew.method = "SMOOTH"
    assert bpy.ops.sinew.check() == {"FINISHED"}
    assert "muscle-end-without-tets" in {row.kind for row in scene_check.result_of(bpy.context.scene).rows}
