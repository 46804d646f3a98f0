/* Members of a group in several processes of one machine and user: a star of sockets around member
 * 0, by which words and file descriptors are handed on. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "run/group/meet.h"

/* WAITING: who has connected and said nothing yet */
enum { MAGIC = 0x67647032, VERSION = 3, RETRY_MS = 10, WAITING = 64 };

typedef struct packet {
    uint32_t magic, version, rank, count;
    int32_t status; /* why member 0 refuses; GRIDDEP_OK */
    uint32_t round;
    gd_meeting_word word;
} packet;

struct gd_meeting {
    uint32_t rank, count, timeout_ms, round;
    int64_t until; /* when those that have not joined yet come too late */
    bool joined, over;
    int sockets[]; /* of member 0 one to each; of others [0] alone; -1: none */
};

/* ---- time ---- */

static int64_t now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Whether something can be read (POLLIN) or written (POLLOUT) before the time is over. */
static bool wait_for(int file, short what, int64_t until)
{
    struct pollfd one = {.fd = file, .events = what};
    int got;

    do {
        const int64_t left = until - now_ms();
        got = poll(&one, 1, left > 0 ? (int)left : 0);
    } while (got < 0 && errno == EINTR);
    return got > 0;
}

/* ---- packets ---- */

/* A peer that does not read must not stop this process. */
static bool send_packet(int to, const packet *item, int file, int64_t until)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct iovec data = {(void *)(uintptr_t)item, sizeof *item};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

    if (file >= 0) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof file);
        memcpy(CMSG_DATA(part), &file, sizeof file);
    }
    for (;;) {
        const ssize_t sent = sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0 || (errno != EAGAIN && errno != EINTR))
            return sent == (ssize_t)sizeof *item;
        if (!wait_for(to, POLLOUT, until))
            return false;
    }
}

/* The first descriptor that came is kept, and -1 without one; others are closed. */
static int take_files(struct msghdr *message)
{
    int kept = -1, file;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = CMSG_LEN(0); at + sizeof file <= part->cmsg_len; at += sizeof file) {
            memcpy(&file, (const unsigned char *)part + at, sizeof file);
            if (kept < 0)
                kept = file;
            else
                close(file);
        }
    }
    return kept;
}

/* False for the end, for what is no packet, and where nothing is there. */
static bool receive_packet(int from, packet *item, int *file)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {item, sizeof *item};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    const ssize_t got = recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

    *file = got < 0 ? -1 : take_files(&message);
    if (got == (ssize_t)sizeof *item && item->magic == MAGIC && item->version == VERSION)
        return true;
    if (*file >= 0)
        close(*file);
    *file = -1;
    return false;
}

static packet make_packet(const gd_meeting *meeting)
{
    return (packet){.magic = MAGIC,
                    .version = VERSION,
                    .rank = meeting->rank,
                    .count = meeting->count,
                    .round = meeting->round};
}

/* ---- meeting ---- */

static bool is_ours(int socket)
{
    struct ucred who;
    socklen_t bytes = sizeof who;

    return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) && who.uid == geteuid();
}

static int32_t make_address(const char *path, struct sockaddr_un *address, griddep_error *error)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof address->sun_path)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "the path of a meeting has 1 to %zu bytes, this one %zu",
                            sizeof address->sun_path - 1, strlen(path));
    strcpy(address->sun_path, path);
    return GRIDDEP_OK;
}

/* A socket that nobody listens to any more is taken away. */
static int32_t listen_at(const struct sockaddr_un *address, int socket, griddep_error *error)
{
    const struct sockaddr *place = (const struct sockaddr *)address;
    int bound = bind(socket, place, sizeof *address);

    if (bound && errno == EADDRINUSE) {
        struct stat about;
        const bool left = !lstat(address->sun_path, &about) && S_ISSOCK(about.st_mode) &&
                          connect(socket, place, sizeof *address) && errno == ECONNREFUSED;
        if (!left)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "%s is in use; a group meets at a path of its own",
                                address->sun_path);
        unlink(address->sun_path);
        bound = bind(socket, place, sizeof *address);
    }
    if (bound || listen(socket, 64))
        return gd_error_set(error, GRIDDEP_ERROR_FILE, "%s: %s", address->sun_path,
                            strerror(errno));
    return GRIDDEP_OK;
}

