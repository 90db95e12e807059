# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene to a simulation: tets, bindings, contacts, features, forces, one model, one first state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..constraints.force import Force
from ..contact.colliders.deforming_collider import DeformingCollider, build_deforming, has_vertex_track, is_active
from ..contact.colliders.rigid_colliders import BuiltCollider, build_collider, posed_collider
from ..contact.detection.contact_sample_points import ContactPoints
from ..contact.detection.surface_materials import make_contact_materials
from ..contact.initial.initial_contacts import initialize_contacts
from ..contact.initial.initial_penetration import check_enclosed_colliders, check_initial_penetration
from ..contact.initial.support_contacts import find_support_contacts
from ..contact.surfaces.build_surfaces import make_collision_surfaces
from ..mechanics.model import Model
from ..mesh import tetrahedralize as meshing
from ..mesh.embedding import Binding
from ..mesh.equimomental_tet import equimomental_tet
from ..mesh.geometry.triangle_surface import Surface, make_surface
from ..mesh.node_splitting.node_duplication import separate_hinges
from ..mesh.sheet_mesh import sheet_mesh
from ..mesh.sheet_points import carry_by_points
from ..mesh.sheet_t_junctions import close_t_junctions
from ..mesh.strand_mesh import strand_faces
from ..mesh.tet_mesh import TetMesh
from ..mesh.tetrahedralize.bisect_mesh import bisect_mesh
from ..mesh.tetrahedralize.estimate import check_refined_estimate
from ..mesh.tetrahedralize.nested_refinement import refine
from ..mesh.tetrahedralize.user_tets import user_tets
from ..runtime.arrays import Floats, floats
from ..runtime.errors import SinewError
from ..scene.adaptive_validation import check_adaptive_bodies, is_adaptive
from ..scene.animated_material import body_at
from ..scene.attachment_validation import attached_pairs
from ..scene.binding_validation import bound_pairs, check_bound_bodies
from ..scene.brittle_validation import check_brittle_bodies, is_brittle
from ..scene.formulation import refinement_factor
from ..scene.gravity import gravity_at
from ..scene.joint_validation import jointed_pairs
from ..scene.scene import EXACT_CONTACT, Body, Scene
from ..scene.sheet_validation import check_sheets
from ..scene.surface_detail_validation import check_surface_detail
from ..scene.tracks import TrackReader
from ..scene.validation import check_scene
from .assemble_bodies import (
    assembled_bodies,
    build_features,
    initial_model,
    initial_state,
    is_hierarchical,
    with_ignored_bodies,
)
from .assembled_scene import AssembledBody, AssembledScene
from .bind_body import bind_body
from .bound_bodies import bind_bodies, check_bound_nodes_are_free
from .features.feature import BuildInputs
from .features.fracture import Fracture
from .features.registry import FEATURES
from .features.surface_dents import SurfaceDents
from .forces import FORCES, make_forces
from .pin_borders import meshing_with_pin_borders
from .sag_free import make_sag_free
from .wrap_position_check import check_wrap_is_inside

OnStage = Callable[[str, str], None]
StoredMeshes = Mapping[str, tuple[TetMesh, Binding]]
# filled share of the tets of fat: emptier ones, which cover its surfaces, turn inside out where it folds
LEAST_FAT_FILL = 0.125
# Distance that others keep from a sheet over the mean length of its edges. A strip that falls into folds crossed itself
# at some 2000 pairs of faces with 0, and at none with 0.06.
MIN_SHEET_DISTANCE = 0.06


