"""``textbayes`` without its start: a process that has imported everything forks one for each command.

A page runs dozens of commands, and each would spend seconds on importing scikit-learn. What is forked is a process of
its own, with the caller's streams, folder and environment; signals and the exit code are passed on.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import sys
import traceback
from typing import NoReturn


@functools.cache
def command() -> list[str]:
    """What to run in place of ``textbayes``; its server ends with this process."""
    import subprocess
    import tempfile

    folder = tempfile.TemporaryDirectory()
    address = os.path.join(folder.name, "socket")
    this = os.path.abspath(__file__)
    server = subprocess.Popen(
        [sys.executable, "-W", "error", this, "--serve", address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server.stdout as ready:  # type: ignore[union-attr]  # both are pipes
        if not ready.readline():
            raise RuntimeError(f"{this} --serve did not start")

    def end() -> None:
        server.stdin.close()  # type: ignore[union-attr]  # which it waits for
        server.wait()
        folder.cleanup()

    atexit.register(end)
    return [sys.executable, "-I", "-S", this, address]


def serve(address: str) -> None:
    """Answer every caller with a process of its own, until nobody holds the other end of standard input."""
    import gc
    import importlib
    import pkgutil
    import select

    import numba

    import textbayes

    for module in pkgutil.walk_packages(textbayes.__path__, "textbayes."):
        with contextlib.suppress(ModuleNotFoundError):  # of an extra that is not installed
            importlib.import_module(module.name)
    numba.njit(lambda: 0)()  # the compiler's own tables
    gc.collect()
    gc.freeze()  # or every command looks through all that is here, and so copies it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the commands here
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            caller, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _run(caller)
            caller.close()


def _run(caller: socket.socket) -> NoReturn:
    head, streams, _, _ = socket.recv_fds(caller, 8, 3)
    size, request = int.from_bytes(head, "big"), b""
    while len(request) < size:
        request += caller.recv(size - len(request))
    given = json.loads(request)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    opened = [os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww")]
    sys.stdin, sys.stdout, sys.stderr = opened
    os.chdir(given["folder"])
    os.environ.clear()
    os.environ.update(given["environment"])
    sys.argv = ["textbayes", *given["arguments"]]
    caller.sendall(b"%d\n" % os.getpid())
    from textbayes.cli.main import main

    code: object = 1
    try:
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    code = code if isinstance(code, int) else int(code is not None)
    caller.sendall(b"%d\n" % code)
    os._exit(code)  # taking down all that was imported takes longer than most commands


def call(address: str, arguments: list[str]) -> int:
    """Have the server run a command with the streams, folder and environment of this process; its exit code."""
    request = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    sent = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [len(sent).to_bytes(8, "big")], [0, 1, 2])
        server.sendall(sent)
        for stream in range(3):  # or a pipe would not end while this process waits
            os.close(stream)
        with server.makefile() as answers:
            process = int(answers.readline())
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, functools.partial(_pass_on, process))
            code = answers.readline()
            answers.read()
    return int(code) if code else 128 + signal.SIGKILL


def _pass_on(process: int, number: int, frame: object) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    else:
        sys.exit(call(sys.argv[1], sys.argv[2:]))
