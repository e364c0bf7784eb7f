"""Install locked packages and textbayes itself into the environment of the Python that runs this.

The Makefile runs ``python .ci/install.py requirements-demo.lock``. uv installs, in a tenth of the time that pip takes;
where uv cannot be installed or fails, pip does it. Both take only files whose hashes are in the lock. uv does not read
pip's settings, so those that say where packages come from are handed on to it.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
# pip takes the best version of all indexes; uv by itself would look no further than the first that knows the name.
UV = (
    sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable,
    "--index-strategy", "unsafe-best-match",
)  # fmt: skip

# A setting of pip, the variable that uv reads instead, and what separates several values in it.
SETTINGS = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
}
OLDER_NAMES = {"UV_DEFAULT_INDEX": "UV_INDEX_URL", "UV_INDEX": "UV_EXTRA_INDEX_URL"}


def uv_environment(environment: Mapping[str, str], listed: str) -> dict[str, str]:
    """Add the settings that ``pip config list`` printed to an environment, except where uv has its own.

    As for pip, a variable comes before the section [install] of a file, and that before [global].
    """
    found: dict[str, str] = {}
    for section in ("global", "install", ":env:"):
        for line in listed.splitlines():
            key, _, value = line.partition("=")
            where, _, name = key.rpartition(".")
            if where == section and name in SETTINGS:
                variable, separator = SETTINGS[name]
                found[variable] = separator.join(ast.literal_eval(value).split())
    own = {variable for variable in found if OLDER_NAMES.get(variable, variable) in environment}
    return {variable: value for variable, value in found.items() if variable not in own} | dict(environment)


def pinned(lock: str, package: str) -> str:
    """Return the entry of a package in a lock: its version and its hashes."""
    lines = iter(lock.splitlines())
    entry = [next(line for line in lines if line.startswith(f"{package}=="))]
    while entry[-1].endswith("\\"):
        entry.append(next(lines))
    return "\n".join(entry) + "\n"


def install_uv() -> None:
    """Install uv with pip as requirements.lock has it, unless that version is there."""
    entry = pinned((ROOT / "requirements.lock").read_text(encoding="utf-8"), "uv")
    try:
        if entry.startswith(f"uv=={metadata.version('uv')} "):
            return
    except metadata.PackageNotFoundError:
        pass
    wanted = Path(sys.prefix) / "uv-requirement.txt"
    wanted.write_text(entry, encoding="utf-8")
    run(*PIP, "--require-hashes", "--requirement", str(wanted))
    wanted.unlink()


def run(*command: str, environment: Mapping[str, str] | None = None) -> bool:
    """Run a command and say whether it succeeded."""
    return subprocess.run(command, env=environment, check=False).returncode == 0


def main() -> int:
    [lock] = sys.argv[1:]
    steps = (("--require-hashes", "--requirement", lock), ("--no-deps", "--editable", str(ROOT)))
    install_uv()
    listed = subprocess.run([*PIP[:3], "config", "list"], capture_output=True, text=True, check=False).stdout
    environment = uv_environment(os.environ, listed)
    if all(run(*UV, *step, environment=environment) for step in steps):
        return 0
    print("uv could not install the packages; pip installs them now, which takes longer.", file=sys.stderr)
    return 0 if all(run(*PIP, *step) for step in steps) else 1


if __name__ == "__main__":
    sys.exit(main())
