# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of a few tets that run the kernels of larger ones: which features a scene has, and a small one with them."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np

from ...mechanics.heat import plasticity_of
from ...mechanics.self_weight_pressure import flesh_has_pressure, has_self_weight_pressure
from ...runtime.arrays import Floats
from ...scene.flesh import DYNAMIC, FLESH_TIME_SCHEMES, QUASISTATIC, Bone, Flesh
from ...scene.formulation import (
    DEFAULT_FORMULATION,
    FORMULATION_SWITCHES,
    GRAVITY_IN_SHAPE,
    unsupported_features,
    with_unread_defaults,
)
from ...scene.rigid_core import Core
from ...scene.scene import (
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
from ..attributes.attribute_fields import STRESS_ATTRIBUTES

CUBE_SPACING = 3.0  # between the small cubes, whose side is 1
CUBE_GAP = 0.05  # between two cubes of a body
MOLTEN_HEAT = Heat(temperature=100.0, melting_point=60.0)
NEARLY_INCOMPRESSIBLE_MATERIAL = Material(poisson_ratio=0.49)
SOFT_MATERIAL = Material(youngs_modulus=1.0e3)  # cannot stand one metre high


def full_feature_scene() -> Scene:
    """Returns a scene with every feature that has kernels of its own."""
    vertices, triangles = box(np.zeros(3), 1)
    pinned, weights = np.arange(2, dtype=np.int32), np.array([1.0, 0.5])
    plain = Body(vertices, triangles, key="", name="", pinned=pinned, pin_weights=weights, gravity_in_shape=True)
    methods = ("smooth", "robust", "given")
    laws = (None, *(Plasticity(law) for law in PLASTICITY_LAWS))
    bodies = tuple(
        dataclasses.replace(plain, key=method, meshing=Meshing(method), plasticity=law, attributes=STRESS_ATTRIBUTES)
        for method, law in zip(methods, laws, strict=True)
    )
    breaking = dataclasses.replace(plain, key="breaking", fracture=Fracture(), heat=MOLTEN_HEAT)
    soft = dataclasses.replace(plain, key="soft", gravity_in_shape=False, material=SOFT_MATERIAL)
    flesh = [
        dataclasses.replace(plain, key=f"flesh-{number}", flesh=kind, gravity_in_shape=False, material=material)
        for number, (kind, material) in enumerate(
            [
                (Flesh(), Material()),
                (Flesh(), NEARLY_INCOMPRESSIBLE_MATERIAL),
                *((Flesh(DYNAMIC, scheme=scheme), Material()) for scheme in FLESH_TIME_SCHEMES),
            ]
        )
    ]
    held = tuple(body.key for body in flesh)
    bones = (
        Bone("m", "m", vertices, triangles, bodies=held),
        Bone("l", "l", vertices[:2], triangles[:0], stiffness=100.0, bodies=held),
    )
    loose = Body(vertices, triangles, SOFT_MATERIAL, key="loose", name="", flesh=Flesh(DYNAMIC, keeps_volume=True))
    colliders = (Collider("p", "p", "plane"), Collider("m", "m", "mesh"))
    return Scene((*bodies, breaking, soft, *flesh, loose), colliders, heat_sources=(_heat_source(True),), bones=bones)


def free_fall_scene() -> Scene:
    """Returns a scene as most begin: a body that falls on the ground."""
    vertices, triangles = box(np.zeros(3), 1)
    return Scene((Body(vertices, triangles, key="falls", name=""),), (Collider("p", "p", "plane"),))


def pinned_scene() -> Scene:
    """Returns the other scene that most begin with: a body that is held, by some vertices softly."""
    held, weights = np.arange(2, dtype=np.int32), np.array([1.0, 0.5])
    body = dataclasses.replace(free_fall_scene().bodies[0], pinned=held, pin_weights=weights)
    return dataclasses.replace(free_fall_scene(), bodies=(body,))


def scene_features(scene: Scene) -> str:
    """Returns what decides which kernels a scene runs."""
    found = {f"{b.meshing.method} {b.meshing.interior_size}" for b in scene.bodies}
    weights = _all_weights(scene)
    found |= {"held"} if (weights >= 1.0).any() else set()
    found |= {"springs"} if (weights < 1.0).any() else set()
    found |= {"sag" for b in scene.bodies if b.gravity_in_shape}
    found |= {f"collider {c.shape}" for c in scene.colliders}
    found |= {f"plastic {law}" for law in map(_plastic_law, scene.bodies) if law}
    found |= {"fracture" for b in scene.bodies if b.fracture is not None}
    found |= {"heat" for b in scene.bodies if b.heat is not None}
    found |= {"heat source mesh" if len(source.triangles) else "heat source" for source in scene.heat_sources}
    found |= {_flesh_features(b) for b in scene.bodies if b.flesh is not None}
    found |= {_formulation_features(b) for b in scene.bodies if _formulation_features(b)}
    found |= {"weight pressure" for b in scene.bodies if _has_volume_pressure(b, scene)}
    found |= {"core" for b in scene.bodies if b.core is not None}
    found |= {f"bone {_bone_features(bone)}" for bone in scene.bones}
    found |= {"touching"} if may_collide(scene) else set()
    found |= {"stress" for b in scene.bodies if {*STRESS_ATTRIBUTES} & {*b.attributes}}
    return ", ".join(sorted(found)) + f", Python {sys.version_info.major}.{sys.version_info.minor}"


def reduced_scene(scene: Scene) -> Scene:
    """Returns a scene of a few tets with the same features, every body resting on every collider."""
    kinds = {(*_body_features(b), _has_volume_pressure(b, scene)): b for b in reversed(scene.bodies)}
    bodies = []
    for number, kind in enumerate(sorted(kinds)):
        vertices, triangles = _two_boxes(np.array([CUBE_SPACING * number, 0.0, 1.0e-4]))
        meshing = dataclasses.replace(kinds[kind].meshing, tet_size=0.25, memory_limit=None)
        nodes, tets = user_tets(kind[0], vertices, bool(kind[5] or kind[6] or kind[7]))
        body = Body(vertices, triangles, meshing=meshing, key=f"b{number}", name="warm-up", tet_nodes=nodes, tets=tets)
        plasticity = Plasticity(kind[2], yield_strain=0.0) if kind[2] else None
        attributes = STRESS_ATTRIBUTES if any({*STRESS_ATTRIBUTES} & {*b.attributes} for b in scene.bodies) else ()
        fracture, heat = Fracture() if kind[3] else None, MOLTEN_HEAT if kind[4] else None
        body = dataclasses.replace(body, plasticity=plasticity, fracture=fracture, heat=heat, attributes=attributes)
        if kind[7]:  # one half of it
            low = vertices[:, 0] < vertices[:, 0].mean()
            body = dataclasses.replace(body, core=Core(0.0, low.astype(np.float64)))
        body = _with_formulation(_with_flesh(_is_pinned(body, scene), kinds[kind]), kinds[kind])
        bodies.append(_soft(body) if kind[8] else body)
    colliders = [_collider(shape, len(bodies)) for shape in sorted({c.shape for c in scene.colliders})]
    sources = tuple(_heat_source(is_mesh) for is_mesh in sorted({len(s.triangles) > 0 for s in scene.heat_sources}))
    bones = tuple(_bone(words, bodies) for words in sorted({_bone_features(bone) for bone in scene.bones}))
    return Scene(tuple(bodies), tuple(colliders), Settings(frame_end=3, substeps=2), sources, bones)


def _soft(body: Body) -> Body:
    """Returns the body so soft that it keeps its volume by a pressure; flesh does where nothing holds it."""
    body = dataclasses.replace(
        body, material=dataclasses.replace(SOFT_MATERIAL, poisson_ratio=body.material.poisson_ratio)
    )
    if body.flesh is None:
        return dataclasses.replace(body, gravity_in_shape=False)
    flesh = dataclasses.replace(body.flesh, keeps_volume=True)
    return dataclasses.replace(body, flesh=flesh, pinned=body.pinned[:0], pin_weights=body.pin_weights[:0])


def _body_features(body: Body) -> tuple[str, int, str, bool, bool, str, str, bool]:
    """Returns what decides which kernels a body needs of its own."""
    has = body.fracture is not None, body.heat is not None
    words = _flesh_features(body), _formulation_features(body)
    return body.meshing.method, body.meshing.interior_size, _plastic_law(body), *has, *words, body.core is not None


def _has_volume_pressure(body: Body, scene: Scene) -> bool:
    """Whether a body keeps its volume by a pressure; where gravity is animated, as the settings have it."""
    gravity = np.asarray(scene.settings.gravity)
    return has_self_weight_pressure(body, gravity) or flesh_has_pressure(scene, body, gravity)


def _formulation_features(body: Body) -> str:
    """Returns what decides which kernels the method of a body needs, or "" where that is the default one."""
    method = with_unread_defaults(body.method)
    if body.flesh is not None or method == DEFAULT_FORMULATION:
        return ""
    switches = {switch: getattr(method, switch) for switch in FORMULATION_SWITCHES[method.name] if switch != "levels"}
    # how often or how far changes no kernel, but that it is not always or not once may
    return f"method {method.name} " + " ".join(
        f"{switch}={value if isinstance(value, bool | str) else value > 1}" for switch, value in switches.items()
    )


def _flesh_features(body: Body) -> str:
    """Returns what decides which kernels flesh needs, or "" for a body that is none."""
    flesh = body.flesh
    if flesh is None:
        return ""
    how = f"{flesh.motion} {flesh.scheme if flesh.motion == DYNAMIC else flesh.self_contact}"
    return f"flesh {how} {'averaged' if has_nodal_averages(body) else 'plain'}"


def has_nodal_averages(body: Body) -> bool:
    """Whether a body is nearly incompressible flesh."""
    if body.flesh is None:
        return False
    from ...mechanics.hyperelastic.nodal_gradients import MAX_UNAVERAGED_POISSON_RATIO

    return body.material.poisson_ratio > MAX_UNAVERAGED_POISSON_RATIO


def is_quasistatic(body: Body) -> bool:
    """Whether a body takes no steps."""
    return body.flesh is not None and body.flesh.motion == QUASISTATIC


def may_collide(scene: Scene) -> bool:
    """Whether bodies of a scene, or pieces of one, may meet each other or themselves in its steps."""
    moving = [body for body in scene.bodies if not is_quasistatic(body)]
    alone = any(body.collision.self_contact or body.fracture is not None for body in moving)
    return alone or (len(moving) > 0 and len(scene.bodies) > 1)


def _with_flesh(body: Body, asked: Body) -> Body:
    """Returns the body as flesh of the kind that another is; quasistatic flesh is pinned, so that it has a place."""
    if asked.flesh is None:
        return body
    flesh = Flesh(asked.flesh.motion, scheme=asked.flesh.scheme, self_contact=asked.flesh.self_contact)
    body = dataclasses.replace(body, flesh=flesh, gravity_in_shape=False)
    if has_nodal_averages(asked):
        body = dataclasses.replace(body, material=Material(poisson_ratio=asked.material.poisson_ratio))
    if len(body.pinned) or not is_quasistatic(body):
        return body
    top = np.flatnonzero(body.vertices[:, 2] > 1.0).astype(np.int32)
    return dataclasses.replace(body, pinned=top, pin_weights=np.ones(len(top)))


def _with_formulation(body: Body, asked: Body) -> Body:
    """Returns the body with the method of another, and without what that is not made for."""
    method = dataclasses.replace(
        with_unread_defaults(asked.method), levels=1
    )  # more make more tets, and run no other kernel
    return dataclasses.replace(
        body,
        method=method,
        gravity_in_shape=body.gravity_in_shape and GRAVITY_IN_SHAPE not in unsupported_features(method),
    )


def _bone_features(bone: Bone) -> str:
    kind = "mesh" if len(bone.triangles) else "line"
    return f"{kind} {'exact' if bone.stiffness is None else 'soft'}"


def _bone(words: str, bodies: list[Body]) -> Bone:
    """Returns a bone of a kind that reaches into all bodies."""
    kind, how = words.split()
    long = CUBE_SPACING * len(bodies)
    held = tuple(body.key for body in bodies if body.flesh is not None and not body.flesh.keeps_volume)
    vertices, triangles = box(np.zeros(3), 1)
    vertices = vertices * [long, 0.3, 0.2] - [0.5, 0.5, -0.9]
    if kind == "line":
        vertices, triangles = np.array([[-0.5, 0.5, 1.0], [long, 0.5, 1.0]]), np.zeros((0, 3), np.int32)
    # one tet around a cube has its nodes farther away
    distance = 0.3 if any(body.meshing.method != "given" for body in bodies) else 1.2
    stiffness = None if how == "exact" else 100.0
    return Bone(words.replace(" ", "-"), "warm-up", vertices, triangles, distance, stiffness, held)


def _heat_source(is_mesh: bool) -> HeatSource:
    vertices, triangles = box(np.zeros(3), 1) if is_mesh else (np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    return HeatSource("heat", "warm-up", vertices=vertices, triangles=triangles, radius=1.0)


def _plastic_law(body: Body) -> str:
    """Returns the law by which a body flows, or "" where it does not."""
    asked = plasticity_of(body)
    return asked.law if asked else ""


def _is_pinned(body: Body, scene: Scene) -> Body:
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
    vertices, triangles = box(np.zeros(3), 2)
    vertices = (vertices - [0.0, 0.0, 1.0]) * [CUBE_SPACING * bodies + 1.0, 2.0, 1.0] - [1.0, 0.5, 0.0]
    return Collider(shape, "warm-up", shape, vertices, triangles)


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


def user_tets(kind: str, vertices: np.ndarray, is_grid: bool) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Returns the nodes and tets of a body whose meshing is `kind`: one around it, or a grid in its place."""
    if kind != "given":
        return None, None
    if not is_grid:
        return enclosing_tet(vertices)
    cells, low = (3, 6, 3), vertices.min(axis=0)
    nodes, tets = grid_of_tets(cells)
    return low + nodes * (np.ptp(vertices, axis=0) / cells), tets
