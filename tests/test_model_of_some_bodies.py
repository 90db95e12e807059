# SPDX-License-Identifier: GPL-3.0-or-later
"""Some bodies as a model of their own are the same as those bodies built alone."""

from __future__ import annotations

import numpy as np

from fixtures.tet_meshes import bar
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.submodel import make_submodel
from sinew.solver.scene.scene import Material

PATTERN_ARRAYS = (
    "row_start", "column", "diagonal", "corner_start", "corners", "corner_block", "chunk_start", "chunk_island",
    "island_start",
)  # fmt: skip


def part(key: str, cells: tuple[int, int, int], stiffness: float) -> Part:
    nodes, tets = bar(cells, (1.0, 1.0, 1.0))
    return Part(key, nodes, tets, np.ones(len(tets)), Material(stiffness))


def test_a_part_of_a_model_is_what_its_bodies_are_alone():
    parts = [part("a", (2, 1, 1), 1e4), part("b", (1, 2, 2), 2e4), part("c", (2, 2, 1), 3e4)]
    whole = make_model(parts)
    found, alone = make_submodel(whole, [2, 0]), make_model([parts[0], parts[2]])
    for name in ("X", "tets", "Dm_inverse", "volume", "mass", "mu", "lam", "mass_damping", "gravity_scale"):
        np.testing.assert_array_equal(getattr(found.model, name), getattr(alone, name))
    for name in PATTERN_ARRAYS:
        one, other = getattr(found.model.pattern, name), getattr(alone.pattern, name)
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype, name
    assert found.model.bodies == alone.bodies and found.bodies == (0, 2)
    assert np.array_equal(whole.X[found.nodes], alone.X)
    # blocks in the whole join the same nodes
    column = whole.pattern.column[found.blocks]
    assert np.array_equal(column, found.nodes[alone.pattern.column])
