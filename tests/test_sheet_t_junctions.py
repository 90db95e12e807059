# SPDX-License-Identifier: GPL-3.0-or-later
"""T-junctions of sheets: which nodes hang on edges, with what weights, and that the sheet does not gape there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.hybrid_scenes import half_refined_sheet
from fixtures.scenes import Run
from sinew.solver.mesh.sheet_t_junctions import sheet_t_junctions
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Fracture, Scene, Settings
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

SIDE = 0.2


def sheet(closes: bool) -> Body:
    """Returns a square of rubber whose right half is twice as fine, held at its left and right."""
    nodes, triangles, _ = half_refined_sheet(4, SIDE)
    made = SHEET_PRESETS["RUBBER"]
    held = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > SIDE - 1e-9)).astype(np.int32)
    return Body(
        nodes, triangles, made.material, Meshing("sheet"), key="sheet", name="Sheet", pinned=held,
        pin_weights=np.ones(len(held)), sheet=replace(made.sheet, closes_t_junctions=closes),
    )  # fmt: skip


def test_nodes_hang_on_the_middles_of_edges_as_bindings_made_by_hand() -> None:
    nodes, triangles, bindings = half_refined_sheet(4, SIDE)
    found = sheet_t_junctions(nodes, triangles)
    assert found.nodes.tolist() == sorted(each.node for each in bindings) and len(found) == 4
    by_node = {each.node: each.target for each in bindings}
    for number, node in enumerate(found.nodes.tolist()):
        part = slice(found.start[number], found.start[number + 1])
        wanted = dict(zip(by_node[node].nodes.tolist(), by_node[node].weights.tolist(), strict=True))
        assert dict(zip(found.parents[part].tolist(), found.weights[part].tolist(), strict=True)) == pytest.approx(
            wanted
        )


def test_a_turned_sheet_has_the_same_and_a_plain_grid_has_none() -> None:
    nodes, triangles, _ = half_refined_sheet(4, SIDE)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    there, here = sheet_t_junctions(nodes @ turn.T + 3.0, triangles), sheet_t_junctions(nodes, triangles)
    assert np.array_equal(there.nodes, here.nodes) and np.array_equal(there.parents, here.parents)
    coarse = triangles[(nodes[triangles][:, :, 0] < 0.5 * SIDE + 1e-9).all(axis=1)]
    assert len(sheet_t_junctions(nodes, coarse)) == 0


def test_a_chain_is_multiplied_out_and_borders_that_overlap_do_not_hang_on_each_other() -> None:
    # 1 is on the edge 0-2, and the corner 5 of a smaller triangle is on the edge 1-3 of the triangle that 1 is of
    nodes = np.array([[0, 0, 0], [1, 0, 0], [4, 0, 0], [1, 2, 0], [2, -4, 0], [1, 1, 0], [2, 1, 0], [2, 1.5, 0]], float)
    triangles = np.array([[0, 4, 2], [0, 1, 3], [5, 6, 7]], np.int32)
    found = sheet_t_junctions(nodes, triangles)
    sums = {
        int(v): dict(zip(found.parents[a:b].tolist(), found.weights[a:b].tolist(), strict=True))
        for v, a, b in zip(found.nodes, found.start[:-1], found.start[1:], strict=True)
    }
    assert sums[1] == pytest.approx({0: 0.75, 2: 0.25})
    assert sums[5] == pytest.approx({0: 0.375, 2: 0.125, 3: 0.5})
    line = np.array([[0, 0, 0], [3, 0, 0], [2, 0, 0], [5, 0, 0], [1, 1, 0], [4, -1, 0]], float)
    overlapping = sheet_t_junctions(line, np.array([[0, 1, 4], [2, 5, 3]], np.int32))
    assert len(overlapping) == 1 and not set(overlapping.nodes.tolist()) & set(overlapping.parents.tolist())


@pytest.mark.parametrize("closes", [False, True])
def test_a_sheet_that_falls_between_its_held_sides_gapes_only_where_they_are_free(closes: bool, tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((sheet(closes),), settings=Settings(frame_end=6)))
    run.advance(6)
    nodes, _, bindings = half_refined_sheet(4, SIDE)
    x = run.render["sheet"]
    assert x[:, 2].min() < -0.005
    gap = max(float(np.linalg.norm(x[b.node] - b.target.weights @ x[b.target.nodes])) for b in bindings)
    assert gap < 1e-12 if closes else gap > 1e-4


def test_what_bound_nodes_do_not_support_is_refused_by_name(tmp_path: Path) -> None:
    body = replace(sheet(True), fracture=Fracture(breaking_stress=1.0e6))
    with pytest.raises(BadInput, match="Close T-Junctions beside Fracture"):
        Run(tmp_path, Scene((body,)))
