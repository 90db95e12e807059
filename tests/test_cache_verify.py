# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage to a cache is found: bits that flip, files that are cut off, files that are lost."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fixtures.small_cache import HEAD, bake, frame_of
from fixtures.small_cache import calls as calls
from sinew.solver import __main__ as command_line
from sinew.solver.bake.cache import CacheReader, CacheWriter, layout
from sinew.solver.runtime.errors import StorageFailed

LAST = 12
CASES = 100
SEED = 20
NOT_BAKED = ("lock", "log.txt")


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A cache with a file of every kind that a bake writes."""
    folder = tmp_path / "c"
    with CacheWriter(folder) as writer:
        writer.start_over(HEAD)
        for body in HEAD.bodies:
            writer.write_model(body.key, {"nodes": np.zeros((4, 3))})
        for number in range(HEAD.frame_start, LAST + 1):
            frame, samples, report, topologies, attributes = frame_of(number)
            contacts = {"positions": np.full((2, 3), number, np.float32)}
            writer.write_frame(frame, samples, report, topologies, attributes, contacts)
            if (number - HEAD.frame_start) % 3 == 0:
                writer.write_resume(number, {"x": np.arange(number, dtype=float)}, 3)
        writer.write_resume(LAST, {"x": np.arange(LAST, dtype=float)}, 3)  # as every bake that ends by itself
    return folder


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in NOT_BAKED)


def flip(path: Path, random: np.random.Generator) -> None:
    data = bytearray(path.read_bytes())
    data[random.integers(len(data))] ^= 1 << random.integers(8)
    path.write_bytes(data)


def cut_off(path: Path, random: np.random.Generator) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: random.integers(len(data))])


def lose(path: Path, _: np.random.Generator) -> None:
    path.unlink()


def test_a_whole_cache_is_verified(whole: Path) -> None:
    found = CacheReader(whole).verify()
    assert found.problems == () and found.unchecked == ()
    kinds = {path.relative_to(whole).parts[0] for path in files_of(whole)}
    wanted = {"attributes", "cache.json", "contacts", "frames", "model", "play", "report.jsonl", "resume", "topology"}
    assert kinds == wanted
    frames = LAST - HEAD.frame_start + 1
    topologies, points = len(CacheReader(whole).topologies()), len(CacheReader(whole).resume_frames())
    # frame, two bodies' samples, attributes, contacts and report line of every frame; heads, models and the list
    assert found.checked == 6 * frames + topologies + points + 2 + 2 + 1


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flip, cut_off, lose])
def test_damage_is_found_and_its_file_named(
    whole: Path, damage: Callable[[Path, np.random.Generator], None], record_property: Callable[[str, object], None]
) -> None:
    random, files = np.random.default_rng(SEED), files_of(whole)
    found, misses = 0, []
    for _ in range(CASES):
        path = files[random.integers(len(files))]
        before = path.read_bytes()
        damage(path, random)
        problems = CacheReader(whole).verify().problems
        is_named = any(path.name in problem or path.parent.name in problem for problem in problems)
        found += is_named or any(f"frame {int(path.stem)}" in p for p in problems if path.stem.isdigit())
        misses += [] if problems else [path.relative_to(whole).as_posix()]
        path.write_bytes(before)
    record_property("found", found)
    assert (found, misses) == (CASES, [])


def test_every_file_of_a_bake_is_missed_when_it_is_lost(whole: Path) -> None:
    for path in files_of(whole):
        before = path.read_bytes()
        path.unlink()
        assert CacheReader(whole).verify().problems, path
        path.write_bytes(before)


def test_a_cache_without_checksums_is_read_and_said_to_be_unchecked(whole: Path) -> None:
    """As Sinew 0.2 wrote it."""
    for path in [*whole.rglob("*.npz")]:
        with np.load(path) as stored:
            arrays = {name: stored[name] for name in stored.files if name != "checksums"}
        np.savez(path, **arrays)
    (whole / "model" / "cache.json").unlink()
    (whole / "resume" / "points.json").unlink()
    tree = json.loads((whole / "cache.json").read_text())
    del tree["checksum"]
    (whole / "cache.json").write_text(json.dumps(tree))
    lines = [json.loads(line) for line in (whole / "report.jsonl").read_text().splitlines()]
    text = "".join(json.dumps({k: v for k, v in line.items() if k != "checksum"}) + "\n" for line in lines)
    (whole / "report.jsonl").write_text(text)
    reader = CacheReader(whole)
    assert reader.last_frame() == LAST and reader.integrity_problems() == []
    found = reader.verify()
    assert found.problems == () and "frames/000008.npz" in found.unchecked and "model/a.npz" in found.unchecked
    with CacheWriter(whole) as writer:
        writer.resume(HEAD, 11)
        bake(writer, 12, 14)
    reader = CacheReader(whole)
    assert reader.baked_range() == (5, 14) and reader.verify().problems == ()


@pytest.mark.parametrize("bit", range(32))
def test_a_flipped_bit_in_a_count_costs_no_time(whole: Path, bit: int) -> None:
    path = whole / "play" / "a.pc2"
    data = bytearray(path.read_bytes())
    data[28 + bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)
    began = clock.process_time()
    reader = CacheReader(whole)
    last = reader.last_frame()
    assert (last is None or last <= LAST) and reader.resume_frame() in (None, 5, 8, 11, 12)
    assert reader.verify().problems
    assert clock.process_time() - began < 1.0


def test_a_count_beyond_the_end_of_the_file_is_told(whole: Path) -> None:
    path = whole / "play" / "b.pc2"
    path.write_bytes(path.read_bytes()[: -4 * 3 * 12])  # two frames of two samples
    reader = CacheReader(whole)
    assert reader.last_frame() == LAST - 2
    assert reader.play_problems() == ["play/b.pc2 counts 15 samples and holds 11"]
    assert reader.play_problems()[0] in reader.integrity_problems()


def test_a_damaged_line_of_the_report_costs_that_line_alone(whole: Path) -> None:
    path = whole / "report.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"\xff\xfe nonsense\n", *lines[4:]]))
    assert [line["frame"] for line in CacheReader(whole).report()] == [5, 6, 7, 9, 10, 11, 12]


def test_a_list_of_checkpoints_whose_checksum_has_another_name_is_told(whole: Path) -> None:
    path = whole / "resume" / "points.json"
    path.write_bytes(path.read_bytes().replace(b'"checksum"', b'"bhecksum"'))
    assert b"bhecksum" in path.read_bytes()
    assert "resume/points.json: it lacks its checksum" in CacheReader(whole).verify().problems


def test_a_folder_in_place_of_the_report_is_told(whole: Path) -> None:
    (whole / "report.jsonl").unlink()
    (whole / "report.jsonl").mkdir()
    assert "report.jsonl: it is no file" in CacheReader(whole).verify().problems


@pytest.mark.parametrize("name", ["report.jsonl", f"play/{HEAD.bodies[0].key}.pc2"])
def test_a_folder_in_place_of_a_file_keeps_a_bake_from_beginning_anew(whole: Path, name: str) -> None:
    (whole / name).unlink()
    (whole / name).mkdir()
    before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    with CacheWriter(whole) as writer, pytest.raises(StorageFailed, match="is a folder"):
        writer.start_over(HEAD)
    lock = whole / layout.LOCK_FILE
    assert {path: path.read_bytes() for path in whole.rglob("*") if path.is_file() and path != lock} == {
        path: data for path, data in before.items() if path != lock
    }


def test_a_lost_head_is_read_from_its_copy(whole: Path) -> None:
    path = whole / "cache.json"
    for damage in (path.unlink, lambda: path.write_bytes(b"{"), lambda: path.write_bytes(b"\0" * 300)):
        damage()
        assert CacheReader(whole).metadata == HEAD
        assert any("cache.json" in problem for problem in CacheReader(whole).verify().problems)
    with CacheWriter(whole) as writer:
        writer.resume(HEAD, 11)
    assert CacheReader(whole).verify().problems == ()


def test_info_verifies(whole: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["info", str(whole), "--verify"]) == 0
    assert "no damage" in capfd.readouterr().out
    path = whole / "frames" / "000008.npz"
    data = bytearray(path.read_bytes())
    data[12] ^= 1  # a time in the archive: no array changes
    path.write_bytes(data)
    assert command_line.main(["info", str(whole), "--verify", "--json"]) == 3
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert "frames/000008.npz: its checksum does not match" in told[0]["problems"]
    assert told[0]["checked"] > 40 and told[0]["unchecked"] == []
    assert told[-1]["kind"] == "cache-problem" and "frame 8" in told[-1]["sentence"]
