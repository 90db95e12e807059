# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that is wrong with a scene is said before a bake, each with its object and its vertices."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.muscle_bodies import revolved
from sinew.solver.__main__ import main
from sinew.solver.mesh import shapes
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.muscle import Muscle, MuscleHead
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene
from sinew.solver.scene.tracks import MemoryTracks
from sinew.solver.simulation.diagnostics.diagnose import diagnose
from sinew.solver.simulation.diagnostics.finding import Finding
from sinew.solver.simulation.simulation import Simulation

LENGTH, BELLY = 1.0, 0.12


def spindle(key: str = "biceps", shift=(0.0, 0.0, 0.0), tet_size: float = 0.08, tendon: float = 0.04, **muscle) -> Body:
    """Returns a muscle along z whose ends are pinned."""
    z = np.linspace(0.0, LENGTH, 21)
    radius = tendon + (BELLY - tendon) * np.sin(np.pi * z) ** 2
    surface = revolved(np.concatenate([[0.0], radius, [0.0]]), np.concatenate([[0.0], z, [LENGTH]]), 12)
    height = surface.vertices[:, 2]
    origin, insertion = (height < 0.02).astype(float), (height > LENGTH - 0.02).astype(float)
    pinned = np.flatnonzero(origin + insertion).astype(np.int32)
    own = Muscle(origin=origin, insertion=insertion, **muscle)
    return Body(
        surface.vertices + np.array(shift), surface.triangles, meshing=Meshing(tet_size=tet_size), key=key,
        name=key.title(), pinned=pinned, pin_weights=np.ones(len(pinned)), flesh=Flesh("quasistatic"), muscle=own,
    )  # fmt: skip


def found_in(*bodies: Body, bones: tuple[Bone, ...] = ()) -> list[Finding]:
    return diagnose(Scene(bodies, bones=bones), MemoryTracks({}, {}))


def kinds(*bodies: Body, bones: tuple[Bone, ...] = ()) -> set[tuple[str, str]]:
    return {(finding.key, finding.problem.kind) for finding in found_in(*bodies, bones=bones)}


def of_kind(found: list[Finding], kind: str) -> Finding:
    (only,) = (finding for finding in found if finding.problem.kind == kind)
    return only


@pytest.mark.slow
def test_a_good_muscle_has_no_findings() -> None:
    assert found_in(spindle()) == []


@pytest.mark.slow
def test_all_bodies_are_looked_through_and_not_only_the_first_that_is_wrong() -> None:
    body = spindle()
    turned = replace(spindle("turned", (2, 0, 0)), triangles=body.triangles[:, ::-1])
    ends = body.muscle.origin
    one_end = replace(spindle("one", (4, 0, 0)), muscle=Muscle(origin=ends, insertion=ends))
    found = kinds(turned, one_end, spindle("good", (6, 0, 0)))
    assert found == {("turned", "surface-inside-out"), ("one", "muscle-ends-overlap")}


@pytest.mark.slow
def test_the_vertices_of_a_hole_are_named() -> None:
    body = spindle()
    hole = of_kind(found_in(replace(body, triangles=np.delete(body.triangles, 100, axis=0))), "surface-open")
    assert hole.vertices.tolist() == sorted(body.triangles[100].tolist()) and hole.problem.details["name"] == "Biceps"


@pytest.mark.slow
def test_the_vertices_where_a_surface_crosses_itself_are_named() -> None:
    """A vertex of the belly is pushed through the other side: its faces cross those there, and nothing else does."""
    body = spindle()
    vertices = body.vertices.copy()
    middle = np.linalg.norm(vertices - np.array([BELLY, 0.0, 0.5]), axis=1).argmin()
    assert not [kind for _, kind in kinds(body) if kind == "surface-crossing"]
    vertices[middle, 0] = -2.0 * BELLY
    found = of_kind(found_in(replace(body, vertices=vertices)), "surface-crossing")
    around = set(body.triangles[(body.triangles == middle).any(axis=1)].ravel().tolist())
    assert int(middle) in found.vertices.tolist() and around & set(found.vertices.tolist())
    assert found.problem.details["count"] == len(found.vertices) < len(vertices) / 4
    assert all(abs(vertices[k, 2] - 0.5) < 0.2 for k in found.vertices), "near the place alone"


