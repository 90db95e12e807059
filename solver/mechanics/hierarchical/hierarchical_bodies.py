# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies are hierarchical."""

from __future__ import annotations

from ...scene.formulation import HIERARCHICAL
from ..model import Model


def hierarchical_numbers(model: Model) -> tuple[int, ...]:
    """Returns the numbers of the hierarchical bodies of a model."""
    return tuple(
        number for number, own in enumerate(model.levels) if own and model.methods[number].name == HIERARCHICAL
    )
