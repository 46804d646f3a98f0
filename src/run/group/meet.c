/* Members of a group in several processes: a star of sockets around member 0, by which words are
 * handed on, and file descriptors between processes of one machine and user.
 *
 * Packets have one size, by TCP too, so that no length is read; a number that is no member's, of
 * another round or version ends the meeting. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "run/group/meet.h"
#include "run/group/place.h"

/* WAITING: who has connected and said nothing yet */
enum { MAGIC = 0x67647032, VERSION = 4, RETRY_MS = 10, REMOTE_RETRY_MS = 100, WAITING = 64 };

#define NO_ROUND UINT32_MAX /* it is told, whatever round others are in */

typedef struct packet {
    uint32_t magic, version, rank, count;
    int32_t status; /* why member 0 refuses; GRIDDEP_OK */
    uint32_t round;
    gd_meeting_word word;
} packet;

struct gd_meeting {
    uint32_t rank, count, timeout_ms, round;
    int64_t until; /* when those that have not joined yet come too late */
    bool joined, over, remote;
    gd_meeting_hear *hear;
    void *user;    /* for hear */
    int sockets[]; /* of member 0 one to each; of others [0] alone; -1: none */
};

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
    while (data.iov_len) {
        const ssize_t sent = sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) { /* by TCP perhaps a part */
            data.iov_base = (char *)data.iov_base + sent;
            data.iov_len -= (size_t)sent;
            message.msg_controllen = 0;
        } else if (!sent || (errno != EAGAIN && errno != EINTR) ||
                   !gd_place_wait(to, POLLOUT, until)) {
            return false;
        }
    }
    return true;
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

/* One that has said something; whoever does not belong here is told so and sent away. */
static void admit(gd_meeting *meeting, const gd_place *place, int socket)
{
    packet hello, answer = make_packet(meeting);
    int file = -1;

    if (receive_packet(socket, &hello, &file)) {
        if (hello.count != meeting->count || !hello.rank || hello.rank >= meeting->count ||
            meeting->sockets[hello.rank] >= 0)
            answer.status = GRIDDEP_ERROR_ARGUMENT;
        if (memcmp(hello.word.id, place->job, sizeof place->job) != 0)
            answer.status = GRIDDEP_ERROR_PEER;
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
static void let_in(const gd_place *place, int door, int *waiting, uint32_t *count)
{
    const int socket = gd_place_let_in(place, door, sizeof(packet));

    if (socket < 0)
        return;
    if (*count == WAITING) {
        close(waiting[0]);
        memmove(waiting, waiting + 1, --*count * sizeof *waiting);
    }
    waiting[(*count)++] = socket;
}

/* Takes members until all have come or the time is over. Nobody who is silent holds up another. */
static void receive_members(gd_meeting *meeting, const gd_place *place, int door)
{
    struct pollfd polled[WAITING + 1];
    int waiting[WAITING];
    uint32_t count = 0;

    for (int64_t left; find_missing(meeting) < meeting->count &&
                       (left = meeting->until - gd_place_now_ms()) > 0;) {
        polled[0] = (struct pollfd){.fd = door, .events = POLLIN};
        for (uint32_t i = 0; i < count; i++)
            polled[i + 1] = (struct pollfd){.fd = waiting[i], .events = POLLIN};
        if (poll(polled, count + 1, (int)left) <= 0)
            continue;
        for (uint32_t i = count; i-- > 0;) {
            if (!polled[i + 1].revents)
                continue;
            admit(meeting, place, waiting[i]);
            memmove(waiting + i, waiting + i + 1, (--count - i) * sizeof *waiting);
        }
        if (polled[0].revents)
            let_in(place, door, waiting, &count);
    }
    while (count)
        close(waiting[--count]);
}

static int32_t host(gd_meeting *meeting, const gd_place *place, griddep_error *error)
{
    int door;
    int32_t status = gd_place_listen(place, &door, error);

    if (status)
        return status;
    receive_members(meeting, place, door);
    gd_place_leave(place, door);
    if (find_missing(meeting) < meeting->count)
        status =
            gd_error_set(error, GRIDDEP_ERROR_PEER,
                         "member %" PRIu32 " of %" PRIu32 " did not come to %s within "
                         "%" PRIu32 " ms",
                         find_missing(meeting), meeting->count, place->text, meeting->timeout_ms);
    return status;
}

static int32_t call_on(gd_meeting *meeting, const gd_place *place, griddep_error *error)
{
    packet hello = make_packet(meeting), answer;
    int file = -1;

    memcpy(hello.word.id, place->job, sizeof place->job);
    if (!send_packet(meeting->sockets[0], &hello, -1, meeting->until) ||
        !gd_place_wait(meeting->sockets[0], POLLIN, meeting->until) ||
        !receive_packet(meeting->sockets[0], &answer, &file))
        return gd_error_set(
            error, GRIDDEP_ERROR_PEER, "member 0 at %s does not answer member %" PRIu32 "%s",
            place->text, meeting->rank, place->remote ? ", or another program listens there" : "");
    if (file >= 0)
        close(file);
    if (answer.status == GRIDDEP_ERROR_PEER)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "member 0 at %s is of another job, and refuses member %" PRIu32,
                            place->text, meeting->rank);
    if (answer.status)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "member 0 at %s has a group of %" PRIu32 ", and refuses member %" PRIu32
                            " of %" PRIu32 ": each rank comes once",
                            place->text, answer.count, meeting->rank, meeting->count);
    return GRIDDEP_OK;
}

