# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that hold flesh, and rest shapes that change: how exactly, how softly, how fast."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.bone_scenes import ball, held_by, limb, line, rod, targets
from fixtures.relative_time import RelativeTime
from fixtures.scenes import JELLY, Run, block, pose, rotation
from sinew.solver.constraints.bones.bone_attachment import attach
from sinew.solver.constraints.bones.bone_distance import BoneShape
from sinew.solver.constraints.bones.bone_parts import BonePart
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Scene, Settings

SECTION = "Bones"
FLOATING = Settings(frame_end=100, gravity=(0.0, 0.0, 0.0), tolerance=1e-8, pose_tolerance=1e-6)


def bone(shape, key="bone", **settings):
    return Bone(key, key.capitalize(), *shape, **settings)


def over_time(*values):
    return np.arange(len(values), dtype=float), np.stack(values)


def moved(matrix, points):
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def bent(points, radius=2.5):
    """An arc of that radius on which sections stay upright."""
    angle, height = (points[:, 0] - 2.0) / radius, points[:, 2] - 0.5
    along, up = (radius - height) * np.sin(angle), radius - (radius - height) * np.cos(angle)
    return np.stack([2.0 + along, points[:, 1], 0.5 + up], axis=1)


def test_a_rigid_motion_is_followed_to_round_off(tmp_path: Path, reach: Callable[..., bool]) -> None:
    away = np.array([300.0, -200.0, 50.0])
    body = limb((24, 6, 6))
    body = replace(body, vertices=body.vertices + away, tet_nodes=body.tet_nodes + away)
    vertices, triangles = ball([2.0, 0.5, 0.5], 0.45, 16)
    matrix = pose(rotation([1, 2, 3], 2.0), [1.0, 5.0, -3.0]) @ pose(None, -away)
    for kind, values in (
        ("matrix", (*over_time(np.eye(4), matrix), "rigid")),
        ("vertices", over_time(vertices + away, moved(matrix, vertices + away))),
    ):
        found, built, read = held_by(
            tmp_path / kind, body, bone((vertices + away, triangles), distance=0.1), **{f"bone__bone__{kind}": values}
        )
        fixed, there = targets(found, built, read, 1.0)
        off = np.abs(there - moved(matrix, built.model.X))[fixed].max() / 0.9
        reach(SECTION, f"turned 115° and moved, by its {kind}: error over its size", off, "1e-9", off <= 1e-9)


def test_a_skeleton_in_one_mesh_is_followed_bone_by_bone(tmp_path: Path, reach: Callable[..., bool]) -> None:
    upper, lower = rod(0.2, 1.95), rod(2.05, 3.8)
    vertices = np.concatenate([upper[0], lower[0]])
    triangles = np.concatenate([upper[1], lower[1] + len(upper[0])])
    joint = np.array([2.0, 0.5, 0.5])
    matrix = pose(None, joint) @ pose(rotation([0, 1, 0], -1.5)) @ pose(None, -joint)
    now = np.where(vertices[:, :1] > 2.0, moved(matrix, vertices), vertices)
    found, built, read = held_by(
        tmp_path, limb((24, 8, 8)), bone((vertices, triangles)), bone__bone__vertices=over_time(vertices, now)
    )
    fixed, there = targets(found, built, read, 1.0)
    X = built.model.X
    off = np.abs(there - np.where(X[:, :1] > 2.0, moved(matrix, X), X))[fixed].max() / 3.6
    reach(SECTION, "skeleton in one mesh, elbow bent by 86°: error over its size", off, "1e-9", off <= 1e-9)


