# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads tets (.msh, .vtu, .vtk, .mesh, .veg) and writes them (.vtu, .msh)."""

from __future__ import annotations

import codecs
import contextlib
import errno
import importlib
import io
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.atomic_files import atomic_replacement, check_writable
from ...runtime.errors import BadInput
from ...runtime.npz_reader import first_line
from ..tet_mesh import FilledTets, TetMesh
from ..tet_repair import RepairedTets, repair_tets
from .surface_files import OUT_OF_MEMORY_TEXT
from .veg import read_veg

MESHIO_FORMATS = {".msh": "gmsh", ".vtu": "vtu", ".vtk": "vtk", ".mesh": "medit"}
TET_SUFFIXES = (*MESHIO_FORMATS, ".veg")
WRITTEN_SUFFIXES = (".vtu", ".msh")
_VTK_VERSION = re.compile(rb"\A# vtk DataFile Version (\d+)", re.IGNORECASE)
_VTK_TYPES = re.compile(rb"\bCELL_TYPES\s+(\d+)", re.IGNORECASE)
_VTK_CELLS = re.compile(rb"\bCELLS\s+\d+\s+(\d+)", re.IGNORECASE)
_SECTION_END = re.compile(rb"\$End\w+$", re.IGNORECASE)
DAMAGED_TEXT = "it is cut off, damaged, or of a kind that is not read"


def read_tets(path: Path) -> RepairedTets:
    """Returns the tets of a file, whatever other elements are in it; see `repair_tets`.

    Raises:
        BadInput: "file-format", "file-unreadable", "file-without-tets", "mesh-not-finite", "tets-without-volume".
    """
    ending = path.suffix.lower()
    if ending not in TET_SUFFIXES:
        raise BadInput("file-format", path=str(path), wanted=", ".join(TET_SUFFIXES))
    try:
        nodes, tets = read_veg(path) if ending == ".veg" else _read_with_meshio(path, MESHIO_FORMATS[ending])
    except ImportError as problem:
        raise BadInput("file-library", path=str(path), library="meshio") from problem
    except MemoryError as problem:
        raise BadInput("file-unreadable", path=str(path), problem=OUT_OF_MEMORY_TEXT) from problem
    except BadInput:
        raise
    except (Exception, SystemExit) as problem:  # a reader of damaged files may raise anything
        raise BadInput("file-unreadable", path=str(path), problem=first_line(problem)) from problem
    if not len(tets):
        raise BadInput("file-without-tets", path=str(path))
    return repair_tets(nodes, tets, path.name)


def write_tets(path: Path, mesh: TetMesh | FilledTets, at_nodes: Mapping[str, Floats | Indices] | None = None) -> None:
    """Writes nodes, tets and their filled fractions, and what else is said `at_nodes`: name → values, (n, …).

    Raises:
        BadInput: "file-format" or "file-unwritable".
    """
    check_output(path)
    try:
        import meshio
    except ImportError as problem:
        raise BadInput("file-library", path=str(path), library="meshio") from problem
    tets = mesh.tets.astype(np.int64)
    named = dict(at_nodes or {})
    found = meshio.Mesh(mesh.nodes, [("tetra", tets)], point_data=named, cell_data={"fill": [mesh.fill]})
    try:
        with atomic_replacement(path) as part:
            if path.suffix.lower() == ".vtu":
                meshio.vtu.write(part, found)
            else:
                meshio.gmsh.write(part, found, fmt_version="4.1", binary=True)
    except OSError as problem:
        # NumPy says "2463 requested and 190 written" where the disk is full
        words = first_line(problem) if problem.errno else os.strerror(errno.ENOSPC)
        raise BadInput("file-unwritable", path=str(path), problem=words) from problem


def check_output(path: Path) -> None:
    """Refuses a file that cannot be written, before any work is done.

    Raises:
        BadInput: "file-format" or "file-unwritable".
    """
    if path.suffix.lower() not in WRITTEN_SUFFIXES:
        raise BadInput("file-format", path=str(path), wanted=", ".join(WRITTEN_SUFFIXES))
    if not path.absolute().parent.is_dir():
        raise BadInput("file-unwritable", path=str(path), problem="its folder does not exist")
    if path.is_dir():
        raise BadInput("file-unwritable", path=str(path), problem="it is a folder")
    try:
        check_writable(path)
    except OSError as problem:
        raise BadInput("file-unwritable", path=str(path), problem=first_line(problem)) from problem


def _read_with_meshio(path: Path, reader: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns all points (n, 3) and all four-node tets (m, 4)."""
    if not path.is_file():
        raise FileNotFoundError("there is no such file")
    if reader == "gmsh":
        _check_gmsh(path)
    read = importlib.import_module(f"meshio.{reader}").read
    # meshio prints what it does not like, and NumPy 1 only warns of numbers that it wraps
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "NumPy will stop allowing conversion of out-of-bound")
            try:
                found = read(str(path))
                if reader == "vtk":
                    _check_vtk_counts(path, [cells.data.shape for cells in found.cells])
                tets = [cells.data for cells in found.cells if cells.type == "tetra"]
                return found.points, np.concatenate([np.zeros((0, 4), np.int64), *tets])
            except (OSError, MemoryError):
                raise
            except DeprecationWarning as problem:
                raise ValueError("a number in it is too large") from problem
            except (Exception, SystemExit) as problem:
                raise ValueError(f"{DAMAGED_TEXT} ({first_line(problem)})") from problem


def _check_vtk_counts(path: Path, sizes: Sequence[tuple[int, int]]) -> None:
    """Refuses a file whose cells are not those that it announces: meshio takes one that is cut off among its types.

    Args:
        path: The file, in the legacy format of VTK.
        sizes: Of every block that meshio read, how many cells it has and how many nodes each of them.

    Raises:
        ValueError: The counts differ.
    """
    content = path.read_bytes()
    version, types, cells = (pattern.search(content) for pattern in (_VTK_VERSION, _VTK_TYPES, _VTK_CELLS))
    if version is None or types is None or cells is None:
        return
    cell_count, node_count = (sum(count for count, _ in sizes), sum(count * nodes for count, nodes in sizes))
    # before version 5, the number of its nodes stands before those of every cell
    announced = int(types[1]), int(cells[1]) - (0 if int(version[1]) >= 5 else int(types[1]))
    if announced != (cell_count, node_count):
        raise ValueError(
            f"it announces {announced[0]} cells of {announced[1]} nodes and has {cell_count} of {node_count}"
        )


def _check_gmsh(path: Path) -> None:
    """Refuses what other programs write under the same ending, and Gmsh's first format.

    Raises:
        BadInput: "file-gmsh-1".
        ValueError: It is not of Gmsh.
    """
    with open(path, "rb") as file:
        head = file.read(1000).removeprefix(codecs.BOM_UTF8).lstrip()
        file.seek(-min(path.stat().st_size, 200), os.SEEK_END)
        end = file.read().rstrip()
    if head.startswith(b"$NOD"):
        raise BadInput("file-gmsh-1", path=str(path))
    if not head.startswith(b"$"):
        raise ValueError("it does not begin as a file of Gmsh does")
    if not _SECTION_END.search(end):
        raise ValueError("it is cut off: it does not end with the end of a section")
