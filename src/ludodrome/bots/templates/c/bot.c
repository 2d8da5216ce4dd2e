/* The conversation with the arena: one JSON object a line, in on stdin, out on stdout. Moves are chosen in strategy.h.
   Whatever else is printed must go to stderr: fprintf(stderr, "..."). The arena keeps it with the record. */

#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>

#include "json.h"

static uint64_t seed;

/* A random whole number from 0 to n - 1 (SplitMix64): the same numbers for the same seed. */
static int dice(int n) {
    uint64_t x = seed += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (int)((x ^ (x >> 31)) % (uint64_t)n);
}

#include "strategy.h"

static void answer(const char *turn) {
    const char *move = choose(turn);
    if (move)
        printf("{\"type\": \"move\", \"move\": %.*s, \"turn\": %lld}\n", (int)(json_end(move) - move), move,
               json_int(json_get(turn, "turn")));
    else
        printf("{\"type\": \"error\", \"error\": \"I found no move\"}\n");
    fflush(stdout);
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *message = json_space(line);
        const char *type = json_get(message, "type");
        if (json_is(type, "hello"))
            seed = (uint64_t)json_int(json_get(message, "seed")); /* a game begins; what came before is forgotten */
        else if (json_is(type, "turn"))
            answer(message);
        /* Other messages want no answer: "observe", "refused" (a new "turn" follows), "over", and any new ones. */
    }
    free(line);
    return 0;
}
