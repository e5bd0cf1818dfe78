"""The surroundings of a program: flags, logging, files, tests."""
