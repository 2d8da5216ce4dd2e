import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Which move to play in Caldera: the part to make better. The rules: ludodrome rules caldera */
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

    /** Take what can be taken, the crown above all. */
    private static int score(Object state, int seat, Object move) {
        Object to = Json.get(move, "to"); // there is none if a smith forges
        for (Object piece : Json.items(Json.get(state, seat == 0 ? "p1" : "p0"))) {
            if (List.of(Json.get(piece, "r"), Json.get(piece, "c")).equals(to)) {
                return switch ((String) Json.get(piece, "type")) {
                    case "crown" -> 100;
                    case "lancer" -> 3;
                    default -> 2;
                };
            }
        }
        return 0;
    }
}
