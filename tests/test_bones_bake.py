# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones and changing rest shapes through a whole bake: what the cache holds, what is told, what a resumed one gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.bone_scenes import ball, limb, line, rod
from fixtures.scenes import pose, rotation
from fixtures.tiny_bakes import baked
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.errors import BadInput, Cancelled
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.scene.tracks import TrackWriter


def an_arm(motion: str = "quasistatic") -> tuple[Scene, dict]:
    """Returns a limb on a deforming and a turning bone, one of them soft, whose rest shape swells."""
    body = limb((8, 3, 3), flesh=Flesh(motion=motion, self_contact=False))
    upper, lower = rod(0.3, 1.7, 0.4), rod(2.3, 3.7, 0.4)
    bones = (Bone("upper", "Upper", *upper), Bone("lower", "Lower", *lower, stiffness=2000.0))
    joint = [2.0, 0.5, 0.5]
    bent = pose(None, joint) @ pose(rotation([0, 1, 0], -0.8)) @ pose(None, np.negative(joint))
    swollen = body.vertices.copy()
    swollen[:, 2] += 0.2 * np.exp(-((swollen[:, 0] - 1.0) ** 2)) * (swollen[:, 2] - 0.5)
    times = np.array([0.0, 0.5])
    tracks = {
        "bone.upper.vertices": (times, np.stack([upper[0], upper[0] + 0.1 * upper[0][:, :1] ** 2])),
        "bone.lower.matrix": (times, np.stack([np.eye(4), bent]), "rigid"),
        "body.limb.rest": (times, np.stack([body.vertices, swollen])),
    }
    return Scene((body,), settings=Settings(frame_end=13, substeps=2), bones=bones), tracks


def exported(cache: Path, scene: Scene, tracks: dict) -> Path:
    scene.save(cache / "scene")
    writer = TrackWriter(cache / "scene")
    for name, samples in tracks.items():
        writer.append(name, *samples)
    writer.close()
    return cache


@pytest.mark.parametrize("motion", ["quasistatic", "dynamic"])
def test_the_same_bytes_after_a_stop(tmp_path: Path, motion: str):
    through, stopped = (exported(tmp_path / name, *an_arm(motion)) for name in ("through", "stopped"))
    run_bake(through, lambda event: None)
    frames = []
    with pytest.raises(Cancelled):
        run_bake(
            stopped,
            lambda event: frames.append(event.get("frame")) if event["event"] == "frame" else None,
            lambda: len(frames) >= 6,
        )
    run_bake(stopped, lambda event: None, options=BakeOptions(resume=True))
    assert baked(through).keys() == baked(stopped).keys()
    different = [name for name, data in baked(through).items() if baked(stopped)[name] != data]
    assert not [name for name in different if not name.startswith("resume")], different
    moved = CacheReader(through).read_frame(13).x - CacheReader(through).read_frame(1).x
    assert np.abs(moved).max() > 0.5


def test_the_cache_says_which_bone_every_node_follows(tmp_path: Path):
    scene, tracks = an_arm()
    cache = exported(tmp_path, scene, tracks)
    run_bake(cache, lambda event: None)
    model = CacheReader(cache).read_model("limb")
    assert model["bones"].tolist() == ["Upper", "Lower"] and model["bone_is_soft"].tolist() == [False, True]
    number, nodes = model["attached"], model["nodes"]
    assert (number == 0).any() and nodes[number == 0][:, 0].max() < 2.0 < nodes[number == 1][:, 0].min()
    assert (np.linalg.norm(nodes[number >= 0][:, 1:] - 0.5, axis=1) < 0.41).all()


def test_a_cache_without_bones_says_nothing_of_them(tmp_path: Path):
    scene = Scene((limb((4, 2, 2), flesh=None),), settings=Settings(frame_end=2))
    run_bake(exported(tmp_path, scene, {}), lambda event: None)
    assert not {"attached", "bones"} & set(CacheReader(tmp_path).read_model("limb"))


def test_what_bones_crush_is_told_once_with_its_frame(tmp_path: Path):
    rest, triangles = ball([2.0, 0.5, 0.5], 0.45, 12)
    dented = rest.copy()
    dented[rest[:, 2] > 0.85, 2] -= 0.5
    scene = Scene(
        (limb((24, 8, 8), flesh=Flesh(self_contact=False)),),
        settings=Settings(frame_end=4, substeps=1),
        bones=(Bone("upper", "Upper", rest, triangles),),
    )
    times = np.array([0.0, 1.0 / 24.0, 2.0 / 24.0])
    tracks = {"bone.upper.vertices": (times, np.stack([rest, rest, dented]))}
    cache, told = exported(tmp_path, scene, tracks), []
    run_bake(cache, lambda event: told.append(event) if event["event"] == "warning" else None)
    crushed = [event for event in told if event["kind"] == "flesh-crushed"]
    assert len(crushed) == 1 and '"Upper"' in crushed[0]["sentence"] and '"Limb"' in crushed[0]["sentence"]
    assert "frame 3" in crushed[0]["sentence"]


def test_bad_bones_stop_a_bake_before_anything_is_written(tmp_path: Path):
    scene, tracks = an_arm()
    away = ball([2.0, 0.5, 9.0], 0.3)
    scene = replace(scene, bones=(*scene.bones, Bone("skull", "Skull", *away)))
    with pytest.raises(BadInput) as told:
        run_bake(exported(tmp_path, scene, tracks), lambda event: None)
    assert told.value.kind == "bone-outside" and "Skull" in told.value.sentence
    assert not (tmp_path / "frames").exists()


@pytest.mark.parametrize("shape", ["mesh", "armature", "both"])
def test_what_two_bones_crush_is_told_with_what_helps(tmp_path: Path, shape: str):
    def made(key: str, start: float, end: float, is_line: bool) -> Bone:
        if is_line:
            return line([start, 0.5, 0.5], [end, 0.5, 0.5], key=key, name=key, distance=0.3)
        return Bone(key, key, *rod(start, end))

    bones = (made("One", 0.3, 1.7, shape != "mesh"), made("Two", 2.3, 3.7, shape == "armature"))
    settings = Settings(frame_end=3, substeps=1, gravity=(0.0, 0.0, 0.0), pose_iterations=20)
    scene = Scene((limb((16, 4, 4), flesh=Flesh(self_contact=False)),), settings=settings, bones=bones)
    there = np.eye(4)
    there[0, 3] = -1.1
    tracks = {"bone.Two.matrix": (np.array([0.0, 1.0 / 24.0]), np.stack([np.eye(4), there]), "rigid")}
    cache, told = exported(tmp_path, scene, tracks), []
    run_bake(cache, lambda event: told.append(event) if event["event"] == "warning" else None)
    (told_once,) = (event for event in told if event["kind"].startswith("flesh-crushed-between"))
    assert told_once["sentence"].startswith("In frame 2 ") and '"One" and "Two"' in told_once["sentence"]
    step = told_once["next_step"]
    assert ("Radius" in step) == ("Attachment Group" in step) == (shape != "mesh")
    assert ("mask" in step) == (shape == "mesh")
