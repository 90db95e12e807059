# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact contact of what has a Thickness: surfaces stay that far apart, as by Fast, and never intersect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.hybrid_scenes import cloth
from fixtures.rigid_bodies import momenta, rigid_box
from fixtures.scenes import Run, block
from sinew.solver.contact.exact.contact_mesh import close_pairs, make_contact_mesh
from sinew.solver.contact.exact.contact_potential import pair_stencils
from sinew.solver.contact.exact.pair_search import PairSearch
from sinew.solver.contact.exact.pair_thickness import PUSHED_OUT_SHARE, with_thickness
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Collider, Scene, Settings

EXACT = Settings(contact="exact", fps=25.0, substeps=4, frame_end=100)
SPACE = replace(EXACT, gravity=(0.0, 0.0, 0.0))
SIZE = (0.2, 0.2, 0.1)
GAP = 0.1


def layers(heights, surface, thickness):
    """Returns a mesh of squares of two triangles at some heights, each of a surface."""
    corners, faces = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    x = np.concatenate([corners + [0.0, 0.0, height] for height in heights])
    triangles = np.concatenate([faces + 4 * k for k in range(len(heights))]).astype(np.int32)
    count = max(surface) + 1
    may_touch = ~np.eye(count, dtype=bool) if count > 1 else np.ones((1, 1), bool)
    mesh = make_contact_mesh(x, triangles, np.repeat(surface, 4).astype(np.int32), may_touch)
    return replace(mesh, thickness=np.full(count, thickness))


def kept(mesh, begin, gap=GAP):
    """Returns pairs of points and triangles on two layers, one above the other, with their thickness."""
    points, _ = pair_stencils(mesh, close_pairs(mesh, begin, begin, gap))
    numbers = points.vertices % 4
    is_across = (points.vertices[:, 0] < 4) != (points.vertices[:, 1] < 4)
    points = points.select(np.flatnonzero(is_across & (numbers[:, 1:] == numbers[:, :1]).any(axis=1)))
    assert len(points.vertices) > 0
    return with_thickness(mesh, points, begin, gap, np.ones((len(mesh.may_touch),) * 2, bool))


def distances_from_box(run, points):
    """Returns how far points are outside of a rigid box that began with its faces along the axes [m]."""
    now, rest = run.render["box"], next(body.vertices for body in run.scene.bodies if body.key == "box")
    turn = np.linalg.lstsq(rest - rest.mean(axis=0), now - now.mean(axis=0), rcond=None)[0].T
    own = (points - now.mean(axis=0)) @ turn
    return np.linalg.norm(np.maximum(np.abs(own) - 0.5 * np.ptp(rest, axis=0), 0.0), axis=1)


def test_pairs_keep_the_thickness_of_both_and_what_is_too_close_is_let_out_slowly() -> None:
    mesh = layers([0.0, 1.0], [0, 1], 0.3)
    far, near = mesh.rest.copy(), mesh.rest.copy()
    near[4:, 2] = 0.4
    assert (kept(mesh, far, 1.0).thickness == 0.6).all()
    np.testing.assert_allclose(kept(mesh, near).thickness, 0.4 - PUSHED_OUT_SHARE * GAP)
    near[4:, 2] = 0.01
    assert not kept(mesh, near).thickness.any()
    assert np.isinf(kept(mesh, near).start_distance).all()  # they are pushed, however close they began


def test_layers_of_one_body_keep_what_they_begin_with() -> None:
    mesh = layers([0.0, 0.5], [0, 0], 0.3)
    np.testing.assert_allclose(kept(mesh, mesh.rest).thickness, 0.5 - GAP)
    close = layers([0.0, 0.05], [0, 0], 0.3)
    assert not kept(close, close.rest).thickness.any()


def test_a_search_reaches_beyond_the_thickness_until_it_is_given_up() -> None:
    mesh = layers([0.0, 0.65], [0, 1], 0.3)
    search = PairSearch(mesh, GAP, 0.01)
    assert (search.pairs(mesh.rest, mesh.rest)[0].thickness == 0.6).all()
    assert len(search.pairs(mesh.rest, mesh.rest)[0].vertices) == 16
    owners = np.array([[False, True], [True, False]])
    assert search.give_up_thickness(owners) and not search.give_up_thickness(owners)
    assert not search.pairs(mesh.rest, mesh.rest)[0].thickness.any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["soft", "rigid"])
