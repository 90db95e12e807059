# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints hold what Exact contact remembers; a damaged one is refused by the name of what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.state_fields import (
    EXACT_EXCLUDED_EDGES_FIELD,
    EXACT_EXCLUDED_POINTS_FIELD,
    EXACT_PAIR_FIELD,
    EXACT_SHEAR_FIELD,
)
from sinew.solver.mechanics.topology_state import check_fits


def remembered(**changed) -> State:
    """Returns a state of four nodes and a tet with two pairs, three points and an edge left out, with some changed."""
    fields = {
        EXACT_PAIR_FIELD: np.zeros((2, 2), np.int64),
        EXACT_SHEAR_FIELD: np.zeros((2, 3)),
        EXACT_EXCLUDED_POINTS_FIELD: np.zeros(3, np.int32),
        EXACT_EXCLUDED_EDGES_FIELD: np.zeros(1, np.int32),
    }
    fields.update({"contact.exact." + name.replace("__", "."): values for name, values in changed.items()})
    state = State(x=np.zeros((4, 3)), v=np.zeros((4, 3)))
    state.fields.update({name: values for name, values in fields.items() if values is not None})
    return state


def test_what_exact_contact_remembers_fits() -> None:
    check_fits(remembered(), 4, 1)
    check_fits(remembered(pair=np.zeros((0, 2), np.int64), shear=np.zeros((0, 3))), 4, 1)
    check_fits(remembered(pair=None, shear=None), 4, 1)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"pair": np.zeros((2, 3), np.int64)}, EXACT_PAIR_FIELD),
        ({"shear": np.zeros((3, 3))}, EXACT_SHEAR_FIELD),
        ({"shear": np.zeros((2, 2))}, EXACT_SHEAR_FIELD),
        ({"shear": None}, EXACT_SHEAR_FIELD),
        ({"pair": None}, EXACT_SHEAR_FIELD),
        ({"pair": np.zeros((), np.int64)}, EXACT_PAIR_FIELD),
        ({"excluded__points": np.zeros((3, 2), np.int32)}, EXACT_EXCLUDED_POINTS_FIELD),
        ({"excluded__edges": np.zeros((), np.int32)}, EXACT_EXCLUDED_EDGES_FIELD),
    ],
)
def test_what_is_damaged_is_refused(changed, name: str) -> None:
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        check_fits(remembered(**changed), 4, 1)


def test_a_bake_goes_on_from_a_checkpoint_in_which_bodies_touch(tmp_path: Path) -> None:
    through, cut = tmp_path / "through.sinew", tmp_path / "cut.sinew"
    for folder in (through, cut):
        write_scene(folder, tiny_scene(8, contact="exact"))
    run_bake(through, lambda event: None)
    run_bake(cut, lambda event: None, options=BakeOptions(frame_end=6))
    assert len(CacheReader(cut).read_resume(6)["field." + EXACT_PAIR_FIELD]) > 0
    begun = []
    run_bake(cut, begun.append, options=BakeOptions(resume=True))
    assert [event["frame"] for event in begun if event["event"] == "frame"] == [7, 8]
    one, other = (CacheReader(folder).read_resume(8) for folder in (through, cut))
    assert one.keys() == other.keys()
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)
