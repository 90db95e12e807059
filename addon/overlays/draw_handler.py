# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handlers in Blender's editors, with a cache of GPU batches."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import bpy

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


class LabelledDrawHandler:
    """Draws in the coordinates of the scene, and words over that in those of the region."""

    def __init__(self, draw: Callable[[], None], draw_words: Callable[[], None]) -> None:
        self._handlers = DrawHandler(draw), DrawHandler(draw_words, when="POST_PIXEL")

    def register(self) -> None:
        """Starts drawing."""
        for handler in self._handlers:
            handler.register()

    def unregister(self) -> None:
        """Stops drawing."""
        for handler in reversed(self._handlers):
            handler.unregister()
