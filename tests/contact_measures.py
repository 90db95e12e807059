# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of bodies in contact, found without anything of the solver's own search for contacts."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.spatial import cKDTree

from sinew.solver.arrays import Bools, Floats, Indices
from sinew.solver.elements.volume_pressure import FLAT
from sinew.solver.embedding import bind
from sinew.solver.geometry.bvh import build_bvh
from sinew.solver.geometry.closest import closest_points
from sinew.solver.geometry.winding import winding_numbers


def depths(points: Floats, vertices: Floats, triangles: Indices) -> Floats:
    """Returns how deep points lie inside a closed surface [m], 0 for those outside, (k,)."""
    found = np.zeros(len(points))
    least, greatest = vertices.min(axis=0), vertices.max(axis=0)
    near = np.flatnonzero(((points > least) & (points < greatest)).all(axis=1))
    if len(near):
        bvh = build_bvh(vertices, triangles)
        near = near[winding_numbers(bvh, points[near]) > 0.5]
        if len(near):
            found[near] = closest_points(bvh, points[near]).distance
    return found


def size_of(vertices: Floats) -> float:
    """Returns the longest side of the box around vertices [m]."""
    return float(np.ptp(vertices, axis=0).max())


def deepest(surfaces: dict[str, tuple[Floats, Indices]], sizes: dict[str, float]) -> tuple[float, str]:
    """Returns how deep a vertex of one surface lies in another, over the size of that other, and of which pair."""
    worst, pair = 0.0, ""
    for (a, (points, _)), (b, (vertices, triangles)) in itertools.permutations(surfaces.items(), 2):
        depth = float(depths(points, vertices, triangles).max(initial=0.0)) / sizes[b]
        if depth > worst:
            worst, pair = depth, f"{a} in {b}"
    return worst, pair


class DeepestEver:
    """The deepest that any surface vertex of a run was in another body, over that body's size."""

    def __init__(self, run) -> None:
        """`run`: one of `scenes.Run`."""
        self.triangles = {body.key: body.triangles for body in run.scene.bodies}
        self.sizes = {body.key: size_of(body.vertices) for body in run.scene.bodies}
        self.depth, self.pair, self.frame = 0.0, "", 0

    def look(self, run) -> None:
        """Looks at the present frame of a run."""
        surfaces = {key: (run.render[key], self.triangles[key]) for key in self.triangles}
        depth, pair = deepest(surfaces, self.sizes)
        if depth > self.depth:
            self.depth, self.pair, self.frame = depth, pair, run.frame

    def __str__(self) -> str:
        return f"{self.depth:.2%}" + (f" ({self.pair}, frame {self.frame})" if self.pair else "")


def kinetic_energy(run, nodes: slice = slice(None)) -> float:
    """Returns ½ Σ m v² [J]."""
    return float(0.5 * np.einsum("n,ni,ni->", run.built.model.mass[nodes], run.state.v[nodes], run.state.v[nodes]))


def elastic_energy(model, x: Floats) -> float:
    """Returns Σ V (μ ε:ε + ½ λ tr(ε)²) [J] with ε = sym(RᵀF) − I and the rotation R of F, at node positions x [m].

    Where a tet has a pressure by volume, of modulus κ, that has ½ κ (J − 1)² in place of the ½ κ tr(ε)² in it.
    """
    corners = x[model.tets]
    F = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2) @ model.Dm_inverse
    U, s, Vt = np.linalg.svd(F)
    inverted = np.linalg.det(U) * np.linalg.det(Vt) < 0.0
    s[inverted, 2] *= -1.0
    strain = s - 1.0  # of sym(RᵀF) − I in its own axes, with R = U diag(1, 1, ±1) Vᵀ
    kappa = model.pressure_modulus if len(model.pressure_modulus) else np.zeros(len(strain))
    density = model.mu * (strain**2).sum(axis=1) + 0.5 * (model.lam - kappa) * strain.sum(axis=1) ** 2
    J, whole = np.linalg.det(F), 1.0 / (6.0 * np.linalg.det(model.Dm_inverse))
    pressed = 0.5 * kappa * (J - 1.0) ** 2
    crushed = 0.5 * kappa * (whole - model.volume) * np.minimum(J - FLAT, 0.0) ** 2
    return float(model.volume @ (density + pressed) + crushed.sum())


