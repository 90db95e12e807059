# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of a few tets that together run every kernel, as bakes do with larger ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...constraints.stretch_limit import YIELDING_LAW
from ...runtime.arrays import Floats
from ...scene.attachment import SPRING, Attachment
from ...scene.contact import Collision
from ...scene.flesh import DYNAMIC, FLESH_MOTIONS, FLESH_TIME_SCHEMES, Bone, Flesh
from ...scene.force_fields import ForceField
from ...scene.formulation import (
    FORMULATION_SWITCHES,
    FORMULATIONS,
    GRAVITY_IN_SHAPE,
    SWITCH_VALUES,
    FormulationSettings,
    unsupported_features,
)
from ...scene.muscle import Muscle
from ...scene.pressure import Pressure
from ...scene.rigid_core import Core
from ...scene.scene import (
    EXACT_CONTACT,
    PLASTICITY_LAWS,
    Body,
    Collider,
    Fracture,
    Heat,
    HeatSource,
    Material,
    Meshing,
    Plasticity,
    Scene,
    Settings,
)
from ...scene.sheet import SHEET_LAWS, Sheet
from ...scene.stretch_limit import StretchLimit
from ..attributes.attribute_fields import STRESS_ATTRIBUTES

CUBE_SPACING = 3.0  # between bodies, each of two cubes whose side is 1
CUBE_GAP = 0.05  # between the two cubes of a body, which tets join
HEIGHT = 1.0e-4  # of bodies above the colliders
TET_SIZE = 0.25
MOLTEN_HEAT = Heat(temperature=100.0, melting_point=60.0)
NEARLY_INCOMPRESSIBLE_MATERIAL = Material(poisson_ratio=0.49)
SOFT_MATERIAL = Material(youngs_modulus=1.0e3)  # cannot stand one metre high
FILLS = ("smooth", "robust", "given")


def all_scenes() -> Iterator[Scene]:
    """Yields the scenes, those first that most bakes are like."""
    yield free_fall_scene()
    yield pinned_scene()
    yield _scene([_body(0, "falls")], (PLANE, _mesh_collider(1)))
    yield _scene([_body(0, "falls", collision=Collision(self_contact=True))], (PLANE,))
    yield _feature_scene()
    yield _adaptive_scene()
    yield _field_scene()
    yield _flesh_scene()
    yield _muscle_scene()
    yield _sheet_scene()
    yield _exact_scene()
    for method in _formulations():
        yield _formulation_scene(method)


def _exact_scene() -> Scene:
    """Returns two bodies on each other that Exact contact keeps apart, and flesh beside them that follows a pose."""
    bodies = [_body(number, f"exact {number}", collision=Collision(self_contact=True)) for number in range(2)]
    near = bodies[0].vertices + [0.0, 0.0, 1.0 + HEIGHT]
    bodies[1] = dataclasses.replace(bodies[1], vertices=near)
    soft = NEARLY_INCOMPRESSIBLE_MATERIAL
    bodies.append(_pinned(_body(2, "exact flesh", fill="given", is_grid=True, flesh=Flesh(), material=soft)))
    scene = _scene(bodies, (PLANE, _mesh_collider(1)))
    return dataclasses.replace(scene, settings=dataclasses.replace(scene.settings, contact=EXACT_CONTACT))


def _adaptive_scene() -> Scene:
    """Returns a body whose adaptive tets change their sizes."""
    meshing = Meshing("adaptive", tet_size=TET_SIZE, coarsest_size=2, refines_dynamically=True)
    body = dataclasses.replace(_body(0, "adaptive"), meshing=meshing)
    return _scene([_pinned(body)], (PLANE, _mesh_collider(1)))


def _field_scene() -> Scene:
    """Returns a scene of a field whose force comes from points, and that a collider absorbs."""
    absorbing = dataclasses.replace(_mesh_collider(1), absorption=0.5)
    corners = np.zeros((1, 3))
    fields = [ForceField(shape=shape, is_absorbed=True, vertices=corners) for shape in ("points", "line")]
    fields = [dataclasses.replace(each, key=each.shape) for each in fields]
    return dataclasses.replace(_scene([_body(0, "blown")], (absorbing,)), force_fields=tuple(fields))


def free_fall_scene() -> Scene:
    """Returns a scene as most begin: a body that falls on the ground."""
    return _scene([_body(0, "falls", stretch_limit=StretchLimit())], (PLANE,))


def pinned_scene() -> Scene:
    """Returns the other scene that most begin with: a body that is held, by some vertices softly."""
    return _scene([_pinned(_body(0, "hangs", stretch_limit=StretchLimit(1.0)))], (PLANE,))


