"""Policy files: what an agent has learnt in one crawl, to start another crawl with."""

from pathlib import Path

from honeyguide.contracts import Agent, Trainable
from honeyguide.disk.serialise import DamagedError, read_state, save_state
from honeyguide.errors import HoneyguideError
from honeyguide.registry import split


def save_policy(path: Path, spec: str, agent: Agent, encoder: str = "") -> bool:
    """Write an agent's policy to a file; return False for an agent that has none.

    `encoder` is the encoder of the crawl, as a spec; with it the policy refuses another.
    """
    learner = agent.learner
    if not isinstance(learner, Trainable):
        return False
    kept = {"agent": _name(spec), "policy": learner.policy()}
    if encoder and _uses_encoder(learner):
        kept["encoder"] = _without_folders(encoder)
    save_state(path, kept)
    return True


def load_policy(path: Path, spec: str, agent: Agent, encoder: str = "") -> None:
    """Load the policy in a file into an agent; raise HoneyguideError if it does not fit.

    `encoder` is the encoder of the crawl; policies of earlier versions name none and take any.
    """
    learner = agent.learner
    if not isinstance(learner, Trainable):
        raise HoneyguideError(f"agent {_name(spec)!r} has no policy to load: it does not learn")
    try:
        kept = read_state(path)
        owner, policy = str(kept["agent"]), kept["policy"]
        learnt_with = str(kept.get("encoder", ""))
    except OSError as error:
        raise HoneyguideError(f"cannot read the policy {path}: {error.strerror}") from None
    except (DamagedError, ValueError, KeyError, TypeError):
        raise HoneyguideError(f"{path} is no policy file, or it is damaged") from None
    if owner != _name(spec):
        raise HoneyguideError(f"{path} is a policy of agent {owner!r}, not of {_name(spec)!r}")
    if encoder and learnt_with and learnt_with != _without_folders(encoder):
        raise HoneyguideError(
            f"the policy {path} was learnt with the encoder {learnt_with!r}, not with"
            f" {_without_folders(encoder)!r}: say --encoder {learnt_with}"
        )
    try:
        learner.load_policy(policy)
    except HoneyguideError as error:
        raise HoneyguideError(f"the policy {path} does not fit: {error}") from None
    except (ValueError, KeyError, TypeError):
        raise HoneyguideError(f"{path} is no policy file, or it is damaged") from None


def _uses_encoder(learner: Agent) -> bool:
    return getattr(learner, "uses_encoder", True)


def _without_folders(encoder: str) -> str:
    """The spec of an encoder with its files by name alone: they may lie elsewhere next time."""
    name, settings = split("encoder", encoder)
    pairs = [piece.rpartition("=") for piece in settings.split(",")]
    files = [f"{key}{equals}{Path(value).name}" for key, equals, value in pairs]
    return f"{name}:{','.join(files)}" if settings else name


def _name(spec: str) -> str:
    return split("agent", spec).name
