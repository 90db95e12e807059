# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles all kernels that a scene will need, once per machine, on a few tets with the same features.

Compiled kernels are kept on disk (`jit.py`). A mark beside them says which features were compiled from which
sources, so that a person is told beforehand when it will take some seconds, and waits once and not in pieces.
"""

from __future__ import annotations

import gc
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .advance import advance_frame, begin_frame, render_positions
from .attributes.fields import fields
from .build import Built, build
from .cache.layout import SCENE_FOLDER
from .contact.response import ContactStep
from .contact.touching import Place
from .cutting.cut import check_covered
from .cutting.ears import cut_ears
from .elements.linear_pull import add_linear_pull
from .elements.own_strain import own_strain
from .elements.record import PLAIN
from .fracture.crumbs import leaves_crumb
from .fracture.splits import plane_normals
from .integrators.bdf2 import bodies_by_bdf2
from .kernel_cache import is_cached
from .linear.pcg import solve
from .linear.tet_products import DAMPED, STIFF, TetProducts
from .model import Model
from .object_space import take_back
from .present_topology import broken_up
from .scene import Scene
from .simulation import Simulation
from .tracks import TrackReader
from .warm_marks import mark, marked
from .warm_process import SOLVE, STEPS, Helper, compile_elsewhere
from .warm_scene import box, features, is_averaged, is_resting, one_tet, small, touches
from .warm_step import compile_between, compile_pairs, compile_settling, compile_solve, compile_step

OnEvent = Callable[[Mapping[str, Any]], None]

SECONDS_EXPECTED = 10  # on two cores that do nothing else
MORE_IF_TOUCHING = 13


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
            _compile_contacts(built, tracks, True)
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
    if helper is None or _elsewhere(scene) != [STEPS]:
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
    compile_solve()
    on_event({"event": SOLVE})
    compile_step(is_held=False)
    on_event({"event": STEPS})
    compile_step()
    compile_settling()
    scene = Scene.load(folder / SCENE_FOLDER)
    if touches(scene):
        compile_pairs()
    elif _elsewhere(scene) == [STEPS]:
        _run(small(scene), lambda: None)
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
        _run(small(scene), wait)
        if is_cached():
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
        _run(small(scene), lambda: None)


def _elsewhere(scene: Scene) -> list[str]:
    """Returns what other processes compile while this one builds."""
    steps = [] if all(is_resting(body) for body in scene.bodies) else [STEPS]
    if touches(scene):
        # what finds contacts takes longer to compile than all else: what answers them is compiled beside it
        steps = ["steps-of-many", "touching"]
    if all(body.flesh is None for body in scene.bodies):
        return steps
    return [*steps, "averaged-flesh" if any(is_averaged(body) for body in scene.bodies) else "flesh"]


def _run(scene: Scene, before_steps: Callable[[], None]) -> None:
    """Builds and simulates; `before_steps` is called when the kernels of a step are about to be needed."""

    def on_stage(stage: str, body: str) -> None:
        if stage == "rest":
            before_steps()

    with tempfile.TemporaryDirectory(prefix="sinew-warm-up-") as folder:
        tracks = TrackReader(Path(folder), wait=0.0)
        built = build(scene, tracks, on_stage)
        _compile_contacts(built, tracks, not touches(scene))
        before_steps()
        _compile_extrapolating(built)
        simulation = Simulation(scene, tracks, built, built.initial)
        begin_frame(simulation)
        for frame in range(scene.settings.frame_start + 1, scene.settings.frame_end + 1):
            advance_frame(simulation, frame, lambda positions: None)
        _compile_touching(simulation)
        _compile_methods(simulation)
        _compile_breaking(simulation)
        render_positions(simulation.built, simulation.state)
        fields(simulation, scene.bodies[0].attributes)


def _compile_contacts(built: Built, tracks: TrackReader, is_alone: bool) -> None:
    """Compiles what a step needs before and after it solves, while the other process compiles the solve.

    Where bodies may meet, contacts have skins, and another process compiles what answers them (`is_alone` is False).
    """
    state, dt = built.initial.copy(), 0.01
    render_positions(built, state)
    take_back(np.zeros((1, 3)), np.zeros(3), np.eye(3), np.zeros((1, 3), np.float32))
    if not built.colliders:
        return
    places = [Place(c, np.vstack([c.pose(tracks, 0.0), c.pose(tracks, dt)])) for c in built.colliders]
    contacts = ContactStep(built.contact_points, places, built.model, state, None, np.array([0.0, 0.0, -9.81]), dt)
    if is_alone:
        contacts.act()
        contacts.update(state.x)
        contacts.remember(state)


def _compile_extrapolating(built: Built) -> None:
    """Compiles what steps by BDF2 need beside those by implicit Euler, which bodies that lie on something take."""
    model = built.model
    if len(bodies_by_bdf2(model)):
        add_linear_pull(0.0, np.zeros((model.node_count, 3)), model.tets, np.zeros((model.tet_count, PLAIN)))


def _compile_touching(simulation: Simulation) -> None:
    """Compiles what runs when flesh meets flesh: lays one half of every body into the other."""
    flesh = simulation.built.flesh.quasistatic if simulation.built.flesh else None
    if flesh is None or flesh.contact is None:
        return
    x = flesh.model.X.copy()
    for body in flesh.model.bodies:
        own = x[body.nodes]
        middle = 0.5 * (own[:, 1].min() + own[:, 1].max())
        own[own[:, 1] > middle, 1] -= 0.8 * (middle - own[:, 1].min())
    values, force = np.zeros((flesh.model.pattern.block_count, 9)), np.zeros_like(x)
    touching = flesh.contact.at(simulation.tracks, 0.0, x)
    touching.add(x, values, force)
    touching.energy(x)


def _compile_methods(simulation: Simulation) -> None:
    """Compiles what runs when bodies of other methods are weighed in contacts, or are free without a matrix."""
    model = simulation.built.model
    for body in model.bodies:
        own_strain(model, body.tets, simulation.state.x)
    if any(method.is_matrix_free for method in model.methods):
        v = np.zeros((model.node_count, 3))
        TetProducts(model.tets[:1], np.zeros((1, STIFF)), np.zeros((1, DAMPED))).add_to(v, v.copy())


def _compile_breaking(simulation: Simulation) -> None:
    """Compiles what runs when something breaks: parts all tets of bodies that may."""
    built, state = simulation.built, simulation.state
    whole = built.whole or built
    if whole.fracture is not None:
        plane_normals(built.model, state.x, np.zeros(1, np.int32))
        across, material = whole.fracture.neighbours.tet, whole.fracture.material
        leaves_crumb(np.zeros(1, np.int32), across, across >= 0, material, 0.0)
        model = broken_up(whole, across >= 0).built.model
        _compile_crumbs(model)
        _compile_cutting()


def _compile_crumbs(model: Model) -> None:
    """Compiles what solves the systems of pieces of a few nodes."""
    pattern, b = model.pattern, np.zeros((model.node_count, 3))
    solve(pattern, np.zeros((pattern.block_count, 9)), b, np.ones(len(b), bool), b.copy(), 1.0, 1)


def _compile_cutting() -> None:
    """Compiles what cuts the render mesh: finds a cube inside a tet, and fills a square."""
    vertices, triangles = box(np.zeros(3), 1)
    nodes, tets = one_tet(vertices)
    check_covered(nodes - [0.0, 0.0, 0.5], tets, vertices, triangles, "warm-up")
    cut_ears(np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]]), np.arange(4))
