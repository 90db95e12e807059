# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and torques on colliders, and the contacts that a bake keeps."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fixtures.scenes import Run, block, pose, rotation
from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.bake import frame_recorder
from sinew.solver.bake.cache import delete_cache, layout
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.scene.scene import Collider, Material, Scene
from test_collider_contact import sheet, slab
from test_colliders_deforming import moved, still

STIFF = Material(1.0e6, 0.3, 1000.0, stiffness_damping=0.05)
WEIGHT = 0.5**3 * 1000.0 * 9.81


def resting(folder, collider: Collider, at=(0.0, 0.0), **tracks) -> Run:
    """Returns a cube of half a metre that has come to rest with its middle at a place."""
    body = block((3, 3, 3), (0.5, 0.5, 0.5), at=(at[0] - 0.25, at[1] - 0.25, 0.001), material=STIFF)
    run = Run(folder, Scene((body,), (collider,)), **tracks)
    run.advance(48)
    return run


@pytest.mark.parametrize(
    "collider",
    [Collider("slab", "Slab", friction=0.5), slab(friction=0.5), sheet(friction=0.5)],
    ids=["plane", "box", "sheet"],
)
def test_a_resting_body_presses_with_its_weight(tmp_path, collider):
    run = resting(tmp_path, collider, (1.0, -0.5))
    force, torque = np.split(np.array(run.reports[-1].colliders[collider.key]), 2)
    assert force == pytest.approx([0.0, 0.0, -WEIGHT], abs=0.01 * WEIGHT)
    assert torque == pytest.approx(np.cross([1.0, -0.5, 0.0], [0.0, 0.0, -WEIGHT]), abs=0.01 * WEIGHT)


@pytest.mark.slow
def test_on_what_would_deform_too(tmp_path):
    """About its origin where there is one, else about its middle."""
    collider = sheet(cells=6, friction=0.5)
    expected = [0.0, 0.0, -WEIGHT]
    track = moved(collider, still, 2)
    run = resting(tmp_path / "middle", collider, (1.0, 0.5), **track)
    force, torque = np.split(np.array(run.reports[-1].colliders["sheet"]), 2)
    assert force == pytest.approx(expected, abs=0.01 * WEIGHT)
    assert torque == pytest.approx(np.cross([1.0, 0.5, 0.0], expected), abs=0.01 * WEIGHT)
    place = ([0.0], [pose(move=(3.0, 0.0, 0.0))], "rigid")
    run = resting(tmp_path / "origin", collider, (1.0, 0.5), **track, collider__sheet__matrix=place)
    torque = np.array(run.reports[-1].colliders["sheet"])[3:]
    assert torque == pytest.approx(np.cross([-2.0, 0.5, 0.0], expected), abs=0.01 * WEIGHT)


def test_on_a_slope_friction_carries_its_part(tmp_path):
    turn = rotation([0, 1, 0], 0.3)
    body = block((3, 3, 1), (0.5, 0.5, 0.2), turn=turn, material=STIFF)
    ground = Collider("ground", "Ground", friction=0.8)
    run = Run(tmp_path, Scene((body,), (ground,)), collider__ground__matrix=([0.0], [pose(turn)], "rigid"))
    run.advance(48)
    weight = 0.5 * 0.5 * 0.2 * 1000.0 * 9.81
    assert run.reports[-1].colliders["ground"][:3] == pytest.approx([0.0, 0.0, -weight], abs=0.01 * weight)


def test_a_collider_that_nothing_touches_bears_nothing(tmp_path):
    body = block((2, 2, 2), at=(0.0, 0.0, 9.0))
    run = Run(tmp_path, Scene((body,), (slab(),)))
    run.advance(2)
    assert run.reports[-1].colliders == {"slab": (0.0,) * 6}


# ---- what a bake keeps


def bake(folder, frames: int = 24, **settings):
    """Bakes two cubes, of which one falls on the ground, and returns the lines of the report."""
    write_scene(folder, tiny_scene(frames, **settings))
    run_bake(folder, lambda event: None)
    return [json.loads(line) for line in (folder / layout.REPORT_FILE).read_text().splitlines()]


def test_frames_with_contacts_keep_them(tmp_path):
    lines = bake(tmp_path / "c.sinew")
    kept = layout.numbers_in(tmp_path / "c.sinew" / layout.CONTACT_FOLDER)
    assert kept == [line["frame"] for line in lines if line["contacts"]] and len(kept) > 10
    with np.load(layout.numbered_path(tmp_path / "c.sinew" / layout.CONTACT_FOLDER, kept[-1])) as file:
        positions, forces, normals, other = (file[name] for name in ("positions", "forces", "normals", "other"))
    assert positions.dtype == forces.dtype == normals.dtype == np.float32 and other.dtype == np.int32
    assert len(positions) == lines[-1]["contacts"] and (other == 0).all()
    assert np.abs(positions[:, 2]).max() < 0.02 and np.allclose(normals, [0.0, 0.0, 1.0])
    assert lines[-1]["colliders"]["ground"][2] == pytest.approx(-forces[:, 2].sum(), rel=0.2)


def test_of_very_many_the_strongest_are_kept(tmp_path, monkeypatch):
    bake(tmp_path / "all.sinew")
    monkeypatch.setattr(frame_recorder, "MAX_WRITTEN_CONTACTS", 3)
    bake(tmp_path / "few.sinew")
    found = []
    for name in ("all", "few"):
        with np.load(layout.numbered_path(tmp_path / f"{name}.sinew" / layout.CONTACT_FOLDER, 24)) as file:
            found.append(np.sort(np.linalg.norm(file["forces"], axis=1)))
    assert len(found[0]) > 3 and np.array_equal(found[0][-3:], found[1])


def test_a_deleted_bake_leaves_no_contacts(tmp_path):
    bake(tmp_path / "c.sinew")
    assert not delete_cache(tmp_path / "c.sinew")
    assert not (tmp_path / "c.sinew").exists()


def test_a_longer_bake_drops_nothing_and_a_shorter_one_what_is_later(tmp_path):
    cache = tmp_path / "c.sinew"
    bake(cache, 20)
    before = layout.numbers_in(cache / layout.CONTACT_FOLDER)
    stored = layout.numbered_path(cache / layout.CONTACT_FOLDER, 18).read_bytes()
    run_bake(cache, lambda event: None, options=BakeOptions(resume=True, from_frame=12, frame_end=24))
    after = layout.numbers_in(cache / layout.CONTACT_FOLDER)
    assert after[: len(before)] == before and after[-1] == 24
    assert layout.numbered_path(cache / layout.CONTACT_FOLDER, 18).read_bytes() == stored
