# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of surfaces and tets: what is read, repaired, refused and written."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.mesh.formats.obj import fan_triangles, read_obj
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.formats.tet_files import read_tets, write_tets
from sinew.solver.mesh.tet_quality import signed_volumes
from sinew.solver.mesh.tet_repair import repair_tets
from sinew.solver.mesh.tetrahedralize.user_tets import user_tets
from sinew.solver.runtime.arrays import indices
from sinew.solver.runtime.errors import BadInput

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
    assert (len(found.nodes), len(found.tets) + found.degenerate) == TETS[name]
    assert found.degenerate == 0
    assert found.flipped == (8 if "P1" in name else 0)
    assert signed_volumes(found.nodes, found.tets).min() > 0.0


@pytest.mark.parametrize("ending", [".vtu", ".msh", ".vtk", ".mesh"])
def test_what_is_written_is_read_again(tmp_path, ending):
    nodes = np.concatenate([ONE_TET, [[1, 1, 1.0]]])
    mesh = user_tets(nodes, np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), None, "two")
    path = tmp_path / f"two{ending}"
    if ending in (".vtu", ".msh"):
        write_tets(path, mesh)
    else:
        meshio = pytest.importorskip("meshio")
        meshio.Mesh(nodes, [("tetra", mesh.tets.astype(np.int64))]).write(path)
    found = read_tets(path)
    assert np.array_equal(found.nodes, mesh.nodes)
    assert np.array_equal(found.tets, mesh.tets)


@pytest.mark.parametrize("version", ["4.2", "5.1"])
def test_a_vtk_file_that_is_cut_off_is_refused(tmp_path, version):
    meshio = pytest.importorskip("meshio")
    nodes = np.concatenate([ONE_TET, [[1, 1, 1.0]]])
    whole, cut = tmp_path / "whole.vtk", tmp_path / "cut.vtk"
    made = meshio.Mesh(nodes, [("tetra", np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))])
    meshio.vtk.write(whole, made, fmt_version=version, binary=False)
    content = whole.read_bytes().rstrip()
    for length in range(content.index(b"CELL_TYPES"), len(content)):
        cut.write_bytes(content[:length])
        with pytest.raises(BadInput) as refused:
            read_tets(cut)
        assert refused.value.kind == "file-unreadable", content[:length]
    cut.write_bytes(content)
    assert len(read_tets(cut).tets) == 2


def test_tets_are_turned_dropped_or_refused():
    nodes = np.concatenate([ONE_TET, [[0.5, 0.5, 0.0], [1, 1, 1.0], [9, 9, 9.0]]])
    tets = np.array([[0, 1, 2, 3], [2, 1, 3, 5], [0, 1, 2, 4]])
    found = repair_tets(nodes, tets, "bits")
    assert (found.flipped, found.degenerate, len(found.tets), len(found.nodes)) == (1, 1, 2, 5)
    assert signed_volumes(found.nodes, found.tets) == pytest.approx([1 / 6, 1 / 3])
    for wrong, kind in (
        (tets[2:], "tets-without-volume"),
        (tets + 4, "tets-without-nodes"),
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
        "fox_ascii.stl": (313, 622),
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
        ("a.stl", "", "file-unreadable"),
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
    mesh = user_tets(ONE_TET, np.array([[0, 1, 2, 3]]), None, "one")
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


OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
VEG = "*VERTICES\n4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n*ELEMENTS\nTET\n1 4 0\n0 0 1 2 3\n"
MSH = (
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
    "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n"
)
PLY = (
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n"
    "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
    "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"
)
OFF = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"


def stl(head: bytes = b"") -> bytes:
    """Returns the tet as a binary STL."""
    triangles = np.zeros(4, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])
    triangles["corners"] = ONE_TET[FACES]
    return head.ljust(80, b"\0") + (4).to_bytes(4, "little") + triangles.tobytes()


