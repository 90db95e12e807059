# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of the final mesh of a broken body (solver/bake/postprocess/result_npz.py)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class FractureResult:
    """Numbers of a final mesh.

    Attributes:
        key, name: Of the body.
        pieces, faces, broken_faces, vertices: Counts.
        first_open: The first frame with an open crack, or None.
    """

    key: str
    name: str
    pieces: int
    faces: int
    broken_faces: int
    vertices: int
    first_open: float | None

    def as_event(self) -> dict[str, Any]:
        """Returns the fields of events and of `sinew info`."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_arrays(key: str, name: str, arrays: Mapping[str, npt.NDArray]) -> FractureResult:
        """Returns the numbers of the arrays in `result/KEY.npz`."""
        is_broken = arrays["source_face"] < 0
        opens = arrays["opens"][is_broken]
        if "vertex_opens" in arrays and len(arrays["vertex_opens"]):
            opens = np.append(opens, arrays["vertex_opens"].min())
        return FractureResult(
            key=key,
            name=name,
            pieces=int(arrays["piece"].max(initial=-1)) + 1,
            faces=len(is_broken),
            broken_faces=int(is_broken.sum()),
            vertices=len(arrays["rest"]),
            first_open=float(opens.min()) if len(opens) else None,
        )
