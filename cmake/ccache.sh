#!/bin/sh
# Compiles through ccache. A precompiled header that is made again is removed first: the preprocessor, whose output
# ccache compares, would read the old one in place of the headers.
for argument; do
  case $argument in *.gch) rm -f "$argument" ;; esac
done
exec ccache "$@"
