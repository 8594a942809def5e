"""python -m experiments NAME: run an experiment and write its report."""

import os
import sys

if __name__ == "__main__":
    # before numpy is imported: its threads wait for each other on a busy machine
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from experiments.harness.command import main
    from honeyguide.cli.terminal import guard_streams

    guard_streams()
    sys.exit(main(sys.argv[1:]))
