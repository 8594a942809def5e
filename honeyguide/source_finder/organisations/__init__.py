"""Generated sites of organisations, whose lists of events are to be found."""

from honeyguide.source_finder.organisations.world import OrganisationsWorld

__all__ = ["OrganisationsWorld"]
