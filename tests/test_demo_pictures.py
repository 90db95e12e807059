# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated pictures of the demo scenes, and that the README's pictures are there and small."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bpy", reason="needs Blender's module")
Image = pytest.importorskip("PIL.Image", reason="pages have pictures")

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "demo_blends"))

import pictures

FRAMES, SIZE, FPS = 5, (64, 36), 24
FURTHER_VIEWS = {"arm_layers_without_skin.webp"}  # of scenes with more than one view layer


@pytest.fixture
def frames(tmp_path: Path) -> list[Path]:
    """Returns noisy pictures, of which each is brighter than the one before it."""
    noise = np.random.default_rng(3).integers(0, 20, (*SIZE[::-1], 3))
    paths = []
    for number in range(FRAMES):
        paths.append(tmp_path / f"{number:04d}.png")
        Image.fromarray((noise + 50 * number).clip(0, 255).astype(np.uint8)).save(paths[-1])
    return paths


def test_an_animated_picture_has_every_frame_and_repeats(frames: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out.webp"
    pictures.write_animation(frames, out, FPS)
    with Image.open(out) as found:
        assert (found.n_frames, found.size, found.info["loop"]) == (FRAMES, SIZE, 0)
        brightness = []
        for number in range(FRAMES):
            found.seek(number)
            found.load()
            assert found.info["duration"] == round(1000 / FPS)
            brightness.append(np.asarray(found.convert("RGB")).mean())
    assert np.diff(brightness) == pytest.approx(50.0, abs=5.0)


def test_it_gets_coarser_until_it_is_small_enough(
    frames: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.webp"
    pictures.write_animation(frames, out, FPS)
    fine = out.stat().st_size
    monkeypatch.setattr(pictures, "MAX_ANIMATION_BYTES", fine - 1)
    pictures.write_animation(frames, out, FPS)
    assert out.stat().st_size < fine
    monkeypatch.setattr(pictures, "MAX_ANIMATION_BYTES", 10)
    with pytest.raises(ValueError, match=r"out\.webp has \d+ bytes at the least quality"):
        pictures.write_animation(frames, out, FPS)


def test_the_readme_shows_every_demo_in_motion() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"!\[\]\(docs/images/([a-z_]+)\.webp\) \*\*([a-z_]+)\*\*:", text))
    assert all(picture == name for picture, name in shown.items())
    used = set(re.findall(r"docs/images/([a-z_]+\.[a-z]+)", text))
    assert used == {path.name for path in (ROOT / "docs" / "images").iterdir() if path.is_file()}
    assert used == {f"{path.stem}.webp" for path in (ROOT / "demo_blends").glob("*.blend")} | FURTHER_VIEWS
    for name in used:
        path = ROOT / "docs" / "images" / name
        assert path.stat().st_size <= pictures.MAX_ANIMATION_BYTES
        with Image.open(path) as found:
            assert found.n_frames > 10, f"{name} does not move"
