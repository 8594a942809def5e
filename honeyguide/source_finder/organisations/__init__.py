"""Generated sites of organisations, to train and test the source finder on."""

from honeyguide.source_finder.organisations.world import OrganisationsWorld

__all__ = ["OrganisationsWorld"]
