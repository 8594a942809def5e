"""Generated sites of organisations for training and testing the source finder."""

from honeyguide.source_finder.organisations.world import OrganisationsWorld

__all__ = ["OrganisationsWorld"]
