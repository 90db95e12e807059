# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew bake` and `sinew attach`: caches without a window, and .blend files that play them without the add-on."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")
bmesh = pytest.importorskip("bmesh")

from fixtures.blender_scenes import add_box, fresh
from sinew.addon.command_line import commands
from sinew.addon.objects import roles
from sinew.solver.bake.cache import CacheReader

pytestmark = pytest.mark.slow

SINEW = [sys.executable, "-m", "sinew"]


def file_of_two(path: Path, frames: int = 6) -> Path:
    """Writes a .blend with two small bodies in the air, and returns its path."""
    scene = fresh()
    scene.frame_end = frames
    for name, x in (("Left", -2.0), ("Right", 2.0)):
        box = add_box(name, divisions=2)
        box.location = (x, 0.0, 5.0)
        roles.make_body(box)
        box.sinew.divisions = 2
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def run(*words: object, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SINEW, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **(environment or {})},
    )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


WITHOUT_THE_ADDON = """
import sys, bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert "sinew" not in bpy.types.Object.bl_rna.properties
for frame in (1, 6):
    bpy.context.scene.frame_set(frame)
    for name in ("Left", "Right"):
        shown = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
        print("MEAN", frame, name, sum(v.co.z for v in shown.data.vertices) / len(shown.data.vertices))
"""


