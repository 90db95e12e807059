# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of surfaces and tets: what is read, repaired, refused and written."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.errors import BadInput
from sinew.solver.mesh_files.obj import fan_triangles, read_obj
from sinew.solver.mesh_files.surfaces import read_surface
from sinew.solver.mesh_files.tets import read_tets, repair_tets, write_tets
from sinew.solver.tetrahedralize.given import given_tets
from sinew.solver.tetrahedralize.quality import signed_volumes

TETS = {  # name: nodes, tets, as LICENSES.md counts them
    "polyfem_bar-651.msh": (292, 651),
    "polyfem_bar-2523.msh": (886, 2523),
    "polyfem_bar-14114.msh": (3842, 14114),
    "polyfem_bunny.msh": (4670, 19379),
    "polyfem_dinosaur.msh": (13270, 49973),
    "polyfem_mat40x40.msh": (3200, 9126),
    "polyfem_microstructure_P1.msh": (1585, 6414),
    "polyfem_multimaterial_cubes_v22.msh": (7714, 32981),
    "polyfem_sphere1K.msh": (1760, 6851),
    "polyfem_standard_bar.msh": (1088, 3646),
    "vega_beam3_tet.veg": (208, 450),
    "vega_comb.tet.veg": (1623, 5844),
    "vega_helix_selfintersecting.veg": (4532, 16226),
}
ONE_TET = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])


@pytest.mark.parametrize("name", TETS)
def test_tets_of_every_file_are_read_and_turned(shared, name):
    found = read_tets(shared / "testdata" / "tet" / name)
    assert (len(found.nodes), len(found.tets) + found.dropped) == TETS[name]
    assert found.dropped == 0
    assert found.turned == (8 if "P1" in name else 0)
    assert signed_volumes(found.nodes, found.tets).min() > 0.0


@pytest.mark.parametrize("ending", [".vtu", ".msh", ".vtk", ".mesh"])
def test_what_is_written_is_read_again(tmp_path, ending):
    nodes = np.concatenate([ONE_TET, [[1, 1, 1.0]]])
    mesh = given_tets(nodes, np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), None, "two")
    path = tmp_path / f"two{ending}"
    if ending in (".vtu", ".msh"):
        write_tets(path, mesh)
    else:
        meshio = pytest.importorskip("meshio")
        meshio.Mesh(nodes, [("tetra", mesh.tets.astype(np.int64))]).write(path)
    found = read_tets(path)
    assert np.array_equal(found.nodes, mesh.nodes)
    assert np.array_equal(found.tets, mesh.tets)


def test_tets_are_turned_dropped_or_refused():
    nodes = np.concatenate([ONE_TET, [[0.5, 0.5, 0.0], [9, 9, 9.0]]])
    tets = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 1, 2, 4]])
    found = repair_tets(nodes, tets, "bits")
    assert (found.turned, found.dropped, len(found.tets), len(found.nodes)) == (1, 1, 2, 4)
    assert signed_volumes(found.nodes, found.tets) == pytest.approx([1 / 6, 1 / 6])
    for wrong, kind in (
        (tets[2:], "tets-without-volume"),
        (tets + 3, "tets-without-nodes"),
    ):
        with pytest.raises(BadInput) as refused:
            repair_tets(nodes, wrong, "bits")
        assert refused.value.kind == kind
    nodes[3, 0] = np.nan
    with pytest.raises(BadInput) as refused:
        repair_tets(nodes, tets, "bits")
    assert refused.value.kind == "mesh-not-finite"


def test_obj_faces_of_every_style():
    text = """# comment
v 0 0 0 0.1 0.2 0.3
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
vt 0 0
f 1/1/1 2/1 3//1 4
f -5 \\
  -4 -1  # over two lines
f 1 2
"""
    vertices, triangles = read_obj(text)
    assert vertices.shape == (5, 3)
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 4]]
    assert fan_triangles(np.arange(7), np.array([2, 5])).tolist() == [[2, 3, 4], [2, 4, 5], [2, 5, 6]]
    for wrong in ("v 1 2\n", "f 0 1 2\n", "v a b c\n"):
        with pytest.raises(ValueError):
            read_obj(wrong)


