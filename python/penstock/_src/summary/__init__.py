"""Summary ops and writers of event files."""
