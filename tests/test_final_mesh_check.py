# SPDX-License-Identifier: GPL-3.0-or-later
"""A file of a final mesh whose arrays do not fit each other is damaged, by a sentence of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from sinew.solver.bake.cache.final_mesh_check import check_final_mesh

Arrays = dict[str, npt.NDArray]


def arrays() -> Arrays:
    """Returns two triangles of four vertices."""
    return {
        "rest": np.zeros((4, 3)),
        "tet": np.zeros(4, np.int32),
        "weights": np.zeros((4, 4)),
        "source_vertex": np.arange(4),
        "face_start": np.array([0, 3, 6]),
        "corners": np.array([0, 1, 2, 0, 2, 3]),
        "source_face": np.array([0, -1]),
        "face_tet": np.zeros(2, np.int32),
        "partner": np.array([-1, -1]),
        "piece": np.zeros(2, np.int32),
        "opens": np.zeros(2, np.float32),
        "corner_triangle": np.zeros(6, np.int32),
        "corner_weights": np.zeros((6, 3)),
        "last_frame": np.int64(4),
    }


def test_what_fits_is_taken_with_and_without_what_only_the_solver_reads() -> None:
    check_final_mesh(arrays())
    check_final_mesh({name: each for name, each in arrays().items() if name not in ("tet", "partner", "last_frame")})


DAMAGE: dict[str, tuple[Callable[[Arrays], object], str]] = {
    "missing": (lambda a: a.pop("opens"), "opens missing"),
    "another count": (lambda a: a.update(opens=np.zeros(1)), "opens has the shape"),
    "another number of axes": (lambda a: a.update(piece=np.zeros((2, 1))), "piece has the shape"),
    "three weights": (lambda a: a.update(weights=np.zeros((4, 3))), "weights has the shape"),
    "one start too few": (lambda a: a.update(face_start=np.array([0, 6])), "face_start does not fit"),
    "words": (lambda a: a.update(piece=np.array(["a", "b"])), "piece holds other things"),
    "fractions": (lambda a: a.update(corners=a["corners"] * 1.0), "corners holds other things"),
    "no number": (lambda a: a["rest"].__setitem__((0, 0), np.nan), "rest holds other things"),
    "an empty face": (lambda a: a.update(face_start=np.array([0, 0, 6])), "face_start does not rise"),
    "a corner too far": (lambda a: a["corners"].__setitem__(0, 4), "a corner has no vertex"),
    "a corner below zero": (lambda a: a["corners"].__setitem__(0, -1), "a corner has no vertex"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_does_not_fit_is_named(kind: str) -> None:
    change, words = DAMAGE[kind]
    found = arrays()
    change(found)
    with pytest.raises(ValueError, match=words):
        check_final_mesh(found)
