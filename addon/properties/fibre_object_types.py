# SPDX-License-Identifier: GPL-3.0-or-later
"""Which types of objects the settings of fibres take."""

from __future__ import annotations

from ...solver.scene.settings.fibre_settings import FIBRE_CURVES, FIBRE_LATTICE, TENDON_MESH

# by the names of the settings
OBJECT_TYPES = {
    FIBRE_LATTICE.name: frozenset({"LATTICE"}),
    FIBRE_CURVES.name: frozenset({"CURVE", "CURVES"}),
    TENDON_MESH.name: frozenset({"MESH"}),
}
