# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles all kernels that a scene will need, once per machine, on a few tets with the same features.

Compiled kernels are kept on disk (`jit.py`). A mark beside them says which features were compiled from which
sources, so that a person is told beforehand when it will take some seconds, and waits once and not in pieces.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .advance import advance_frame, render_positions
from .arrays import Floats, digest
from .attributes.fields import STRESSES, fields
from .build import Built, build
from .contact.response import ContactStep
from .contact.touching import Place
from .cutting.cut import check_covered
from .cutting.ears import cut_ears
from .fracture.splits import plane_normals
from .heat import plasticity_of
from .jit import PACKAGE, cache_root, is_cached
from .present_topology import broken_up
from .scene import LAWS, Body, Collider, Fracture, Heat, HeatSource, Meshing, Plasticity, Scene, Settings
from .simulation import Simulation
from .tracks import TrackReader
from .warm_step import compile_assembly, compile_step_elsewhere, wait_for

SECONDS_EXPECTED = 10
SPACING = 3.0  # between the small cubes, whose side is 1
GAP = 0.05  # between two cubes of a body
MOLTEN = Heat(temperature=100.0, melting_point=60.0)


def warm_up(scene: Scene, on_event: Callable[[Mapping[str, Any]], None]) -> None:
    """Compiles what `scene` needs and is not compiled yet; says so by a `compiling` event."""
    mark = cache_root() / f"warm-{_sources()[:16]}-{digest([features(scene)])[:16]}"
    if is_cached() and mark.exists():
        return
    on_event({"event": "compiling", "seconds_expected": SECONDS_EXPECTED})
    helper = compile_step_elsewhere()
    try:
        _run(small(scene), lambda: wait_for(helper))
        if is_cached():
            mark.touch()
    except Exception:  # the bake itself will tell what is wrong, with the right names
        traceback.print_exc()
    finally:
        wait_for(helper)


def everything() -> Scene:
    """Returns a scene with every feature that has kernels of its own."""
    vertices, triangles = _box(np.zeros(3), 1)
    pinned, weights = np.arange(2, dtype=np.int32), np.array([1.0, 0.5])
    plain = Body("", "", vertices, triangles, pinned=pinned, pin_weights=weights, gravity_in_shape=True)
    methods = ("smooth", "robust", "given")
    laws = (None, *(Plasticity(law) for law in LAWS))
    bodies = tuple(
        dataclasses.replace(plain, key=method, meshing=Meshing(method), plasticity=law, attributes=STRESSES)
        for method, law in zip(methods, laws, strict=True)
    )
    breaking = dataclasses.replace(plain, key="breaking", fracture=Fracture(), heat=MOLTEN)
    colliders = (Collider("p", "p", "plane"), Collider("m", "m", "mesh"))
    return Scene((*bodies, breaking), colliders, heat_sources=(_source(True),))


def features(scene: Scene) -> str:
    """Returns what decides which kernels a scene runs."""
    found = {f"{b.meshing.method} {b.meshing.interior_size}" for b in scene.bodies}
    weights = _all_weights(scene)
    found |= {"held"} if (weights >= 1.0).any() else set()
    found |= {"springs"} if (weights < 1.0).any() else set()
    found |= {"sag" for b in scene.bodies if b.gravity_in_shape}
    found |= {f"collider {c.shape}" for c in scene.colliders}
    found |= {f"plastic {law}" for law in map(_law, scene.bodies) if law}
    found |= {"fracture" for b in scene.bodies if b.fracture is not None}
    found |= {"heat" for b in scene.bodies if b.heat is not None}
    found |= {"heat source mesh" if len(source.triangles) else "heat source" for source in scene.heat_sources}
    found |= {"stress" for b in scene.bodies if {*STRESSES} & {*b.attributes}}
    return ", ".join(sorted(found)) + f", Python {sys.version_info.major}.{sys.version_info.minor}"


def small(scene: Scene) -> Scene:
    """Returns a scene of a few tets with the same features, every body resting on every collider."""
    kinds = {_kind(b): b for b in reversed(scene.bodies)}
    bodies = []
    for number, kind in enumerate(sorted(kinds)):
        vertices, triangles = _two_boxes(np.array([SPACING * number, 0.0, 1.0e-4]))
        meshing = dataclasses.replace(kinds[kind].meshing, tet_size=0.25, memory_limit=None)
        nodes, tets = _one_tet(vertices) if kind[0] == "given" else (None, None)
        body = Body(f"b{number}", "warm-up", vertices, triangles, meshing=meshing, tet_nodes=nodes, tets=tets)
        plasticity = Plasticity(kind[2], yield_strain=0.0) if kind[2] else None
        attributes = STRESSES if any({*STRESSES} & {*b.attributes} for b in scene.bodies) else ()
        fracture, heat = Fracture() if kind[3] else None, MOLTEN if kind[4] else None
        body = dataclasses.replace(body, plasticity=plasticity, fracture=fracture, heat=heat, attributes=attributes)
        bodies.append(_pinned(body, scene))
    colliders = [_collider(shape, len(bodies)) for shape in sorted({c.shape for c in scene.colliders})]
    sources = tuple(_source(is_mesh) for is_mesh in sorted({len(s.triangles) > 0 for s in scene.heat_sources}))
    return Scene(tuple(bodies), tuple(colliders), Settings(frame_end=3, substeps=2), sources)


def _kind(body: Body) -> tuple[str, int, str, bool, bool]:
    """Returns what decides which kernels a body needs of its own."""
    has = body.fracture is not None, body.heat is not None
    return body.meshing.method, body.meshing.interior_size, _law(body), *has


