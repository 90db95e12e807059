# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth and a slab of jelly pinched between two spheres that overlap (S07, figure 6.9): `make validate`, or

python -m pytest -s tests/validate_pinched.py

Both spheres ask for what cannot be: no point can be outside of both. Every point has a contact with each, a copy of its
own on a spring; what is pinched has to come to rest between, and to come free unharmed when the spheres part again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.rigid_bodies import run_of
from fixtures.scenes import Run, block, pose
from fixtures.sheets import grid
from fixtures.shells import unit_sphere
from sinew.solver.runtime.arrays import Bools, Floats
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Material
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

SECTION = "Pinched"
RADIUS, SIDE, HEIGHT = 0.15, 0.6, 0.5  # of the spheres, of the cloth, and where their middles are [m]
OVERLAP = 0.03  # of the spheres where they are nearest [m]
CLOSED, OPENS, OPEN, END = 1.0, 2.0, 2.5, 3.5  # times [s]
FPS = 24


def cloth() -> Body:
    """Returns cloth that hangs by its upper edge in the plane x = 0."""
    nodes, triangles = grid((24, 24), (SIDE, SIDE))
    made = SHEET_PRESETS["COTTON"]
    vertices = np.stack([np.zeros(len(nodes)), nodes[:, 0] - 0.5 * SIDE, nodes[:, 1] + HEIGHT - 0.5 * SIDE], axis=1)
    top = np.flatnonzero(vertices[:, 2] > HEIGHT + 0.5 * SIDE - 1e-9).astype(np.int32)
    material = replace(made.material, mass_damping=2.0)
    return Body(
        vertices, triangles, material, Meshing("sheet"), key="cloth", name="Cloth", pinned=top, sheet=made.sheet
    )


def slab() -> Body:
    """Returns a slab of jelly 4 cm thick that hangs by its upper face."""
    jelly = Material(2.0e4, 0.4, 1000.0, mass_damping=2.0, stiffness_damping=0.01)
    lengths = (0.04, 0.4, 0.4)
    made = block((2, 20, 20), lengths, at=(-0.02, -0.2, HEIGHT - 0.2), key="slab", material=jelly)
    top = np.flatnonzero(made.vertices[:, 2] > HEIGHT + 0.2 - 1e-9).astype(np.int32)
    return replace(made, pinned=top, pin_weights=np.ones(len(top)))


def posed_slab() -> Body:
    """Returns the same slab as flesh that follows the pose: it is at rest in every sample."""
    return replace(slab(), flesh=Flesh(), material=Material(2.0e4, 0.4, 1000.0))


def pinched(folder: Path, body: Body) -> Run:
    """Returns a body between two spheres that close, stay closed and open again."""
    vertices, triangles = unit_sphere(4)
    colliders, tracks = [], {}
    for name, sign in (("left", -1.0), ("right", 1.0)):
        colliders.append(Collider(name, name.capitalize(), "mesh", RADIUS * vertices, triangles, friction=0.3))
        far, near = sign * (RADIUS + 0.06), sign * (RADIUS - 0.5 * OVERLAP)
        places = np.stack([pose(move=(x, 0.0, HEIGHT)) for x in (far, near, near, far)])
        tracks[f"collider__{name}__matrix"] = ([0.0, CLOSED, OPENS, OPEN], places, "rigid")
    return run_of(folder, body, colliders=tuple(colliders), frame_end=round(END * FPS) + 1, **tracks)


def between(body: Body, x: Floats) -> Bools:
    """Returns which vertices the spheres hold from both sides, in the lens in which they overlap, (n,)."""
    lens = np.sqrt(RADIUS**2 - (RADIUS - 0.5 * OVERLAP) ** 2)
    return np.linalg.norm(x[:, 1:] - [0.0, HEIGHT], axis=1) < 0.8 * lens


def edges(body: Body, points: Floats) -> Floats:
    """Returns the lengths of the edges of triangles [m], (t, 3)."""
    corners = points[body.triangles]
    return np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)