def text_stl() -> str:
    facets = (
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {a} {b} {c}\n" for a, b, c in ONE_TET[face]) + "endloop\n"
        "endfacet\n"
        for face in FACES
    )
    return "solid a\n" + "".join(facets) + "endsolid a\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.obj", OBJ),
        ("mark.obj", b"\xef\xbb\xbf" + OBJ.encode()),
        ("utf16.obj", OBJ.encode("utf-16")),
        ("old_mac.obj", OBJ.replace("\n", "\r")),
        ("indented.obj", OBJ.replace("v ", "  v ").replace("f ", "\tf ")),
        ("a.stl", stl()),
        ("solid.stl", stl(b"solid of a program that calls its binary files so")),
        ("text.stl", text_stl()),
        ("a.ply", PLY),
        ("mark.ply", b"\xef\xbb\xbf" + PLY.encode()),
        ("a.off", OFF),
        ("mark.off", b"\xef\xbb\xbf" + OFF.encode()),
        ("line.off", OFF.replace("OFF\n4", "COFF 4")),
        ("comments.off", OFF.replace("0 0 0", "# of Blender\n\n0 0 0", 1)),
    ],
)
def test_the_same_tet_is_read_of_every_program(tmp_path, name, content):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    surface = read_surface(tmp_path / name)
    assert len(surface.vertices) == 4 and len(surface.triangles) == 4
    assert surface.signed_volume == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("wraps.obj", OBJ.replace("f 1 3 2", "f 4294967297 3 2"), "vertex 4294967296"),
        ("huge.obj", OBJ.replace("f 1 3 2", "f 9999999999999999999999 3 2"), "99999999999999999999"),
        (
            "far.obj",
            "".join(f"v {1e11 + x} 0 {y}\n" for x, y in ((0, 0), (1, 0), (0, 1))) + "f 1 2 3\n",
            "too few digits",
        ),
        ("large.obj", OBJ.replace("v 0 0 1", "v 0 0 1e160"), "1e+160"),
        ("small.obj", OBJ.replace(" 1", " 1e-300", 3).replace("f 1e-300", "f 1"), "1e-300"),
        ("cut.stl", stl()[:-30], "cut off: its head says 4 triangles, and 3"),
        ("count.stl", stl()[:80] + b"\xff\xff\xff\xff" + stl()[84:], "4,294,967,295 triangles"),
        ("head.stl", stl()[:70], "shorter than the head"),
        ("cut_text.stl", text_stl()[:-60], "cut off"),
        ("line.stl", text_stl().replace("vertex 0.0 0.0 0.0\n", "", 1), "three each"),
        ("cut.ply", PLY[:-8], "cut off"),
        ("repeated.ply", PLY + PLY.splitlines()[-1] + "\n", "but"),
        ("count.ply", PLY.replace("vertex 4", "vertex 4000000000000"), "4,000,000,000,004 rows"),
        ("cut.off", OFF[:-20], "cut off"),
        ("row.off", OFF[:-5], "cut off in a face of 3"),
        ("count.off", OFF.replace("4 4 0", "4 4000000000 0"), "4,000,000,004 rows"),
        ("below.off", OFF.replace("4 4 0", "-4 4 0"), "announces no numbers"),
    ],
)
def test_damaged_surfaces_say_what_is_wrong(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput) as refused:
        read_surface(tmp_path / name)
    assert words in refused.value.text and name in refused.value.text and "\n" not in refused.value.text


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("wraps.msh", MSH.replace("1 1 2 3 4", "1 4294967297 2 3 4"), "too large"),
        ("nodes.msh", MSH.replace("$Nodes\n4", "$Nodes\n999999999999999"), "cannot read"),
        ("old.msh", "$NOD\n1\n1 0 0 0\n$ENDNOD\n", "gmsh "),
        ("ansys.msh", '(1 "not of Gmsh")', "does not begin"),
        ("cut.msh", MSH[:110], "cut off"),
        ("other.veg", "*INCLUDE nothing.txt\n" + VEG, "nothing.txt"),
        ("itself.veg", "*INCLUDE itself.veg\n" + VEG, "includes itself"),
        ("nobody.veg", "*INCLUDE\n" + VEG, "names no file"),
        ("wraps.veg", VEG.replace("0 0 1 2 3", "0 4294967296 1 2 3"), "not there"),
        ("below.veg", VEG.replace("4 3 0 0", "-4 3 0 0"), "-4"),
        ("large.veg", VEG.replace("3 0 0 1", "3 0 0 1e160"), "1e+160"),
    ],
)
def test_damaged_tets_say_what_is_wrong(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput) as refused:
        read_tets(tmp_path / name)
    assert words in refused.value.text and name in refused.value.text and "\n" not in refused.value.text


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.98])
def test_a_vtu_that_is_cut_off_says_so(tmp_path, share):
    write_tets(tmp_path / "a.vtu", user_tets(ONE_TET, np.array([[0, 1, 2, 3]]), None, "one"))
    data = (tmp_path / "a.vtu").read_bytes()
    (tmp_path / "a.vtu").write_bytes(data[: int(share * len(data))])
    with pytest.raises(BadInput, match="cut off"):
        read_tets(tmp_path / "a.vtu")


def test_vertices_may_have_any_numbers(tmp_path):
    """A number is a name, and not how much memory is needed."""
    text = VEG.replace("3 0 0 1\n", "999999999999 0 0 1\n", 1).replace("0 0 1 2 3", "0 0 1 2 999999999999")
    (tmp_path / "a.veg").write_text(text)
    assert np.array_equal(read_tets(tmp_path / "a.veg").nodes, ONE_TET)


def test_tets_that_are_there_twice_count_once(tmp_path):
    twice = VEG.replace("1 4 0\n0 0 1 2 3", "3 4 0\n0 0 1 2 3\n1 1 2 0 3\n2 0 2 1 3")
    (tmp_path / "a.veg").write_text(twice)
    found = read_tets(tmp_path / "a.veg")
    assert (len(found.tets), found.duplicates, found.flipped) == (1, 2, 0)
    assert "tets-doubled" in [note.kind for note in found.notes("a")]
    with pytest.raises(BadInput) as refused:
        user_tets(ONE_TET, np.array([[0, 1, 2, 3], [1, 2, 0, 3]]), None, "two")
    assert refused.value.kind == "tets-twice" and refused.value.details["count"] == 1


def test_indices_never_wrap():
    with pytest.raises(ValueError):
        indices(np.array([1, 2**32]), -1)
    assert indices(np.array([1, 2**31 - 1]), -1).dtype == np.int32
