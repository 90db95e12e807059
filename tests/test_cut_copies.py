# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of tets after a cut: their shares, the model of them, and what is said of copies that are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.cut_runs import CutRun
from fixtures.scenes import JELLY, Run, block
from reference.plane_cut import PlaneCutter
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.mesh.cut_tets import cut_again, uncut_tets
from sinew.solver.scene.scene import Scene
from sinew.solver.simulation.cutting.body_cut import PointCopies, add_cut, check_copies, whole_body
from sinew.solver.simulation.cutting.copy_shares import MIN_SHARE, copy_shares
from sinew.solver.simulation.cutting.cut_model import copied_rows, cut_model

SLANTED, OFFSET = np.array([1.0, 0.3, -0.2]), 0.55


def slow_shares(whole, parent, filled):
    """Returns what `copy_shares` does, tet by tet."""
    out = np.zeros(len(parent))
    for tet, share in enumerate(whole):
        own = np.flatnonzero(parent == tet)
        asked = share * filled[own] / filled[own].sum()
        least = min(MIN_SHARE, share / len(own))
        if (asked < least).any():
            above = np.where(asked < least, 0.0, asked - least)
            asked = (
                least + above * (share - least * len(own)) / above.sum() if above.any() else np.full(len(own), least)
            )
        out[own] = asked
    return out


def test_shares_are_those_of_the_slow_reference_and_add_up():
    random = np.random.default_rng(0)
    whole = np.where(random.random(300) < 0.5, 1.0, random.random(300) ** 8)
    parent = np.sort(np.concatenate([np.arange(300), random.integers(0, 300, 400)]))
    filled = random.random(700) ** 12
    filled /= np.bincount(parent, filled)[parent]
    shares = copy_shares(whole, parent, filled)
    assert np.abs(shares - slow_shares(whole, parent, filled)).max() < 1e-15
    assert np.abs(np.bincount(parent, shares) / whole - 1.0).max() < 1e-15
    copies = np.bincount(parent)
    assert (shares >= np.minimum(MIN_SHARE, whole / copies)[parent] * (1.0 - 1e-12)).all()
    assert (shares == MIN_SHARE).any()  # the floor is met


def test_shares_without_slivers_are_those_of_the_volume():
    shares = copy_shares(np.array([1.0, 0.5]), np.array([0, 0, 1, 1, 1]), np.array([0.25, 0.75, 0.5, 0.25, 0.25]))
    assert shares.tolist() == [0.25, 0.75, 0.25, 0.125, 0.125]


def cut_block(folder: Path, cells=(3, 2, 2)) -> CutRun:
    return CutRun(Run(folder, Scene((block(cells),))))


def test_the_model_of_copies_is_the_sum_over_them(tmp_path: Path):
    one = cut_block(tmp_path)
    model, mesh = one.simulation.built.model, one.simulation.built.bodies[0].mesh
    cut = one.cutter.cut(mesh.tets, SLANTED, OFFSET)
    now = cut_model(model, {0: cut})
    assert np.array_equal(now.tets, cut.tets) and np.array_equal(now.X, model.X[cut.origin])
    mass = np.zeros(len(cut.origin))
    for tet, parent, filled in zip(cut.tets, cut.parent, cut.filled, strict=True):
        mass[tet] += 0.25 * JELLY.density * model.volume[parent] * filled
    assert np.abs(now.mass - mass).max() < 1e-13 * mass.max()
    assert now.mass.sum() == pytest.approx(model.mass.sum(), rel=1e-12)
    whole = np.bincount(cut.origin, now.mass)
    assert np.abs(whole - model.mass).max() < 1e-12 * model.mass.max()
    for name in ("Dm_inverse", "density", "mu", "lam", "stiffness_damping"):
        assert np.array_equal(getattr(now, name), getattr(model, name)[cut.parent]), name
    pattern = block_pattern(now.tets, now.node_count, now.pattern.island_start[:-1].tolist())
    for name in ("row_start", "column", "diagonal", "corners", "corner_block"):
        assert np.array_equal(getattr(now.pattern, name), getattr(pattern, name)), name


