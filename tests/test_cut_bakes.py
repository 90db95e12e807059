# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes in which a body is cut: killed and resumed, lost samples drawn again, a damaged checkpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sinew.solver.api as sinew
from fixtures.cut_runs import CutRun
from fixtures.scenes import block
from sinew.addon.cache.baked_tets import body_tets
from sinew.addon.overlays.tet_geometry import load_geometry
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.bake.newest_checkpoint import newest_checkpoint
from sinew.solver.mesh.mesh_npz import from_arrays
from sinew.solver.runtime.atomic_files import write_atomic
from sinew.solver.runtime.checksums import npz_bytes
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.simulation.simulation import NO_CALLBACKS, FrameCallbacks, SimulatedFrame, Simulation

PLANES = {5: ([1.0, 0.1, 0.0], 0.52), 8: ([0.0, 1.0, 0.15], 0.52)}  # by the frame after which they cut
SCENE = Scene(
    (block((3, 3, 3), at=(0.0, 0.0, 0.3), attributes=("principal_stress",)),),
    (Collider("ground", "Ground"),),
    Settings(frame_end=16),
)


def ends_at(frame: int) -> Scene:
    return replace(SCENE, settings=replace(SCENE.settings, frame_end=frame))


@pytest.fixture
def cutters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets bakes cut their body after some frames, as a resumed one does from its copies on."""
    advance = Simulation.advance

    def cut_and_advance(self: Simulation, callbacks: FrameCallbacks = NO_CALLBACKS) -> SimulatedFrame:
        if self.is_started and self.frame in PLANES:
            one = CutRun(self)
            for frame in sorted(PLANES):
                if frame < self.frame:
                    one.follow(PLANES[frame])
            one.cut(*PLANES[self.frame])
        return advance(self, callbacks)

    monkeypatch.setattr(Simulation, "advance", cut_and_advance)


@pytest.mark.parametrize("killed", [5, 7, 12])
def test_a_bake_resumed_and_one_that_ran_through_have_the_same_bytes(tmp_path: Path, cutters: None, killed: int):
    whole = sinew.bake(SCENE, tmp_path / "whole.sinew")
    sinew.bake(ends_at(killed), tmp_path / "parts.sinew")
    parts = sinew.bake(SCENE, tmp_path / "parts.sinew", resume=True)
    assert whole.play_path("block").read_bytes() == parts.play_path("block").read_bytes()
    for file in ("frames/000016.npz", "attributes/block/000016.ply"):
        assert (whole.folder / file).read_bytes() == (parts.folder / file).read_bytes()
    found = [sorted((cache.folder / "topology").iterdir()) for cache in (whole, parts)]
    assert [path.read_bytes() for path in found[0]] == [path.read_bytes() for path in found[1]]
    assert len(found[0]) == len(PLANES)


def test_lost_samples_are_drawn_again_from_the_copies(tmp_path: Path, cutters: None):
    cache = sinew.bake(ends_at(14), tmp_path / "c.sinew")
    drawn = read_samples(cache.play_path("block"), 0, 14)
    with cache.play_path("block").open("r+b") as file:
        file.truncate(cache.play_path("block").stat().st_size // 3)
    sinew.bake(SCENE, cache.folder, resume=True)
    again = read_samples(cache.play_path("block"), 0, 14)
    assert np.abs(drawn[13] - drawn[0]).max() > 0.1
    assert np.abs(again - drawn).max() < 1e-6  # frames are float32


def test_overlays_draw_the_copies(tmp_path: Path, cutters: None):
    bodies = (*SCENE.bodies, block((2, 1, 1), at=(0.0, 5.0, 0.0), key="other"))
    passing = (("block", "other"),)
    cache = sinew.bake(replace(ends_at(10), bodies=bodies, ignored_pairs=passing), tmp_path / "c.sinew")
    reader = CacheReader(cache.folder)
    intact, first, second = (reader.read_frame(frame).topology for frame in (4, 7, 10))
    assert intact == 0 < first < second
    stored = reader.read_topology(second)
    count = len(reader.read_frame(10).x)
    assert len(stored["origin"]) == count and len(stored["tets"]) == len(stored["parent"])
    block_tets, other_tets = (body_tets(reader, key) for key in ("block", "other"))
    assert block_tets is not None and other_tets is not None
    tets, nodes = block_tets.tets_and_nodes(reader, second)
    parent = block_tets.parents(reader, second)
    assert np.array_equal(tets + nodes[0], stored["tets"][: len(tets)]) and len(tets) > len(block_tets.tets)
    origin = stored["origin"][nodes[0] : nodes[1]]
    assert np.array_equal(origin[tets], block_tets.tets[parent])
    others, rows = other_tets.tets_and_nodes(reader, second)
    assert np.array_equal(others, other_tets.tets) and rows[1] == count
    assert np.array_equal(other_tets.parents(reader, second), np.arange(len(others)))
    drawn = load_geometry(reader, "block", second)
    assert drawn is not None and drawn.nodes == nodes and drawn.faces.max() < nodes[1] - nodes[0]


def test_copies_of_other_tets_are_no_checkpoint(tmp_path: Path, cutters: None):
    cache = sinew.bake(ends_at(12), tmp_path / "c.sinew")
    reader = CacheReader(cache.folder)
    mesh, _ = from_arrays(reader.read_model("block"))
    frame, state, _ = newest_checkpoint(reader, None, {"block": mesh})
    assert len(state.x) == len(state.fields["cut.block.origin"]) > len(mesh.nodes)
    path = cache.folder / "resume" / f"{frame:06d}.npz"
    arrays = dict(reader.read_resume(frame))
    arrays["field.cut.block.parent"] = arrays["field.cut.block.parent"][::-1].copy()
    write_atomic(path, npz_bytes(arrays))
    older, _, notes = newest_checkpoint(CacheReader(cache.folder), frame, {"block": mesh})
    assert older < frame
    assert [note.kind for note in notes] == ["cache-point-damaged"] and "parent" in str(notes[0].details["problem"])
