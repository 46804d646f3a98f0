# The archive and packages.

plain_archive_scripts += %D%/archive.sh
plain_scripts += \
	%D%/arm64.sh \
	%D%/debian.sh \
	%D%/musl.sh
EXTRA_DIST += %D%/guide.sh
