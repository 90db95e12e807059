# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache: what counts is whole, whatever happens to the process or the disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fixtures.small_cache import HEAD, attributes_of, bake, content, frame_of, start
from fixtures.small_cache import calls as calls
from sinew.solver.bake.cache import CachedBody, CacheMetadata, CacheReader, CacheWriter, Frame, delete_cache
from sinew.solver.bake.cache.convergence_summary import ConvergenceSummary
from sinew.solver.runtime.errors import BadInput, StorageFailed
from sinew.solver.scene.object_key_rule import is_key


def test_frames_and_samples_come_back(tmp_path: Path) -> None:
    start(tmp_path / "c", 12).close()
    reader = CacheReader(tmp_path / "c")
    assert reader.metadata == HEAD
    assert reader.baked_range() == (5, 12) and not reader.is_done() and reader.integrity_problems() == []
    frame, samples, *_ = frame_of(9)
    read = reader.read_frame(9)
    np.testing.assert_array_equal(read.x, frame.x)
    np.testing.assert_array_equal(read.fields["node.warmth"], frame.fields["node.warmth"])
    np.testing.assert_array_equal(reader.read_samples("b", HEAD.sample_count(8), 2), samples["b"].astype(np.float32))
    assert reader.resume_frames() == [5, 8, 11] and reader.resume_frame(10) == 8
    assert len(reader.read_resume(8)["x"]) == 8
    assert [line["frame"] for line in reader.report()] == list(range(5, 13))
    assert list(reader.read_model("a")) == ["nodes"]
    assert reader.topologies() == [9, 10] and reader.read_frame(9).topology == 0
    assert reader.read_frame(10).topology == 10 == reader.read_topology(10)["tets"][0, 0] - 1
    assert (tmp_path / "c" / "attributes" / "a" / "000012.ply").read_bytes() == attributes_of(12)


def test_reading_while_writing(tmp_path: Path) -> None:
    writer = start(tmp_path, 6)
    reader = CacheReader(tmp_path)
    assert reader.baked_range() == (5, 6) and reader.is_being_written()
    bake(writer, 7, 7)
    assert reader.baked_range() == (5, 7) and reader.read_frame(7).frame == 7
    writer.close()
    assert not reader.is_being_written()


def test_interrupted_and_resumed_has_the_same_bytes(tmp_path: Path) -> None:
    start(tmp_path / "through", 25).close()
    writer = start(tmp_path / "cut", 16)
    writer.write_resume(16, {"x": np.arange(16.0)}, 3)  # at cancel, off the regular frames
    writer.close()
    assert CacheReader(tmp_path / "cut").resume_frames() == [8, 11, 14, 16]
    with CacheWriter(tmp_path / "cut") as writer:
        writer.resume(HEAD, 14)
        bake(writer, 15, 25)
    assert content(tmp_path / "cut") == content(tmp_path / "through")


# What a crash may leave behind frame 12, by the place where it happens.
CRASHES = {
    "part of a frame": lambda c: (c / "frames" / "000013.npz.part").write_bytes(b"abc"),
    "frame without samples": lambda c: (c / "frames" / "000013.npz").write_bytes(b"abc"),
    "samples not counted": lambda c: append(c / "play" / "a.pc2", b"\1" * 2 * 7 * 12),
    "half a sample": lambda c: append(c / "play" / "a.pc2", b"\1" * 50),
    "one head counts": lambda c: (
        append(c / "play" / "a.pc2", b"\1" * 2 * 7 * 12),
        raise_count(c / "play" / "a.pc2", 17),
    ),
    "head without its samples": lambda c: raise_count(c / "play" / "b.pc2", 17),
    "part of a checkpoint": lambda c: (c / "resume" / "000013.npz.part").write_bytes(b""),
    "topologies of a frame that is not there": lambda c: (
        (c / "topology" / "000017.npz").write_bytes(b"abc"),
        (c / "topology" / "000018.npz.part").write_bytes(b"abc"),
    ),
    "attributes of a frame that is not there": lambda c: (c / "attributes" / "a" / "000013.ply").write_bytes(b"abc"),
    "contacts of a frame that is not there": lambda c: (
        (c / "contacts").mkdir(),
        (c / "contacts" / "000013.npz").write_bytes(b"abc"),
    ),
    "half a report line": lambda c: append(c / "report.jsonl", b'{"frame": 1'),
}


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def raise_count(path: Path, count: int) -> None:
    data = bytearray(path.read_bytes())
    data[28:32] = count.to_bytes(4, "little")
    path.write_bytes(data)


