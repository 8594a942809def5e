"""A cache of verdicts."""

from honeyguide.contracts import Judge, Page, Verdict


class Remembered:
    """Calls another judge once for each URL: for recorded webs, whose pages do not change."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._verdicts: dict[str, Verdict] = {}
        self.reads_only_labels = getattr(judge, "reads_only_labels", False)

    def __call__(self, page: Page) -> Verdict:
        verdict = self._verdicts.get(page.url)
        if verdict is None:
            verdict = self._verdicts[page.url] = self._judge(page)
        return verdict
