# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of bodies that touch each other, themselves and moving colliders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import shapes
from meshes import bar
from scenes import block, boundary, pose, rotation
from sinew.solver.collision import Collision
from sinew.solver.mesh_files.surfaces import read_surface
from sinew.solver.scene import Body, Collider, Material, Meshing, Scene, Settings

NOTHING = (0.0, 0.0, 0.0)  # gravity
RUBBER = Material(1.0e6, 0.3, 1000.0, stiffness_damping=0.01)
MIXED = (
    "bunny_libigl_3k.off", "spot_low.obj", "torus.obj", "koala_low.obj", "sphere.obj", "goathead.obj",
    "penguin.obj", "blub_fish_low.obj", "fox_ascii.stl", "cat_low.obj",
)  # fmt: skip


def bent_block(key: str, cells, lengths, shape, **settings) -> Body:
    """Returns a block whose nodes are put elsewhere by `shape`, (n, 3) → (n, 3)."""
    plain = block(cells, lengths, key=key, **settings)
    return replace(plain, vertices=shape(plain.vertices), tet_nodes=shape(plain.tet_nodes))


def held(body: Body, where) -> Body:
    """Returns a body whose vertices `where` are pinned exactly; without a track of targets they stay."""
    vertices = np.flatnonzero(where(body.vertices)).astype(np.int32)
    return replace(body, pinned=vertices, pin_weights=np.ones(len(vertices)))


def stay(body: Body) -> dict[str, tuple]:
    """Returns the track of targets of a body whose pins stay where they are."""
    return {f"body__{body.key}__targets": ([0.0], body.vertices[body.pinned][None])}


def surface_body(key: str, vertices, triangles, **settings) -> Body:
    """Returns a body that is filled with tets when it is built."""
    return Body(key=key, name=key.capitalize(), vertices=vertices, triangles=triangles, **settings)


def slope_on_plane(mu: float, angle: float) -> tuple[Scene, dict]:
    """Returns a flat block on a plane that is tilted about the y axis, and its tracks."""
    turn = rotation([0, 1, 0], angle)
    body = block((4, 4, 1), (1.0, 1.0, 0.2), turn=turn, material=replace(RUBBER, stiffness_damping=0.02))
    ground = Collider("ground", "Ground", friction=mu)
    return Scene((body,), (ground,)), {"collider__ground__matrix": ([0.0], [pose(turn)], "rigid")}


def slope_on_body(mu: float, angle: float, length: float = 4.0) -> tuple[Scene, dict]:
    """Returns a flat block on a stiff, pinned slab of tets of another size, tilted as above; block first."""
    turn = rotation([0, 1, 0], angle)
    damped, hard = replace(RUBBER, stiffness_damping=0.02), replace(RUBBER, youngs_modulus=1.0e8)
    top = block((4, 4, 1), (1.0, 1.0, 0.2), turn=turn, material=damped, collision=Collision(mu))
    slab = block(
        (10, 5, 1), (length, 1.5, 0.3), at=(-0.2, -0.25, -0.3), turn=turn, key="slab", material=hard,
        collision=Collision(mu),
    )  # fmt: skip
    slab = held(slab, lambda vertices: (vertices @ turn)[:, 2] < -0.29)
    return Scene((top, slab)), stay(slab)


def stack(count: int, size: float = 0.1, cells: int = 2, E: float = 1.0e6, gap: float = 0.0, mu: float = 0.5) -> Scene:
    """Returns boxes one on the other on the ground, the lowest first."""
    material = replace(RUBBER, youngs_modulus=E)
    boxes = [
        block(
            (cells,) * 3, (size,) * 3, at=(-0.5 * size, -0.5 * size, i * (size + gap)), key=f"box{i}",
            material=material, collision=Collision(mu),
        )
        for i in range(count)
    ]  # fmt: skip
    return Scene(tuple(boxes), (Collider("ground", "Ground", friction=mu),))