def test_a_deforming_bone_is_followed(tmp_path: Path, reach: Callable[..., bool]) -> None:
    for radius in (0.05, 0.4):
        shape = rod(0.2, 3.8, radius, 48, rings=60)
        found, built, read = held_by(
            tmp_path / str(radius),
            limb((32, 8, 8)),
            bone(shape, distance=0.2),
            bone__bone__vertices=over_time(shape[0], bent(shape[0])),
        )
        fixed, there = targets(found, built, read, 1.0)
        off = np.linalg.norm(there - bent(built.model.X), axis=1)[fixed].max() / 0.125
        label = f"bent by 83°, {2 * radius / 0.125:.1f} tets thick: most a node is off, in tets"
        reach(SECTION, label, off, "0.4", off <= 0.4)


def test_a_ball_of_flesh_around_a_deforming_bone_is_not_crushed(tmp_path: Path, reach: Callable[..., bool]) -> None:
    shape = ball([2.0, 0.5, 0.5], 0.48, 24)
    x, y, z = (shape[0] - [2.0, 0.5, 0.5]).T
    twisted = np.stack([x * np.cos(3 * z) - y * np.sin(3 * z), x * np.sin(3 * z) + y * np.cos(3 * z), z], axis=1)
    squashed = np.stack([1.4 * x, 1.4 * y, 0.3 * z + 0.5 * x * x], axis=1)
    tracks = over_time(shape[0], twisted + [2.0, 0.5, 0.5], squashed + [2.0, 0.5, 0.5])
    found, built, read = held_by(tmp_path, limb((80, 20, 20)), bone(shape), bone__bone__vertices=tracks)
    held = len(found.constraints[0].tets)
    for at, words in ((1.0, "twisted by 165°"), (2.0, "squashed to 0.3 and bent")):
        count = sum(count for _, _, count in found.inverted_tets(read, at))
        reach(SECTION, f"{words}: of the {held} tets that it holds, inside out", count, 0, count == 0)


def test_masks_and_paint_are_kept(tmp_path: Path, reach: Callable[..., bool]) -> None:
    vertices, triangles = rod(0.3, 3.7, 0.3, 24, rings=60)
    body = limb((32, 8, 8))
    masked = bone((vertices, triangles), distance=0.1, mask=(vertices[:, 0] < 2.0).astype(float))
    found, built, _ = held_by(tmp_path / "mask", body, masked)
    beyond = built.model.X[found.constraints[0].nodes][:, 0].max() - 2.0
    reach(SECTION, "mask up to x = 2 m: how far beyond it holds, in tets", beyond / 0.125, "0.5", beyond <= 0.0625)
    flesh = Flesh(attachment_paint=(body.vertices[:, 0] >= 2.0).astype(float))
    found, built, _ = held_by(tmp_path / "paint", replace(body, flesh=flesh), bone((vertices, triangles), distance=0.1))
    before = 2.0 - built.model.X[found.constraints[0].nodes][:, 0].min()
    reach(SECTION, "flesh painted from x = 2 m on: how far before it is held", before / 0.125, "1", before <= 0.125)


def test_armature_bones_hold_by_weight(tmp_path: Path, reach: Callable[..., bool]) -> None:
    body = limb((32, 8, 8))
    along = np.clip(body.vertices[:, 0] - 1.5, 0.0, 1.0)
    found, built, _ = held_by(
        tmp_path,
        body,
        line([0.2, 0.5, 0.5], [2.0, 0.5, 0.5], key="upper", distance=0.3, bodies=("limb",), weights=1.0 - along),
        line([2.0, 0.5, 0.5], [3.8, 0.5, 0.5], key="lower", distance=0.3, bodies=("limb",), weights=along),
    )
    number, X = found.bone_of_nodes(built.model.node_count), built.model.X
    wrong = int(((number == 0) & (X[:, 0] > 2.0)).sum() + ((number == 1) & (X[:, 0] < 2.0)).sum())
    far = np.linalg.norm(X[number >= 0][:, 1:] - 0.5, axis=1).max()
    reach(SECTION, "lines of an armature: nodes with the bone of lesser weight", wrong, 0, wrong == 0)
    reach(SECTION, "the same: farthest node from its line, radius 0.3 m", far, "0.3 m", far <= 0.3 + 1e-12)


