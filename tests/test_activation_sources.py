# SPDX-License-Identifier: GPL-3.0-or-later
"""The mathematics of activation sources: rise and fall, response to length, poses, columns of data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.activation.activation_dynamics import activation_over_time
from sinew.solver.scene.activation.length_response import LengthResponse, path_lengths
from sinew.solver.scene.activation.monotone_cubic import monotone_cubic
from sinew.solver.scene.activation.pose_interpolation import (
    interpolate_poses,
    rotations_of_quaternions,
    same_poses,
)
from sinew.solver.scene.activation.time_series_files import column_names, read_data_column, rows_and_moments

RISE, FALL = 0.05, 0.10


@pytest.mark.parametrize(("before", "after", "passed"), [(0.0, 1.0, RISE), (1.0, 0.0, FALL)])
def test_a_jump_has_come_63_per_cent_of_its_way_after_its_time(before, after, passed):
    """At frames of a film, between which tracks are linear."""
    frames = np.arange(13) / 24.0
    times = np.sort(np.append(frames, frames[3]))
    found, a = activation_over_time(times, np.where(np.arange(14) > 3, after, before), RISE, FALL)
    there = np.interp(frames[3] + passed, found, a)
    assert abs(there - before) == pytest.approx(1.0 - np.exp(-1.0), abs=1e-3)
    assert set(times) <= set(found) and (np.diff(found) >= 0.0).all()
    late = np.linspace(frames[3], frames[-1], 1000)
    exact = after + (before - after) * np.exp(-(late - frames[3]) / passed)
    assert np.abs(np.interp(late, found, a) - exact).max() < 1e-3


def test_activation_follows_any_excitation_as_small_steps_do():
    draw = np.random.default_rng(5)
    times = np.cumsum(draw.uniform(0.01, 0.1, 30))
    u = draw.uniform(0.0, 1.0, 30)
    found, a = activation_over_time(times, u, RISE, FALL)
    fine = np.linspace(times[0], times[-1], 200_001)
    now, followed = u[0], np.interp(fine, times, u)
    slow = np.empty(len(fine))
    for i, aim in enumerate(followed):
        now += (fine[1] - fine[0]) * (aim - now) / (RISE if aim > now else FALL)
        slow[i] = now
    assert np.abs(np.interp(fine, found, a) - slow).max() < 1e-3
    assert activation_over_time(times, 2.0 * u, 0.0, 0.0)[1] == pytest.approx(np.minimum(2.0 * u, 1.0))


@pytest.mark.parametrize(("rise", "fall"), [(0.0, FALL), (RISE, 0.0)])
def test_without_one_of_the_times_activation_follows_at_once_that_way(rise, fall):
    times, u = np.array([0.0, 0.0, 0.1, 0.2, 0.2]), np.array([0.0, 1.0, 0.5, 0.5, 0.0])
    small = activation_over_time(times, u, rise or 1e-6, fall or 1e-6)
    exact = activation_over_time(times, u, rise, fall)
    at = np.array([0.01, 0.1, 0.15, 0.19])
    assert np.interp(at, *exact) == pytest.approx(np.interp(at, *small), abs=2e-3)


def test_a_path_that_shortens_activates_over_its_range():
    lengths, times = np.array([1.0, 0.9, 0.8, 0.6, 1.2]), np.arange(5.0)
    response = LengthResponse(start=0.1, full=0.3, exponent=2.0, reflex=0.0)
    assert response.excitation(times, lengths, 1.0) == pytest.approx([0.0, 0.0, 0.25, 1.0, 0.0])
    stretched = LengthResponse(start=0.0, full=-0.2, exponent=1.0, reflex=0.0)
    assert stretched.excitation(times, lengths, 1.0) == pytest.approx([0.0, 0.0, 0.0, 0.0, 1.0])
    reflex = LengthResponse(start=0.5, full=0.6, exponent=1.0, reflex=0.5)
    assert reflex.excitation(times, lengths, 1.0) == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.3])
    paths = np.array([[[0, 0, 0], [1, 0, 0], [1, 2, 0]], [[0, 0, 0], [0, 0, 3], [0, 4, 3]]], float)
    assert path_lengths(paths) == pytest.approx([3.0, 7.0])


def test_a_curve_through_points_is_that_of_scipy():
    draw = np.random.default_rng(4)
    for count in (2, 3, 4, 9):
        at = np.cumsum(draw.uniform(0.05, 1.0, count))
        values = draw.uniform(0.0, 1.0, count)
        x = np.linspace(at[0], at[-1], 400)
        assert monotone_cubic(at, values, x) == pytest.approx(PchipInterpolator(at, values)(x), abs=1e-12)
    assert monotone_cubic(at, values, np.array([-1.0, 99.0])) == pytest.approx([values[0], values[-1]])
    response = LengthResponse(0.0, 0.4, 1.0, 0.0, np.array([[0.0, 0.0], [0.25, 1.0], [0.5, 0.2], [1.0, 0.2]]))
    lengths = np.array([1.0, 0.9, 0.8, 0.7, 0.5])
    assert response.excitation(np.arange(5.0), lengths, 1.0) == pytest.approx([0.0, 1.0, 0.2, 0.2, 0.2])


def turns(*angles: float) -> np.ndarray:
    """Returns rotations of one joint about x, (k, 1, 3, 3)."""
    half = 0.5 * np.array(angles)
    return rotations_of_quaternions(np.stack([np.cos(half), np.sin(half), 0.0 * half, 0.0 * half], axis=1))[:, None]


def random_rotations(draw, count: int, joints: int) -> np.ndarray:
    return rotations_of_quaternions(draw.standard_normal((count, joints, 4)))


def test_quaternions_turn_as_their_axis_says():
    quarter = turns(0.5 * np.pi)[0, 0]
    assert quarter @ [0.0, 1.0, 0.0] == pytest.approx([0.0, 0.0, 1.0])
    found = random_rotations(np.random.default_rng(1), 20, 2)
    assert np.einsum("...ij,...kj->...ik", found, found) == pytest.approx(np.broadcast_to(np.eye(3), found.shape))
    assert np.linalg.det(found) == pytest.approx(1.0)


def test_activations_are_exact_at_poses_and_within_0_and_1_everywhere():
    draw = np.random.default_rng(2)
    for count, joints in ((1, 1), (2, 3), (7, 1), (12, 3)):
        poses, values = random_rotations(draw, count, joints), draw.uniform(0.0, 1.0, count)
        values[: count // 2] = np.round(values[: count // 2])
        found = interpolate_poses(poses, values)
        assert found.activations(poses) == pytest.approx(values, abs=1e-9)
        elsewhere = found.activations(random_rotations(draw, 500, joints))
        assert elsewhere.min() >= 0.0 and elsewhere.max() <= 1.0


def test_activation_between_and_beyond_two_poses():
    found = interpolate_poses(turns(0.0, 1.5), np.array([0.0, 1.0]))
    a = found.activations(turns(*np.linspace(-0.5, 2.0, 251)))
    assert (np.diff(a) >= -1e-12).all() and a[0] == 0.0 and a[-1] == 1.0
    # no kink: the slope changes by what the curvature allows
    slopes = np.diff(a) / 0.01
    assert np.abs(np.diff(slopes)).max() < 0.05


def test_what_poses_hardly_differ_by_does_not_rule_far_away():
    """An elbow that was stored with a wrist that trembled."""
    draw = np.random.default_rng(3)
    elbow = turns(0.0, 0.7, 1.4)
    wrist = turns(*1e-3 * draw.standard_normal(3))
    found = interpolate_poses(np.concatenate([elbow, wrist], axis=1), np.array([0.0, 0.2, 1.0]))
    bent = np.concatenate([turns(1.4), turns(0.5)], axis=1)
    assert found.activations(bent)[0] > 0.8


def test_poses_that_are_the_same_are_found():
    assert same_poses(turns(0.0, 1.0, 0.0)) == (0, 2)
    assert same_poses(turns(0.0, 0.001)) is None


STO = """name of the study
version=1
nRows=3
nColumns=3
inDegrees=no
endheader
time\tBIClong\tBICshort
0.0\t0.01\t0.5
 0.1   0.02   0.6

