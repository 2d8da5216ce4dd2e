import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Which move to play in Skysummit: the part to make better. The rules: ludodrome rules skysummit */
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

    /** Begin near the middle, then climb: the higher the better, and level 3 wins. */
    private static int score(Object state, int seat, Object move) {
        Object to = Json.get(move, "to");
        if ("place".equals(Json.get(move, "t"))) {
            return -Json.items(to).stream().mapToInt(cell -> distance(Json.integer(cell))).sum();
        }
        return Json.integer(Json.items(Json.get(state, "board")).get(Json.integer(to)));
    }

    private static int distance(int cell) {
        return Math.abs(cell / 5 - 2) + Math.abs(cell % 5 - 2);
    }
}
