# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulations whose tets leave a record each (`mechanics/elements/record_layout.py`): linear, polar, QR."""

from __future__ import annotations

import numpy as np

from sinew.solver.integrators.system.step_matrix import compute_element_records
from sinew.solver.mechanics.elements.edge_assembly import assemble
from sinew.solver.mechanics.elements.strain_energy import stored_energy
from sinew.solver.mechanics.model import Model
from sinew.solver.runtime.arrays import Floats, floats
from sinew.solver.scene.formulation import QR


class CorotationalFormulation:
    """Of a model whose bodies are all of one such method."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def energy(self, x: Floats) -> float | None:
        """Returns the elastic energy [J]; None for QR, whose rotations do not make its strain least."""
        if any(method.name == QR for method in self.model.methods):
            return None
        return float(stored_energy(self.model, floats(x), compute_element_records(self.model, floats(x))).sum())

    def forces(self, x: Floats) -> Floats:
        """Returns the elastic forces on the nodes [N], (n, 3)."""
        return self._join(x)[1]

    def stiffness(self, x: Floats) -> Floats:
        """Returns K with rotations held, (b, 9)."""
        return self._join(x)[0]

    def _join(self, x: Floats) -> tuple[Floats, Floats]:
        pattern, records = self.model.pattern, compute_element_records(self.model, floats(x))
        values, force = np.empty((pattern.block_count, 9)), np.empty((pattern.node_count, 3))
        assemble(1.0, 0.0, np.zeros(pattern.node_count), pattern, records, values, force)
        return values, force
