# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks give the right value at any time, however they were cut, and wait for what is not there yet."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sinew.solver.runtime.errors import BadInput, StorageFailed
from sinew.solver.scene.tracks import MemoryTracks, Track, TrackReader, TrackWriter


def written(folder: Path, times, values, kind: str = "linear", cuts: tuple[int, ...] = ()) -> TrackReader:
    """Returns a reader of one complete track "t", cut into chunks before the samples `cuts`."""
    writer = TrackWriter(folder)
    for some_times, some_values in zip(np.split(times, cuts), np.split(values, cuts), strict=True):
        if len(some_times):
            writer.append("t", some_times, some_values, kind)
    writer.close()
    return TrackReader(folder, wait=0.5)


def matrix(rotation: Rotation, place=(0.0, 0.0, 0.0), stretch=None) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3] = rotation.as_matrix() @ (np.eye(3) if stretch is None else stretch)
    result[:3, 3] = place
    return result


def test_linear_values_are_interpolated_and_held_at_the_ends(tmp_path: Path):
    times = np.array([0.0, 1.0, 3.0])
    reader = written(tmp_path, times, np.array([[0.0, 1.0], [2.0, 1.0], [4.0, -1.0]]))
    for at, wanted in [
        (-1, [0, 1]),
        (0, [0, 1]),
        (0.25, [0.5, 1]),
        (1, [2, 1]),
        (2, [3, 0]),
        (3, [4, -1]),
        (9, [4, -1]),
    ]:
        np.testing.assert_allclose(reader.sample("t", at), wanted, atol=1e-14)


def test_steps_hold_until_the_next_one(tmp_path: Path):
    reader = written(tmp_path, np.array([0.0, 1.0, 2.0]), np.array([5.0, 6.0, 7.0]), "step")
    assert [float(reader.sample("t", at)) for at in (-1, 0, 0.999, 1, 1.5, 2, 3)] == [5, 5, 5, 6, 6, 7, 7]


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, 12), max_size=4), at=st.floats(-0.5, 1.7))
def test_chunks_leave_no_trace(tmp_path_factory, cuts, at):
    rng = np.random.default_rng(1)
    times, values = np.arange(12) / 8, rng.normal(size=(12, 5, 3))
    whole = written(tmp_path_factory.mktemp("whole"), times, values)
    cut = written(tmp_path_factory.mktemp("cut"), times, values, cuts=tuple(sorted(cuts)))
    np.testing.assert_array_equal(whole.sample("t", at), cut.sample("t", at))
    assert whole.digest() == cut.digest()


def test_rigid_values_turn_evenly(tmp_path: Path):
    quarter = Rotation.from_euler("z", 90, degrees=True)
    values = np.stack([matrix(Rotation.identity(), (1, 0, 0)), matrix(quarter, (3, 0, 0))])
    reader = written(tmp_path, np.array([0.0, 1.0]), values, "rigid")
    for s in (0.25, 0.5, 0.75):
        wanted = matrix(Rotation.from_euler("z", 90 * s, degrees=True), (1 + 2 * s, 0, 0))
        np.testing.assert_allclose(reader.sample("t", s), wanted, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    a=st.tuples(*[st.floats(-3, 3)] * 3),
    b=st.tuples(*[st.floats(-3, 3)] * 3),
    sizes=st.tuples(*[st.floats(0.2, 4)] * 3),
    mirrored=st.booleans(),
    s=st.floats(0.01, 0.99),
)
def test_a_turning_shape_keeps_its_stretch(tmp_path_factory, a, b, sizes, mirrored, s):
    """The half-way pose of R₀S → R₁S is a rotation times S: lengths and angles stay, mirrored or not."""
    shear = np.diag(sizes) * (-1 if mirrored else 1)
    shear = shear + 0.1 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]) * min(sizes)
    values = np.stack([matrix(Rotation.from_rotvec(turn), stretch=shear) for turn in (a, b)])
    reader = written(tmp_path_factory.mktemp("rigid"), np.array([0.0, 1.0]), values, "rigid")
    found = reader.sample("t", s)[:3, :3]
    np.testing.assert_allclose(found.T @ found, shear.T @ shear, atol=1e-9)
    assert np.sign(np.linalg.det(found)) == np.sign(np.linalg.det(shear))


def test_angles_go_the_short_way_and_evenly(tmp_path: Path):
    values = np.stack([matrix(Rotation.from_euler("x", angle, degrees=True)) for angle in (170, 190)])
    reader = written(tmp_path, np.array([0.0, 1.0]), values, "rigid")
    angles = [np.degrees(Rotation.from_matrix(reader.sample("t", s)[:3, :3]).magnitude()) for s in (0.25, 0.5, 0.75)]
    np.testing.assert_allclose(angles, [175, 180, 175], atol=1e-9)


