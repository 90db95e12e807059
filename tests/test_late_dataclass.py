# SPDX-License-Identifier: GPL-3.0-or-later
"""Data classes that are written when they are first used are data classes all the same."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
import threading
from dataclasses import field
from typing import Any

import pytest

import sinew.solver
from sinew.solver.runtime.lazy_dataclass import dataclass


def _point() -> Any:
    @dataclass(frozen=True)
    class Point:
        x: float
        y: float = 0.0
        names: list[str] = field(default_factory=list)

    return Point


@dataclass(frozen=True)
class Pickled:
    """What only a pickle makes."""

    number: int


def test_it_is_written_with_its_first_instance() -> None:
    point = _point()
    assert "__init__" not in vars(point) and point.y == 0.0
    here = point(1.0)
    assert here == point(1.0, 0.0, []) and here != point(2.0)
    assert repr(here).endswith("Point(x=1.0, y=0.0, names=[])")
    assert dataclasses.replace(here, y=2.0) == point(1.0, y=2.0)
    assert dataclasses.asdict(here) == {"x": 1.0, "y": 0.0, "names": []}
    with pytest.raises(dataclasses.FrozenInstanceError):
        here.x = 2.0
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        point()
    match here:
        case point(x, y):
            assert (x, y) == (1.0, 0.0)


def test_it_is_written_when_it_is_asked_for_its_fields() -> None:
    point = _point()
    assert dataclasses.is_dataclass(point)
    assert [each.name for each in dataclasses.fields(point)] == ["x", "y", "names"]
    assert point(1.0).names == []


def test_what_is_derived_of_it_is_written_after_it() -> None:
    @dataclass
    class Body:
        name: str
        mass: float = field(default=1.0, compare=False)

    @dataclass
    class Ball(Body):
        radius: float = 0.5

        def __post_init__(self) -> None:
            self.volume = self.radius**3

    class Loud(Ball):
        pass

    assert Loud("a", 2.0).volume == 0.125 and Loud("b") == Loud("b", 3.0)
    assert [each.name for each in dataclasses.fields(Ball)] == ["name", "mass", "radius"]
    assert Body("c").mass == 1.0


def test_what_is_equal_only_to_itself_stays_so() -> None:
    @dataclass(frozen=True, eq=False)
    class Model:
        nodes: int

    one = Model(1)
    assert one == one and one != Model(1) and len({one, Model(1)}) == 2


def test_what_cannot_wait_is_refused() -> None:
    with pytest.raises(TypeError, match="no class that can be written later"):
        dataclass(slots=True)(type("Narrow", (), {}))
    with pytest.raises(TypeError, match="no class that can be written later"):
        dataclass(type("Own", (), {"__new__": lambda cls: None}))


def test_every_class_of_the_solver_can_be_written() -> None:
    names = [module.name for module in pkgutil.walk_packages(sinew.solver.__path__, "sinew.solver.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    classes = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    found = {each: dataclasses.fields(each) for each in classes if dataclasses.is_dataclass(each)}
    assert len(found) > 150
    assert all("__init__" in vars(each) for each in found if "__dataclass_fields__" in vars(each))


def test_copies_and_pickles_are_whole() -> None:
    made = pickle.loads(b"\x80\x04c" + f"{__name__}\nPickled\n".encode() + b"(t\x81}X\x06\x00\x00\x00numberK\x03sb.")
    assert made.number == 3 and made == Pickled(3) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made))


def test_threads_make_the_first_of_a_class_together() -> None:
    for _ in range(20):
        point, made = _point(), []
        start = threading.Barrier(4)

        def make(point: Any = point, made: list[Any] = made, start: threading.Barrier = start) -> None:
            start.wait()
            made.append(point(1.0))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [point(1.0)] * 4
