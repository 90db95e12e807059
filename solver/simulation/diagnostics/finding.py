# SPDX-License-Identifier: GPL-3.0-or-later
"""Something that is wrong or doubtful about an object of a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...runtime.arrays import Indices
from ...runtime.errors import BadInput, SinewError, SolveFailed


@dataclass(frozen=True, eq=False)
class Finding:
    """Something that is wrong or doubtful about an object of a scene.

    Attributes:
        problem: What it is, never raised.
        key: Of the body, bone or collider; of fat with `WRAP_SUFFIX`, of its Wrap; "": of the scene.
        vertices: Where, of its mesh in the scene, (k,); none: all of it.
        triangles: Those of it that are to be turned, (t,).
    """

    problem: SinewError
    key: str
    vertices: Indices = field(default_factory=lambda: np.zeros(0, np.int32))
    triangles: Indices = field(default_factory=lambda: np.zeros(0, np.int32))

    def to_json(self) -> dict[str, Any]:
        """Returns the finding as JSON can hold it, and whether a bake would be refused."""
        details = {name: _plain(value) for name, value in self.problem.details.items()}
        return {
            "kind": self.problem.kind,
            "details": details,
            "is_refused": isinstance(self.problem, BadInput | SolveFailed),
            "key": self.key,
            "vertices": self.vertices.tolist(),
            "triangles": self.triangles.tolist(),
        }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
