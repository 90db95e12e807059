# SPDX-License-Identifier: GPL-3.0-or-later
"""Fracture against what is known: strength of a bar, toughness of a notched plate, bending, and what splitting keeps.

make validate, or: python -m pytest -s tests/validate_fracture.py
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from fixtures.fracture_specimens import (
    STIFF,
    Pulled,
    bend_ends,
    breakable,
    irregular,
    notched_plate,
    pull_ends,
    pull_up,
    tension_bar,
)
from fixtures.scenes import Run
from fixtures.tet_meshes import bar
from sinew.solver.mechanics.elements.elastic_stress import elastic_stress
from sinew.solver.mechanics.topology_state import Topology
from sinew.solver.mesh.node_splitting.face_adjacency import FACE_CORNERS
from sinew.solver.scene.scene import Body, Collider, Fracture, Heat, Material, Meshing, Plasticity, Scene, Settings

SECTION = "Fracture"
STRENGTH = 2.0e4  # [Pa]
TOUGHNESS = 4.0e3  # [Pa √m]


def broken_corners(simulation):
    """Returns the corners of the faces across which tets have parted, at rest [m], (k, 3, 3)."""
    model = simulation.built.model
    tet, face = np.nonzero(simulation.built.fracture.neighbours.is_parted(model.tets))
    return model.X[model.tets[tet[:, None], FACE_CORNERS[face]]]


def broken_faces(simulation):
    """Returns the middles of these faces at rest [m], (k, 3)."""
    return broken_corners(simulation).mean(axis=1)


@pytest.mark.parametrize("across", [2, 4, 6])
def test_a_bar_in_tension_breaks_at_its_strength_times_its_section(tmp_path, reach, across):
    body = tension_bar(across, Fracture(breaking_stress=STRENGTH, scatter=0.0))
    pulled = Pulled(tmp_path, body, pull_ends(4.0))
    first, apart = pulled.pull(1.1 * STRENGTH, 15.0)
    off = max(abs(first / STRENGTH - 1.0), abs(apart / STRENGTH - 1.0))
    reach(
        SECTION, f"bar in uniform tension, {across} cells across, {len(body.tets)} tets: load off strength × section",
        f"{off:.2%}", "2 %", off <= 0.02,
    )  # fmt: skip


@pytest.mark.parametrize("tet_size", [0.15, 0.1])
def test_a_bar_filled_by_the_robust_method_breaks_near_its_strength(tmp_path, reach, tet_size):
    """As an artist has it: an irregular lattice that covers the bar, and ends that are held and do not break."""
    box = trimesh.creation.box((0.5, 0.5, 2.0)).subdivide().subdivide().subdivide()
    vertices = np.array(box.vertices)
    ends = np.flatnonzero(np.abs(vertices[:, 2]) > 1.0 - 1e-9).astype(np.int32)
    firm = (np.abs(vertices[:, 2]) > 0.55).astype(float)
    body = Body(
        vertices, np.array(box.faces, np.int32), STIFF, Meshing(tet_size=tet_size), "bar", "Bar",
        pinned=ends, pin_weights=np.ones(len(ends)),
        fracture=Fracture(breaking_stress=STRENGTH, scatter=0.0, unbreakable=firm),
    )  # fmt: skip
    start = vertices[ends]
    end = start + np.where(start[:, 2:] > 0.0, [0.0, 0.0, 0.06], 0.0)
    settings = Settings(fps=100.0, substeps=1, frame_end=801, gravity=(0.0, 0.0, 0.0), tolerance=1e-5)
    run = Run(tmp_path, Scene((body,), (), settings), body__bar__targets=([0.0, 8.0], np.array([start, end])))
    most = 0.0
    while run.frame < 800 and not (run.reports and run.reports[-1].bodies["bar"]["pieces"] > 1.0):
        run.advance()
        model = run.built.model
        middle = np.abs(model.X[model.tets].mean(axis=1)[:, 2]) < 0.5
        stress, _ = elastic_stress(model, run.state.x)
        most = max(most, float(np.average(stress[middle, 2], weights=model.volume[middle])))
    off = most / STRENGTH - 1.0
    line = f"bar of robust tets of {tet_size} m, {model.tet_count} of them, ends held: load off strength × section"
    reach(SECTION, line, f"{off:+.1%}", "8 %", abs(off) <= 0.08)


def test_a_notched_plate_cracks_at_the_notch_and_runs_across(tmp_path, reach):
    loads = {}
    for across in (8, 16, 32):
        body = notched_plate(across, Fracture(breaking_stress=1.0e6, toughness=TOUGHNESS, scatter=0.0))
        pulled = Pulled(tmp_path / str(across), body, pull_up(2.0))
        number = 0
        while not pulled.splits and number < 1000:
            number += 1
            pulled.step(5.0 * number)
        began = np.linalg.norm(broken_faces(pulled.simulation)[:, [0, 2]] - [0.25, 1.0], axis=1).max()
        while not pulled.is_apart and number < 1000:
            number += 1
            pulled.step(5.0 * number)
        loads[across] = 5.0 * number
        faces = broken_faces(pulled.simulation)
        # tips are drawn by lot: with other seeds the furthest was at 0.10 to 0.29 m, half of all within 0.02 to 0.13 m
        away = np.abs(faces[:, 2] - 1.0)
        across_plate = np.ptp(broken_corners(pulled.simulation)[:, :, 0])
        # crack faces move apart along the pull, hardly along the crack: mode I
        model, x = pulled.simulation.built.model, pulled.simulation.state.x
        neighbours = pulled.simulation.built.fracture.neighbours
        tet, face = np.nonzero(neighbours.is_parted(model.tets))
        at = FACE_CORNERS[face]
        other = model.tets.ravel()[neighbours.twin[tet[:, None], face[:, None], at]]
        apart = np.abs((x[model.tets[tet[:, None], at]] - x[other]).mean(axis=1)).sum(axis=0)
        name = f"notched plate, {across} cells across, {len(body.tets)} tets"
        reach(SECTION, f"{name}: first crack from the notch", f"{began:.3f} m", "2 cells", began <= 2.0 / across)
        middle, most = float(np.median(away)), float(away.max())
        line = f"{name}: crack leaves the line of the notch, half of it by"
        reach(SECTION, line, f"{middle:.3f} m, at most {most:.3f} m", "0.15 m, 0.3 m", middle <= 0.15 and most <= 0.3)
        reach(SECTION, f"{name}: crack runs across", f"{across_plate:.3f} m", "0.75 m", across_plate >= 0.749)
        reach(SECTION, f"{name}: sliding over opening", apart[0] / apart[2], 0.35, apart[0] <= 0.35 * apart[2])
    for coarse, fine in ((8, 16), (16, 32)):
        change = loads[fine] / loads[coarse] - 1.0
        line = f"notched plate: load from {coarse} to {fine} cells across ({loads[coarse]:.0f}, {loads[fine]:.0f} Pa)"
        reach(SECTION, line, f"{change:+.1%}", "15 %", abs(change) < 0.15)


@pytest.mark.parametrize("across", [4, 6])
def test_a_bent_bar_opens_on_the_tension_side(tmp_path, reach, across):
    nodes, tets = bar((4 * across, across, across), (4.0, 1.0, 1.0))
    body = breakable(irregular(nodes, tets, 0.12 / across), tets, Fracture(breaking_stress=STRENGTH, scatter=0.0))
    pulled = Pulled(tmp_path, body, bend_ends(4.0, 1.0))
    number = 0
    while not pulled.splits and number < 2000:
        number += 1
        pulled.step(number / 1000.0 * STRENGTH)
    name = f"bar under bending, {across} cells across"
    lowest = float(broken_faces(pulled.simulation)[:, 2].min())
    reach(SECTION, f"{name}: lowest face of the first cracks", f"{lowest:.2f} of 1", "0.5", lowest > 0.5)
    load = number / 1000.0
    reach(SECTION, f"{name}: stress at its top when it cracks, over the strength", load, "1 to 1.25", 1 <= load <= 1.25)


def test_splitting_keeps_what_a_body_is_made_of(tmp_path, reach):
    ball = trimesh.creation.icosphere(4, radius=0.5)
    body = Body(
        np.array(ball.vertices) + [0.0, 0.0, 0.6], np.array(ball.faces, np.int32), key="ball", name="Ball",
        material=Material(youngs_modulus=2.0e5, poisson_ratio=0.3, stiffness_damping=0.001),
        meshing=Meshing("robust", divisions=8), initial_velocity=(0.0, 0.0, -4.0),
        plasticity=Plasticity(yield_strain=0.02, flow=5.0), heat=Heat(temperature=30.0),
        fracture=Fracture(breaking_stress=1.5e4, scatter=0.3, seed=3),
    )  # fmt: skip
    scene = Scene((body,), (Collider("floor", "Floor"),), Settings(fps=50.0, substeps=2, frame_end=50))
    run = Run(tmp_path, scene)
    worst_mass = worst_momentum = 0.0
    whole = run.built.model
    from sinew.solver.simulation import advance_frame as module

    take = module.separate_faces

    def watched(simulation, is_parted):
        nonlocal worst_mass, worst_momentum

        def sums():
            m, v = simulation.built.model.mass[:, None], simulation.state.v
            return (
                m.sum(),
                np.concatenate([(m * v).sum(0), np.cross(simulation.state.x, m * v).sum(0)]),
                (m * abs(v)).sum(),
            )

        before = sums()
        take(simulation, is_parted)
        after = sums()
        worst_mass = max(worst_mass, abs(after[0] / before[0] - 1.0))
        worst_momentum = max(worst_momentum, np.abs(after[1] - before[1]).max() / before[2])

    module.separate_faces = watched
    try:
        run.advance(30)
    finally:
        module.separate_faces = take
    model = run.built.model
    pieces = run.reports[-1].bodies["ball"]["pieces"]
    name = f"ball in {pieces:.0f} pieces"
    reach(SECTION, f"{name}: mass off", worst_mass, 1e-12, worst_mass <= 1e-12 and pieces >= 20)
    reach(SECTION, f"{name}: momentum off", worst_momentum, 1e-12, worst_momentum <= 1e-12)
    same = all(np.array_equal(getattr(model, n), getattr(whole, n)) for n in ("Dm_inverse", "volume", "mu", "lam"))
    rows = len(run.state.fields["tet.Fp_inverse"]) == model.tet_count
    reach(SECTION, f"{name}: rest shapes, moduli and plastic strain of tets kept", same and rows, True, same and rows)
    of_node = np.searchsorted(model.pattern.island_start, model.tets, side="right")
    torn = int((of_node != of_node[:, :1]).any(axis=1).sum())
    reach(SECTION, f"{name}: tets that belong to two pieces", torn, 0, torn == 0)


def test_the_same_seed_gives_the_same_cracks(tmp_path, reach):
    found = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        body = tension_bar(3, Fracture(breaking_stress=STRENGTH, scatter=0.2, seed=seed))
        pulled = Pulled(tmp_path / name, body, pull_ends(4.0))
        pulled.pull(1.1 * STRENGTH, 5.0)
        found.append((Topology.from_state(pulled.simulation.state).tets.tobytes(), pulled.simulation.state.x.tobytes()))
    reach(
        SECTION, "same seed, same cracks and positions, to the byte", found[0] == found[1], True, found[0] == found[1]
    )
    reach(SECTION, "another seed, other cracks", found[0][0] != found[2][0], True, found[0][0] != found[2][0])
