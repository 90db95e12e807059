# SPDX-License-Identifier: GPL-3.0-or-later
"""The weights of the vertex groups and attributes that settings name."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ..evaluation.vertex_weights import vectors, weights


@dataclass(frozen=True)
class WeightReader:
    """The vertex groups and attributes of one evaluated object.

    Attributes:
        owner: The object, for its name and its settings.
        evaluated: The evaluated object.
        mesh: Its mesh.
    """

    owner: bpy.types.Object
    evaluated: bpy.types.Object
    mesh: bpy.types.Mesh

    def weights_of(self, setting: str) -> Floats:
        """Returns the weights of the group that a setting names, (n,), or (0,) where it names none.

        Raises:
            BadInput: There is no such group, it holds no weights, or it is 0 everywhere.
        """
        settings = self.owner.sinew
        name, label = getattr(settings, setting), settings.bl_rna.properties[setting].name
        if not name:
            return np.zeros(0)
        return self.weights_named(name, label)

    def weights_named(self, name: str, label: str) -> Floats:
        """Returns the weights of a group or attribute that a field with a label names, (n,); raises as `weights_of`."""
        found = weights(self.evaluated, self.mesh, name, self.owner.name, label)
        if not found.any():
            raise BadInput("group-empty", name=self.owner.name, group=name, field=label)
        return found

    def vectors_of(self, setting: str) -> Floats:
        """Returns the vector attribute that a setting names, (n, 3), in object space, or (0, 3) where it names none.

        Raises:
            BadInput: There is no such attribute, it holds no vectors, or it is 0 everywhere.
        """
        settings = self.owner.sinew
        name, label = getattr(settings, setting), settings.bl_rna.properties[setting].name
        if not name:
            return np.zeros((0, 3))
        found = vectors(self.mesh, name, self.owner.name, label)
        if not found.any():
            raise BadInput("group-empty", name=self.owner.name, group=name, field=label)
        return found
