# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be simulated is named; what can is built in order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.closed_surfaces import sphere
from fixtures.scenes import JELLY, Run, block, pose
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.mesh.tetrahedralize.fill_warnings import fill_warnings
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene, Settings
from sinew.solver.simulation.advance_frame import advance_frame
from sinew.solver.simulation.build import build
from test_pins import pinned
from test_unmeshed_parts import box, horseshoe, together


def refusal(tmp_path, scene, **tracks):
    """Returns the failure that building a scene ends in; it names the object in quotes."""
    with pytest.raises(BadInput) as caught:
        Run(tmp_path, scene, **tracks)
    assert caught.value.exit_code == 2
    return caught.value


def nan_at(body, vertex):
    vertices = body.vertices.copy()
    vertices[vertex, 1] = np.nan
    return replace(body, vertices=vertices)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("mesh-empty", lambda b: replace(b, triangles=b.triangles[:0])),
        ("mesh-not-finite", lambda b: nan_at(b, 3)),
        ("mesh-index", lambda b: replace(b, triangles=b.triangles + 1000)),
        ("setting-out-of-range", lambda b: replace(b, material=replace(JELLY, youngs_modulus=0.0))),
        ("setting-out-of-range", lambda b: replace(b, material=replace(JELLY, youngs_modulus=float("nan")))),
        ("setting-out-of-range", lambda b: replace(b, material=replace(JELLY, poisson_ratio=0.5))),
        ("setting-out-of-range", lambda b: replace(b, material=replace(JELLY, poisson_ratio=-0.1))),
        ("setting-out-of-range", lambda b: replace(b, material=replace(JELLY, density=0.0))),
        ("setting-out-of-range", lambda b: replace(b, material=replace(JELLY, mass_damping=-1.0))),
        ("setting-out-of-range", lambda b: replace(b, simulated_scale=0.0)),
        ("setting-out-of-range", lambda b: replace(b, initial_velocity=(0.0, float("inf"), 0.0))),
        ("setting-out-of-range", lambda b: replace(b, meshing=Meshing(divisions=0))),
        ("setting-out-of-range", lambda b: replace(b, meshing=Meshing(tet_size=-1.0))),
        ("setting-out-of-range", lambda b: pinned(b, lambda v: v[:, 0] < 0.1, 1.5)),
        ("pins-without-vertices", lambda b: replace(b, pinned=np.array([10_000]), pin_weights=np.ones(1))),
        ("pins-everything", lambda b: pinned(b, lambda v: v[:, 0] > -1.0)),
        ("no-tets", lambda b: replace(b, tets=b.tets[:0])),
        ("tets-without-nodes", lambda b: replace(b, tets=b.tets + 1000)),
        ("tets-inverted", lambda b: replace(b, tets=b.tets[:, [1, 0, 2, 3]])),
    ],
)
def test_a_bad_body_is_named(tmp_path, kind, change):
    found = refusal(tmp_path, Scene((change(block((2, 2, 2), key="jelly")),)))
    assert found.kind == kind
    assert '"Jelly"' in found.sentence and found.next_step


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("setting-out-of-range", Settings(fps=0.0)),
        ("setting-out-of-range", Settings(substeps=0)),
        ("setting-out-of-range", Settings(tolerance=0.0)),
        ("setting-out-of-range", Settings(max_iterations=0)),
        ("setting-out-of-range", Settings(gravity=(0.0, 0.0, float("nan")))),
        ("frame-range-empty", Settings(frame_start=10, frame_end=9)),
        ("samples-do-not-divide", Settings(substeps=4, samples_per_frame=3)),
    ],
)
def test_bad_settings_are_named(tmp_path, kind, settings):
    assert refusal(tmp_path, Scene((block(),), settings=settings)).kind == kind


def test_a_scene_without_bodies_is_refused(tmp_path):
    assert refusal(tmp_path, Scene()).kind == "nothing-to-simulate"


def test_pins_on_everything_may_be_released_later(tmp_path):
    body = pinned(block((2, 2, 2)), lambda v: v[:, 0] > -1.0)
    tracks = {"body__block__pin_stiffness": ([0.0, 1.0], [1.0, 0.0], "step")}
    run = Run(tmp_path, Scene((body,)), **tracks)
    run.advance(2)
    assert np.abs(run.state.x - run.built.model.X).max() < 1e-12