def reach_middle(name: str, x: np.ndarray) -> None:
    """Measures how far the middle of places [m], (k, 3), is from the plane between the spheres, x = 0."""
    middle = float(abs(x[:, 0].mean()) / OVERLAP)
    line = f"{name}: its middle from the plane between them, of the overlap"
    reach(SECTION, line, f"{middle:.1%}", "5 %", middle < 0.05)


@pytest.mark.parametrize("make", [cloth, slab])
def test_what_is_pinched_rests_between(tmp_path: Path, make) -> None:
    body = make()
    run = pinched(tmp_path, body)
    run.advance(round(OPENS * FPS) - 2)
    before = run.render[body.key].copy()
    x = run.advance(1)
    inside = between(body, x)
    assert inside.sum() > 3
    name = f"{make.__name__}, spheres overlap by {1e3 * OVERLAP:g} mm"
    reach_middle(name, x[inside])
    away = float(np.abs(x[inside, 0] - x[inside, 0].mean()).max() / OVERLAP)
    thick = np.ptp(body.vertices[:, 0]) / OVERLAP
    bound = 0.15 + 0.5 * thick
    reach(SECTION, f"{name}: farthest vertex from it", f"{away:.1%}", f"{bound:.0%}", away < bound)
    speed = float(np.linalg.norm((x - before)[inside], axis=1).max() * FPS)
    reach(
        SECTION, f"{name}: speed there after {OPENS - CLOSED:g} s", f"{1e3 * speed:.2f} mm/s", "5 mm/s", speed < 0.005
    )
    loads = run.reports[-1].colliders
    push, against = loads["left"][0], loads["right"][0]
    off = abs(push + against) / max(abs(push), abs(against))
    reach(SECTION, f"{name}: forces on both spheres, sum over the larger", f"{off:.1%}", "10 %", bool(off < 0.1))
    run.advance(round(END * FPS) - run.frame)
    x = run.render[body.key]
    assert np.isfinite(x).all()
    free = run_of(tmp_path / "free", body, frame_end=round(END * FPS) + 1)
    free.advance(run.frame - 1)
    rest, now, alone = (edges(body, points) for points in (body.vertices, x, free.render[body.key]))
    threads = rest < 1.01 * rest.min()  # diagonals of cloth shear as it swings
    off = float(np.abs(now - alone)[threads].max() / rest.min())
    reach(SECTION, f"{name}: edges a second after they part, off those never pinched", f"{off:.1%}", "5 %", off < 0.05)
    bad = sum(report.not_converged for report in run.reports)
    reach(SECTION, f"{name}: steps that did not converge", bad, 0, bad == 0)


def test_posed_flesh_comes_through_a_pinch(tmp_path: Path) -> None:
    """Flesh that follows a pose has no friction: nothing holds it between the spheres, which press it out sideways."""
    body = posed_slab()
    run = pinched(tmp_path, body)
    run.advance(round(OPENS * FPS) - 1)
    x = run.render[body.key]
    name = f"posed slab, spheres overlap by {1e3 * OVERLAP:g} mm"
    reach_middle(name, x)
    deep = run.reports[-1].deepest_contact / OVERLAP  # in both at once it is half at least
    reach(SECTION, f"{name}: its deepest point in a sphere, of the overlap", f"{deep:.0%}", "100 %", 0.0 < deep < 1.0)
    run.advance(round(END * FPS) - run.frame)
    x = run.render[body.key]
    free = run_of(tmp_path / "free", body, frame_end=round(END * FPS) + 1)
    free.advance(run.frame - 1)
    rest, now, alone = (edges(body, points) for points in (body.vertices, x, free.render[body.key]))
    off = float(np.abs(now - alone).max() / rest.min())
    reach(SECTION, f"{name}: edges after they part, off those never pinched", f"{off:.1%}", "5 %", off < 0.05)
    bad = sum(report.poses_not_converged for report in run.reports)
    reach(SECTION, f"{name}: poses that did not come to rest", bad, 0, bad == 0)
