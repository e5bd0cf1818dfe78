"""Tables; parsing of examples."""
