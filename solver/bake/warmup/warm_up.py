# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles all kernels that a scene will need, once per machine, on a few tets with the same features.

Compiled kernels are kept on disk (`solver/runtime/jit.py`). A mark beside them says which features were compiled from
which sources, so that a person is told beforehand when it will take some seconds, and waits once and not in pieces.
"""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...runtime.kernel_cache.cache_folder import is_cache_available
from ...scene.scene import Scene
from ...scene.tracks import TrackReader
from ...simulation.build import AssembledScene
from ..cache.layout import SCENE_FOLDER
from .helper_process import MULTIGRID_STAGE, SOLVE_STAGE, STEPS_STAGE, CompilerProcess, start_compiler_process
from .small_scenes import has_nodal_averages, is_quasistatic, may_collide, reduced_scene, scene_features
from .stamps import compiled_features, mark_compiled

OnEvent = Callable[[Mapping[str, Any]], None]

EXPECTED_COMPILE_SECONDS = 10  # on two cores that do nothing else
EXTRA_CONTACT_COMPILE_SECONDS = 18


class BackgroundCompilation:
    """What is compiled beside a bake that has begun, by another process; nothing where all was compiled before."""

    def __init__(self, helper: CompilerProcess | None = None) -> None:
        """Compiles from now on, if there is somebody who helps."""
        self._helper = helper
        if helper is not None:
            gc.disable()  # what a compiler makes is needed to the end: 6 % of the time

    @property
    def is_compiling(self) -> bool:
        """Whether the first step has to wait for compiling."""
        return self._helper is not None

    def prepare_steps(self, tracks: TrackReader, built: AssembledScene | None = None) -> None:
        """Makes ready for steps; called when they are about to be taken, with what was built if it is."""
        if self._helper is None:
            return
        if built is not None:
            from .compile_scene import compile_contacts
            from .compile_step import compile_inelastic_step

            compile_contacts(built, tracks, True)
            self._helper.wait_for(SOLVE_STAGE)
            compile_inelastic_step()
        self._helper.wait_for(STEPS_STAGE)
        self._helper = None
        gc.enable()


@contextmanager
def compiling_during_bake(
    scene: Scene, folder: Path, helper: CompilerProcess | None, on_event: OnEvent, should_stop: Callable[[], bool]
) -> Iterator[BackgroundCompilation]:
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
    if is_cache_available() and is_compiled(scene):
        yield BackgroundCompilation()
        return
    on_event(_compiling_event(scene))
    helper = helper or start_compiler_process("beside", str(folder))
    if helper is None or not _can_start_at_once(scene):
        _compile_scene(scene, helper)
        yield BackgroundCompilation()
        return
    try:
        yield BackgroundCompilation(helper)
        helper.wait(should_stop)
    finally:
        gc.enable()
        helper.close()


def compile_for_running_bake(folder: Path, on_event: OnEvent) -> None:
    """Compiles for a bake that has begun: what steps need, dearest first, says so, and goes on with all else."""
    from .compile_multigrid import compile_multigrid
    from .compile_step import compile_active_set, compile_coupled_bodies, compile_solve, compile_step

    compile_solve()
    on_event({"event": SOLVE_STAGE})
    compile_step(is_held=False)
    on_event({"event": STEPS_STAGE})
    compile_step()
    compile_active_set()
    scene = Scene.load(folder / SCENE_FOLDER)
    if may_collide(scene):
        compile_coupled_bodies()
    elif _can_start_at_once(scene):
        from .compile_scene import compile_scene

        compile_multigrid()  # a stiff body needs them in its first step, before it meets anything
        compile_scene(reduced_scene(scene), lambda: None)
        mark_compiled(scene_features(scene))


def warm_up(scene: Scene, on_event: OnEvent) -> None:
    """Compiles what `scene` needs and is not compiled yet; says so by a `compiling` event."""
    if not (is_cache_available() and is_compiled(scene)):
        on_event(_compiling_event(scene))
        _compile_scene(scene, None)


def _compiling_event(scene: Scene) -> dict[str, Any]:
    """Returns the event that says that a scene has to wait for compiling."""
    expected = EXPECTED_COMPILE_SECONDS + (EXTRA_CONTACT_COMPILE_SECONDS if may_collide(scene) else 0)
    return {"event": "compiling", "seconds_expected": expected}


def _compile_scene(scene: Scene, helper: CompilerProcess | None) -> None:
    """Compiles all that a scene needs; a helper that is given compiles what steps need."""
    what = [each for each in _compiler_processes(scene) if helper is None or not each.startswith(STEPS_STAGE)]
    helpers = [helper, *map(start_compiler_process, what)]

    def wait() -> None:
        for each in helpers:
            if each is not None:
                each.wait()

    try:
        from .compile_multigrid import compile_multigrid
        from .compile_scene import compile_scene

        compile_scene(reduced_scene(scene), wait)
        if is_cache_available():
            compile_multigrid()  # where no other process has
            mark_compiled(scene_features(scene))
    except Exception:  # the bake itself will tell what is wrong, with the right names
        traceback.print_exc()
    finally:
        wait()


def is_compiled(scene: Scene) -> bool:
    """Whether all that a scene needs was compiled from the present sources, for it or for one with more features."""
    words = set(scene_features(scene).split(", "))
    return any(words <= compiled for compiled in compiled_features())


def load_kernels(scene: Scene) -> None:
    """Loads what is compiled for a scene, where all of it is, so that its first step begins at once."""
    if is_cache_available() and is_compiled(scene):
        from .compile_scene import compile_scene

        compile_scene(reduced_scene(scene), lambda: None)


def _can_start_at_once(scene: Scene) -> bool:
    """Whether a scene is one body that meets no other, and takes steps."""
    return _compiler_processes(scene) == [STEPS_STAGE, MULTIGRID_STAGE]


def _compiler_processes(scene: Scene) -> list[str]:
    """Returns what other processes compile while this one builds."""
    steps = [] if all(is_quasistatic(body) for body in scene.bodies) else [STEPS_STAGE]
    if may_collide(scene):
        # what finds contacts takes longer to compile than all else: what answers them is compiled beside it
        steps = ["steps-of-many", "touching"]
    flesh = [body for body in scene.bodies if body.flesh is not None]
    if flesh:
        steps.append("averaged-flesh" if any(map(has_nodal_averages, flesh)) else "flesh")
    return [*steps, MULTIGRID_STAGE]
