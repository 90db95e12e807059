# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fuzzer holds against a command: tracebacks, lost files, wrong results, and failures that say nothing."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fuzzer import sound_files as fuzz_files
from fuzzer.command_lines import INPUT, OUTPUT, SPARE, Case
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.pc2 import HEADER_BYTES, read_header, read_samples

TRACEBACK, HANG, LOST, WRONG, UNTOLD = "traceback", "hang", "lost file", "wrong result", "failure without a sentence"
CODES = (0, 2, 3, 130)
OF_PROCESSES = ("lock", "log.txt")  # what every command may write into a cache
CHECKED = ("frames", "play", "model", "resume", "report.jsonl")  # what `info --verify` has to know
COUNTED = (".ply", ".off", ".msh", ".vtu", ".vtk", ".mesh", ".veg", ".stl")  # surfaces and tets that are counted


@dataclass(frozen=True)
class Ended:
    """What a command left: its exit code, its standard output and its standard error."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Fault:
    """What is held against it: one of the classes above, and which one."""

    kind: str
    words: str


Run = Callable[[list[str]], Ended]


def snapshot(folder: Path) -> dict[str, str]:
    """Returns what is at every path under in/ and out/: the digest of a file, or what else it is."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith((INPUT, OUTPUT)):
            is_file = path.is_file() and not path.is_symlink()
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else "no file"
    return found


def faults(
    case: Case, ended: Ended, before: Mapping[str, str], sound: Path, run: Callable[[list[str]], Ended]
) -> list[Fault]:
    """Returns everything that is held against a command.

    Args:
        case: What was asked.
        ended: How it ended.
        before: `snapshot` before it.
        sound: Where `fuzz_files.write_files` has written.
        run: Runs another command line.
    """
    found = _told(ended, "--json" in case.words)
    if case.command == "equilibrium" and ended.code == 3 and "at rest" in ended.out + ended.err:
        return [fault for fault in found if fault.kind == TRACEBACK]  # it wrote how far it came, and says so
    found += _lost(case, ended, before, sound)
    if ended.code == 0:
        try:
            found += [Fault(WRONG, words) for words in _wrong(case, ended, sound, run)]
        except Exception as problem:  # what it wrote cannot even be read
            found.append(Fault(WRONG, f"its result cannot be read: {type(problem).__name__}: {str(problem)[:200]}"))
    return found


def _told(ended: Ended, is_json: bool) -> list[Fault]:
    """Checks the exit code and what was said on both streams."""
    if "Traceback" in ended.err or ended.code not in CODES:
        last = [line for line in ended.err.splitlines() if re.match(r"[A-Za-z_.]+(Error|Exception|Exit)\b", line)]
        places = re.findall(r'File "[^"]*/(solver|addon)/([^"]+)", line (\d+), in (\S+)', ended.err)
        place = "{}/{}:{} {}".format(*places[-1]) if places else ""
        return [Fault(TRACEBACK, f"exit code {ended.code}: {(last or ['?'])[-1][:160]} at {place}")]
    found = []
    if ended.code and not any(line.startswith("sinew") for line in ended.err.splitlines()):
        found.append(Fault(UNTOLD, f"exit code {ended.code} and no sentence"))
    if is_json:
        try:
            events = [json.loads(line, parse_constant=_no_constant) for line in ended.out.splitlines()]
        except ValueError as problem:
            return [*found, Fault(UNTOLD, f"its JSON cannot be read: {problem}")]
        is_said = bool(events) and events[-1].get("event") == "error" and events[-1].get("exit_code") == ended.code
        if ended.code and ended.out and not is_said:
            found.append(
                Fault(UNTOLD, f"exit code {ended.code} and its last event is {ended.out.splitlines()[-1][:120]}")
            )
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _lost(case: Case, ended: Ended, before: Mapping[str, str], sound: Path) -> list[Fault]:
    """Checks that nothing is lost or left behind."""
    after = snapshot(case.folder)
    changed = [name for name in before if after.get(name) != before[name] and Path(name).name not in OF_PROCESSES]
    new = [name for name in after if name not in before and Path(name).name not in OF_PROCESSES]
    found = []
    if ended.code and case.command != "resume" and not _has_begun(case, ended):
        found += [Fault(LOST, f"exit code {ended.code}, and changed: {name}") for name in changed[:3]]
    if case.command == "resume" and not any(word.startswith("--from-frame") for word in case.words):
        damaged = [f"{INPUT}/{name}" for name in case.damaged]
        frames = [name for name in changed if "/frames/" in name and name not in damaged]
        frames = [name for name in frames if not _has_same_state(case.folder / name, sound / name.split("/", 1)[1])]
        found += [Fault(LOST, f"exit code {ended.code}, a frame that was whole: {name}") for name in frames[:3]]
    elif ended.code == 2 and case.command == "simulate":
        found += [Fault(LOST, f"left behind: {name}") for name in new[:3]]
    if ended.code == 0 and case.command in ("info", "verify", "tetrahedralize", "equilibrium", "drop", "attach"):
        found += [Fault(LOST, f"changed an input: {name}") for name in changed if name.startswith(INPUT)]
    if case.command not in ("bake", "attach"):
        left = [path.name for path in (case.folder / SPARE).iterdir() if path.name != "sound.vtu"]
        found += [Fault(LOST, f"left in the temporary folder: {name}") for name in left]
    return found


