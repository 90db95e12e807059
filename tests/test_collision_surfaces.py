# SPDX-License-Identifier: GPL-3.0-or-later
"""Skins of bodies and colliders: what they consist of, and who meets whom."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from fixtures.scenes import Run, block
from sinew.solver.contact.surfaces.build_surfaces import make_collision_surfaces
from sinew.solver.contact.surfaces.collision_surfaces import fill_collider_vertices, vertex_positions
from sinew.solver.contact.surfaces.sharp_feature_points import sharp_points
from sinew.solver.contact.surfaces.surface_remeshing import decimated_triangles, is_too_fine, split_edges
from sinew.solver.mesh.geometry.triangle_surface import Surface, signed_volume
from sinew.solver.scene.contact import Collider, Collision
from sinew.solver.scene.scene import Body, Meshing, Scene, Settings


def skins_of(run):
    built, scene = run.built, run.scene
    return make_collision_surfaces(
        scene,
        [body.mesh for body in built.bodies],
        [body.binding for body in built.bodies],
        built.model,
        built.deforming,
        run.tracks,
    )


def faces_of(mesh):
    return np.array(mesh.vertices), np.array(mesh.faces, np.int32)


def surface_of(skins, skin):
    own = skins.vertices_of(skin)
    return Surface(skins.rest[own], skins.triangles[skins.triangles_of(skin)] - np.int32(own.start))


def collider(key, mesh, at=(0.0, 0.0, 0.0), **settings):
    vertices, triangles = faces_of(mesh)
    return Collider(key, key.capitalize(), "mesh", vertices + at, triangles, **settings)


def is_closed(triangles):
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    forward = {tuple(edge) for edge in edges.tolist()}
    return len(forward) == len(edges) and all((b, a) in forward for a, b in forward)


# --- edges, thinning, sharp points -------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", [0.05, 0.3, 10.0])
def test_split_edges_keep_the_shape_closed(longest):
    rng = np.random.default_rng(0)
    mesh = trimesh.creation.box((1.0, 2.0, 0.1))
    vertices, triangles = faces_of(mesh)
    vertices = vertices + rng.normal(size=vertices.shape) * 0.01
    more, cut, origin = split_edges(vertices, triangles, longest)
    edges = more[cut] - more[np.roll(cut, -1, axis=1)]
    assert np.linalg.norm(edges, axis=2).max() <= longest * (1 + 1e-6)
    assert is_closed(cut)
    np.testing.assert_array_equal(more[: len(vertices)], vertices)
    assert signed_volume(more, cut) == pytest.approx(signed_volume(vertices, triangles), rel=1e-12)
    assert (np.diff(origin) >= 0).all()
    area = np.bincount(origin, 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1))
    whole = vertices[triangles]
    own = 0.5 * np.linalg.norm(np.cross(whole[:, 1] - whole[:, 0], whole[:, 2] - whole[:, 0]), axis=1)
    np.testing.assert_allclose(area, own, rtol=1e-10)


def test_meshes_much_finer_than_tets_are_thinned():
    mesh = trimesh.creation.icosphere(6)
    vertices, triangles = faces_of(mesh)
    assert is_too_fine(vertices, triangles, 0.4)
    assert not is_too_fine(vertices, triangles, 0.02)
    fewer = decimated_triangles(vertices, triangles, 0.4)
    used = np.unique(fewer)
    assert len(used) < 0.1 * len(vertices)
    assert signed_volume(vertices, fewer) == pytest.approx(4.0 / 3.0 * np.pi, rel=0.02)
    corners = vertices[fewer]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("ti,ti->t", normal, corners.mean(axis=1)) > 0.0).mean() > 0.99
    assert len(np.unique(np.sort(fewer, axis=1), axis=0)) == len(fewer)


def test_sharp_points_lie_on_edges_tips_and_borders():
    def found(mesh, spacing=0.2):
        vertices, triangles = faces_of(mesh)
        corners, shares = sharp_points(vertices, triangles, spacing, np.radians(30.0))
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        return np.einsum("kc,kci->ki", shares, vertices[corners])

    box = found(trimesh.creation.box((2.0, 2.0, 2.0)))
    assert len(box) >= 8 + 12 * 9
    assert ((np.abs(np.abs(box) - 1.0) < 1e-9).sum(axis=1) >= 2).all()  # on edges, not on faces
    cone = found(trimesh.creation.cone(0.5, 1.0, sections=64))
    assert np.abs(cone - [0.0, 0.0, 1.0]).sum(axis=1).min() < 1e-9
    assert len(found(trimesh.creation.icosphere(3), spacing=0.2)) == 0
    rod = found(trimesh.creation.cylinder(0.02, 2.0, sections=16), spacing=0.2)
    assert len(rod) > 10 and np.abs(rod[:, 2]).min() < 0.2
    sheet = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    border = found(sheet)
    assert len(border) >= 16 and ((border[:, :2] < 1e-9) | (border[:, :2] > 1 - 1e-9)).any(axis=1).all()


# --- skins of scenes ---------------------------------------------------------------------------------------------


def test_what_can_never_meet_has_no_skins(tmp_path):
    ground = Collider("ground", "Ground")
    table = collider("table", trimesh.creation.box((4.0, 4.0, 0.2)), (0, 0, -2.0))
    assert skins_of(Run(tmp_path / "a", Scene((block(),), (ground, table)))) is None
    two = skins_of(Run(tmp_path / "b", Scene((block(), block(at=(3, 0, 0), key="other")), (ground,))))
    assert two.may_touch.tolist() == [[False, True], [True, False]]
    apart = Scene((block(), block(at=(3, 0, 0), key="other")), ignored_pairs=(("other", "block"),))
    assert skins_of(Run(tmp_path / "c", apart)) is None
    itself = skins_of(Run(tmp_path / "d", Scene((block(collision=Collision(self_contact=True)),))))
    assert itself.may_touch.tolist() == [[True]]


def test_a_blade_meets_a_body_that_is_alone(tmp_path):
    blade = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 0, -1], [0, 0, -1]], [[0, 1, 2], [0, 2, 3]])
    skins = skins_of(Run(tmp_path, Scene((block(),), (collider("blade", blade, (0, 0, -1.0)),))))
    assert skins.names == ("block", "blade")
    assert skins.may_touch.tolist() == [[False, False], [True, False]]
    assert skins.triangles_of(1) == slice(len(skins.triangles), len(skins.triangles))


def test_skins_of_bodies_are_closed_fine_enough_and_bound(tmp_path):
    vertices, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 1.0)))
    doubled = np.concatenate([vertices[triangles].reshape(-1, 3)])  # every face has corners of its own
    loose = np.arange(len(doubled), dtype=np.int32).reshape(-1, 3)
    body = Body(
        doubled, loose[:, ::-1].copy(), meshing=Meshing(divisions=6), key="box", name="Box"
    )  # and it is inside out
    run = Run(tmp_path, Scene((body, block(at=(0, 0, 3.0)))))
    skins = skins_of(run)
    surface = surface_of(skins, 0)
    assert is_closed(surface.triangles)
    assert surface.signed_volume == pytest.approx(1.0)
    size = run.built.bodies[0].mesh.report.tet_size
    edges = surface.vertices[surface.triangles] - surface.vertices[np.roll(surface.triangles, -1, axis=1)]
    assert np.linalg.norm(edges, axis=2).max() <= size * (1 + 1e-9)
    assert surface.area == pytest.approx(6.0)
    assert skins.area[skins.vertices_of(0)].sum() == pytest.approx(6.0)
    model = run.built.model
    np.testing.assert_allclose(vertex_positions(skins, model, model.X), skins.rest, atol=1e-12)
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(
        vertex_positions(skins, model, model.X @ turn.T + 1.0), skins.rest @ turn.T + 1.0, atol=1e-12
    )
    assert skins.is_one_sided.all()
    # corners of the render mesh are bound as they are drawn
    binding, first = run.built.bodies[0].binding, skins.rest[skins.vertices_of(0)]
    for vertex in range(len(doubled)):
        same = np.flatnonzero(np.abs(first - doubled[vertex]).sum(axis=1) < 1e-12)
        assert len(same) == 1 and skins.tet[same[0]] == binding.tet[vertex]


def test_deforming_colliders_have_points_on_large_faces_that_go_along(tmp_path):
    sheet = trimesh.Trimesh([[-2, -2, -1], [2, -2, -1], [2, 2, -1], [-2, 2, -1]], [[0, 1, 2], [0, 2, 3]])
    vertices, _ = faces_of(sheet)
    up = vertices * [1.0, 1.0, 0.5] + [0.0, 0.0, 1.0]
    times = np.array([0.0, 1.0])
    run = Run(
        tmp_path,
        Scene((block(),), (collider("cloth", sheet),), Settings(fps=24.0)),
        collider__cloth__vertices=(times, np.stack([vertices, up])),
    )
    skins = skins_of(run)
    assert skins.names == ("block", "cloth") and not skins.is_one_sided[1]
    own = skins.vertices_of(1)
    assert 100 < own.stop - own.start < 3000
    assert skins.area[own].sum() == pytest.approx(16.0)
    out = skins.rest.copy()
    fill_collider_vertices(skins, 1, up, out)
    np.testing.assert_allclose(out[own], skins.rest[own] * [1.0, 1.0, 0.5] + [0.0, 0.0, 1.0], atol=1e-12)
    assert len(skins.triangles[skins.triangles_of(1)]) == 2
    assert skins.may_touch.tolist() == [[False, True], [True, False]]
