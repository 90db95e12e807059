# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of S07's chapter 6 that bind things to each other, with numbers: `make validate`, or

python -m pytest -s tests/validate_hybrid_scenes.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.flesh_dynamics import model_of
from fixtures.hybrid_scenes import (
    curtain_on_rings,
    half_refined_sheet,
    hung_sticks,
    plates_and_sheets,
    ribbon,
    stitched_spheres,
)
from fixtures.rigid_bodies import centres, momenta, run_of
from fixtures.scenes import pose
from fixtures.sheets import CLOTH, settled
from fixtures.shells import unit_sphere
from sinew.solver.constraints.bindings.hard_bindings import bind_nodes, flatten_bindings
from sinew.solver.constraints.bindings.synchronized_particles import SynchronizedParticles
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.model import Model, make_model
from sinew.solver.mechanics.sheets.sheet_part import sheet_part
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.shapes import sphere
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.material import Material
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Settings
from sinew.solver.scene.surface_detail import SurfaceDetail

SECTION = "Hybrid scenes"
G = 9.81
STILL = {"gravity": (0.0, 0.0, 0.0)}


def test_eight_spheres_stitched_to_each_other(tmp_path: Path) -> None:
    """Figure 6.8. The lower four hang on the upper ones, so seams gape by the weight of one over k."""
    lengths, stiffness = [], (3.0e3, 1.0e4, 1.0e6)
    for number, k in enumerate(stiffness):
        run = run_of(tmp_path / str(number), *stitched_spheres(k), frame_end=100)
        run.advance(30)
        found = centres(run)
        lengths.append(float((found[4:, 2] - found[:4, 2]).mean()))
        bad = sum(report.not_converged + report.unsettled for report in run.reports)
        reach(SECTION, f"eight stitched spheres, {k:.0e} N/m: steps that did not converge", bad, 0, bad == 0)
        weight = float(run.built.model.mass[run.built.model.bodies[0].nodes].sum() * G)
    for k, length in zip(stiffness[:2], lengths, strict=False):
        off = (length - lengths[2]) * k / weight - 1.0
        line = f"eight stitched spheres, {k:.0e} N/m: how far they gape off m g / k"
        reach(SECTION, line, f"{off:+.1%}", "15 %", abs(off) < 0.15)


def sheet_with(junctions_are_bound: bool) -> tuple[Model, Floats]:
    """Returns the half refined sheet, and how far its junctions are from the edges that they lie on, stretched [m]."""
    nodes, triangles, junctions = half_refined_sheet()
    model = make_model([sheet_part("sheet", nodes, triangles, CLOTH, (2.0, 0.0))])
    if junctions_are_bound:
        model = bind_nodes(model, flatten_bindings(junctions, str), str)
    ends = (nodes[:, 0] < 1e-9) | (nodes[:, 0] > nodes[:, 0].max() - 1e-9)
    wanted = nodes * [1.3, 1.0, 1.0]
    x = settled(replace(model, X=model.X), ends, np.where(ends[:, None], wanted, nodes), 200, target=wanted)
    gaps = [np.linalg.norm(x[each.node] - each.target.weights @ x[each.target.nodes]) for each in junctions]
    return model, np.array(gaps)


def test_a_stretched_sheet_with_t_junctions() -> None:
    """Figure 6.5: fine triangles beside coarse ones, with and without bindings."""
    edge = 0.05
    for is_bound, bound in ((False, "above 1 %"), (True, "1e-10")):
        _, gaps = sheet_with(is_bound)
        share = float(gaps.max() / edge)
        kind = "bound" if is_bound else "free"
        line = f"sheet stretched by 30 %, {len(gaps)} T-junctions {kind}: largest gap, of an edge"
        reach(SECTION, line, f"{share:.2g}", bound, share < 1e-10 if is_bound else share > 0.01)


def ribbon_sag(folder: Path, spacing: float | None) -> float:
    """Returns how far the tip of a ribbon held at one end sags at rest [m]: carried by points, or by itself."""
    body = ribbon(spacing, material=Material(2.0e6, 0.3, 300.0, mass_damping=8.0), held=0.035)
    run = run_of(folder, body, frame_end=100)
    tip, sags = body.vertices[:, 0] > 0.3 - 1e-9, list[float]()
    for _ in range(2):
        run.advance(24)
        sags.append(float((body.vertices - run.render["ribbon"])[tip, 2].mean()))
    assert abs(sags[1] - sags[0]) < 0.01 * sags[1]
    return sags[1]


def test_a_ribbon_in_a_cloud_of_points(tmp_path: Path) -> None:
    """Figure 6.6: forces are those of the ribbon; the cloud lets it bend as far as its points are dense."""
    alone = ribbon_sag(tmp_path / "alone", None)
    line = "ribbon of 30 cm by itself, held at one end: sags"
    reach(SECTION, line, f"{1e2 * alone:.1f} cm", "above 5 cm", alone > 0.05)
    # pins hold the points of their vertices, and more of the ribbon with them; bounds set after −17 and −4 % were seen
    for spacing, bound in ((3.0, 0.25), (2.0, 0.1)):
        share = ribbon_sag(tmp_path / str(spacing), spacing) / alone
        line = f"ribbon in a cloud, points every {spacing:g} edges: sags off that of the ribbon by itself"
        reach(SECTION, line, f"{share - 1.0:+.1%}", f"{bound:.0%}", abs(share - 1.0) < bound)


