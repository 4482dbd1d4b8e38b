import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** One line of the input, and the hexadecimal that bytes are written in. */
final class Request {
    private final Map<String, Object> fields;

    @SuppressWarnings("unchecked")
    Request(Object json) {
        fields = (Map<String, Object>) json;
    }

    String text(String name) {
        return (String) fields.get(name);
    }

    long number(String name) {
        return (Long) fields.get(name);
    }

    Long perhaps(String name) {
        return (Long) fields.get(name);
    }

    boolean flag(String name) {
        return (Boolean) fields.get(name);
    }

    Object any(String name) {
        return fields.get(name);
    }

    @SuppressWarnings("unchecked")
    <T> Map<String, T> map(String name) {
        return (Map<String, T>) fields.get(name);
    }

    byte[] bytes(String name) {
        return unhex(text(name));
    }

    List<Request> list(String name) {
        List<Request> requests = new ArrayList<>();
        for (Object item : (List<?>) fields.get(name)) requests.add(new Request(item));
        return requests;
    }

    List<Header> headers() {
        List<Header> headers = new ArrayList<>();
        for (Object item : (List<?>) fields.get("headers")) {
            List<?> pair = (List<?>) item;
            headers.add(new RecordHeader((String) pair.get(0), unhex((String) pair.get(1))));
        }
        return headers;
    }

    static byte[] unhex(String text) {
        return text == null ? null : HexFormat.of().parseHex(text);
    }

    static String hex(byte[] data) {
        return data == null ? null : HexFormat.of().formatHex(data);
    }
}
