# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of the fuzzer: a command line drawn by lot, over files of which some are damaged."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fuzzer import sound_files as fuzz_files
from fuzzer.file_damage import Random, damage, folder_lost, harmless

INPUT, OUTPUT, SPARE = "in", "out", "tmp"
TETS_IN_TEXT = ("text", "whole", "parted", "plain.obj", "quads")
SMALL = ("-1", "0", "1", "nan", "inf", "1e308", "1e-300", "1e160", "two", "")
FRAMES = ("-1", "0", "1", "-99999999999999999999", "1.5", "x", "")  # nobody is kept from asking for a million
WHOLE = ("-1", "0", "1", "1000000000", "99999999999999999999", "1.5", "x", "")
# of each command: what its options may sensibly be, and what they are sometimes
OPTIONS: Mapping[str, Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "tetrahedralize": {
        "--method": (("smooth", "robust"), ("given", "Robust under Tets", "")),
        "--divisions": (("3", "4", "5"), WHOLE),
        "--tet-size": (("0.5", "0.7"), SMALL),
    },
    "equilibrium": {
        "--material": (("neo-hookean", "corotated", "stvk"), ("Neo-Hookean", "")),
        "--youngs-modulus": (("1e5", "3e3"), SMALL),
        "--poisson-ratio": (("0.3", "0.4"), (*SMALL, "0.5", "0.4999999")),
        "--start": (("rest", "scatter:1"), ("point", "plane", "mirror", "scatter:nan", "scatter:", "scatter:1e160")),
        "--seed": (("0", "7"), WHOLE),
        "--tolerance": (("1e-6",), SMALL),
        "--iterations": (("20", "60"), WHOLE),
    },
    "drop": {
        "--preset": (("jelly", "rubber", "clay", "glass", "chocolate"), ("Jelly", "gras", "")),
        "--height": (("0", "0.2"), SMALL),
        "--seconds": (("0.1",), SMALL),
        "--fps": (("24",), SMALL),
        "--substeps": (("1", "2"), WHOLE),
        "--simulated-scale": (("1", "0.1"), SMALL),
        "--method": (("smooth", "robust"), ("given",)),
        "--divisions": (("3", "4"), WHOLE),
        "--breaking-stress": (("1e4",), SMALL),
        "--toughness": (("1e3",), SMALL),
        "--yield-strain": (("0.01",), SMALL),
        "--flow": (("10",), SMALL),
        "--threads": (("1",), WHOLE),
    },
    "simulate": {
        "--frame-end": (("2", "3"), FRAMES),
        "--threads": (("1",), WHOLE),
    },
    "resume": {
        "--from-frame": (("3", "5", "6"), WHOLE),
        "--frame-end": (("7", "8"), FRAMES),
        "--threads": (("1",), WHOLE),
    },
    "bake": {
        "--object": (("Falling Cube",), ("Gone", "")),
        "--scene": (("Scene",), ("Gone", "")),
        "--frame-start": (("1",), FRAMES),
        "--frame-end": (("2",), FRAMES),
        "--threads": (("1",), WHOLE),
    },
    "attach": {"--scene": (("Scene",), ("Gone", ""))},
}
FLAGS: Mapping[str, tuple[str, ...]] = {
    "drop": ("--elastic",),
    "simulate": ("--strict",),
    "resume": ("--strict", "--accept-changes"),
    "bake": ("--strict", "--resume"),
}
# what is asked of each kind of input, and how often
ASKED: Mapping[str, tuple[tuple[str, int], ...]] = {
    "surface": (("tetrahedralize", 8), ("drop", 1)),
    "tets": (("tetrahedralize", 5), ("equilibrium", 3), ("drop", 1)),
    "pins": (("equilibrium", 1),),
    "scene": (("simulate", 1),),
    "cache": (("resume", 5), ("info", 5), ("verify", 5), ("simulate", 1), ("finish", 2), ("attach", 2)),
    "broken": (("resume", 2), ("info", 4), ("verify", 4), ("finish", 3)),
    "blend": (("bake", 1), ("attach", 1)),
}
OFTEN: Mapping[str, int] = {"surface": 26, "tets": 26, "pins": 5, "scene": 18, "cache": 22, "broken": 5, "blend": 1}


