import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;

/**
 * The conversation with the arena: one JSON object a line, in on stdin, out on stdout. Moves are chosen in
 * Strategy.java. Whatever else is printed must go to stderr: System.err.println("..."). The arena keeps it with the
 * record.
 */
public final class Bot {
    public static void main(String[] arguments) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Random dice = new Random(0);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Object message = Json.parse(line);
            Object type = Json.get(message, "type");
            if ("hello".equals(type)) { // a game begins; what came before is forgotten
                dice = new Random(((Number) Json.get(message, "seed")).longValue());
            } else if ("turn".equals(type)) {
                Object move = Strategy.choose(message, dice);
                Object answer = move == null
                        ? Map.of("type", "error", "error", "I found no move")
                        : Map.of("type", "move", "move", move, "turn", Json.get(message, "turn"));
                out.println(Json.write(answer));
            } // Others want no answer: "observe", "refused" (a new "turn" follows), "over", and any new ones.
        }
    }
}
