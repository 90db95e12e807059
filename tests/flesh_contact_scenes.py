# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs, fists and cylinders of flesh, for tests and checks of contact at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shapes import cube
from sinew.solver.arrays import Floats, Indices
from sinew.solver.contact.colliders import BuiltCollider, build_collider
from sinew.solver.contact.points import ContactPoints, contact_points, sample_surface
from sinew.solver.embedding import bind
from sinew.solver.geometry.bvh import build_bvh
from sinew.solver.geometry.surface import make_surface
from sinew.solver.geometry.winding import winding_numbers
from sinew.solver.hyperelastic.element import Hyperelastic, hyperelastic
from sinew.solver.model import Model, Part, make_model
from sinew.solver.part_model import part_model
from sinew.solver.quasistatic.contact import (
    FleshContact,
    InContact,
    RenderSurface,
    make_flesh_contact,
    solve_in_contact,
)
from sinew.solver.quasistatic.held import Held
from sinew.solver.scene import Collider, Material, Meshing
from sinew.solver.tetrahedralize import tetrahedralize

FLESH = Material(youngs_modulus=2.0e4, poisson_ratio=0.4, density=1000.0)
RADIUS = 0.05  # of a limb [m]
CYLINDER = 0.6 * RADIUS  # radius of a rigid one
TOLERANCE = 1.0e-3  # of solves


@dataclass(frozen=True, eq=False)
class Scene:
    """Bodies of flesh and what they touch."""

    model: Model
    law: Hyperelastic
    contact: FleshContact

    @property
    def X(self) -> Floats:
        """Rest positions [m], (n, 3)."""
        return self.model.X


def capsule(
    length: float, radius: float = RADIUS, columns: int = 32, rows: int = 48, centre=(0.0, 0.0, 0.0)
) -> tuple[Floats, Indices]:
    """Returns a round bar along x with round ends: vertices [m] and triangles, closed and outward."""
    straight = 0.5 * length - radius
    arc = np.linspace(0.0, 0.5 * np.pi, max(columns // 4, 3))[1:]
    along = np.concatenate([
        -straight - radius * np.cos(arc[:-1]),
        np.linspace(-straight, straight, rows),
        straight + radius * np.cos(arc[:-1])[::-1]
    ])  # fmt: skip
    around = np.concatenate([radius * np.sin(arc[:-1]), np.full(rows, radius), radius * np.sin(arc[:-1])[::-1]])
    angle = 2.0 * np.pi * np.arange(columns) / columns
    rings = np.stack([
        np.repeat(along, columns), np.outer(around, np.cos(angle)).ravel(), np.outer(around, np.sin(angle)).ravel()
    ], axis=1)  # fmt: skip
    vertices = np.concatenate([rings, [[-0.5 * length, 0.0, 0.0], [0.5 * length, 0.0, 0.0]]])
    count = len(along)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(count - 1), np.arange(columns), indexing="ij"))
    a, b = i * columns + j, i * columns + (j + 1) % columns
    c, d = a + columns, b + columns
    first, last = np.arange(columns), (count - 1) * columns + np.arange(columns)
    near, far = np.full(columns, count * columns), np.full(columns, count * columns + 1)
    triangles = np.concatenate([
        np.c_[a, b, d], np.c_[a, d, c], np.c_[near, np.roll(first, -1), first], np.c_[far, last, np.roll(last, -1)]
    ])  # fmt: skip
    corners = vertices[triangles]
    volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    return vertices + np.asarray(centre), (triangles if volume > 0.0 else triangles[:, ::-1]).astype(np.int32)


def box(at, size: float = 1.0, n: int = 4) -> tuple[Floats, Indices]:
    """Returns a closed box with its lowest corner at `at` [m]: vertices and triangles."""
    vertices, triangles = cube(n, size)
    return vertices + 0.5 * size + np.asarray(at, float), triangles


def flesh(
    surfaces: list[tuple[Floats, Indices]],
    tet_size: float,
    colliders: tuple[BuiltCollider, ...] = (),
    method: str = "smooth",
    law: str = "stable-neo-hookean",
    self_contact: bool = True,
    material: Material = FLESH,
) -> Scene:
    """Returns closed surfaces filled with flesh, one body each."""
    filled = [
        tetrahedralize(make_surface(vertices, triangles, "limb"), Meshing(method, tet_size), "limb")
        for vertices, triangles in surfaces
    ]
    parts = [Part(str(n), mesh.nodes, mesh.tets, mesh.fill, material) for n, mesh in enumerate(filled)]
    model = make_model(parts)
    skins, points = [], []
    for number, ((vertices, triangles), mesh) in enumerate(zip(surfaces, filled, strict=True)):
        used, extra, area = sample_surface(vertices, triangles, tet_size)
        bound = bind(mesh.nodes, mesh.tets, np.concatenate([vertices, extra]))
        count = len(vertices)
        skins.append(RenderSurface(vertices, triangles, bound.tet[:count].copy(), bound.weights[:count].copy()))
        which = np.concatenate([used, np.arange(count, count + len(extra))])
        points.append(contact_points(
            tet=(bound.tet[which] + model.bodies[number].tets.start).astype(np.int32), weights=bound.weights[which],
            area=area, youngs_modulus=np.full(len(which), material.youngs_modulus), mass=1.0, weight=0.0,
            tet_size=tet_size,
        ))  # fmt: skip
    part = part_model(model, range(len(surfaces)))
    contact = make_flesh_contact(part, skins, ContactPoints.together(points), colliders, [self_contact] * len(surfaces))
    return Scene(part.model, hyperelastic(part.model, law, None), contact)


