# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of bones that hold the surface of flesh alone, as Make Wrap fixes fat to the bone under it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.bone_scenes import ball, held_by, limb, line
from fixtures.closed_surfaces import sphere
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Body, Meshing, Scene

SKIN, WRAP, CORE = 1.0, 0.6, 0.5  # radii of the skin, the Wrap and the bone in it [m]
REACH = 0.3  # of the bone: half of the fat's depth and more [m]


def fat(method: str, *, surface_only: bool, divisions: int = 8, reach: float = REACH) -> tuple[Body, Bone]:
    """Returns a ball of fat around a Wrap, the half of which above z = 0 is fixed to the bone inside."""
    (outer, faces), (inner, inner_faces) = (map(np.asarray, sphere(n, r)) for n, r in ((8, SKIN), (6, WRAP)))
    vertices = np.concatenate([outer, inner]).astype(float)
    triangles = np.concatenate([faces, inner_faces[:, ::-1] + len(outer)]).astype(np.int32)
    paint = np.concatenate([np.zeros(len(outer)), inner[:, 2] > 0.0]).astype(float)
    row = Attachment("core", "fixed", reach, paint=paint, surface_only=surface_only)
    meshing = Meshing(method, divisions=divisions)
    body = Body(
        vertices, triangles, key="fat", flesh=Flesh(), meshing=meshing, wrap_vertices=len(inner), attachments=(row,)
    )
    points, core_faces = ball([0.0, 0.0, 0.0], CORE)
    return body, Bone(name="Core", vertices=points, triangles=core_faces, key="core")


def held_nodes(folder: Path, body: Body, bone: Bone) -> tuple[Floats, Floats]:
    """Returns where held nodes are at rest, and all nodes [m]."""
    found, built, _ = held_by(folder, body, bone)
    assert found is not None
    nodes = np.concatenate([np.zeros(0, np.int32), *(hold.nodes for hold in found.constraints)])
    return built.model.X[nodes], built.model.X


def test_a_row_of_the_surface_alone_leaves_the_fat_under_it_free(tmp_path: Path) -> None:
    """Tets that fit the Wrap: all of its own nodes on the painted side are held, and nothing else is."""
    deep, _ = held_nodes(tmp_path / "a", *fat("smooth", surface_only=False))
    held, nodes = held_nodes(tmp_path / "b", *fat("smooth", surface_only=True))
    distance = np.linalg.norm(nodes, axis=1)
    on_wrap = nodes[(distance < WRAP + 0.01) & (nodes[:, 2] > 0.1)]
    assert len(on_wrap) > 20 and {tuple(x) for x in on_wrap} <= {tuple(x) for x in held}
    assert np.linalg.norm(held, axis=1).max() < WRAP + 0.01 and held[:, 2].min() > -0.1
    assert np.linalg.norm(deep, axis=1).max() > WRAP + 0.1 and len(deep) > 1.3 * len(held)


def test_where_tets_cover_the_fat_nodes_in_the_hollow_of_the_wrap_are_held(tmp_path: Path) -> None:
    """Also in tets that reach from the Wrap to the skin, whose outer nodes stay free."""
    for divisions in (4, 8):
        held, nodes = held_nodes(tmp_path / f"{divisions}", *fat("robust", surface_only=True, divisions=divisions))
        distance = np.linalg.norm(nodes, axis=1)
        hollow = nodes[(distance < 0.95 * WRAP) & (nodes[:, 2] > 0.3)]
        assert len(hollow) and {tuple(x) for x in hollow} <= {tuple(x) for x in held}
        assert np.linalg.norm(held, axis=1).max() < WRAP + 0.01


def test_a_painted_place_without_nodes_in_reach_is_no_error(tmp_path: Path) -> None:
    """A few vertices of the Wrap between nodes of coarse tets; where the Wrap itself is out of reach, it is one."""
    body, bone = fat("robust", surface_only=True, divisions=4)
    (row,) = body.attachments
    beside = np.zeros(len(body.vertices))
    wrap = body.vertices[-body.wrap_vertices :]
    beside[-body.wrap_vertices :][np.argmax(wrap @ [1.0, 0.6, 0.8])] = 0.8
    few = replace(body, attachments=(replace(row, paint=beside, reach=0.11),))
    held, _ = held_nodes(tmp_path / "a", few, bone)
    assert not len(held)
    body, bone = fat("smooth", surface_only=True, reach=0.01)
    with pytest.raises(BadInput) as refusal:
        held_by(tmp_path / "b", body, bone)
    assert refusal.value.kind == "attachment-out-of-reach" and '"Core"' in refusal.value.sentence


def test_flesh_is_held_at_its_surface_alone(tmp_path: Path) -> None:
    """A bar in which the line of a bone reaches everything: what is inside stays free."""
    row = Attachment("line", "fixed", 2.0, surface_only=True)
    bone = line((1.0, 0.5, 0.5), (3.0, 0.5, 0.5), bodies=("limb",))
    for surface_only in (False, True):
        body = replace(limb(), attachments=(replace(row, surface_only=surface_only, reach=0.6),))
        held, _ = held_nodes(tmp_path / str(surface_only), body, bone)
        is_inside = ((held[:, 1:] > 0.01) & (held[:, 1:] < 0.99)).all(axis=1)
        assert len(held) and is_inside.any() == (not surface_only)


# of the scene below, by the code from before rows had the setting
FORMER_DIGEST = "418df90d6d1870ac788efb4a6dbaf8f3b6b2f74100b605e871fdd9dfc3c63b3c"


def test_a_scene_stores_the_setting_and_digests_of_before_stay(tmp_path: Path) -> None:
    digests = []
    for surface_only in (False, True):
        row = Attachment("core", "fixed", surface_only=surface_only)
        box = limb(cells=(1, 1, 1), attachments=(row,))
        core = Bone(name="Core", vertices=np.eye(3), triangles=np.array([[0, 1, 2]], np.int32), key="core")
        scene = Scene((box,), bones=(core,))
        scene.save(tmp_path / str(surface_only))
        digests.append(scene.digest())
        assert Scene.load(tmp_path / str(surface_only)).bodies[0].attachments[0].surface_only == surface_only
    assert digests[0] == FORMER_DIGEST != digests[1]
