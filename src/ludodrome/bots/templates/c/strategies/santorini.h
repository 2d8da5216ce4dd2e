/* Which move to play in Santorini: the part to make better. The rules: ludodrome rules santorini */

/* Climb: the higher the better, and level 3 wins. In "[N1C2B2C3]" the worker goes to B2. */
static int score(const char *state, int seat, const char *move) {
    int row = move[6] - 'A', column = move[7] - '1'; /* move[0] is the quotation mark */
    (void)seat;
    return (int)json_int(json_at(json_at(json_get(state, "board"), row), column));
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