/* One that has said something; whoever does not belong here is told so and sent away. */
static void admit(gd_meeting *meeting, int socket)
{
    packet hello, answer = make_packet(meeting);
    int file = -1;

    if (receive_packet(socket, &hello, &file)) {
        if (hello.count != meeting->count || !hello.rank || hello.rank >= meeting->count ||
            meeting->sockets[hello.rank] >= 0)
            answer.status = GRIDDEP_ERROR_ARGUMENT;
        if (send_packet(socket, &answer, -1, meeting->until) && !answer.status) {
            meeting->sockets[hello.rank] = socket;
            socket = -1;
        }
    }
    if (file >= 0)
        close(file);
    if (socket >= 0)
        close(socket);
}

static uint32_t find_missing(const gd_meeting *meeting)
{
    uint32_t i = 1;

    while (i < meeting->count && meeting->sockets[i] >= 0)
        i++;
    return i;
}

/* Another one at the door. Where too many are silent, the first of them goes. */
static void let_in(int door, int *waiting, uint32_t *count)
{
    const int socket = accept4(door, NULL, NULL, SOCK_CLOEXEC);

    if (socket < 0)
        return;
    if (!is_ours(socket)) {
        close(socket);
        return;
    }
    if (*count == WAITING) {
        close(waiting[0]);
        memmove(waiting, waiting + 1, --*count * sizeof *waiting);
    }
    waiting[(*count)++] = socket;
}

/* Takes members until all have come or the time is over. Nobody who is silent holds up another. */
static void receive_members(gd_meeting *meeting, int door)
{
    struct pollfd polled[WAITING + 1];
    int waiting[WAITING];
    uint32_t count = 0;

    for (int64_t left;
         find_missing(meeting) < meeting->count && (left = meeting->until - now_ms()) > 0;) {
        polled[0] = (struct pollfd){.fd = door, .events = POLLIN};
        for (uint32_t i = 0; i < count; i++)
            polled[i + 1] = (struct pollfd){.fd = waiting[i], .events = POLLIN};
        if (poll(polled, count + 1, (int)left) <= 0)
            continue;
        for (uint32_t i = count; i-- > 0;) {
            if (!polled[i + 1].revents)
                continue;
            admit(meeting, waiting[i]);
            memmove(waiting + i, waiting + i + 1, (--count - i) * sizeof *waiting);
        }
        if (polled[0].revents)
            let_in(door, waiting, &count);
    }
    while (count)
        close(waiting[--count]);
}

static int32_t host(gd_meeting *meeting, const struct sockaddr_un *address, griddep_error *error)
{
    const int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int32_t status = door < 0
                         ? gd_error_set(error, GRIDDEP_ERROR_FILE, "no socket: %s", strerror(errno))
                         : listen_at(address, door, error);

    if (!status) {
        receive_members(meeting, door);
        unlink(address->sun_path);
        if (find_missing(meeting) < meeting->count)
            status = gd_error_set(error, GRIDDEP_ERROR_PEER,
                                  "member %" PRIu32 " of %" PRIu32 " did not come to %s within "
                                  "%" PRIu32 " ms",
                                  find_missing(meeting), meeting->count, address->sun_path,
                                  meeting->timeout_ms);
    }
    if (door >= 0)
        close(door);
    return status;
}

static int32_t call_on(gd_meeting *meeting, const struct sockaddr_un *address, griddep_error *error)
{
    const packet hello = make_packet(meeting);
    packet answer;
    int file = -1;

    if (!is_ours(meeting->sockets[0]))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is another user's",
                            address->sun_path);
    if (!send_packet(meeting->sockets[0], &hello, -1, meeting->until) ||
        !wait_for(meeting->sockets[0], POLLIN, meeting->until) ||
        !receive_packet(meeting->sockets[0], &answer, &file))
        return gd_error_set(error, GRIDDEP_ERROR_PEER, "member 0 at %s does not answer",
                            address->sun_path);
    if (file >= 0)
        close(file);
    if (answer.status)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "member 0 at %s has a group of %" PRIu32 ", and refuses member %" PRIu32
                            " of %" PRIu32 ": each rank comes once",
                            address->sun_path, answer.count, meeting->rank, meeting->count);
    return GRIDDEP_OK;
}

/* Member 0 may come later. */
static int32_t visit(gd_meeting *meeting, const struct sockaddr_un *address, griddep_error *error)
{
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000};

    for (;;) {
        meeting->sockets[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (meeting->sockets[0] < 0)
            return gd_error_set(error, GRIDDEP_ERROR_FILE, "no socket: %s", strerror(errno));
        if (!connect(meeting->sockets[0], (const struct sockaddr *)address, sizeof *address))
            return call_on(meeting, address, error);
        close(meeting->sockets[0]);
        meeting->sockets[0] = -1;
        if (now_ms() >= meeting->until)
            return gd_error_set(error, GRIDDEP_ERROR_PEER,
                                "member 0 of %" PRIu32 " did not come to %s within %" PRIu32 " ms",
                                meeting->count, address->sun_path, meeting->timeout_ms);
        nanosleep(&pause, NULL);
    }
}

