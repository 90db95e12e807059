# SPDX-License-Identifier: GPL-3.0-or-later
"""From what is asked for to what can be simulated: tets, bindings, pins, contacts, one model, one first state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ..constraints.pins import BodyPins, make_pins
from ..constraints.rest_shape_animation import make_reshaped
from ..constraints.rigid_core import check_cores, find_core
from ..constraints.rigid_core.core_drivers import make_core_springs
from ..contact.colliders.build_colliders import BuiltCollider, build_collider, posed_collider
from ..contact.colliders.deforming_collider import DeformingCollider, build_deforming, has_vertex_track, is_active
from ..contact.detection.contact_points import ContactPoints, contact_points, make_contact_materials, sample_surface
from ..contact.initial.initial_contacts import initialize_contacts
from ..contact.initial.initial_penetration import check_enclosed_colliders, check_initial_penetration
from ..contact.initial.initial_support import find_support_contacts
from ..contact.surfaces.build_surfaces import make_collision_surfaces
from ..mechanics.heat import air_temperature_at, heat_warnings, make_heat
from ..mechanics.linear_elasticity import youngs_modulus
from ..mechanics.model import Model, Part, make_model
from ..mechanics.plasticity import make_plastic
from ..mechanics.self_weight_pressure import pressure_of_flesh, with_pressure_modulus
from ..mechanics.state import State
from ..mesh import tetrahedralize as meshing
from ..mesh.embedding import Binding, bind
from ..mesh.geometry.triangle_surface import Surface, make_surface
from ..mesh.red_refinement import recover_levels
from ..mesh.separate_coincident_vertices import separate_coincident_vertices
from ..mesh.tet_mesh import TetMesh
from ..mesh.tetrahedralize.estimate import check_refined_estimate
from ..mesh.tetrahedralize.fill_warnings import fill_warnings
from ..mesh.tetrahedralize.refine import refine
from ..mesh.tetrahedralize.user_tets import user_tets
from ..runtime.arrays import Floats, floats, indices
from ..runtime.errors import BadInput, SinewError
from ..scene.formulation import (
    HIERARCHICAL,
    NEWTON_FORMULATIONS,
    FormulationSettings,
    refinement_factor,
    with_unread_defaults,
)
from ..scene.gravity import gravity_at
from ..scene.scene import Body, Scene
from ..scene.self_weight import self_weight_warnings
from ..scene.tracks import TrackReader
from ..scene.validation import check_scene
from .assembled_scene import AssembledBody, AssembledScene
from .fracture.breakable_bodies import make_fracture
from .fracture.fragment_surfaces import make_fragment_surfaces
from .fracture.node_duplication import separate_hinges
from .sag_free import make_sag_free

OnStage = Callable[[str, str], None]


def build(
    scene: Scene,
    tracks: TrackReader,
    on_stage: OnStage,
    stored: Mapping[str, tuple[TetMesh, Binding]] | None = None,
) -> AssembledScene:
    """Returns the simulation that a scene asks for.

    Args:
        scene: What is asked for.
        tracks: Its animated inputs.
        on_stage: Called with ("tetrahedralize", "bind" or "rest", name of the body) before that is done.
        stored: Tets and bindings by key that an earlier bake made; a resumed one goes on with just these.

    Raises:
        BadInput: Something cannot be simulated; the sentence names it.
    """
    check_scene(scene)
    _check_bones(scene)
    check_cores(scene, tracks)
    colliders, deforming = _colliders(scene, tracks)
    surfaces, meshes = [], []
    for body in scene.bodies:
        surfaces.append(make_surface(body.vertices, body.triangles, body.name))
        if stored is not None:
            meshes.append(stored[body.key][0])
            continue
        on_stage("tetrahedralize", body.name)
        mesh = _fill_body(body, surfaces[-1])
        meshes.append(_refine_mesh(body, mesh) if is_hierarchical(body) else mesh)
    model = make_model([_model_part(*of) for of in zip(scene.bodies, surfaces, meshes, strict=True)])
    model = _with_spatial_moduli(scene, meshes, model)
    colliders = _with_ignored_bodies(colliders, scene, model)
    gravity = floats(gravity_at(scene, tracks, scene.settings.start_time), 3)
    model = with_pressure_modulus(scene.bodies, model, gravity)

    bodies, pins, points = [], [], []
    for number, (body, surface, mesh) in enumerate(zip(scene.bodies, surfaces, meshes, strict=True)):
        if stored is None:
            on_stage("bind", body.name)
        lips = separate_coincident_vertices(surface, mesh.nodes, mesh.tets, mesh.report.tet_size).vertices
        used, extra, area = sample_surface(lips, surface.triangles, mesh.report.tet_size)
        places = np.concatenate([surface.vertices, extra])
        bound = bind(mesh.nodes, mesh.tets, np.concatenate([lips, extra]), places)
        count = len(surface.vertices)
        if stored is not None:  # never found again by position
            bound.tet[:count], bound.weights[:count] = stored[body.key][1].tet, stored[body.key][1].weights
        binding = Binding(bound.tet[:count].copy(), bound.weights[:count].copy())
        is_borne = bool(body.core or (body.flesh and not scene.is_loose_flesh(body)))
        by_heat = heat_warnings(body, scene, tracks, mesh.report.tet_size)
        warnings = (*fill_warnings(body, surface, mesh), *self_weight_warnings(body, gravity, is_borne), *by_heat)
        bodies.append(AssembledBody(body.key, body.name, mesh, binding, model.bodies[number], warnings))
        touching = np.concatenate([used, np.arange(count, count + len(extra), dtype=np.int64)])
        points.append(_contact_points(model, number, bound, touching, area, gravity, mesh.report.tet_size))
        in_model = Binding(binding.tet + np.int32(model.bodies[number].tets.start), binding.weights)
        pull = float(np.linalg.norm(gravity))
        for holding in _pin_parts(body):
            pins.append(make_pins(holding, in_model, model, number, mesh.report.tet_size, pull))
            _check_not_fully_pinned(scene, model, pins[-1], tracks)

    state = _initial_state(scene, model)
    heat = make_heat(scene, model, [(found.tet, found.weights, found.area) for found in points], tracks, gravity)
    if heat is not None:
        heat.start(model, state, air_temperature_at(scene, tracks, scene.settings.start_time))
    plastic = make_plastic(scene, meshes, model, tracks)
    fracture = make_fracture(scene, meshes, model, surfaces, float(np.linalg.norm(gravity)))
    if fracture is not None:
        fracture.begin(state, len(scene.bodies))
    points_together = ContactPoints.concatenate(points)
    built = AssembledScene(
        model, tuple(bodies), tuple(pins), points_together, colliders, state, heat, plastic, fracture
    )
    around = (*colliders, *(posed_collider(collider, collider.vertices) for collider in deforming))
    built = _with_flesh(built, scene, surfaces, around, tracks, gravity)
    reshaped = make_reshaped(scene, meshes, [body.binding for body in bodies], model, tracks)
    built = _with_bone_warnings(replace(built, animated_rest_shapes=reshaped, deforming=deforming))
    built = replace(built, core_drivers=make_core_springs(scene, model))
    skins = make_collision_surfaces(scene, meshes, [body.binding for body in bodies], model, deforming, tracks)
    moving = make_contact_materials(skins, scene, model, gravity)
    built = replace(built, skins=moving, fracture_surfaces=make_fragment_surfaces(moving, fracture, model, gravity))
    _check_colliders(built, surfaces, tracks, scene.settings.start_time)
    initialize_contacts(colliders, moving, points_together, model, [body.name for body in bodies], tracks, state)
    return _with_gravity_in_shape(built, scene, tracks, gravity, on_stage)


def _has_flesh_or_bones(scene: Scene) -> bool:
    """Whether a scene has bones or flesh, or bodies that move as flesh does; what these need takes long to load."""
    asked = (
        body.flesh is not None or body.method.name in (*NEWTON_FORMULATIONS, HIERARCHICAL) for body in scene.bodies
    )
    return bool(scene.bones) or any(asked)


def _check_bones(scene: Scene) -> None:
    if _has_flesh_or_bones(scene):
        from ..constraints.bones import check_bones

        check_bones(scene)


def _with_spatial_moduli(scene: Scene, meshes: list[TetMesh], model: Model) -> Model:
    if not _has_flesh_or_bones(scene):
        return model
    from .flesh import apply_painted_moduli

    return apply_painted_moduli(scene, meshes, model)


def _with_flesh(
    built: AssembledScene,
    scene: Scene,
    surfaces: list[Surface],
    colliders: tuple[BuiltCollider, ...],
    tracks: TrackReader,
    gravity: Floats,
) -> AssembledScene:
    """Returns what was built with the flesh of a scene, the colliders that it may touch, and its bones."""
    if not _has_flesh_or_bones(scene):
        return built
    from ..constraints.bones import make_bones
    from ..quasistatic.contact import RenderSurface
    from .flesh import make_flesh, with_contact

    drawn = [
        RenderSurface(surface.vertices, surface.triangles, body.binding.tet, body.binding.weights)
        for surface, body in zip(surfaces, built.bodies, strict=True)
    ]
    thick = [body.collision.thickness for body in scene.bodies]
    flesh = make_flesh(scene, built.model, pressure_of_flesh(scene, built.model, gravity))
    flesh = with_contact(flesh, drawn, built.contact_points, colliders, scene.ignored_pairs, thick)
    meshes = [body.mesh for body in built.bodies]
    return replace(built, flesh=flesh, bones=make_bones(scene, meshes, built.model, tracks, built.pins))


def _colliders(scene: Scene, tracks: TrackReader) -> tuple[tuple[BuiltCollider, ...], tuple[DeformingCollider, ...]]:
    """Returns the colliders that only turn and move, and those that deform."""
    changing = [collider for collider in scene.colliders if has_vertex_track(collider.key, tracks)]
    rigid = [collider for collider in scene.colliders if not has_vertex_track(collider.key, tracks)]
    settings = scene.settings
    size = max(float(np.linalg.norm(np.ptp(body.vertices, axis=0))) for body in scene.bodies)
    return (
        tuple(build_collider(collider, tracks, settings, size) for collider in rigid),
        tuple(build_deforming(collider, tracks, settings) for collider in changing),
    )


def _with_ignored_bodies(colliders: tuple[BuiltCollider, ...], scene: Scene, model: Model) -> tuple[BuiltCollider, ...]:
    """Returns rigid colliders that know which bodies pass through them, and how far others stay away."""
    thick = zip(model.bodies, (body.collision.thickness for body in scene.bodies), strict=True)
    padding = tuple((body.tets.start, body.tets.stop, more) for body, more in thick if more > 0.0)
    ignored = {frozenset(pair) for pair in scene.ignored_pairs}
    tets = [(body.key, (body.tets.start, body.tets.stop)) for body in model.bodies]
    passing = [tuple(own for key, own in tets if frozenset((key, c.key)) in ignored) for c in colliders]
    return tuple(
        replace(c, ignored_tets=own, extra_thickness=padding) for c, own in zip(colliders, passing, strict=True)
    )


def _with_bone_warnings(built: AssembledScene) -> AssembledScene:
    told = built.bones.warnings if built.bones else {}
    bodies = (replace(body, warnings=(*body.warnings, *told.get(n, ()))) for n, body in enumerate(built.bodies))
    return replace(built, bodies=tuple(bodies)) if told else built


def _fill_body(body: Body, surface: Surface) -> TetMesh:
    if body.fracture is not None:
        return separate_hinges(_fill_breakable(body, surface, body.fracture.seed))
    if body.meshing.method == "given":
        return user_tets(body.tet_nodes, body.tets, surface, body.name)
    return meshing.tetrahedralize(surface, body.meshing, body.name)


def _refine_mesh(body: Body, mesh: TetMesh) -> TetMesh:
    """Returns tets that are cut as finely as a hierarchical body asks for."""
    check_refined_estimate(len(mesh.tets), body.method.levels, refinement_factor(body.method), body.meshing, body.name)
    return refine(mesh, body.method.levels)


def _fill_breakable(body: Body, surface: Surface, seed: int) -> TetMesh:
    """Returns tets that cover the surface, so that it can be cut along them, and are irregular."""
    if body.meshing.method == "given":
        return user_tets(body.tet_nodes, body.tets, surface, body.name)
    return meshing.tetrahedralize(surface, replace(body.meshing, method="robust"), body.name, seed)


def _model_part(body: Body, surface: Surface, mesh: TetMesh) -> Part:
    return Part(
        body.key, mesh.nodes, mesh.tets, mesh.fill, body.material, simulated_scale=body.simulated_scale, name=body.name,
        method=FormulationSettings() if body.flesh else with_unread_defaults(body.method),
        levels=recover_levels(mesh.tets, body.method.levels) if is_hierarchical(body) else None,
        core=find_core(body.core, body.name, surface, mesh.nodes, mesh.tets) if body.core else None,
    )  # fmt: skip


def is_hierarchical(body: Body) -> bool:
    """Whether the tets of a body come out of coarse ones."""
    return body.method.name == HIERARCHICAL and not body.flesh


def _contact_points(
    model: Model, number: int, bound: Binding, which: np.ndarray, area: Floats, gravity: Floats, tet_size: float
) -> ContactPoints:
    body = model.bodies[number]
    tet = bound.tet[which] + np.int32(body.tets.start)
    mass = float(model.mass[body.nodes].sum())
    return contact_points(
        tet=indices(tet),
        weights=floats(bound.weights[which], -1, 4),
        area=area,
        youngs_modulus=youngs_modulus(model.mu[tet], model.lam[tet]),
        mass=mass,
        weight=mass * float(np.linalg.norm(gravity)) * float(model.gravity_scale[body.nodes.start]),
        tet_size=tet_size,
    )


def _initial_state(scene: Scene, model: Model) -> State:
    v = np.zeros_like(model.X)
    for body, part in zip(scene.bodies, model.bodies, strict=True):
        v[part.nodes] = body.initial_velocity
    return State(model.X.copy(), v, scene.settings.start_time)


def _pin_parts(body: Body) -> list[Body]:
    """Returns the body with its pins, and as "KEY.attached" with what is attached as its pins, where it has them."""
    attached = replace(body, key=f"{body.key}.attached", pinned=body.attached, pin_weights=body.attached_weights)
    return [part for part in (body, attached) if len(part.pinned)]


def _check_not_fully_pinned(scene: Scene, model: Model, pins: BodyPins, tracks: TrackReader) -> None:
    """Raises BadInput where all nodes or all vertices of a body are held, and never released."""
    held, body = pins.fixed_nodes, scene.bodies[pins.body]
    nodes = model.bodies[pins.body].nodes
    shows_nothing = len(body.pinned) == len(body.vertices) and bool((body.pin_weights >= 1.0).all())
    if len(held) < nodes.stop - nodes.start and not shows_nothing:
        return
    frames = range(scene.settings.frame_start, scene.settings.frame_end + 1)
    if all(pins.stiffness(tracks, scene.settings.time(frame)) > 0.0 for frame in frames):
        raise BadInput("pins-everything", name=body.name)


def _check_colliders(built: AssembledScene, surfaces: list[Surface], tracks: TrackReader, time: float) -> None:
    """Raises BadInput where a body starts inside a collider, or the other way round."""
    is_held = np.zeros(built.model.node_count, bool)
    for pins in built.pins:
        is_held[pins.fixed_nodes] = True
    if built.bones:
        is_held[built.bones.fixed_nodes] = True
    points = built.contact_points
    moves = ~is_held[built.model.tets[points.tet]].any(axis=1)
    start = np.einsum("ka,kai->ki", points.weights, built.model.X[built.model.tets[points.tet]])
    check_enclosed_colliders(built.deforming, built.skins, [body.name for body in built.bodies], surfaces)
    for collider in built.colliders:
        if not is_active(collider.key, tracks, time, time):
            continue
        pose = collider.pose(tracks, time)
        for body, surface in zip(built.bodies, surfaces, strict=True):
            if (body.range.tets.start, body.range.tets.stop) in collider.ignored_tets:
                continue
            own = (points.tet >= body.range.tets.start) & (points.tet < body.range.tets.stop)
            check_initial_penetration(body.name, surface, start[own & moves], body.mesh.report.tet_size, collider, pose)


def _with_gravity_in_shape(
    built: AssembledScene, scene: Scene, tracks: TrackReader, gravity: Floats, on_stage: OnStage
) -> AssembledScene:
    wanted = [number for number, body in enumerate(scene.bodies) if body.gravity_in_shape]
    if not wanted:
        return built
    for number in wanted:
        on_stage("rest", scene.bodies[number].name)
    model, state = built.model, built.initial
    is_wanted = np.zeros(model.node_count, bool)
    for number in wanted:
        is_wanted[model.bodies[number].nodes] = True
    dt = 1.0 / (scene.settings.fps * scene.settings.substeps)
    begin = scene.settings.start_time
    poses = [collider.pose(tracks, begin) for collider in built.colliders]
    bearings = find_support_contacts(built.colliders, poses, built.contact_points, model, state, is_wanted, gravity, dt)
    stiffness = [pins.stiffness(tracks, begin) for pins in built.pins]
    balanced = make_sag_free(model, state, built.pins, stiffness, bearings, wanted, gravity, dt)
    bodies = list(built.bodies)
    for number in balanced.free_bodies:
        warning = SinewError("gravity-in-shape-free", name=bodies[number].name)
        bodies[number] = replace(bodies[number], warnings=(*bodies[number].warnings, warning))
    return replace(built, model=balanced.model, pins=balanced.pins, bodies=tuple(bodies))
