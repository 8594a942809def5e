"""The rewards of Han et al. (2018, §4) and Pertejo (2021, appendix A.8)."""

from honeyguide.contracts import Verdict


def tiered(verdict: Verdict, close: float, near: float) -> float:
    """30 if relevant or with a relevance above `close`, 20 above `near`, else -1."""
    if verdict.relevant or verdict.relevance > close:
        return 30.0
    return 20.0 if verdict.relevance > near else -1.0
