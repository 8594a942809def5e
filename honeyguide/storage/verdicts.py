"""Verdicts that replace earlier ones, as bytes in the journal."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from honeyguide.contracts import Verdict
from honeyguide.disk.serialise import DamagedError, pack_row, unpack_row

_MISFITS = (LookupError, ValueError, TypeError)


class JudgeChange(NamedTuple):
    """What another judge says of the visits before it, and the answers that it learnt from."""

    verdicts: Mapping[int, Verdict]  # by the number of the visit's event; before the guard
    answers: Mapping[str, bool] = {}  # by URL: whether a person called the page relevant


def pack_verdicts(verdicts: Iterable[Verdict]) -> bytes:
    """Serialise verdicts in their order."""
    return pack_row(tuple(map(_row, verdicts)))


def unpack_verdicts(data: bytes) -> list[Verdict]:
    """Read what `pack_verdicts` wrote; DamagedError if that is not possible."""
    try:
        return [_verdict(row) for row in unpack_row(data)]
    except _MISFITS:
        raise DamagedError("verdicts are damaged") from None


def pack_judge(change: JudgeChange) -> bytes:
    """Serialise the change to another judge."""
    verdicts = [(n, *_row(verdict)) for n, verdict in change.verdicts.items()]
    return pack_row((verdicts, list(change.answers.items())))


def unpack_judge(data: bytes) -> JudgeChange:
    """Read what `pack_judge` wrote; DamagedError if that is not possible."""
    try:
        verdicts, answers = unpack_row(data)
        of_visits = {int(n): _verdict(row) for n, *row in verdicts}
        return JudgeChange(of_visits, {str(url): bool(said) for url, said in answers})
    except _MISFITS:
        raise DamagedError("the verdicts of another judge are damaged") from None


def _row(verdict: Verdict) -> tuple[Any, ...]:
    reasons, measures = list(verdict.reasons), list(verdict.measures)
    return verdict.relevance, verdict.relevant, reasons, measures


def _verdict(row: list[Any]) -> Verdict:
    relevance, relevant, reasons, measures = row
    return Verdict(float(relevance), bool(relevant), tuple(reasons), tuple(measures))
