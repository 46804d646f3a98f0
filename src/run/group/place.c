#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/error.h"
#include "run/group/place.h"

#define REMOTE "tcp://"

enum { ATTEMPT_MS = 3000 }; /* for one of several addresses */

/* ---- time ---- */

int64_t gd_place_now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

bool gd_place_wait(int file, short what, int64_t until)
{
    struct pollfd one = {.fd = file, .events = what};
    int got;

    do {
        const int64_t left = until - gd_place_now_ms();
        got = poll(&one, 1, left > 0 ? (int)left : 0);
    } while (got < 0 && errno == EINTR);
    return got > 0;
}

/* ---- reading ---- */

static int32_t read_local(const char *path, gd_place *place, griddep_error *error)
{
    place->local = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof place->local.sun_path)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "the path of a meeting has 1 to %zu bytes, this one %zu",
                            sizeof place->local.sun_path - 1, strlen(path));
    strcpy(place->local.sun_path, path);
    return GRIDDEP_OK;
}

static bool is_port(const char *text, size_t bytes)
{
    unsigned number = 0;

    for (size_t i = 0; i < bytes && bytes <= 5; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (unsigned)(text[i] - '0');
    }
    return bytes <= 5 && number >= 1 && number <= 65535;
}

/* HOST may be an address of IPv6 in brackets. */
static bool read_remote(const char *text, gd_place *place)
{
    const char *host = text + strlen(REMOTE), *end = host + strcspn(host, "/"), *colon = end;
    gd_digest digest;
    uint8_t result[32];

    while (colon > host && *colon != ':')
        colon--;
    if (colon == host || !is_port(colon + 1, (size_t)(end - colon) - 1))
        return false;
    memcpy(place->port, colon + 1, (size_t)(end - colon) - 1);
    if (*host == '[' && colon[-1] == ']') {
        host++;
        colon--;
    }
    if (colon <= host || (size_t)(colon - host) >= sizeof place->host)
        return false;
    memcpy(place->host, host, (size_t)(colon - host));
    gd_digest_begin(&digest);
    gd_digest_add_string(&digest, end);
    gd_digest_end(&digest, result);
    memcpy(place->job, result, sizeof place->job);
    return true;
}

int32_t gd_place_read(const char *text, gd_place *place, griddep_error *error)
{
    *place = (gd_place){.text = text, .remote = !strncmp(text, REMOTE, strlen(REMOTE))};
    if (!place->remote)
        return read_local(text, place, error);
    return read_remote(text, place)
               ? GRIDDEP_OK
               : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "\"%s\" is no place to meet: tcp://HOST:PORT or tcp://HOST:PORT/JOB",
                              text);
}

/* ---- listening ---- */

/* A socket that nobody listens to any more is taken away. */
static int32_t bind_local(const gd_place *place, int door, griddep_error *error)
{
    const struct sockaddr *at = (const struct sockaddr *)&place->local;
    int bound = bind(door, at, sizeof place->local);

    if (bound && errno == EADDRINUSE) {
        struct stat about;
        const bool left = !lstat(place->text, &about) && S_ISSOCK(about.st_mode) &&
                          connect(door, at, sizeof place->local) && errno == ECONNREFUSED;
        if (!left)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "%s is in use; a group meets at a path of its own", place->text);
        unlink(place->text);
        bound = bind(door, at, sizeof place->local);
    }
    return bound ? gd_error_set(error, GRIDDEP_ERROR_FILE, "%s: %s", place->text, strerror(errno))
                 : GRIDDEP_OK;
}

