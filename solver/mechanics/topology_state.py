# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes the tets have by now: where a body breaks, nodes split, and tets take one copy or the other.

Tets are never added, removed or renumbered, and never change their rest shape, so whatever is tied to a tet
(render vertices, contact points, cracks) stays tied to it. `AssembledScene.unbroken` is the scene before anything
broke. A hinge of a sheet whose edge tears names the last corner of its first triangle twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy.typing as npt

from ..runtime.arrays import Indices
from ..runtime.npz_reader import stored_indices
from .state import TET_FIELDS, State
from .state_fields import (
    ASLEEP_INPUT_FIELD,
    ASLEEP_PREFIX,
    CONTACT_PREFIX,
    EXACT_EXCLUDED_EDGES_FIELD,
    EXACT_EXCLUDED_POINTS_FIELD,
    EXACT_PAIR_FIELD,
    EXACT_PREFIX,
    EXACT_SHEAR_FIELD,
    ORIGIN_FIELD,
    TETS_FIELD,
)

# numbers of attributes of stored contacts that have more than one for each
CONTACT_VECTORS = {"shear": 3, "normal": 3, "place": 3, "direction": 3, "load": 3, "tet": 2}


@dataclass(frozen=True)
class Topology:
    """The tets of all bodies after nodes have split; those of one body stay one range.

    Attributes:
        tets: Nodes of every tet, (m, 4).
        origin: The node of the whole bodies that each node is a copy of, (n,). Nodes of one piece come one after the
            other, in the order of their origins.
    """

    tets: Indices
    origin: Indices

    @staticmethod
    def from_state(state: State) -> Topology | None:
        """Returns what a state has come to; None while nothing has split."""
        return Topology(state.fields[TETS_FIELD], state.fields[ORIGIN_FIELD]) if TETS_FIELD in state.fields else None

    def store_in(self, state: State) -> None:
        """Writes it into a state."""
        state.fields[TETS_FIELD], state.fields[ORIGIN_FIELD] = self.tets, self.origin


def stored_topology(arrays: Mapping[str, npt.NDArray], whole: Indices, node_count: int) -> Topology:
    """Returns the `tets` and `origin` of a file, of bodies with the tets `whole`, (m, 4), and so many nodes, all whole.

    Raises:
        ValueError: They are of other bodies, or damaged; the sentence says which array is wrong.
    """
    origin = stored_indices(arrays, "origin", node_count, -1)
    tets = stored_indices(arrays, "tets", len(origin), len(whole), 4)
    is_own = origin[tets] == whole
    is_own[:, 3] |= tets[:, 3] == tets[:, 2]  # a hinge of a sheet whose edge has torn
    if not is_own.all():
        raise ValueError("tets are not those of the whole bodies, with copies of their nodes")
    return Topology(tets, origin)


def check_fits(state: State, node_count: int, tet_count: int) -> None:
    """Makes sure that a stored state is one of bodies with so many nodes and tets, before nodes split.

    Raises:
        ValueError: It is not; the sentence says which array is wrong.
    """
    count = len(state.x)
    if TETS_FIELD in state.fields or ORIGIN_FIELD in state.fields:
        stored_indices(state.fields, ORIGIN_FIELD, node_count, count)
        stored_indices(state.fields, TETS_FIELD, count, tet_count, 4)
    elif count != node_count:
        raise ValueError(f"x has {count} rows for {node_count} nodes")
    for name, values in state.fields.items():
        if name.startswith(TET_FIELDS) and values.shape[:1] != (tet_count,):
            raise ValueError(f"{name} has the shape {values.shape} instead of a row for each of {tet_count} tets")
    for prefix in (CONTACT_PREFIX, ASLEEP_PREFIX):
        own = {name: values for name, values in state.fields.items() if name.startswith(prefix)}
        own.pop(ASLEEP_INPUT_FIELD, None)
        _check_contacts({name: values for name, values in own.items() if not name.startswith(EXACT_PREFIX)}, prefix)
    _check_exact_contacts(state.fields)


def _check_exact_contacts(fields: Mapping[str, npt.NDArray]) -> None:
    """Makes sure that what Exact contact remembers has a pair for each shear, and plain lists of what it leaves out.

    Raises:
        ValueError: It has not.
    """
    pairs = len(fields[EXACT_PAIR_FIELD]) if EXACT_PAIR_FIELD in fields and fields[EXACT_PAIR_FIELD].ndim else -1
    for name, shape in ((EXACT_PAIR_FIELD, (pairs, 2)), (EXACT_SHEAR_FIELD, (pairs, 3))):
        if name in fields and fields[name].shape != shape:
            raise ValueError(f"{name} has the shape {fields[name].shape}, which does not fit the other contacts")
    if EXACT_PAIR_FIELD in fields and EXACT_SHEAR_FIELD not in fields:
        raise ValueError(f"{EXACT_SHEAR_FIELD} is missing beside {EXACT_PAIR_FIELD}")
    for name in (EXACT_EXCLUDED_POINTS_FIELD, EXACT_EXCLUDED_EDGES_FIELD):
        if name in fields and fields[name].ndim != 1:
            raise ValueError(f"{name} has the shape {fields[name].shape} instead of a list")


def _check_contacts(fields: Mapping[str, npt.NDArray], prefix: str) -> None:
    """Makes sure that all attributes of the contacts of a stored state have a number or a vector for each contact.

    Raises:
        ValueError: One has not.
    """
    counts = {values.shape[0] if values.ndim else -1 for values in fields.values()}
    for name, values in fields.items():
        size = CONTACT_VECTORS.get(name.removeprefix(prefix))
        wanted = () if size is None else (size,)
        if len(counts) > 1 or values.shape[1:] != wanted or values.ndim == 0:
            raise ValueError(f"{name} has the shape {values.shape}, which does not fit the other contacts")
