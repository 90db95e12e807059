# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree keeps its promises: who may import whom, and what Blender loads at start."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from fixtures.source_imports import ROOT, foreign_imports, imports, name_of, sources
from fixtures.source_trees import nodes_of, tree_of

# low to high: a room imports itself and rooms of lower tiers (docs/architecture.md has the same table)
SOLVER_TIERS = {
    "Foundation": {
        "runtime": "what all rooms use: arrays, errors, compiled kernels, threads, SIMD, files, events",
    },
    "Input": {
        "scene": "the input: bodies, materials, colliders, settings, animated tracks; no Numba, no SciPy",
    },
    "Discretisation": {
        "mesh": "geometry, filling surfaces with tets, embedding points in tets, cutting, mesh files",
        "linalg": "sparse matrices of 3×3 blocks: products, conjugate gradients, rigid modes, multigrid",
    },
    "Mechanics": {
        "mechanics": "model and state, elements, hyperelastic laws, muscle, sheets, plasticity, heat",
        "brittle": "impacts on bodies that are stiffer than a step can follow: their forces, static stress, cracks",
    },
    "Constraints": {
        "constraints": "external forces, pins, bones, rigid cores, animated rest shapes",
    },
    "Contact": {
        "contact": "contact of bodies with colliders, each other and themselves: search, active set, friction",
    },
    "Solvers": {
        "integrators": "one time step: implicit Euler, BDF2, Newmark, Newton's method",
        "quasistatic": "static equilibrium of flesh while some nodes are fixed, with contact",
    },
    "Simulation": {
        "simulation": "builds a scene and advances it by steps and frames, with fracture and posed flesh",
    },
    "Bake": {
        "bake": "writes a cache: frames, checkpoints, verification, attributes, meshes of broken bodies",
    },
    "Live": {
        "live": "runs a scene while somebody handles it: commands, samples in shared files, recording, replay",
    },
    "Library": {
        "api": "what `import sinew` gives in one call: tets, equilibria, steps, bakes",
    },
    "Command line": {
        "cli": "the commands of `sinew`, and how another Python starts them",
        "__main__": "`python -m sinew`",
    },
}
ADDON_TIERS = {
    "Foundation": {
        "runtime": "what all rooms use: results computed again only when necessary, quantities as text",
    },
    "Blender": {
        "blender_data": "Blender's own data: object keys, modifiers, visibility, F-curves, library overrides",
        "evaluation": "objects as Blender evaluates them at any frame",
    },
    "Cache": {
        "cache": "the cache folder of a scene, and its files",
        "playback": "modifiers and shape keys that play a cache",
        "fracture_meshes": "objects that replace a broken body",
    },
    "Scene": {
        "properties": "every setting of objects, scenes and the add-on",
        "objects": "roles of objects, and checks of their meshes",
        "export": "writes objects and their animation to a scene file",
    },
    "Bake": {
        "baking": "the solver process, its events, its finished frames",
        "live": "a run of the scene in the viewport while somebody handles it",
    },
    "Interface": {
        "overlays": "drawing over the 3D view and over timelines",
        "panels": "panels of the Physics tab, of the sidebar and of Preferences",
        "operators": "buttons, one subject per file",
    },
    "Entry": {
        "command_line": "baking and attaching without a window",
        "handlers": "callbacks for load, save, undo and render",
    },
}
TIERS = {"solver": SOLVER_TIERS, "addon": ADDON_TIERS}
# rooms in their order; those of one tier may import the ones before them
RANK = {
    top: {room: n for n, room in enumerate(room for rooms in tiers.values() for room in rooms)}
    for top, tiers in TIERS.items()
}
# what happens when a property is edited needs higher rooms: imported inside the callback
LATE_EXCEPTIONS = {
    ("addon.properties.activation_properties", "addon.export"),
    ("addon.properties.heat_properties", "addon.objects"),
    ("addon.properties.flesh_properties", "addon.objects"),
    ("addon.properties.fracture_properties", "addon.baking"),
    ("addon.properties.material_preset_filling", "addon.objects"),
    ("addon.properties.muscle_shape_properties", "addon.objects"),
    ("addon.properties.scene_properties", "addon.baking"),
}
# what Blender may load: nothing that loads Numba or SciPy
ADDON_MAY_IMPORT = {
    "scene",
    "bake.cache",
    "live.collider_shapes",
    "live.live_steps",
    "live.recording",
    "live.refused_starts",
    "live.sample_files",
    "mesh.geometry.hole_caps",
    "mesh.geometry.manifold_defects",
    "mesh.geometry.pseudonormals",
    "mesh.rigid_alignment",
    "mesh.tetrahedralize.estimate",
    "runtime.arrays",
    "runtime.atomic_files",
    "runtime.cancellation",
    "runtime.checksums",
    "runtime.errors",
    "runtime.event_stream",
    "runtime.event_text",
    "runtime.locked_file_retries",
    "runtime.npz_reader",
    "runtime.reproducible_library_environment",
    "runtime.quantity_text",
    "runtime.storage_errors",
}