@dataclass
class Case:
    """One command line with what it is given.

    Attributes:
        seed, number: What it is drawn by.
        folder: Where its files are: in/, out/, and tmp/ for what the command needs only while it runs.
        kind: Of its input, a name in `ASKED`.
        command: A name in `ASKED`; "resume" is `simulate --resume`, "verify" `info --verify`.
        words: The command line.
        sound_words: The same for the files before they were damaged.
        damaged: Relative to in/, what was damaged, and how.
        is_harmless: Whether the damaged files still say the same.
        is_sensible: Whether no option is out of its range.
    """

    seed: int
    number: int
    folder: Path
    kind: str = ""
    command: str = ""
    words: list[str] = field(default_factory=list)
    sound_words: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    is_harmless: bool = False
    is_sensible: bool = True

    @property
    def title(self) -> str:
        """What it does, in a line."""
        told = "; ".join(f"{path}: {how}" for path, how in self.damaged.items()) or "sound files"
        return f"sinew {' '.join(word or repr('') for word in self.words)}  [{told}]"


def draw(seed: int, number: int, sound: Path, folder: Path, has_verify: bool) -> Case:
    """Draws a case and puts its files into a new folder.

    Args:
        seed, number: The same ones give the same case.
        sound: Where `fuzz_files.write_files` has written.
        folder: Made here.
        has_verify: Whether `sinew info` has an option --verify.
    """
    random = np.random.default_rng([seed, number])
    case = Case(seed, number, folder)
    for name in (INPUT, OUTPUT, SPARE):
        (folder / name).mkdir(parents=True)
    kinds = [kind for kind in OFTEN if kind != "blend" or (sound / fuzz_files.BLEND).exists()]
    case.kind = _by_weight(random, {kind: OFTEN[kind] for kind in kinds})
    asked = dict(ASKED[case.kind])
    if not (sound / fuzz_files.BLEND).exists():
        asked.pop("attach", None)
    if not has_verify:
        asked.pop("verify", None)
    case.command = _by_weight(random, asked)
    main, others = _copied(random, case, sound)
    _damage(random, case, main)
    _write_words(random, case, main, others, sound)
    return case


def _by_weight(random: Random, weights: Mapping[str, int]) -> str:
    names = list(weights)
    share = np.array([weights[name] for name in names], float)
    return names[int(random.choice(len(names), p=share / share.sum()))]


def _copied(random: Random, case: Case, sound: Path) -> tuple[Path, list[Path]]:
    """Copies what the case needs; returns what its command is about, and what else it takes."""
    here = case.folder / INPUT
    others: list[Path] = []

    def bring(name: str) -> Path:
        target = here / Path(name).name
        if (sound / name).is_dir():
            shutil.copytree(sound / name, target)
        else:
            shutil.copy(sound / name, target)
        return target

    if case.kind in ("surface", "tets", "pins"):
        place = fuzz_files.SURFACES if case.kind == "surface" else fuzz_files.TETS
        names = sorted(path.name for path in (sound / place).iterdir() if path.name != "points.veg")
        name = "text2.msh" if case.kind == "pins" else names[random.integers(len(names))]
        main = bring(f"{place}/{name}")
        if name == "parted.veg":
            bring(f"{place}/points.veg")
        if case.command == "equilibrium":
            others.append(bring(fuzz_files.PINS))
        return main, others
    if case.kind == "blend":
        main = bring(fuzz_files.PART)
        others.append(bring(fuzz_files.BLEND))
        return main, others
    main = bring(fuzz_files.BROKEN if case.kind == "broken" else fuzz_files.PART)
    if case.command == "attach":
        others.append(bring(fuzz_files.BLEND))
    if case.kind == "scene" and random.random() < 0.6:  # what was never baked
        for path in list(main.iterdir()):
            if path.name != "scene":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    return main, others


