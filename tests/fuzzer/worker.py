# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs cases of the fuzzer in one process, which has the kernels loaded.

python tests/fuzzer/worker.py --seed 7 --case 123            one case, told in full
python tests/fuzzer/worker.py --seed 7 --sound FOLDER        the cases whose numbers come on standard input
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # it runs as a script

from fuzzer import sound_files as fuzz_files
from fuzzer.command_lines import SPARE, Case, draw
from fuzzer.verdicts import Ended, Fault, faults, snapshot
from sinew.__main__ import main as sinew
from sinew.solver.runtime.preload import preload_modules

SECONDS = 10  # of the processor, after which a command hangs
WALL_SECONDS = 60  # after which it hangs though it does nothing: a busy machine may let it wait
MEMORY_BYTES = 4 << 30  # that it may ask for beyond what is loaded


def run(words: list[str], folder: Path) -> Ended:
    """Runs a command line in this process, with its streams in files of `folder`.

    The process ends by a signal where the command hangs.
    """
    paths = [folder / name for name in ("stdout.txt", "stderr.txt")]
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    files = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for path in paths]
    try:
        for number, file in enumerate(files, 1):
            os.dup2(file, number)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
        try:
            code = sinew(words)
        except BaseException:
            traceback.print_exc()
            code = -1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, old in enumerate(kept, 1):
            os.dup2(old, number)
        for file in (*kept, *files):
            os.close(file)
    out, err = (path.read_text(encoding="utf-8", errors="replace") for path in paths)
    return Ended(int(code), out, err)


def judged(seed: int, number: int, sound: Path, folder: Path, has_verify: bool) -> tuple[Case, Ended, list[Fault]]:
    """Draws a case, runs it and returns what is held against it."""
    shutil.rmtree(folder, ignore_errors=True)
    case = draw(seed, number, sound, folder, has_verify)
    (folder / "title.txt").write_text(case.title, encoding="utf-8", errors="replace")
    before = snapshot(folder)
    os.environ["TMPDIR"] = str(folder / SPARE)
    tempfile.tempdir = None
    ended = run(case.words, folder)
    found = faults(case, ended, before, sound, lambda words: run(words, folder))
    return case, ended, found


def limit_memory() -> None:
    """Lets what asks for huge arrays be told that there is no room, instead of the machine dying of it."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> int:
    """Runs one case, or those that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--case", type=int)
    parser.add_argument("--sound", type=Path, help="where the sound files are; without it they are written")
    parser.add_argument("--folder", type=Path, help="for the files of the case that runs")
    options = parser.parse_args()
    work = options.folder or Path(tempfile.mkdtemp(prefix="sinew-fuzz-"))
    orders = os.fdopen(os.dup(0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sound = options.sound or work / "sound"
    if not sound.exists():
        fuzz_files.write_files(sound)
    preload_modules()  # what is loaded does not count as asked for
    has_verify = "--verify" in run(["info", "--help"], work).out
    limit_memory()
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
        faulthandler.register(number, file=sys.__stderr__, all_threads=False, chain=True)
    if options.case is not None:
        case, ended, found = judged(options.seed, options.case, sound, work / "case", has_verify)
        print(f"{case.title}\nexit code {ended.code}\n{ended.out}{ended.err}")
        for fault in found:
            print(f"{fault.kind}: {fault.words}")
        print(f"its files are in {case.folder}")
        return 1 if found else 0
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in orders:
        case, ended, found = judged(options.seed, int(line), sound, work / "case", has_verify)
        told = {
            "number": case.number,
            "command": case.command,
            "kind": case.kind,
            "code": ended.code,
            "title": case.title,
        }
        print(json.dumps({**told, "faults": [[f.kind, f.words] for f in found]}), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