def build(scene: Scene, tracks: TrackReader, on_stage: OnStage, stored: StoredMeshes | None = None) -> AssembledScene:
    """Returns the simulation of a scene.

    Args:
        scene: The scene.
        tracks: Its animated inputs.
        on_stage: Called with ("tetrahedralize", "bind" or "rest", name of the body) before that is done.
        stored: Tets and bindings by key that an earlier bake made; a resumed one goes on with just these.

    Raises:
        BadInput: Something cannot be simulated; the sentence names it.
    """
    _check(scene, tracks)
    scene = replace(scene, bodies=tuple(body_at(body, tracks, scene.settings.start_time) for body in scene.bodies))
    passing = (*scene.ignored_pairs, *attached_pairs(scene), *bound_pairs(scene), *jointed_pairs(scene))
    scene = replace(scene, ignored_pairs=passing)
    colliders, deforming = _colliders(scene, tracks)
    surfaces, meshes = _fill_bodies(scene, on_stage, stored)
    scene = _with_sheet_thickness(scene, meshes)
    gravity = floats(gravity_at(scene, tracks, scene.settings.start_time), 3)
    model = initial_model(scene, surfaces, meshes, gravity)
    colliders = with_ignored_bodies(colliders, scene, model)
    bindings, points = _bind_render_vertices(scene, model, surfaces, meshes, stored, on_stage, gravity)
    unbound, (model, bound_attachment) = model, bind_bodies(scene, model, [mesh.junctions for mesh in meshes])
    inputs = BuildInputs(
        scene=scene,
        tracks=tracks,
        surfaces=surfaces,
        meshes=meshes,
        bindings=bindings,
        model=model,
        body_contact_points=points,
        contact_points=ContactPoints.concatenate(points),
        colliders=(*colliders, *(posed_collider(collider, collider.vertices) for collider in deforming)),
        gravity=gravity,
        state=initial_state(scene, model),
    )
    build_features(inputs)
    forces = make_forces(inputs)
    check_bound_nodes_are_free(scene, model, forces)
    skins = make_collision_surfaces(scene, meshes, bindings, model, deforming, tracks)
    # how hard contacts push goes by the masses of whole bodies, of which bound ones have given some away
    materials = make_contact_materials(skins, scene, unbound, gravity)
    built = AssembledScene(
        model=model,
        bodies=assembled_bodies(inputs),
        initial=inputs.state,
        features=tuple(feature.with_contact_surfaces(materials, model, gravity) for feature in inputs.features),
        forces=forces,
        contact_points=inputs.contact_points,
        colliders=colliders,
        deforming=deforming,
        contact_materials=materials,
        bound_attachment=bound_attachment,
        build_inputs=inputs,
    )
    if scene.settings.contact == EXACT_CONTACT:
        from .exact_contact.exact_cores import check_free_cores
        from .exact_contact.exact_start import begin_exact_contact
        from .exact_contact.exact_surfaces import make_exact_surfaces

        check_free_cores(built)
        breaks = built.feature(Fracture)
        pieces = breaks.surfaces if breaks is not None else None
        exact = make_exact_surfaces(scene, meshes, bindings, model, colliders, deforming, points, pieces)
        dents = built.feature(SurfaceDents)
        start = begin_exact_contact(exact, tracks, scene.settings.start_time, model, inputs.state, dents)
        built = replace(built, exact_contact=start.surfaces, bodies=_with_warnings(built.bodies, start.warnings))
    if any(is_brittle(body) for body in scene.bodies):
        from .brittle.scene_in_pieces import start_whole

        built = start_whole(built)
    if any(mesh.levels is not None for mesh in meshes):
        from .dynamic_refinement.scene_at_levels import start_levels

        built = start_levels(built)
    _check_colliders(built, surfaces, tracks, scene.settings.start_time)
    names = [body.name for body in built.bodies]
    touching = built.colliders, built.contact_materials, built.contact_points
    initialize_contacts(*touching, built.model, names, tracks, built.initial)
    return _with_gravity_in_shape(built, scene, tracks, gravity, on_stage)


def _with_warnings(bodies: Sequence[AssembledBody], found: Mapping[int, SinewError]) -> tuple[AssembledBody, ...]:
    """Returns bodies with further warnings, by their numbers."""
    return tuple(
        replace(body, warnings=(*body.warnings, found[number])) if number in found else body
        for number, body in enumerate(bodies)
    )


