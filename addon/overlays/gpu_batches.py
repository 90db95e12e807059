# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes and draws batches of points, lines and triangles for the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def make_batch(kind: str, points: np.ndarray, shader: str = "UNIFORM_COLOR", **attributes: Any) -> tuple[Any, Any]:
    """Returns a built-in shader and a batch of "POINTS", "LINES" or "TRIS" at positions (n, 2) or (n, 3).

    Args:
        kind: Of the primitives.
        points: The positions.
        shader: The name of the shader in Blender.
        attributes: Further values per position by name, or `indices` of the primitives.
    """
    import gpu
    from gpu_extras.batch import batch_for_shader

    made, indices = gpu.shader.from_builtin(shader), attributes.pop("indices", None)
    if indices is not None:
        indices = np.ascontiguousarray(indices, np.int32)
    values = {"pos": points, **attributes}
    values = {name: np.ascontiguousarray(value, np.float32) for name, value in values.items()}
    return made, batch_for_shader(made, kind, values, indices=indices)


@contextmanager
def alpha_blending(depth_test: str = "NONE") -> Iterator[None]:
    """Blends by alpha within a `with` block, in front of everything or by `depth_test`."""
    import gpu

    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set(depth_test)
    try:
        yield
    finally:
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


def draw_batch(shader: Any, batch: Any, colour: tuple[float, ...] | None = None, **uniforms: Any) -> None:
    """Draws a batch in a colour, or None for the colours of the batch."""
    shader.bind()
    if colour is not None:
        uniforms["color"] = colour
    for name, value in uniforms.items():
        shader.uniform_float(name, value)
    batch.draw(shader)
