# SPDX-License-Identifier: GPL-3.0-or-later
"""The child process of a bake as Blender starts it, and how long it takes to its first step."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sinew.addon.baking.child_process import child_command
from sinew.solver.bake.warmup.small_scenes import box
from sinew.solver.runtime.kernel_cache.cache_folder import CACHE_VARIABLE
from sinew.solver.scene.scene import Body, Collider, Meshing, Scene, Settings
from sinew.solver.scene.tracks import TrackWriter

# a fixed piece of work for Numba in a process of its own, by which other machines can be compared: 0.0 first, which
# makes Numba ready, then a product of matrices and a solve by elimination
YARDSTICK_CODE = """
import time
import numba
import numpy as np

def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total

def eliminate(a, b):
    for i in range(a.shape[0]):
        best = i
        for j in range(i + 1, a.shape[0]):
            if abs(a[j, i]) > abs(a[best, i]):
                best = j
        for k in range(a.shape[1]):
            a[i, k], a[best, k] = a[best, k], a[i, k]
        b[i], b[best] = b[best], b[i]
        for j in range(i + 1, a.shape[0]):
            factor = a[j, i] / a[i, i]
            for k in range(i, a.shape[1]):
                a[j, k] -= factor * a[i, k]
            b[j] -= factor * b[i]

numba.njit(lambda x: x + 1.0)(0.0)
a = np.eye(3)
began = time.perf_counter()
numba.njit(error_model="numpy")(product)(a, a, a.copy())
numba.njit(error_model="numpy")(eliminate)(a, np.ones(3))
print(time.perf_counter() - began)
"""


# the libraries that a bake cannot do without
LIBRARIES_CODE = "import numpy, numba"


def write_cube(cache: Path, is_held: bool) -> None:
    """Writes Blender's default cube, half a metre above a ground, or held by its upper corners; a step per frame."""
    vertices, triangles = box(np.zeros(3), 1)
    vertices = 2.0 * vertices + [-1.0, -1.0, 0.5]
    top = np.flatnonzero(vertices[:, 2] > 2.0).astype(np.int32) if is_held else np.zeros(0, np.int32)
    meshing = Meshing(divisions=12)  # as a new body has it
    body = Body(vertices, triangles, meshing=meshing, key="cube", name="Cube", pinned=top)
    folder = cache / "scene"
    Scene((body,), (Collider("ground", "Ground"),), Settings(1, 2, substeps=1)).save(folder)
    TrackWriter(folder).close()


class ChildProcess:
    """A child process and the events that it says, each with the seconds since the click."""

    def __init__(self, kernels: Path, *words: str | Path) -> None:
        """Starts `sinew WORDS`, its kernels in a folder of their own: this is the click, unless `ask` is."""
        command = child_command([*map(str, words), "--json"])
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment[CACHE_VARIABLE] = str(kernels)
        self._clicked = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )

    def ask(self, order: Mapping[str, Any]) -> None:
        """Sends a line to a child that waits: this is the click."""
        assert self._process.stdin is not None
        self._clicked = time.perf_counter()
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()

    def events(self) -> Iterator[tuple[float, dict[str, Any]]]:
        """Yields what it says until it ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield time.perf_counter() - self._clicked, json.loads(line)

    def until(self, name: str) -> None:
        """Waits until it says so."""
        for _, event in self.events():
            if event["event"] == name:
                return
        raise RuntimeError(f"the child ended before it said {name!r}")

    def memory(self) -> float:
        """Returns what it takes at present [MB]; no number where the system does not tell it."""
        status = Path(f"/proc/{self._process.pid}/status")
        told = status.read_text(encoding="utf-8") if status.is_file() else ""
        return next((int(line.split()[1]) / 1e3 for line in told.splitlines() if line.startswith("VmRSS")), math.nan)

    def first_step(self) -> dict[str, float]:
        """Waits until it has ended; returns when [s] it first said each event, and "step": frame 2."""
        found: dict[str, float] = {}
        for seconds, event in self.events():
            is_step = event["event"] == "frame" and event["frame"] == 2
            found.setdefault("step" if is_step else event["event"], seconds)
        self._process.wait()
        if "step" not in found:
            raise RuntimeError(f"the child ended before its first step: {found}")
        return found


def time_new_process(kernels: Path, cache: Path) -> dict[str, float]:
    """Returns when what happens in a bake by a new process [s], and "processor": what all processes took of one [s].

    Where the system does not tell that, it is zero.
    """
    before = os.times()
    found = ChildProcess(kernels, "simulate", cache).first_step()
    after = os.times()
    taken = after.children_user + after.children_system - before.children_user - before.children_system
    return {**found, "processor": taken}


def time_warm_process(kernels: Path, cache: Path) -> dict[str, float]:
    """Returns the same of one that waits with everything loaded, from when it is asked, and "memory" before [MB]."""
    child = ChildProcess(kernels, "wait")
    child.until("ready")
    memory = child.memory()
    child.ask({"command": "simulate", "arguments": [str(cache), "--json"]})
    return {**child.first_step(), "memory": memory}


def compiled_kernel_count(kernels: Path) -> int:
    """Returns how many kernels were kept."""
    return len(list(kernels.rglob("*.nbc")))


def library_load_seconds() -> float:
    """Returns how long a process takes that only loads `LIBRARIES_CODE` [s]."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", LIBRARIES_CODE], check=True)
    return time.perf_counter() - began


def yardstick_seconds() -> float:
    """Returns how long Numba takes here for two small functions, without a cache [s]."""
    told = subprocess.run([sys.executable, "-c", YARDSTICK_CODE], capture_output=True, text=True, check=True)
    return float(told.stdout)
