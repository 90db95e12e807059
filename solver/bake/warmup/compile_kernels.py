# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles all kernels once per version and machine, where they were not shipped.

Kernels are compiled when they are first called, and kept on disk (`solver/runtime/kernel_cache/`). A file beside them
says that all of them are there, so that nobody looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...runtime.jit import on_first_compilation
from ...runtime.kernel_cache.cache_folder import is_all_compiled, is_cache_available, mark_all_compiled
from .small_scenes import all_scenes, free_fall_scene

OnEvent = Callable[[Mapping[str, Any]], None]

EXPECTED_ALL_SECONDS = 120  # of one core that does nothing else [s]
EXPECTED_BAKE_SECONDS = 20  # the same for those of most bakes


def compile_all(on_event: OnEvent) -> None:
    """Compiles all kernels that are not compiled yet; says so by a `compiling` event."""
    if is_all_compiled():
        return
    from .compile_brittle import compile_brittle
    from .compile_contact import compile_surface_contacts
    from .compile_coupled_bodies import compile_bound_bodies, compile_coupled_bodies
    from .compile_flesh import compile_flesh
    from .compile_joints import compile_joints
    from .compile_multigrid import compile_multigrid
    from .compile_small_scene import compile_small_scene

    on_event({"event": "compiling", "seconds_expected": EXPECTED_ALL_SECONDS})
    for scene in all_scenes():
        compile_small_scene(scene)
    compile_coupled_bodies()
    compile_bound_bodies()
    compile_joints()
    compile_brittle()
    compile_surface_contacts()
    compile_multigrid()
    for is_averaged in (False, True):
        compile_flesh(is_averaged)
    if is_cache_available():
        mark_all_compiled()


def load_kernels() -> None:
    """Loads the kernels of a body that falls, where all are compiled, so that the first step begins at once."""
    if is_all_compiled():
        from .compile_small_scene import compile_small_scene

        compile_small_scene(free_fall_scene())


@contextmanager
def announcing_compilation(on_event: OnEvent) -> Iterator[Callable[[], bool]]:
    """Says by a `compiling` event when a bake compiles its first kernel: a person has to wait for it.

    Yields a function that returns whether that was said.
    """
    said: list[bool] = []

    def say() -> None:
        said.append(True)
        on_event({"event": "compiling", "seconds_expected": EXPECTED_BAKE_SECONDS})

    with on_first_compilation(say):
        yield lambda: bool(said)
