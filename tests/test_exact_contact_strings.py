# SPDX-License-Identifier: GPL-3.0-or-later
"""Strings with Exact contact: they stay as far from everything as they are thick, between their vertices, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.rigid_bodies import momenta, rigid_box, run_of
from fixtures.scenes import Run, block, rotation
from sinew.solver.contact.exact.contact_mesh import loose_edges, make_contact_mesh
from sinew.solver.mesh.shapes import box
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Body
from test_strand_scenes import NYLON, THICKNESS, rope

ENDS = np.array([0, 3], np.int32)  # of a rope of three strings, which has a string in its middle
EXACT = {"contact": "exact", "fps": 25.0, "substeps": 4}
WEIGHTLESS = EXACT | {"gravity": (0.0, 0.0, 0.0)}


def middle(run: Run, key: str) -> float:
    """Returns the height of the middle string of a rope of an odd number of strings [m]."""
    x = run.render[key]
    return float(x[len(x) // 2 - 1 : len(x) // 2 + 1, 2].mean())


def test_edges_without_triangles_are_found() -> None:
    rest, triangles = np.random.default_rng(0).normal(size=(6, 3)), np.array([[0, 1, 2]], np.int32)
    strands = np.array([[3, 2], [3, 4], [5, 4]], np.int32)
    mesh = make_contact_mesh(rest, triangles, np.zeros(6, np.int32), np.ones((1, 1), bool), strands=strands)
    assert len(mesh.edges) == 6
    np.testing.assert_array_equal(loose_edges(mesh), np.sort(strands, axis=1)[np.lexsort(np.sort(strands).T[::-1])])


def test_a_string_lies_across_the_edge_of_a_box(tmp_path: Path) -> None:
    vertices, triangles = box((0.2, 0.2, 0.2), 1)
    vertices = vertices @ rotation([0.0, 1.0, 0.0], np.pi / 4.0).T - [0.0, 0.0, 0.1 * np.sqrt(2.0)]
    ridge = Collider("box", "Box", "mesh", vertices, triangles)
    run = run_of(tmp_path, rope(5, 0.5, 0.03), colliders=(ridge,), **EXACT)
    run.advance(8)
    assert not any(report.unsettled for report in run.reports)
    assert 0.5 * THICKNESS < middle(run, "rope") < 0.8 * THICKNESS + 0.002  # on the edge, as far away as it is thick
    assert run.render["rope"][[0, -1], 2].max() < -0.01  # its ends hang down on both sides


@pytest.mark.parametrize("kind", ["rigid", "soft", "string"])
def test_a_taut_string_holds_what_falls_on_it_between_its_vertices(tmp_path: Path, kind: str) -> None:
    line, other = rope(3, 0.5, pinned=ENDS), falling(kind)
    run = run_of(tmp_path, line, other, **EXACT)
    for _ in range(5):
        run.advance()
        assert run.render["other"][:, 2].max() > middle(run, "rope"), "nothing has fallen through"
    assert run.reports[-1].contacts > 0


def falling(kind: str) -> Body:
    if kind == "rigid":
        return rigid_box((0.01, 0.2, 0.01), (0.0, 0.0, 0.02), key="other")
    if kind == "soft":
        return block((1, 10, 1), (0.02, 0.2, 0.02), at=(-0.01, -0.1, 0.01), key="other")
    return rope(3, 0.3, 0.03, along=1, key="other", name="Other")


def test_strings_that_meet_in_space_keep_their_momentum(tmp_path: Path) -> None:
    undamped = replace(NYLON, mass_damping=0.0)
    one = rope(3, 0.3, material=undamped, initial_velocity=(0.0, 0.0, 2.0))
    other = rope(3, 0.3, 0.02, along=1, key="other", name="Other", material=undamped)
    run = run_of(tmp_path, one, other, **WEIGHTLESS)
    before = momenta(run)[0]
    run.advance(6)
    np.testing.assert_allclose(momenta(run)[0], before, atol=1e-9 * np.linalg.norm(before))
    assert run.state.v[run.built.model.bodies[1].nodes, 2].max() > 0.1  # it was pushed
