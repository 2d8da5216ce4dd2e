import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Which move to play in Santorini: the part to make better. The rules: ludodrome rules santorini */
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

    /** Climb: the higher the better, and level 3 wins. In [N1C2B2C3] the worker goes to B2. */
    private static int score(Object state, int seat, Object move) {
        String text = (String) move;
        int row = text.charAt(5) - 'A', column = text.charAt(6) - '1';
        return Json.integer(Json.items(Json.items(Json.get(state, "board")).get(row)).get(column));
    }
}
