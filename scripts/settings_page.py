# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/settings.md, the manual of all settings, from the tables in solver/scene/settings/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sinew.solver.scene.settings.setting import CHOICE, CHOICES, SWITCH, WEIGHT_GROUP, Choice, Setting, When
from sinew.solver.scene.settings.tables import OBJECT_SETTINGS, SCENE_SETTINGS, SUBJECTS, Subject

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
INTRODUCTION = """# Settings

`scripts/settings_page.py` writes this page from the tables in `solver/scene/settings/`; tests/test_settings_tables.py
fails where it has drifted. *Property* is the name in scripts: `object.sinew.NAME`, or `scene.sinew.NAME` for the scene.
*Counts* says when a setting has an effect; the panel shows it grey otherwise. Settings marked with ◆ can be keyframed.
The range is that of the window, the slider's in brackets.
"""
ROLE_WORDS = {"BODY": "bodies", "COLLIDER": "colliders", "HEAT": "heat sources", "BONE": "bone meshes"}
ALL_SETTINGS = OBJECT_SETTINGS | SCENE_SETTINGS


def page() -> str:
    """Returns the whole page."""
    return "\n".join([INTRODUCTION, *(section(subject) for subject in SUBJECTS)])


def section(subject: Subject) -> str:
    """Returns the heading and the table of a subject."""
    owners = " and ".join(ROLE_WORDS[role] for role in subject.roles) or "the scene"
    lines = [f"## {subject.title}", "", f"Settings of {owners}.", ""]
    lines += ["| Setting | Property | Type and range | Default | Counts | Meaning |", "|---|---|---|---|---|---|"]
    return "\n".join([*lines, *(_row(setting) for setting in subject.settings), *_menus(subject), ""])


def _row(setting: Setting) -> str:
    label = f"{setting.label} ◆" if setting.is_animated else setting.label
    meaning = setting.description.removesuffix(". Can be keyframed")
    cells = (label, f"`{setting.name}`", _type(setting), _default(setting), _when(setting.when), f"{meaning}.")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(setting: Setting) -> str:
    """Returns the type of a setting with its range and unit."""
    low, high = setting.range
    if setting.limits is None or setting.choices:
        return setting.kind
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
    is_number = isinstance(setting.default, (int, float))
    return _number(setting.default) if is_number else "none" if setting.kind != WEIGHT_GROUP else "empty"


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
