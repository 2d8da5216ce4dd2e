/* Which move to play in Spaces: the part to make better. The rules: ludodrome rules spaces */

enum { DECK = 10, LARGEST = 100, STEP_TEXT = 80 };

static char board[DECK * (LARGEST + 2) * STEP_TEXT];

/* Writes a board: from the bottom row straight up to the goal, in any column. It is legal at every size, under both
   rule sets. Returns where the text ends. */
static char *straight_run(char *text, int size) {
    int column = dice(size);
    text += sprintf(text, "{\"boardSize\": %d, \"sequence\": [", size);
    for (int order = 1; order <= size + 1; order++) {
        int row = size - order;
        text += sprintf(text, "%s{\"position\": {\"row\": %d, \"col\": %d}, \"type\": \"%s\", \"order\": %d}",
                        order > 1 ? ", " : "", row, column, row >= 0 ? "piece" : "final", order);
    }
    return text + sprintf(text, "]}");
}

/* A board, or ten of them. There are too many legal ones to list, so one is made. */
static const char *choose(const char *turn) {
    const char *state = json_get(turn, "state");
    int size = (int)json_int(json_get(state, "size"));
    char *text = board;
    if (!json_is(json_get(state, "mode"), "deck")) {
        straight_run(text, size);
        return board;
    }
    text += sprintf(text, "{\"deck\": [");
    for (int number = 0; number < DECK; number++) {
        if (number > 0) text += sprintf(text, ", ");
        text = straight_run(text, size);
    }
    sprintf(text, "]}");
    return board;
}
