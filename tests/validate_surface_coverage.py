# SPDX-License-Identifier: GPL-3.0-or-later
"""Every development surface by both methods: covered, never inverted, or refused in one sentence, within a minute.

Run by `make validate`; takes some minutes. `-s` prints the table.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from fixtures.claim_table import reach
from sinew.solver.mesh.embedding import bind, closest_tets, interpolate
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.tet_quality import signed_volumes
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Meshing
from test_robust_fill import points_on

SECONDS = 60.0


@pytest.mark.parametrize("divisions", [10, 24])
@pytest.mark.parametrize(("folder", "all_of", "least"), [("surface", 17, 17), ("wild", 21, 19)])
def test_reach(shared, folder, all_of, least, divisions):
    done = 0
    paths = sorted((shared / "testdata" / folder).iterdir())
    assert len(paths) == all_of
    for path in paths:
        surface = read_surface(path)
        succeeded = False
        for method in ("smooth", "robust"):
            started = time.perf_counter()
            try:
                mesh = tetrahedralize(surface, Meshing(method, divisions=divisions), path.stem)
            except BadInput as problem:
                print(f"{path.name:32} {method:7} {problem.kind}: {problem.text}")
                continue
            finally:
                assert time.perf_counter() - started < SECONDS
            succeeded = True
            _check(mesh, surface, method)
            report = mesh.report
            print(
                f"{path.name:32} {method:7} {len(mesh.tets):7} tets {report.min_dihedral:5.1f}° to "
                f"{report.max_dihedral:5.1f}° volume {report.volume_ratio:.4f} lost {len(report.lost_parts):3} "
                f"joined {len(report.joined_tets):4} {report.seconds:.2f} s"
            )
        done += succeeded
    reach("Filling", f"surfaces filled, {folder}, {divisions} divisions", f"{done} of {all_of}", least, done >= least)


def _check(mesh, surface, method):
    assert signed_volumes(mesh.nodes, mesh.tets).min() > 0.0
    size = float(np.ptp(surface.vertices, axis=0).max())
    used = surface.vertices[np.unique(surface.triangles)]
    binding = bind(mesh.nodes, mesh.tets, used)
    out = np.empty_like(used)
    interpolate(mesh.nodes, mesh.tets, binding, out)
    assert np.abs(out - used).max() <= 1e-9 * size
    if method == "robust":
        gaps = closest_tets(mesh.nodes, mesh.tets, points_on(surface, 20000)).distance
        assert gaps.max() <= 1e-9 * mesh.report.tet_size