int32_t gd_meeting_open(const char *path, uint32_t rank, uint32_t count, uint32_t timeout_ms,
                        gd_meeting **meeting, griddep_error *error)
{
    struct sockaddr_un address;
    int32_t status = make_address(path, &address, error);
    gd_meeting *made = status ? NULL : calloc(1, sizeof *made + count * sizeof *made->sockets);

    if (!made)
        return status ? status : gd_error_memory(error);
    made->rank = rank;
    made->count = count;
    made->timeout_ms = timeout_ms;
    made->until = now_ms() + timeout_ms;
    for (uint32_t i = 0; i < count; i++)
        made->sockets[i] = -1;
    status = rank ? visit(made, &address, error) : host(made, &address, error);
    if (status)
        gd_meeting_close(made);
    else
        *meeting = made;
    return status;
}

void gd_meeting_joined(gd_meeting *meeting)
{
    meeting->joined = true;
}

void gd_meeting_close(gd_meeting *meeting)
{
    for (uint32_t i = 0; meeting && i < meeting->count; i++) {
        if (meeting->sockets[i] >= 0)
            close(meeting->sockets[i]);
    }
    free(meeting);
}

/* ---- rounds ---- */

static bool take(const gd_meeting *meeting, int socket, int64_t until, packet *item, int *file)
{
    *file = -1;
    if (!wait_for(socket, POLLIN, until) || !receive_packet(socket, item, file))
        return false;
    if (item->round == meeting->round && item->rank < meeting->count)
        return true;
    if (*file >= 0)
        close(*file);
    *file = -1;
    return false;
}

/* Member 0 takes all words, and gives each member all of them. The rank of who failed; count: none
 * did. */
static uint32_t relay(gd_meeting *meeting, int own, packet *items, int *files, int64_t until)
{
    for (uint32_t i = 1; i < meeting->count; i++) {
        if (!take(meeting, meeting->sockets[i], until, &items[i], &files[i]) || items[i].rank != i)
            return i;
    }
    for (uint32_t to = 1; to < meeting->count; to++) {
        for (uint32_t i = 0; i < meeting->count; i++) {
            const int file = i == to ? -1 : i ? files[i] : own;
            if (!send_packet(meeting->sockets[to], &items[i], file, until))
                return to;
        }
    }
    return meeting->count;
}

static uint32_t ask(gd_meeting *meeting, int own, packet *items, int *files, int64_t until)
{
    if (!send_packet(meeting->sockets[0], &items[meeting->rank], own, until))
        return 0;
    for (uint32_t i = 0; i < meeting->count; i++) {
        packet item;
        int file;
        if (!take(meeting, meeting->sockets[0], until, &item, &file) || item.rank != i) {
            if (file >= 0)
                close(file);
            return 0;
        }
        items[i] = item;
        if (i == meeting->rank && file >= 0)
            close(file);
        else
            files[i] = file;
    }
    return meeting->count;
}

int32_t gd_meeting_exchange(gd_meeting *meeting, const gd_meeting_word *own, int file,
                            gd_meeting_word *words, int *files, griddep_error *error)
{
    packet *items = calloc(meeting->count, sizeof *items);
    uint32_t failed = meeting->rank ? 0 : 1;

    if (!items)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < meeting->count; i++)
        files[i] = -1;
    items[meeting->rank] = make_packet(meeting);
    items[meeting->rank].word = *own;
    if (!meeting->over) {
        const int64_t until = meeting->joined ? now_ms() + meeting->timeout_ms : meeting->until;
        failed = meeting->rank ? ask(meeting, file, items, files, until)
                               : relay(meeting, file, items, files, until);
    }
    for (uint32_t i = 0; i < meeting->count; i++)
        words[i] = items[i].word;
    free(items);
    meeting->round++;
    if (failed == meeting->count)
        return GRIDDEP_OK;
    meeting->over = true;
    for (uint32_t i = 0; i < meeting->count; i++) {
        if (files[i] >= 0)
            close(files[i]);
        files[i] = -1;
        if (meeting->sockets[i] >= 0)
            shutdown(meeting->sockets[i], SHUT_RDWR); /* nobody waits for the others' time */
    }
    return gd_error_set(error, GRIDDEP_ERROR_PEER,
                        "member %" PRIu32 " of the group has ended, or did not say within %" PRIu32
                        " ms what the others did",
                        failed, meeting->timeout_ms);
}