@pytest.mark.slow
def test_a_muscle_thinner_than_two_of_its_tets_gets_a_size_that_is_not() -> None:
    coarse = spindle(tet_size=0.2)
    thin = of_kind(found_in(coarse), "surface-thin")
    wanted = thin.problem.details["wanted"]
    assert 0.05 < wanted < 0.11 and len(thin.vertices) > 0.5 * len(coarse.vertices)
    assert "surface-thin" not in {kind for _, kind in kinds(spindle(tet_size=wanted))}


@pytest.mark.slow
@pytest.mark.parametrize(("gap", "overlaps"), [(0.235, False), (0.19, True)])
def test_muscles_may_overlap_by_a_tenth_of_their_thickness(gap: float, overlaps: bool) -> None:
    """Two bellies of 0.24 m whose axes are `gap` apart: each is (0.24 − gap) deep in the other, the limit is 0.02."""
    found = [f for f in found_in(spindle(), spindle("triceps", (gap, 0, 0))) if f.problem.kind == "muscle-overlaps"]
    assert len(found) == overlaps
    if overlaps:
        assert (found[0].problem.details["name"], found[0].problem.details["other"]) == ("Biceps", "Triceps")
        assert found[0].problem.details["depth"] == pytest.approx(2 * BELLY - gap, rel=0.2)
        x, z = spindle().vertices[found[0].vertices][:, [0, 2]].T
        assert len(x) and (x > 0.0).all() and (np.abs(z - 0.5) < 0.3).all()


def bone(name: str, low: float, high: float) -> Bone:
    vertices, triangles = shapes.box(size=(0.1, 0.1, high - low))
    vertices = vertices - vertices.mean(axis=0) + [0.0, 0.0, 0.5 * (low + high)]
    return Bone(name.lower(), name, vertices, triangles, distance=0.01)


@pytest.mark.slow
def test_the_ends_of_a_muscle_may_be_in_bone_but_not_its_belly() -> None:
    body = replace(spindle(), pinned=np.zeros(0, np.int32), pin_weights=np.zeros(0))
    ends = bone("Upper", LENGTH - 0.02, LENGTH + 0.3), bone("Lower", -0.3, 0.02)
    assert kinds(body, bones=ends) == set()
    through = bone("Ulna", 0.4, 0.6)
    through = replace(through, vertices=through.vertices + [BELLY, 0, 0])
    found = of_kind(found_in(body, bones=(*ends, through)), "muscle-overlaps")
    assert found.problem.details["other"] == "Ulna"


@pytest.mark.slow
def test_ends_that_nothing_holds_are_on_no_bone() -> None:
    body = spindle()
    free = replace(body, pinned=np.zeros(0, np.int32), pin_weights=np.zeros(0))
    (found,) = found_in(free)
    assert (found.key, found.problem.kind) == ("biceps", "muscle-on-no-bone") and isinstance(found.problem, BadInput)
    falling = replace(free, flesh=replace(free.flesh, motion="dynamic"))
    assert not isinstance(of_kind(found_in(falling), "muscle-on-no-bone").problem, BadInput)
    at_origin = np.flatnonzero(body.muscle.origin > 0.5).astype(np.int32)
    half = replace(body, pinned=at_origin, pin_weights=np.ones(len(at_origin)))
    found = of_kind(found_in(half), "muscle-end-loose")
    assert found.problem.details["end"] == "insertion"
    assert found.vertices.tolist() == np.flatnonzero(body.muscle.insertion > 0.5).tolist()


