"""Run honeyguide's commands in pseudo-terminals, each in a fork of a process with all imports."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

SECONDS = 60.0  # timeout of a command


def shown(scripts: list[dict], **environment: str) -> list[bytes]:
    """Return the terminal output of each script, which is {"argv": ...} or {"code": ...}."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.terminals"],
        input=json.dumps(scripts),
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    return [text.encode("latin-1") for text in json.loads(done.stdout)]


def _child(script: dict) -> None:
    mode = termios.tcgetattr(1)
    mode[1] &= ~termios.OPOST  # no carriage returns are added
    termios.tcsetattr(1, termios.TCSANOW, mode)
    sys.argv = ["honeyguide", *script.get("argv", ())]
    if "code" in script:
        exec(script["code"], {})
    else:
        from honeyguide.cli import main

        main()


def _run(script: dict) -> str:
    pid, terminal = pty.fork()
    if pid == 0:
        code = 1
        try:
            _child(script)
        except SystemExit:
            code = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        os._exit(code)
    return _output(terminal, pid).decode("latin-1")


def _output(terminal: int, pid: int) -> bytes:
    output, deadline = b"", time.monotonic() + SECONDS
    while select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
        try:
            output += os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            break
    else:
        os.kill(pid, signal.SIGKILL)
        output += b"\x00 it did not end"
    os.waitpid(pid, 0)
    os.close(terminal)
    return output


def _main() -> None:
    import honeyguide.cli
    import honeyguide.recorded.importers.wikipedia
    import honeyguide.storage.crawl_folder
    import honeyguide.worlds.web  # noqa: F401

    print(json.dumps([_run(script) for script in json.load(sys.stdin)]))  # noqa: T201


if __name__ == "__main__":
    _main()
