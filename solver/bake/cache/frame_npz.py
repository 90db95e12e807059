# SPDX-License-Identifier: GPL-3.0-or-later
"""The format of `frames/NNNNNN.npz`: node positions, topology, fields, and checksums of the frame's other files.

The checksums are a JSON object in UTF-8, name → SHA-256 in hex: "play/KEY.pc2" covers the samples of this frame only,
other names cover whole files: attributes, contacts, and topologies that begin in this frame.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.npz_reader import stored_floats, stored_indices

CHECKSUMS_ARRAY = "checksums"
TOPOLOGY_ARRAY = "topology"
POSITIONS_ARRAY = "x"


@dataclass(frozen=True)
class Frame:
    """The data of one frame.

    Attributes:
        frame: Its number.
        x: Positions of the tet nodes of all bodies [m], world, (n, 3): float32, or float64 if a body is so far from the
            origin that float32 would not preserve its shape.
        topology: 0 for intact bodies, else the number of the first sample (`CacheMetadata.sample_count`) with this
            topology, as in the name of its file.
        fields: Further values, by name (bake/postprocess/breakable_frame_fields.py).
    """

    frame: int
    x: npt.NDArray[np.float32] | npt.NDArray[np.float64]
    topology: int = 0
    fields: dict[str, npt.NDArray] = field(default_factory=dict)


def frame_arrays(frame: Frame, checksums: Mapping[str, str]) -> dict[str, Any]:
    """Returns a frame as named arrays."""
    text = np.frombuffer(json.dumps(checksums).encode(), np.uint8)
    return {POSITIONS_ARRAY: frame.x, TOPOLOGY_ARRAY: np.int64(frame.topology), **frame.fields, CHECKSUMS_ARRAY: text}


def frame_from_arrays(number: int, arrays: Mapping[str, npt.NDArray]) -> Frame:
    """Returns the frame of the arrays from `frame_arrays`.

    Raises:
        ValueError: An array is missing, or has another type or shape; the message names it.
    """
    fields = {
        name: values
        for name, values in arrays.items()
        if name not in (POSITIONS_ARRAY, TOPOLOGY_ARRAY, CHECKSUMS_ARRAY)
    }
    stored_floats(arrays, POSITIONS_ARRAY, -1, 3)
    topology = stored_indices(arrays, TOPOLOGY_ARRAY, np.iinfo(np.int32).max)
    if topology.size != 1:
        raise ValueError(f"{TOPOLOGY_ARRAY} has the shape {topology.shape} instead of one number")
    return Frame(number, arrays[POSITIONS_ARRAY], int(topology.ravel()[0]), fields)


def stored_checksums(arrays: Mapping[str, npt.NDArray]) -> dict[str, str] | None:
    """Returns the checksums in a frame, by name, or None if an earlier version wrote it.

    Raises:
        ValueError: The checksums are damaged.
    """
    return json.loads(arrays[CHECKSUMS_ARRAY].tobytes()) if CHECKSUMS_ARRAY in arrays else None
