# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with Exact contact: nothing intersects in any substep, bad input is named, a restart gives the same bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import cube
from fixtures.scenes import Run, block, rotation
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.geometry.triangle_intersections import surface_intersections
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.formulation import VERTEX_WARP, FormulationSettings
from sinew.solver.scene.material import Material
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene, Settings
from sinew.solver.simulation.simulation import Simulation

EXACT = Settings(contact="exact", fps=50.0, substeps=2, frame_end=40)
FLOOR = Collider("floor", "Floor", friction=0.5)
SIZE = (0.2, 0.2, 0.2)


def two_blocks(**settings) -> Scene:
    lower = block((2, 2, 2), SIZE, at=(-0.1, -0.1, 0.01), key="lower", collision=Collision(0.5, 0.0, True))
    upper = block((2, 2, 2), SIZE, at=(-0.06, -0.05, 0.26), turn=rotation((0.0, 0.0, 1.0), 0.2), key="upper")
    return Scene((lower, upper), (FLOOR,), replace(EXACT, **settings))


def intersections(run: Run, colliders=()) -> list:
    """Returns what intersects now, of render meshes and colliders, each key, vertices and triangles."""
    positions = run.simulation.positions()
    surfaces = {body.key: (positions[body.key], body.triangles) for body in run.scene.bodies}
    return surface_intersections(surfaces | {key: (vertices, faces) for key, vertices, faces in colliders})


def test_two_bodies_fall_on_each_other_and_on_a_floor(tmp_path) -> None:
    run, found, contacts = Run(tmp_path, two_blocks()), [], 0

    def look() -> None:
        found.extend(intersections(run))

    for _ in range(30):
        run.advance(before_step=look)
        look()
        contacts = max(contacts, run.reports[-1].contacts)
        assert run.reports[-1].unsettled == 0 and run.reports[-1].converged
    assert not found and contacts > 0
    assert run.render["lower"][:, 2].min() > 0.0  # above the floor
    assert run.render["upper"][:, 2].mean() > run.render["lower"][:, 2].mean() + 0.05
    assert np.abs(run.simulation.state.v).max() < 1.0


def test_a_collider_that_moves_fast_takes_a_body_along(tmp_path) -> None:
    body = block((2, 2, 2), SIZE, at=(0.0, -0.1, -0.1), key="body")
    corners, faces = cube(1, 0.3)
    ram = Collider("ram", "Ram", "mesh", corners, faces)
    times = np.array([0.0, 0.4])
    matrices = np.stack([np.eye(4), np.eye(4)])
    matrices[:, 0, 3] = -0.2, 1.8  # 5 m/s
    settings = replace(EXACT, gravity=(0.0, 0.0, 0.0))
    run = Run(tmp_path, Scene((body,), (ram,), settings), collider__ram__matrix=(times, matrices, "rigid"))
    for frame in range(1, 20):
        x = run.advance()
        at = corners + [-0.2 + 5.0 * frame / 50.0, 0.0, 0.0]
        _, first, number = np.unique(corners, axis=0, return_index=True, return_inverse=True)
        assert not intersections(run, [("ram", at[first], number.ravel()[faces].astype(np.int32))])
        assert x[:, 0].min() > at[:, 0].max()
    assert x[:, 0].mean() > 1.0


def pressed_block(substeps=2) -> tuple[Scene, dict]:
    """A block on a floor, and a box that goes down to the floor and up again."""
    body = block((2, 2, 2), SIZE, at=(-0.1, -0.1, 0.002), key="body")
    corners, faces = cube(1, 1.0)
    press = Collider("press", "Press", "mesh", corners, faces)
    matrices = np.stack([np.eye(4)] * 3)
    matrices[:, 2, 3] = np.array([0.21, -0.02, 0.3]) + 0.5
    matrices[:, :2, 3] = -0.5 - corners.min(axis=0)[:2]
    matrices[:, 2, 3] -= 0.5 + corners[:, 2].min()
    return Scene((body,), (FLOOR, press), replace(EXACT, substeps=substeps)), {
        "collider__press__matrix": (np.array([0.0, 0.3, 0.6]), matrices, "rigid")
    }


