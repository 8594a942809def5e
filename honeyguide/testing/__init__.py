"""Contract checks to run on parts of your own. Tests of honeyguide itself are in tests/."""

from honeyguide.testing.agents import check_agent
from honeyguide.testing.contract import ContractError
from honeyguide.testing.encoders import check_encoder
from honeyguide.testing.features import check_features
from honeyguide.testing.frontiers import check_frontier
from honeyguide.testing.gates import check_gate
from honeyguide.testing.guards import check_guard
from honeyguide.testing.judges import check_judge
from honeyguide.testing.resume import ResumeError, check_resume
from honeyguide.testing.webs import GrowingWeb
from honeyguide.testing.worlds import check_world

__all__ = [
    "ContractError",
    "GrowingWeb",
    "ResumeError",
    "check_agent",
    "check_encoder",
    "check_features",
    "check_frontier",
    "check_gate",
    "check_guard",
    "check_judge",
    "check_resume",
    "check_world",
]
