import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;

/**
 * The rows that are printed, {@code direction, format, input, output} with tabs between. How values are written is
 * in README.md.
 */
final class Table {
    private static final String TOPIC = "topic";
    private static final HexFormat HEX = HexFormat.of();

    private Table() {
    }

    static <T> void serialize(String format, Serializer<T> serializer, T value) {
        row("serialize", format, text(value), hex(serializer.serialize(TOPIC, value)));
    }

    /** The input is given apart: what the serializer is handed has been used by the time the row is written. */
    static void serializeBuffer(Serializer<ByteBuffer> serializer, ByteBuffer buffer) {
        byte[] content = new byte[buffer.capacity()];
        buffer.duplicate().clear().get(content);
        String input = buffer.position() + ":" + buffer.limit() + ":" + hex(content);
        row("serialize", "bytebuffer", input, hex(serializer.serialize(TOPIC, buffer)));
    }

    static void deserialize(String format, Deserializer<?> deserializer, byte[] bytes) {
        String output;
        try {
            output = text(deserializer.deserialize(TOPIC, bytes));
        } catch (RuntimeException e) {
            output = "!" + e.getClass().getSimpleName();
        }
        row("deserialize", format, hex(bytes), output);
    }

    /** A value's bytes, and what they are read as. */
    static <T> void both(String format, Serializer<T> serializer, Deserializer<T> deserializer, T value) {
        serialize(format, serializer, value);
        deserialize(format, deserializer, serializer.serialize(TOPIC, value));
    }

    static byte[] parse(String hex) {
        return HEX.parseHex(hex.replace(" ", ""));
    }

    private static void row(String direction, String format, String input, String output) {
        System.out.println(String.join("\t", direction, format, input, output));
    }

    private static String hex(byte[] bytes) {
        if (bytes == null) {
            return "null";
        }
        return bytes.length == 0 ? "." : HEX.formatHex(bytes);
    }

    /** The string's UTF-16 units as they are: no encoder is asked, least of all the one that is looked at. */
    private static String units(String value) {
        StringBuilder units = new StringBuilder();
        for (char unit : value.toCharArray()) {
            units.append(HEX.toHexDigits(unit));
        }
        return units.length() == 0 ? "." : units.toString();
    }

    private static String text(Object value) {
        if (value == null) {
            return "null";
        }
        if (value instanceof Float) {
            return HEX.toHexDigits(Float.floatToRawIntBits((Float) value));
        }
        if (value instanceof Double) {
            return HEX.toHexDigits(Double.doubleToRawLongBits((Double) value));
        }
        if (value instanceof String) {
            return units((String) value);
        }
        if (value instanceof UUID) {
            UUID uuid = (UUID) value;
            return HEX.toHexDigits(uuid.getMostSignificantBits()) + HEX.toHexDigits(uuid.getLeastSignificantBits());
        }
        if (value instanceof byte[]) {
            return hex((byte[]) value);
        }
        if (value instanceof Bytes) {
            return hex(((Bytes) value).get());
        }
        if (value instanceof ByteBuffer) {
            byte[] content = new byte[((ByteBuffer) value).remaining()];
            ((ByteBuffer) value).duplicate().get(content);
            return hex(content);
        }
        if (value instanceof List) {
            List<String> elements = new ArrayList<>();
            for (Object element : (List<?>) value) {
                elements.add(text(element));
            }
            return "[" + String.join(",", elements) + "]";
        }
        return value.toString();
    }
}