# objects of modules that change: what Blender's callbacks share, since nothing can be passed to them
STATEFUL_OBJECTS = {
    ("addon.baking.addon_session", "session"): "the running bake, messages, due undo steps, a save under way",
    ("addon.baking.solver_warm_up", "solver_in_waiting"): "the processes that compile ahead and wait for a bake",
    ("addon.baking.orphaned_caches_search", "orphan_search"): "the search when Blender has started",
    ("addon.cache.temporary_folders", "temporary_folders"): "locks on the disk",
    ("addon.evaluation.geometry_update_counter", "changes"): "what Blender has reported as changed",
    ("addon.command_line.commands", "_command"): "what Blender needs to unregister the command",
    ("addon.command_line.commands", "_temporary_folders"): "folders that stay until the process ends",
}
# results that are bounded and forgotten when another file is open; drawing; whether a callback runs inside another
STATEFUL_CLASSES = {"Memo", "Throttle", "DrawHandler", "LabelledDrawHandler", "PresetFilling", "PresetMenu"}

# and what it loads when an artist brings a file of tets, meshio and rich, or makes muscles
ADDON_MAY_IMPORT_LATE = {
    "mesh.geometry.centreline",
    "mesh.formats.tet_files",
    "mesh.boundary_faces",
    "mesh.formats.veg",
    "mesh.local_tet_numbering",
    "mesh.tet_repair",
}


# and what loads SciPy when an artist makes muscles
ADDON_MAY_IMPORT_WITH_SCIPY = {
    "mesh.geometry.longitudinal_profile",
    "mesh.level_set.joined_surface",
    "mesh.muscle_shape.muscle_surface",
    "mesh.muscle_shape.profile",
}


def room_of(name: str) -> tuple[str, str] | None:
    """Returns the top folder and the room of a module: "solver.bake.cache.metadata" is in ("solver", "bake")."""
    words = name.split(".")
    return (words[0], words[1]) if words[0] in TIERS and len(words) > 1 else None


@pytest.mark.parametrize("top", TIERS)
def test_every_room_has_its_tier(top):
    rooms = {room[1] for path in sources(top) if (room := room_of(name_of(path)))}
    assert rooms == set(RANK[top]), sorted(rooms ^ set(RANK[top]))


@pytest.mark.parametrize("top", TIERS)
def test_rooms_import_lower_tiers_only(top):
    wrong = []
    for path in sources(top):
        module = name_of(path)
        room = room_of(module)
        for line, name in imports(path):
            other = room_of(name)
            if top == "solver" and name.startswith("addon"):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
            if room is None or other is None or other[0] != top or other == room:
                continue
            if RANK[top][other[1]] > RANK[top][room[1]] and (module, ".".join(other)) not in LATE_EXCEPTIONS:
                wrong.append(f"{path.relative_to(ROOT)}:{line} ({room[1]}) imports {name}")
    assert not wrong, "\n".join(wrong)


def test_late_imports_are_inside_functions():
    """An exception of the tiers that loads with its file would load Blender's rooms in a circle."""
    for module, room in sorted(LATE_EXCEPTIONS):
        path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
        top = {node.lineno for node in tree_of(path).body}
        lines = {line for line, name in imports(path) if ".".join(room_of(name) or ()) == room}
        assert lines and not lines & top, f"{path.relative_to(ROOT)} {sorted(lines)}"