def _damage(random: Random, case: Case, main: Path) -> None:
    """Damages one file, sometimes two; one case in ten only has strange options."""
    here = case.folder / INPUT
    if random.random() < 0.1:
        return
    if case.kind == "surface" or case.kind == "tets":
        paths = [path for path in sorted(here.iterdir()) if path.name != fuzz_files.PINS]
        if main.name.startswith(TETS_IN_TEXT) and random.random() < 0.08:
            case.is_harmless = True
            case.damaged[main.name] = harmless(random, main)
            return
    elif case.kind == "pins":
        paths = [here / fuzz_files.PINS]
    elif case.kind == "scene":
        paths = sorted(path for path in (main / "scene").rglob("*") if path.is_file())
        paths += [main / "scene" / "scene.json"] * 2 * len(paths)
    elif case.kind == "blend":
        paths = [here / fuzz_files.BLEND]
    else:
        paths = sorted(path for path in main.rglob("*") if path.is_file() and path.name != "lock")
        paths += [path for path in paths if path.parent == main] * 4
        folders = [path for path in sorted(main.iterdir()) if path.is_dir()]
        if random.random() < 0.08:
            chosen = folders[random.integers(len(folders))]
            case.damaged[chosen.relative_to(here).as_posix()] = folder_lost(random, chosen)
            return
    for _ in range(1 + (random.random() < 0.15)):
        path = paths[random.integers(len(paths))]
        if not path.is_file() or path.is_symlink():
            continue
        name = path.relative_to(here).as_posix()
        before = case.damaged.get(name, "")
        if case.kind == "blend":  # what damage makes of a .blend is Blender's to say
            path.write_bytes(path.read_bytes()[: int(random.integers(64))])
            case.damaged[name] = "truncated to its head"
        else:
            case.damaged[name] = f"{before}, {damage(random, path)}".removeprefix(", ")


def _write_words(random: Random, case: Case, main: Path, others: list[Path], sound: Path) -> None:
    """Says the command line, with earlier results of the same name in its place for half of the cases."""
    case.is_sensible, options = _options(random, case.command, is_wild=not case.damaged or random.random() < 0.05)
    out, has_earlier = case.folder / OUTPUT, random.random() < 0.5
    sound_main = sound / (fuzz_files.SURFACES if case.kind == "surface" else fuzz_files.TETS) / main.name
    sound_out = case.folder / SPARE / "sound.vtu"
    match case.command:
        case "tetrahedralize":
            ending = ".vtu" if random.random() < 0.7 else ".msh"
            case.words = [case.command, str(main), str(out / f"tets{ending}"), *options]
            case.sound_words = [case.command, str(sound_main), str(sound_out), *options]
            if has_earlier:
                (out / f"tets{ending}").write_text("an earlier result")
        case "equilibrium":
            case.words = [case.command, str(main), "--pins", str(others[0]), "--out", str(out / "rest.vtu"), *options]
            if has_earlier:
                (out / "rest.vtu").write_text("an earlier result")
        case "drop":
            case.words = [case.command, str(main), "--out", str(out / "dropped"), *options]
            if has_earlier:
                (out / "dropped").mkdir()
                (out / "dropped" / "report.json").write_text("an earlier result")
        case "simulate":
            case.words = [case.command, str(main), *options]
            if not any(word.startswith("--frame-end") for word in options):
                case.words += ["--frame-end", "3"]
        case "resume":
            case.words = ["simulate", str(main), "--resume", *options]
        case "info" | "finish":
            case.words = [case.command, str(main)]
        case "verify":
            case.words = ["info", str(main), "--verify"]
        case "attach":
            case.words = [case.command, str(others[0]), str(main), "--out", str(out / "attached.blend"), *options]
        case "bake":
            cache = case.folder / OUTPUT / "new.sinew"
            case.words = [case.command, str(others[0]), "--cache", str(cache), *options]
            if not any(word.startswith("--frame-end") for word in options):
                case.words += ["--frame-end", "2"]
    if random.random() < 0.8:
        case.words.append("--json")
        case.sound_words.append("--json")


def _options(random: Random, command: str, is_wild: bool) -> tuple[bool, list[str]]:
    """Returns some options with values, and whether all of them are sensible; small meshes and few frames always."""
    known, words, is_sensible = OPTIONS.get(command, {}), [], True
    always = {"--divisions", "--seconds"} & set(known)
    names = [name for name in known if name in always or random.random() < 0.25]
    if "--tet-size" in names:
        names.remove("--divisions")  # one or the other
    if is_wild and known and not set(names) - always:
        names.append(sorted(known)[random.integers(len(known))])
        names = [name for name in dict.fromkeys(names) if name != "--divisions" or "--tet-size" not in names]
    wild = names[random.integers(len(names))] if is_wild and names else ""
    for name in names:
        sensible, strange = known[name]
        values = strange if name == wild else sensible
        is_sensible &= name != wild
        words.append(f"{name}={values[random.integers(len(values))]}")
    words += [flag for flag in FLAGS.get(command, ()) if random.random() < 0.2]
    return is_sensible, words
