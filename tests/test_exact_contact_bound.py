# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact contact of sheets that are sewn, close T-junctions or are carried by points, and of bodies with bound nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.hybrid_scenes import half_refined_sheet
from fixtures.rigid_bodies import FLOOR, momenta, rigid_box
from fixtures.scenes import Run, block
from fixtures.sheets import grid
from sinew.solver.mesh.geometry.triangle_intersections import surface_intersections
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Body, Scene, Settings
from sinew.solver.scene.seams import Seams
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

EXACT = Settings(contact="exact", fps=25.0, substeps=2, frame_end=60)
COTTON, RUBBER = SHEET_PRESETS["COTTON"], SHEET_PRESETS["RUBBER"]
RUBS = Collision(0.5, 0.0, False)


def by_both(folder: Path, scene: Scene, frames: int, ignored: tuple[frozenset[str], ...] = ()) -> list[Run]:
    """Returns a scene after some frames by Exact and by Fast contact.

    By Exact nothing intersects on the way but what is ignored, pairs of keys.
    """
    runs = []
    faces = {body.key: body.triangles for body in scene.bodies}

    def look() -> None:
        positions = run.simulation.positions()
        for found in surface_intersections({key: (positions[key], faces[key]) for key in faces}):
            assert frozenset(found.surfaces) in ignored, found

    for contact in ("exact", "fast"):
        (folder / contact).mkdir(parents=True)
        run = Run(folder / contact, replace(scene, settings=replace(scene.settings, contact=contact)))
        if contact == "exact":
            run.advance(frames, before_step=look)
            assert not any(report.unsettled for report in run.reports)
        else:
            run.advance(frames)
        runs.append(run)
    return runs


def panels(gap: float, **seams: float) -> Body:
    """Returns two panels of cotton in one plane, a gap [m] apart, whose borders along it are sewn."""
    nodes, triangles = grid((4, 4), (0.2, 0.2))
    count, side = len(nodes), 5
    edges = np.stack([count - side + np.arange(side), count + np.arange(side)], axis=1).astype(np.int32)
    return Body(
        np.concatenate([nodes, nodes + [0.2 + gap, 0.0, 0.0]]),
        np.concatenate([triangles, triangles + count]).astype(np.int32),
        replace(COTTON.material, mass_damping=4.0),
        Meshing("sheet"),
        key="shirt",
        name="Shirt",
        sheet=COTTON.sheet,
        seams=Seams(edges, **seams),
        collision=Collision(0.3, 0.0, True),
    )


@pytest.mark.parametrize("gap", [0.03, 0.0])
def test_a_seam_closes_and_keeps_momentum(tmp_path: Path, gap: float) -> None:
    body = replace(panels(gap), initial_velocity=(0.1, 0.2, 0.3))
    still = replace(EXACT, gravity=(0.0, 0.0, 0.0))
    touching = (frozenset({"shirt"}),) if gap == 0.0 else ()
    run, fast = by_both(tmp_path, Scene((body,), (), still), 20, touching)
    first, second = body.seams.edges.T
    apart = [np.linalg.norm(each.render["shirt"][first] - each.render["shirt"][second], axis=1) for each in (run, fast)]
    assert apart[0].max() < max(apart[1].max(), 1e-3)
    start = Run(tmp_path, Scene((body,), (), still))
    had, has = momenta(start)[0] / (1.0 + 4.0 * 0.02) ** 40, momenta(run)[0]  # its mass damping, by implicit Euler
    np.testing.assert_allclose(has, had, atol=1e-9 * np.abs(momenta(start)[0]).max())


def test_seams_tear_above_their_force_as_by_fast_contact(tmp_path: Path) -> None:
    body = panels(0.0, breaking_force=0.01)
    upright = np.stack([np.zeros(len(body.vertices)), body.vertices[:, 1], -body.vertices[:, 0]], axis=1)
    held = np.arange(len(body.vertices) // 2, dtype=np.int32)
    body = replace(body, vertices=upright, pinned=held, pin_weights=np.ones(len(held)))
    torn = [
        next(force for force in run.built.forces if force.kind == "seams")._stages(run.state)
        for run in by_both(tmp_path, Scene((body,), (), EXACT), 6, (frozenset({"shirt"}),))
    ]
    np.testing.assert_array_equal(torn[0] > 0, torn[1] > 0)


def test_a_sheet_with_t_junctions_does_not_gape_and_lies_as_by_fast_contact(tmp_path: Path) -> None:
    nodes, triangles, bindings = half_refined_sheet(4, 0.2)
    made = replace(RUBBER.sheet, closes_t_junctions=True)
    body = Body(
        nodes + [0.0, 0.0, 0.03], triangles, RUBBER.material, Meshing("sheet"), key="sheet", sheet=made, collision=RUBS
    )
    box = rigid_box((0.1, 0.1, 0.02), (0.1, 0.1, 0.011), key="box", collision=RUBS)
    own = frozenset({"sheet"})  # nodes that hang on edges lie on these
    run, fast = by_both(tmp_path, Scene((body, box), (FLOOR,), EXACT), 12, (own,))
    x = run.render["sheet"]
    assert max(np.linalg.norm(x[b.node] - b.target.weights @ x[b.target.nodes]) for b in bindings) < 1e-12
    assert x[:, 2].min() > 0.0 and x[:, 2].max() > 0.02
    assert np.abs(x - fast.render["sheet"]).max() < 0.02


def test_a_sheet_that_points_carry_lies_on_a_floor_and_on_a_body(tmp_path: Path) -> None:
    nodes, triangles = grid((10, 2), (0.3, 0.04))
    made = replace(COTTON.sheet, is_carried_by_points=True, point_spacing=2.0)
    at = [0.0, -0.02, 0.03]
    body = Body(nodes + at, triangles, COTTON.material, Meshing("sheet"), key="sheet", sheet=made, collision=RUBS)
    box = rigid_box((0.1, 0.1, 0.02), (0.15, 0.0, 0.011), key="box", collision=RUBS)
    run, fast = by_both(tmp_path, Scene((body, box), (FLOOR,), EXACT), 8)
    x = run.render["sheet"]
    above = np.abs(x[:, 0] - 0.15) < 0.04
    assert x[:, 2].min() > 0.0 and x[above, 2].min() > 0.02
    assert np.abs(x - fast.render["sheet"]).max() < 0.02


def test_nodes_bound_to_another_body_stay_there_and_keep_momentum(tmp_path: Path) -> None:
    row = (Attachment("lower", "fixed", 0.03, is_exact=True),)
    lower = block((2, 2, 2), (0.1,) * 3, at=(0.0, 0.0, 0.1), key="lower", collision=RUBS)
    upper = block((2, 2, 2), (0.1,) * 3, at=(0.02, 0.01, 0.2), key="upper", collision=RUBS, attachments=row)
    both = frozenset({"lower", "upper"})  # what is attached does not collide
    run, fast = by_both(tmp_path, Scene((lower, upper), (FLOOR,), EXACT), 16, (both,))
    assert run.built.model.bound is not None and run.reports[-1].contacts > 0
    for key in ("lower", "upper"):
        assert np.abs(run.render[key] - fast.render[key]).max() < 5e-3
    thrown = replace(upper, initial_velocity=(0.5, 0.0, 0.2))
    free = Run(tmp_path / "free", Scene((lower, thrown), (), replace(EXACT, gravity=(0.0, 0.0, 0.0))))
    before = momenta(free)[0]
    free.advance(6)
    np.testing.assert_allclose(momenta(free)[0], before, atol=1e-9 * np.linalg.norm(before))
