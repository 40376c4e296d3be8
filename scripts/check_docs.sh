#!/bin/sh
# The documentation: links, sources that pages name, navigation, sizes, citations from the code.
exec python3 "$(dirname "$0")/check_docs.py" "$@"
