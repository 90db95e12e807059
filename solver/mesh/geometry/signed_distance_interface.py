# SPDX-License-Identifier: GPL-3.0-or-later
"""What gives signed distances from a surface: a tree of the solver or of Blender, or a formula."""

from __future__ import annotations

from collections.abc import Callable

from ...runtime.arrays import Floats

# points [m], (k, 3) → signed distance [m], (k,), negative inside, and the unit vectors in which it grows, (k, 3)
SignedDistance = Callable[[Floats], tuple[Floats, Floats]]