def energy(run) -> float:
    """Returns the kinetic and elastic energy and that in gravity, all bodies together [J]."""
    model, g = run.built.model, np.array(run.scene.settings.gravity)
    height = -float(np.einsum("n,ni,i->", model.mass * model.gravity_scale, run.state.x, g))
    return kinetic_energy(run) + elastic_energy(model, run.state.x) + height


class TetOverlap:
    """Points of a body's surface inside tets of the same body that are not near at rest."""

    def __init__(self, body, near: float) -> None:
        """`near`: what is no farther than this at rest is no overlap [m]."""
        self.X, self.tets, self.triangles, self.near = body.tet_nodes, body.tets, body.triangles, near
        self.points = body.vertices
        found = bind(self.X, self.tets, self.points)
        self.corners, self.weights = self.tets[found.tet], found.weights

    def depth(self, x: Floats) -> float:
        """Returns how deep the deepest such point is below the far surface, at node positions x [m]."""
        points = np.einsum("ka,kai->ki", self.weights, x[self.corners])
        inside = np.flatnonzero(self._in_far_tets(points, x))
        if not len(inside):
            return 0.0
        corners, rest = points[self.triangles], self.points[self.triangles].mean(axis=1)
        deepest = 0.0
        for point in inside:
            far = np.linalg.norm(rest - self.points[point], axis=1) > self.near
            bvh = build_bvh(corners[far].reshape(-1, 3), np.arange(3 * far.sum(), dtype=np.int32).reshape(-1, 3))
            deepest = max(deepest, float(closest_points(bvh, points[point][None]).distance[0]))
        return deepest

    def _in_far_tets(self, points: Floats, x: Floats) -> Bools:
        corners = x[self.tets]
        middle = corners.mean(axis=1)
        reach = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
        near = cKDTree(middle).query_ball_point(points, reach.max())
        point = np.repeat(np.arange(len(points)), [len(each) for each in near])
        tet = np.concatenate([np.asarray(each, np.int64) for each in near])
        rest_middle = self.X[self.tets].mean(axis=1)
        far = np.linalg.norm(rest_middle[tet] - self.points[point], axis=1) > self.near
        far &= np.linalg.norm(middle[tet] - points[point], axis=1) < reach[tet]
        point, tet = point[far], tet[far]
        edges = np.swapaxes(corners[tet, 1:] - corners[tet, :1], 1, 2)
        volume = np.linalg.det(edges)
        solid = np.abs(volume) > 1e-12 * reach[tet] ** 3
        point, tet, edges = point[solid], tet[solid], edges[solid]
        three = np.linalg.solve(edges, (points[point] - corners[tet, 0])[:, :, None])[:, :, 0]
        weights = np.column_stack([1.0 - three.sum(axis=1), three])
        found = np.zeros(len(points), bool)
        found[point[(weights > -1e-9).all(axis=1)]] = True
        return found


def turned(X: Floats, x: Floats) -> Floats:
    """Returns the rotation R, (3, 3), for which R (X − its middle) fits x − its middle best, (n, 3) each [m]."""
    U, _, Vt = np.linalg.svd((x - x.mean(axis=0)).T @ (X - X.mean(axis=0)))
    return U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt


def away_from_rest(X: Floats, x: Floats) -> float:
    """Returns the largest distance of nodes x from the rest shape X, moved and turned for the best fit [m]."""
    away = (X - X.mean(axis=0)) @ turned(X, x).T - (x - x.mean(axis=0))
    return float(np.linalg.norm(away, axis=1).max())