def test_a_body_beside_keeps_its_rows(tmp_path: Path):
    bodies = (block((2, 2, 2)), block((2, 1, 1), at=(5.0, 0.0, 0.0), key="other"))
    model = Run(tmp_path, Scene(bodies)).built.model
    first = PlaneCutter(model.X[model.bodies[0].nodes], model.tets[model.bodies[0].tets])
    cut = first.cut(model.tets[model.bodies[0].tets], SLANTED, OFFSET)
    now, rows = cut_model(model, {0: cut}), copied_rows(model, {0: cut})
    was, other = model.bodies[1], now.bodies[1]
    assert other.nodes.start == len(cut.origin) and other.tets.start == len(cut.parent)
    for name in ("X", "mass", "gravity_scale"):
        assert np.array_equal(getattr(now, name)[other.nodes], getattr(model, name)[was.nodes]), name
    assert np.array_equal(now.volume[other.tets], model.volume[was.tets])
    assert np.array_equal(now.tets[other.tets] - other.nodes.start, model.tets[was.tets] - was.nodes.start)
    assert np.array_equal(rows.node[other.nodes], np.arange(was.nodes.start, was.nodes.stop))
    assert np.array_equal(rows.tet[other.tets], np.arange(was.tets.start, was.tets.stop))


def test_nodes_are_numbered_piece_by_piece(tmp_path: Path):
    one = cut_block(tmp_path, (4, 2, 2))
    for normal, offset in (([1.0, 0.0, 0.0], 0.4), ([0.1, 1.0, 0.0], 0.55)):
        one.cut(normal, offset)
    model = one.simulation.built.model
    starts = model.pattern.island_start.astype(int)
    assert len(starts) == 5  # four pieces
    island = np.searchsorted(starts, model.tets, side="right")
    assert (island == island[:, :1]).all()


def test_two_cuts_are_one_of_the_whole_tets(tmp_path: Path):
    one = cut_block(tmp_path)
    mesh = one.simulation.built.bodies[0].mesh
    first = one.cutter.cut(mesh.tets, SLANTED, OFFSET)
    second = one.cutter.cut(first.tets, np.array([0.0, 1.0, 0.1]), 0.47)
    both = cut_again(first, second)
    check_copies(uncut_tets(mesh.tets, len(mesh.nodes)), both)
    volume = np.array([part.volume() for part, _ in one.cutter.parts])
    _, whole = _volumes(mesh)
    assert np.abs(both.filled * whole[both.parent] - volume).max() < 1e-12 * whole.max()


def _volumes(mesh):
    edges = mesh.nodes[mesh.tets[:, 1:]] - mesh.nodes[mesh.tets[:, :1]]
    return edges, np.linalg.det(edges) / 6.0


def test_copies_that_are_none_are_refused(tmp_path: Path):
    one = cut_block(tmp_path)
    mesh = one.simulation.built.bodies[0].mesh
    tets, points = one.copies(SLANTED, OFFSET)
    whole = uncut_tets(mesh.tets, len(mesh.nodes))
    check_copies(whole, tets)
    wrong = {
        "parent": replace(tets, parent=tets.parent[::-1]),
        "lengths": replace(tets, filled=tets.filled[1:]),
        "misses 1": replace(tets, filled=0.9 * tets.filled),
        "copies of their parents": replace(tets, tets=np.roll(tets.tets, 1, axis=1)),
        "no copy": replace(tets, origin=np.append(tets.origin, 0)),
    }
    for words, cut in wrong.items():
        with pytest.raises(ValueError, match=words):
            check_copies(whole, cut)
    before = whole_body(0, "block", mesh, PointCopies(*(np.asarray(each) for each in _held(one))))
    elsewhere = replace(points, vertex=np.roll(points.vertex, 1))
    with pytest.raises(ValueError, match="vertex copies"):
        add_cut(before, tets, elsewhere)


def _held(one: CutRun):
    from sinew.solver.simulation.cutting.cut_bodies import body_points

    return [binding.tet for binding in body_points(one.simulation.built, one.key)]