def _check(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where the scene asks for something impossible, before any work is done."""
    check_sheets(scene, tracks)
    check_scene(scene)
    check_surface_detail(scene)
    check_bound_bodies(scene, tracks)
    check_adaptive_bodies(scene, tracks)
    check_brittle_bodies(scene, tracks)
    for force in FORCES:
        force.check(scene, tracks)
    for feature in FEATURES:
        feature.check(scene, tracks)


def _fill_bodies(scene: Scene, on_stage: OnStage, stored: StoredMeshes | None) -> tuple[list[Surface], list[TetMesh]]:
    """Returns the surfaces and the tets of all bodies."""
    surfaces, meshes = [], []
    for body in scene.bodies:
        check_wrap_is_inside(body)
        surfaces.append(_body_surface(body))
        if stored is not None and not body.is_sheet:  # a sheet is its own mesh, which files of tets do not have
            meshes.append(stored[body.key][0])
            continue
        on_stage("tetrahedralize", body.name)
        mesh = _fill_body(body, surfaces[-1])
        meshes.append(_refine_mesh(body, mesh) if is_hierarchical(body) else mesh)
    return surfaces, meshes


def _body_surface(body: Body) -> Surface:
    """Returns the surface of a body; strings have triangles without area there."""
    if body.is_sheet and len(body.sheet.strands):
        faces = np.concatenate([body.triangles, strand_faces(body.sheet.strands)])
        return make_surface(body.vertices, faces, body.name)
    return make_surface(body.vertices, body.triangles, body.name, body.wrap_vertices)


def _with_sheet_thickness(scene: Scene, meshes: Sequence[TetMesh]) -> Scene:
    """Returns a scene in which others keep a distance from every sheet: layers of none would go through each other."""
    bodies = []
    for body, mesh in zip(scene.bodies, meshes, strict=True):
        is_by_springs = body.is_sheet and scene.settings.contact != EXACT_CONTACT
        least = MIN_SHEET_DISTANCE * mesh.report.tet_size if is_by_springs else 0.0
        if mesh.sheet is not None and len(mesh.sheet.strands):
            least = max(least, 0.5 * body.sheet.thickness)
        if body.collision.thickness < least:
            body = replace(body, collision=replace(body.collision, thickness=least))
        bodies.append(body)
    return replace(scene, bodies=tuple(bodies))


def _bind_render_vertices(
    scene: Scene,
    model: Model,
    surfaces: list[Surface],
    meshes: list[TetMesh],
    stored: StoredMeshes | None,
    on_stage: OnStage,
    gravity: Floats,
) -> tuple[list[Binding], list[ContactPoints]]:
    """Returns the vertices of every body in its own tets, and its contact points in tets of the model."""
    bindings, points = [], []
    for number, (body, surface, mesh) in enumerate(zip(scene.bodies, surfaces, meshes, strict=True)):
        if stored is None:
            on_stage("bind", body.name)
        earlier = stored[body.key][1] if stored else None
        binding, touching = bind_body(model, scene, number, surface, mesh, earlier, gravity)
        bindings.append(binding)
        points.append(touching)
    return bindings, points


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


def _fill_body(body: Body, surface: Surface) -> TetMesh:
    if body.is_rigid and not is_brittle(body):
        return equimomental_tet(surface, body.name)
    if body.is_sheet:
        faces = replace(surface, triangles=body.triangles)
        mesh = sheet_mesh(faces, body.name, body.fracture is not None, body.sheet.strands)
        if body.sheet.is_carried_by_points:
            return carry_by_points(mesh, body.sheet.point_spacing, body.name)
        return close_t_junctions(mesh) if body.sheet.closes_t_junctions else mesh
    if body.fracture is not None:
        mesh = separate_hinges(_fill_breakable(body, surface, body.fracture.seed))
        is_bisected = is_brittle(body) and body.fracture.fineness > 0
        return bisect_mesh(mesh, surface, body.fracture.fineness) if is_bisected else mesh
    if body.meshing.method == "given":
        return user_tets(body.tet_nodes, body.tets, surface, body.name)
    asked = meshing_with_pin_borders(body) if is_adaptive(body) else body.meshing
    mesh = meshing.tetrahedralize(surface, asked, body.name)
    return replace(mesh, fill=np.maximum(mesh.fill, LEAST_FAT_FILL)) if body.wrap_vertices else mesh


def _refine_mesh(body: Body, mesh: TetMesh) -> TetMesh:
    """Returns tets that are cut as finely as a hierarchical body asks for."""
    check_refined_estimate(len(mesh.tets), body.method.levels, refinement_factor(body.method), body.meshing, body.name)
    return refine(mesh, body.method.levels)


def _fill_breakable(body: Body, surface: Surface, seed: int) -> TetMesh:
    """Returns tets that cover the surface, so that it can be cut along them, and are irregular."""
    if body.meshing.method == "given" or (is_brittle(body) and body.tets is not None):
        return user_tets(body.tet_nodes, body.tets, surface, body.name)
    return meshing.tetrahedralize(surface, replace(body.meshing, method="robust"), body.name, seed)


def _check_colliders(built: AssembledScene, surfaces: list[Surface], tracks: TrackReader, time: float) -> None:
    """Raises BadInput where a body starts inside a collider, or the other way round."""
    is_fixed = np.zeros(built.model.node_count, bool)
    for force in built.forces:
        is_fixed[force.fixed_nodes] = True
    points = built.contact_points
    moves = ~is_fixed[built.model.tets[points.tet]].any(axis=1)
    start = np.einsum("ka,kai->ki", points.weights, built.initial.x[built.model.tets[points.tet]])
    check_enclosed_colliders(built.deforming, built.contact_materials, [body.name for body in built.bodies], surfaces)
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
    flesh = [number for number in wanted if scene.bodies[number].flesh is not None]
    if flesh:
        from .sag_free_flesh import with_sag_free_flesh

        built = with_sag_free_flesh(built, scene, tracks, gravity, flesh)
        wanted = [number for number in wanted if number not in flesh]
    if not wanted:
        return built
    model, state = built.model, built.initial
    is_wanted = np.zeros(model.node_count, bool)
    for number in wanted:
        is_wanted[model.bodies[number].nodes] = True
    dt = 1.0 / (scene.settings.fps * scene.settings.substeps)
    begin = scene.settings.start_time
    poses = [collider.pose(tracks, begin) for collider in built.colliders]
    bearings = find_support_contacts(built.colliders, poses, built.contact_points, model, state, is_wanted, gravity, dt)
    pins = built.pins
    stiffness = [own.stiffness(tracks, begin) for own in pins]
    balanced = make_sag_free(model, state, pins, stiffness, bearings, wanted, gravity, dt)
    bodies = list(built.bodies)
    for number in balanced.free_bodies:
        warning = SinewError("gravity-in-shape-free", name=bodies[number].name)
        bodies[number] = replace(bodies[number], warnings=(*bodies[number].warnings, warning))
    shifted = dict(zip(map(id, pins), balanced.pins, strict=True))
    forces: Sequence[Force] = [shifted.get(id(force), force) for force in built.forces]
    return replace(built, model=balanced.model, forces=tuple(forces), bodies=tuple(bodies))