def test_each_bone_has_its_own_stiffness(tmp_path: Path, reach: Callable[..., bool]) -> None:
    """A body of three parts, each on springs of its own bone, sags by g / k."""
    for motion in ("quasistatic", "dynamic"):
        parts = [block((2, 2, 2), at=(2.0 * k, 0.0, 0.0)) for k in range(3)]
        count, first = len(parts[0].vertices), len(parts[0].tet_nodes)
        body = replace(
            parts[0],
            vertices=np.concatenate([part.vertices for part in parts]),
            triangles=np.concatenate([part.triangles + count * k for k, part in enumerate(parts)]),
            tet_nodes=np.concatenate([part.tet_nodes for part in parts]),
            tets=np.concatenate([part.tets + first * k for k, part in enumerate(parts)]),
            flesh=Flesh(motion=motion),
            material=replace(JELLY, mass_damping=20.0),
        )
        stiffness = (100.0, 400.0, 1600.0)
        bones = [
            bone(ball([2.0 * k + 0.5, 0.5, 0.5], 1.2), f"bone{k}", stiffness=stiffness[k], bodies=("block",))
            for k in range(3)
        ]
        run = Run(tmp_path / motion, Scene((body,), settings=replace(FLOATING, gravity=(0, 0, -9.81)), bones=(*bones,)))
        x = run.advance(80)
        sags = [-(x - body.vertices)[k * count : (k + 1) * count, 2].mean() * stiffness[k] / 9.81 for k in range(3)]
        value = ", ".join(f"{sag:.4f}" for sag in sags)
        label = f"three bones of 100, 400, 1600 1/s², {motion}: sag · k / g"
        reach(SECTION, label, value, "1 ± 0.001", max(abs(sag - 1.0) for sag in sags) <= 1e-3)


def test_an_elbow_bends_without_being_crushed(tmp_path: Path, reach: Callable[..., bool]) -> None:
    """By a mesh that gets thin towards the joint, and by an armature with weights that blend there."""
    body = limb((24, 8, 8), flesh=Flesh(self_contact=False))
    lesser = np.clip(body.vertices[:, 0] - 1.5, 0.0, 1.0)
    joint, ends = np.array([2.0, 0.5, 0.5]), ([0.2, 0.5, 0.5], [3.8, 0.5, 0.5])
    line_settings = {"distance": 0.3, "bodies": ("limb",)}
    kinds = {
        "meshes": (bone(pointed(0.2, 1.95), "upper"), bone(pointed(3.8, 2.05), "lower")),
        "armature": (
            line(ends[0], joint, key="upper", weights=1.0 - lesser, **line_settings),
            line(joint, ends[1], key="lower", weights=lesser, **line_settings),
        ),
    }
    for (kind, bones), degrees in itertools.product(kinds.items(), (60, 90)):
        turns = [
            pose(None, joint) @ pose(rotation([0, 1, 0], -np.radians(angle))) @ pose(None, -joint)
            for angle in np.linspace(0.0, degrees, 11)
        ]
        track = (np.arange(11) / 24.0, np.stack(turns), "rigid")
        scene = Scene((body,), settings=Settings(frame_end=12, gravity=(0.0, 0.0, 0.0)), bones=bones)
        run = Run(tmp_path / f"{kind}{degrees}", scene, bone__lower__matrix=track)
        run.advance(10)
        tets, x = run.built.model.tets, run.state.x
        number = run.built.bones.bone_of_nodes(len(x))[tets]
        both = int(((number == 0).any(axis=1) & (number == 1).any(axis=1)).sum())
        reach(SECTION, f"elbow of {kind} bent by {degrees}°: tets held by both bones", both, 0, both == 0)
        turned = np.linalg.det(x[tets[:, 1:]] - x[tets[:, :1]]) <= 0.0
        at_bones = int((turned & (number >= 0).any(axis=1)).sum())
        reach(SECTION, f"elbow of {kind} bent by {degrees}°: tets at bones inside out", at_bones, 0, at_bones == 0)


