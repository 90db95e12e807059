# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the files of Sinew 0.2.0 that later versions have to read, by the code of that version itself.

python tests/stored_files/make_0_2_0.py     takes the tag v0.2.0 out of git, into tests/stored_files/v0.2.0

caches/KIND.zip   a small bake of each kind, whole, with its scene
settings.blend    objects in every role, with every setting changed, and F-curves, a driver and presets on them
shot.blend        a library override of an object of library.blend, and an object linked without one
demos/*.blend     the demo scenes
values.json       what Blender said of the settings in each file: values, and those at some frames
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TAG = "v0.2.0"
OUT = HERE / TAG
FRAMES = (1, 8, 15)  # at which animated settings are compared
VALUES_FILE = "values.json.gz"
FROM_TAG = "--from-tag"


def main() -> None:
    """Takes the tag out of git and lets its code write the files."""
    if FROM_TAG in sys.argv:
        write_files(Path(sys.argv[-1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "sinew"
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "--detach", str(package), TAG], check=True)
        try:
            shutil.rmtree(OUT, ignore_errors=True)
            OUT.mkdir()
            script = (
                f"import runpy, sys; sys.path.insert(0, {folder!r}); runpy.run_path(sys.argv[1], run_name='__main__')"
            )
            subprocess.run([sys.executable, "-c", script, __file__, FROM_TAG, str(OUT)], check=True)
            shutil.copytree(
                package / "demo_blends", OUT / "demos", ignore=shutil.ignore_patterns("*.py", "__pycache__")
            )
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(package)], check=True)


def write_files(out: Path) -> None:
    """Writes all files but the demo scenes with the package `sinew` that is imported."""
    write_caches(out / "caches")
    import bpy

    import sinew

    bpy.ops.wm.read_factory_settings(use_empty=True)
    sinew.register()
    make_settings(out / "settings.blend")
    make_shot(out / "shot.blend")
    (out / "shot.blend1").unlink()
    values = {}
    for path in (
        out / "settings.blend",
        out / "shot.blend",
        *sorted((Path(sinew.__file__).parent / "demo_blends").glob("*.blend")),
    ):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        values[path.name] = stored_values()
    with gzip.GzipFile(out / VALUES_FILE, "wb", mtime=0) as file:
        file.write(json.dumps(values, sort_keys=True).encode())


def write_caches(out: Path) -> None:
    """Bakes a small scene of each kind."""
    from sinew.solver.simulate import simulate
    from sinew.solver.warm_scene import everything, falling, hanging, small

    out.mkdir()
    for kind, scene in (("falls", falling()), ("held", hanging()), ("every-feature", everything())):
        write_cache(out / kind, small(scene), simulate)
    write_cache(out / "breaks", breaking_scene(), simulate)


def breaking_scene() -> Any:
    """Returns a bar that breaks on the ground, with values for shaders."""
    import dataclasses

    from sinew.solver.scene import Fracture, Meshing, Settings
    from sinew.solver.warm_scene import falling

    scene = falling()
    body = dataclasses.replace(
        scene.bodies[0],
        key="breaks",
        vertices=scene.bodies[0].vertices * [3.0, 0.5, 0.5] + [0.0, 0.0, 0.2],
        meshing=Meshing("robust", divisions=6),
        fracture=Fracture(breaking_stress=300.0),
        initial_velocity=(0.0, 1.0, -5.0),
        attributes=("stress", "damage"),
    )
    return dataclasses.replace(scene, bodies=(body,), settings=Settings(frame_end=6, samples_per_frame=2))


def write_cache(folder: Path, scene: Any, simulate: Any) -> None:
    """Bakes a scene of a few frames and packs its cache."""
    import dataclasses

    from sinew.solver.tracks import TrackWriter

    settings = dataclasses.replace(scene.settings, frame_end=min(scene.settings.frame_end, 6))
    dataclasses.replace(scene, settings=settings).save(folder / "scene")
    TrackWriter(folder / "scene").close()
    simulate(folder, lambda event: None)
    shutil.make_archive(str(folder), "zip", folder)
    shutil.rmtree(folder)


def make_settings(path: Path) -> None:
    """Writes a file with an object of every role whose settings all have another value than by default."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    change_all(scene.sinew, {"baked_path", "baked_for", "baked_scene", "borrowed", "cache_path"})
    roles = bpy.types.Object.bl_rna.properties["sinew"].fixed_type.properties["role"].enum_items
    for role in roles:
        bpy.ops.mesh.primitive_cube_add()
        obj = bpy.context.object
        obj.name = role.identifier.capitalize()
        obj.sinew.role = role.identifier
        change_all(obj.sinew, {"role", "preset"})
    animate(bpy.data.objects["Body"])
    bpy.ops.mesh.primitive_uv_sphere_add()
    bpy.context.object.name = "Preset"
    bpy.context.object.sinew.role = "BODY"
    bpy.context.object.sinew.preset = "CLAY"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def make_shot(path: Path) -> None:
    """Writes a file that links one object of a library and overrides another."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    for name in ("Overridden", "Linked"):
        bpy.ops.mesh.primitive_cube_add()
        obj = bpy.context.object
        obj.name, obj.sinew.role, obj.sinew.youngs_modulus = name, "BODY", 12345.0
        animate(obj)
    library = path.with_name("library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_, wanted):
        wanted.objects = ["Overridden", "Linked"]
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    own = wanted.objects[0].override_create(remap_local_usages=True)
    own.override_library.is_system_override = False
    own.sinew.youngs_modulus, own.sinew.divisions = 54321.0, 9
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def animate(obj: Any) -> None:
    """Keys and drives settings of an object that can be animated."""
    settings = obj.sinew
    *keyed, driven = animatable(settings)
    for name in keyed:
        before = getattr(settings, name)
        settings.keyframe_insert(name, frame=FRAMES[0])
        change(settings, settings.bl_rna.properties[name], 0.25)
        settings.keyframe_insert(name, frame=FRAMES[-1])
        setattr(settings, name, before)
    obj.driver_add(f"sinew.{driven}").driver.expression = "0.01 * frame"


def animatable(settings: Any) -> list[str]:
    """Returns the names of the numbers that can be keyed."""
    known = settings.bl_rna.properties
    return [each.identifier for each in known if each.is_animatable and each.type == "FLOAT" and not each.is_array]


def change_all(settings: Any, but: set[str]) -> None:
    """Gives another value to every setting that can be written."""
    for each in settings.bl_rna.properties:
        if not each.is_readonly and each.identifier not in but | {"name", "rna_type"}:
            change(settings, each, 0.5)


def change(settings: Any, each: Any, share: float) -> None:
    """Gives a setting another value: of a number that share of the way from its default to a soft limit."""
    if each.type in ("FLOAT", "INT"):
        far = each.soft_max if each.soft_max != each.default else each.soft_min
        value = each.default + share * (min(far, 1e6) - each.default)
        value = value if each.type == "FLOAT" else round(value)
        setattr(settings, each.identifier, [value] * each.array_length if each.is_array else value)
    elif each.type == "BOOLEAN":
        setattr(settings, each.identifier, not each.default)
    elif each.type == "STRING":
        setattr(settings, each.identifier, each.identifier)
    elif each.type == "ENUM" and not each.is_enum_flag and len(each.enum_items) > 1:
        other = [item.identifier for item in each.enum_items if item.identifier != each.default]
        setattr(settings, each.identifier, other[0])


def stored_values() -> dict[str, Any]:
    """Returns the settings in the open file at each of `FRAMES`, as {name of what has them: {setting: [values]}}."""
    import bpy

    found: dict[str, dict[str, list[Any]]] = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        owners = {f"object {o.name}" + (" of a library" if o.library else ""): o for o in bpy.data.objects}
        for name, owner in {"scene": bpy.context.scene, **owners}.items():
            for each in owner.sinew.bl_rna.properties:
                if each.type in ("FLOAT", "INT", "BOOLEAN", "STRING", "ENUM") and each.identifier != "rna_type":
                    value = getattr(owner.sinew, each.identifier)
                    if each.type == "ENUM":
                        value = sorted(value) if each.is_enum_flag else value
                    found.setdefault(name, {}).setdefault(each.identifier, []).append(plain(value))
    return found


def plain(value: Any) -> Any:
    """Returns a value as JSON keeps it."""
    return value if isinstance(value, str | bool | int | float | list) else list(value)


if __name__ == "__main__":
    main()
