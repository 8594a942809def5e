"""The policy of Lim (2016, §7.3.2): discounts up to 1, penalties, and random first policies."""

import numpy as np

from experiments.harness.report_page import Page
from honeyguide.gates.lim2016_model import lim2016_model
from honeyguide.gates.mdp import first_policy, policy_iteration

GAMMAS = (0.5, 0.9, 0.99, 0.999, 1.0)
PENALTIES = (0.0, 0.25, 0.5, 1.0, 1.5)
STARTS = 100  # random first policies for each pair of them
STATES = 16


def report_policy(page: Page) -> dict[str, int]:
    """Write how many states are parsed by discount and penalty, from random first policies."""
    page.heading("The paper's policy")
    page.text(
        "States of 16 in which policy iteration says to parse, with the paper's reward (the number "
        "of true features, less a penalty for skipping) and the transitions of "
        f"`honeyguide/gates/lim2016_model.py`, which the paper does not print; each from {STARTS} "
        "random first policies (§4.3, step 1). With a discount of 1 the sums of rewards are "
        "infinite; there the mean reward of a step is maximised, which is what the limit of "
        "discounts near 1 does."
    )
    rows, most = list[list[object]](), 0
    for penalty in PENALTIES:
        solved = [_solve(penalty, gamma) for gamma in GAMMAS]
        most = max(most, *(rounds for _, rounds in solved))
        rows.append([f"{penalty:g}", *(_said(parsed) for parsed, _ in solved)])
    page.table(["penalty", *(f"discount {gamma:g}" for gamma in GAMMAS)], rows)
    page.text(f"No first policy changed a result; the slowest took {most} rounds.")
    return {"rounds": most, **{row_name(row): int(str(row[-1])) for row in rows}}


def row_name(row: list[object]) -> str:
    """Return the name of a row's figure in results.json."""
    return f"states parsed at discount 1, penalty {row[0]}"


def _solve(penalty: float, gamma: float) -> tuple[set[int], int]:
    """Return the numbers of parsed states that random first policies led to, and most rounds."""
    model = lim2016_model(penalty=penalty)
    starts = (first_policy("random", STATES, np.random.default_rng(seed)) for seed in range(STARTS))
    solved = [policy_iteration(*model, gamma, start) for start in starts]
    if len({one.parses.tobytes() for one in solved}) > 1:
        raise AssertionError("policy iteration depends on the policy it starts from")
    return {int(one.parses.sum()) for one in solved}, max(one.rounds for one in solved)


def _said(parsed: set[int]) -> int:
    [count] = parsed
    return count