def module_state(tree: ast.Module) -> Iterator[str]:
    """Yields names of a module whose values may change: empty containers, and results of calls and displays that are
    not named as constants or types."""
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        called = ast.unparse(value.func).split(".")[-1].split("[")[0] if isinstance(value, ast.Call) else ""
        is_display = isinstance(value, ast.Dict | ast.List | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
        if not called and not is_display or called in STATEFUL_CLASSES:
            continue
        is_empty = not any(ast.iter_child_nodes(value)) or ast.unparse(value) in (
            "[]",
            "{}",
            "set()",
            "dict()",
            "list()",
        )
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            name = ast.unparse(target)
            if name != "__all__" and (is_empty or not name.strip("_")[:1].isupper()):
                yield name


def test_the_addon_hides_no_state():
    found, globals_said = set(), []
    for path in sources("addon"):
        tree = tree_of(path)
        found |= {(name_of(path), name) for name in module_state(tree)}
        globals_said += [f"{name_of(path)}:{node.lineno}" for node in nodes_of(path) if isinstance(node, ast.Global)]
    assert not globals_said
    assert found == STATEFUL_OBJECTS.keys(), sorted(found ^ STATEFUL_OBJECTS.keys())


@pytest.mark.parametrize(
    "line", ["_last = []", "CLASSES: list[type] = []", "running = Bake()", "_seen: set[int] = set()", "ALL = dict()"]
)
def test_state_of_modules_is_seen(line):
    assert list(module_state(ast.parse(line))) and not list(
        module_state(ast.parse("A = {1: 2}\n_m: Memo[int] = Memo(3)"))
    )


def test_few_modules_lie_beside_the_rooms():
    assert {path.name for path in (ROOT / "solver").glob("*.py")} == {"__init__.py", "__main__.py", "api.py"}
    assert {path.name for path in (ROOT / "addon").glob("*.py")} == {"__init__.py", "handlers.py"}


@pytest.mark.parametrize("top", TIERS)
def test_the_page_shows_these_tiers(top):
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert table_of(top) in text, f"docs/architecture.md needs this table:\n{table_of(top)}"


def test_the_page_names_files_that_exist():
    """Paths without a package are in solver/; a folder ends with a slash."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    names = set(re.findall(r"[`( ]((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)[`),: ]", text))
    missing = [name for name in sorted(names) if not (ROOT / name).is_file() and not (ROOT / "solver" / name).is_file()]
    assert len(names) > 60 and not missing, missing


def table_of(top: str) -> str:
    """Returns the tiers of a top folder as the page has them, low to high."""
    lines = ["| Tier | Room | What is in it |", "|---|---|---|"]
    lines += [f"| {tier} | `{room}` | {what} |" for tier, rooms in TIERS[top].items() for room, what in rooms.items()]
    return "\n".join(lines)


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
        and name.removeprefix("solver.") not in ADDON_MAY_IMPORT_LATE | ADDON_MAY_IMPORT_WITH_SCIPY
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
REACH_LLVM = ("solver.runtime.kernel_cache", "solver.runtime.threads", "solver.runtime.simd")


def test_only_jit_knows_numba():
    """Its flags are named in one place, and none of its parallel loops is there: threads share out parts instead."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sources("solver")
        if not name_of(path).startswith(("solver.runtime.jit", *REACH_LLVM))
        for line, name in foreign_imports(path)
        if name.split(".")[0] == "numba"
    ]
    assert not wrong, "\n".join(wrong)


def test_benchmarks_import_what_they_may():
    """The harness imports neither papers nor speed, and these not each other; none imports tests; peers load late."""
    may = {"harness": {"harness"}, "papers": {"harness", "papers"}, "speed": {"harness", "speed"}}
    peers = {"mujoco", "cvxopt", "felupe", "pymetis", "pytetwild", "tetgen", "bpy"}
    wrong = []
    for folder, allowed in may.items():
        for path in sources(f"benchmarks/{folder}"):
            wrong += [
                f"{path.relative_to(ROOT)}:{line} imports {name}"
                for line, name in foreign_imports(path)
                if (base := name.split(".")[0]) in {*may, "fixtures"} and base not in allowed
            ]
    for path in sources("benchmarks/speed"):
        body = tree_of(path).body
        names = {alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in body if isinstance(node, ast.ImportFrom) and node.module}
        at_once = {name.split(".")[0] for name in names} & peers
        wrong += [f"{path.relative_to(ROOT)} imports {name} at once" for name in sorted(at_once)]
    assert not wrong, "\n".join(wrong)


def test_functions_say_their_types():
    """All but kernels, whose types Numba finds, and functions inside functions."""
    missing = []
    for path in [*sources("solver"), *sources("addon"), *sources("scripts")]:
        tree = tree_of(path)
        scopes = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
        for node in [inner for scope in scopes for inner in scope.body if isinstance(inner, ast.FunctionDef)]:
            is_kernel = any("kernel" in ast.unparse(decorator) for decorator in node.decorator_list)
            if not is_kernel and node.returns is None:
                missing.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not missing, "\n".join(missing)


def test_no_file_grows_past_one_idea():
    long = {
        str(path.relative_to(ROOT)): count
        for folder in ("solver", "addon", "scripts", "demo_blends", "benchmarks", "examples")
        for path in sources(folder)
        if (count := path.read_text(encoding="utf-8").count("\n")) > 400
    }
    assert not long, long


def test_every_source_says_its_licence():
    folders = ("solver", "addon", "scripts", "tests", "demo_blends", "benchmarks", "examples")
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
    may = tuple(f"sinew.solver.{name}" for name in ADDON_MAY_IMPORT)
    names = [f"sinew.{name_of(path)}" for path in sources("solver")]
    names = [name for name in names if name in may or name.startswith(tuple(f"{prefix}." for prefix in may))]
    code = f"import importlib\nfor name in {names!r}:\n    importlib.import_module(name)"
    assert not loaded_by(code) & {"numba", "scipy", "bpy", "llvmlite"}


def test_reading_files_of_tets_loads_neither_numba_nor_scipy(tmp_path):
    """What the add-on may import late; meshio only where a file is read, and of what rich needs nothing more."""
    (tmp_path / "a.mesh").write_text(
        "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n"
        "Tetrahedra\n1\n1 2 3 4 1\nEnd\n"
    )
    code = "\n".join(f"import sinew.solver.{name}" for name in sorted(ADDON_MAY_IMPORT_LATE))
    assert not loaded_by(code) & {"numba", "scipy", "bpy", "llvmlite", "meshio"}
    code += (
        f"\nfrom pathlib import Path\nsinew.solver.mesh.formats.tet_files.read_tets(Path({str(tmp_path / 'a.mesh')!r}))"
    )
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
