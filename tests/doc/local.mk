# Documentation.

archive_scripts += %D%/generated.sh
script_tests += %D%/columns.sh %D%/environment.sh %D%/instructions.sh
EXTRA_DIST += %D%/json_check.py %D%/run.py