def cube(**settings):
    vertices, triangles = shapes.cube(2)
    return Collider("cube", "Cube", "mesh", vertices, triangles, **settings)


@pytest.mark.parametrize(
    ("kind", "collider", "matrix"),
    [
        ("mesh-empty", Collider("cube", "Cube", "mesh"), np.eye(4)),
        ("mesh-not-finite", replace(cube(), vertices=cube().vertices * np.nan), np.eye(4)),
        ("setting-out-of-range", cube(friction=-0.1), np.eye(4)),
        ("setting-out-of-range", cube(thickness=float("nan")), np.eye(4)),
        ("collider-flat", cube(), np.diag([1.0, 1.0, 0.0, 1.0])),
        ("collider-flat", Collider("cube", "Cube"), np.diag([1.0, 1.0, 0.0, 1.0])),
        ("body-in-collider", Collider("cube", "Cube"), pose(move=(0.0, 0.0, 2.5))),
        ("body-in-collider", cube(), np.diag([8.0, 8.0, 8.0, 1.0])),
        ("collider-in-body", cube(), np.diag([0.4, 0.4, 0.4, 1.0]) + pose(move=(1.5, 1.5, 1.5)) - np.eye(4)),
    ],
)
def test_a_bad_collider_is_named(tmp_path, kind, collider, matrix):
    body = block((6, 6, 6), (3.0, 3.0, 3.0))
    found = refusal(tmp_path, Scene((body,), (collider,)), collider__cube__matrix=([0.0], [matrix], "rigid"))
    assert found.kind == kind and '"Cube"' in found.sentence and found.next_step


def test_a_body_held_inside_a_collider_is_no_harm(tmp_path):
    """Its root stands in the ground, pinned."""
    body = pinned(block((2, 2, 6), (1.0, 1.0, 3.0), at=(0.0, 0.0, -1.5)), lambda v: v[:, 2] < 0.3)
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground"),)))
    run.advance(3)
    assert np.abs(run.state.x - run.built.model.X).max() < 0.3


def test_a_collider_that_grows_is_named(tmp_path):
    matrices = [np.eye(4), np.diag([2.0, 2.0, 2.0, 1.0])]
    run = Run(
        tmp_path,
        Scene((block(at=(0.0, 0.0, 5.0)),), (cube(),)),
        collider__cube__matrix=([0.0, 1.0], matrices, "rigid"),
    )
    with pytest.raises(BadInput) as caught:
        run.advance(2)
    assert caught.value.kind == "collider-changes-size" and '"Cube"' in caught.value.sentence


@pytest.mark.slow
def test_sheared_and_mirrored_colliders_are_where_they_look(tmp_path):
    """A plane and a box that are sheared, mirrored and turned still have their surface at z = 0."""
    shear = pose()
    shear[0, 2], shear[1, 2] = 0.7, -0.3
    box = np.diag([-6.0, 6.0, 1.0, 1.0])
    box[2, 3] = -0.5
    cases = {"plane": (Collider("cube", "Cube"), shear), "mesh": (cube(), shear @ box)}
    for name, (collider, matrix) in cases.items():
        body = block((2, 2, 2), at=(-0.5, -0.5, 0.1))
        run = Run(tmp_path / name, Scene((body,), (collider,)), collider__cube__matrix=([0.0], [matrix], "rigid"))
        lowest = [run.advance()[:, 2].min() for _ in range(30)]
        assert -0.01 < min(lowest) and lowest[-1] < 0.05


def test_bodies_are_one_model_in_order(tmp_path):
    first, second = block((2, 2, 2), key="first"), block((1, 2, 3), at=(4.0, 0.0, 0.0), key="second")
    run = Run(tmp_path, Scene((first, replace(second, initial_velocity=(1.0, 2.0, 3.0)))))
    built = run.built
    assert [body.key for body in built.bodies] == ["first", "second"]
    assert built.model.node_count == len(first.tet_nodes) + len(second.tet_nodes)
    assert run.stages == [
        ("tetrahedralize", "First"), ("tetrahedralize", "Second"), ("bind", "First"), ("bind", "Second"),
    ]  # fmt: skip
    ranges = [body.range for body in built.bodies]
    assert ranges[0].nodes.stop == ranges[1].nodes.start and ranges[0].tets.stop == ranges[1].tets.start
    assert np.allclose(built.initial.v[ranges[1].nodes], [1.0, 2.0, 3.0])
    run.advance(1)
    assert set(run.render) == {"first", "second"}
    assert run.render["second"].shape == second.vertices.shape
    t = 1 / 24
    fall = -0.5 * 9.81 * t * (t + 1 / 96)
    assert np.abs(run.render["second"] - second.vertices - [t, 2 * t, 3 * t + fall]).max() < 1e-9


