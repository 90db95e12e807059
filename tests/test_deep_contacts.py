# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh that sank into something: what is found at rest, what stands in the report, and what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.flesh_contact_scenes import NoTracks, box, flesh
from fixtures.flesh_scenes import limb
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.frame_report_check import is_report_line
from sinew.solver.bake.deep_contact_warnings import MAX_PAIRS, deep_contact_warnings
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.contact.colliders.rigid_colliders import build_collider
from sinew.solver.quasistatic.contact import contact_penalty_at_poses
from sinew.solver.quasistatic.contact.deep_contacts import deep_contacts, may_have_sunk, mean_thicknesses
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.scene import Body, Collider, Scene, Settings
from sinew.solver.scene.tracks import TrackWriter

HERE = np.vstack([np.eye(3), np.zeros(3)])
FLOOR = Collider("floor", "Floor", "plane", np.zeros((0, 3)), np.zeros((0, 3), np.int32), 0.0, 0.0)


def test_mean_thickness_is_four_volumes_over_the_area() -> None:
    scene = flesh([box((0.0, 0.0, 0.0)), box((3.0, 0.0, 0.0), size=2.0)], 0.25)
    assert mean_thicknesses(scene.contact) == pytest.approx([4.0 / 6.0, 2.0 * 4.0 / 6.0], rel=0.01)


@pytest.mark.parametrize("depth", [0.05, 0.2])
def test_depths_in_a_collider_are_those_of_the_lowest_points(depth: float) -> None:
    """The mean thickness of a cube of 1 m is 0.67 m, so what is more than 0.067 m deep sank in."""
    floor = build_collider(FLOOR, NoTracks())  # type: ignore[arg-type]
    scene = flesh([box((-0.5, -0.5, 0.0)), box((2.0, -0.5, 0.0))], 0.25, (floor,), self_contact=False)
    x = scene.X.copy()
    x[scene.model.bodies[1].nodes, 2] -= depth
    touching = contact_penalty_at_poses(scene.contact, [HERE])
    is_free = np.ones(len(x), bool)
    found = deep_contacts(touching, touching, x, is_free)
    assert may_have_sunk(scene.contact, touching.max_depth(x, is_free)[0]) == bool(found)
    assert found == ({} if depth < 0.067 else {"1": {"floor": pytest.approx(depth)}})
    is_free[scene.model.bodies[1].nodes] = False  # what is held so is no failure of the solve
    assert deep_contacts(touching, touching, x, is_free) == {}
    is_free[:] = True  # as modeled, the floor was in it by all but 5 cm
    modeled = contact_penalty_at_poses(scene.contact, [np.vstack([np.eye(3), [0.0, 0.0, depth - 0.05]])])
    assert deep_contacts(touching, modeled, x, is_free) == {}


def test_depths_in_another_body_count_from_the_overlap_at_rest() -> None:
    """A cube of 60 cm is 5 cm in a larger one as modeled: of the thinner one, more than 4 cm beyond that are deep."""
    scene = flesh([box((0.0, 0.0, 0.0), n=8), box((0.95, 0.2, 0.2), size=0.6, n=8)], 0.2)
    touching = contact_penalty_at_poses(scene.contact, [])
    is_free = np.ones(len(scene.X), bool)
    for moved, is_deep in ((0.0, False), (0.03, False), (0.12, True)):
        x = scene.X.copy()
        x[scene.model.bodies[1].nodes, 0] -= moved
        found = deep_contacts(touching, touching, x, is_free)
        assert sorted(found) == (["0", "1"] if is_deep else [])
        for key, other in ("01", "10") if is_deep else ():
            assert found[key] == {other: pytest.approx(moved, abs=0.01)}


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_bake_tells_what_sank_into_what(tmp_path: Path, share: float) -> None:
    """A floor rises by a share of the thickness of a limb whose ends are held where they are."""
    body = limb(flesh=Flesh(law="neo-hookean"))
    thickness = float(np.ptp(body.vertices[:, 2]))
    floor = Collider("floor", "The Floor")
    matrices = np.tile(np.eye(4), (3, 1, 1))
    matrices[:, 2, 3] = body.vertices[:, 2].min() + np.array([0.0, share, share]) * thickness
    cache, events = tmp_path / "c.sinew", []
    Scene((body,), (floor,), Settings(frame_end=3, substeps=1, gravity=(0.0, 0.0, 0.0))).save(cache / "scene")
    tracks = TrackWriter(cache / "scene")
    tracks.append("collider.floor.matrix", np.arange(3, dtype=float) / 24.0, matrices, "rigid")
    tracks.append("body.limb.targets", [0.0, 1.0], np.tile(body.vertices[body.pinned], (2, 1, 1)))
    tracks.close()
    run_bake(cache, events.append)
    (first, *others) = CacheReader(cache).report()
    warnings = [event for event in events if event["event"] == "warning" and event["kind"] == "sank-in"]
    assert "deep_contacts" not in first
    if not share:
        assert not warnings and not any("deep_contacts" in line for line in others)
        return
    for line in others:
        assert line["deep_contacts"] == {"limb": {"floor": pytest.approx(line["deepest_contact"])}}
        assert line["deepest_contact"] > 0.1 * thickness
    (warning,) = warnings
    assert '"Limb" has sunk' in warning["sentence"] and '"The Floor"' in warning["sentence"]


def told(lines: list[dict[str, Any]], names: dict[str, str]) -> list[str]:
    bodies = tuple(Body(np.zeros((3, 3)), np.array([[0, 1, 2]], np.int32), key=k, name=n) for k, n in names.items())
    return [each.sentence for each in deep_contact_warnings(lines, Scene(bodies))]


def test_each_pair_is_told_once_by_name_with_its_deepest_frame() -> None:
    names = {"a": "Biceps", "b": "Brachialis"}
    lines = [
        {"frame": 1},
        {"frame": 2, "deep_contacts": {"a": {"b": 0.01}}},
        {"frame": 3, "deep_contacts": {"b": {"a": 0.0312}, "a": {"b": 0.02}}},
        {"frame": 4, "deep_contacts": {"a": {"b": 0.011}}},
    ]
    (line,) = told(lines, names)
    assert line.startswith('At frame 3, "Brachialis" has sunk 0.031 m into "Biceps"')
    many = [{"frame": 1, "deep_contacts": {"a": {f"c{n}": 0.01 * (n + 1) for n in range(9)}}}]
    assert len(told(many, names)) == MAX_PAIRS and "0.09 m" in told(many, names)[0]
    assert told([{"frame": 1}], names) == []


@pytest.mark.parametrize(
    ("value", "fits"), [({"a": {"b": 0.1}}, True), ({"a": 0.1}, False), ({"a": {"b": "x"}}, False)]
)
def test_a_line_of_the_report_says_depths_by_pair(value: Any, fits: bool) -> None:
    assert is_report_line({"frame": 1, "deep_contacts": value}) == fits
