# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames of joints at the ends that they hold, and the coordinates of the second frame in the first one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from .joint_frame_kernels import EndArrays, write_coordinates, write_directions, write_frames


@dataclass(frozen=True, eq=False)
class JointEnd:
    """One end of k joints.

    Attributes:
        core: The rigid core of the model that each holds, −1 where the end is no body, (k,).
        tet: A tet of a rigid part that each holds, −1 where the end is no body, (k,).
        weights: Where the frame is in it at rest, also outside, (k, 4).
        inverse_edges: Inverses of the matrices of its edges at rest [1/m], columns of edges, (k, 3, 3).
        axes: Axes of the frame in the rest pose, columns, (k, 3, 3).
    """

    core: Indices
    tet: Indices
    weights: Floats
    inverse_edges: Floats
    axes: Floats

    @cached_property
    def is_body(self) -> Bools:
        """Which ends are bodies, (k,)."""
        return self.tet >= 0

    @cached_property
    def arrays(self) -> EndArrays:
        """The end as kernels take it."""
        return EndArrays(self.tet, self.weights, self.inverse_edges, self.axes)

    def frames(self, x: Floats, tets: Indices, animated: Floats) -> tuple[Floats, Floats]:
        """Returns origins [m], (k, 3), and axes, columns, (k, 3, 3), for nodes at x [m], (n, 3).

        Args:
            x, tets: Nodes, and the nodes of the tets.
            animated: World [m] ← frame where the end is no body, (k, 4, 4).
        """
        origins, axes = np.empty((len(self.tet), 3)), np.empty((len(self.tet), 3, 3))
        write_frames(x, tets, self.arrays, animated, origins, axes)
        return origins, axes

    def selected(self, which: Bools) -> JointEnd:
        """Returns the ends of some joints, (k,)."""
        return JointEnd(*(getattr(self, each.name)[which] for each in fields(self)))


def coordinates(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Returns the six coordinates of second frames in first ones (`Joint`), (k, 6), and how they are turned, (k, 3, 3).

    Args:
        first, second: Origins and axes of frames, as `JointEnd.frames` gives them.
    """
    q, turns = np.empty((len(first[0]), 6)), np.empty((len(first[0]), 3, 3))
    write_coordinates(*first, *second, q, turns)
    return q, turns


def coordinate_directions(first_axes: Floats, q: Floats) -> Floats:
    """Returns n with dq/dt = n · v for translations and n · ω for angles, in the world, (k, 6, 3).

    Args:
        first_axes: Axes of the first frames, columns, (k, 3, 3).
        q: Coordinates, (k, 6).
    """
    directions = np.empty((len(q), 6, 3))
    write_directions(first_axes, q, directions)
    return directions
