# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces that follow nodes or tracks, and what is told to move in a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...contact.exact.contact_mesh import ContactMesh
from ...contact.surfaces.collision_surfaces import interpolate_vertices
from ...runtime.arrays import Bools, Floats, Indices


@dataclass(frozen=True, eq=False)
class BoundSurfaces:
    """Surfaces whose vertices follow nodes or tracks.

    Attributes:
        mesh: The surfaces, v vertices.
        tet: The tet that each vertex is bound to, −1 for vertices of colliders, (v,).
        nodes: Its nodes, −1 for those of colliders, (v, 4).
        weights: Barycentric weights in it, (v, 4).
        friction: Coefficient of friction of each two surfaces, (s, s).
    """

    mesh: ContactMesh
    tet: Indices
    nodes: Indices
    weights: Floats
    friction: Floats

    def positions(self, x: Floats, prescribed: Floats) -> Floats:
        """Returns the vertices [m], (v, 3), for nodes, (n, 3); those of colliders are in `prescribed`, (v, 3)."""
        out = prescribed.copy()
        interpolate_vertices(x, self.nodes, self.weights, out)
        return out


@dataclass(frozen=True, eq=False)
class PrescribedMotion:
    """What is told to move in a step.

    Attributes:
        start, end: Vertices of colliders at both ends [m], (v, 3); rows of bodies are not read.
        is_fixed: Which nodes are held, (n,).
        target: Where these end [m], (n, 3); rows of free nodes are not read.
    """

    start: Floats
    end: Floats
    is_fixed: Bools
    target: Floats

    def is_still(self, x: Floats, is_prescribed: Bools) -> bool:
        """Returns whether nothing is told to move.

        Args:
            x: Nodes at the start [m], (n, 3).
            is_prescribed: Which vertices are those of colliders, (v,).
        """
        stays = np.array_equal(self.start[is_prescribed], self.end[is_prescribed])
        return stays and np.array_equal(self.target[self.is_fixed], x[self.is_fixed])