def arch(mu: float, stones: int = 7, inner: float = 0.8, outer: float = 1.2, depth: float = 0.4) -> Scene:
    """Returns half a ring of stones in the x, z plane that stands on the ground."""
    each = np.pi / stones

    def stone(i: int) -> Body:
        def bend(nodes):
            angle, radius = np.pi - (i + nodes[:, 0]) * each, inner + (outer - inner) * nodes[:, 2]
            return np.column_stack([radius * np.cos(angle), depth * (nodes[:, 1] - 0.5), radius * np.sin(angle)])

        hard = Material(1.0e7, 0.3, 2000.0, stiffness_damping=0.005)
        return bent_block(f"stone{i}", (2, 2, 2), (1, 1, 1), bend, material=hard, collision=Collision(mu))

    return Scene(tuple(stone(i) for i in range(stones)), (Collider("ground", "Ground", friction=mu),))


def bowl_mesh(inner: float, thickness: float, rows: int = 16, columns: int = 48):
    """Returns a closed half of a hollow sphere, open at the top, its lowest inner point at the origin."""
    angles = np.linspace(0.0, 0.5 * np.pi, rows + 1)
    radii = np.concatenate([np.full(rows + 1, inner), np.full(rows + 1, inner + thickness)])
    angles = np.concatenate([angles, angles[::-1]])  # inside upwards, outside downwards
    inside = np.column_stack([radii * np.sin(angles), inner - radii * np.cos(angles)])
    turn = np.arange(columns) * 2.0 * np.pi / columns
    ring = inside[1:-1]  # both ends lie on the axis
    vertices = np.column_stack(
        [np.outer(ring[:, 0], np.cos(turn)).ravel(), np.outer(ring[:, 0], np.sin(turn)).ravel(),
         np.repeat(ring[:, 1], columns)]
    )  # fmt: skip
    vertices = np.vstack([vertices, [0.0, 0.0, inside[0, 1]], [0.0, 0.0, inside[-1, 1]]])
    first, last, n = len(vertices) - 2, len(vertices) - 1, len(ring)
    i, j = (g.ravel() for g in np.meshgrid(np.arange(n - 1), np.arange(columns), indexing="ij"))
    a, b, k = i * columns + j, i * columns + (j + 1) % columns, np.arange(columns)
    triangles = np.vstack([
        np.column_stack([a, b, b + columns]), np.column_stack([a, b + columns, a + columns]),
        np.column_stack([np.full(columns, first), (k + 1) % columns, k]),
        np.column_stack([(n - 1) * columns + k, (n - 1) * columns + (k + 1) % columns, np.full(columns, last)]),
    ])  # fmt: skip
    return vertices, triangles[:, ::-1].astype(np.int32)


