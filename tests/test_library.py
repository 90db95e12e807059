# SPDX-License-Identifier: GPL-3.0-or-later
"""The public interface: what `import sinew` has, what it loads, and what its calls do."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sinew
from fixtures.scenes import block
from sinew.solver.simulation.advance_frame import advance_frame

ROOT = Path(__file__).resolve().parent.parent
BLOCK = block((2, 2, 2), at=(0.0, 0.0, 1.0))


def small_scene(**settings: object) -> sinew.Scene:
    return sinew.Scene([BLOCK], [sinew.Collider()], sinew.Settings(frame_end=5, **settings))  # type: ignore[arg-type]


def test_type_checkers_see_the_names_that_there_are() -> None:
    """The names below TYPE_CHECKING are those that are loaded late, from the same modules."""
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    (late,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in late.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: f".{node.module}" for node in imports for alias in node.names}
    assert seen == sinew._MODULE_OF


@pytest.mark.parametrize("name", sinew.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    found = getattr(sinew, name)
    assert found.__doc__ and name in dir(sinew)
    assert f"`{name}`" in (ROOT / "docs" / "library.md").read_text(encoding="utf-8"), "docs/library.md leaves it out"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Bodies'"):
        sinew.Bodies  # noqa: B018
    importlib.reload(sinew)
    assert sinew.Body is importlib.import_module("sinew.solver.scene.scene").Body


def test_importing_it_loads_nothing() -> None:
    code = (
        "import sys; import sinew; early = set(sys.modules); sinew.Scene, sinew.CacheReader, sinew.BadInput;"
        "print(*(n for n in early if n.split('.')[0] in ('numpy', 'numba', 'scipy') or n.startswith('sinew.')));"
        "print(*{'numba', 'scipy', 'bpy'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and ended.stdout == "\n\n", ended.stdout + ended.stderr


def test_frames_are_yielded_from_the_first() -> None:
    frames = list(sinew.Simulation(small_scene()).run())
    assert [frame.number for frame in frames] == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(frames[0].positions["block"], BLOCK.vertices, atol=1e-12)
    fallen = frames[-1].positions["block"][:, 2].mean() - frames[0].positions["block"][:, 2].mean()
    assert fallen == pytest.approx(-0.5 * 9.81 * (4 / 24) ** 2, rel=0.1)
    assert all(frame.report.converged for frame in frames)


def test_two_simulations_of_one_build_do_not_share_a_state() -> None:
    one = sinew.Simulation(small_scene())
    other = sinew.Simulation(one.scene, one.tracks, one.built)
    list(one.run())
    assert other.frame == 1 and np.array_equal(other.state.x, one.built.initial.x)
    twin = other.copy()
    assert [f.number for f in twin.run()] == [1, 2, 3, 4, 5] and other.frame == 1
    assert twin.state.x.tobytes() == one.state.x.tobytes()


def test_run_goes_on_where_it_is() -> None:
    whole, parts = sinew.Simulation(small_scene()), sinew.Simulation(small_scene())
    assert [frame.number for frame in whole.run()] == [1, 2, 3, 4, 5]
    assert parts.advance().number == 2
    assert [frame.number for frame in parts.run()] == [3, 4, 5] and not list(parts.run())
    assert parts.state.x.tobytes() == whole.state.x.tobytes()


def test_a_pre_roll_is_made_before_the_first_frame() -> None:
    scene, told = small_scene(preroll=4), []
    first = next(sinew.Simulation(scene).run(sinew.FrameCallbacks(on_preroll=told.append)))
    assert first.number == 1 and told == [0.25, 0.5, 0.75, 1.0]
    assert first.positions["block"][:, 2].mean() < BLOCK.vertices[:, 2].mean() - 0.1


def test_what_a_callback_raises_leaves_the_frame_before() -> None:
    calls = []

    def stop() -> None:
        calls.append(len(calls))
        if len(calls) == 7:  # the third step of the second frame
            raise KeyboardInterrupt

    stopped, whole = sinew.Simulation(small_scene()), sinew.Simulation(small_scene())
    with pytest.raises(KeyboardInterrupt):
        list(stopped.run(sinew.FrameCallbacks(before_step=stop)))
    assert stopped.frame == 2
    whole.advance()
    assert stopped.state.x.tobytes() == whole.state.x.tobytes()
    list(stopped.run()), list(whole.run())
    assert stopped.state.x.tobytes() == whole.state.x.tobytes()


def test_samples_within_a_frame_are_told() -> None:
    seen = []
    callbacks = sinew.FrameCallbacks(on_sample=lambda positions: seen.append(positions["block"][:, 2].mean()))
    simulation = sinew.Simulation(small_scene(samples_per_frame=4))
    simulation.start()
    frame = simulation.advance(callbacks)
    assert len(seen) == 4 and seen == sorted(seen, reverse=True)
    assert frame.positions["block"][:, 2].mean() == seen[-1]


def test_steps_make_the_frame() -> None:
    by_steps, by_frame = sinew.Simulation(small_scene()), sinew.Simulation(small_scene())
    reports = [by_steps.step() for _ in range(4)]
    by_frame.advance()
    assert by_steps.frame == 2 and all(report.converged for report in reports)
    np.testing.assert_allclose(by_steps.state.x, by_frame.state.x, atol=1e-12)


def test_tracks_are_taken_by_name() -> None:
    body = replace(BLOCK, pinned=np.flatnonzero(BLOCK.vertices[:, 2] > 1.9))
    scene = sinew.Scene([body], settings=sinew.Settings(frame_end=3))
    at = body.vertices[body.pinned]
    track = sinew.Track([0.0, 2 / 24], np.array([at, at + [0.1, 0.0, 0.0]]))
    *_, last = sinew.Simulation(scene, {"body.block.targets": track}).run()
    np.testing.assert_allclose(last.positions["block"][body.pinned], at + [0.1, 0.0, 0.0], atol=1e-9)


def test_a_track_that_nothing_reads_is_refused() -> None:
    with pytest.raises(sinew.BadInput, match='"body.blok.targets"'):
        sinew.Simulation(small_scene(), {"body.blok.targets": ([0.0], [[0.0]])})


def test_a_bake_has_the_frames_of_the_simulation(tmp_path: Path) -> None:
    scene, events = small_scene(), []
    cache = sinew.bake(scene, tmp_path / "a.sinew", {"gravity": ([0.0], [[0.0, 0.0, -5.0]])}, on_event=events.append)
    assert cache.baked_range() == (1, 5) and events[-1]["event"] == "done"
    for frame in sinew.Simulation(scene, {"gravity": ([0.0], [[0.0, 0.0, -5.0]])}).run():
        np.testing.assert_array_equal(
            cache.read_positions(frame.number, "block"), frame.positions["block"].astype(np.float32)
        )
    longer = replace(scene, settings=replace(scene.settings, frame_end=7))
    again = sinew.bake(longer, tmp_path / "a.sinew", {"gravity": ([0.0], [[0.0, 0.0, -5.0]])}, resume=True)
    assert again.baked_range() == (1, 7)
    with pytest.raises(sinew.StorageFailed, match="animation"):
        sinew.bake(longer, tmp_path / "a.sinew", resume=True)


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(sinew.BadInput):
        sinew.bake(small_scene(fps=-1.0), tmp_path / "a.sinew")
    assert not (tmp_path / "a.sinew").exists()


def test_tets_fill_a_surface_and_step() -> None:
    mesh = sinew.tetrahedralize(*sinew.shapes.box(divisions=2), sinew.Meshing(divisions=4))
    model = sinew.model_of_tets(mesh.nodes, mesh.tets, sinew.Material(1.0e5), mesh.fill)
    assert model.mass.sum() == pytest.approx(1000.0, rel=0.02)
    state = sinew.rest_state(model)
    report = sinew.step(model, state, sinew.ExternalForces(np.array([0.0, 0.0, -10.0])), 0.1)
    assert report.converged and state.time == pytest.approx(0.1)
    np.testing.assert_allclose(state.v, np.broadcast_to([0.0, 0.0, -1.0], state.v.shape), atol=1e-6)
    assert np.array_equal(model.X, mesh.nodes)


def test_an_equilibrium_is_at_rest() -> None:
    nodes, tets = sinew.shapes.box_tets((4, 2, 2), (0.2, 0.1, 0.1))
    model = sinew.model_of_tets(nodes, tets)
    held = np.flatnonzero(nodes[:, 0] < 1e-9).astype(np.int32)
    fixed = sinew.FixedNodes(held, nodes[held])
    assert np.array_equal(sinew.equilibrium(model, fixed).x, nodes)
    pulled = sinew.equilibrium(model, fixed, "neo-hookean", load=0.1 * np.ones_like(nodes))
    assert pulled.converged and pulled.energy != 0.0 and np.array_equal(model.X, nodes)
    with pytest.raises(sinew.BadInput):
        sinew.equilibrium(model, sinew.FixedNodes(held[:0], nodes[:0]))


@pytest.mark.parametrize("surface", [sinew.shapes.box((1.0, 2.0, 3.0), 3), sinew.shapes.sphere(), sinew.shapes.torus()])
def test_shapes_are_closed_and_look_outward(surface: tuple[np.ndarray, np.ndarray]) -> None:
    vertices, triangles = surface
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    assert {tuple(edge) for edge in edges.tolist()} == {tuple(edge[::-1]) for edge in edges.tolist()}
    corners = vertices[triangles]
    assert np.linalg.det(corners).sum() > 0.0 and len(np.unique(triangles)) == len(vertices)


def test_an_experiment_at_the_lower_level_sees_the_same_frames() -> None:
    """`advance_frame` is what `Simulation.advance` calls, for code that wants no copy of the state."""
    one, other = sinew.Simulation(small_scene()), sinew.Simulation(small_scene())
    one.advance()
    advance_frame(other, 2, None)
    assert one.state.x.tobytes() == other.state.x.tobytes()