def _source(is_mesh: bool) -> HeatSource:
    vertices, triangles = _box(np.zeros(3), 1) if is_mesh else (np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    return HeatSource("heat", "warm-up", vertices=vertices, triangles=triangles, radius=1.0)


def _law(body: Body) -> str:
    """Returns the law by which a body flows, or "" where it does not."""
    asked = plasticity_of(body)
    return asked.law if asked else ""


def _pinned(body: Body, scene: Scene) -> Body:
    top = np.flatnonzero(body.vertices[:, 2] > 1.0).astype(np.int32)
    weights = _all_weights(scene)
    kinds = [value for value, is_used in ((1.0, (weights >= 1.0).any()), (0.5, (weights < 1.0).any())) if is_used]
    sags = any(b.gravity_in_shape for b in scene.bodies)
    if not kinds:
        return dataclasses.replace(body, gravity_in_shape=sags)
    return dataclasses.replace(
        body, pinned=top, pin_weights=np.resize(np.array(kinds), len(top)), gravity_in_shape=sags
    )


def _all_weights(scene: Scene) -> Floats:
    return np.concatenate([w for b in scene.bodies for w in (b.pin_weights, b.attached_weights)])


def _collider(shape: str, bodies: int) -> Collider:
    if shape != "mesh":
        return Collider(shape, "warm-up", shape)
    vertices, triangles = _box(np.zeros(3), 2)
    vertices = (vertices - [0.0, 0.0, 1.0]) * [SPACING * bodies + 1.0, 2.0, 1.0] - [1.0, 0.5, 0.0]
    return Collider(shape, "warm-up", shape, vertices, triangles)


def _box(corner: np.ndarray, divisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns a closed unit cube at `corner`, its sides cut into squares."""
    count = divisions + 1
    u, v = (grid.ravel() / divisions for grid in np.meshgrid(np.arange(count), np.arange(count), indexing="ij"))
    first = np.array([i * count + j for i in range(divisions) for j in range(divisions)])
    square = np.concatenate([first[:, None] + [0, count, count + 1], first[:, None] + [0, count + 1, 1]])
    vertices: list[np.ndarray] = []
    triangles: list[np.ndarray] = []
    for axis in range(3):
        for side in (0.0, 1.0):
            sheet = np.empty((count * count, 3))
            sheet[:, axis], sheet[:, (axis + 1) % 3], sheet[:, (axis + 2) % 3] = side, u, v
            triangles.append((square if side else square[:, ::-1]) + len(vertices) * count * count)
            vertices.append(sheet)
    points, inverse = np.unique(np.concatenate(vertices).round(9), axis=0, return_inverse=True)
    return points + corner, inverse.ravel()[np.concatenate(triangles)].astype(np.int32)


def _two_boxes(corner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns two cubes so close together that tets join them."""
    first, triangles = _box(corner, 4)
    second, _ = _box(corner + [0.0, 1.0 + GAP, 0.0], 4)
    return np.concatenate([first, second]), np.concatenate([triangles, triangles + len(first)])


def _one_tet(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns a tet around a cube that stands on its lowest face."""
    low = vertices.min(axis=0)
    nodes = low + np.array([[-1.0, -1.0, 0.0], [5.0, -1.0, 0.0], [-1.0, 5.0, 0.0], [-1.0, -1.0, 6.0]])
    return nodes, np.array([[0, 1, 2, 3]], np.int32)


def _run(scene: Scene, before_steps: Callable[[], None]) -> None:
    """Builds and simulates; `before_steps` is called when the kernels of a step are about to be needed."""

    def on_stage(stage: str, body: str) -> None:
        if stage == "rest":
            before_steps()

    with tempfile.TemporaryDirectory(prefix="sinew-warm-up-") as folder:
        tracks = TrackReader(Path(folder), wait=0.0)
        built = build(scene, tracks, on_stage)
        _compile_contacts(built, tracks)
        compile_assembly()
        before_steps()
        simulation = Simulation(scene, tracks, built, built.initial)
        for frame in range(scene.settings.frame_start + 1, scene.settings.frame_end + 1):
            advance_frame(simulation, frame, lambda positions: None)
        _compile_breaking(simulation)
        render_positions(simulation.built, simulation.state)
        fields(simulation, scene.bodies[0].attributes)


def _compile_contacts(built: Built, tracks: TrackReader) -> None:
    """Compiles what a step needs before it solves, while the other process compiles the solve."""
    state, dt = built.initial.copy(), 0.01
    render_positions(built, state)
    places = [Place(c, np.vstack([c.pose(tracks, 0.0), c.pose(tracks, dt)])) for c in built.colliders]
    ContactStep(built.contact_points, places, built.model, state, None, np.array([0.0, 0.0, -9.81]), dt)


def _compile_breaking(simulation: Simulation) -> None:
    """Compiles what runs when something breaks: parts all tets of bodies that may."""
    built, state = simulation.built, simulation.state
    whole = built.whole or built
    if whole.fracture is not None:
        plane_normals(built.model, state.x, np.zeros(1, np.int32))
        broken_up(whole, whole.fracture.neighbours.tet >= 0)
        _compile_cutting()


def _compile_cutting() -> None:
    """Compiles what cuts the render mesh: finds a cube inside a tet, and fills a square."""
    vertices, triangles = _box(np.zeros(3), 1)
    nodes, tets = _one_tet(vertices)
    check_covered(nodes - [0.0, 0.0, 0.5], tets, vertices, triangles, "warm-up")
    cut_ears(np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]]), np.arange(4))


def _sources() -> str:
    """Returns 64 hex digits of all sources with kernels."""
    read = {file: file.read_bytes() for file in sorted(PACKAGE.rglob("*.py"))}
    kernels = [(file, data) for file, data in read.items() if b"@kernel" in data]
    return digest([part for file, data in kernels for part in (file.relative_to(PACKAGE).as_posix(), data)])
