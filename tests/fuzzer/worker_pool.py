# SPDX-License-Identifier: GPL-3.0-or-later
"""Many cases of the fuzzer in worker processes, one after the other: a hang or a crash costs a worker, not the run."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzzer.verdicts import HANG, TRACEBACK

WORKER = Path(__file__).with_name("worker.py")
CASES_PER_WORKER = 300  # what a process has loaded and kept is given back after so many


@dataclass
class Told:
    """What became of a case.

    Attributes:
        number: The case's.
        title: Its command line and its damage.
        command: Its command.
        code: Exit code; None where the process ended.
        faults: Class and words of what is held against it.
    """

    number: int
    title: str
    command: str = ""
    code: int | None = None
    faults: list[tuple[str, str]] = field(default_factory=list)


class Worker:
    """A process that runs cases of a seed."""

    def __init__(self, seed: int, sound: Path, folder: Path) -> None:
        """Starts it; its files lie under `folder`."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._errors = open(folder / "worker.txt", "wb")
        command = [sys.executable, str(WORKER), "--seed", str(seed), "--sound", str(sound), "--folder", str(folder)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
        self._process = subprocess.Popen(command, text=True, **pipes)
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"no worker: {(folder / 'worker.txt').read_text(errors='replace')}")
        self.cases = 0

    def run(self, number: int) -> Told:
        """Runs a case; afterwards the process may be gone."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()
        self.cases += 1
        line = self._process.stdout.readline()
        if line:
            told = json.loads(line)
            found = [(kind, words) for kind, words in told["faults"]]
            return Told(number, told["title"], told["command"], told["code"], found)
        code = self._process.wait()
        if code >= 0:  # not the command's fault, whose exceptions are all told
            errors = (self.folder / "worker.txt").read_text(errors="replace")
            raise RuntimeError(f"case {number} could not be run: {errors[-2000:]}")
        title = self.folder / "case" / "title.txt"
        how = title.read_text(encoding="utf-8", errors="replace") if title.exists() else "?"
        is_hang = -code in (signal.SIGPROF, signal.SIGALRM)
        kind, words = (HANG, "above its limit") if is_hang else (TRACEBACK, f"the process died: exit code {code}")
        return Told(number, how, how.split(" ")[1], None, [(kind, f"{words} {self._place()}")])

    @property
    def is_there(self) -> bool:
        """Whether it can run another case."""
        return self._process.poll() is None and self.cases < CASES_PER_WORKER

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _place(self) -> str:
        """Returns where in Sinew it was, as what was written at its end tells."""
        paths = (self.folder / "worker.txt", self.folder / "case" / "stderr.txt")
        texts = [path.read_text(errors="replace") for path in paths if path.exists()]
        found = re.findall(r'File "[^"]*/(solver|addon)/([^"]+)", line (\d+) in (\S+)', "\n".join(texts))
        return "at {}/{}:{} {}".format(*found[0]) if found else ""


def run_cases(seed: int, numbers: Sequence[int], sound: Path, folder: Path) -> Iterator[Told]:
    """Runs cases and yields what became of each; a hang or a crash counts where it happens twice.

    The first time a command may have compiled a kernel that nobody needed before.
    """
    worker = Worker(seed, sound, folder)
    try:
        for number in numbers:
            told = worker.run(number)
            if told.code is None:
                worker.close()
                worker = Worker(seed, sound, folder)
                told = worker.run(number)
            yield told
            if not worker.is_there:
                worker.close()
                worker = Worker(seed, sound, folder)
    finally:
        worker.close()


def grouped(found: Iterable[Told]) -> dict[tuple[str, str], list[Told]]:
    """Returns cases by class and cause: numbers and names of files left out of the words, most frequent first."""
    groups: dict[tuple[str, str], list[Told]] = {}
    for told in found:
        for kind, words in told.faults:
            place = re.search(r"at (solver|addon)/\S+ .*", words)
            cause = re.sub(r"'[^']*'|\"[^\"]*\"", "…", words.split(": ", 1)[-1] if place else words)
            cause = re.sub(r"/\S+/", "…/", cause) if not place else cause
            groups.setdefault((kind, re.sub(r"(?<![:\w])-?\d+(\.\d+)?(e[+-]?\d+)?", "#", cause)), []).append(told)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def repeat_command(seed: int, number: int) -> str:
    """Returns the command that runs just this case and tells all of it."""
    return f"{Path(sys.executable).name} tests/{WORKER.name} --seed {seed} --case {number}"
