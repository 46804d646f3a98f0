# The launch servers of examples/server, in C and in Python.

script_tests += %D%/server.sh
EXTRA_DIST += %D%/server.sh