@pytest.mark.slow
def test_a_collider_that_leaves_no_room_is_let_in_and_told_and_kept_out_again(tmp_path) -> None:
    scene, tracks = pressed_block()
    run = Run(tmp_path, scene, **tracks)
    run.advance(70)
    let_in = np.array([report.let_in for report in run.reports])
    assert let_in[:10].max() == 0 < let_in[15] and let_in[-1] == 0
    assert run.simulation.exact_contact is not None and not len(run.simulation.exact_contact.let_in)
    assert np.isfinite(run.simulation.state.x).all()
    z = run.render["body"][:, 2]
    assert z.min() > 0.0 and z.max() > 0.15, "it is on the floor and has its shape again"
    weight = 9.81 * run.built.model.mass.sum()
    run.advance(30)
    assert run.reports[-1].colliders["floor"][2] == pytest.approx(-weight, rel=0.02)
    loads = run.simulation.contact_loads()
    assert len(loads) and loads.forces.sum(axis=0)[2] == pytest.approx(weight, rel=0.02)
    assert set(np.array(loads.names)[loads.other]) == {"floor"} and loads.normals[:, 2].min() > 0.99


def test_a_body_of_eight_vertices_stands_on_its_whole_face(tmp_path) -> None:
    corners, faces = cube(1, 0.2)
    _, first, number = np.unique(corners, axis=0, return_index=True, return_inverse=True)
    places, faces = corners[first], number.ravel()[faces].astype(np.int32)
    soft = Material(youngs_modulus=2.0e4, density=1000.0, stiffness_damping=0.02)
    body = Body(places - places.min(axis=0) + [0.0, 0.0, 0.002], faces, material=soft, meshing=Meshing(divisions=5))
    run = Run(tmp_path, Scene((body,), (FLOOR,), EXACT))
    built, surfaces = run.simulation.built, run.simulation.built.exact_contact.bound
    own = surfaces.tet >= 0
    assert len(places) == 8 < own.sum() and surfaces.mesh.point_area[own].sum() == pytest.approx(6 * 0.2**2)
    run.advance(30)
    z = built.contact_points
    z = np.einsum("ka,ka->k", z.weights, run.simulation.state.x[built.model.tets[z.tet], 2])
    assert z.min() > 0.0 and (z < 0.002).sum() > 16  # what is between the corners is not in the floor, either
    assert not intersections(run)


@pytest.mark.parametrize(
    ("changes", "feature"),
    [
        ({"method": FormulationSettings(VERTEX_WARP)}, "another Formulation than the default"),
    ],
)
def test_what_it_cannot_simulate_is_refused_by_name(changes, feature, tmp_path) -> None:
    scene = two_blocks()
    other = replace(scene.bodies[0], **changes)
    with pytest.raises(BadInput) as refused:
        Run(tmp_path, replace(scene, bodies=(other, scene.bodies[1])))
    assert refused.value.kind == "exact-contact-without" and refused.value.details["feature"] == feature


def test_a_restart_gives_the_same_bytes(tmp_path) -> None:
    run = Run(tmp_path, two_blocks())
    run.advance(12)
    arrays = run.simulation.state.to_arrays()
    assert len(arrays["field.contact.exact.shear"])
    state = State.from_arrays({name: values.copy() for name, values in arrays.items()})
    again = Simulation(run.scene, run.tracks, run.simulation.built, state)
    run.advance(4)
    for _ in range(4):
        again.advance()
    assert run.simulation.state.x.tobytes() == again.state.x.tobytes()
    assert run.simulation.state.v.tobytes() == again.state.v.tobytes()


@pytest.mark.slow
def test_pins_and_springs_hold_under_exact_contact(tmp_path) -> None:
    body = block((2, 2, 2), SIZE, at=(-0.1, -0.1, 0.4), key="body")
    top = np.flatnonzero(body.vertices[:, 2] > 0.59).astype(np.int32)
    for weight in (1.0, 0.5):
        held = replace(body, pinned=top, pin_weights=np.full(len(top), weight))
        run = Run(tmp_path / str(weight), Scene((held,), (FLOOR,), EXACT))
        x = run.advance(20)
        fast = Run(tmp_path / f"fast {weight}", Scene((held,), (FLOOR,), replace(EXACT, contact="fast")))
        assert np.abs(x - fast.advance(20)).max() < 2e-3  # nothing touches: the same physics
