# The archive and packages.

archive_scripts += \
	%D%/abi.sh \
	%D%/archive.sh \
	%D%/arm64.sh \
	%D%/debian.sh \
	%D%/musl.sh \
	%D%/reproducible.sh
EXTRA_DIST += %D%/abi-0.1 %D%/abi.awk %D%/abi.suppr
