# Documentation.

archive_scripts += %D%/generated.sh
script_tests += %D%/environment.sh
EXTRA_DIST += %D%/json_check.py %D%/run.py
