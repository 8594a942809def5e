"""What an agent has learnt, kept in a file for other crawls."""

from pathlib import Path

from honeyguide.contracts import Agent, Trainable
from honeyguide.disk.serialise import DamagedError, read_state, save_state
from honeyguide.errors import HoneyguideError
from honeyguide.registry import split


def save_policy(path: Path, spec: str, agent: Agent) -> bool:
    """Keep what an agent of this name has learnt; say whether it learns anything."""
    learner = agent.learner
    if not isinstance(learner, Trainable):
        return False
    save_state(path, {"agent": _name(spec), "policy": learner.policy()})
    return True


def load_policy(path: Path, spec: str, agent: Agent) -> None:
    """Let an agent of this name start from what an earlier one has learnt."""
    learner = agent.learner
    if not isinstance(learner, Trainable):
        raise HoneyguideError(f"agent {_name(spec)!r} learns nothing that a policy could tell it")
    try:
        kept = read_state(path)
        owner, policy = str(kept["agent"]), kept["policy"]
    except OSError as error:
        raise HoneyguideError(f"cannot read the policy {path}: {error.strerror}") from None
    except (DamagedError, ValueError, KeyError, TypeError):
        raise HoneyguideError(f"{path} is no policy of an agent, or it is damaged") from None
    if owner != _name(spec):
        raise HoneyguideError(f"{path} is a policy of agent {owner!r}, not of {_name(spec)!r}")
    try:
        learner.load_policy(policy)
    except HoneyguideError as error:
        raise HoneyguideError(f"the policy {path} does not fit: {error}") from None
    except (ValueError, KeyError, TypeError):
        raise HoneyguideError(f"{path} is no policy of an agent, or it is damaged") from None


def _name(spec: str) -> str:
    return split("agent", spec).name
