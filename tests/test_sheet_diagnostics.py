# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that are inside a body all at once are told of, those that come in from outside are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.contact_scenes import NOTHING
from fixtures.scenes import Run, block, pose
from sinew.solver.runtime.errors import SinewError
from sinew.solver.scene.scene import Collider, Scene, Settings
from sinew.solver.simulation.enclosed_collider_sheets import find_enclosed_sheets

FRAME = 1.0 / 24.0
OUT, IN = (0.0, 0.0, 3.0), (0.0, 0.0, 0.5)


def wall(half: float = 2.0, **settings) -> Collider:
    """Returns two triangles, upright."""
    corners = np.array([[0.0, -1, -1], [0.0, 1, -1], [0.0, 1, 1], [0.0, -1, 1]])
    return Collider("wall", "Wall", "mesh", half * corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), **settings)


def told(folder, places, deforms: bool = False, collider: Collider | None = None, **tracks) -> list:
    """Returns what is told frame by frame while a sheet is at places, one per frame."""
    own, times = collider or wall(), FRAME * np.arange(len(places))
    if deforms:
        tracks["collider__wall__vertices"] = (times, np.array(places)[:, None] + own.vertices)
        own = replace(own, vertices=own.vertices + places[0])
    else:
        tracks["collider__wall__matrix"] = (times, [pose(move=place) for place in places], "rigid")
    body = block((4, 4, 4), at=(-0.53, -0.5, 0.0))
    run = Run(folder, Scene((body,), (own,), Settings(gravity=NOTHING)), **tracks)
    found = [list(find_enclosed_sheets(run.simulation, 1, is_first=True))]
    for frame in range(2, len(places) + 1):
        run.advance()
        found.append(list(find_enclosed_sheets(run.simulation, frame, is_first=False)))
    return found


BOTH = [("Wall", "Block")]


@pytest.mark.parametrize("deforms", [False, True])
def test_what_stands_in_a_body_is_told_once(tmp_path, deforms):
    assert told(tmp_path, [IN] * 3, deforms) == [BOTH, [], []]


@pytest.mark.parametrize("deforms", [False, True])
def test_what_jumps_into_a_body_is_told_when_it_does(tmp_path, deforms):
    assert told(tmp_path, [OUT] * 2 + [IN] * 2, deforms, wall(0.4)) == [[], [], BOTH, []]


@pytest.mark.parametrize("deforms", [False, True])
def test_what_is_switched_on_in_a_body_is_told_then(tmp_path, deforms):
    active = (FRAME * np.array([0.0, 2.0]), [0.0, 1.0], "step")
    found = told(tmp_path, [IN] * 5, deforms, collider__wall__active=active)
    assert [bool(each) for each in found].count(True) == 1 and BOTH in found[2:4]


def test_what_comes_in_by_itself_lies_outside_or_has_an_inside_is_not_told(tmp_path):
    along = [(0.0, 0.0, z) for z in np.linspace(3.0, 0.5, 8)]
    assert not any(told(tmp_path / "a", along, collider=wall(0.2)))
    assert not any(told(tmp_path / "b", [(-0.53, 0.0, 0.5)] * 2))
    vertices, triangles = shapes.cube(2)
    solid = Collider("wall", "Wall", "mesh", 0.2 * vertices, triangles)
    assert not any(told(tmp_path / "c", [OUT] * 2 + [IN] * 2, collider=solid))


def test_the_sentence_names_both():
    problem = SinewError("sheet-in-body", name="Wall", body="Block", frame=3)
    assert '"Wall"' in problem.sentence and '"Block"' in problem.sentence and "frame 3" in problem.sentence
