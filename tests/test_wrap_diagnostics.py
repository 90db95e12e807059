# SPDX-License-Identifier: GPL-3.0-or-later
"""Check tells where a Wrap sticks out of the skin, and which muscle or bone is the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import Bone
from sinew.solver.scene.scene import Body, Meshing, Scene
from sinew.solver.simulation.diagnostics.finding import Finding
from sinew.solver.simulation.diagnostics.wrap_diagnostics import wrap_findings


def ball(radius: float, x: float = 0.0, n: int = 8) -> Surface:
    vertices, triangles = sphere(n, radius)
    return Surface(np.asarray(vertices, float) + [x, 0.0, 0.0], np.asarray(triangles, np.int32))


def fat(wrap: Surface) -> Body:
    """Returns a ball of fat with a radius of 1 m around a Wrap."""
    skin = ball(1.0)
    triangles = np.concatenate([skin.triangles, wrap.triangles[:, ::-1] + len(skin.vertices)]).astype(np.int32)
    vertices = np.concatenate([skin.vertices, wrap.vertices])
    return Body(
        vertices, triangles, meshing=Meshing(divisions=8), wrap_vertices=len(wrap.vertices), key="fat", name="Fat"
    )


def bone(name: str, surface: Surface) -> Bone:
    return Bone(name.lower(), name, surface.vertices, surface.triangles)


def found_in(body: Body, bones: Sequence[Bone] = (), colliders: Sequence[Collider] = ()) -> list[Finding]:
    scene = Scene((body,), tuple(colliders), bones=tuple(bones))
    return list(wrap_findings(scene, {"fat": Surface(body.vertices, body.triangles)}))


def test_a_wrap_inside_has_no_findings() -> None:
    assert found_in(fat(ball(0.6)), [bone("Rib", ball(0.5))]) == []


def test_a_muscle_or_bone_outside_of_the_skin_is_named() -> None:
    """A bone is 0.1 m outside of the skin and its Wrap 0.2 m; another one lies deep under the Wrap."""
    wrap = ball(0.6, 0.6)
    (found,) = found_in(fat(wrap), [bone("Rib", ball(0.5, 0.6)), bone("Core", ball(0.2))])
    assert (found.key, found.problem.kind) == ("fat/wrap", "wrap-out-with")
    details = found.problem.details
    assert (details["name"], details["other"]) == ("Fat", "Rib")
    assert details["distance"] == pytest.approx(0.2, abs=0.02) and details["beyond"] == pytest.approx(0.1, abs=0.02)
    # of the vertices of the Wrap, those outside: the skin is a polyhedron, a bit inside of its ball
    outside = np.linalg.norm(wrap.vertices, axis=1)
    assert set(np.flatnonzero(outside > 1.001)) <= set(found.vertices) <= set(np.flatnonzero(outside > 0.95))


def test_a_bone_nearer_to_the_skin_than_the_wrap_is_to_it_is_named() -> None:
    bones = [bone("Rib", ball(0.3, 0.6)), bone("Spine", ball(0.3, -0.6))]
    wrap = ball(0.5, 0.6)
    both = Surface(
        np.concatenate([wrap.vertices, ball(0.5, -0.6).vertices]),
        np.concatenate([wrap.triangles, wrap.triangles + len(wrap.vertices)]),
    )
    one, other = found_in(fat(both), bones)
    assert {one.problem.kind, other.problem.kind} == {"wrap-out-over"}
    for each, name, first in ((one, "Rib", 0), (other, "Spine", len(wrap.vertices))):
        details = each.problem.details
        assert details["other"] == name and details["depth"] == pytest.approx(0.1, abs=0.03)
        assert details["distance"] == pytest.approx(0.1, abs=0.03)
        assert ((each.vertices >= first) & (each.vertices < first + len(wrap.vertices))).all()


def test_what_a_wrap_is_attached_to_may_be_the_reason_and_without_any_it_is_told_alone() -> None:
    body, core = fat(ball(0.6, 0.6)), ball(0.5, 0.6)
    collider = Collider("core", "Core", "mesh", vertices=core.vertices, triangles=core.triangles)
    (alone,) = found_in(body, colliders=[collider])
    assert alone.problem.kind == "wrap-sticks-out" and len(alone.vertices)
    attached = replace(body, attachments=(Attachment("core"),))
    (found,) = found_in(attached, colliders=[collider])
    assert found.problem.details["other"] == "Core"
