# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches what after cuts: skins of bodies that were cut, and contact points on their cut faces.

Pieces touch each other as bodies do, and so do both sides of a cut in one piece: they lie on each other when the cut is
made, and push where they are pressed together. Vertices of a skin that were not on the skin of the whole body are
contact points besides those that it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...contact.detection.contact_sample_points import ContactPoints, contact_points
from ...contact.detection.persistent_contacts import PersistentContacts, remap_contacts
from ...contact.detection.surface_materials import (
    BODY_STIFFNESS_FACTOR,
    NO_SUPPORT_TETS,
    ContactMaterials,
    make_contact_materials,
)
from ...contact.surfaces.build_surfaces import make_collision_surfaces
from ...mechanics.elastic_moduli import youngs_modulus
from ...mechanics.model import Model
from ...runtime.arrays import Floats, Indices, floats, indices
from ...scene.scene import Fracture
from ..assembled_scene import AssembledScene
from ..fracture.fragment_surfaces import concatenate_points, merge_surfaces
from ..fracture.present_surface import PresentSurface
from .cut_skin import Int64s, KeyedSkin

KEYS_PER_BODY = 1 << 40  # more than a skin will ever have


def whole_materials(uncut: AssembledScene) -> ContactMaterials:
    """Returns the surfaces of a scene as it was built, also where nothing could meet before something is cut."""
    if uncut.contact_materials is not None:
        return uncut.contact_materials
    inputs = uncut.build_inputs
    assert inputs is not None
    # bodies that may come apart have skins whatever they touch, and nothing else of what they are is read
    bodies = tuple(replace(body, fracture=body.fracture or Fracture()) for body in inputs.scene.bodies)
    scene = replace(inputs.scene, bodies=bodies)
    skins = make_collision_surfaces(scene, inputs.meshes, inputs.bindings, uncut.model, uncut.deforming, inputs.tracks)
    made = make_contact_materials(skins, inputs.scene, uncut.model, inputs.gravity)
    assert made is not None
    return made


def present_skin(built: AssembledScene, number: int) -> KeyedSkin:
    """Returns the skin that a body has now, which who cuts it has to cut."""
    uncut = built.uncut or built
    materials = whole_materials(uncut) if built.contact_materials is None else built.contact_materials
    skins, body = materials.surfaces, (uncut if built.contact_materials is None else built).model.bodies[number]
    own, faces = skins.vertices_of(number), skins.triangles_of(number)
    return KeyedSkin(
        rest=skins.rest[own],
        tet=indices(skins.tet[own] - body.tets.start),
        weights=skins.weights[own],
        triangles=indices(skins.triangles[faces] - own.start, -1, 3),
        vertex_key=skins.vertex_key[own],
        triangle_key=skins.triangle_key[faces],
    )


def materials_after_cuts(uncut: AssembledScene, skins: Mapping[int, KeyedSkin], model: Model) -> ContactMaterials:
    """Returns the surfaces of a scene after cuts.

    Args:
        uncut: The scene as it was built.
        skins: Of all bodies that were cut, by their numbers.
        model: Of the copies.
    """
    whole = whole_materials(uncut)
    before, parts = whole.surfaces, []
    for surface in range(len(before)):
        number = int(before.body[surface])
        if number in skins:
            parts.append(_skin_part(uncut, number, skins[number], model))
        else:
            parts.append(_intact_part(uncut, whole, surface, model))
    cut = sorted(skins)
    edges = before.edges
    if edges is not None:
        edges = replace(edges, tet=_moved_tets(edges.tet, uncut.model, model))
    merged = merge_surfaces(replace(before, edges=edges), parts, model.tets, cut, [])
    return replace(whole, surfaces=merged, points=concatenate_points(parts), support_tet=NO_SUPPORT_TETS)


def cut_points(
    uncut: AssembledScene, skins: Mapping[int, KeyedSkin], model: Model
) -> tuple[list[ContactPoints], Int64s]:
    """Returns the contact points on cut faces, body by body, and numbers that stay for each of them, rising, (k,).

    Args:
        uncut: The scene as it was built.
        skins: Of all bodies that were cut, by their numbers.
        model: Of the copies.
    """
    points, keys = list[ContactPoints](), [np.zeros(0, np.int64)]
    for number, skin in sorted(skins.items()):
        whole = present_skin(uncut, number)
        own = np.flatnonzero(skin.vertex_key > _last(whole.vertex_key))
        new = skin.triangles[skin.triangle_key > _last(whole.triangle_key)]
        points.append(_points_of(uncut, number, skin, model, _areas(skin.rest, new)[own], own))
        keys.append(number * KEYS_PER_BODY + skin.vertex_key[own])
    return points, np.concatenate(keys)


