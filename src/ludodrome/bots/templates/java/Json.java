import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON, read and written, without dependencies. Objects are Maps, lists are Lists, texts are Strings, whole numbers
 * are Longs, other numbers Doubles, true and false are Booleans, null is null.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The value that a text holds; IllegalArgumentException if it is no JSON. */
    static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        if (reader.peek() != 0) throw reader.wrong();
        return value;
    }

    /** What an object holds under a key; null if there is nothing. */
    static Object get(Object object, String key) {
        return object instanceof Map<?, ?> map ? map.get(key) : null;
    }

    /** The items of a list; none if it is no list. */
    static List<?> items(Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    /** A whole number; true counts as 1, all else that is no number as 0. */
    static int integer(Object value) {
        return value instanceof Number number ? number.intValue() : Boolean.TRUE.equals(value) ? 1 : 0;
    }

    /** The text of a value. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof String string) {
            writeString(string, out);
        } else if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(before);
                writeString((String) entry.getKey(), out);
                out.append(": ");
                write(entry.getValue(), out);
                before = ", ";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object item : list) {
                out.append(before);
                write(item, out);
                before = ", ";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else {
            out.append(value); // numbers, true, false, null
        }
    }

    private static void writeString(String string, StringBuilder out) {
        out.append('"');
        for (char letter : string.toCharArray()) {
            if (letter == '"' || letter == '\\') out.append('\\').append(letter);
            else if (letter < ' ') out.append(String.format("\\u%04x", (int) letter));
            else out.append(letter);
        }
        out.append('"');
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("this is no JSON at character " + at + ": " + text);
    }

    /** The next letter that is no blank; 0 at the end. */
    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
        return at < text.length() ? text.charAt(at) : 0;
    }

    /** Passes a letter if it comes next. */
    private boolean pass(char letter) {
        if (peek() != letter) return false;
        at++;
        return true;
    }

    private void want(char letter) {
        if (!pass(letter)) throw wrong();
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw wrong();
        at += word.length();
        return value;
    }

    private Object value() {
        return switch (peek()) {
            case '{' -> object();
            case '[' -> list();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        String digits = text.substring(start, at);
        try {
            if (digits.matches("-?[0-9]{1,18}")) return Long.valueOf(digits);
            return Double.valueOf(digits);
        } catch (NumberFormatException error) {
            throw wrong();
        }
    }

    private List<Object> list() {
        List<Object> items = new ArrayList<>();
        want('[');
        if (pass(']')) return items;
        do items.add(value());
        while (pass(','));
        want(']');
        return items;
    }

    private Map<String, Object> object() {
        Map<String, Object> pairs = new LinkedHashMap<>();
        want('{');
        if (pass('}')) return pairs;
        do {
            peek();
            String key = string();
            want(':');
            pairs.put(key, value());
        } while (pass(','));
        want('}');
        return pairs;
    }

    private String string() {
        StringBuilder letters = new StringBuilder();
        want('"');
        while (at < text.length()) {
            char letter = text.charAt(at++);
            if (letter == '"') return letters.toString();
            letters.append(letter == '\\' ? escaped() : letter);
        }
        throw wrong();
    }

    /** The letter that stands behind a backslash. */
    private char escaped() {
        if (at + 1 > text.length()) throw wrong();
        char letter = text.charAt(at++);
        switch (letter) {
            case 'b': return '\b';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            case 'u':
                if (at + 4 > text.length()) throw wrong();
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default: return letter;
        }
    }
}
