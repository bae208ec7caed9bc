"""Nothing in the product calls out of the machine: watched in this process, and in every Python that a test starts.

The interpreter tells of each connection before it is made and of each name before it is looked up. What leads to
another machine is written down and fails as if the network were away; the test that it happened in fails. What the
process's own configuration names may be called.

What is made in C (libpq's connections) and by other programs (git, PostgreSQL) the interpreter does not see; the system
does, of a command that is started under its tracer.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_EVENTS = frozenset(
    {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}
)
_LOG = "_medir_tests_outbound_log"
_CONFIGURED_BY = ("DATABASE_URL", "OLLAMA_HOST")
_HERE = ("", "localhost", "::", "::1", "0.0.0.0", "<broadcast>")
_TRACED = "connect,sendto,sendmsg,sendmmsg"
_ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
_SITE = """\
# read by every Python that finds this folder on its path
import importlib.util
_specification = importlib.util.spec_from_file_location("_outbound", {module!r})
_outbound = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(_outbound)
_outbound.watch({log!r})
"""


def watch(log: str) -> None:
    """Write down and stop what calls out of this machine, from now to the end of the process.

    In a process that is watched already, as a worker of a parallel run, it is written down in the new place.
    """
    watched = hasattr(sys, _LOG)
    setattr(sys, _LOG, log)
    if watched:
        return

    def notice(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _EVENTS:
            return
        place = _place(event, arguments)
        if place is not None and not _stays(place):
            with open(getattr(sys, _LOG), "a", encoding="utf-8") as file:  # noqa: PTH123  nothing more is loaded here
                file.write(f"{event} {place} by {' '.join(sys.argv)[:200]}\n")
            raise OSError(101, f"the tests have no network: {place}")

    sys.addaudithook(notice)


def _place(event: str, arguments: Sequence[Any]) -> str | None:
    """The host that is called or looked up; None where it is no network."""
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        # a path of the file system, and what needs no address, lead nowhere
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    return host if isinstance(host, str) else None


def _stays(host: str) -> bool:
    name = host.lower().rstrip(".").partition("%")[0].removeprefix("::ffff:")
    return (
        name in _HERE
        or name.startswith("127.")
        or any(host in os.environ.get(variable, "") for variable in _CONFIGURED_BY)
    )


def tracer(log: Path) -> list[str]:
    """The beginning of a command that writes down each address that it, and all that it starts, calls."""
    return ["strace", "-f", "--seccomp-bpf", "-qq", "-e", f"trace={_TRACED}", "-s", "0", "-o", str(log)]


def why_no_tracer() -> str | None:
    """Why no command can be traced here, None where one can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run([*tracer(Path(os.devnull)), "true"], capture_output=True, text=True, check=False)
    return f"strace does not work here: {tried.stderr.strip()}" if tried.returncode else None


def traced_calls(log: Path) -> list[str]:
    """The addresses that a traced command called, in order."""
    return ["".join(found) for found in _ADDRESS.findall(log.read_text(encoding="utf-8", errors="replace"))]


def leading_out(places: Sequence[str]) -> list[str]:
    """Those of the hosts that are not of this machine, and that no configuration names."""
    return [place for place in places if not _stays(place)]


class Watch:
    """The watch over a session of tests: its folder, which children find on their path, and what was written down."""

    def __init__(self) -> None:
        # also for children that run under another account
        self.folder = Path(tempfile.mkdtemp(prefix="medir-outbound-"))
        self.folder.chmod(0o755)
        self.log = self.folder / "called"
        self.log.touch()
        self.log.chmod(0o666)
        site = _SITE.format(module=str(Path(__file__).resolve()), log=str(self.log))
        (self.folder / "sitecustomize.py").write_text(site, encoding="utf-8")
        self._told = 0

    def begin(self) -> None:
        """Watch this process and all that it starts, whatever environment they are given."""
        watch(str(self.log))
        start = subprocess.Popen.__init__

        def watched(process: Any, *arguments: Any, env: Any = None, **options: Any) -> None:
            start(process, *arguments, env=self.environment(os.environ if env is None else env), **options)

        subprocess.Popen.__init__ = watched  # type: ignore[method-assign]

    def environment(self, given: Any) -> dict[str, str]:
        """An environment with the watch on its path."""
        path = given.get("PYTHONPATH", "")
        return {**given, "PYTHONPATH": os.pathsep.join(filter(None, (str(self.folder), path)))}

    def news(self) -> list[str]:
        """What has been written down since the last look."""
        if self.log.stat().st_size == self._told:
            return []
        with self.log.open(encoding="utf-8") as file:
            file.seek(self._told)
            lines = file.read().splitlines()
            self._told = file.tell()
        return lines

    def end(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
