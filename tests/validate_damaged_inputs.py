# SPDX-License-Identifier: GPL-3.0-or-later
"""A seeded fuzzer: damaged files of every kind for every command, which has to end with a result or with a sentence.

    make validate ARGS="--fuzz-seed 7 --fuzz-cases 2000"

Each case damages a file that was sound, by lot, or asks for what is out of range. None may end in a traceback, take
longer than 10 s of the processor, lose or change a file that was there, or call a result good that is not.
"""

from __future__ import annotations

import time

from fixtures.claim_table import reach
from fuzzer import sound_files as fuzz_files
from fuzzer.verdicts import HANG, LOST, TRACEBACK, UNTOLD, WRONG
from fuzzer.worker_pool import grouped, repeat_command, run_cases

SECTION = "Damaged inputs"
LEAST_CASES = 2000
SHOWN = 3  # cases told of each cause


def test_every_command_ends_with_a_result_or_a_sentence(request, tmp_path):
    seed, count = (request.config.getoption(name) for name in ("--fuzz-seed", "--fuzz-cases"))
    fuzz_files.write_files(tmp_path / "sound")
    began, done = time.perf_counter(), []
    for told in run_cases(seed, range(count), tmp_path / "sound", tmp_path / "work"):
        done.append(told)
        for kind, words in told.faults:
            print(f"\n{kind}: {words}\n  {told.title}\n  {repeat_command(seed, told.number)}", flush=True)
        if told.number % 100 == 99:
            print(f"{told.number + 1} cases in {time.perf_counter() - began:.0f} s", flush=True)
    print(f"\nseed {seed}, {len(done)} cases")
    by_cause = grouped(done)
    for (kind, words), cases in by_cause.items():
        print(f"{len(cases):4d} {kind}: {words}")
        for told in cases[:SHOWN]:
            print(f"       {repeat_command(seed, told.number)}  # {told.title[:200]}")
    reach(SECTION, f"cases, seed {seed}", len(done), f"{LEAST_CASES} or more", len(done) >= LEAST_CASES)
    for kind in (TRACEBACK, HANG, LOST, WRONG, UNTOLD):
        number = sum(any(mine == kind for mine, _ in told.faults) for told in done)
        reach(SECTION, f"cases that end with: {kind}", number, "0", number == 0)
    commands = {told.command for told in done}
    refused = {told.command for told in done if told.code == 2}
    reach(SECTION, "commands that were given something", len(commands), "7 or more", len(commands) >= 7)
    reach(SECTION, "commands that refused something", len(refused), "6 or more", len(refused) >= 6)
    ended_well = sum(told.code == 0 for told in done)
    share = ended_well / len(done)
    reach(SECTION, "cases that end with a result", f"{share:.0%}", "10 … 90 %", 0.1 <= share <= 0.9)
