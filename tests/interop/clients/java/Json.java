import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Just enough JSON for one line each way: kafka-clients brings no JSON library, and should be alone on the classpath. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Maps, lists, strings, Longs, Booleans and null. */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) throw json.bad("something after the value");
        return value;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private Object value() {
        space();
        if (at == text.length()) throw bad("the end");
        switch (text.charAt(at)) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                int start = at;
                while (at < text.length() && "+-0123456789".indexOf(text.charAt(at)) >= 0) at++;
                if (start == at) throw bad("no value");
                return Long.valueOf(text.substring(start, at));
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        space();
        if (take('}')) return map;
        do {
            space();
            String name = string();
            space();
            if (!take(':')) throw bad("no colon");
            map.put(name, value());
            space();
        } while (take(','));
        if (!take('}')) throw bad("no end of an object");
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        at++;
        space();
        if (take(']')) return list;
        do {
            list.add(value());
            space();
        } while (take(','));
        if (!take(']')) throw bad("no end of an array");
        return list;
    }

    private String string() {
        if (!take('"')) throw bad("no string");
        StringBuilder out = new StringBuilder();
        while (at < text.length() && text.charAt(at) != '"') {
            char next = text.charAt(at++);
            if (next != '\\') {
                out.append(next);
                continue;
            }
            char escaped = text.charAt(at++);
            if (escaped == 'u') {
                out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                at += 4;
            } else {
                int known = "\"\\/bfnrt".indexOf(escaped);
                if (known < 0) throw bad("an unknown escape");
                out.append("\"\\/\b\f\n\r\t".charAt(known));
            }
        }
        if (!take('"')) throw bad("no end of a string");
        return out.toString();
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw bad("no value");
        at += word.length();
        return value;
    }

    private boolean take(char wanted) {
        if (at < text.length() && text.charAt(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    }

    private IllegalArgumentException bad(String what) {
        return new IllegalArgumentException("JSON: " + what + " at " + at);
    }

    private static void write(Object value, StringBuilder out) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(before);
                write(entry.getKey().toString(), out);
                out.append(':');
                write(entry.getValue(), out);
                before = ",";
            }
            out.append(before.equals("{") ? "{}" : "}");
        } else if (value instanceof List) {
            String before = "[";
            for (Object item : (List<?>) value) {
                out.append(before);
                write(item, out);
                before = ",";
            }
            out.append(before.equals("[") ? "[]" : "]");
        } else {
            out.append('"');
            for (char next : value.toString().toCharArray()) {
                if (next == '"' || next == '\\') out.append('\\').append(next);
                else if (next < ' ') out.append(String.format("\\u%04x", (int) next));
                else out.append(next);
            }
            out.append('"');
        }
    }
}
