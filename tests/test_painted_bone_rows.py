# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted strength of rows about bones, on the body and on the target, and the masks that rows take over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.bone_scenes import held_by, limb, line
from fixtures.sliding_scenes import block_on_rail, rail
from sinew.solver.constraints.attachments.surface_links import SurfaceLinks
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.flesh import Bone
from sinew.solver.scene.scene import Body, Scene, Settings
from sinew.solver.scene.tracks import MemoryTracks
from sinew.solver.simulation.build import build


def painted_limb(kind: str, paint: Floats, stiffness: float | None = 900.0) -> tuple[Body, Bone]:
    """Returns a bar around the line of a bone, with painted strength of the attachment to it."""
    body = limb()
    bone = line((1.0, 0.5, 0.5), (3.0, 0.5, 0.5), bodies=("limb",), distance=0.3)
    attachment = Attachment("line", kind, 0.3, paint=paint, stiffness=stiffness)
    return replace(body, attachments=(attachment,)), bone


def test_painted_strength_multiplies_the_springs_of_a_bone(tmp_path: Path) -> None:
    """Springs get what is painted at the nearest point of the skin, also below one half, and none where it is 0."""
    along = limb().vertices[:, 0]
    full, _, _ = held_by(tmp_path / "a", *painted_limb("spring", np.zeros(0)))
    found, built, tracks = held_by(tmp_path / "b", *painted_limb("spring", np.clip((along - 1.0) / 4.0, 0.0, 1.0)))
    (whole,), (part,) = full.constraints, found.constraints
    x = built.model.X
    assert set(part.nodes) == {node for node in whole.nodes if x[node, 0] > 1.0}
    # per mass, the stiffness is that of the row times the paint
    springs = found.springs(tracks, built.model, 0.0)
    wanted = 900.0 * (x[springs.nodes, 0] - 1.0) / 4.0
    assert springs.stiffness / built.model.mass[springs.nodes] == pytest.approx(wanted, rel=1e-9)
    ones = full.springs(tracks, built.model, 0.0)
    assert (ones.stiffness == 900.0 * built.model.mass[ones.nodes]).all()


def test_what_is_fixed_is_held_where_the_paint_is_above_one_half(tmp_path: Path) -> None:
    paint = np.clip((limb().vertices[:, 0] - 1.0) / 2.0, 0.0, 1.0)
    found, built, _ = held_by(tmp_path, *painted_limb("fixed", paint))
    (hold,) = found.constraints
    assert built.model.X[hold.nodes, 0].min() == pytest.approx(2.25) and (hold.painted_strength == 1.0).all()


def test_paint_on_a_bone_comes_before_its_own_mask(tmp_path: Path) -> None:
    body, bone = painted_limb("fixed", np.zeros(0))
    for mask, target_paint, wanted in (((1, 0), (), "left"), ((1, 0), (0, 1), "right"), ((), (1,), "left")):
        own = replace(bone, mask=np.array(mask, float))
        (attachment,) = body.attachments
        painted = replace(body, attachments=(replace(attachment, target_paint=np.array(target_paint, float)),))
        found, built, _ = held_by(tmp_path / f"{len(mask)}{wanted}", painted, own)
        x = built.model.X[found.constraints[0].nodes, 0]
        assert (x < 2.0).all() if wanted == "left" else (x > 2.0).all()


def sliding_links(target_paint: Floats) -> SurfaceLinks:
    """Returns the links of a block to a rail that is painted."""
    body, ground = block_on_rail("euler", 1.0e5), rail()
    attachment = replace(body.attachments[0], target_paint=target_paint)
    scene = Scene((replace(body, attachments=(attachment,)),), (ground,), Settings(1, 2))
    built = build(scene, MemoryTracks({}, {}), lambda *stage: None)
    (force,) = [force for force in built.forces if force.kind == "attachments"]
    return force.links[0]


def test_paint_on_the_target_multiplies_the_links_of_a_surface() -> None:
    count = len(rail().vertices)
    whole, half = sliding_links(np.zeros(0)), sliding_links(np.full(count, 0.5))
    assert half.stiffness == pytest.approx(0.5 * whole.stiffness, rel=1e-12)
    # one side of the trough alone; vertices after the last that is painted have none
    near = np.zeros(count)
    near[: count // 2] = 1.0
    assert 0 < len(sliding_links(near).stiffness) == len(sliding_links(near[: count // 2]).stiffness)
    assert sliding_links(near).stiffness.sum() < whole.stiffness.sum()
