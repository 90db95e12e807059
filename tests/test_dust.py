# SPDX-License-Identifier: GPL-3.0-or-later
"""Splinters of brittle bodies that are shown as particles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sinew
from fixtures.brittle_scenes import SCRATCHED_GLASS, dropped_slab
from fixtures.read_point_ply import read_ply
from sinew.solver.bake.cache import CacheReader, layout
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.bake.postprocess.dust import find_dust
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.mesh.tet_mesh import MeshReport, TetMesh
from sinew.solver.scene.scene import Scene
from sinew.solver.simulation.simulation import Simulation
from test_brittle_bodies import energy, momentum, two_in_the_air

FPS = 24.0


def with_dust(scene: Scene) -> Scene:
    glass, *others = scene.bodies
    assert glass.fracture is not None
    return replace(scene, bodies=(replace(glass, fracture=replace(glass.fracture, makes_dust=True)), *others))


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> CacheReader:
    return sinew.bake(
        with_dust(dropped_slab(1.0, frames=6, fracture=SCRATCHED_GLASS)),
        tmp_path_factory.mktemp("dust") / "glass.sinew",
    )


def particles(cache: CacheReader, frame: int) -> dict[str, np.ndarray]:
    return read_ply(layout.dust_path(cache.folder, "glass", frame).read_bytes())


@pytest.mark.slow
def test_momentum_and_mass_stay_where_dust_comes_off_and_energy_never_grows() -> None:
    simulation = Simulation(with_dust(two_in_the_air(20.0)))
    simulation.start()
    before, available, mass = momentum(simulation), energy(simulation), simulation.built.model.mass.sum()
    first = available
    while simulation.frame < 4:
        simulation.step()
        assert np.abs(momentum(simulation)[0] - before[0]).max() < 1e-9 * np.abs(before[0]).max()
        assert energy(simulation) <= available + 1e-8 * first
        available = energy(simulation)
        assert simulation.built.model.mass.sum() == pytest.approx(mass, rel=1e-12)
    assert simulation.built.pieces is not None and simulation.built.pieces.bodies[0].dust_count > 0


@pytest.mark.slow
def test_what_is_smaller_than_half_a_cell_is_a_particle_and_nothing_else_is(baked: CacheReader) -> None:
    made = particles(baked, 6)
    simulation = Simulation(with_dust(dropped_slab(1.0, frames=6, fracture=SCRATCHED_GLASS)))
    for _ in simulation.run():
        pass
    assert simulation.built.pieces is not None
    body = simulation.built.pieces.bodies[0]
    volumes = np.array([body.body.volume[tets].sum() for tets in body.tets_of_pieces])
    dust = volumes[volumes < body.body.min_fragment_volume]
    assert len(dust) == body.dust_count == len(made["size"]) > 3
    assert np.sort(np.pi / 6.0 * made["size"].astype(float) ** 3) == pytest.approx(np.sort(dust), rel=1e-5)


@pytest.mark.slow
def test_particles_have_the_age_since_they_came_off_and_fly_by_their_velocity(baked: CacheReader) -> None:
    frames = layout.dust_frames(baked.folder, "glass")
    assert frames and frames[-1] == 6
    was: dict[str, np.ndarray] | None = None
    for frame in frames:
        now = particles(baked, frame)
        assert (np.diff(now["number"]) > 0).all()
        if was is not None:
            rows = np.searchsorted(now["number"], was["number"])
            assert now["age"][rows] == pytest.approx(was["age"] + 1.0 / FPS, abs=1e-6)
            new = np.setdiff1d(np.arange(len(now["age"])), rows)
            assert (now["age"][new] == 0.0).all()
            for axis in "xyz":
                moved = FPS * (now[axis][rows].astype(float) - was[axis])
                assert now[f"velocity_{axis}"][rows] == pytest.approx(moved, abs=1e-3)
        was = now


@pytest.mark.slow
def test_dust_is_a_point_of_the_mesh_from_then_on(baked: CacheReader) -> None:
    made, dust = baked.read_result("glass"), particles(baked, 6)
    assert made is not None
    at = np.stack([dust[axis] for axis in "xyz"], axis=1)
    _, motion = layout.result_paths(baked.folder, "glass")
    ends = read_samples(motion, 5, 1)[0]
    gone = np.flatnonzero((np.abs(ends[:, None] - at).max(axis=2) < 1e-6).any(axis=1))
    pieces = {int(made["piece"][face]) for face in range(len(made["piece"]))}
    corners, starts = made["corners"], made["face_start"]
    shrunk = {
        int(made["piece"][face])
        for face in range(len(made["piece"]))
        if np.isin(corners[starts[face] : starts[face + 1]], gone).all()
    }
    assert len(shrunk) == len(at) < len(pieces)
    assert (np.ptp(read_samples(motion, 0, 1)[0][gone], axis=0) > 0.01).all(), "before, they are part of the surface"


def test_no_body_in_one_piece_has_dust() -> None:
    nodes, tets = box_tets((3, 3, 3), (1.0, 1.0, 1.0))
    mesh = TetMesh(nodes, tets, np.ones(len(tets)), MeshReport(0.3, 0.0, 0.0, 1.0, 1.0))
    assert not len(find_dust(mesh, tets).volume)
    apart = tets.copy()
    apart[5] = len(nodes) + np.arange(4)  # one tet alone
    (size,) = find_dust(mesh, apart).size
    assert np.pi / 6.0 * size**3 == pytest.approx(abs(np.linalg.det(nodes[tets[5, 1:]] - nodes[tets[5, 0]])) / 6.0)
