# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are loaded until they break, by forces on their ends instead of pins: ends stay free to contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from meshes import bar
from scenes import boundary
from sinew.solver.break_up import break_up
from sinew.solver.build import build
from sinew.solver.integrators.implicit_euler import step
from sinew.solver.integrators.outside import Outside
from sinew.solver.present_model import present_model
from sinew.solver.scene import Body, Fracture, Material, Meshing, Scene, Settings
from sinew.solver.simulation import Simulation
from sinew.solver.tracks import TrackReader

STIFF = Material(youngs_modulus=1.0e6, poisson_ratio=0.3, density=1000.0, mass_damping=5.0, stiffness_damping=0.002)


def breakable(nodes, tets, fracture: Fracture, *, material: Material = STIFF, key="bar", **settings) -> Body:
    """Returns a body of given tets that may break."""
    faces = boundary(np.asarray(tets, np.int32))
    used, numbered = np.unique(faces, return_inverse=True)
    return Body(
        key=key,
        name=key.capitalize(),
        vertices=nodes[used],
        triangles=numbered.reshape(-1, 3).astype(np.int32),
        meshing=Meshing("given"),
        tet_nodes=nodes,
        tets=np.asarray(tets, np.int32),
        material=material,
        fracture=fracture,
        **settings,
    )


def irregular(nodes, tets, reach, seed=0):
    """Returns nodes moved about by lot, those on the outside left where they are, for tets of about one size."""
    inner = np.setdiff1d(np.arange(len(nodes)), boundary(np.asarray(tets, np.int32)))
    moved = nodes.copy()
    moved[inner] += np.random.default_rng(seed).uniform(-reach, reach, (len(inner), 3))
    return moved


class Pulled:
    """A body under forces on boundary faces, stepped at 100 Hz."""

    def __init__(self, folder: Path, body: Body, traction, dt: float = 0.01) -> None:
        """`traction`: from centres of boundary faces [m], (t, 3), to tractions at load one [Pa], (t, 3)."""
        scene = Scene((body,), settings=Settings(fps=1.0 / dt, substeps=1, gravity=(0.0, 0.0, 0.0), tolerance=1e-6))
        built = build(scene, TrackReader(folder, wait=0.0), lambda *stage: None)
        self.dt, self.number = dt, 0
        self.simulation = Simulation(scene, TrackReader(folder, wait=0.0), built, built.initial.copy())
        mesh = built.bodies[0].mesh
        faces = boundary(mesh.tets)
        corners = mesh.nodes[faces]
        area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        at_face = area[:, None] * traction(corners.mean(axis=1))
        self.force = np.zeros_like(mesh.nodes)
        for corner in range(3):
            np.add.at(self.force, faces[:, corner], at_face / 3.0)
        self.share = self.force / np.maximum(np.bincount(mesh.tets.ravel(), minlength=len(mesh.nodes)), 1)[:, None]
        self.whole_tets = mesh.tets
        direction = self.force[np.abs(self.force).sum(axis=1).argmax()]
        along = self.force @ direction
        self.ends = int(along.argmax()), int(along.argmin())  # nodes that are pulled apart

    def step(self, load: float) -> None:
        """Takes one step under a load; a force on a node that has split is shared by its copies."""
        simulation = self.simulation
        model, state = present_model(simulation.built, simulation.state), simulation.state
        force = np.zeros_like(state.x)
        np.add.at(force, model.tets.ravel(), self.share[self.whole_tets.ravel()])
        self.number += 1
        step(model, state, Outside(np.zeros(3), node_force=load * force), self.dt, simulation.scene.settings)
        state.time = self.number * self.dt
        break_up(simulation, model, None, state.time)

    @property
    def splits(self) -> int:
        """Nodes that have split so far."""
        built = self.simulation.built
        return built.model.node_count - (built.whole or built).model.node_count

    @property
    def pieces(self) -> int:
        """Pieces by now."""
        return self.simulation.built.model.pattern.island_count

    @property
    def is_apart(self) -> bool:
        """Whether the two ends are in different pieces."""
        model = self.simulation.built.model
        islands = [
            np.searchsorted(model.pattern.island_start, model.tets.ravel()[corner], side="right")
            for corner in (np.flatnonzero(self.whole_tets.ravel() == end)[0] for end in self.ends)
        ]
        return bool(islands[0] != islands[1])

    def pull(self, until: float, seconds: float, start: float = 0.0) -> tuple[float, float]:
        """Raises the load from `start` to `until`; returns the loads at which it began to break and was in pieces."""
        steps, first, apart = round(seconds / self.dt), np.inf, np.inf
        for number in range(1, steps + 1):
            load = start + (until - start) * number / steps
            self.step(load)
            if self.splits and first == np.inf:
                first = load
            if self.splits and self.is_apart:
                apart = load
                break
        return first, apart


