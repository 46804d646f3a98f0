# The archive and packages.

archive_scripts += %D%/archive.sh
plain_scripts += \
	%D%/arm64.sh \
	%D%/debian.sh \
	%D%/musl.sh \
	%D%/reproducible.sh
EXTRA_DIST += %D%/guide.sh
