# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles all kernels that a scene will need, once per machine, on a few tets with the same features.

Compiled kernels are kept on disk (`jit.py`). A mark beside them says which features were compiled from which
sources, so that a person is told beforehand when it will take some seconds, and waits once and not in pieces.
"""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .build import Built
from .cache.layout import SCENE_FOLDER
from .kernel_cache import is_cached
from .scene import Scene
from .tracks import TrackReader
from .warm_marks import mark, marked
from .warm_process import LEVELS, SOLVE, STEPS, Helper, compile_elsewhere
from .warm_scene import features, is_averaged, is_resting, small, touches

OnEvent = Callable[[Mapping[str, Any]], None]

SECONDS_EXPECTED = 10  # on two cores that do nothing else
MORE_IF_TOUCHING = 18


class Beside:
    """What is compiled beside a bake that has begun, by another process; nothing where all was compiled before."""

    def __init__(self, helper: Helper | None = None) -> None:
        """Compiles from now on, if there is somebody who helps."""
        self._helper = helper
        if helper is not None:
            gc.disable()  # what a compiler makes is needed to the end: 6 % of the time

    @property
    def is_compiling(self) -> bool:
        """Whether the first step has to wait for compiling."""
        return self._helper is not None

    def ready(self, tracks: TrackReader, built: Built | None = None) -> None:
        """Makes ready for steps; called when they are about to be taken, with what was built if it is."""
        if self._helper is None:
            return
        if built is not None:
            from .warm_bake import compile_contacts
            from .warm_step import compile_between

            compile_contacts(built, tracks, True)
            self._helper.wait_for(SOLVE)
            compile_between()
        self._helper.wait_for(STEPS)
        self._helper = None
        gc.enable()


@contextmanager
def compiled_beside(
    scene: Scene, folder: Path, helper: Helper | None, on_event: OnEvent, should_stop: Callable[[], bool]
) -> Iterator[Beside]:
    """Lets a bake begin although not all that it needs is compiled, and waits at its end until all is.

    One body that meets no other begins at once: what fills it is compiled as it is needed, what steps need by another
    process meanwhile, and what most bakes need later, such as contacts that push, when frames are coming already. For
    all other scenes everything is compiled first.

    Args:
        scene, folder: The scene and the cache that it is in.
        helper: The other process, if it has been started; None: it has not.
        on_event: Told by a `compiling` event that a person will have to wait.
        should_stop: Whether not to wait at the end.
    """
    if is_cached() and is_compiled(scene):
        yield Beside()
        return
    on_event(_compiling(scene))
    helper = helper or compile_elsewhere("beside", str(folder))
    if helper is None or not _begins_at_once(scene):
        _warm_up(scene, helper)
        yield Beside()
        return
    try:
        yield Beside(helper)
        helper.wait(should_stop)
    finally:
        gc.enable()
        helper.close()


def compile_beside(folder: Path, on_event: OnEvent) -> None:
    """Compiles for a bake that has begun: what steps need, dearest first, says so, and goes on with all else."""
    from .warm_levels import compile_levels
    from .warm_step import compile_pairs, compile_settling, compile_solve, compile_step

    compile_solve()
    on_event({"event": SOLVE})
    compile_step(is_held=False)
    on_event({"event": STEPS})
    compile_step()
    compile_settling()
    scene = Scene.load(folder / SCENE_FOLDER)
    if touches(scene):
        compile_pairs()
    elif _begins_at_once(scene):
        from .warm_bake import run

        compile_levels()  # a stiff body needs them in its first step, before it meets anything
        run(small(scene), lambda: None)
        mark(features(scene))


def warm_up(scene: Scene, on_event: OnEvent) -> None:
    """Compiles what `scene` needs and is not compiled yet; says so by a `compiling` event."""
    if not (is_cached() and is_compiled(scene)):
        on_event(_compiling(scene))
        _warm_up(scene, None)


def _compiling(scene: Scene) -> dict[str, Any]:
    """Returns the event that says that a scene has to wait for compiling."""
    expected = SECONDS_EXPECTED + (MORE_IF_TOUCHING if touches(scene) else 0)
    return {"event": "compiling", "seconds_expected": expected}


def _warm_up(scene: Scene, helper: Helper | None) -> None:
    """Compiles all that a scene needs; a helper that is given compiles what steps need."""
    what = [each for each in _elsewhere(scene) if helper is None or not each.startswith(STEPS)]
    helpers = [helper, *map(compile_elsewhere, what)]

    def wait() -> None:
        for each in helpers:
            if each is not None:
                each.wait()

    try:
        from .warm_bake import run
        from .warm_levels import compile_levels

        run(small(scene), wait)
        if is_cached():
            compile_levels()  # where no other process has
            mark(features(scene))
    except Exception:  # the bake itself will tell what is wrong, with the right names
        traceback.print_exc()
    finally:
        wait()


def is_compiled(scene: Scene) -> bool:
    """Whether all that a scene needs was compiled from the present sources, for it or for one with more features."""
    words = set(features(scene).split(", "))
    return any(words <= compiled for compiled in marked())


def load(scene: Scene) -> None:
    """Loads what is compiled for a scene, where all of it is, so that its first step begins at once."""
    if is_cached() and is_compiled(scene):
        from .warm_bake import run

        run(small(scene), lambda: None)


def _begins_at_once(scene: Scene) -> bool:
    """Whether a scene is one body that meets no other, and takes steps."""
    return _elsewhere(scene) == [STEPS, LEVELS]


def _elsewhere(scene: Scene) -> list[str]:
    """Returns what other processes compile while this one builds."""
    steps = [] if all(is_resting(body) for body in scene.bodies) else [STEPS]
    if touches(scene):
        # what finds contacts takes longer to compile than all else: what answers them is compiled beside it
        steps = ["steps-of-many", "touching"]
    flesh = [body for body in scene.bodies if body.flesh is not None]
    if flesh:
        steps.append("averaged-flesh" if any(map(is_averaged, flesh)) else "flesh")
    return [*steps, LEVELS]