@pytest.mark.slow
def test_tendons_thinner_than_tets_are_told_and_robust_tets_reach_them() -> None:
    body = spindle(tendon=0.005)
    found = [each for each in found_in(body) if each.problem.kind == "muscle-end-without-tets"]
    for each, end in zip(found, ("origin", "insertion"), strict=True):
        assert each.problem.details["end"] == end and 0.08 < float(each.problem.details["distance"]) < 0.15
        assert each.vertices.tolist() == np.flatnonzero(getattr(body.muscle, end) > 0.5).tolist()
    covered = replace(body, meshing=replace(body.meshing, method="robust"))
    assert "muscle-end-without-tets" not in {kind for _, kind in kinds(covered)}
    assert "muscle-end-without-tets" not in {kind for _, kind in kinds(spindle())}


@pytest.mark.slow
def test_an_attachment_lets_a_bone_hold_an_end_with_the_strength_of_its_own_number() -> None:
    body = replace(spindle(), pinned=np.zeros(0, np.int32), pin_weights=np.zeros(0))
    bones = bone("Upper", LENGTH + 0.03, LENGTH + 0.3), bone("Lower", -0.3, 0.02)
    other = spindle("triceps", (0.3, 0.0, 0.0))
    slides, fixed = Attachment("triceps", reach=0.2), Attachment("upper", "fixed", reach=0.1)
    tracks = MemoryTracks({"body.biceps.attachment.0.strength": ([0.0], [0.0])}, {})
    of_ends = {"bone-outside", "muscle-end-loose", "muscle-on-no-bone"}
    for attachments, wanted in (((slides,), {"bone-outside"}), ((slides, fixed), set())):
        own = replace(body, attachments=attachments)
        found = diagnose(Scene((own, other), bones=tuple(replace(b, bodies=("biceps",)) for b in bones)), tracks)
        assert {each.problem.kind for each in found} & of_ends == wanted


@pytest.mark.slow
def test_heads_that_share_tets_are_those_whose_vertices_a_slow_search_finds_in_one_tet() -> None:
    body = spindle()
    x = body.vertices[:, 0]
    heads = tuple(MuscleHead(weights=weights.astype(float)) for weights in (x > 0.06, x < -0.06))
    apart = replace(body, muscle=replace(body.muscle, heads=heads))
    assert "muscle-heads-share-tets" not in {kind for _, kind in kinds(apart)}
    heads = tuple(MuscleHead(weights=weights.astype(float)) for weights in (x > 0.0, x < 0.0))
    beside = replace(body, muscle=replace(body.muscle, heads=heads))
    found = of_kind(found_in(beside), "muscle-heads-share-tets")
    tets = Simulation(Scene((beside,))).built.bodies[0].binding.tet
    slow = {t for t in tets.tolist() if {True, False} <= {x[v] > 0 for v in np.flatnonzero(tets == t) if x[v] != 0}}
    assert found.problem.details["count"] == len(slow) > 0
    assert {found.problem.details["one"], found.problem.details["other"]} == {"1", "2"}


def test_warnings_know_of_all_that_bodies_touch() -> None:
    vertices, triangles = shapes.box(size=(0.2, 0.2, 0.2))
    vertices = vertices - vertices.min(axis=0)
    body = Body(vertices, triangles, meshing=Meshing(tet_size=0.1), gravity_in_shape=True)
    falling, standing = (diagnose(Scene((body,), colliders), MemoryTracks({}, {})) for colliders in ((), (Collider(),)))
    assert "gravity-in-shape-free" in {finding.problem.kind for finding in falling}
    assert "gravity-in-shape-free" not in {finding.problem.kind for finding in standing}


@pytest.mark.slow
def test_the_command_writes_what_it_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = spindle()
    Scene((replace(body, triangles=body.triangles[:, ::-1]),)).save(tmp_path / "scene")
    (tmp_path / "scene" / "tracks").mkdir()
    (tmp_path / "scene" / "tracks" / "complete").touch()
    assert main(["check", str(tmp_path / "scene"), "--out", str(tmp_path / "found.json")]) == 0
    assert "look inwards" in capsys.readouterr().out
    (found,) = json.loads((tmp_path / "found.json").read_text())
    assert (found["kind"], found["key"], found["is_refused"]) == ("surface-inside-out", "biceps", False)
    assert found["triangles"] == list(range(len(body.triangles)))
