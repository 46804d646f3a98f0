# Documentation.

plain_archive_scripts += %D%/generated.sh
plain_scripts += %D%/columns.sh %D%/environment.sh %D%/site.sh
EXTRA_DIST += %D%/site_check.py %D%/json_check.py %D%/run.py
