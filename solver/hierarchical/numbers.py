# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies are hierarchical."""

from __future__ import annotations

from ..method import HIERARCHICAL
from ..model import Model


def level_numbers(model: Model) -> tuple[int, ...]:
    """Returns the numbers of the hierarchical bodies of a model."""
    return tuple(
        number for number, own in enumerate(model.levels) if own and model.methods[number].name == HIERARCHICAL
    )
