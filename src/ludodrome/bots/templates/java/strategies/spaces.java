import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Which move to play in Spaces: the part to make better. The rules: ludodrome rules spaces */
final class Strategy {
    /** A board, or ten of them. There are too many legal ones to list, so one is made. */
    static Object choose(Object turn, Random dice) {
        Object state = Json.get(turn, "state");
        int size = Json.integer(Json.get(state, "size"));
        if (!"deck".equals(Json.get(state, "mode"))) return straightRun(size, dice);
        List<Object> boards = new ArrayList<>();
        while (boards.size() < 10) boards.add(straightRun(size, dice));
        return Map.of("deck", boards);
    }

    /** From the bottom row straight up to the goal, in any column: legal at every size, under both rule sets. */
    private static Object straightRun(int size, Random dice) {
        int column = dice.nextInt(size);
        List<Object> steps = new ArrayList<>();
        for (int order = 1; order <= size + 1; order++) {
            int row = size - order;
            Object position = Map.of("row", row, "col", column);
            steps.add(Map.of("position", position, "type", row >= 0 ? "piece" : "final", "order", order));
        }
        return Map.of("boardSize", size, "sequence", steps);
    }
}