def test_a_body_of_partly_filled_tets_weighs_what_it_encloses(tmp_path):
    """The lattice of Robust reaches out of the surface, by more than a third of this box's volume."""
    body = replace(block((2, 2, 2)), meshing=Meshing("robust", divisions=5), tet_nodes=None, tets=None)
    built = Run(tmp_path, Scene((body,))).built
    corners = built.bodies[0].mesh.nodes[built.bodies[0].mesh.tets]
    lattice = np.linalg.det(corners[:, 1:] - corners[:, :1]).sum() / 6.0
    enclosed = float(np.prod(np.ptp(body.vertices, axis=0)))
    assert lattice > 4 / 3 * enclosed
    assert built.model.mass.sum() == pytest.approx(body.material.density * enclosed, rel=0.05)


def test_samples_within_a_frame(tmp_path):
    scene = Scene((block(),), settings=Settings(substeps=4, samples_per_frame=2))
    run = Run(tmp_path, scene)
    seen = []
    for frame in (2, 3):
        advance_frame(run.simulation, frame, lambda positions: seen.append(positions["block"][:, 2].mean()))
    assert len(seen) == 4 and seen[0] > seen[1] > seen[2] > seen[3]


def test_gravity_is_sampled_at_the_end_of_each_step(tmp_path):
    run = Run(
        tmp_path,
        Scene((block(),), settings=Settings(fps=10.0, substeps=2)),
        gravity=([0.0, 0.1], [[0.0, 0.0, 0.0], [0.0, 0.0, -10.0]]),
    )
    run.advance(1)
    assert run.state.v[:, 2].mean() == pytest.approx(-(5.0 + 10.0) * 0.05)


def test_strict_stops_at_a_step_that_did_not_converge(tmp_path):
    body = pinned(block((4, 4, 8)), lambda v: v[:, 2] > 0.99)
    loose = Settings(max_iterations=2, tolerance=1e-9)
    run = Run(tmp_path / "loose", Scene((body,), settings=loose))
    run.advance(1)
    assert run.reports[0].not_converged == 4 and not run.reports[0].converged
    strict = Run(tmp_path / "strict", Scene((body,), settings=replace(loose, strict=True)))
    with pytest.raises(SolveFailed) as caught:
        strict.advance(1)
    assert caught.value.kind == "step-not-converged" and caught.value.exit_code == 3


def test_an_open_surface_is_told(tmp_path):
    body = block((2, 2, 2))
    run = Run(tmp_path, Scene((replace(body, triangles=body.triangles[4:]),)))
    assert "mesh-open" in [warning.kind for warning in run.built.bodies[0].warnings]


def test_nothing_is_guessed_inside_a_sheet_that_robust_tets_cover(tmp_path):
    corners = np.array([[5.0, 0.0, 1.0], [6.0, 0.0, 1.0], [6.0, 1.0, 1.0], [5.0, 1.0, 1.0]])
    sheet = Body(corners, np.array([[0, 1, 2], [0, 2, 3]]), key="sheet", meshing=Meshing("robust", 0.2))
    run = Run(tmp_path, Scene((sheet,)))
    assert "mesh-open" not in [warning.kind for warning in run.built.bodies[0].warnings]