def test_bodies_rest_as_far_apart_as_by_fast_contact(tmp_path, kind) -> None:
    ends = []
    for contact in ("exact", "fast"):
        rubs = Collision(0.5, 0.02)
        lower = block((2, 2, 1), SIZE, at=(0.0, 0.0, 0.07), key="lower", collision=rubs)
        upper = block((2, 2, 1), SIZE, at=(0.0, 0.0, 0.23), key="upper", collision=rubs)
        if kind == "rigid":
            lower, upper = (
                rigid_box(SIZE, (0.1, 0.1, z), key=key, collision=rubs) for z, key in ((0.12, "lower"), (0.28, "upper"))
            )
        floor = Collider("floor", "Floor", friction=0.5, thickness=0.03)
        run = Run(tmp_path / contact, Scene((lower, upper), (floor,), replace(EXACT, contact=contact)))
        if contact == "exact":
            assert advance_and_count(run, 30) == 0 and sum(report.unsettled for report in run.reports) == 0
        else:
            run.advance(30)
        z = {key: values[:, 2] for key, values in run.render.items()}
        ends.append((z["lower"].min(), z["upper"].min() - z["lower"].max()))
    gap = 0.0025  # that of the barrier is 2 mm, and bodies are not quite flat
    assert 0.05 < ends[0][0] < 0.05 + gap and 0.04 < ends[0][1] < 0.04 + gap
    np.testing.assert_allclose(ends[0], ends[1], atol=0.003)


@pytest.mark.slow
def test_what_begins_closer_than_its_thickness_is_pushed_out_and_not_thrown(tmp_path) -> None:
    box = rigid_box((0.1,) * 3, (0.0, 0.0, 0.0505), collision=Collision(0.5, 0.02))
    run = Run(tmp_path, Scene((box,), (Collider("floor", "Floor", friction=0.5),), EXACT))
    heights = []
    for _ in range(40):
        heights.append(run.advance()[:, 2].min())
    assert heights[0] < 0.019 < 0.02 < heights[-1] < 0.022
    assert max(heights) < 0.03


def test_bodies_that_hit_each_other_at_their_thickness_keep_their_momentum(tmp_path) -> None:
    thick = Collision(0.3, 0.015)
    soft = block((2, 2, 1), SIZE, key="soft", initial_velocity=(0.0, 0.0, 1.0), collision=thick)
    box = rigid_box((0.4, 0.4, 0.1), (0.11, 0.12, 0.2), key="box", collision=thick)
    run = Run(tmp_path, Scene((soft, box), (), SPACE))
    before, nearest = momenta(run)[0], np.inf
    for _ in range(4):
        assert advance_and_count(run, 1) == 0
        nearest = min(nearest, distances_from_box(run, run.render["soft"]).min())
    np.testing.assert_allclose(momenta(run)[0], before, atol=1e-9 * np.linalg.norm(before))
    assert 0.03 < nearest < 0.034, "as near as the thickness and the gap, and no nearer"


def test_a_press_uses_up_the_thickness_before_it_is_let_in(tmp_path) -> None:
    """Walls leave 0.13 m to a box of 0.1 m with a thickness of 0.04 m on either side."""
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    lower, upper = Collider("lower", "Lower", "mesh", square, faces), Collider("upper", "Upper", "mesh", square, faces)
    matrices = np.stack([np.eye(4), np.eye(4)])
    matrices[0, 2, 3], matrices[1, 2, 3] = 0.21, 0.13
    tracks = {"collider__upper__matrix": (np.array([0.0, 0.2]), matrices, "rigid")}
    body = rigid_box(SIZE, (0.1, 0.1, 0.1), key="body", collision=Collision(0.0, 0.04))
    run = Run(tmp_path, Scene((body,), (lower, upper), SPACE), **tracks)
    for _ in range(8):
        assert advance_and_count(run, 1) == 0
        z = run.render["body"][:, 2]
        upper_now = 0.13 + 0.08 * max(0.0, 1.0 - run.state.time / 0.2)
        assert 0.0 < z.min() and z.max() < upper_now and run.reports[-1].let_in == 0


@pytest.mark.slow
def test_sheets_with_a_thickness_lie_as_far_apart_as_by_fast_contact(tmp_path) -> None:
    ends = []
    for contact in ("exact", "fast"):
        low, high = (
            cloth((0.2, 0.2), (4, 4), np.array([-0.1, -0.1, z]), key, collision=Collision(0.5, 0.01))
            for z, key in ((0.03, "low"), (0.06, "high"))
        )
        floor = Collider("floor", "Floor", friction=0.5)
        run = Run(tmp_path / contact, Scene((low, high), (floor,), replace(EXACT, contact=contact)))
        run.advance(20)
        ends.append((run.render["low"][:, 2].mean(), run.render["high"][:, 2].mean()))
    np.testing.assert_allclose(ends[0], (0.011, 0.032), atol=0.001)  # and a part of the gap

    np.testing.assert_allclose(ends[0], ends[1], atol=0.003)