def test_a_ribbon_in_a_cloud_keeps_its_momentum(tmp_path: Path) -> None:
    body = ribbon(3.0, held=-1.0, initial_velocity=(0.1, 0.2, 0.3), initial_spin=(0.0, 3.0, 1.0),
                  material=Material(2.0e6, 0.3, 300.0))  # fmt: skip
    run = run_of(tmp_path, body, frame_end=40, tolerance=1e-12, max_iterations=20000, **STILL)
    before = momenta(run)[0]
    run.advance(10)
    made = float(np.abs(momenta(run)[0] - before).max() / np.abs(before).max())
    assert reach(SECTION, "ribbon in a cloud: momentum made in ten frames", made, 1e-9, made <= 1e-9)


def test_particles_drift_within_a_step_where_a_ball_hits() -> None:
    """6.3.1 and figure 6.7: synchronized, moved out of a ball, and their drift handed down to coarse tets."""
    model = model_of(cells=(4, 4, 2), lengths=(0.4, 0.4, 0.2))
    random, top = np.random.default_rng(5), model.X[:, 2].max()
    faces = np.array([t for t in model.tets if (model.X[t][:, 2] > top - 1e-9).sum() == 3])
    rows = [int(np.flatnonzero((model.tets == face).all(axis=1))[0]) for face in faces]
    tet = np.repeat(np.array(rows, np.int32), 40)
    share = random.dirichlet(np.ones(3), len(tet))
    weights = np.zeros((len(tet), 4))
    for row, (face, own) in enumerate(zip(model.tets[tet], share, strict=True)):
        weights[row, model.X[face][:, 2] > top - 1e-9] = own
    particles = SynchronizedParticles(tet, weights)
    state, radius, dt = State(model.X.copy(), np.zeros_like(model.X)), 0.03, 0.002
    hits = {True: 0, False: 0}
    given, drifted, deepest = np.zeros(3), 0.0, 0.0
    for number in range(40):
        step(model, state, ExternalForces(), dt, Settings(tolerance=1e-12, max_iterations=20000))
        middle = np.array([0.25, 0.15, top + radius - 0.0003 * number])
        at = particles.synchronized(state.x, model.tets)
        away = at - middle
        length = np.linalg.norm(away, axis=1)
        inside = length < radius
        hits[True] += int(inside.any())
        hits[False] += int((np.linalg.norm(state.x - middle, axis=1) < radius).any())
        drift = np.where(inside[:, None], away * (radius / length - 1.0)[:, None], 0.0)
        drifted = max(drifted, float(np.linalg.norm(drift, axis=1).max()))
        change, _ = particles.hand_down(drift, model.mass, model.tets)
        faster, impulse = particles.hand_down(drift / dt, model.mass, model.tets)
        state.x, state.v = state.x + change, state.v + faster
        given += impulse.sum(axis=0)
        left = radius - np.linalg.norm(particles.synchronized(state.x, model.tets) - middle, axis=1)
        deepest = max(deepest, float(left.max()))
    line = "a ball of 3 cm on tets of 10 cm: steps in which its particles meet it, of 40"
    reach(SECTION, line, hits[True], "above 30", hits[True] > 30)
    reach(SECTION, f"{line.replace('particles', 'nodes')}", hits[False], 0, hits[False] == 0)
    line = "the same: largest drift within a step, of the radius"
    reach(SECTION, line, f"{drifted / radius:.1%}", "shown", drifted > 0.0)
    line = "the same: depth of particles in the ball after their drift is handed down, of the radius"
    reach(SECTION, line, f"{deepest / radius:.1%}", "5 %", deepest < 0.05 * radius)
    gained = float(np.abs(model.mass @ state.v - given).max() / np.abs(given).max())
    reach(SECTION, "the same: momentum gained off the impulses", gained, 1e-9, gained <= 1e-9)


