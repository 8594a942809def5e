"""Signals that the add-on sends."""

# sent when a page was judged: response (the page's), verdict (honeyguide's Verdict)
page_judged = object()