0.2\t0.03\t0.7
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sto", STO),
        ("a.mot", STO.replace("\t", " ")),
        ("a.csv", "# made by hand\nBIClong,time,BICshort\n0.01,0,0.5\n0.02,0.1,0.6\n\n0.03,0.2,0.7\n"),
        ("a.csv", '\ufeffseconds;"BIClong";BICshort\r\n0;0,01;0,5\r\n0,1;0,02;0,6\r\n0,2;0,03;0,7\r\n'),
    ],
)
def test_columns_of_files(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    times, values = read_data_column(path, "BICshort")
    assert times == pytest.approx([0.0, 0.1, 0.2]) and values == pytest.approx([0.5, 0.6, 0.7])
    assert column_names(path) == ["BIClong", "BICshort"]


@pytest.mark.parametrize(
    ("name", "text", "kind", "words"),
    [
        ("a.sto", None, "data-file", "a.sto"),
        ("a.sto", STO.replace("endheader", ""), "data-header", "endheader"),
        ("a.sto", STO.replace("BICshort", "TRI"), "data-column", "BIClong, TRI"),
        ("a.sto", STO.replace("0.02   ", ""), "data-row", "Line 9"),
        ("a.csv", "time,BICshort\n0,1\n1,one\n", "data-cell", 'Line 3 of .*"one"'),
        ("a.csv", "time,BICshort\n0,nan\n", "data-cell", "Line 2"),
        ("a.csv", "time,BICshort\n0,1\n\n-1,1\n", "data-time-falls", "Line 4"),
        ("a.csv", "time,BICshort\n", "data-no-rows", "no rows"),
        ("a.csv", "", "data-column", "no columns"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(tmp_path, name, text, kind, words):
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=words) as caught:
        read_data_column(path, "BICshort")
    assert caught.value.kind == kind


def test_a_row_that_jumps_at_a_frame_does_not_begin_to_jump_before_it():
    frames = np.arange(4.0)
    at, values = np.array([0.5, 2.0, 2.0, 9.0]), np.array([0.2, 0.2, 1.0, 1.0])
    found, u = rows_and_moments(frames, at, values)
    assert found.tolist() == [0.0, 0.5, 1.0, 2.0, 2.0, 3.0]
    assert u == pytest.approx([0.2, 0.2, 0.2, 0.2, 1.0, 1.0])
