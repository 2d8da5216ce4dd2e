/* Which move to play in Caldera: the part to make better. The rules: ludodrome rules caldera */

/* Take what can be taken, the crown above all. */
static int score(const char *state, int seat, const char *move) {
    const char *to = json_get(move, "to"); /* there is none if a smith forges */
    if (!to) return 0;
    long long row = json_int(json_at(to, 0)), column = json_int(json_at(to, 1));
    const char *enemies = json_get(state, seat == 0 ? "p1" : "p0");
    for (const char *piece = json_first(enemies); piece; piece = json_next(piece)) {
        const char *type = json_get(piece, "type");
        if (json_int(json_get(piece, "r")) == row && json_int(json_get(piece, "c")) == column)
            return json_is(type, "crown") ? 100 : json_is(type, "lancer") ? 3 : 2;
    }
    return 0;
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
