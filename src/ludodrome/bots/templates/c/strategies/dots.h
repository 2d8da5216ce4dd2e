/* Which move to play in Dots and Boxes: the part to make better. The rules: ludodrome rules dots */

static int drawn(const char *rows, int r, int c) { return (int)json_int(json_at(json_at(rows, r), c)); }

/* How many sides of a box are drawn; 0 for a box that is not on the board. */
static int sides_drawn(const char *state, int r, int c) {
    const char *h = json_get(state, "h"), *v = json_get(state, "v");
    if (r < 0 || r >= json_int(json_get(state, "rows")) || c < 0 || c >= json_int(json_get(state, "cols"))) return 0;
    return drawn(h, r, c) + drawn(h, r + 1, c) + drawn(v, r, c) + drawn(v, r, c + 1);
}

/* Close boxes, and do not draw third sides. */
static int score(const char *state, int seat, const char *move) {
    int r = (int)json_int(json_get(move, "r")), c = (int)json_int(json_get(move, "c"));
    int across = json_is(json_get(move, "orient"), "H");
    int one = sides_drawn(state, r, c), other = across ? sides_drawn(state, r - 1, c) : sides_drawn(state, r, c - 1);
    (void)seat;
    return 2 * ((one == 3) + (other == 3)) - ((one == 2) + (other == 2));
}

/* The legal move with the highest score; among equals the dice decide. NULL: there is nothing to choose from. */
static const char *choose(const char *turn) {
    const char *state = json_get(turn, "state");
    const char *best = NULL;
    int seat = (int)json_int(json_get(turn, "seat")), highest = 0, equals = 0;
    /* legal_moves is null if the match does not show them: then there is no first one */
    for (const char *move = json_first(json_get(turn, "legal_moves")); move; move = json_next(move)) {
        int points = score(state, seat, move);
        if (!best || points > highest) {
            highest = points;
            equals = 0;
        }
        if (points == highest && dice(++equals) == 0) best = move;
    }
    return best;
}