def tension_bar(across: int, fracture: Fracture, **settings) -> Body:
    """Returns a bar 4 × 1 × 1 along x with so many cells across it."""
    nodes, tets = bar((4 * across, across, across), (4.0, 1.0, 1.0))
    nodes = irregular(nodes, tets, 0.12 / across)
    return breakable(nodes, tets, fracture, **settings)


def pull_ends(length, stress=1.0):
    """Returns tractions on the two ends of a bar along x."""

    def traction(centres):
        side = np.where(centres[:, 0] > length - 1e-9, 1.0, np.where(centres[:, 0] < 1e-9, -1.0, 0.0))
        return stress * side[:, None] * np.array([1.0, 0.0, 0.0])

    return traction


def bend_ends(length, height):
    """Returns tractions that bend a bar along x: above its middle in z it is pulled, by 1 Pa at the top."""

    def traction(centres):
        side = np.where(centres[:, 0] > length - 1e-9, 1.0, np.where(centres[:, 0] < 1e-9, -1.0, 0.0))
        stress = side * (2.0 * centres[:, 2] / height - 1.0)
        return stress[:, None] * np.array([1.0, 0.0, 0.0])

    return traction


def notched_plate(across: int, fracture: Fracture, notch=0.25, opening=0.02, thick=2, **settings) -> Body:
    """Returns a plate 1 × 2 in x and z with a sharp notch from x = 0 to `notch` at half its height.

    The grid is cut open along the notch, and both of its sides are moved apart in a wedge.
    """
    cells = (across, thick, 2 * across)
    nodes, tets = bar(cells, (1.0, thick / across, 2.0))
    centre = nodes[tets].mean(axis=1)
    on_notch = np.flatnonzero((np.abs(nodes[:, 2] - 1.0) < 1e-9) & (nodes[:, 0] < notch - 1e-9))
    copy = np.arange(len(nodes))
    copy[on_notch] = len(nodes) + np.arange(len(on_notch))
    tets = np.where((centre[:, 2] > 1.0)[:, None], copy[tets], tets).astype(np.int32)
    nodes = np.concatenate([nodes, nodes[on_notch]])
    wedge = 0.5 * opening * (notch - nodes[:, 0]) / notch
    side = np.zeros(len(nodes))
    side[on_notch], side[copy[on_notch]] = -1.0, 1.0
    # taken up by the whole plate, so that no tet is crushed
    away = np.clip(1.0 - np.abs(nodes[:, 2] - 1.0), 0.0, 1.0) * np.maximum(wedge, 0.0)
    side = np.where(nodes[:, 2] > 1.0, 1.0, np.where(nodes[:, 2] < 1.0, -1.0, side))
    nodes[:, 2] += side * away
    return breakable(nodes, tets, fracture, **settings)


def pull_up(height):
    """Returns tractions on top and bottom of a plate."""

    def traction(centres):
        side = np.where(centres[:, 2] > height - 1e-9, 1.0, np.where(centres[:, 2] < 1e-9, -1.0, 0.0))
        return side[:, None] * np.array([0.0, 0.0, 1.0])

    return traction