def _has_same_state(path: Path, other: Path) -> bool:
    """Whether two frames are the same but for the checksums of motion that was drawn again."""
    try:
        with np.load(path) as mine, np.load(other) as its:
            names = {*mine.files, *its.files} - {"checksums"}
            return all(mine[name].tobytes() == its[name].tobytes() for name in names)
    except (OSError, ValueError, KeyError):
        return False


def _has_begun(case: Case, ended: Ended) -> bool:
    """Whether a bake, which replaces an earlier one, had got as far as that."""
    begins = ended.code == 3 and case.command in ("simulate", "drop", "bake", "finish")
    return begins and ("--json" not in case.words or '"built"' in ended.out or case.command in ("finish", "bake"))


def _wrong(case: Case, ended: Ended, sound: Path, run: Run) -> list[str]:
    """Returns what is wrong with what a command that ended well has made."""
    match case.command:
        case "tetrahedralize":
            return _wrong_tets(case, ended, run)
        case "equilibrium":
            nodes, tets = _tets(case.folder / OUTPUT / "rest.vtu")
            return [] if np.isfinite(nodes).all() and len(tets) else ["its shape at rest is no numbers"]
        case "drop":
            return _wrong_drop(case)
        case "simulate":
            return _wrong_bake(_cache_of(case))
        case "resume":
            return _wrong_resumed(case, sound)
        case "verify":
            checked = [name for name in case.damaged if name.split("/")[1:2] and name.split("/")[1] in CHECKED]
            # what was written anew without a checksum is like a file of an earlier Sinew: nothing to compare
            known = [name for name in checked if _is_as_before(case, name, sound) or _is_rewritten(case.damaged[name])]
            return [f"--verify did not find: {name}: {case.damaged[name]}" for name in set(checked) - set(known)]
    return []


def _is_rewritten(how: str) -> bool:
    """Whether damage left a sound file that has no checksum any more."""
    return "array " in how or "'checksum'" in how


def _is_as_before(case: Case, name: str, sound: Path) -> bool:
    """Whether the damage left a file as it was."""
    path, other = case.folder / INPUT / name, sound / name
    return path.is_file() and other.is_file() and path.read_bytes() == other.read_bytes()


def _tets(path: Path) -> tuple[np.ndarray, np.ndarray]:
    import meshio

    with contextlib.redirect_stdout(io.StringIO()):
        found = (meshio.vtu if path.suffix == ".vtu" else meshio.gmsh).read(str(path))
    return found.points, np.concatenate([np.zeros((0, 4), int), *(c.data for c in found.cells if c.type == "tetra")])


