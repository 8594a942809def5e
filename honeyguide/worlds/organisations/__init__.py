"""Generated sites of organisations, whose lists of events are to be found."""

from honeyguide.worlds.organisations.world import OrganisationsWorld

__all__ = ["OrganisationsWorld"]