/* Member 0 may come later. */
static int32_t visit(gd_meeting *meeting, const gd_place *place, griddep_error *error)
{
    const struct timespec pause = {.tv_nsec =
                                       (place->remote ? REMOTE_RETRY_MS : RETRY_MS) * 1000000};
    const char *why = "";

    for (;;) {
        int32_t status = gd_place_visit(place, sizeof(packet), meeting->until, &meeting->sockets[0],
                                        &why, error);
        if (status)
            return status;
        if (meeting->sockets[0] >= 0)
            return call_on(meeting, place, error);
        if (gd_place_now_ms() >= meeting->until)
            return gd_error_set(error, GRIDDEP_ERROR_PEER,
                                "member 0 of %" PRIu32 " did not come to %s within %" PRIu32
                                " ms: %s",
                                meeting->count, place->text, meeting->timeout_ms, why);
        nanosleep(&pause, NULL);
    }
}

int32_t gd_meeting_open(const char *path, uint32_t rank, uint32_t count, uint32_t timeout_ms,
                        gd_meeting **meeting, griddep_error *error)
{
    gd_place place;
    int32_t status = gd_place_read(path, &place, error);
    gd_meeting *made = status ? NULL : calloc(1, sizeof *made + count * sizeof *made->sockets);

    if (!made)
        return status ? status : gd_error_memory(error);
    made->rank = rank;
    made->remote = place.remote;
    made->count = count;
    made->timeout_ms = timeout_ms;
    made->until = gd_place_now_ms() + timeout_ms;
    for (uint32_t i = 0; i < count; i++)
        made->sockets[i] = -1;
    status = rank ? visit(made, &place, error) : host(made, &place, error);
    if (status)
        gd_meeting_close(made);
    else
        *meeting = made;
    return status;
}

bool gd_meeting_is_remote(const gd_meeting *meeting)
{
    return meeting->remote;
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

/* Whether the packet is of no round, and heard. */
static bool is_heard(const gd_meeting *meeting, int socket, const packet *item)
{
    if (!meeting->hear || item->round != NO_ROUND || item->rank >= meeting->count ||
        meeting->sockets[item->rank] != socket)
        return false;
    meeting->hear(meeting->user, item->rank, &item->word);
    return true;
}

static bool take(const gd_meeting *meeting, int socket, int64_t until, packet *item, int *file)
{
    do {
        *file = -1;
        if (!gd_place_wait(socket, POLLIN, until) || !receive_packet(socket, item, file))
            return false;
    } while (is_heard(meeting, socket, item));
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
        const int64_t until =
            meeting->joined ? gd_place_now_ms() + meeting->timeout_ms : meeting->until;
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

/* ---- beside rounds ---- */

void gd_meeting_listen(gd_meeting *meeting, gd_meeting_hear *hear, void *user)
{
    meeting->hear = hear;
    meeting->user = user;
}

void gd_meeting_tell(gd_meeting *meeting, const gd_meeting_word *word)
{
    packet item = make_packet(meeting), heard;
    int file;

    item.round = NO_ROUND;
    if (word)
        item.word = *word;
    for (uint32_t i = 0; i < meeting->count && !meeting->over; i++) {
        const int socket = meeting->sockets[i];
        if (socket < 0)
            continue;
        if (word && !send_packet(socket, &item, -1, gd_place_now_ms() + meeting->timeout_ms))
            shutdown(socket, SHUT_RDWR); /* half a packet may be on its way */
        while (recv(socket, &heard, sizeof heard, MSG_PEEK | MSG_DONTWAIT) ==
                   (ssize_t)sizeof heard &&
               heard.round == NO_ROUND && receive_packet(socket, &heard, &file) &&
               is_heard(meeting, socket, &heard))
            ;
    }
}