def test_a_reader_waits_for_what_is_being_written(tmp_path: Path):
    writer = TrackWriter(tmp_path)
    writer.append("t", np.array([0.0]), np.array([1.0]))

    def later() -> None:
        time.sleep(0.15)
        writer.append("t", np.array([1.0]), np.array([3.0]))
        writer.append("t", np.array([2.0]), np.array([7.0]))
        writer.close()

    thread = threading.Thread(target=later)
    reader = TrackReader(tmp_path, wait=10.0)
    assert float(reader.sample("t", 0.0)) == 1.0
    before = time.monotonic()
    thread.start()
    assert float(reader.sample("t", 0.5)) == 2.0
    assert time.monotonic() - before > 0.1
    thread.join()
    assert float(reader.sample("t", 1.5)) == 5.0 and float(reader.sample("t", 99.0)) == 7.0


def test_a_reader_does_not_wait_for_ever(tmp_path: Path):
    writer = TrackWriter(tmp_path)
    writer.append("t", np.array([0.0]), np.array([1.0]))
    with pytest.raises(StorageFailed) as caught:
        TrackReader(tmp_path, wait=0.1).sample("t", 1.0)
    assert caught.value.kind == "track-late" and caught.value.details == {"name": "t", "time": 1.0}


def test_a_track_that_never_was_is_named(tmp_path: Path):
    TrackWriter(tmp_path).close()
    reader = TrackReader(tmp_path, wait=0.1)
    assert not reader.has("nothing")
    with pytest.raises(StorageFailed) as caught:
        reader.sample("nothing", 0.0)
    assert caught.value.kind == "track-missing"


def test_half_a_chunk_is_no_chunk(tmp_path: Path):
    reader = written(tmp_path, np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    (tmp_path / "tracks" / "t" / "000001.part").write_bytes(b"half")
    assert float(TrackReader(tmp_path).sample("t", 1.0)) == 2.0 == float(reader.sample("t", 1.0))


def test_the_digest_changes_with_names_kinds_and_samples(tmp_path: Path):
    times, values = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    digests = {
        written(tmp_path / "a", times, values).digest(),
        written(tmp_path / "b", times, values, "step").digest(),
        written(tmp_path / "c", times, values + 1e-15).digest(),
        written(tmp_path / "d", times + 1e-15, values).digest(),
    }
    assert len(digests) == 4


def test_the_digest_up_to_a_time_knows_nothing_of_what_comes_later(tmp_path: Path):
    times, values = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0])
    short, long = written(tmp_path / "a", times[:3], values[:3]), written(tmp_path / "b", times, values)
    assert short.digest(2.0) == long.digest(2.0) == short.digest()
    assert long.digest(1.0) != long.digest(2.0) != long.digest()
    other = written(tmp_path / "c", times, np.array([1.0, 2.5, 3.0, 4.0]))
    assert other.digest(0.0) == long.digest(0.0) and other.digest(1.0) != long.digest(1.0)