def pointed(start, end):
    """Returns a rod whose radius goes from 0.3 m over its first half down to 0.04 m at its end."""
    vertices, triangles = rod(0.0, 1.0, 1.0, 24, 30)
    along = vertices[:, :1]
    radius = 0.3 - 0.26 * np.clip(2.0 * along - 1.0, 0.0, 1.0)
    vertices = np.hstack([start + (end - start) * along, 0.5 + radius * (vertices[:, 1:] - 0.5)])
    return vertices, triangles


def test_a_rest_shape_that_grows(tmp_path: Path, reach: Callable[..., bool]) -> None:
    for name, flesh in (
        ("elastic", None),
        ("Follow Pose", Flesh()),
        ("Jiggle", Flesh(motion="dynamic")),
        ("Jiggle by Newmark", Flesh(motion="dynamic", scheme="newmark")),
    ):
        body = block((8, 4, 4), (2.0, 1.0, 1.0), flesh=flesh, material=replace(JELLY, mass_damping=20.0))
        v, held = body.vertices, np.array([0.0, 0.5, 0.5])
        small = line(held - [0.02, 0, 0], held - [0.01, 0, 0], distance=0.255, bodies=("block",))
        run = Run(
            tmp_path / name,
            Scene((body,), settings=FLOATING, bones=(small,)),
            body__block__rest=(np.array([0.0, 0.25]), np.stack([v, held + 1.1 * (v - held)])),
        )
        grown = np.ptp(run.advance(40), axis=0) / np.ptp(v, axis=0)
        label = f"rest shape 1.1 times as large, one end held, {name}: size"
        reach(
            SECTION, label, ", ".join(f"{g:.4f}" for g in grown), "1.1 ± 1 %", np.abs(grown / 1.1 - 1.0).max() <= 0.01
        )


@pytest.mark.timed
def test_it_takes_little_time(tmp_path: Path, reach: Callable[..., bool]) -> None:
    shape = ball([2.0, 0.5, 0.5], 0.49, 48)
    body = limb((112, 28, 28))
    for kind, bound in (("matrix", 2.0), ("vertices", 100.0)):
        now = np.eye(4) if kind == "matrix" else shape[0] + 0.05 * np.sin(3.0 * shape[0])
        rest = np.eye(4) if kind == "matrix" else shape[0]
        found, built, read = held_by(
            tmp_path / kind, body, bone(shape, distance=0.02), **{f"bone__bone__{kind}": over_time(rest, now)}
        )
        # by the reference in turns with them: by the clock alone a busy machine missed the same bounds
        spent = RelativeTime()
        for k in range(1, 8):
            spent.time(lambda at=0.1 * k: targets(found, built, read, at))  # noqa: B023
        label = f"where {len(found.constraints[0].nodes)} nodes of a bone are, by its {kind} ({spent.slowdown()})"
        reach(SECTION, label, f"{1e3 * spent.fastest():.2f} ms", f"{bound:g} ms", 1e3 * spent.fastest() <= bound)
    places, settings = np.linspace(0.0, 3.9, 60), {"distance": 0.3, "bodies": ("limb",)}
    bones = [
        line([x, 0.5, 0.5], [x + 0.05, 0.5, 0.5], key=f"l{x}", weights=body.vertices[:, 0] > x, **settings)
        for x in places
    ]
    pieces, shapes = [BonePart(one, k) for k, one in enumerate(bones)], [BoneShape(one) for one in bones]
    nodes, tets = built.model.X, built.model.tets
    spent = RelativeTime()
    seconds, _ = spent.time(lambda: attach(pieces, shapes, body, nodes, tets))
    label = f"which of {len(nodes)} nodes follow which of 60 armature bones ({spent.slowdown()})"
    reach(SECTION, label, f"{seconds:.2f} s", "4 s", seconds <= 4.0)
