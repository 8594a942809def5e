"""Policy files: what an agent has learnt in one crawl, to start another crawl with."""

from pathlib import Path

from honeyguide.contracts import Agent, Trainable
from honeyguide.disk.serialise import DamagedError, read_state, save_state
from honeyguide.errors import HoneyguideError
from honeyguide.registry import split


def save_policy(path: Path, spec: str, agent: Agent) -> bool:
    """Write an agent's policy to a file; return False for an agent that has none."""
    learner = agent.learner
    if not isinstance(learner, Trainable):
        return False
    save_state(path, {"agent": _name(spec), "policy": learner.policy()})
    return True


def load_policy(path: Path, spec: str, agent: Agent) -> None:
    """Load the policy in a file into an agent; raise HoneyguideError if it does not fit."""
    learner = agent.learner
    if not isinstance(learner, Trainable):
        raise HoneyguideError(f"agent {_name(spec)!r} has no policy to load: it does not learn")
    try:
        kept = read_state(path)
        owner, policy = str(kept["agent"]), kept["policy"]
    except OSError as error:
        raise HoneyguideError(f"cannot read the policy {path}: {error.strerror}") from None
    except (DamagedError, ValueError, KeyError, TypeError):
        raise HoneyguideError(f"{path} is no policy file, or it is damaged") from None
    if owner != _name(spec):
        raise HoneyguideError(f"{path} is a policy of agent {owner!r}, not of {_name(spec)!r}")
    try:
        learner.load_policy(policy)
    except HoneyguideError as error:
        raise HoneyguideError(f"the policy {path} does not fit: {error}") from None
    except (ValueError, KeyError, TypeError):
        raise HoneyguideError(f"{path} is no policy file, or it is damaged") from None


def _name(spec: str) -> str:
    return split("agent", spec).name
