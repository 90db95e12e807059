# SPDX-License-Identifier: GPL-3.0-or-later
"""What `sinew bake --out` and `sinew attach` write: checked before the bake, whole or not at all after it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.small_drives import FILLER, clear, fill, small_drive
from sinew.addon.baking import bake_status
from sinew.addon.cache import cache_folder_status
from sinew.addon.command_line import blend_output, commands
from sinew.addon.objects import roles
from sinew.solver.runtime.errors import BadInput, StorageFailed


@pytest.fixture(scope="module")
def shot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .blend with a small body in the air, baked, that is open."""
    scene = fresh()
    scene.frame_end = 3
    box = add_box("Left", divisions=2)
    box.location.z = 5.0
    roles.make_body(box)
    box.sinew.divisions = 2
    path = tmp_path_factory.mktemp("shot") / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert commands.run_in_blender(["bake"]) == 0
    return path


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Path]:
    """A drive of its own, 4 MB; needs to be root on Linux."""
    with small_drive(tmp_path / "drive", kilobytes=4096) as place:
        yield place


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != FILLER)


@pytest.mark.parametrize("place", ["a folder", "below a file", "/proc/none/out.blend"])
def test_a_target_that_cannot_be_written_is_said_before_the_bake(
    shot: Path, tmp_path: Path, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "file").touch()
    out = {"a folder": tmp_path / "a folder", "below a file": tmp_path / "file" / "out.blend"}.get(place, Path(place))
    cache = tmp_path / "new.sinew"
    assert commands.run_in_blender(["bake", "--cache", str(cache), "--out", str(out)]) == 2
    told = capfd.readouterr().err
    assert "cannot write" in told and "Traceback" not in told
    assert not cache.exists() and names(tmp_path) == ["a folder", "file"]
    assert commands.run_in_blender(["attach", str(shot.with_suffix(".sinew")), "--out", str(out)]) == 2
    assert "cannot write" in capfd.readouterr().err


def test_a_full_disk_is_said_before_the_bake(
    shot: Path, drive: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(drive, but_kilobytes=8)
    cache = tmp_path / "new.sinew"
    assert commands.run_in_blender(["bake", "--cache", str(cache), "--out", str(drive / "out.blend")]) == 2
    assert "lacks room" in capfd.readouterr().err and not cache.exists() and names(drive) == []


@pytest.mark.parametrize("room", [0, 8, 100])
def test_a_blend_that_cannot_be_written_whole_leaves_the_one_that_was_there(shot: Path, drive: Path, room: int) -> None:
    """Blender itself says "Saved" where the disk gets full at the end, and leaves a file that is cut off."""
    out = drive / "out.blend"
    noise = bpy.data.texts.new("noise")
    noise.from_string(random.Random(1).randbytes(60_000).hex("\n", 32))  # hard to compress
    noise.use_fake_user = True
    try:
        out.write_bytes(b"what was there")
        fill(drive, but_kilobytes=room)
        with pytest.raises(StorageFailed) as caught:
            blend_output.write_blend(out)
        assert caught.value.kind == "blend-not-written" and "sinew attach" in caught.value.text
        assert out.read_bytes() == b"what was there" and names(drive) == ["out.blend"]
        clear(drive)
        blend_output.write_blend(out)
        assert names(drive)[0] == "out.blend" and out.stat().st_size > 20_000
    finally:
        bpy.data.texts.remove(noise)


def test_what_is_written_opens_and_plays(shot: Path, tmp_path: Path) -> None:
    out = tmp_path / "deeper" / "out.blend"
    blend_output.write_blend(out)
    with bpy.data.libraries.load(str(out)) as (found, _):
        assert "Left" in found.objects
    assert names(out.parent) == ["out.blend"] and bpy.data.filepath == str(shot)
    before = out.read_bytes()
    blend_output.write_blend(out)
    assert names(out.parent) in (["out.blend"], ["out.blend", "out.blend1"])
    if (out.parent / "out.blend1").exists():
        assert (out.parent / "out.blend1").read_bytes() == before


def test_a_bake_whose_motion_is_damaged_is_not_attached(shot: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cache = shot.with_suffix(".sinew")
    play = cache / "play" / "Left.pc2"
    whole, blend = play.read_bytes(), shot.read_bytes()
    play.write_bytes(whole[:-100])
    try:
        cache_folder_status.invalidate()
        bake_status.invalidate()
        status = bake_status.status(bpy.context.scene)
        assert "Left.pc2 counts 3 samples and holds 2" in status.problem.text
        assert status.can_resume and status.resume_frame == 3, "resuming draws it again"
        assert commands.run_in_blender(["attach", str(cache)]) == 3
        assert "counts 3 samples" in capfd.readouterr().err and shot.read_bytes() == blend
    finally:
        play.write_bytes(whole)
        cache_folder_status.invalidate()


def test_a_read_only_file_is_refused(shot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(blend_output, "check_writable", refuse)
    with pytest.raises(BadInput, match="Permission denied"):
        blend_output.check_writable_blend(tmp_path / "out.blend")
