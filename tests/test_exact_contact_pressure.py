# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with a pressure inside, with Exact contact: as large and as high as by Fast contact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.scenes import Run
from sinew.solver.mesh.geometry.triangle_surface import signed_volume
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.pressure import Pressure
from sinew.solver.scene.scene import Body, Collider, Material, Meshing, Scene, Settings
from sinew.solver.scene.sheet import Sheet

EXACT = Settings(contact="exact", fps=25.0, substeps=4, frame_end=60)
SKIN = {"material": Material(1.0e6, 0.3, 1000.0, 0.0, 0.01), "meshing": Meshing("sheet")}
SOFT = {"material": Material(2.0e4, 0.3, 1000.0, 0.0, 0.02), "meshing": Meshing("smooth", tet_size=0.06)}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "is_sealed"), [(SKIN, True), (SOFT, False)])
def test_a_pressure_swells_a_body_as_by_fast_contact(tmp_path, kind, is_sealed) -> None:
    vertices, triangles = sphere(4)
    _, first, number = np.unique(np.round(vertices, 9), axis=0, return_index=True, return_inverse=True)
    faces = number.ravel()[triangles].astype(np.int32)
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    places, ends = 0.1 * vertices[first] + [0.0, 0.0, 0.102], []
    for contact in ("exact", "fast"):
        body = Body(places, faces, key="ball", name="Ball", sheet=Sheet(1.0e-3, bending=1.0, shear=1.0),
                    pressure=Pressure(2000.0, is_sealed=is_sealed), collision=Collision(0.3), **kind)  # fmt: skip
        run = Run(tmp_path / contact, Scene((body,), (Collider("floor", "Floor"),), replace(EXACT, contact=contact)))
        ends.append(run.advance(16))
        assert run.reports[-1].unsettled == 0
    volumes = [signed_volume(each, faces) for each in ends]
    assert volumes[0] == pytest.approx(volumes[1], rel=2e-3) and volumes[0] > 1.002 * signed_volume(places, faces)
    assert ends[0][:, 2].min() > 0.0
    assert abs(ends[0][:, 2].max() - ends[1][:, 2].max()) < 3e-3  # Fast holds sheets off by 6 % of their edges