/* -1: errno says why not. */
static int bind_remote(const struct addrinfo *at)
{
    const int yes = 1, no = 0;
    const int door = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (door < 0)
        return -1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (at->ai_family == AF_INET6)
        setsockopt(door, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (!bind(door, at->ai_addr, at->ai_addrlen))
        return door;
    const int why = errno;
    close(door);
    errno = why;
    return -1;
}

static int32_t open_remote(const gd_place *place, int *door, griddep_error *error)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int got = getaddrinfo(place->host, place->port, &wanted, &found), made = -1;

    if (!got)
        made = bind_remote(found);
    for (int i = 0; got == EAI_NONAME && i < 2 && made < 0; i++) {
        wanted.ai_family = i ? AF_INET : AF_INET6; /* which takes those of IPv4 too */
        if (found)
            freeaddrinfo(found);
        found = NULL;
        if (!getaddrinfo(NULL, place->port, &wanted, &found))
            made = bind_remote(found);
    }
    const int why = errno;
    if (found)
        freeaddrinfo(found);
    *door = made;
    if (made >= 0)
        return GRIDDEP_OK;
    return why == EADDRINUSE
               ? gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "%s is in use; a group meets at a port of its own", place->text)
               : gd_error_set(error, GRIDDEP_ERROR_FILE, "%s cannot be listened at: %s",
                              place->text, strerror(why));
}

int32_t gd_place_listen(const gd_place *place, int *door, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    int made = -1;

    if (place->remote)
        status = open_remote(place, &made, error);
    else if ((made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) < 0)
        status = gd_error_set(error, GRIDDEP_ERROR_FILE, "no socket: %s", strerror(errno));
    else
        status = bind_local(place, made, error);
    if (!status && listen(made, 64))
        status = gd_error_set(error, GRIDDEP_ERROR_FILE, "%s: %s", place->text, strerror(errno));
    if (status && made >= 0)
        close(made);
    if (!status)
        *door = made;
    return status;
}

void gd_place_leave(const gd_place *place, int door)
{
    if (!place->remote)
        unlink(place->text);
    close(door);
}

/* ---- visiting ---- */

static bool is_ours(int socket)
{
    struct ucred who;
    socklen_t bytes = sizeof who;

    return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) && who.uid == geteuid();
}

/* A packet is sent at once, and is there when it is there whole. */
static void prepare(const gd_place *place, int socket, int bytes)
{
    const int yes = 1;

    if (!place->remote)
        return;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes);
}

int gd_place_let_in(const gd_place *place, int door, int bytes)
{
    const int socket = accept4(door, NULL, NULL, SOCK_CLOEXEC);

    if (socket < 0)
        return -1;
    if (!place->remote && !is_ours(socket)) {
        close(socket);
        return -1;
    }
    prepare(place, socket, bytes);
    return socket;
}

/* 0, or why there is no connection. */
static int connect_within(int socket, const struct addrinfo *at, int64_t until)
{
    const int64_t most = gd_place_now_ms() + ATTEMPT_MS;
    int why = connect(socket, at->ai_addr, at->ai_addrlen) ? errno : 0;
    socklen_t bytes = sizeof why;

    if (why != EINPROGRESS)
        return why;
    if (!gd_place_wait(socket, POLLOUT, until < most ? until : most))
        return ETIMEDOUT;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &why, &bytes) ? errno : why;
}

static int visit_remote(const gd_place *place, int64_t until, const char **why)
{
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const int got = getaddrinfo(place->host, place->port, &wanted, &found);
    int made = -1;

    if (got)
        *why = gai_strerror(got);
    for (const struct addrinfo *at = found; at && made < 0; at = at->ai_next) {
        made = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const int failed = made < 0 ? errno : connect_within(made, at, until);
        if (!failed)
            break;
        *why = strerror(failed);
        if (made >= 0)
            close(made);
        made = -1;
    }
    if (found)
        freeaddrinfo(found);
    return made;
}

static int32_t visit_local(const gd_place *place, int *made, const char **why, griddep_error *error)
{
    const int own = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (own < 0)
        return gd_error_set(error, GRIDDEP_ERROR_FILE, "no socket: %s", strerror(errno));
    if (connect(own, (const struct sockaddr *)&place->local, sizeof place->local)) {
        *why = strerror(errno);
        close(own);
        return GRIDDEP_OK;
    }
    if (is_ours(own)) {
        *made = own;
        return GRIDDEP_OK;
    }
    close(own);
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is another user's", place->text);
}

int32_t gd_place_visit(const gd_place *place, int bytes, int64_t until, int *made, const char **why,
                       griddep_error *error)
{
    *made = -1;
    if (!place->remote)
        return visit_local(place, made, why, error);
    *made = visit_remote(place, until, why);
    if (*made >= 0)
        prepare(place, *made, bytes);
    return GRIDDEP_OK;
}
