# SPDX-License-Identifier: GPL-3.0-or-later
"""What Simulated Size makes of a body: it moves and warms as one of another size does."""

from __future__ import annotations

import bpy


def simulated_scale(obj: bpy.types.Object) -> float:
    """Returns by how much a body moves as if it were larger than it is: Simulated Size / true size."""
    longest = max(obj.dimensions)
    return obj.sinew.simulated_size / longest if obj.sinew.use_simulated_size and longest > 0.0 else 1.0