@pytest.mark.parametrize("folder", ["surface", "wild"])
def test_every_surface_file_is_read(shared, folder):
    counts = {}
    for path in sorted((shared / "testdata" / folder).iterdir()):
        surface = read_surface(path)
        counts[path.name] = (len(surface.vertices), len(surface.triangles))
    assert len(counts) == {"surface": 17, "wild": 21}[folder]
    known = {
        "cat_low.obj": (7949, 15894),
        "makehuman_base.obj": (19158, 36972),
        "bunny_libigl_3k.off": (3485, 6966),
        "soup.stl": (300, 100),
        "fox_ascii.stl": (3 * 622, 622),
    }
    for name in counts.keys() & known.keys():
        assert counts[name] == known[name]


def test_a_ply_of_triangles_and_quads(tmp_path):
    head = "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
    body = "element face 2\nproperty list uchar int vertex_indices\nend_header\n"
    points = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n"
    path = tmp_path / "mixed.ply"
    path.write_text(head + body + points + "4 0 1 2 3\n3 0 1 4\n")
    surface = read_surface(path)
    assert len(surface.vertices) == 5 and len(surface.triangles) == 3
    assert surface.area == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.xyz", "", "file-format"),
        ("a.obj", "v 1 2 x\n", "file-unreadable"),
        ("a.obj", "v 0 0 0\nf 1 2 3\n", "mesh-index"),
        ("a.obj", "v 0 0 0\n", "mesh-empty"),
        ("a.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "mesh-not-finite"),
        ("a.stl", "", "mesh-empty"),
        ("a.ply", "not a ply", "file-unreadable"),
        ("a.off", "OFF\n3 1 0\n", "file-unreadable"),
        ("missing.obj", None, "file-unreadable"),
    ],
)
def test_bad_surface_files_are_refused_in_one_sentence(tmp_path, name, content, kind):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(BadInput) as refused:
        read_surface(tmp_path / name)
    assert refused.value.kind == kind
    assert "\n" not in refused.value.text


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.obj", "", "file-format"),
        ("a.msh", "", "file-unreadable"),
        ("a.vtu", "<VTKFile>", "file-unreadable"),
        ("a.vtk", "nothing", "file-unreadable"),
        ("a.mesh", "nothing", "file-unreadable"),
        ("missing.msh", None, "file-unreadable"),
        ("a.veg", "*VERTICES\n2 3 0 0\n1 0 0 0\n", "file-unreadable"),
        ("a.veg", "*VERTICES\n0 3 0 0\n*ELEMENTS\nCUBIC\n0 8 0\n", "file-unreadable"),
        ("a.veg", "*VERTICES\n1 3 0 0\n1 0 0 0\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n", "file-unreadable"),
        ("a.veg", "*VERTICES\n0 3 0 0\n*ELEMENTS\nTET\n0 4 0\n", "file-without-tets"),
    ],
)
def test_bad_tet_files_are_refused_in_one_sentence(tmp_path, name, content, kind):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(BadInput) as refused:
        read_tets(tmp_path / name)
    assert refused.value.kind == kind
    assert "\n" not in refused.value.text


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    mesh = given_tets(ONE_TET, np.array([[0, 1, 2, 3]]), None, "one")
    for path, kind in ((tmp_path / "a.obj", "file-format"), (tmp_path / "none" / "a.vtu", "file-unwritable")):
        with pytest.raises(BadInput) as refused:
            write_tets(path, mesh)
        assert refused.value.kind == kind


def test_a_vega_file_that_includes_another(tmp_path):
    (tmp_path / "nodes.txt").write_text(
        "*VERTICES\n4 3 0 0\n" + "\n".join(f"{i} {x} {y} {z}" for i, (x, y, z) in enumerate(ONE_TET))
    )
    (tmp_path / "a.veg").write_text(
        "*INCLUDE nodes.txt\n*ELEMENTS\nTET\n1 4 0\n0 0 1 2 3 # a comment\n\n*MATERIAL BODY\n"
    )
    found = read_tets(tmp_path / "a.veg")
    assert np.array_equal(found.nodes, ONE_TET) and found.tets.tolist() == [[0, 1, 2, 3]]
