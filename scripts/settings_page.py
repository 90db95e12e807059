# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/settings.md, the manual of all settings, from the tables in solver/scene/settings/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sinew.solver.scene.settings.flesh_settings import (
    ARMATURE_SETTINGS,
    BONE_HOLD_SETTINGS,
    IS_ELASTIC,
    NON_FLESH_SWITCHES,
)
from sinew.solver.scene.settings.setting import (
    CHOICE,
    CHOICES,
    SWITCH,
    TABLE,
    UNBOUNDED,
    VECTOR_ATTRIBUTE,
    WEIGHT_GROUP,
    Choice,
    Setting,
    When,
)
from sinew.solver.scene.settings.tables import (
    COLLISION_PANELS,
    MAIN_PANEL,
    OBJECT_SETTINGS,
    SCENE_SETTINGS,
    SUBJECTS,
    Subject,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
INTRODUCTION = """# Settings

This page lists every setting, with a chapter for each panel: first the basic ones, then those of single features.

| Column | What it says |
|---|---|
| Setting | The name in the panel. ◆: it can be keyframed. If two settings share a name, the row tells them apart. |
| Property | The name in Python: `object.sinew.NAME`, or `scene.sinew.NAME` for settings of the scene. |
| Type and range | What you can enter. The range of the slider is in brackets. |
| Default | Of the property. A new body gets Jelly by Size or Flesh by Size, and about 5,000 tets by number. |
| Counts | When the setting has an effect. Otherwise the panel grays it out or hides it. |
"""
# the panels in the order in which an artist needs them; those that are not named here come last
CHAPTERS = (
    MAIN_PANEL,
    "Material",
    "Tets",
    "Pins",
    "Collision",
    COLLISION_PANELS,
    "Collider",
    "Size and Start",
    "Solver",
    "Cache",
    "Flesh",
    "Bones",
    "Bone Mesh",
    "Plasticity",
    "Heat",
    "Heat Source",
    "Fracture",
    "Rigid Core",
    "Attributes",
    "Advanced",
)
FORMER_NOTE = (
    "{names} are of earlier versions and for scripts: rows of [Attachments](#attachments) follow them, and no panel "
    "shows them."
)
FORMER_SETTINGS = (*ARMATURE_SETTINGS, *BONE_HOLD_SETTINGS)
ROLE_WORDS = {"BODY": "bodies", "COLLIDER": "colliders", "HEAT": "heat sources", "BONE": "bone meshes", "WRAP": "wraps"}
ALL_SETTINGS = OBJECT_SETTINGS | SCENE_SETTINGS


def page() -> str:
    """Returns the whole page."""
    titles = dict.fromkeys([*CHAPTERS, *(subject.title for subject in SUBJECTS)])
    return "\n".join([INTRODUCTION, *map(chapter, titles)])


def chapter(title: str) -> str:
    """Returns the heading of a panel and the tables of its subjects."""
    return "\n".join([f"## {title}", "", *(table(subject) for subject in SUBJECTS if subject.title == title)])


def table(subject: Subject) -> str:
    """Returns the table of a subject and the items of its menus."""
    owners = " and ".join(ROLE_WORDS[role] for role in subject.roles) or "the scene"
    former = [setting.label for setting in subject.settings if setting in FORMER_SETTINGS]
    note = f" {FORMER_NOTE.format(names=', '.join(former[:-1]) + ' and ' + former[-1])}" if former else ""
    lines = [f"Settings of {owners}.{note}", ""]
    lines += ["| Setting | Property | Type and range | Default | Counts | Meaning |", "|---|---|---|---|---|---|"]
    return "\n".join([*lines, *(_row(setting, subject) for setting in subject.settings), *_menus(subject), ""])


def _row(setting: Setting, subject: Subject) -> str:
    label = setting.label
    namesakes = [each for each in subject.settings if each.label == label]
    if len({each.kind for each in namesakes}) > 1:
        label += ": switch" if setting.kind == SWITCH else ": value"
    elif len(namesakes) > 1:
        label += f" ({_when(setting.when)})"
    label += " ◆" if setting.is_animated else ""
    meaning = setting.description.removesuffix(". Can be keyframed")
    # flesh refuses these features, while their panels stay
    conditions = (*setting.when, IS_ELASTIC) if setting.name in NON_FLESH_SWITCHES else setting.when
    anchor = f'<a id="{setting.name}"></a>'  # for links, and for Blender's Online Manual of a field
    cells = (label, f"{anchor}`{setting.name}`", _type(setting), _default(setting), _when(conditions), f"{meaning}.")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(setting: Setting) -> str:
    """Returns the type of a setting with its range and unit."""
    low, high = setting.range
    if setting.limits is None or setting.choices:
        return setting.kind
    # where the window leaves an end open, the solver checks it
    low = setting.limits.low if setting.minimum is UNBOUNDED else low
    high = setting.limits.high if setting.maximum is UNBOUNDED else high
    words = [setting.kind, _interval(low, high)]
    soft = tuple(end if given is None else given for given, end in zip(setting.soft, (low, high), strict=True))
    words += [f"[{_interval(*soft)}]"] if soft != (low, high) else []
    return " ".join([*(word for word in words if word), setting.unit]).strip()


def _interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f"≥ {_number(low)}"
    return f"≤ {_number(high)}" if low is None else f"{_number(low)} … {_number(high)}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"


def _default(setting: Setting) -> str:
    if setting.kind == SWITCH:
        return "on" if setting.default else "off"
    if setting.kind == CHOICE:
        return _choice_label(setting, setting.default)
    if isinstance(setting.default, tuple):
        return ", ".join(map(_number, setting.default))
    if setting.kind == TABLE:
        return "no rows"
    is_number = isinstance(setting.default, (int, float))
    return (
        _number(setting.default)
        if is_number
        else "empty"
        if setting.kind in (WEIGHT_GROUP, VECTOR_ATTRIBUTE)
        else "none"
    )


def _when(conditions: tuple[When, ...]) -> str:
    """Returns the conditions in the words of the window."""
    words = []
    for condition in conditions:
        other = ALL_SETTINGS[condition.setting]
        if not condition.values:
            words.append(f"{other.label} is set")
        elif other.kind == SWITCH:
            words.append(other.label if condition.values == (True,) else f"not {other.label}")
        else:
            words.append(f"{other.label}: " + " or ".join(_choice_label(other, value) for value in condition.values))
    return "; ".join(words) or "always"


def _choice_label(setting: Setting, identifier: str) -> str:
    return next(choice.label for choice in setting.choices if choice.identifier == identifier)


def _choice_line(choice: Choice) -> str:
    source = f" {choice.source}." if choice.source else ""
    return f"- *{choice.label}* (`{choice.identifier}`): {choice.tooltip}.{source}"


def _menus(subject: Subject) -> list[str]:
    """Returns the items of the subject's menus."""
    lines = []
    for setting in subject.settings:
        if setting.kind in (CHOICE, CHOICES):
            lines += ["", f"**{setting.label}** (`{setting.name}`)", ""]
            lines += map(_choice_line, setting.choices)
    return lines


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
