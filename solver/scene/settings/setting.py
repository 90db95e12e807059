# SPDX-License-Identifier: GPL-3.0-or-later
"""The declaration of a setting: name, type, range, unit, label, tooltip, default, and when it counts.

Each file of this folder is a table of settings of one subject. Everything else follows from the tables: Blender's
properties (addon/properties/), the rows of panels (addon/panels/property_rows.py), the fields of the scene
(addon/export/settings_to_scene.py), the digest (addon/export/relevant_settings.py), the ranges that `validation.py`
checks, and docs/settings.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..serialisation.schema_constraints import MAX_SETTING, Limits, at_least, finite_number

# what a setting may be
NUMBER, INTEGER, SWITCH, VECTOR, TEXT = "number", "whole number", "on or off", "vector", "text"
CHOICE, CHOICES = "choice", "any of these"
WEIGHT_GROUP, VECTOR_ATTRIBUTE = "vertex group or attribute", "vector attribute"
FILE, FOLDER = "file", "folder"
OBJECT, COLLECTION, MATERIAL = "object", "collection", "material"
TABLE = "table"

METRE, METRE_PER_SECOND, RADIAN = "m", "m/s", "rad"  # Blender shows these units itself

ABSOLUTE_ZERO = -273.15  # [°C]

# what bodies and colliders have in common
THICKNESS_LIMITS = at_least(0.0, "Thickness", METRE)


class _Default:
    """Stands for a value that follows from others."""

    def __init__(self, meaning: str) -> None:
        self._meaning = meaning

    def __repr__(self) -> str:
        return self._meaning


# ends of the range in the window: those of the solver, or none
FROM_LIMITS, UNBOUNDED = _Default("FROM_LIMITS"), _Default("UNBOUNDED")
# what a scene has where a setting does not count: its value all the same, or the default of the field
ITS_VALUE, FIELD_DEFAULT = _Default("ITS_VALUE"), _Default("FIELD_DEFAULT")


@dataclass(frozen=True)
class Choice:
    """One item of a menu.

    Attributes:
        identifier: The name in scripts and presets.
        label, tooltip: For people.
        number: What .blend files store; never changed.
        value: What the solver calls it; None: the identifier in lower case with hyphens.
        source: Where the values of a preset come from, for the manual.
    """

    identifier: str
    label: str
    tooltip: str
    number: int
    value: Any = None
    source: str = ""

    @property
    def solver_value(self) -> Any:
        """The word that a scene has for this item."""
        return self.identifier.lower().replace("_", "-") if self.value is None else self.value


@dataclass(frozen=True)
class When:
    """A condition on another setting of the same object.

    Attributes:
        setting: The name of the other setting.
        values: Those with which the condition holds; none: it holds where the other one is set to anything.
    """

    setting: str
    values: tuple[Any, ...] = ()

    def holds(self, value_of: Callable[[str], Any]) -> bool:
        """Whether the condition holds, with the values of the settings by their names."""
        value = value_of(self.setting)
        return value in self.values if self.values else bool(value)


@dataclass(frozen=True)
class Setting:
    """A setting of an object or of the whole scene.

    Attributes:
        name: The property in .blend files and scripts; never changed.
        label: The word in the window.
        tooltip: One or two short sentences without the last full stop.
        kind: Of the words above.
        default: In the window.
        term: The term of the field with its symbol, behind the tooltip: "Young's modulus E".
        unit: SI unit, "°C", or "".
        limits: What the solver accepts; None: everything.
        minimum, maximum: Ends of the range in the window.
        soft: Ends of the slider, None for the end of the range.
        precision: Decimal places shown.
        step: Change per click, in hundredths.
        is_share: Whether the window shows a slider from end to end.
        choices: Of a menu.
        when: It counts where all of these hold.
        field: Class and field of the scene that the value goes into: "Material.youngs_modulus".
        otherwise: What the field gets where the setting does not count.
        is_animated: Whether it may have keyframes.
        changes_bake: Whether another value gives another bake. Without it, the digest leaves the setting out.
        since: The version that added it, "" for 0.2.0. The digest leaves a later setting out while it has its default,
            so that bakes of earlier versions stay up to date.
    """

    name: str
    label: str
    tooltip: str
    kind: str = NUMBER
    default: Any = 0.0
    term: str = ""
    unit: str = ""
    limits: Limits | None = None
    minimum: Any = FROM_LIMITS
    maximum: Any = FROM_LIMITS
    soft: tuple[float | None, float | None] = (None, None)
    precision: int = 3
    step: float = 1
    is_share: bool = False
    choices: tuple[Choice, ...] = ()
    when: tuple[When, ...] = ()
    field: str = ""
    otherwise: Any = ITS_VALUE
    is_animated: bool = False
    changes_bake: bool = True
    since: str = ""

    @property
    def description(self) -> str:
        """The whole tooltip: meaning, term, unit, and whether it may have keyframes."""
        unit = f" [{self.unit}]" if self.unit else ""
        if self.term:
            parts = [self.tooltip, f"{self.term}{unit}"]
        else:
            first, *others = self.tooltip.split(". ")
            parts = [f"{first}{unit}", *others]
        return ". ".join([*parts, *(["Can be keyframed"] if self.is_animated else [])])

    @property
    def range(self) -> tuple[float | None, float | None]:
        """The ends of the range in the window, None for no end."""
        limits = self.limits or Limits("", "")
        low, high = (
            end if given is FROM_LIMITS else None if given is UNBOUNDED else given
            for given, end in ((self.minimum, limits.low), (self.maximum, limits.high))
        )
        return None if low == -MAX_SETTING else low, None if high == MAX_SETTING else high

    def counts(self, value_of: Callable[[str], Any]) -> bool:
        """Whether the setting has an effect, with the values of the settings by their names."""
        return all(condition.holds(value_of) for condition in self.when)

    @property
    def words(self) -> tuple[Any, ...]:
        """The words that a scene may have for this menu."""
        return tuple(choice.solver_value for choice in self.choices)

    def solver_value(self, identifier: str) -> Any:
        """Returns the word that a scene has for an item of the menu."""
        return next(choice.solver_value for choice in self.choices if choice.identifier == identifier)


def switch(name: str, label: str, tooltip: str, default: bool = False, **more: Any) -> Setting:
    """Returns a setting that is on or off."""
    return Setting(name, label, tooltip, SWITCH, default, **more)


def integer(name: str, label: str, tooltip: str, default: int, limits: Limits | None = None, **more: Any) -> Setting:
    """Returns a setting that is a whole number."""
    return Setting(name, label, tooltip, INTEGER, default, limits=limits, **more)


def menu(name: str, label: str, tooltip: str, choices: tuple[Choice, ...], default: str, **more: Any) -> Setting:
    """Returns a setting that is one of some choices; `default` is an identifier."""
    return Setting(name, label, tooltip, CHOICE, default, choices=choices, **more)


def weight_group(name: str, label: str, tooltip: str, **more: Any) -> Setting:
    """Returns a setting that names a vertex group or an attribute."""
    return Setting(name, label, tooltip, WEIGHT_GROUP, "", **more)


def paint(name: str, label: str, painted: str, **more: Any) -> Setting:
    """Returns a setting that names the weights which the setting called `painted` is multiplied with."""
    tooltip = (
        f"Multiplies {painted} by a vertex group or attribute. Unpainted is 0. "
        "Points inside take the weight of the nearest surface"
    )
    return weight_group(name, label, tooltip, **more)


def length(name: str, label: str, tooltip: str, default: float = 0.0, **more: Any) -> Setting:
    """Returns a setting that is a length [m]."""
    return Setting(name, label, tooltip, default=default, unit=METRE, **{"limits": at_least(0.0, label, METRE), **more})


def temperature(name: str, label: str, tooltip: str, default: float, **more: Any) -> Setting:
    """Returns a temperature [°C]: solvers accept any, the window shows nothing below absolute zero."""
    return Setting(
        name,
        label,
        tooltip,
        default=default,
        unit="°C",
        limits=finite_number(label),
        minimum=ABSOLUTE_ZERO,
        precision=1,
        step=100,
        **more,
    )


def friction(name: str, tooltip: str, field: str, label: str = "Friction") -> Setting:
    """Returns a coefficient of friction."""
    return Setting(
        name,
        label,
        tooltip,
        default=0.5,
        term="Coulomb's coefficient of friction μ",
        limits=at_least(0.0, label),
        maximum=100.0,
        soft=(None, 1.0),
        precision=2,
        field=field,
    )


def thickness(name: str, tooltip: str, field: str) -> Setting:
    """Returns a distance that surfaces keep [m]."""
    return length(name, "Thickness", tooltip, limits=THICKNESS_LIMITS, soft=(None, 0.1), precision=4, field=field)


def spring_stiffness(name: str, tooltip: str, **more: Any) -> Setting:
    """Returns the stiffness of springs between flesh and a bone, over the mass that they hold [1/s²]."""
    limits = more.pop("limits", at_least(0.0, "Spring Stiffness", "1/s²"))
    return Setting(
        name,
        "Spring Stiffness",
        tooltip,
        default=30000.0,
        term="Spring stiffness per mass",
        unit="1/s²",
        limits=limits,
        soft=(100.0, 1.0e6),
        precision=0,
        step=100000,
        **more,
    )