def carried_contacts(memory: PersistentContacts, before: AssembledScene, now: AssembledScene) -> PersistentContacts:
    """Returns what contacts remember with the numbers that their points have after a cut; those of cut faces that are
    no longer there are forgotten.
    """
    count, count_now = len(before.contact_points), len(now.contact_points)
    known = len(before.crack_point_rows)
    first = count - known
    number = np.concatenate([np.arange(first, dtype=np.int64), np.full(known, -1, np.int64)])
    if known and len(now.crack_point_rows):
        at = np.minimum(np.searchsorted(now.crack_point_rows, before.crack_point_rows), len(now.crack_point_rows) - 1)
        number[first:] = np.where(now.crack_point_rows[at] == before.crack_point_rows, first + at, -1)
    rigid = int(np.searchsorted(memory.id, len(before.colliders) * max(count, 1)))
    ours, theirs = memory.select(slice(rigid)), memory.select(slice(rigid, None))
    place, point = np.divmod(ours.id, max(count, 1))
    ours = replace(ours, id=place * max(count_now, 1) + number[point]).select(np.flatnonzero(number[point] >= 0))
    if before.contact_materials is None or now.contact_materials is None:
        return ours
    first_keys = [len(built.colliders) * max(len(built.contact_points), 1) for built in (before, now)]
    surfaces = before.contact_materials.surfaces, now.contact_materials.surfaces
    return ours.merge(remap_contacts(theirs, *surfaces, *first_keys))


def _skin_part(uncut: AssembledScene, number: int, skin: KeyedSkin, model: Model) -> PresentSurface:
    """Returns the surface of a body that was cut."""
    every = np.arange(len(skin.rest), dtype=np.int64)
    points = _points_of(uncut, number, skin, model, _areas(skin.rest, skin.triangles), every)
    stiffer = {
        name: BODY_STIFFNESS_FACTOR * getattr(points, name) for name in ("elastic_stiffness", "weight_stiffness")
    }
    return PresentSurface(
        skin.rest,
        points.tet,
        skin.weights,
        skin.triangles,
        skin.vertex_key,
        skin.triangle_key,
        replace(points, **stiffer),
        NO_SUPPORT_TETS,
    )


def _intact_part(uncut: AssembledScene, whole: ContactMaterials, surface: int, model: Model) -> PresentSurface:
    """Returns the surface of another body, or of a collider."""
    skins = whole.surfaces
    own, faces = skins.vertices_of(surface), skins.triangles_of(surface)
    tet = _moved_tets(skins.tet[own], uncut.model, model)
    return PresentSurface(
        skins.rest[own],
        tet,
        skins.weights[own],
        indices(skins.triangles[faces] - own.start, -1, 3),
        skins.vertex_key[own],
        skins.triangle_key[faces],
        replace(whole.points.select(own), tet=tet),
        NO_SUPPORT_TETS,
    )


def _moved_tets(tet: Indices, before: Model, now: Model) -> Indices:
    """Returns tets of whole bodies where they are now, −1 for none."""
    out = tet.copy()
    for was, there in zip(before.bodies, now.bodies, strict=True):
        own = (tet >= was.tets.start) & (tet < was.tets.stop)
        out[own] = np.minimum(tet[own] - was.tets.start + there.tets.start, there.tets.stop - 1)
    return out


def _points_of(
    uncut: AssembledScene, number: int, skin: KeyedSkin, model: Model, area: Floats, own: np.ndarray
) -> ContactPoints:
    """Returns some vertices of a skin, (k,), with areas [m²], (k,), as contact points."""
    inputs, body = uncut.build_inputs, model.bodies[number]
    assert inputs is not None
    tet = indices(skin.tet[own] + body.tets.start)
    mass = float(model.mass[body.nodes].sum())
    return contact_points(
        tet=tet,
        weights=floats(skin.weights[own], -1, 4),
        area=area,
        youngs_modulus=youngs_modulus(model.mu[tet], model.lam[tet]),
        mass=mass,
        weight=mass * float(np.linalg.norm(inputs.gravity)) * float(model.gravity_scale[body.nodes.start]),
        tet_size=inputs.meshes[number].report.tet_size,
        surface=float(_areas(skin.rest, skin.triangles).sum()),
    )


def _areas(rest: Floats, triangles: Indices) -> Floats:
    """Returns a third of the area of the triangles at each vertex [m²], (v,)."""
    edges = rest[triangles[:, 1:]] - rest[triangles[:, :1]]
    share = np.repeat(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 6.0, 3)
    return floats(np.bincount(triangles.ravel(), share, minlength=len(rest)))


def _last(keys: Int64s) -> int:
    """Returns the last of rising keys, −1 of none."""
    return int(keys[-1]) if len(keys) else -1