@pytest.mark.parametrize("crash", CRASHES)
def test_what_a_crash_leaves_is_recovered(tmp_path: Path, crash: str) -> None:
    start(tmp_path / "through", 20).close()
    start(tmp_path / "cut", 12).close()
    CRASHES[crash](tmp_path / "cut")
    reader = CacheReader(tmp_path / "cut")
    assert reader.baked_range() == (5, 12)
    resume = reader.resume_frame()
    assert resume == 11
    with CacheWriter(tmp_path / "cut") as writer:
        writer.resume(HEAD, resume)
        bake(writer, resume + 1, 20)
    assert content(tmp_path / "cut") == content(tmp_path / "through")


def test_a_missing_frame_file_ends_what_is_whole(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    (tmp_path / "frames" / "000012.npz").unlink()
    assert CacheReader(tmp_path).last_frame() == 11
    (tmp_path / "frames" / "000008.npz").write_bytes(b"damaged")
    assert "frame 8" in CacheReader(tmp_path).integrity_problems()[0]
    with pytest.raises(StorageFailed) as caught:
        CacheReader(tmp_path).read_frame(8)
    assert caught.value.kind == "cache-damaged" and "frames/000008.npz" in caught.value.text


def test_a_missing_topology_is_told(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    (tmp_path / "topology" / "000010.npz").unlink()
    assert "topology" in CacheReader(tmp_path).integrity_problems()[0]


def result_of(folder: Path, key: str) -> tuple[Path, Path]:
    (folder / "result").mkdir(exist_ok=True)
    paths = folder / "result" / f"{key}.npz", folder / "result" / f"{key}.pc2"
    for path in paths:
        path.write_bytes(b"abc")
    return paths


def test_going_on_drops_what_the_finishing_pass_made(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    paths = result_of(tmp_path, "b")
    (tmp_path / "attributes" / "b").mkdir()
    for folder, name in (("a", "000009.ply"), ("b", "000009.ply"), ("b", "notes.txt")):
        (tmp_path / "attributes" / folder / name).write_bytes(b"abc")
    with CacheWriter(tmp_path) as writer:
        writer.resume(HEAD, 11, ["b"])
    assert not any(path.exists() for path in paths)
    assert not (tmp_path / "attributes" / "b" / "000009.ply").exists(), "written by the finishing pass"
    assert (tmp_path / "attributes" / "a" / "000009.ply").exists(), "written while baking"
    assert (tmp_path / "attributes" / "b" / "notes.txt").exists(), "somebody else's"
    result_of(tmp_path, "b")
    with CacheWriter(tmp_path) as writer:
        writer.start_over(HEAD)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    heads = {"cache.json", "model/cache.json"}
    assert left == {"attributes/b/notes.txt", *heads, "lock", "play/a.pc2", "play/b.pc2"}


def test_starting_over_leaves_nothing_of_the_last_bake(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    with CacheWriter(tmp_path) as writer:
        writer.start_over(HEAD)
        assert CacheReader(tmp_path).baked_range() is None and CacheReader(tmp_path).report() == []
        bake(writer, 5, 5)
    assert CacheReader(tmp_path).baked_range() == (5, 5)


def test_the_summary_sums_up_the_reports_of_steps() -> None:
    told = [
        {"frame": 1, "residual": 0.0, "not_converged": 0, "unsettled": 0, "inverted_tets": 0},
        {"frame": 2, "residual": 0.2, "not_converged": 3, "unsettled": 1, "inverted_tets": 5},
        {"frame": 3, "residual": 0.1, "not_converged": 1, "unsettled": 2, "inverted_tets": 4},
    ]
    assert ConvergenceSummary.from_report(told) == ConvergenceSummary(0.2, 2, 4, 3, 5)
    assert ConvergenceSummary.from_report([*told, {"frame": 4, "residual": None}]).worst_frame == 4, (
        "what is no number is the worst"
    )
    assert ConvergenceSummary.from_report([]) == ConvergenceSummary()


def test_another_shape_is_not_resumed(tmp_path: Path) -> None:
    start(tmp_path, 12).close()
    other = CacheMetadata("s" * 64, "", (HEAD.bodies[0],), 5, 30, 24.0, 2)
    with CacheWriter(tmp_path) as writer:
        with pytest.raises(StorageFailed) as caught:
            writer.resume(other, 11)
        assert caught.value.kind == "cache-other-shape"
        with pytest.raises(StorageFailed) as caught:
            writer.resume(HEAD, 13)
        assert caught.value.kind == "cache-frame-missing"
    assert CacheReader(tmp_path).baked_range() == (5, 12)


def test_no_cache_and_other_formats_are_named(tmp_path: Path) -> None:
    for text, kind in [(None, "cache-missing"), ("{", "cache-unreadable"), ('{"format": 99}', "cache-format")]:
        if text is not None:
            (tmp_path / "cache.json").write_text(text)
        with pytest.raises(StorageFailed) as caught:
            CacheReader(tmp_path)
        assert caught.value.kind == kind


def test_delete_takes_only_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    start(folder, 10).close()
    tracks = folder / "scene" / "tracks" / "gravity"
    tracks.mkdir(parents=True)
    for name in ("track.json", "000000.npz", "000001.part"):
        (tracks / name).touch()
    (folder / "scene" / "scene.json").touch()
    result_of(folder, "b")
    mine = [
        folder / "topology" / "x.npz",
        folder / "result" / "b.obj",
        folder / "attributes" / "a" / "1.txt",
        folder / "frames" / "notes.txt",
        folder / "wine.npz",
        folder / "play" / "other.abc",
    ]
    for path in mine:
        path.touch()
    assert sorted(delete_cache(folder)) == sorted(mine)
    assert sorted(p for p in folder.rglob("*") if p.is_file()) == sorted(mine)
    with pytest.raises(BadInput) as caught:
        delete_cache(folder)
    assert caught.value.kind == "not-a-cache"
    start(tmp_path / "d", 8).close()
    assert delete_cache(tmp_path / "d") == [] and not (tmp_path / "d").exists()


def test_delete_refuses_while_somebody_writes(tmp_path: Path) -> None:
    writer = start(tmp_path, 8)
    before = content(tmp_path)
    with pytest.raises(StorageFailed) as caught:
        delete_cache(tmp_path)
    assert caught.value.kind == "cache-locked" and content(tmp_path) == before
    writer.close()


def test_a_moved_cache_is_the_same(tmp_path: Path) -> None:
    start(tmp_path / "c", 12).close()
    (tmp_path / "c").rename(tmp_path / "ñ d")
    with CacheWriter(tmp_path / "ñ d") as writer:
        writer.resume(HEAD, 11)
        bake(writer, 12, 14)
    assert CacheReader(tmp_path / "ñ d").baked_range() == (5, 14)


def test_negative_frames(tmp_path: Path) -> None:
    head = CacheMetadata("", "", (CachedBody("a", "A", 2),), -3, 2, 24.0, 1)
    with CacheWriter(tmp_path) as writer:
        writer.start_over(head)
        for number in range(-3, 3):
            writer.write_frame(Frame(number, np.zeros((4, 3))), {"a": np.zeros((1, 2, 3))}, {"frame": number})
            writer.write_resume(number, {"x": np.zeros(2)}, 1)
    reader = CacheReader(tmp_path)
    assert reader.baked_range() == (-3, 2) and reader.is_done() and reader.resume_frames() == [0, 1, 2]
    assert delete_cache(tmp_path) == []


def test_keys_that_cannot_name_files_are_refused() -> None:
    from sinew.solver.scene.scene import Body, Scene

    for keys in (["../evil"], ["a", "a"], [""]):
        bodies = tuple(Body(np.zeros((3, 3)), np.array([[0, 1, 2]], np.int32), key=key, name="N") for key in keys)
        with pytest.raises(BadInput) as caught:
            CacheMetadata.for_scene(Scene(bodies), "")
        assert caught.value.kind == "body-key"


def test_importing_it_loads_neither_numba_nor_scipy() -> None:
    modules = "sinew.solver.bake.cache, sinew.solver.scene.material_presets"
    code = f"import sys; import {modules}; print({{'numba', 'scipy'}} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "set()\n"


def test_a_key_too_long_for_a_file_is_none() -> None:
    assert is_key("x" * 200) and not is_key("x" * 201) and not is_key("")