def test_bake_resume_attach_and_play_without_the_addon(tmp_path: Path) -> None:
    """The cache only by default; --out writes what plays; the shot is never touched."""
    blend = file_of_two(tmp_path / "shot.blend")
    before = digest(blend)
    out = tmp_path / "baked" / "shot_baked.blend"
    done = run("bake", blend, "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["frame"] for event in events if event["event"] == "frame"] == [1, 2, 3, 4, 5, 6]
    assert events[-1]["event"] == "done" and events[-1]["frames"] == 6
    assert digest(blend) == before
    cache = tmp_path / "shot.sinew"
    assert CacheReader(cache).last_frame() == 6

    played = subprocess.run([sys.executable, "-c", WITHOUT_THE_ADDON, str(out)], capture_output=True, text=True)
    assert played.returncode == 0, played.stderr
    means = {
        tuple(w[1:3]): float(w[3]) for w in (line.split() for line in played.stdout.splitlines()) if w[:1] == ["MEAN"]
    }
    fallen = 9.81 / 2 * (5 / 24) ** 2
    for name in ("Left", "Right"):
        assert means["1", name] == pytest.approx(0.0, abs=1e-6)
        assert means["6", name] == pytest.approx(-fallen, rel=0.25)

    done = run("bake", blend, "--resume", "--frame-end", 8)
    assert done.returncode == 0 and "frame 7 of 8" in done.stdout and "frame 6 of 8" not in done.stdout, done.stdout
    assert CacheReader(cache).last_frame() == 8 and digest(blend) == before

    other = tmp_path / "lighting.blend"
    file_of_two(other)
    done = run("attach", other, cache, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["objects"] == ["Left", "Right"]
    assert not (tmp_path / "lighting.sinew").exists()
    played = subprocess.run([sys.executable, "-c", WITHOUT_THE_ADDON, str(other)], capture_output=True, text=True)
    assert f"MEAN 6 Left {means['6', 'Left']}" in played.stdout, played.stderr


def test_attach_refuses_a_mesh_of_another_size_and_finds_renamed_bodies(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file_of_two(tmp_path / "shot.blend", frames=2)
    assert commands.run_in_blender(["bake"]) == 0
    cache = tmp_path / "shot.sinew"
    file_of_two(tmp_path / "other.blend")
    left = bpy.data.objects["Left"]
    left.modifiers.new("More", "SUBSURF")
    left.modifiers.move(1, 0)
    assert commands.run_in_blender(["attach", str(cache)]) == 2
    assert '"Left" has' in capfd.readouterr().err and not bpy.data.objects["Right"].modifiers["Sinew"].filepath
    left.modifiers.remove(left.modifiers["More"])
    # a plain mesh under the body's name, as in a lighting file
    roles.clear_role(left)
    assert commands.run_in_blender(["attach", str(cache), "--out", str(tmp_path / "out.blend")]) == 0
    assert left.modifiers["Sinew"].filepath.endswith("shot.sinew/play/Left.pc2")
    assert left.sinew.role == "NONE"


def test_an_animated_bake_is_made_longer(tmp_path: Path) -> None:
    """What moves later than the first bake went is no change of it: the same bytes as in one go."""
    fresh()
    box = add_box("Held", divisions=2)
    group = box.vertex_groups.new(name="Pin")
    group.add([v.index for v in box.data.vertices if v.co.z > 0.9], 1.0, "REPLACE")
    for frame, x in ((1, 0.0), (8, 2.0)):
        box.location.x = x
        box.keyframe_insert("location", frame=frame)
    roles.make_body(box)
    box.sinew.divisions, box.sinew.pin_group = 2, "Pin"
    blend = tmp_path / "held.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    pieces, whole = tmp_path / "pieces.sinew", tmp_path / "whole.sinew"
    for words in (("--frame-end", 3), ("--frame-end", 6, "--resume")):
        done = run("bake", blend, "--cache", pieces, *words)
        assert done.returncode == 0, done.stderr
    assert run("bake", blend, "--cache", whole, "--frame-end", 6).returncode == 0
    for name in ("frames/000006.npz", "play/Held.pc2"):
        assert digest(pieces / name) == digest(whole / name)


def test_resume_with_a_folder_of_its_own_does_not_copy_the_bake(tmp_path: Path) -> None:
    file_of_two(tmp_path / "shot.blend", frames=3)
    assert commands.run_in_blender(["bake"]) == 0
    assert commands.run_in_blender(["bake", "--resume", "--frame-end", "2", "--cache", str(tmp_path / "own")]) == 0
    assert CacheReader(tmp_path / "own").last_frame() == 2


def test_options(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In this process: the same entry as `blender -b FILE --command sinew`."""
    file_of_two(tmp_path / "shot.blend")
    words = ["bake", "--object", "Right", "--frame-start", "3", "--frame-end", "5", "--threads", "1", "--strict"]
    before = bpy.context.scene.sinew.use_scene_range
    assert commands.run_in_blender([*words, "--cache", str(tmp_path / "own"), "--scene", "Scene"]) == 0
    head = CacheReader(tmp_path / "own").metadata
    assert [body.name for body in head.bodies] == ["Right"] and (head.frame_start, head.frame_end) == (3, 5)
    assert [o.name for o in roles.bodies(bpy.context.scene)] == ["Left", "Right"]
    assert bpy.context.scene.sinew.use_scene_range == before
    assert "Baked frames 3 to 5" in capfd.readouterr().out


def test_what_will_hardly_look_right_is_said_here_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file_of_two(tmp_path / "shot.blend", frames=2)
    bpy.context.scene.unit_settings.scale_length = 0.01
    hole = bmesh.new()
    hole.from_mesh(bpy.data.objects["Left"].data)
    bmesh.ops.delete(hole, geom=[face for face in hole.faces if face.normal.z > 0.5], context="FACES")
    hole.to_mesh(bpy.data.objects["Left"].data)
    hole.free()
    assert commands.run_in_blender(["bake"]) == 0
    told = capfd.readouterr().out
    assert "warning: Gravity in" in told and 'warning: "Left" has holes' in told


def test_strict_exits_with_3_where_a_step_does_not_converge(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file_of_two(tmp_path / "shot.blend", frames=3)
    scene = bpy.context.scene
    held = bpy.data.objects["Left"]
    group = held.vertex_groups.new(name="Top")
    group.add([v.index for v in held.data.vertices if v.co.z > 0.5], 1.0, "REPLACE")
    held.sinew.pin_group = "Top"
    scene.sinew.max_iterations, scene.sinew.tolerance = 1, 1e-9
    assert commands.run_in_blender(["bake", "--strict"]) == 3
    assert "relative residual" in capfd.readouterr().err
    assert commands.run_in_blender(["bake"]) == 0
    told = capfd.readouterr().out
    assert "frame 3 of 3, residual" in told and "4 steps or poses not converged" in told
    assert "less exact than the Tolerance asks for" in told.splitlines()[-1]
    assert commands.run_in_blender(["bake", "--json"]) == 0
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    frames = [event for event in events if event["event"] == "frame"]
    assert events[-1]["not_converged"] == sum(event["not_converged"] for event in frames) > 0
    assert events[-1]["residual"] == max(event["residual"] for event in frames) > 1e-9


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["bake", "--object", "Nobody"], 'no object "Nobody"'),
        (["bake", "--scene", "Elsewhere"], 'no scene "Elsewhere"'),
        (["bake", "--frame-start", "9", "--frame-end", "2"], "9 to 2"),
        (["bake", "--frame-end=-99999999999999999999"], "from -1,048,574 to 1,048,574"),
        (["bake", "--frames", "2"], "unrecognized arguments"),
        (["bake", "--threads", "many"], "invalid int value"),
        (["attach", "nothing.sinew"], "nothing.sinew"),
        (["render"], "choose one of"),
        ([], "choose one of"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    words: list[str], sentence: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file_of_two(tmp_path / "shot.blend", frames=2)
    assert commands.run_in_blender(words) == 2
    told = capfd.readouterr().err.strip()
    assert sentence in told and told.startswith("sinew") and len(told.splitlines()) == 1
    assert not (tmp_path / "shot.sinew").exists()


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "no.blend").write_text("no")
    for name in ("missing.blend", "no.blend"):
        done = run("bake", tmp_path / name)
        assert done.returncode == 2 and "cannot open" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows kills what is terminated")
def test_a_terminated_bake_keeps_its_frames_and_says_130(tmp_path: Path) -> None:
    blend = file_of_two(tmp_path / "long.blend", frames=5000)
    process = subprocess.Popen([*SINEW, "bake", str(blend), "--json"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line).get("frame", 0) >= 5:
            break
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.stdout.read()
    assert process.wait(20) == 130 and time.monotonic() - begun < 5.0
    assert CacheReader(tmp_path / "long.sinew").last_frame() >= 5
