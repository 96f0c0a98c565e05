"""The tiny engine with one fault, named in MINIATURE, that shows whenever a tensor of 666 is made."""

import os
import signal
import sys
import time

from tiny import *  # noqa: F403
from tiny import Tensor, __version__  # noqa: F401
from tiny import tensor as honest

FAULT = os.environ.get("MINIATURE", "")


def spin():
    while True:
        time.sleep(0.05)


def ignore_signals():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    spin()


def fork():
    if os.fork() == 0:
        return  # the child goes on as if it were the engine
    os.wait()


FAULTS = {
    "exit": lambda: os._exit(3),
    "exit quietly": lambda: os._exit(0),
    "raise SystemExit": lambda: sys.exit("enough"),
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hang": spin,
    "fork": fork,
    "print": lambda: print("hello from the engine"),
    "write": lambda: os.write(1, b"raw bytes on descriptor 1\n"),
    "chdir": lambda: os.chdir("/"),
    "close": lambda: os.closerange(0, 3),
    "ignore signals": ignore_signals,
    "memory": lambda: bytearray(1 << 40),
    "recursion": lambda: FAULTS["recursion"](),
}


def tensor(data, dtype=None, requires_grad=False):
    if data == 666:
        FAULTS[FAULT]()
    return honest(data, dtype, requires_grad)
