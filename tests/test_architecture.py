# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree keeps its promises: who may import whom, and what Blender loads at start."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# low to high, as in docs/architecture.md; a part imports itself and parts of lower lines only
LAYERS = [
    "error_texts late_dataclass loading",
    "errors",
    "arrays sources checksums",
    "kernel_cache",
    "kept_kernels",
    "jit",
    "disk memory event_stream stop_request chance value_rules stored_arrays",
    "stored_schema",
    "anatomy collision method rigid_core_settings stored_tree",
    "scene tracks",
    "presets friction_presets track_shapes state pc2 object_space gravity own_weight",
    "cache geometry",
    "embedding materials levels linear affine_targets local_motions core_nodes",
    "tetrahedralize cutting lips",
    "model stored_mesh topology painted filling",
    "elements hyperelastic part_model spin weight_pressure",
    "hierarchical rigid_core vertex_warp",
    "mesh_files pin_regions integrators rest_stress",
    "skins formulations",
    "contact heat",
    "pins checks core_pull plastic fracture reshaped quasistatic",
    "bones",
    "gravity_in_shape flesh",
    "built",
    "build",
    "simulation",
    "present_contacts present_model present_overlap present_topology",
    "break_up pose_ahead pose_flesh",
    "boundary",
    "energy_gained",
    "move",
    "advance",
    "attributes sheets_inside",
    "finish",
    "taken play_repair",
    "warm_scene warm_marks warm_process",
    "warm_levels",
    "warm_step warm_flesh warm_touching",
    "warm_bake",
    "resume_frame bake_warnings",
    "bake resume warm_up",
    "simulate drop",
    "commands",
    "__main__",
    "launcher",
]
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts.split()}
# what Blender may load: nothing that loads Numba or SciPy
ADDON_MAY_IMPORT = {
    "anatomy",
    "collision",
    "method",
    "own_weight",
    "rigid_core_settings",
    "scene",
    "tracks",
    "cache",
    "disk",
    "arrays",
    "errors",
    "presets",
    "friction_presets",
    "tetrahedralize.estimate",
    "event_stream",
    "pc2",
    "stop_request",
}

# and what it loads when an artist brings a file of tets: meshio and rich
ADDON_MAY_IMPORT_LATE = {"mesh_files.tets", "mesh_files.outside", "mesh_files.veg"}


def sources(folder: str) -> list[Path]:
    return sorted(path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)


def name_of(path: Path) -> str:
    """Returns the dotted name under the root: solver/cache/head.py is "solver.cache.head"."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str) -> bool:
    base = ROOT.joinpath(*name.split("."))
    return base.with_suffix(".py").is_file() or (base / "__init__.py").is_file()


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (line, dotted name under the root) of the package's own modules that a file imports."""
    package = list(path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                inner = ".".join([*base, alias.name])
                yield node.lineno, inner if is_module(inner) else ".".join(base)


def foreign_imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (line, dotted name) of everything else that a file imports."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def part_of(name: str) -> str | None:
    """Returns the part of the solver that a module belongs to: "solver.cache.head" belongs to "cache"."""
    words = name.split(".")
    return words[1] if words[0] == "solver" and len(words) > 1 else None


def test_every_part_of_the_solver_has_its_layer():
    unknown = {part for path in sources("solver") if (part := part_of(name_of(path))) and part not in RANK}
    assert not unknown, f"name their layer in LAYERS and in docs/architecture.md: {sorted(unknown)}"


def test_layers_name_parts_that_exist():
    gone = [part for part in RANK if not is_module(f"solver.{part}")]
    assert not gone, f"LAYERS names what does not exist: {gone}"


def test_parts_import_lower_layers_only():
    wrong = []
    for path in sources("solver"):
        part = part_of(name_of(path))
        for line, name in imports(path):
            other = part_of(name)
            if name.startswith("addon"):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
            elif part and other and other != part and RANK.get(other, 99) >= RANK.get(part, 99):
                wrong.append(f"{path.relative_to(ROOT)}:{line} ({part}) imports {other}")
    assert not wrong, "\n".join(wrong)


def test_the_solver_knows_no_blender():
    names = {"bpy", "bmesh", "mathutils", "gpu", "bl_ext"}
    wrong = [
        f"{path}:{line} {name}"
        for path in sources("solver")
        for line, name in foreign_imports(path)
        if name.split(".")[0] in names
    ]
    assert not wrong, wrong


def test_the_addon_imports_what_loads_fast():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources("addon")
        for line, name in imports(path)
        if name.startswith("solver")
        and name.removeprefix("solver.") not in ADDON_MAY_IMPORT_LATE
        and not any(name == f"solver.{may}" or name.startswith(f"solver.{may}.") for may in ADDON_MAY_IMPORT)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_relative_imports_inside_the_package():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for folder in ("solver", "addon")
        for path in sources(folder)
        for line, name in foreign_imports(path)
        if name.split(".")[0] in {"sinew", "solver", "addon"}
    ]
    assert not wrong, "in Blender the package is called bl_ext.….sinew:\n" + "\n".join(wrong)


# the files that write LLVM's instructions themselves, or load what was compiled; they name no flags
REACH_LLVM = (
    "solver.kept_kernels", "solver.geometry.atomic", "solver.linear.block_row", "solver.linear.llvm_vectors",
    "solver.linear.threes", "solver.linear.multigrid.fixed_point", "solver.linear.multigrid.hanging",
)  # fmt: skip