def test_a_value_that_stays_says_nothing_new(tmp_path: Path):
    still = written(tmp_path / "a", np.array([0.0]), np.array([1.0]))
    sampled = written(tmp_path / "b", np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0]))
    moves = written(tmp_path / "c", np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    assert still.digest() == sampled.digest() == moves.digest(1.0) != moves.digest()


def test_an_unknown_kind_is_a_mistake_of_the_caller(tmp_path: Path):
    with pytest.raises(ValueError, match="cubic"):
        TrackWriter(tmp_path).append("t", np.array([0.0]), np.array([1.0]), "cubic")


def test_a_damaged_chunk_is_named(tmp_path: Path):
    written(tmp_path, np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    (tmp_path / "tracks" / "t" / "000000.npz").write_bytes(b"PK no zip at all")
    with pytest.raises(StorageFailed) as caught:
        TrackReader(tmp_path).sample("t", 0.5)
    assert caught.value.kind == "track-missing" and '"t"' in str(caught.value)


def test_a_track_without_samples_yet_is_awaited(tmp_path: Path):
    writer = TrackWriter(tmp_path)
    (tmp_path / "tracks" / "t").mkdir()
    (tmp_path / "tracks" / "t" / "track.json").write_text('{"kind": "linear"}')
    timer = threading.Timer(0.1, lambda: writer.append("t", np.array([0.0, 1.0]), np.array([4.0, 5.0])))
    timer.start()
    assert float(TrackReader(tmp_path, wait=10.0).sample("t", 1.0)) == 5.0
    timer.join()


@pytest.mark.parametrize(
    "damage",
    [
        {"head": "{}"},
        {"head": "[]"},
        {"head": '{"kind": 5}'},
        {"head": '{"kind": "cubic"}'},
        {"head": '{"kind": "rigid"}'},
        {"head": "{"},
        {"times": np.array(0.0)},
        {"times": np.zeros(0), "values": np.zeros((0, 3))},
        {"times": np.array([0.0, np.nan])},
        {"times": np.array([1.0, 0.0])},
        {"times": np.zeros((2, 1))},
        {"times": np.array(["a", "b"])},
        {"times": np.arange(3.0)},
        {"values": np.zeros((2, 4))},
        {"values": np.zeros(2)},
        {"values": np.zeros((2, 3), complex)},
        {"values": np.zeros((2, 3), bool)},
        {"values": np.array(1.0)},
        {"values": None},
    ],
    ids=str,
)
def test_a_track_of_wrong_types_or_sizes_is_named(tmp_path: Path, damage: dict[str, object]):
    written(tmp_path, np.array([0.0, 1.0]), np.zeros((2, 3)))
    folder = tmp_path / "tracks" / "t"
    if "head" in damage:
        (folder / "track.json").write_text(str(damage.pop("head")))
    arrays = {"times": np.array([0.0, 1.0]), "values": np.zeros((2, 3)), **damage}
    np.savez(folder / "000000.npz", **{name: array for name, array in arrays.items() if array is not None})
    for _ in range(2):  # what was refused once is not taken later
        reader = TrackReader(tmp_path, wait=0.1, shapes={"t": (3,)})
        with pytest.raises(StorageFailed) as caught:
            reader.sample("t", 0.5)
        assert caught.value.kind == "track-missing" and '"t"' in caught.value.text and "\n" not in caught.value.text


def test_chunks_of_other_shapes_and_values_that_must_be_numbers_are_named(tmp_path: Path):
    written(tmp_path, np.arange(4.0), np.zeros((4, 3)), cuts=(2,))
    np.savez(tmp_path / "tracks" / "t" / "000001.npz", times=np.array([2.0, 3.0]), values=np.zeros((2, 2)))
    with pytest.raises(StorageFailed, match="different shapes"):
        TrackReader(tmp_path, wait=0.1).sample("t", 0.0)
    TrackWriter(tmp_path).append("body.a.pin_stiffness", np.array([0.0]), np.array([np.nan]))
    with pytest.raises(StorageFailed, match="not numbers"):
        TrackReader(tmp_path, wait=0.1, shapes={"body.a.pin_stiffness": ()}).sample("body.a.pin_stiffness", 0.0)


def test_tracks_in_memory_are_those_on_disk(tmp_path: Path):
    """Samples, digests and what they are saved as; a kind that is left out fits the values."""
    times, matrices = np.array([0.0, 1.0]), np.array([np.eye(4), np.diag([-1.0, -1.0, 1.0, 1.0])])
    memory = MemoryTracks({"b.values": ([0, 1], [[0.0], [2.0]]), "a.matrix": Track(times, matrices)})
    assert memory.has("a.matrix") and not memory.has("c")
    assert memory.sample("b.values", 0.25).tolist() == [0.5]
    turned = memory.sample("a.matrix", 0.5)  # rigid: turned by 90°, not flattened
    assert np.allclose(turned[:3, :3] @ turned[:3, :3].T, np.eye(3))
    memory.save(tmp_path)
    stored = TrackReader(tmp_path)
    assert stored.digest() == memory.digest() != memory.digest(0.5)
    assert np.array_equal(stored.sample("a.matrix", 0.5), turned)


@pytest.mark.parametrize(
    ("samples", "problem"),
    [
        (([0.0, 1.0], [1.0]), "1 values for 2 times"),
        (([1.0, 0.0], [1.0, 2.0]), "times do not rise"),
        (([np.nan], [1.0]), "its times are not finite"),
        (([0.0], [1.0], "smooth"), "kind has to be one of"),
        (([0.0], [1.0], "rigid"), "instead of"),
        (([0.0], [[1.0, 2.0]]), "shape"),
        (([0.0],), "values"),
    ],
)
def test_tracks_in_memory_that_cannot_be_read_are_refused(samples: tuple, problem: str):
    with pytest.raises(BadInput, match=f'cannot use the animated input "body.b.flow": .*{problem}'):
        MemoryTracks({"body.b.flow": samples}, {"body.b.flow": ()})
