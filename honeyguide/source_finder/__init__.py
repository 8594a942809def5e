"""The source finder of Liao and Chang: finds the pages where a site publishes its events."""
