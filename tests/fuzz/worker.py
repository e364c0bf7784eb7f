"""Feed mutated input to a target, thousands of times, and say what it did that it must not.

``mutate(rng)`` makes one input and says what it is; ``target(input)`` uses it and says how it ended. A target may
refuse with a ``TextBayesError`` and nothing else. It runs in a child process, so that a crash ends the child alone,
under a limit of CPU time that holds inside of C code as well, one of time on the clock, and one of memory. Do what
takes long but once (compiling kernels, say) before ``run``: the child has it from its parent.

Every case has random numbers of its own, from the seed and its number: ``--only 1234`` repeats a case alone.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textbayes.core.errors import TextBayesError

CPU_SECONDS = 5  # a case that takes longer hangs
CLOCK_SECONDS = 60  # of one that waits: without CPU time in so long it hangs, unless the machine gives it none
MEMORY = 1 << 30  # bytes of address space that a case may add to what the process has at the start

Mutate = Callable[[random.Random], tuple[str, Any]]
Target = Callable[[Any], str]


class LateFailureError(Exception):
    """The target took its input and failed only afterwards."""


@dataclass
class Finding:
    """A case that ended as none may: ``kind`` is crash, hang, late failure or the name of the raw exception."""

    case: int
    kind: str
    what: str
    detail: str

    def __str__(self) -> str:
        return f"case {self.case} ({self.what}): {self.kind}\n{self.detail}".rstrip()


@dataclass
class Findings:
    """How all cases ended; a run is good if ``findings`` is empty."""

    seed: int
    n_run: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    slowest: float = 0.0
    peak_memory: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        ended = ", ".join(f"{n:,} {outcome}" for outcome, n in self.outcomes.most_common())
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in Counter(one.kind for one in self.findings).most_common())
        return (
            f"seed {self.seed}: {self.n_run:,} mutations in {self.seconds:.0f} s, {ended or 'none ended well'}; "
            f"slowest {self.slowest:.2f} s of CPU, at most {self.peak_memory >> 20} MiB; findings: {kinds or 'none'}"
        )


def run(
    target: Target, mutate: Mutate, n: int, seed: int = 0, seconds: float | None = None, first: int = 0
) -> Findings:
    """Cases ``first`` to ``first + n − 1`` of a seed, or as many of them as begin within ``seconds``."""
    found, start, case = Findings(seed), time.monotonic(), first
    until = float("inf") if seconds is None else start + seconds
    while case < first + n and time.monotonic() < until:
        case = _child(target, mutate, range(case, first + n), until, found)
    found.seconds = time.monotonic() - start
    return found


def main(target: Target, mutate: Mutate, arguments: list[str] | None = None) -> int:
    """Command line of a fuzz run; 1 if anything was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="begin no case after so long")
    parser.add_argument("--only", type=int, help="repeat the case of this number alone")
    given = parser.parse_args(arguments)
    n, first = (given.mutations, 0) if given.only is None else (1, given.only)
    found = run(target, mutate, n, given.seed, given.seconds, first)
    for one in found.findings:
        print(one, file=sys.stderr)
    print(found)
    return 1 if found.findings else 0


def _child(target: Target, mutate: Mutate, cases: range, until: float, found: Findings) -> int:
    """Run cases in a child process until it ends, well or badly; the number of the next case."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads in a process that forks: BLAS minds its own
        child = os.fork()
    if child == 0:
        os.close(read)
        _serve(target, mutate, found.seed, cases, until, write)
    os.close(write)
    at, what, rest = cases[0], "before it began", b""
    try:
        used = 0.0
        while True:
            if not select.select([read], [], [], CLOCK_SECONDS)[0]:
                before, used = used, _cpu_seconds(child)
                if used > before or _waits_for_a_core(child):  # it computes, however slowly on a busy machine
                    continue
                os.kill(child, signal.SIGKILL)
                break
            received = os.read(read, 1 << 16)
            if not received:
                break
            *lines, rest = (rest + received).split(b"\n")
            for line in lines:
                said = json.loads(line)
                if "begin" in said:
                    at, what = said["begin"], said["what"]
                    continue
                _note(found, at, what, said)
                at, what = at + 1, "before it began"
    finally:
        os.close(read)
    _, status, usage = os.wait4(child, 0)
    found.peak_memory = max(found.peak_memory, usage.ru_maxrss * 1024)
    if os.WIFEXITED(status):
        if os.WEXITSTATUS(status):
            raise RuntimeError(f"no input could be made for case {at} of seed {found.seed}; see above")
        return cases.stop
    number = os.WTERMSIG(status)
    hung = number in (signal.SIGPROF, signal.SIGKILL)
    detail = f"more than {CPU_SECONDS} s" if number == signal.SIGPROF else f"signal {number}"
    _note(found, at, what, {"kind": "hang" if hung else "crash", "detail": detail})
    return at + 1


def _cpu_seconds(process: int) -> float:
    """CPU time that a process has used."""
    user, system = _stat(process)[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _waits_for_a_core(process: int) -> bool:
    return _stat(process)[0] == "R"


def _stat(process: int) -> list[str]:
    """What Linux says of a process, from its state on."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()


def _note(found: Findings, case: int, what: str, said: dict[str, Any]) -> None:
    found.n_run += 1
    found.slowest = max(found.slowest, said.get("cpu", CPU_SECONDS))
    if "kind" in said:
        found.findings.append(Finding(case, said["kind"], what, said["detail"]))
    else:
        found.outcomes[said["outcome"]] += 1


def _serve(target: Target, mutate: Mutate, seed: int, cases: range, until: float, write: int) -> None:
    """The child's life: cases one after the other, each told of before it begins and when it has ended."""
    status = 1
    try:
        faulthandler.enable()
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        warnings.simplefilter("ignore")
        limit = _address_space() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for case in cases:
            if time.monotonic() > until:
                break
            what, made = mutate(random.Random(f"{seed} {case}"))
            _tell(write, {"begin": case, "what": what})
            _tell(write, _outcome(target, made))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _outcome(target: Target, made: Any) -> dict[str, Any]:
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # the kernel ends the process, even one deep in C
    try:
        said: dict[str, Any] = {"outcome": target(made)}
    except TextBayesError as error:
        said = {"outcome": "refused"} if str(error) else {"kind": "refused without a word", "detail": repr(error)}
    except LateFailureError as error:
        said = {"kind": "late failure", "detail": str(error)}
    except Exception as error:
        said = {"kind": type(error).__name__, "detail": traceback.format_exc(limit=-6)}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return said | {"cpu": time.process_time() - start}


def _tell(write: int, message: dict[str, Any]) -> None:
    line = json.dumps(message).encode() + b"\n"
    while line:
        line = line[os.write(write, line) :]


def _address_space() -> int:
    with open("/proc/self/statm") as sizes:
        return int(sizes.read().split()[0]) * resource.getpagesize()