def dropped(
    folder: Path, names=MIXED, size: float = 0.2, divisions: int = 9, inner: float = 0.42, seed: int = 3,
    E: tuple[float, float] = (2.0e4, 2.0e6),
) -> Scene:  # fmt: skip
    """Returns bodies of surfaces in `folder`, as large as `size`, above a bowl, each turned at random.

    Their stiffness goes from the first to the second of `E` [Pa], evenly on a logarithmic scale.
    """
    random = np.random.default_rng(seed)
    stiffness = np.logspace(np.log10(E[0]), np.log10(E[1]), len(names))
    bodies = []
    for i, name in enumerate(names):
        surface = read_surface(folder / name)
        vertices = surface.vertices - 0.5 * (surface.vertices.max(axis=0) + surface.vertices.min(axis=0))
        vertices = vertices * (size / np.ptp(vertices, axis=0).max()) @ rotation(random.normal(size=3), 2.0)
        ring, layer = (i % 4) * 0.5 * np.pi + 0.4 * (i // 4), i // 4
        at = [0.62 * size * np.cos(ring) * 1.2, 0.62 * size * np.sin(ring) * 1.2, 0.75 * inner + 1.25 * size * layer]
        bodies.append(
            surface_body(
                f"b{i}", vertices + at, surface.triangles, meshing=Meshing(divisions=divisions),
                material=Material(stiffness[i], 0.35, 1000.0, stiffness_damping=0.01, mass_damping=0.1),
                collision=Collision(0.5),
            )
        )  # fmt: skip
    bowl = Collider("bowl", "Bowl", "mesh", *bowl_mesh(inner, 0.05), friction=0.5)
    return Scene(tuple(bodies), (bowl,), Settings(frame_end=121, substeps=8))


def plates(thickness: float, closed: float, seconds: float, size: float = 3.0) -> tuple[tuple[Collider, ...], dict]:
    """Returns two plates around z = 0, `thickness` apart, that close to `closed`, stay, and open, a third each."""
    vertices, triangles = shapes.cube(1)
    colliders, tracks = [], {}
    times = np.array([0.0, 1.0, 1.5, 2.5, 100.0]) / 2.5 * seconds
    gaps = np.array([thickness, closed, closed, 2.0 * thickness, 2.0 * thickness])
    for name, side in (("lower", -1.0), ("upper", 1.0)):
        colliders.append(Collider(name, name.capitalize(), "mesh", vertices * [size, size, 1.0], triangles))
        poses = [pose(move=(0.0, 0.0, side * (0.5 * gap + 0.5))) for gap in gaps]
        tracks[f"collider__{name}__matrix"] = (times, poses, "rigid")
    return tuple(colliders), tracks


def pinched(share: float = 0.2, cells: int = 5, E: float = 1.0e5, seconds: float = 2.5) -> tuple[Scene, dict]:
    """Returns a cube of 1 m between plates that close to a share of it, without gravity."""
    body = block((cells,) * 3, at=(-0.5, -0.5, -0.5), material=replace(RUBBER, youngs_modulus=E))
    colliders, tracks = plates(1.02, share, seconds)
    return Scene((body,), colliders, Settings(gravity=NOTHING)), tracks


def twisted_bar(cells=(48, 3, 3), length: float = 1.0, width: float = 0.06, turns: float = 1.0, closed: float = 0.35):
    """Returns a bar along x whose ends are turned by `turns` against each other and then brought together.

    Returns the scene and its tracks; ends are `closed` · length apart when it is over, after 4 s.
    """
    material = Material(1.0e6, 0.3, 1000.0, stiffness_damping=0.01, mass_damping=2.0)
    body = block(
        cells, (length, width, width), at=(0.0, -0.5 * width, -0.5 * width), key="bar", material=material,
        collision=Collision(0.3, 0.0, True),
    )  # fmt: skip
    body = held(body, lambda v: (v[:, 0] < 1e-9 + length / cells[0]) | (v[:, 0] > length - length / cells[0] - 1e-9))
    start = body.vertices[body.pinned]
    right = start[:, 0] > 0.5 * length
    times, frames = np.linspace(0.0, 4.0, 97), []
    for time in times:
        now = start.copy()
        turned = min(time / 1.5, 1.0) * turns * 2.0 * np.pi
        now[right] = start[right] @ rotation([1, 0, 0], turned).T
        now[right, 0] -= max(time - 1.0, 0.0) / 3.0 * (1.0 - closed) * length
        frames.append(now)
    return Scene((body,), (), Settings(gravity=(0.0, 0.0, -0.2))), {"body__bar__targets": (times, np.array(frames))}


def tetrahedron(size: float):
    """Returns the nodes [m] of a regular tetrahedron cut into eight times eight tets, and these."""
    corners = size / np.sqrt(8.0) * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    tets = corners[None]
    for _ in range(2):
        a, b, c, d = (tets[:, i] for i in range(4))
        ab, ac, ad, bc, bd, cd = ((p + q) / 2 for p, q in ((a, b), (a, c), (a, d), (b, c), (b, d), (c, d)))
        parts = ((a, ab, ac, ad), (ab, b, bc, bd), (ac, bc, c, cd), (ad, bd, cd, d), (ab, ac, ad, bd),
                 (ab, ac, bc, bd), (ac, ad, bd, cd), (ac, bc, bd, cd))  # fmt: skip
        tets = np.concatenate([np.stack(part, axis=1) for part in parts])
    nodes, number = np.unique(np.round(tets.reshape(-1, 3), 12), axis=0, return_inverse=True)
    numbered = number.reshape(-1, 4).astype(np.int32)
    at = nodes[numbered]
    inside_out = np.linalg.det(at[:, 1:] - at[:, :1]) < 0
    numbered[inside_out] = numbered[inside_out][:, [0, 1, 3, 2]]
    return nodes, numbered


def given(key: str, nodes, tets, **settings) -> Body:
    """Returns a body that brings its tets, and shows their surface."""
    faces = boundary(tets)
    used, numbered = np.unique(faces, return_inverse=True)
    return Body(
        key=key, name=key.capitalize(), vertices=nodes[used], triangles=numbered.reshape(-1, 3).astype(np.int32),
        meshing=Meshing("given"), tet_nodes=nodes, tets=tets, **settings,
    )  # fmt: skip


def random_shape(random, size: float):
    """Returns nodes around the origin, randomly turned, and tets of a box, a ball, a thin plate or a tetrahedron."""
    kind = random.integers(4)
    if kind == 0:
        nodes, tets = bar((3, 3, 3), (size,) * 3)
    elif kind == 1:
        nodes, tets = bar((4, 4, 4), (size,) * 3)
        cube = 2.0 * (nodes - nodes.mean(axis=0)) / size
        square = cube**2
        nodes = cube * np.sqrt(
            1.0 - 0.5 * (square[:, [1, 2, 0]] + square[:, [2, 0, 1]]) + square[:, [1, 2, 0]] * square[:, [2, 0, 1]] / 3
        )
        nodes = 0.5 * size * nodes
    elif kind == 2:
        nodes, tets = bar((6, 6, 1), (size, size, size / 10))
    else:
        nodes, tets = tetrahedron(1.2 * size)
    nodes = nodes - 0.5 * (nodes.max(axis=0) + nodes.min(axis=0))
    return nodes @ rotation(random.normal(size=3), random.uniform(0, np.pi)).T, tets


def pairs(count: int, fastest: float, E: tuple[float, float], seed: int = 0, apart: float = 12.0) -> Scene:
    """Returns pairs of bodies that fly at each other, "a0" and "b0" to start with, every pair far from the others.

    They meet after 2 to 3 frames, a tenth of their size off centre at most.
    """
    random = np.random.default_rng(seed)
    bodies, wide = [], int(np.ceil(count ** (1 / 3)))
    for i in range(count):
        middle = apart * np.array(np.unravel_index(i, (wide,) * 3), float)
        along = random.normal(size=3)
        along /= np.linalg.norm(along)
        speed = fastest * random.uniform(0.1, 1.0) if i else fastest
        size = random.uniform(0.3, 1.0)
        share = random.uniform(0.3, 0.7)  # of the speed that is the first one's
        start = 1.8 * size + speed * random.uniform(0.02, 0.06)
        aside = np.cross(along, random.normal(size=3))
        aside *= random.uniform(0.0, 0.1) * size / np.linalg.norm(aside)
        for key, way, part in (("a", along, share), ("b", -along, 1.0 - share)):
            nodes, tets = random_shape(random, size)
            hard = np.exp(random.uniform(np.log(E[0]), np.log(E[1])))
            bodies.append(
                given(
                    f"{key}{i}", nodes + middle - way * start * part + (aside if key == "a" else 0.0), tets,
                    material=Material(hard, 0.3, 1000.0, stiffness_damping=0.002),
                    initial_velocity=tuple(part * speed * way), collision=Collision(0.3),
                )
            )  # fmt: skip
    return Scene(tuple(bodies), (), Settings(gravity=NOTHING))
