/* Sends one frame again and again and counts what comes of it, on sockets that are open already.
 *
 * A frame is the same each time but for a number that is written into it at some places, as
 * decimal digits. Each leaves in a write of its own, as most clients send.
 *
 * Each line has a marker, some bytes that each message on it contains once; a message has arrived
 * when `markers_a_message` of them were seen on all lines together. At most `window` messages are
 * on their way at a time. With a rate, frames leave when they are due, whatever came of the
 * others, and the time from when one was due until its marker is seen on a timed line is noted.
 * With an answer, each marker on a line is answered with the line's own frame.
 *
 * What the process spends of its core is told too: at all of it, the load is the limit and not the
 * server.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP_NS = 200000 };
enum { MAX_MARKER = 64, READ_SIZE = 1 << 18, EVENTS = 512 };

struct line {
    int fd;
    int is_timed;
    const char *marker;
    int marker_length;
    int tail_length;
    long count;
    const char *answer;
    int answer_length;
    char tail[MAX_MARKER];
};

struct plan {
    int sender;
    char *frame;
    int frame_length;
    const int *stamps;
    int stamp_count;
    int digits;
    long first_number;
    long window;
    double markers_a_message;
    double seconds;
    double rate;
    long most;
    double patience;
};

struct result {
    long sent;
    long markers;
    double seconds;
    double spent;
    long latency_count;
    long cut;
};

struct state {
    const struct plan *plan;
    struct result *result;
    int poll;
    char *in, *out;
    long pending, pending_at; /* bytes of a frame that have not left, and where they begin */
    double begin, at, last_seen;
    float *latencies;
    long max_latencies;
};

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec * 1e-9;
}

static double spent(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_utime.tv_sec + use.ru_stime.tv_sec
         + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

static void stamp(const struct plan *plan, char *frame, long number)
{
    for (int i = 0; i < plan->stamp_count; i++) {
        char *at = frame + plan->stamps[i] + plan->digits;
        long rest = number;
        for (int digit = 0; digit < plan->digits; digit++, rest /= 10)
            *--at = '0' + rest % 10;
    }
}

/* The markers in what can be read from a line now; -1 if it has ended. */
static long take(struct line *line, char *buffer)
{
    memcpy(buffer, line->tail, line->tail_length);
    ssize_t got = recv(line->fd, buffer + line->tail_length, READ_SIZE, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (got == 0)
        return -1;
    char *at = buffer, *end = buffer + line->tail_length + got;
    long seen = 0;
    if (line->marker_length == 0)
        return 0;
    while ((at = memmem(at, end - at, line->marker, line->marker_length)) != NULL) {
        seen++;
        at += line->marker_length;
    }
    long keep = end - buffer < line->marker_length - 1 ? end - buffer : line->marker_length - 1;
    memmove(line->tail, end - keep, keep);
    line->tail_length = keep;
    return seen;
}

static int answer(struct line *line, long times)
{
    while (times-- > 0)
        if (send(line->fd, line->answer, line->answer_length, MSG_NOSIGNAL) != line->answer_length)
            return -1;
    return 0;
}

/* How many frames may leave now. */
static long allowed(const struct state *state)
{
    const struct plan *plan = state->plan;
    const struct result *result = state->result;
    double waiting = result->sent * plan->markers_a_message - result->markers;
    long count = plan->rate > 0
        ? (long)((state->at - state->begin) * plan->rate) + 1 - result->sent
        : plan->window - (long)(waiting / plan->markers_a_message);
    if (plan->most && count > plan->most - result->sent)
        count = plan->most - result->sent;
    return count;
}

/* Sends what is left of a frame. */
static void push(struct state *state)
{
    if (state->pending == 0)
        return;
    ssize_t gone = send(state->plan->sender, state->out + state->pending_at, state->pending,
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (gone > 0) {
        state->pending -= gone;
        state->pending_at += gone;
    }
}

/* Sends all frames that may leave now, each by itself, as far as the socket takes them. */
static void put(struct state *state)
{
    const struct plan *plan = state->plan;
    push(state);
    if (state->at - state->begin >= plan->seconds)
        return;
    while (state->pending == 0 && allowed(state) > 0) {
        memcpy(state->out, plan->frame, plan->frame_length);
        stamp(plan, state->out, plan->first_number + state->result->sent);
        state->result->sent++;
        state->pending = plan->frame_length;
        state->pending_at = 0;
        push(state);
    }
}

static void pull(struct state *state, struct line *line)
{
    struct result *result = state->result;
    double rate = state->plan->rate;
    long seen = take(line, state->in);
    if (seen < 0 || (line->answer && answer(line, seen) < 0)) {
        epoll_ctl(state->poll, EPOLL_CTL_DEL, line->fd, NULL);
        result->cut++;
        return;
    }
    if (seen)
        state->last_seen = state->at;
    if (line->is_timed && rate > 0)
        for (long k = 0; k < seen && result->latency_count < state->max_latencies; k++)
            state->latencies[result->latency_count++] =
                state->at - state->begin - (line->count + k) / rate;
    line->count += seen;
    result->markers += seen;
}

static int is_done(const struct state *state)
{
    const struct plan *plan = state->plan;
    const struct result *result = state->result;
    int is_over = state->at - state->begin >= plan->seconds
               || (plan->most && result->sent >= plan->most);
    if (state->at - state->last_seen > plan->patience)
        return 1;
    return is_over && !state->pending
        && result->markers >= (long)(result->sent * plan->markers_a_message + 0.5);
}

void run(struct line *lines, int count, const struct plan *plan, struct result *result,
         float *latencies, long max_latencies)
{
    struct epoll_event events[EVENTS];
    struct timespec sleep = {.tv_nsec = SLEEP_NS};
    struct state state = {.plan = plan, .result = result, .poll = epoll_create1(0),
                          .in = malloc(READ_SIZE + MAX_MARKER),
                          .out = malloc(plan->frame_length),
                          .latencies = latencies, .max_latencies = max_latencies};
    memset(result, 0, sizeof *result);
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &lines[i]};
        epoll_ctl(state.poll, EPOLL_CTL_ADD, lines[i].fd, &event);
    }
    double spent_before = spent();
    state.begin = state.at = state.last_seen = now();
    while (!is_done(&state)) {
        put(&state);
        int ready = epoll_pwait2(state.poll, events, EVENTS, &sleep, NULL);
        state.at = now();
        for (int i = 0; i < ready; i++)
            pull(&state, events[i].data.ptr);
    }
    result->seconds = state.at - state.begin;
    result->spent = spent() - spent_before;
    close(state.poll);
    free(state.in);
    free(state.out);
}