def _feature_scene() -> Scene:
    """Returns bodies that meet each other and colliders, with every fill and all that is computed beside the steps."""
    laws = (None, *(Plasticity(law, yield_strain=0.0) for law in PLASTICITY_LAWS))
    bodies = [
        _pinned(_body(n, fill, fill=fill, plasticity=law, gravity_in_shape=True))
        for n, (fill, law) in enumerate(zip(FILLS, laws, strict=True))
    ]
    bodies.append(_body(3, "breaking", fracture=Fracture(), heat=MOLTEN_HEAT))
    bodies.append(_body(4, "soft", material=SOFT_MATERIAL))
    bodies.append(_body(5, "graded", interior_size=2))
    core = _body(6, "core", fill="given", is_grid=True)
    low = core.vertices[:, 0] < core.vertices[:, 0].mean()
    bodies.append(dataclasses.replace(core, core=Core(0.0, low.astype(np.float64))))
    sources = (_heat_source(False), _heat_source(True))
    return _scene(bodies, (PLANE, _mesh_collider(len(bodies))), sources)


def _flesh_scene() -> Scene:
    """Returns flesh at rest and in motion, held by bones of both kinds, and a piece that nothing holds."""
    kinds = [
        (Flesh(), Material()),
        (Flesh(), NEARLY_INCOMPRESSIBLE_MATERIAL),
        *((Flesh(DYNAMIC, scheme=scheme), Material()) for scheme in FLESH_TIME_SCHEMES),
        (Flesh(DYNAMIC), NEARLY_INCOMPRESSIBLE_MATERIAL),
    ]
    bodies = [
        _pinned(_body(n, f"flesh-{n}", fill="given", is_grid=True, flesh=flesh, material=material))
        for n, (flesh, material) in enumerate(kinds)
    ]
    limited = _body(
        len(bodies),
        "limited",
        fill="given",
        is_grid=True,
        flesh=Flesh(law=YIELDING_LAW),
        stretch_limit=StretchLimit(1.0),
    )
    bodies.append(_pinned(limited))
    bones = tuple(_bone(kind, bodies) for kind in ("line", "mesh"))
    loose = Flesh(DYNAMIC, keeps_volume=True)
    bodies.append(_body(len(bodies), "loose", fill="given", is_grid=True, flesh=loose, material=SOFT_MATERIAL))
    return _scene(bodies, (PLANE, _mesh_collider(len(bodies))), bones=bones)


def _muscle_scene() -> Scene:
    """Returns muscles of both motions, which pull between their ends."""
    bodies = []
    for number, motion in enumerate(FLESH_MOTIONS):
        body = _pinned(_body(number, f"muscle-{number}", flesh=Flesh(motion)))
        x = body.vertices[:, 0]
        ends = (x < x.min() + TET_SIZE).astype(float), (x > x.max() - TET_SIZE).astype(float)
        muscle = Muscle(0.5, *ends, origin_tendon=TET_SIZE, fascia_stiffness=1.0e3, fascia_depth=TET_SIZE)
        bodies.append(dataclasses.replace(body, muscle=muscle))
    return _scene(bodies, (PLANE,))


def _sheet_scene() -> Scene:
    """Returns sheets of every law, with strings: one is blown up on a slab, others are pinned, and attached to it."""
    string = np.array([[0, 1], [1, 2]], np.int32)
    bodies = [
        _body(n, f"sheet-{law}", fill="sheet", sheet=Sheet(0.01, law=law, strands=string), attributes=("velocity",))
        for n, law in enumerate(SHEET_LAWS)
    ]
    self_contact = Collision(self_contact=True)
    blown = dataclasses.replace(bodies[0], collision=self_contact, pressure=Pressure(10.0))
    rows = (Attachment("mesh", SPRING, 0.5),)
    held = [_pinned(dataclasses.replace(body, attachments=rows)) for body in bodies[1:]]
    tearing = _body(len(bodies), "tearing", fill="sheet", sheet=Sheet(0.01), attributes=("velocity",))
    tearing = dataclasses.replace(tearing, fracture=Fracture(), plasticity=Plasticity(yield_strain=0.0))
    return _scene([blown, *held, tearing], (PLANE, _mesh_collider(len(bodies))))


def _formulations() -> Iterator[FormulationSettings]:
    """Yields every formulation, and again with each of its switches thrown that changes which kernels run."""
    for name in FORMULATIONS:
        yield FormulationSettings(name)
        for switch in FORMULATION_SWITCHES[name]:
            if switch == "levels":
                continue  # more levels make more tets, and run no other kernel
            default: Any = getattr(FormulationSettings(name), switch)
            others: dict[type, tuple[Any, ...]] = {
                str: SWITCH_VALUES.get(switch, ())[1:], bool: (not default,), int: (2,)
            }  # fmt: skip
            yield from (FormulationSettings(name, **{switch: other}) for other in others[type(default)])


def _formulation_scene(method: FormulationSettings) -> Scene:
    """Returns a body of a formulation that is held, and one beside it that it may meet."""
    sags = GRAVITY_IN_SHAPE not in unsupported_features(method)
    first = _pinned(_body(0, "first", fill="given", is_grid=True, method=method, gravity_in_shape=sags))
    other = _body(1, "other", fill="given", is_grid=True, method=method)
    return _scene([first, other], (PLANE,))