def _wrong_tets(case: Case, ended: Ended, run: Run) -> list[str]:
    nodes, tets = _tets(Path(case.words[2]))
    if not len(tets) or not np.isfinite(nodes).all() or tets.min() < 0 or tets.max() >= len(nodes):
        return ["its tets are no tets"]
    edges = nodes[tets[:, 1:]] - nodes[tets[:, :1]]
    with np.errstate(all="ignore"):
        volumes = np.linalg.det(edges / np.abs(edges).max(axis=(1, 2), keepdims=True))
    if not (volumes > 0.0).all():
        return [f"{np.count_nonzero(~(volumes > 0.0))} of its {len(tets)} tets have no positive volume"]
    path = Path(case.words[1])
    is_cut = any("truncated" in how for how in case.damaged.values()) and path.suffix in COUNTED
    if case.is_sensible and "--json" in case.words and len(case.damaged) == 1 and (is_cut or case.is_harmless):
        other = run(case.sound_words)
        if other.code == 0:
            mine, its = (json.loads(each.out.splitlines()[-1]) for each in (ended, other))
            names = ("tets", "nodes", "volume") if case.is_harmless else ("tets", "nodes")
            told = [f"{name} {mine[name]} instead of {its[name]}" for name in names if mine[name] != its[name]]
            return [f"taken as if it were whole: {', '.join(told)}"] if told else []
    return []


def _cache_of(case: Case) -> Path:
    return Path(case.words[1])


def _wrong_drop(case: Case) -> list[str]:
    folder = case.folder / OUTPUT / "dropped"
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(), parse_constant=_no_constant)
    (path,) = folder.glob("*.pc2")
    wrong = _wrong_motion(path)
    if read_header(path).samples != report["frames"] + 1 and read_header(path).samples != report["frames"]:
        wrong.append(f"{read_header(path).samples} samples of {report['frames']} frames")
    return wrong


def _wrong_motion(path: Path) -> list[str]:
    head = read_header(path)
    wanted = HEADER_BYTES + head.samples * head.bytes_per_sample
    if path.stat().st_size != wanted:
        return [f"{path.name}: {path.stat().st_size} bytes instead of {wanted}"]
    is_finite = np.isfinite(read_samples(path, 0, head.samples)).all()
    return [] if is_finite else [f"{path.name}: positions that are no numbers"]


def _wrong_bake(cache: Path) -> list[str]:
    reader = CacheReader(cache)
    wrong = [words for body in reader.metadata.bodies for words in _wrong_motion(reader.play_path(body.key))]
    if reader.last_frame() != reader.metadata.frame_end:
        wrong.append(f"its last frame is {reader.last_frame()} of {reader.metadata.frame_end}")
    return wrong + reader.integrity_problems()


def _wrong_resumed(case: Case, sound: Path) -> list[str]:
    """Compares what a resumed bake has added with the bake that was never interrupted.

    What was damaged before and is not built on stays as it is: `sinew info --verify` finds it.
    """
    cache = _cache_of(case)
    wrong = _wrong_bake(cache) if not any("/frames/" in name or "/play/" in name for name in case.damaged) else []
    is_other = "--accept-changes" in case.words and any("/scene/" in name for name in case.damaged)
    is_other |= any(map(_is_rewritten, case.damaged.values()))  # forged: sound, but of another bake
    if wrong or is_other:
        return wrong
    is_broken = case.kind == "broken"
    whole = sound / (fuzz_files.BROKEN_WHOLE if is_broken else fuzz_files.WHOLE)
    last = fuzz_files.BROKEN_PART_LAST if is_broken else fuzz_files.PART_LAST
    for path in sorted((whole / "frames").iterdir()):
        mine = cache / "frames" / path.name
        if int(path.stem) > last and mine.exists() and mine.read_bytes() != path.read_bytes():
            wrong.append(f"frames/{path.name} is not that of the bake that was never interrupted")
    for path in sorted((whole / "play").iterdir()):
        mine = cache / "play" / path.name
        first = HEADER_BYTES + last * read_header(path).bytes_per_sample
        data, other = mine.read_bytes()[first:], path.read_bytes()[first:]
        size = min(len(data), len(other))
        if data[:size] != other[:size]:
            wrong.append(f"play/{path.name} is not that of the bake that was never interrupted")
    return wrong