def cylinder_collider(key: str, radius: float, length: float, columns: int = 48) -> BuiltCollider:
    """Returns a rigid round bar along x."""
    vertices, triangles = capsule(length, radius, columns, 8)
    return build_collider(Collider(key, key, "mesh", vertices, triangles, 0.0, 0.0), NoTracks())  # type: ignore[arg-type]


class NoTracks:
    """Nothing is animated."""

    def has(self, name: str) -> bool:
        """Returns False."""
        return False


def arm(length: float = 12.0 * RADIUS, tet_size: float = 0.25 * RADIUS, columns: int = 32, **settings) -> Scene:
    """Returns a limb along x with its elbow in the middle."""
    rows = max(int(length / (2.0 * np.pi * RADIUS / columns)), 4)
    return flesh([capsule(length, RADIUS, columns, rows)], tet_size, **settings)


def bones(X: Floats, angle: float, radius: float = 0.2 * RADIUS, gap: float = 0.8 * RADIUS) -> Held:
    """Returns the nodes of a limb that its two bones hold, the second turned about z in the middle [rad]."""
    is_bone = (np.hypot(X[:, 1], X[:, 2]) <= radius) & (np.abs(X[:, 0]) >= gap)
    nodes = np.flatnonzero(is_bone)
    positions, turned = X[nodes].copy(), X[nodes, 0] > 0.0
    c, s = np.cos(angle), np.sin(angle)
    x, y = positions[turned, 0].copy(), positions[turned, 1].copy()
    positions[turned, 0], positions[turned, 1] = c * x - s * y, s * x + c * y
    return Held(nodes.astype(np.int32), positions)


def passed_through(scene: Scene, x: Floats, least: float, most: float) -> float:
    """Returns how far surfaces have gone through each other at most, found without anything of the solver's contact.

    A little below every vertex, against its normal, it has to be inside once: the winding number of all surfaces as
    they are now says so. Where it is inside twice, one goes on against the normal until it is not.

    Args:
        scene: The bodies.
        x: Node positions [m], (n, 3).
        least, most: Depths below the surface to look at [m].
    """
    skin = scene.contact.skin
    vertices = skin.vertices_at(scene.model, x)
    normals = skin.normals(vertices)[1]
    used = np.unique(skin.triangles)
    normals = normals[used] / np.linalg.norm(normals[used], axis=1, keepdims=True)
    bvh = build_bvh(vertices, skin.triangles)
    deepest, left = 0.0, np.arange(len(used))
    for depth in np.linspace(least, most, 60):
        left = left[winding_numbers(bvh, vertices[used[left]] - depth * normals[left]) > 1.5]
        if not len(left):
            break
        deepest = float(depth)
    return deepest


def bent(scene: Scene, degrees: float, x: Floats, max_iterations: int = 300) -> InContact:
    """Returns a limb at rest with its elbow bent, beginning at x [m], (n, 3)."""
    held = bones(scene.X, np.radians(degrees))
    return solve_in_contact(scene.model, scene.law, held, x, scene.contact.among([]), TOLERANCE, max_iterations)


def fists(tet_size: float) -> Scene:
    """Returns two round ends of flesh a little apart along x, one the mirror image of the other."""
    length, gap = 4.0 * RADIUS, 0.1 * RADIUS
    vertices, triangles = capsule(length, RADIUS, 32, 14, centre=(-0.5 * (length + gap), 0.0, 0.0))
    return flesh([(vertices, triangles), (vertices * [-1.0, 1.0, 1.0], triangles[:, ::-1].copy())], tet_size)


def pressed_together(scene: Scene, by: float, x: Floats) -> InContact:
    """Returns fists at rest whose held ends are moved towards each other by a share of the radius each."""
    ends = np.flatnonzero(np.abs(scene.X[:, 0]) > 1.3 * RADIUS)
    positions = scene.X[ends] - [by * RADIUS, 0.0, 0.0] * np.sign(scene.X[ends])
    held = Held(ends.astype(np.int32), positions)
    return solve_in_contact(scene.model, scene.law, held, x, scene.contact.among([]), TOLERANCE)


def squeezed_limb(tet_size: float) -> Scene:
    """Returns a limb along x and two rigid cylinders."""
    colliders = tuple(cylinder_collider(key, CYLINDER, 4.0 * RADIUS) for key in ("above", "below"))
    return flesh([capsule(8.0 * RADIUS, RADIUS, 32, 36)], tet_size, colliders)


def squeezed(scene: Scene, by: float, x: Floats) -> InContact:
    """Returns the limb at rest, its ends held, and both cylinders gone across into it by a share of its radius."""
    ends = np.flatnonzero(np.abs(scene.X[:, 0]) > 3.3 * RADIUS)
    turn, away = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), RADIUS * (1.0 - by) + CYLINDER
    poses = [np.vstack([turn, [[0.0, side * away, 0.0]]]) for side in (1.0, -1.0)]
    held = Held(ends.astype(np.int32), scene.X[ends])
    return solve_in_contact(scene.model, scene.law, held, x, scene.contact.among(poses), TOLERANCE)


def asymmetry(scene: Scene, x: Floats) -> float:
    """Returns how far fists are from each other's mirror images, as a share of their diameter."""
    vertices = scene.contact.skin.vertices_at(scene.model, x)
    half = len(vertices) // 2
    return float(np.abs(vertices[:half] - vertices[half:] * [-1.0, 1.0, 1.0]).max() / (2.0 * RADIUS))
