# SPDX-License-Identifier: GPL-3.0-or-later
"""Where scenes with Exact contact begin: what touches is moved by a hair, what intersects is named and separated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere
from fixtures.scenes import Run, block, rotation
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene
from test_exact_contact_scenes import EXACT, FLOOR, SIZE, intersections
from test_excluded_features import welded


def moved(body: Body, by) -> Body:
    nodes = None if body.tet_nodes is None else body.tet_nodes + np.asarray(by)
    return replace(body, vertices=body.vertices + np.asarray(by), tet_nodes=nodes)


def stack(count=3, gap=0.0, turn=0.0) -> list[Body]:
    turns = [rotation((0.0, 0.0, 1.0), turn * number) for number in range(count)]
    return [
        block((2, 2, 2), SIZE, at=(-0.1, -0.1, gap + number * (0.2 + gap)), turn=turns[number], key=f"b{number}")
        for number in range(count)
    ]


@pytest.mark.parametrize(("turn", "between"), [(0.0, 0.0), (0.3, 0.0), (0.3, 1e-9), (0.0, -1e-9)])
def test_bodies_that_touch_begin_a_hair_apart_and_stay_where_they_are(turn, between, tmp_path) -> None:
    """Round-off decides whether faces that touch intersect, so those that nearly do are moved apart as well."""
    run = Run(tmp_path, Scene(tuple(stack(gap=between, turn=turn)), (FLOOR,), EXACT))
    kinds = [[warning.kind for warning in body.warnings] for body in run.built.bodies]
    assert all(own.count("exact-contact-touches") == 1 for own in kinds)
    gap = run.built.exact_contact.options.barrier.gap
    start = run.built.initial.x.copy()
    lifted = [float((start - run.built.model.X)[body.nodes, 2].min()) for body in run.built.model.bodies]
    assert 0.0 < lifted[0] < lifted[1] < lifted[2] < 3.1 * 0.25 * gap
    assert not intersections(run)
    fastest = 0.0
    for _ in range(6):
        run.advance()
        fastest = max(fastest, float(run.simulation.state.v[:, 2].max()))
        assert not intersections(run) and run.reports[-1].let_in == 0
    assert fastest < 0.1, "nothing is thrown up"


def test_bodies_in_each_other_and_in_colliders_are_refused_and_their_moves_separate_them(tmp_path) -> None:
    bodies = stack(3, -0.03)
    with pytest.raises(BadInput) as refused:
        Run(tmp_path, Scene(tuple(bodies), (FLOOR,), EXACT))
    details = refused.value.details
    assert refused.value.kind == "exact-contact-intersects" and "Separate" in refused.value.next_step
    assert {details["name"], details["other"]} <= {"B0", "B1", "B2", "Floor"}
    moves = details["moves"]
    assert moves["b0"][2] == pytest.approx(0.03, rel=0.1) and set(moves) == {"b0", "b1", "b2"}
    separated = [moved(body, moves[body.key]) for body in bodies]
    run = Run(tmp_path / "again", Scene(tuple(separated), (FLOOR,), EXACT))
    assert not intersections(run) and not [w for body in run.built.bodies for w in body.warnings]


def test_a_ball_in_a_box_is_moved_out_the_short_way(tmp_path) -> None:
    vertices, triangles = welded(*sphere(6))
    ball = Body(0.1 * vertices + [0.0, 0.0, 0.35], triangles, meshing=Meshing(divisions=4), key="ball", name="Ball")
    corners, faces = welded(*cube(1, 0.6))
    box = Collider("box", "Box", "mesh", corners - corners.mean(axis=0), faces)
    with pytest.raises(BadInput) as refused:
        Run(tmp_path, Scene((ball,), (box,), EXACT))
    assert refused.value.details["moves"]["ball"] == pytest.approx([0.0, 0.0, 0.05], abs=5e-3)


def test_what_intersects_itself_is_told_and_kept_apart_once_it_has_parted(tmp_path) -> None:
    """Two bars that are one body, crosswise in each other by a third: they fly apart, and then against each other."""
    one = block((1, 1, 1), (0.6, 0.1, 0.1), at=(-0.3, -0.01, -0.05))
    other = block((1, 1, 1), (0.1, 0.1, 0.6), at=(-0.05, -0.08, -0.3))
    two = replace(
        one,
        vertices=np.concatenate([one.vertices, other.vertices]),
        triangles=np.concatenate([one.triangles, other.triangles + len(one.vertices)]).astype(np.int32),
        tet_nodes=np.concatenate([one.tet_nodes, other.tet_nodes]),
        tets=np.concatenate([one.tets, other.tets + len(one.tet_nodes)]).astype(np.int32),
        collision=Collision(0.0, 0.0, True),
    )
    run = Run(tmp_path, Scene((two,), (), replace(EXACT, gravity=(0.0, 0.0, 0.0))))
    (warning,) = (each for each in run.built.bodies[0].warnings if each.kind == "exact-contact-crosses-itself")
    assert warning.details["name"] == two.name and warning.details["count"] > 4
    assert len(run.built.exact_contact.first_excluded) and intersections(run)
    nodes = np.arange(len(two.tet_nodes)) < len(one.tet_nodes)
    state = run.simulation.state

    def fly(speed: float, frames: int) -> None:
        state.v[:] = np.where(nodes[:, None], [0.0, speed, 0.0], [0.0, -speed, 0.0])
        run.advance(frames)

    fly(0.0, 3)
    assert intersections(run), "nothing is thrown apart"
    assert np.abs(state.v).max() < 0.05 and not any(report.let_in for report in run.reports)
    fly(1.0, 3)
    assert not intersections(run) and not [name for name in state.fields if "excluded" in name]
    found = []
    state.v[:] *= -1.0
    for _ in range(10):
        run.advance()
        found += intersections(run)
    assert not found and state.x[nodes, 1].mean() > state.x[~nodes, 1].mean()
    assert sum(report.contacts for report in run.reports[-10:]) > 0
