# SPDX-License-Identifier: GPL-3.0-or-later
"""Sharp edges that lie or fly across sharp edges: `make validate`, or

python -m pytest -s tests/validate_contact_edges.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.contact_scenes import NOTHING
from fixtures.edge_contact_scenes import EdgesIn, corrugated, crossed, on_collider, tracks_of
from fixtures.scenes import Run, block

SECTION = "Contact"
BEAM = {"cells": (16, 2, 2), "lengths": (1.0, 0.1, 0.1)}
SQUARE = {"cells": (12, 3, 3), "lengths": (1.0, 0.25, 0.25)}


@pytest.mark.parametrize("E", [2.0e5, 1.0e6, 1.0e7])
def test_folded_plates_rest_on_each_others_folds(tmp_path, E):
    scene = corrugated(E=E)
    run = Run(tmp_path, scene, **tracks_of(scene))
    look = EdgesIn(run, 1.0)
    for _ in range(96):
        run.advance()
        depth = look.look(run)
    name = f"folded plates of 1 m, 5 cm thick, E {E:.0e} Pa, on each other fold across fold: deepest edge"
    reach(SECTION, f"{name}, at rest after 4 s", f"{depth:.3%}", "0.05 %", depth < 5e-4)
    reach(SECTION, f"{name}, ever", f"{look.most:.3%}", "0.2 %", look.most < 2e-3)
    up = run.built.model.bodies[1].nodes
    speed = float(np.linalg.norm(run.state.v[up], axis=1).max())
    reach(SECTION, f"{name.split(':')[0]}: fastest node at rest", f"{1e3 * speed:.2f} mm/s", "10 mm/s", speed < 1e-2)


@pytest.mark.parametrize(("kind", "size", "bound"), [("cubes", 1.0, 0.02), ("beams", 0.1, 0.01)])
def test_bodies_fall_edge_across_edge(tmp_path, kind, size, bound):
    scene = crossed() if kind == "cubes" else crossed(**BEAM, gap=0.002)
    run = Run(tmp_path, scene, **tracks_of(scene))
    look, early = EdgesIn(run, size), 0.0
    for frame in range(14):
        run.advance()
        look.look(run)
        if frame == 4:  # after that the cubes are 15 cm in each other's dents, and faces meet faces
            early = look.most
    name = f"two {kind} of {size:g} m, E 1e6 Pa, one falls on the other edge across edge: deepest edge, of that"
    reach(SECTION, f"{name}, in 0.2 s", f"{early:.2%}", "0.5 %", early < 5e-3)
    reach(SECTION, f"{name}, ever", f"{look.most:.2%}", f"{bound:.0%}", look.most < bound)


@pytest.mark.parametrize("deforms", [False, True])
def test_a_body_falls_on_the_edge_of_a_collider(tmp_path, deforms):
    scene, tracks, mesh = on_collider(**BEAM, gap=0.002, deforms=deforms)
    scene = replace(scene, bodies=(*scene.bodies, block((1, 1, 1), at=(5.0, 5.0, 5.0), key="far")))
    run = Run(tmp_path, scene, **tracks)
    look = EdgesIn(run, 0.1, (mesh,))
    for _ in range(14):
        run.advance()
        look.look(run)
    name = f"a beam of 0.1 m on the edge of a {'deforming' if deforms else 'rigid'} collider"
    reach(SECTION, f"{name}: deepest edge, of that", f"{look.most:.2%}", "1 %", look.most < 0.01)


def test_edges_do_not_fly_through_edges(tmp_path):
    passed, deepest, count = 0, 0.0, 0
    for number, (gap, shape) in enumerate(
        (gap, shape) for gap in (0.01, 0.03, 0.05, 0.07, 0.1) for shape in (BEAM, SQUARE)
    ):
        scene = crossed(**shape, speed=30.0, gap=gap, is_held=False, gravity=NOTHING)
        size = shape["lengths"][1]
        run = Run(tmp_path / str(number), scene)
        look = EdgesIn(run, size)
        for _ in range(2):
            run.advance()
            look.look(run)
        near = [np.linalg.norm(body.vertices[:, :2], axis=1) < size for body in scene.bodies]  # the ends fly on
        low, up = (run.render[body.key][own][:, 2].mean() for body, own in zip(scene.bodies, near, strict=True))
        passed, deepest, count = passed + int(up < low), max(deepest, look.most), count + 1
    name = f"{count} pairs of beams at 30 m/s, edge across edge"
    reach(SECTION, f"{name}: pairs that passed through each other", passed, "0", passed == 0)
    reach(SECTION, f"{name}: deepest edge, of the thickness", f"{deepest:.1%}", "10 %", deepest < 0.1)