def test_only_jit_knows_numba():
    """Its flags are named in one place, and none of its parallel loops is there: threads share out parts instead."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sources("solver")
        if name_of(path) not in ("solver.jit", *REACH_LLVM)
        for line, name in foreign_imports(path)
        if name.split(".")[0] == "numba"
    ]
    assert not wrong, "\n".join(wrong)


def test_benchmarks_import_what_they_may():
    """The frame knows neither papers nor speed, and these do not know each other; peers load where they are asked."""
    may = {"frame": {"frame"}, "papers": {"frame", "papers"}, "speed": {"frame", "speed"}}
    peers = {"mujoco", "cvxopt", "felupe", "pymetis", "pytetwild", "tetgen", "bpy"}
    wrong = []
    for folder, allowed in may.items():
        for path in sources(f"benchmarks/{folder}"):
            wrong += [
                f"{path.relative_to(ROOT)}:{line} imports {name}"
                for line, name in foreign_imports(path)
                if (base := name.split(".")[0]) in may and base not in allowed
            ]
    for path in sources("benchmarks/speed"):
        body = ast.parse(path.read_bytes()).body
        names = {alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in body if isinstance(node, ast.ImportFrom) and node.module}
        at_once = {name.split(".")[0] for name in names} & peers
        wrong += [f"{path.relative_to(ROOT)} imports {name} at once" for name in sorted(at_once)]
    assert not wrong, "\n".join(wrong)


def test_functions_say_their_types():
    """All but kernels, whose types Numba finds, and functions inside functions."""
    missing = []
    for path in [*sources("solver"), *sources("addon"), *sources("scripts")]:
        tree = ast.parse(path.read_bytes())
        scopes = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
        for node in [inner for scope in scopes for inner in scope.body if isinstance(inner, ast.FunctionDef)]:
            is_kernel = any("kernel" in ast.unparse(decorator) for decorator in node.decorator_list)
            if not is_kernel and node.returns is None:
                missing.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not missing, "\n".join(missing)


def test_no_file_grows_past_one_idea():
    long = {
        str(path.relative_to(ROOT)): count
        for folder in ("solver", "addon", "scripts", "demo_blends", "benchmarks")
        for path in sources(folder)
        if (count := path.read_text(encoding="utf-8").count("\n")) > 400
    }
    assert not long, long


def test_every_source_says_its_licence():
    folders = ("solver", "addon", "scripts", "tests", "demo_blends", "benchmarks")
    files = [path for folder in folders for path in sources(folder)]
    missing = [
        str(path.relative_to(ROOT))
        for path in [*files, ROOT / "__init__.py"]
        if not path.read_text(encoding="utf-8").startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n")
    ]
    assert not missing, missing


def loaded_by(code: str) -> set[str]:
    """Returns the top-level modules that a fresh Python has loaded after running `code`."""
    code += "\nimport sys; print('LOADED', *sorted({name.split('.')[0] for name in sys.modules}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    line = next(line for line in result.stdout.splitlines() if line.startswith("LOADED"))
    return set(line.split()[1:])


def test_the_seam_loads_neither_numba_nor_scipy():
    names = ", ".join(sorted(name for name in ADDON_MAY_IMPORT if "." not in name))
    code = f"from sinew.solver import {names}\nfrom sinew.solver.tetrahedralize import estimate"
    assert not loaded_by(code) & {"numba", "scipy", "bpy", "llvmlite"}


def test_reading_files_of_tets_loads_neither_numba_nor_scipy(tmp_path):
    """What the add-on may import late; meshio only where a file is read, and of what rich needs nothing more."""
    (tmp_path / "a.mesh").write_text(
        "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n"
        "Tetrahedra\n1\n1 2 3 4 1\nEnd\n"
    )
    code = "\n".join(f"import sinew.solver.{name}" for name in sorted(ADDON_MAY_IMPORT_LATE))
    assert not loaded_by(code) & {"numba", "scipy", "bpy", "llvmlite", "meshio"}
    code += f"\nfrom pathlib import Path\nsinew.solver.mesh_files.tets.read_tets(Path({str(tmp_path / 'a.mesh')!r}))"
    loaded = loaded_by(code)
    assert "meshio" in loaded and not loaded & {"numba", "scipy", "bpy", "llvmlite"}


def test_the_whole_solver_loads_without_blender():
    names = [f"sinew.{name_of(path)}" for path in sources("solver") if path.name != "__main__.py"]
    loaded = loaded_by(f"import importlib\nfor name in {names!r}:\n    importlib.import_module(name)")
    assert "numba" in loaded and "bpy" not in loaded


def test_registering_the_addon_loads_neither_numba_nor_scipy():
    pytest.importorskip("bpy", reason="needs Blender's module")
    code = "import bpy, sinew\nsinew.register()\nassert bpy.types.Object.bl_rna.properties.get('sinew')\n"
    assert not loaded_by(code) & {"numba", "scipy", "llvmlite"}


def test_unregistering_leaves_nothing():
    pytest.importorskip("bpy", reason="needs Blender's module")
    code = """
import bpy, sinew
def names():
    kinds = [k for k in dir(bpy.types) if "sinew" in k.lower()]
    kinds += [n for n in ("Object", "Scene") if "sinew" in getattr(bpy.types, n).bl_rna.properties]
    return kinds + dir(bpy.ops.sinew)
assert not names(), names()
for _ in range(2):
    sinew.register()
    assert len(names()) > 5, names()
    sinew.unregister()
    assert not names(), names()
for handlers in (bpy.app.handlers.load_post, bpy.app.handlers.save_post, bpy.app.handlers.frame_change_post):
    assert not [h for h in handlers if "sinew" in h.__module__], handlers
"""
    loaded_by(code)