def test_what_tets_leave_out_and_close_up_is_told(tmp_path):
    """A hair that gets no tet, the lips of a horseshoe grown together, and a star filled with tets as large as it."""
    bodies = (
        (together(sphere(16), box([1.5, 0, 0], [1.58, 0.08, 0.5])), 0.2),
        (horseshoe(0.12), 0.2),
        (Surface(*box([0, 0, 0], [1, 1, 0.3])), 0.3),
    )
    parts = tuple(
        Body(surface.vertices, surface.triangles, JELLY, Meshing("smooth", tet_size=size), f"b{i}", f"Body {i}")
        for i, (surface, size) in enumerate(bodies)
    )
    apart = (("b0", "b1"), ("b0", "b2"), ("b1", "b2"))  # they lie in each other
    run = Run(tmp_path, Scene(parts, ignored_pairs=apart))
    told = [{w.kind: w for w in body.warnings} for body in run.built.bodies]
    assert 'Piece 1 (432 faces) of "Body 0" is thinner than its tets' in told[0]["part-lost"].text
    assert np.allclose(told[0]["part-lost"].as_warning()["places"], [[1.54, 0.04, 0.25]], atol=1e-9)
    assert float(told[0]["part-lost"].details["size"]) < 0.08 and told[0]["part-lost"].is_minor
    assert 'tets of "Body 1" join surfaces' in told[1]["parts-joined"].text
    assert 'The tets of "Body 2" fill' in told[2]["volume-changed"].text


def test_lost_parts_are_told_in_one_sentence(tmp_path):
    hairs = [box([1.5 + i, 0, 0], [1.58 + i, 0.08, 0.5 + 0.1 * i]) for i in range(5)]
    surface = together(sphere(16), *hairs)
    body = Body(surface.vertices, surface.triangles, JELLY, Meshing("smooth", tet_size=0.2), "b")
    run = Run(tmp_path, Scene((body,)))
    lost = [warning for warning in run.built.bodies[0].warnings if "lost" in warning.kind]
    assert [warning.kind for warning in lost] == ["parts-lost"]
    assert lost[0].text.startswith('5 parts of "Body" are thinner than its tets and got none: Piece ')
    assert "2 more" in lost[0].text and float(lost[0].details["size"]) < 0.08


def test_all_lost_parts_are_counted(tmp_path):
    hairs = [box([1.5, 0.1 * i, 0], [1.52, 0.1 * i + 0.02, 0.2 + 0.02 * i], n=2) for i in range(14)]
    sheets = [(np.array([[3, i, 0], [3, i, 0.1], [3.1, i, 0]], float), np.array([[0, 1, 2]])) for i in range(3)]
    surface = together(sphere(16), *hairs, *sheets)
    body = Body(surface.vertices, surface.triangles, meshing=Meshing("smooth", tet_size=0.2), key="b")
    mesh = tetrahedralize(surface, body.meshing, "Body")
    told = {warning.kind: warning for warning in fill_warnings(body, surface, mesh)}
    assert told["parts-lost"].details["count"] == 14 and "11 more" in told["parts-lost"].text
    assert told["parts-without-inside"].details["count"] == 3
    assert told["parts-lost"].is_minor and told["parts-without-inside"].is_minor


@pytest.mark.slow
def test_large_parts_without_tets_are_no_minor_matter():
    surface = together(sphere(16), box([2, 0, 0], [4, 4, 0.01], n=2))
    body = Body(surface.vertices, surface.triangles, meshing=Meshing("smooth", tet_size=0.2), key="b")
    told = {each.kind: each for each in fill_warnings(body, surface, tetrahedralize(surface, body.meshing, "Body"))}
    assert not told["part-lost"].is_minor


def test_tets_that_are_thicker_than_the_body_are_told():
    surface = Surface(*box([0, 0, 0], [1, 1, 2.0e-5], n=2))
    body = Body(surface.vertices, surface.triangles, meshing=Meshing("robust", divisions=8), name="Paper")
    mesh = tetrahedralize(surface, body.meshing, "Paper")
    assert mesh.report.volume_ratio > 2.0
    (told,) = [warning for warning in fill_warnings(body, surface, mesh) if "volume" in warning.kind]
    assert told.kind == "volume-multiplied" and f"{mesh.report.volume_ratio:.3g} times" in told.text


def test_stored_meshes_are_taken_as_they_are(tmp_path):
    run = Run(tmp_path, Scene((block(),)))
    mesh, binding = run.built.bodies[0].mesh, run.built.bodies[0].binding
    again = build(
        run.scene, run.tracks, lambda *stage: pytest.fail("nothing is to be made"), {"block": (mesh, binding)}
    )
    assert again.bodies[0].mesh is mesh
    assert np.array_equal(again.bodies[0].binding.weights, binding.weights)
