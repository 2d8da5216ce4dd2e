/* Which move to play in Skysummit: the part to make better. The rules: ludodrome rules skysummit */

static int distance(int cell) { return abs(cell / 5 - 2) + abs(cell % 5 - 2); }

/* Begin near the middle, then climb: the higher the better, and level 3 wins. */
static int score(const char *state, int seat, const char *move) {
    const char *to = json_get(move, "to");
    (void)seat;
    if (json_is(json_get(move, "t"), "place"))
        return -distance((int)json_int(json_at(to, 0))) - distance((int)json_int(json_at(to, 1)));
    return (int)json_int(json_at(json_get(state, "board"), (int)json_int(to)));
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
