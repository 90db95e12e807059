# SPDX-License-Identifier: GPL-3.0-or-later
"""What changes from step to step, and all that the next step reads of the past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats, floats
from ..runtime.npz_reader import stored_floats

FIELD_PREFIX = "field."
NODE_FIELDS, TET_FIELDS = "node.", "tet."  # beginnings of the names of fields with a row per node or tet


@dataclass
class State:
    """Where all bodies are and how they move; the only thing that a step changes.

    Attributes:
        x: Node positions [m], (n, 3).
        v: Node velocities [m/s], (n, 3).
        time: Seconds since the first frame.
        fields: What else the next step reads (contact memory, first guesses, plastic strain …), by name. What
            there is one row of per node is named "node.…", per tet "tet.…": where a node splits, the first
            are carried over to its copy, the second stay.
    """

    x: Floats
    v: Floats
    time: float = 0.0
    fields: dict[str, npt.NDArray] = field(default_factory=dict)

    def copy(self) -> State:
        """Returns a state of its own arrays."""
        return State(self.x.copy(), self.v.copy(), self.time, {k: a.copy() for k, a in self.fields.items()})

    def view(self) -> State:
        """Returns a state of the same arrays, which stays as it is while this one is given others."""
        return State(floats(self.x), floats(self.v), self.time, dict(self.fields))

    def to_arrays(self) -> dict[str, npt.NDArray]:
        """Returns the state as named arrays; `from_arrays` gets the same bits back."""
        named = {FIELD_PREFIX + name: values for name, values in self.fields.items()}
        return {"x": self.x, "v": self.v, "time": np.array(self.time, np.float64), **named}

    @staticmethod
    def from_arrays(arrays: Mapping[str, npt.NDArray]) -> State:
        """Returns the state that `to_arrays` took apart, as dict or open .npz file.

        Raises:
            ValueError: An array is missing, or has another type or shape; the sentence names it.
        """
        x, v = stored_floats(arrays, "x", -1, 3), stored_floats(arrays, "v", -1, 3)
        time = stored_floats(arrays, "time")
        if len(v) != len(x) or time.shape != ():
            raise ValueError(f"v and time have the shapes {v.shape} and {time.shape} beside x with {x.shape}")
        named = {n[len(FIELD_PREFIX) :]: np.array(arrays[n]) for n in arrays if n.startswith(FIELD_PREFIX)}
        for name, values in named.items():
            if values.dtype.kind not in "fiub":
                raise ValueError(f"{FIELD_PREFIX}{name} holds {values.dtype.name} instead of numbers")
            if name.startswith(NODE_FIELDS) and values.shape[:1] != (len(x),):
                raise ValueError(f"{FIELD_PREFIX}{name} has the shape {values.shape} instead of a row for each node")
        return State(x, v, float(time), named)
