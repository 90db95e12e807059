# SPDX-License-Identifier: GPL-3.0-or-later
"""Every value of a stored scene is checked on load: wrong ones end in one sentence that says where they are."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.tiny_bakes import box_of_tets
from sinew.solver.runtime.errors import BadInput, SinewError
from sinew.solver.runtime.npz_reader import read_arrays
from sinew.solver.scene import scene
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.material import MaterialPaint
from sinew.solver.scene.rigid_core import Core, Hinge, Pull
from sinew.solver.scene.scene import (
    ARRAYS_FILE,
    SCENE_FILE,
    Body,
    Collider,
    Fracture,
    Heat,
    HeatSource,
    Meshing,
    Plasticity,
    Scene,
    Settings,
)
from sinew.solver.scene.serialisation.field_schema import declared_fields
from sinew.solver.scene.serialisation.schema_constraints import OneOf
from sinew.solver.scene.validation import check_scene

SEED = 20
Place = tuple[Any, ...]
NAN, INFINITY = float("nan"), float("inf")


def scene_of_everything() -> Scene:
    """Returns a scene in which every part of a scene is there, on the smallest meshes."""
    nodes, tets, faces = box_of_tets(1)
    ones = np.ones(len(nodes))
    breaking = Body(
        nodes,
        faces,
        key="a",
        name="Glass",
        meshing=Meshing("given"),
        tet_nodes=nodes,
        tets=tets,
        pinned=np.array([0], np.int32),
        pin_weights=np.ones(1),
        plasticity=Plasticity(yield_paint=ones),
        heat=Heat(softening=np.array([[20.0, 1, 1, 1], [50, 0.5, 0.5, 0.5]])),
        fracture=Fracture(toughness=3.0, strength_paint=ones),
        attributes=("stress",),
        face_of_triangle=np.arange(len(faces), dtype=np.int32),
    )
    flesh = Body(
        nodes + [5.0, 0, 0],
        faces,
        key="b",
        name="Cheek",
        flesh=Flesh(attachment_paint=ones),
        material_paint=MaterialPaint(ones),
    )
    cored = Body(nodes + [9.0, 0, 0], faces, key="c", name="Head", core=Core(0.1, ones, Hinge(), Pull()))
    bone = Bone("e", "Femur", 0.2 * nodes + [5.0, 0, 0.5], faces, bodies=("b",), mask=ones)
    return Scene(
        (breaking, flesh, cored),
        (Collider("g", "Ground"), Collider("t", "Table", "mesh", 0.1 * nodes, faces)),
        Settings(threads=1),
        (HeatSource("h", "Stove", vertices=nodes, triangles=faces),),
        (bone,),
        (("a", "b"),),
    )


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    scene_of_everything().save(tmp_path)
    return tmp_path


def refused(folder: Path) -> str:
    """Returns the one sentence with which the scene in a folder is refused; "" where it is taken."""
    try:
        check_scene(Scene.load(folder))
    except SinewError as problem:
        assert "\n" not in problem.text
        return problem.text
    return ""


def places(tree: Any, place: Place = ()) -> Iterator[Place]:
    """Yields where the values of a tree are, those inside others too."""
    if place:
        yield place
    if isinstance(tree, dict) and "array" not in tree:
        for name, value in tree.items():
            yield from places(value, (*place, name))
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from places(value, (*place, number))


def value_at(tree: Any, place: Place) -> Any:
    for step in place:
        tree = tree[step]
    return tree


def with_value(tree: Any, place: Place, value: Any) -> Any:
    """Returns a copy of a tree with another value at a place."""
    copy = json.loads(json.dumps(tree))
    value_at(copy, place[:-1])[place[-1]] = value
    return copy


def wrong_values(there: Any) -> list[Any]:
    """Returns values of other types than the one that is there, and numbers out of any range."""
    never: list[Any] = [{"array": "nothing"}, {"array": 5}, NAN, INFINITY, -1e308, 1e308, 10**40]
    if not isinstance(there, list):
        never += [[1, 2], []]
    if not isinstance(there, str):
        never += ["x", ""]
    if not isinstance(there, bool):
        never += [True]
    return never


def test_what_is_stored_is_taken(stored: Path) -> None:
    assert refused(stored) == ""


def test_every_value_of_a_wrong_type_is_told_with_its_place(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every value of the scene a wrong one, drawn by lot: about 300 scenes, whose arrays are read once."""
    arrays = read_arrays(stored / ARRAYS_FILE)
    for array in arrays.values():
        array.flags.writeable = False  # one scene changes nothing for the next
    monkeypatch.setattr(scene, "read_arrays", lambda path: dict(arrays))
    chance = np.random.default_rng(SEED)
    tree = json.loads((stored / SCENE_FILE).read_text(encoding="utf-8"))
    count = 0
    for place in places(tree["scene"]):
        values = wrong_values(value_at(tree["scene"], place))
        wrong = values[chance.integers(len(values))]
        changed = with_value(tree, ("scene", *place), wrong)
        (stored / SCENE_FILE).write_text(json.dumps(changed), encoding="utf-8")
        sentence = refused(stored)
        dotted = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")
        assert dotted in sentence, (place, wrong, sentence)
        count += 1
    assert count > 250


@pytest.mark.parametrize("there", [None, [], "x", 3, {"format": True}, {"format": 1}, {"format": 1, "scene": []}])
def test_what_is_no_scene_at_all(stored: Path, there: Any) -> None:
    (stored / SCENE_FILE).write_text(json.dumps(there))
    assert refused(stored)


