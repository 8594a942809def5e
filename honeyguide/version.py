"""Which honeyguide this is."""

VERSION = "0.1.0"
