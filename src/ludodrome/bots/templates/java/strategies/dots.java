import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Which move to play in Dots and Boxes: the part to make better. The rules: ludodrome rules dots */
final class Strategy {
    /** The legal move with the highest score; among equals the dice decide. null: there is nothing to choose from. */
    static Object choose(Object turn, Random dice) {
        Object state = Json.get(turn, "state");
        int seat = Json.integer(Json.get(turn, "seat"));
        List<Object> best = new ArrayList<>();
        int highest = 0;
        for (Object move : Json.items(Json.get(turn, "legal_moves"))) { // none if the match does not show them
            int points = score(state, seat, move);
            if (best.isEmpty() || points > highest) {
                best.clear();
                highest = points;
            }
            if (points == highest) best.add(move);
        }
        return best.isEmpty() ? null : best.get(dice.nextInt(best.size()));
    }

    /** Close boxes, and do not draw third sides. */
    private static int score(Object state, int seat, Object move) {
        int r = Json.integer(Json.get(move, "r")), c = Json.integer(Json.get(move, "c"));
        boolean across = "H".equals(Json.get(move, "orient"));
        int points = 0;
        for (int sides : new int[] {sidesDrawn(state, r, c), sidesDrawn(state, across ? r - 1 : r, across ? c : c - 1)}) {
            points += sides == 3 ? 2 : sides == 2 ? -1 : 0;
        }
        return points;
    }

    /** How many sides of a box are drawn; 0 for a box that is not on the board. */
    private static int sidesDrawn(Object state, int r, int c) {
        int rows = Json.integer(Json.get(state, "rows")), cols = Json.integer(Json.get(state, "cols"));
        if (r < 0 || r >= rows || c < 0 || c >= cols) return 0;
        Object h = Json.get(state, "h"), v = Json.get(state, "v");
        return drawn(h, r, c) + drawn(h, r + 1, c) + drawn(v, r, c) + drawn(v, r, c + 1);
    }

    private static int drawn(Object edges, int r, int c) {
        return Json.integer(Json.items(Json.items(edges).get(r)).get(c));
    }
}
