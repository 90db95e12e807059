# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes for shaders: the right values, at every vertex of what is shown, never averaged across a crack."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.fracture_bake import FRAMES, breaking_scene, write_breaking
from fixtures.read_point_ply import read_ply
from fixtures.scenes import JELLY, Run, block, rotation
from fixtures.tiny_bakes import baked, box_of_tets
from sinew.solver.bake.attributes.attribute_fields import attribute_values, attribute_warnings
from sinew.solver.bake.attributes.nodal_recovery import average_at_nodes, interpolate_at_vertices
from sinew.solver.bake.attributes.point_ply import ply_bytes
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.mechanics.elastic_moduli import lame_moduli
from sinew.solver.mesh.embedding import Binding
from sinew.solver.runtime.arrays import indices
from sinew.solver.scene.scene import ATTRIBUTES, Fracture, Heat, Plasticity, Scene, Settings

COLUMNS = {*ATTRIBUTES, "velocity_x", "velocity_y", "velocity_z"} - {"velocity"}


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Mapping[str, Any]]]:
    """A bake with all attributes of a bar that breaks and a cube that is plastic and warm, and its events."""
    cache, told = tmp_path_factory.mktemp("attributes") / "c", []
    write_breaking(cache, breaking_scene(attributes=ATTRIBUTES, samples_per_frame=2))
    run_bake(cache, told.append)
    return cache, told


def columns(cache: Path, key: str, frame: int) -> dict[str, np.ndarray]:
    return read_ply((cache / "attributes" / key / f"{frame:06d}.ply").read_bytes())


def test_the_average_at_nodes_and_its_slow_twin() -> None:
    _, tets, _ = box_of_tets(2)
    random = np.random.default_rng(5)
    volume, values = random.random(len(tets)), random.normal(size=len(tets))
    count = int(tets.max()) + 1
    expected = np.zeros(count)
    for node in range(count):
        own = [tet for tet in range(len(tets)) if node in tets[tet]]
        expected[node] = sum(volume[t] * values[t] for t in own) / sum(volume[t] for t in own)
    np.testing.assert_allclose(average_at_nodes(tets, volume, values, count), expected, rtol=1e-12)
    np.testing.assert_allclose(average_at_nodes(tets, volume, np.full(len(tets), 3.5), count), 3.5, rtol=1e-14)


def test_nothing_is_averaged_across_a_crack() -> None:
    whole, parted = indices([[0, 1, 2, 3], [4, 2, 1, 3]]), indices([[0, 1, 2, 3], [4, 6, 5, 7]])
    values = {"stress": np.array([10.0, 30.0]), "temperature": np.arange(8.0), "velocity": np.eye(8, 3)}
    binding = Binding(indices([0, 1]), np.array([[0.0, 0.5, 0.25, 0.25], [0.0, 0.25, 0.5, 0.25]]))
    together = interpolate_at_vertices(values, whole, np.array([1.0, 1.0]), binding, 8)
    apart = interpolate_at_vertices(values, parted, np.array([1.0, 1.0]), binding, 8)
    np.testing.assert_allclose(together["stress"], [20.0, 20.0])
    np.testing.assert_allclose(apart["stress"], [10.0, 30.0])
    np.testing.assert_allclose(together["temperature"], [1.75, 1.75])
    np.testing.assert_allclose(apart["temperature"], [1.75, 5.75])
    assert set(apart) == {"stress", "temperature", "velocity_x", "velocity_y", "velocity_z"}


def test_outside_of_the_tets_nothing_is_more_than_inside() -> None:
    binding = Binding(indices([0, 0]), np.array([[2.0, -0.5, -0.5, 0.0], [-3.0, 1.0, 1.0, 2.0]]))
    found = interpolate_at_vertices(
        {"temperature": np.array([7.0, 1.0, 3.0, 4.0])}, indices([[0, 1, 2, 3]]), np.ones(1), binding, 4
    )
    np.testing.assert_allclose(found["temperature"], [7.0, 3.0])


def test_stress_of_a_stretched_and_turned_block(tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((block(attributes=("stress", "principal_stress")),), settings=Settings(1, 2)))
    strain = np.array([0.02, -0.01, 0.005])
    run.state.x[:] = run.built.model.X * (1.0 + strain) @ rotation((1, 2, 3), 1.1).T
    mu, lam = lame_moduli(JELLY.youngs_modulus, JELLY.poisson_ratio)
    principal = 2.0 * mu * strain + lam * strain.sum()
    von_mises = np.sqrt(0.5 * sum((a - b) ** 2 for a, b in zip(principal, np.roll(principal, 1), strict=True)))
    body, model = run.built.bodies[0], run.built.model
    values = attribute_values(run.simulation, ("stress", "principal_stress"))
    drawn = interpolate_at_vertices(values, model.tets, model.volume, body.binding, model.node_count)
    np.testing.assert_allclose(drawn["stress"], von_mises, rtol=1e-9)
    np.testing.assert_allclose(drawn["principal_stress"], principal.max(), rtol=1e-9)


