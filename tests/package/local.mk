# The archive and packages.

plain_archive_scripts += %D%/archive.sh
plain_long_scripts += %D%/debian.sh %D%/arm64.sh %D%/musl.sh
EXTRA_DIST += %D%/guide.sh