@pytest.mark.parametrize("has_samples", [False, True])
def test_a_small_ball_that_goes_through_a_soft_sphere(tmp_path: Path, has_samples: bool) -> None:
    """Figures 6.3 and 6.7: smaller than the faces of the sphere, with and without samples on these."""
    vertices, triangles = sphere(0.2, 4)
    detail = SurfaceDetail(8, 1.0) if has_samples else None
    soft = Body(
        vertices,
        triangles,
        Material(3.0e5, 0.4, 60.0, stiffness_damping=0.02),
        Meshing("smooth", divisions=4),
        key="soft",
        name="Soft",
        surface_detail=detail,
    )
    ball, faces = unit_sphere(2)
    collider, speed = Collider("ball", "Ball", "mesh", 0.02 * ball, faces), 1.0
    places = np.stack([pose(move=(x, 0.031, 0.027)) for x in (-0.3, 0.0)])
    track = ([0.0, 0.3 / speed], places, "rigid")
    run = run_of(tmp_path, soft, colliders=(collider,), frame_end=20, collider__ball__matrix=track, **STILL)
    run.advance(7)
    model = run.built.model
    gained = float((model.mass @ run.state.v)[0] / model.mass.sum())
    line = f"a ball of 2 cm at {speed:g} m/s into a sphere of 20 cm, {'with' if has_samples else 'without'} samples"
    bound = f"above {0.9 * speed} m/s" if has_samples else "shown"
    reach(SECTION, f"{line}: speed that it gives", f"{gained:.2f} m/s", bound, gained > 0.9 * speed or not has_samples)


def test_289_sticks_hung_together(tmp_path: Path) -> None:
    """Figure 6.11: each stick is bound to the board that they hang on, and the board is shaken."""
    bodies = hung_sticks()
    times = np.linspace(0.0, 1.0, 25)
    top = bodies[0].vertices[bodies[0].pinned]
    targets = top[None] + 0.01 * np.sin(2.0 * np.pi * 2.0 * times)[:, None, None] * np.array([1.0, 0.0, 0.0])
    run = run_of(tmp_path, *bodies, frame_end=30, body__board__targets=(times, targets))
    run.advance(12)
    model, x = run.built.model, run.state.x
    assert model.bound is not None and len(bodies) == 290
    held = x.copy()
    model.bound.interpolate(held)
    gap = float(np.abs(held - x).max())
    line = f"{len(bodies) - 1} sticks of {model.tet_count} tets hung on a shaken board"
    reach(SECTION, f"{line}: largest gap of bound nodes [m]", gap, 1e-12, gap <= 1e-12)
    bad = sum(report.not_converged for report in run.reports)
    reach(SECTION, f"{line}: steps that did not converge", bad, 0, bad == 0)
    swung = float(np.ptp(x[:, 0] - model.X[:, 0]))
    reach(SECTION, f"{line}: they swing", f"{1e3 * swung:.1f} mm", "above 1 mm", swung > 1e-3)


def test_plates_coupled_with_sheets(tmp_path: Path) -> None:
    """Figure 6.14: three rigid plates in a row, joined by two strips of cloth, thrown and spun."""
    plates = list(plates_and_sheets())
    plates[2] = replace(plates[2], initial_velocity=(0.1, 0.2, 1.0), initial_spin=(0.0, 2.0, 0.0))
    run = run_of(tmp_path, *plates, frame_end=40, tolerance=1e-11, max_iterations=20000, **STILL)
    before = momenta(run)
    run.advance(24)
    after = momenta(run)
    made = float(np.abs(after[0] - before[0]).max() / np.abs(before[0]).max())
    reach(SECTION, "three plates and two strips of cloth, a second: momentum made", made, 1e-6, made <= 1e-6)
    turned = float(np.abs(after[1] - before[1]).max() / np.abs(before[1]).max())
    # implicit Euler: bound set after 6.4 % were seen
    reach(SECTION, "the same: angular momentum made", f"{turned:.2%}", "10 %", turned < 0.1)
    found = centres(run)
    apart = float(np.linalg.norm(found[1:3] - found[:2], axis=1).max())
    reach(SECTION, "the same: distance of neighbours, 0.2 at rest [m]", f"{apart:.3f}", "0.22", apart < 0.22)


def test_a_curtain_on_rigid_rings(tmp_path: Path) -> None:
    """Figure 6.15: rings of steel hang on a rod, and a curtain on the rings.

    Rings of a fifth of that density went through the rod in 4 steps a frame: how hard contacts push goes by the mass of
    the ring alone, and not by what hangs on it.
    """
    bodies, rod = curtain_on_rings()
    run = run_of(tmp_path, *bodies, colliders=(rod,), frame_end=60, substeps=12)
    run.advance(16)
    found = centres(run)
    height = run.scene.colliders[0].vertices[:, 2].mean()
    off = float(np.abs(height - 0.006 - found[1:, 2]).max())  # rings are 6 mm wider than the rod
    reach(
        SECTION,
        "curtain on six rings: heights of rings off those on the rod",
        f"{1e3 * off:.2f} mm",
        "1 mm",
        off < 1e-3,
    )
    x = run.render["curtain"]
    low = float(x[:, 2].min())
    reach(
        SECTION, "the same: lowest point, 0.4 m under the rings at rest", f"{low:.3f} m", "-0.45 m", -0.45 < low < -0.3
    )
    loads = run.reports[-1].colliders["rod"]
    weight = float(run.built.model.mass.sum() * G)
    share = -loads[2] / weight
    reach(SECTION, "the same: load on the rod over the weight", f"{share:.2f}", "0.8 to 1.2", 0.8 < share < 1.2)