@pytest.mark.slow
def test_every_frame_has_a_file_for_what_is_shown(through: tuple[Path, list]) -> None:
    cache, _ = through
    result = CacheReader(cache).read_result("pulled")
    assert result is not None
    for frame in range(1, FRAMES + 1):
        number = CacheReader(cache).metadata.sample_count(frame) - 1
        for key, path, count in (
            ("cube", cache / "play" / "cube.pc2", 8),
            ("pulled", cache / "result" / "pulled.pc2", len(result["rest"])),
        ):
            found = columns(cache, key, frame)
            assert set(found) == COLUMNS | {"x", "y", "z"} and len(found["x"]) == count
            shown = np.stack([found[axis] for axis in "xyz"], axis=1)
            assert (shown == read_samples(path, number, 1)[0]).all()
            assert all(np.isfinite(values).all() for values in found.values())


def test_the_values_say_what_happened(through: tuple[Path, list]) -> None:
    cache, _ = through
    first, last = columns(cache, "cube", 1), columns(cache, "cube", FRAMES)
    assert (first["stress"] < 1e-6).all() and (first["plastic_strain"] == 0.0).all()
    assert last["plastic_strain"].max() > 1e-4 and (last["damage"] == 0.0).all()
    np.testing.assert_allclose(first["temperature"], 35.0)
    falling = columns(cache, "cube", 2)
    np.testing.assert_allclose(falling["velocity_z"], -9.81 / 24.0, rtol=0.02)
    before, after = columns(cache, "pulled", 3), columns(cache, "pulled", FRAMES)
    assert before["damage"].max() < 1.0 <= after["damage"].max()
    assert 0.0 <= after["damage"].min() and (after["temperature"] == 0.0).all()
    x = after["velocity_x"]
    assert x.min() < -0.05 and x.max() > 0.05, "its halves go apart"


def test_values_of_broken_bodies_and_their_slow_twin(through: tuple[Path, list]) -> None:
    cache, _ = through
    reader = CacheReader(cache)
    result, model, cube = reader.read_result("pulled"), reader.read_model("pulled"), reader.read_model("cube")
    assert result is not None
    topology = reader.read_topology(reader.topologies()[-1])
    tets = topology["tets"][len(cube["tets"]) :] - len(cube["nodes"])
    per_tet = reader.read_frame(FRAMES).fields["attribute.pulled.stress"]
    edges = model["nodes"][model["tets"][:, 1:]] - model["nodes"][model["tets"][:, :1]]
    volume = np.linalg.det(edges) / 6.0
    drawn = columns(cache, "pulled", FRAMES)["stress"]
    for vertex in range(0, len(drawn), 37):
        total = 0.0
        for weight, node in zip(result["weights"][vertex], tets[result["tet"][vertex]], strict=True):
            own = (tets == node).any(axis=1)
            total += weight * (volume[own] @ per_tet[own]) / volume[own].sum()
        assert drawn[vertex] == pytest.approx(total, rel=1e-5, abs=1e-3)


def test_asking_for_what_nothing_makes_is_said(through: tuple[Path, list]) -> None:
    _, told = through
    (built,) = (event for event in told if event["event"] == "built")
    words = [w["sentence"] for body in built["bodies"] for w in body["warnings"] if w["kind"].startswith("attribute")]
    assert len(words) == 3 and any("Temperature" in w and '"Pulled Bar"' in w and "Heat" in w for w in words)
    body = dataclasses.replace(block(), attributes=ATTRIBUTES, heat=Heat(), plasticity=Plasticity())
    assert [w.details["what"] for w in attribute_warnings(body)] == ["Fracture"]
    assert attribute_warnings(dataclasses.replace(body, fracture=Fracture())) == [] == attribute_warnings(block())


def test_a_file_comes_back_and_others_are_refused() -> None:
    random = np.random.default_rng(3)
    positions = random.random((5, 3)).astype(np.float32)
    written = ply_bytes(positions, {"stress": np.arange(5.0)})
    found = read_ply(written)
    assert (np.stack([found[axis] for axis in "xyz"], axis=1) == positions).all()
    assert list(found) == ["x", "y", "z", "stress"] and (found["stress"] == np.arange(5.0)).all()
    for damaged in (b"", b"ply\nformat ascii 1.0\nend_header\n", written[:-4]):
        with pytest.raises(ValueError, match=r"PLY|reshape"):
            read_ply(damaged)


def test_other_programs_read_the_files(through: tuple[Path, list]) -> None:
    meshio = pytest.importorskip("meshio")
    cache, _ = through
    mesh = meshio.read(cache / "attributes" / "pulled" / f"{FRAMES:06d}.ply")
    found = columns(cache, "pulled", FRAMES)
    assert (mesh.points[:, 0] == found["x"]).all()
    assert set(mesh.point_data) == COLUMNS and (mesh.point_data["stress"] == found["stress"]).all()


@pytest.mark.slow
def test_resumed_attributes_have_the_same_bytes(through: tuple[Path, list], tmp_path: Path) -> None:
    cache = tmp_path / "c"
    write_breaking(cache, breaking_scene(attributes=ATTRIBUTES, samples_per_frame=2))
    run_bake(cache, lambda event: None, options=BakeOptions(frame_end=8))
    run_bake(cache, lambda event: None, options=BakeOptions(resume=True))
    assert baked(cache) == baked(through[0])
