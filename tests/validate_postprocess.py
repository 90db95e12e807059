# SPDX-License-Identifier: GPL-3.0-or-later
"""What the final meshes of bodies that break cost, at the size of MG04's table 1, and whether they stay closed.

python -m pytest -s tests/validate_postprocess.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.closed_surfaces import torus
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.scene.scene import Body, Collider, Fracture, Material, Meshing, Scene, Settings
from sinew.solver.scene.tracks import TrackWriter

SECTION = "The render mesh stays watertight"
FRAMES = 250
KEY = "torus"


def torn_torus(frame_end: int, attributes: tuple[str, ...] = ()) -> Scene:
    """Returns a ring of 22,200 triangles, held on one side and pulled at the other, above the ground."""
    vertices, triangles = torus(150, 74)
    vertices = vertices + [0.0, 0.0, 1.0]
    pinned = np.flatnonzero(np.abs(vertices[:, 0]) > 0.9).astype(np.int32)
    body = Body(
        vertices,
        triangles,
        Material(1.0e5, 0.33, 1000.0),
        Meshing("robust", divisions=6),
        KEY,
        "Torus",
        pinned=pinned,
        pin_weights=np.ones(len(pinned)),
        fracture=Fracture(breaking_stress=2.5e4),
        attributes=attributes,
    )
    return Scene((body,), (Collider("ground", "Ground"),), Settings(1, frame_end))


def write(cache: Path, scene: Scene) -> None:
    """Exports it: the ends go apart with 0.2 m/s each."""
    scene.save(cache / "scene")
    body = scene.bodies[0]
    rest = body.vertices[body.pinned]
    times = np.linspace(0.0, 11.0, 12)
    away = np.sign(rest[:, :1]) * [0.2, 0.0, 0.0]
    tracks = TrackWriter(cache / "scene")
    tracks.append(f"body.{KEY}.targets", times, rest + times[:, None, None] * away)
    tracks.close()


def bake(cache: Path, scene: Scene) -> dict[str, Mapping[str, Any]]:
    """Bakes and returns the last event of each kind."""
    told: dict[str, Mapping[str, Any]] = {}
    write(cache, scene)
    run_bake(cache, lambda event: told.__setitem__(event["event"], event))
    return told


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Mapping[str, Any]]]:
    folder = tmp_path_factory.mktemp("torn")
    bake(folder / "first", torn_torus(30))  # compiles
    return folder / "c", bake(folder / "c", torn_torus(FRAMES))


def test_share_of_the_bake(torn: tuple[Path, dict[str, Mapping[str, Any]]]) -> None:
    _, told = torn
    triangles, tets = len(torn_torus(2).bodies[0].triangles), told["built"]["tets"]
    (made,) = told["finished"]["results"]
    share = told["finished"]["seconds"] / told["done"]["seconds"]
    print(f"\n{triangles} triangles, {tets} tets, {FRAMES} frames in {told['done']['seconds']:.2f} s, {made}")
    print(f"finishing took {told['finished']['seconds']:.2f} s")
    assert triangles >= 22_000 and tets < 1_000 and made["pieces"] > 1
    reach(SECTION, "22,200 triangles: cutting and moving, share of the bake", f"{share:.1%}", "10 %", share <= 0.1)


def test_closed_at_every_frame(torn: tuple[Path, dict[str, Mapping[str, Any]]]) -> None:
    cache, _ = torn
    made = CacheReader(cache).read_result(KEY)
    assert made is not None
    sizes = np.diff(made["face_start"])
    after = np.arange(1, len(made["corners"]) + 1)
    after[made["face_start"][1:] - 1] = made["face_start"][:-1]
    count = len(made["rest"])
    there = made["corners"].astype(np.int64) * count + made["corners"][after]
    back = made["corners"][after].astype(np.int64) * count + made["corners"]
    lone = len(np.setxor1d(there, back)) + len(there) - len(np.unique(there))
    assert sizes.min() >= 3
    reach(SECTION, "edges without two faces that agree, at every frame", lone, 0, lone == 0)


def sides_of_cracks(made: Mapping[str, np.ndarray]) -> np.ndarray:
    """Returns rows (face, vertex, vertex of the face that it fitted to, at the same point).

    A few corners have none there: one side may have a corner on an edge that the other has in one.
    """
    rest, corners, start = made["rest"], made["corners"], made["face_start"]
    rows = []
    for face in np.flatnonzero(made["partner"] >= 0):
        other = made["partner"][face]
        there = {rest[vertex].tobytes(): vertex for vertex in corners[start[other] : start[other + 1]]}
        here = corners[start[face] : start[face + 1]]
        at = [(vertex, there.get(rest[vertex].tobytes(), -1)) for vertex in here]
        rows += [(face, vertex, same) for vertex, same in at if same >= 0]
    return np.array(rows)


def test_closed_cracks_do_not_fight(torn: tuple[Path, dict[str, Mapping[str, Any]]]) -> None:
    cache, _ = torn
    made = CacheReader(cache).read_result(KEY)
    assert made is not None
    rows = sides_of_cracks(made)
    of_cracks = int(np.diff(made["face_start"])[made["partner"] >= 0].sum())
    assert len(rows) > 0.99 * of_cracks
    opens = made["opens"][rows[:, 0]]
    apart, widest = 0.0, 0.0
    for frame in range(1, FRAMES + 1):
        shown = read_samples(cache / "result" / f"{KEY}.pc2", frame - 1, 1)[0]
        gap = np.abs(shown[rows[:, 1]] - shown[rows[:, 2]]).max(axis=1)
        apart, widest = max(apart, float(gap[opens > frame].max(initial=0.0))), float(gap.max())
    span = f"open from frame {opens.min():g} to {opens.max():g}, {widest:.2f} m wide"
    print(f"\n{len(rows)} of {of_cracks} corners, {span}")
    assert opens.max() > opens.min() and widest > 0.1
    reach(SECTION, "sides of cracks apart before they open, all frames [m]", apart, 0, apart == 0.0)


def test_it_begins_as_the_original(torn: tuple[Path, dict[str, Mapping[str, Any]]]) -> None:
    cache, _ = torn
    made = CacheReader(cache).read_result(KEY)
    assert made is not None
    is_source = made["source_vertex"] >= 0
    first, off = int(made["opens"][made["partner"] >= 0].min()), 0.0
    for frame in range(1, first):
        shown = read_samples(cache / "result" / f"{KEY}.pc2", frame - 1, 1)[0][is_source]
        played = read_samples(cache / "play" / f"{KEY}.pc2", frame - 1, 1)[0][made["source_vertex"][is_source]]
        off = max(off, float(np.abs(shown - played).max()))
    size = float(np.ptp(made["rest"], axis=0).max())
    line = "vertices away from the original's before the first crack, over the size"
    reach(SECTION, line, off / size, 2e-7, off <= 2e-7 * size)  # float32


def test_attributes_share(torn: tuple[Path, dict[str, Mapping[str, Any]]], tmp_path: Path) -> None:
    bakes = {(): [torn[1]], ("stress", "damage"): []}
    for number in range(3):  # in turns, and the medians
        for wanted, told in bakes.items():
            if len(told) == number:
                told.append(bake(tmp_path / f"{number}{len(wanted)}", torn_torus(FRAMES, wanted)))
    plain, more = (float(np.median([one["done"]["seconds"] for one in told])) for told in bakes.values())
    print(f"\nstress and damage for {FRAMES} frames: {more:.2f} s, without {plain:.2f} s")
    share = more / plain - 1.0
    reach(SECTION, "two attributes of 22,200 triangles, over the bake without", f"{share:.0%}", "40 %", share <= 0.4)
