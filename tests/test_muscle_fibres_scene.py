# SPDX-License-Identifier: GPL-3.0-or-later
"""What scenes say of the fibres of a muscle arrives in its tets, is stored, and is refused with its name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sinew.solver.__main__ import main
from sinew.solver.mesh import shapes
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.npz_reader import read_arrays
from sinew.solver.scene.fibres import FibreCurves, FibreLattice, Fibres, TendonMesh
from sinew.solver.scene.scene import Scene
from sinew.solver.simulation.features.muscles import Muscles
from test_muscle_scene import LONG, SETTINGS, WIDE, muscle_block, run_of

NO_ENDS = {"origin": np.zeros(0), "insertion": np.zeros(0)}


def body_with(fibres: Fibres, **muscle):
    body = muscle_block()
    return replace(body, muscle=replace(body.muscle, fibres=fibres, **muscle))


def built(folder, body):
    """Returns what the tets of the muscle are made of, and their centroids, (k, 3)."""
    run = run_of(folder, body)
    mesh = run.built.bodies[0].mesh
    feature = next(feature for feature in run.built.features if isinstance(feature, Muscles))
    return feature.arrays, mesh.nodes[mesh.tets].mean(axis=1)


def box_lattice(turn: float = 0.0, grown: float = 1.4) -> FibreLattice:
    """Returns a lattice around the block whose u axis is along x, turned about z."""
    w, v, u = np.meshgrid(*(np.linspace(-0.5, 0.5, n) for n in (2, 2, 3)), indexing="ij")
    rest = np.stack([u, v, w], axis=-1).reshape(-1, 3)
    matrix = np.eye(4)
    c, s = np.cos(turn), np.sin(turn)
    matrix[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) * grown * np.array([LONG, LONG, LONG])
    matrix[:3, 3] = 0.5 * LONG, 0.5 * WIDE, 0.5 * WIDE
    return FibreLattice(rest, rest, matrix, (3, 2, 2), name="Cage")


def slanted_curves() -> FibreCurves:
    points = [[0.0, 0.0, 0.5 * WIDE], [LONG, WIDE, 0.5 * WIDE]]
    return FibreCurves(points, [2], name="Strands")


def tendon_box(low: float, high: float, name: str = "Sheet") -> TendonMesh:
    vertices, triangles = shapes.box(size=(LONG, high - low, 2.0 * WIDE))
    middle = [0.5 * LONG, 0.5 * (low + high), 0.5 * WIDE]
    return TendonMesh(vertices - vertices.mean(axis=0) + middle, triangles, name)


def test_fibres_follow_the_axis_of_a_lattice_without_ends(tmp_path):
    fibres = Fibres("lattice", axis="u", lattice=box_lattice(0.2))
    arrays, _ = built(tmp_path, body_with(fibres, **NO_ENDS))
    assert arrays.direction == pytest.approx(np.tile([np.cos(0.2), np.sin(0.2), 0.0], (len(arrays.direction), 1)))


@pytest.mark.slow
def test_fibres_follow_curves_from_the_origin_on(tmp_path):
    curves = slanted_curves()
    backwards = replace(curves, points=curves.points[::-1])
    wanted = np.array([LONG, WIDE, 0.0]) / np.hypot(LONG, WIDE)
    for name, own in (("a", curves), ("b", backwards)):
        arrays, _ = built(tmp_path / name, body_with(Fibres("curves", curves=own)))
        assert arrays.direction == pytest.approx(np.tile(wanted, (len(arrays.direction), 1)))


def test_painted_directions_and_tendon_reach_the_tets_below(tmp_path):
    x = muscle_block().vertices
    half = 1.0 * (x[:, 1] > 0.5 * WIDE)
    up = np.tile([5.0, 5.0, 0.0], (len(x), 1))
    fibres = Fibres("lattice", "u", direction=up, direction_paint=half, tendon_paint=half, lattice=box_lattice())
    arrays, places = built(tmp_path, body_with(fibres))
    above, below = places[:, 1] > 0.8 * WIDE, places[:, 1] < 0.2 * WIDE
    turned = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    assert above.any() and arrays.direction[above] == pytest.approx(np.tile(turned, (above.sum(), 1)))
    assert arrays.tendon[above] == pytest.approx(1.0)
    assert below.any() and arrays.direction[below, 0] == pytest.approx(1.0, abs=1e-6)
    assert arrays.tendon[below] == pytest.approx(0.0)


def test_painted_tendon_reaches_as_deep_as_it_is_said_to(tmp_path):
    body = muscle_block()
    upper = 1.0 * (body.vertices[:, 1] > WIDE - 1e-6)
    arrays, places = built(tmp_path, body_with(Fibres(tendon_paint=upper, tendon_depth=0.2 * WIDE)))
    is_tendon = arrays.tendon > 0.5
    depth = np.minimum(places, [LONG, WIDE, WIDE] - places).min(axis=1)
    assert is_tendon.any() and (depth[is_tendon] <= 0.2 * WIDE).all()
    inner = (np.abs(places[:, 0] - 0.5 * LONG) < 0.3 * LONG) & (np.abs(places[:, 2] - 0.5 * WIDE) < 0.2 * WIDE)
    assert np.array_equal(is_tendon[inner], WIDE - places[inner, 1] <= 0.2 * WIDE)


def test_fibres_turn_towards_the_tendon_in_a_mesh(tmp_path):
    fibres = Fibres("lattice", "u", 0.3, lattice=box_lattice(), tendon_mesh=tendon_box(0.34 * WIDE, 0.66 * WIDE))
    arrays, places = built(tmp_path, body_with(fibres))
    is_inside = (places[:, 1] > 0.34 * WIDE) & (places[:, 1] < 0.66 * WIDE)
    is_tendon, is_muscle = arrays.tendon > 0.9, arrays.tendon == 0.0  # the mesh is a little thinner than its tets
    assert is_tendon.any() and is_inside[is_tendon].all() and is_muscle.any() and not is_inside[is_muscle].any()
    side = np.sign(0.5 * WIDE - places[is_muscle, 1])
    assert arrays.direction[is_muscle, 1] == pytest.approx(side * np.sin(0.3), abs=1e-6)
    assert arrays.direction[is_tendon, 0] == pytest.approx(1.0, abs=1e-3)


def test_a_body_may_be_only_tendon(tmp_path):
    arrays, _ = built(tmp_path, body_with(Fibres(tendon_only=True), origin_tendon=9.0))
    assert (arrays.tendon == 1.0).all()


def hollow(mesh: TendonMesh) -> TendonMesh:
    return replace(mesh, triangles=mesh.triangles[:-2])


@pytest.mark.parametrize(
    ("fibres", "muscle", "code", "name"),
    [
        (Fibres("lattice"), {}, "fibre-source-missing", "follow a lattice"),
        (Fibres("curves"), {}, "fibre-source-missing", "follow curves"),
        (Fibres("lattice", lattice=replace(box_lattice(), counts=(3, 2, 3))), {}, "fibre-source-points", "Cage"),
        (Fibres("lattice", lattice=box_lattice(grown=0.5)), {}, "fibre-lattice-too-small", "Cage"),
        (Fibres("curves", curves=FibreCurves(np.zeros((0, 3)), [], "Hair")), {}, "fibre-curves-empty", "Hair"),
        (Fibres("curves", curves=replace(slanted_curves(), sizes=[3])), {}, "fibre-source-points", "Strands"),
        (Fibres(pennation=0.3), {}, "pennation-without-aponeurosis", "Biceps"),
        (Fibres("curves", curves=slanted_curves(), pennation=0.3), NO_ENDS, "muscle-end-missing", "Biceps"),
        (Fibres(tendon_mesh=hollow(tendon_box(0.3 * WIDE, 0.6 * WIDE))), {}, "tendon-mesh-open", "Sheet"),
        (Fibres(tendon_mesh=tendon_box(2.0 * WIDE, 3.0 * WIDE)), {}, "tendon-mesh-empty", "Sheet"),
        (Fibres(direction=np.ones((3, 3))), {}, "paint-without-vertices", "Fibre Direction"),
        (Fibres(pennation=2.0), {}, "setting-out-of-range", "Pennation Angle"),
        (Fibres("grain"), {}, "setting-out-of-range", "Fibres"),
    ],
)
def test_what_fibres_lack_is_told_with_names(tmp_path, fibres, muscle, code, name):
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, body_with(fibres, **muscle))
    assert caught.value.kind == code and "Biceps" in str(caught.value) and name in str(caught.value)


def test_scenes_keep_fibres_and_digests_see_them(tmp_path):
    fibres = Fibres("lattice", "u", lattice=box_lattice(), curves=slanted_curves(), tendon_mesh=tendon_box(0.0, WIDE))
    scene = Scene((body_with(fibres),), settings=SETTINGS)
    scene.save(tmp_path)
    loaded = Scene.load(tmp_path)
    own = loaded.bodies[0].muscle.fibres
    assert own.lattice.counts == (3, 2, 2) and np.array_equal(own.lattice.matrix, fibres.lattice.matrix)
    assert np.array_equal(own.curves.polylines[0], fibres.curves.points) and own.tendon_mesh.name == "Sheet"
    assert loaded.digest() == scene.digest()
    moved = replace(fibres.lattice, deformed=fibres.lattice.deformed + 0.01)
    others = [replace(fibres, lattice=moved), replace(fibres, pennation=0.1), replace(fibres, curves=None)]
    digests = {scene.digest(), *(Scene((body_with(other),), settings=SETTINGS).digest() for other in others)}
    assert len(digests) == 4


@pytest.mark.slow
def test_a_preview_has_the_fibres_of_the_bake(tmp_path, capsys):
    fibres = Fibres("lattice", "u", lattice=box_lattice(0.2), tendon_mesh=tendon_box(0.34 * WIDE, 0.66 * WIDE))
    body = body_with(fibres)
    arrays, places = built(tmp_path / "run", body)
    Scene((replace(body, name="Biceps"),), settings=SETTINGS).save(tmp_path / "scene")
    assert main(["fibres", str(tmp_path / "scene"), str(tmp_path / "out")]) == 0
    assert f"{len(places)} tets" in capsys.readouterr().out
    found = read_arrays(tmp_path / "out" / "muscle.npz")
    assert found["nodes"][found["tets"]].mean(axis=1) == pytest.approx(places)
    assert found["fibre_direction"] == pytest.approx(arrays.direction, abs=1e-6)
    assert np.array_equal(found["fibre_tendon"], arrays.tendon) and not found["fibre_unit"].any()
    assert found["is_origin"].any() and not (found["is_origin"] & found["is_insertion"]).any()


def test_a_scene_without_muscles_has_no_preview(tmp_path, capsys):
    Scene((replace(muscle_block(), muscle=None),), settings=SETTINGS).save(tmp_path)
    assert main(["fibres", str(tmp_path), str(tmp_path / "out")]) == 2
    assert "muscle" in capsys.readouterr().err
