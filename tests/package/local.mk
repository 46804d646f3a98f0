# The archive and packages.

archive_scripts += \
	%D%/archive.sh \
	%D%/arm64.sh \
	%D%/debian.sh \
	%D%/musl.sh \
	%D%/reproducible.sh
