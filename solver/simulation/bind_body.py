# SPDX-License-Identifier: GPL-3.0-or-later
"""Binds the vertices of a body to its nodes, and chooses the points of it that touch others."""

from __future__ import annotations

import numpy as np

from ..contact.detection.contact_sample_points import ContactPoints, contact_points, sample_surface, with_soft_bindings
from ..contact.surfaces.contact_spacing import contact_spacing
from ..contact.surfaces.surface_meshes import body_surface
from ..mechanics.elastic_moduli import youngs_modulus
from ..mechanics.model import Model
from ..mesh.embedding import Binding, bind
from ..mesh.geometry.triangle_surface import Surface
from ..mesh.separate_coincident_vertices import separate_coincident_vertices
from ..mesh.sheet_mesh import bind_vertices, strand_areas
from ..mesh.tet_mesh import TetMesh
from ..runtime.arrays import Floats, floats, indices
from ..scene.scene import Body, Scene


def bind_body(
    model: Model, scene: Scene, number: int, surface: Surface, mesh: TetMesh, stored: Binding | None, gravity: Floats
) -> tuple[Binding, ContactPoints]:
    """Returns the vertices of a body in its own tets, and its contact points in tets of the model.

    Args:
        model, scene: All bodies.
        number: Of the body.
        surface, mesh: Its surface and its tets.
        stored: The binding that an earlier bake made, which is never found again by position; None: there is none.
        gravity: At the first frame [m/s²], (3,).
    """
    body = scene.bodies[number]
    if mesh.sheet is not None:
        return _bind_sheet(model, number, surface, mesh, body.sheet.thickness, gravity)
    if body.surface_detail is not None:
        return _bind_particles(model, number, body, surface, mesh, stored, gravity)
    tet_size = mesh.report.tet_size
    lips = separate_coincident_vertices(surface, mesh.nodes, mesh.tets, tet_size).vertices
    used, extra, area = sample_surface(lips, surface.triangles, contact_spacing(scene, tet_size), body.name)
    places = np.concatenate([surface.vertices, extra])
    bound = bind(mesh.nodes, mesh.tets, np.concatenate([lips, extra]), places)
    count = len(surface.vertices)
    if stored is not None:
        bound.tet[:count], bound.weights[:count] = stored.tet, stored.weights
    binding = Binding(bound.tet[:count].copy(), bound.weights[:count].copy())
    touching = np.concatenate([used, np.arange(count, count + len(extra), dtype=np.int64)])
    return binding, _contact_points(model, number, bound, touching, area, gravity, tet_size)


def _bind_sheet(
    model: Model, number: int, surface: Surface, mesh: TetMesh, thickness: float, gravity: Floats
) -> tuple[Binding, ContactPoints]:
    """Returns the vertices of a sheet and its contact points, which are its nodes, in hinges of the model."""
    assert mesh.sheet is not None
    bound = bind_vertices(mesh, surface.vertices)
    area = strand_areas(mesh, thickness)
    if len(mesh.sheet.triangles):
        used, _, of_triangles = sample_surface(mesh.nodes, mesh.sheet.triangles, np.inf)
        area[used] += of_triangles
    return bound, _contact_points(model, number, bound, mesh.sheet.vertices, area, gravity, mesh.report.tet_size)


def _bind_particles(
    model: Model, number: int, body: Body, surface: Surface, mesh: TetMesh, stored: Binding | None, gravity: Floats
) -> tuple[Binding, ContactPoints]:
    """Returns the vertices of a body with surface detail, and its particles as contact points."""
    detail, size = body.surface_detail, mesh.report.tet_size
    assert detail is not None
    binding = bind(mesh.nodes, mesh.tets, surface.vertices) if stored is None else stored
    part = body_surface(surface, mesh, binding, size, detail)
    bound, which = Binding(part.tet, part.weights), np.arange(len(part.tet), dtype=np.int64)
    points = _contact_points(model, number, bound, which, part.area, gravity, size)
    modulus = youngs_modulus(model.mu[points.tet], model.lam[points.tet])
    return binding, with_soft_bindings(points, modulus, detail, size)


def _contact_points(
    model: Model, number: int, bound: Binding, which: np.ndarray, area: Floats, gravity: Floats, tet_size: float
) -> ContactPoints:
    body = model.bodies[number]
    tet = bound.tet[which] + np.int32(body.tets.start)
    mass = float(model.mass[body.nodes].sum())
    weight = mass * float(np.linalg.norm(gravity)) * float(model.gravity_scale[body.nodes.start])
    is_rigid = any(core.is_whole and core.nodes[0] == body.nodes.start for core in model.cores)
    return contact_points(
        tet=indices(tet),
        weights=floats(bound.weights[which], -1, 4),
        area=area,
        youngs_modulus=youngs_modulus(model.mu[tet], model.lam[tet]),
        mass=mass,
        weight=0.0 if is_rigid else weight,  # inertia gives a rigid body's contacts their stiffness, whatever it weighs
        tet_size=tet_size,
    )
