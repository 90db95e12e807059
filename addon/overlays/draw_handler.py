# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handlers in Blender's editors, with a cache of GPU batches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..runtime.memo import Memo

MAX_BATCH_LISTS = 1000  # one per body with its tets shown


class DrawHandler:
    """Calls a draw function in all editors of a kind, from `register` to `unregister`.

    It caches batches until their inputs change, so that a still frame is uploaded once.

    Args:
        draw: Blender calls it for every region "WINDOW" of every such editor.
        space: Name of the editor in `bpy.types`.
        when: "POST_VIEW" draws in the coordinates of the scene, "POST_PIXEL" in those of the region.
    """

    def __init__(self, draw: Callable[[], None], space: str = "SpaceView3D", when: str = "POST_VIEW") -> None:
        self._draw, self._space, self._when = draw, space, when
        self._handle: Any = None
        self._batches: Memo[list] = Memo(MAX_BATCH_LISTS)

    def cached(self, key: Hashable, depends: tuple, make: Callable[[], list]) -> list:
        """Returns the cached batches of `key`, made again after `depends` has changed."""
        return self._batches.result(key, depends, make)

    def register(self) -> None:
        """Starts drawing."""
        self._handle = getattr(bpy.types, self._space).draw_handler_add(self._draw, (), "WINDOW", self._when)

    def unregister(self) -> None:
        """Stops drawing."""
        getattr(bpy.types, self._space).draw_handler_remove(self._handle, "WINDOW")
        self._handle = None
        self._batches.clear()


def make_batch(kind: str, points: np.ndarray, shader: str = "UNIFORM_COLOR", **more: Any) -> tuple[Any, Any]:
    """Returns a built-in shader and a batch of "POINTS", "LINES" or "TRIS" at positions (n, 2) or (n, 3).

    Args:
        more: Other values per position by name, or `indices`.
    """
    import gpu
    from gpu_extras.batch import batch_for_shader

    made, indices = gpu.shader.from_builtin(shader), more.pop("indices", None)
    if indices is not None:
        indices = np.ascontiguousarray(indices, np.int32)
    values = {"pos": points, **more}
    values = {name: np.ascontiguousarray(value, np.float32) for name, value in values.items()}
    return made, batch_for_shader(made, kind, values, indices=indices)


@contextmanager
def blending(depth_test: str = "NONE") -> Iterator[None]:
    """Draws transparently, in front of everything or by `depth_test`."""
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