def test_values_that_no_dataclass_has_and_those_that_are_missing(stored: Path) -> None:
    tree = json.loads((stored / SCENE_FILE).read_text(encoding="utf-8"))
    extra = with_value(tree, ("scene", "bodies", 0, "material", "youngs_modulu"), 5.0)
    (stored / SCENE_FILE).write_text(json.dumps(extra))
    assert "bodies[0].material.youngs_modulu" in refused(stored)
    missing = with_value(tree, ("format",), 1)
    del missing["scene"]["bodies"][1]["vertices"]
    (stored / SCENE_FILE).write_text(json.dumps(missing))
    assert "bodies[1].vertices" in refused(stored)


def test_words_ranges_and_keys_say_what_they_may_be(stored: Path) -> None:
    tree = json.loads((stored / SCENE_FILE).read_text(encoding="utf-8"))
    for place, value, words in (
        (
            ("bodies", 0, "material", "youngs_modulus"),
            0.0,
            ["Stiffness (bodies[0].material.youngs_modulus)", '"Glass"'],
        ),
        (("bodies", 0, "plasticity", "law"), "viscous", ["bodies[0].plasticity.law", "multiplicative, additive"]),
        (("bodies", 0, "attributes", 0), "colour", ["bodies[0].attributes[0]", "stress"]),
        (("bodies", 1, "method", "levels"), 9, ["Refinements", "from 1 to 3"]),
        (("settings", "fps"), 1e300, ["Frame Rate (settings.fps)", "1e+09"]),
        (("settings", "gravity", 2), 1e300, ["settings.gravity[2]"]),
        (("settings", "gravity"), [0.0, 1.0], ["settings.gravity", "a list of 3 values"]),
        (("colliders", 0, "key"), "../../x", ["../../x", '"Ground"']),
        (("bodies", 1, "key"), "a", ['"Glass"', "unique"]),
    ):
        changed = with_value(tree, ("scene", *place), value)
        (stored / SCENE_FILE).write_text(json.dumps(changed), encoding="utf-8")
        sentence = refused(stored)
        for word in words:
            assert word in sentence, sentence


def damaged_arrays(array: np.ndarray) -> dict[str, np.ndarray]:
    """Returns arrays that cannot stand where one is, by what is wrong with them."""
    found = {
        "one axis more": array[..., None],
        "complex": array.astype(complex),
        "text": array.astype(str),
        "truth": array.astype(bool),
        "scalar": np.array(1.0),
    }
    if array.ndim == 2:
        found |= {"flat": array.reshape(-1), "wide": np.concatenate([array, array], axis=1)}
    if array.dtype.kind == "f":
        found |= {
            name: _with_first(array, value) for name, value in (("nan", NAN), ("inf", INFINITY), ("large", 1e300))
        }
    else:
        found |= {"floats": array + 0.5, "wraps": _with_first(array.astype(np.int64), 2**32), "below": array * 0 - 1}
    return found


def _with_first(array: np.ndarray, value: float) -> np.ndarray:
    changed = array.copy()
    changed.flat[0] = value
    return changed


def test_every_array_of_a_wrong_type_or_size_is_told_with_its_place(stored: Path) -> None:
    with np.load(stored / ARRAYS_FILE) as file:
        arrays = dict(file)
    chance = np.random.default_rng(SEED)
    count = 0
    for name, array in arrays.items():
        place = "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in name.split(".")).lstrip(".")
        if not array.size:
            continue
        damaged = damaged_arrays(array)
        for words in chance.choice(list(damaged), 2, replace=False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                np.savez(stored / ARRAYS_FILE, **{**arrays, name: damaged[words]})
            sentence = refused(stored)
            assert place in sentence, (name, words, sentence)
            count += 1
        np.savez(stored / ARRAYS_FILE, **{other: values for other, values in arrays.items() if other != name})
        assert place in refused(stored)
    assert count > 40


def test_an_array_that_announces_more_than_the_file_holds(stored: Path) -> None:
    data = (stored / ARRAYS_FILE).read_bytes()
    wrong = data.replace(b"'shape': (8, 3)", b"'shape': (8888, 30000000)"[: len(b"'shape': (8, 3)")])
    assert wrong != data
    (stored / ARRAYS_FILE).write_bytes(wrong)
    assert "cannot read" in refused(stored)


def test_every_text_is_a_name_or_one_of_its_words() -> None:
    """A text without words would be taken whatever it is."""
    # targets and ends of joints are keys, which `check_attachments` and `check_joints` look up
    free = {"key", "name", "target", "first", "second"}

    def texts(cls: Any) -> Iterator[str]:
        for name, declared in declared_fields(cls).items():
            if hasattr(declared.kind, "__dataclass_fields__"):
                yield from texts(declared.kind)
            for item in declared.items:
                if hasattr(item.kind, "__dataclass_fields__"):
                    yield from texts(item.kind)
            if declared.kind is str and declared.rule(OneOf) is None and name not in free:
                yield f"{cls.__name__}.{name}"

    assert list(texts(Scene)) == []


def test_a_scene_made_in_memory_is_told_by_the_labels_of_the_window() -> None:
    scene = scene_of_everything()
    with pytest.raises(BadInput) as caught:
        check_scene(Scene(scene.bodies, settings=Settings(fps=0.0)))
    assert caught.value.sentence.startswith('Frame Rate of "the scene" is 0')
