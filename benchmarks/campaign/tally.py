"""What was tried and what failed, and how to damage things."""

import random
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from phraseloom.errors import PhraseloomError

_SHOWN = 5  # failures of a piece that are written down in full
_PATIENCE = 10  # how many times as long by the clock as of CPU time a case may take
_ODD = [
    b"\x00",
    b"\xff\xfe",
    b"<",
    b"&#0;",
    b"{",
    b'"',
    b"\n",
    b"%",
    b"9" * 400,
    b"\xf0\x9f\x98\x80",
]


@dataclass
class Tally:
    """One piece of a part of the campaign.

    Attributes:
        part: its name.
        tried: how many cases.
        refused: of them, answered with one line that names the fix.
        failures: what went wrong, the first few in full.
        figures: whatever else was measured.
    """

    part: str
    tried: int = 0
    refused: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    def chance(self, number: int) -> random.Random:
        """A generator that depends on nothing but the part and the number of a case."""
        return random.Random(f"{self.part} {number}")

    def fail(self, what: str) -> None:
        """Write a failure down."""
        self.failed += 1
        if len(self.failures) < _SHOWN:
            self.failures.append(what)
            print(f"FAILED {what}", flush=True)

    def count(self, name: str, number: float = 1) -> None:
        """Add to a figure."""
        self.figures[name] = self.figures.get(name, 0) + number

    @contextmanager
    def case(self, name: str, seconds: int = 20) -> Iterator[None]:
        """One case: it may be refused as a caller's mistake, and must end in time.

        Args:
            name: of the case.
            seconds: of CPU time; by the clock it may take longer, as the machine may be busy.
        """
        self.tried += 1
        signal.signal(signal.SIGALRM, _on_alarm)
        signal.signal(signal.SIGPROF, _on_alarm)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(_PATIENCE * seconds)
        try:
            yield
        except PhraseloomError as error:
            self.refused += 1
            if "\n" in str(error) or len(str(error)) > 2000:
                self.fail(f"{name}: a message of several lines: {str(error)[:300]!r}")
        except _HangError:
            self.fail(f"{name}: not done after {seconds} s")
        except Exception:
            self.fail(f"{name}: {traceback.format_exc(limit=-3)}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)

    def result(self) -> dict[str, Any]:
        """All of it, for a file."""
        return {
            "tried": self.tried,
            "refused in one line": self.refused,
            "failed": self.failed,
            "minutes": round((time.monotonic() - self.started) / 60, 1),
            **self.figures,
            **({"failures": self.failures} if self.failures else {}),
        }


class _HangError(BaseException):
    """A case takes too long; nobody who catches exceptions catches this one."""


def _on_alarm(number: int, frame: object) -> None:
    raise _HangError


def damage(chance: random.Random, content: bytes) -> bytes:
    """Some bytes changed, lost, repeated, added or cut off."""
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        start = chance.randrange(len(content) + 1)
        end = min(len(content), start + chance.choice((1, 1, 4, 50)))
        kind = chance.randrange(6)
        if kind == 0:
            content = content[:start] + chance.randbytes(end - start) + content[end:]
        elif kind == 1:
            content = content[:start] + content[end:]
        elif kind == 2:
            content = content[:end] + content[start:]
        elif kind == 3:
            content = content[:start] + chance.choice(_ODD) + content[start:]
        elif kind == 4 and chance.random() < 0.3:
            content = content[:start]
        elif content[start:end]:
            content = (
                content[:start]
                + bytes([content[start] ^ 1 << chance.randrange(8)])
                + content[start + 1 :]
            )
    return content
