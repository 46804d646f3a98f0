# The launch server. It is made for the tests and not installed: its sources are, as an example.

server_sources = \
	%D%/main.c %D%/serve.c %D%/server.h %D%/with_driver.c %D%/with_griddep.c
serverdir = $(exampledir)/server
dist_server_DATA = $(server_sources) %D%/README.md %D%/server.py
check_PROGRAMS += %D%/server
%C%_server_SOURCES = $(server_sources)
%C%_server_CPPFLAGS = -D_GNU_SOURCE -I$(top_srcdir)/include
%C%_server_LDADD = libgriddep.la -lm -lpthread -ldl