def _scene(
    bodies: Sequence[Body],
    colliders: Sequence[Collider],
    heat_sources: Sequence[HeatSource] = (),
    bones: Sequence[Bone] = (),
) -> Scene:
    """Returns a scene of two frames to compute."""
    settings = Settings(frame_end=3, substeps=2)
    return Scene(tuple(bodies), tuple(colliders), settings, tuple(heat_sources), tuple(bones))


def _body(
    number: int, key: str, fill: str = "smooth", interior_size: int = 1, is_grid: bool = False, **settings: Any
) -> Body:
    """Returns two cubes that stand on the colliders, filled with tets, or given those of a grid or a single one."""
    vertices, triangles = _two_boxes(np.array([CUBE_SPACING * number, 0.0, HEIGHT]))
    nodes, tets = None, None
    if fill == "given":
        nodes, tets = _grid_around(vertices) if is_grid else enclosing_tet(vertices)
    meshing = Meshing(fill, tet_size=TET_SIZE, interior_size=interior_size)
    settings.setdefault("attributes", STRESS_ATTRIBUTES)
    return dataclasses.replace(
        Body(vertices, triangles, meshing=meshing, key=key, name="warm-up", tet_nodes=nodes, tets=tets), **settings
    )


def _pinned(body: Body) -> Body:
    """Returns the body held at its top, at every other vertex softly."""
    top = np.flatnonzero(body.vertices[:, 2] > 1.0).astype(np.int32)
    return dataclasses.replace(body, pinned=top, pin_weights=np.resize(np.array([1.0, 0.5]), len(top)))


PLANE = Collider("plane", "warm-up", "plane")


def _mesh_collider(bodies: int) -> Collider:
    """Returns a slab below so many bodies."""
    vertices, triangles = box(np.zeros(3), 2)
    vertices = (vertices - [0.0, 0.0, 1.0]) * [CUBE_SPACING * bodies + 1.0, 2.0, 1.0] - [1.0, 0.5, 0.0]
    return Collider("mesh", "warm-up", "mesh", vertices, triangles)


def _bone(kind: str, bodies: Sequence[Body]) -> Bone:
    """Returns a bone through all bodies: a mesh that holds exactly, or a line that holds by springs."""
    length, keys = CUBE_SPACING * len(bodies), tuple(body.key for body in bodies)
    if kind == "line":
        ends = np.array([[-0.5, 0.5, 1.0], [length, 0.5, 1.0]])
        return Bone("line", "warm-up", ends, np.zeros((0, 3), np.int32), 0.3, 100.0, keys)
    vertices, triangles = box(np.zeros(3), 1)
    return Bone("mesh", "warm-up", vertices * [length, 0.3, 0.2] - [0.5, 0.5, -0.9], triangles, 0.3, None, keys)


def _heat_source(is_mesh: bool) -> HeatSource:
    vertices, triangles = box(np.zeros(3), 1) if is_mesh else (np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    return HeatSource("heat", "warm-up", vertices=vertices, triangles=triangles, radius=1.0)


def box(corner: np.ndarray, divisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns a closed unit cube at `corner`, its sides cut into squares."""
    count = divisions + 1
    u, v = (
        grid.ravel() / divisions
        for grid in np.meshgrid(np.arange(count, dtype=np.int64), np.arange(count, dtype=np.int64), indexing="ij")
    )
    first = np.array([i * count + j for i in range(divisions) for j in range(divisions)], np.int64)
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
    first, triangles = box(corner, 4)
    second, _ = box(corner + [0.0, 1.0 + CUBE_GAP, 0.0], 4)
    return np.concatenate([first, second]), np.concatenate([triangles, triangles + len(first)])


def enclosing_tet(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns a tet around a cube that stands on its lowest face."""
    low = vertices.min(axis=0)
    nodes = low + np.array([[-1.0, -1.0, 0.0], [5.0, -1.0, 0.0], [-1.0, 5.0, 0.0], [-1.0, -1.0, 6.0]])
    return nodes, np.array([[0, 1, 2, 3]], np.int32)


def grid_of_tets(cells: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Returns nodes, one unit apart, and tets, six a cell, of a grid of so many cells along each axis."""
    counts = np.array(cells, np.int64) + 1
    grid = np.stack(
        np.meshgrid(*(np.arange(count, dtype=np.int64) for count in counts), indexing="ij"), axis=-1
    ).reshape(-1, 3)
    steps = np.array([counts[1] * counts[2], counts[2], 1], np.int64)
    first = grid[(grid < cells).all(axis=1)] @ steps
    walks = [
        np.cumsum(steps[list(order)], dtype=np.int64)
        for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0])
    ]
    tets = np.concatenate([first[:, None] + [0, *walk] for walk in walks])
    mirrored = tets[3 * len(first) :, [0, 2, 1, 3]]
    return grid.astype(np.float64), np.concatenate([tets[: 3 * len(first)], mirrored]).astype(np.int32)


def _grid_around(vertices: Floats) -> tuple[Floats, np.ndarray]:
    """Returns nodes and tets of a grid in the place of two cubes."""
    cells, low = (3, 6, 3), vertices.min(axis=0)
    nodes, tets = grid_of_tets(cells)
    return low + nodes * (np.ptp(vertices, axis=0) / cells), tets
