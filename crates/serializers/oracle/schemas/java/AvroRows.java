import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.Conversions;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;

/** Values of every type, as Avro's own library writes them: schema, JSON encoding, binary encoding. */
final class AvroRows {
    private static final String[] SCHEMAS = {
        "\"null\"", "\"boolean\"", "\"int\"", "\"long\"", "\"float\"", "\"double\"", "\"string\"",
        "{\"type\":\"fixed\",\"name\":\"F\",\"size\":3}",
        "{\"type\":\"fixed\",\"name\":\"Empty\",\"size\":0}",
        "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\",\"C\"]}",
        "{\"type\":\"array\",\"items\":\"long\"}",
        "{\"type\":\"array\",\"items\":\"null\"}",
        "{\"type\":\"map\",\"values\":\"string\"}",
        "[\"null\",\"long\",\"string\",\"boolean\",\"double\"]",
        "{\"type\":\"record\",\"name\":\"Bytes\",\"fields\":[{\"name\":\"b\",\"type\":\"bytes\"}]}",
        "{\"type\":\"record\",\"name\":\"None\",\"fields\":[]}",
        "{\"type\":\"int\",\"logicalType\":\"date\"}",
        "{\"type\":\"int\",\"logicalType\":\"time-millis\"}",
        "{\"type\":\"long\",\"logicalType\":\"time-micros\"}",
        "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}",
        "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}",
        "{\"type\":\"long\",\"logicalType\":\"timestamp-nanos\"}",
        "{\"type\":\"long\",\"logicalType\":\"local-timestamp-millis\"}",
        "{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}",
        "{\"type\":\"long\",\"logicalType\":\"local-timestamp-nanos\"}",
        "{\"type\":\"string\",\"logicalType\":\"uuid\"}",
        "{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}",
        "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":20,\"scale\":4}",
        "{\"type\":\"fixed\",\"name\":\"D\",\"size\":9,\"logicalType\":\"decimal\",\"precision\":20,\"scale\":4}",
        "{\"type\":\"bytes\",\"logicalType\":\"big-decimal\"}",
        "{\"type\":\"fixed\",\"name\":\"Duration\",\"size\":12,\"logicalType\":\"duration\"}",
        "{\"type\":\"record\",\"name\":\"Node\",\"namespace\":\"a.b\",\"fields\":["
            + "{\"name\":\"value\",\"type\":\"int\"},{\"name\":\"next\",\"type\":[\"null\",\"Node\"]},"
            + "{\"name\":\"others\",\"type\":{\"type\":\"array\",\"items\":\"a.b.Node\"}}]}",
        "{\"type\":\"record\",\"name\":\"All\",\"namespace\":\"a.b\",\"fields\":["
            + "{\"name\":\"flag\",\"type\":\"boolean\"},{\"name\":\"small\",\"type\":\"int\"},"
            + "{\"name\":\"large\",\"type\":\"long\"},{\"name\":\"single\",\"type\":\"float\"},"
            + "{\"name\":\"twice\",\"type\":\"double\"},{\"name\":\"text\",\"type\":\"string\"},"
            + "{\"name\":\"raw\",\"type\":\"bytes\"},"
            + "{\"name\":\"kind\",\"type\":{\"type\":\"enum\",\"name\":\"Kind\",\"symbols\":[\"A\",\"B\",\"C\"]}},"
            + "{\"name\":\"maybe\",\"type\":[\"null\",\"string\"]},"
            + "{\"name\":\"list\",\"type\":{\"type\":\"array\",\"items\":\"long\"}},"
            + "{\"name\":\"names\",\"type\":{\"type\":\"map\",\"values\":\"long\"}},"
            + "{\"name\":\"inner\",\"type\":{\"type\":\"record\",\"name\":\"Inner\",\"fields\":[{\"name\":\"a\",\"type\":\"Kind\"}]}},"
            + "{\"name\":\"inners\",\"type\":{\"type\":\"array\",\"items\":\"Inner\"}}]}",
    };
    private static final int VALUES = 24;

    private AvroRows() {
    }

    public static void main(String[] arguments) throws IOException {
        for (String text : SCHEMAS) {
            Schema schema = new Schema.Parser().parse(text);
            Random random = new Random(text.hashCode());
            // An empty array of many nulls is one value; no need for it twice.
            Map<String, String> rows = new LinkedHashMap<>();
            for (int i = 0; i < VALUES; i++) {
                Object value = value(schema, random, i, 4);
                rows.put(hex(schema, value), json(schema, value));
            }
            rows.forEach((hex, json) -> System.out.println(text + "\t" + json + "\t" + hex));
        }
    }

    private static Object value(Schema schema, Random random, int turn, int depth) throws IOException {
        String logical = schema.getProp("logicalType");
        switch (schema.getType()) {
            case NULL:
                return null;
            case BOOLEAN:
                return random.nextBoolean();
            case INT:
                int[] ints = {0, -1, 1, 63, 64, -64, -65, Integer.MAX_VALUE, Integer.MIN_VALUE};
                return turn < ints.length ? ints[turn] : random.nextInt() >> random.nextInt(32);
            case LONG:
                long[] longs = {0, -1, 1, 63, 64, -64, -65, Long.MAX_VALUE, Long.MIN_VALUE};
                return turn < longs.length ? longs[turn] : random.nextLong() >> random.nextInt(64);
            case FLOAT:
                float[] floats = {0f, 1.5f, Float.MIN_VALUE, Float.MAX_VALUE};
                return turn < floats.length ? floats[turn] : (float) random.nextGaussian();
            case DOUBLE:
                double[] doubles = {0, 1.5, Double.MIN_VALUE, Double.MAX_VALUE};
                return turn < doubles.length ? doubles[turn] : random.nextGaussian();
            case STRING:
                if ("uuid".equals(logical)) {
                    return new UUID(random.nextLong(), random.nextLong()).toString();
                }
                String[] texts = {"", "a", "caf\u00e9", "\ud83d\ude00\u65e5\u672c", "\0\n\"", "x".repeat(200)};
                return texts[random.nextInt(texts.length)];
            case BYTES:
                if ("decimal".equals(logical)) {
                    return ByteBuffer.wrap(new BigInteger(60, random).subtract(BigInteger.ONE.shiftLeft(59)).toByteArray());
                }
                if ("big-decimal".equals(logical)) {
                    BigDecimal decimal = new BigDecimal(new BigInteger(90, random).negate(), random.nextInt(40));
                    return new Conversions.BigDecimalConversion().toBytes(decimal, schema, schema.getLogicalType());
                }
                byte[] bytes = new byte[random.nextInt(80)];
                random.nextBytes(bytes);
                return ByteBuffer.wrap(bytes);
            case FIXED:
                byte[] fixed = new byte[schema.getFixedSize()];
                random.nextBytes(fixed);
                if ("decimal".equals(logical)) {
                    fixed[0] = (byte) (fixed[0] >> 7);
                }
                return new GenericData.Fixed(schema, fixed);
            case ENUM:
                List<String> symbols = schema.getEnumSymbols();
                return new GenericData.EnumSymbol(schema, symbols.get(random.nextInt(symbols.size())));
            case ARRAY:
                List<Object> items = new ArrayList<>();
                for (int i = depth > 0 ? random.nextInt(4) : 0; i > 0; i--) {
                    items.add(value(schema.getElementType(), random, VALUES, depth - 1));
                }
                return items;
            case MAP:
                // One at most: the order of more is nobody's promise.
                Map<String, Object> map = new LinkedHashMap<>();
                if (random.nextBoolean()) {
                    map.put("key" + random.nextInt(), value(schema.getValueType(), random, VALUES, depth - 1));
                }
                return map;
            case UNION:
                List<Schema> types = schema.getTypes();
                Schema type = types.get(depth > 0 ? random.nextInt(types.size()) : 0);
                return value(type, random, VALUES, depth - 1);
            default:
                GenericData.Record record = new GenericData.Record(schema);
                for (Schema.Field field : schema.getFields()) {
                    record.put(field.name(), value(field.schema(), random, turn, depth - 1));
                }
                return record;
        }
    }

    private static String hex(Schema schema, Object value) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        write(schema, value, EncoderFactory.get().binaryEncoder(out, null));
        return out.size() == 0 ? "." : HexFormat.of().formatHex(out.toByteArray());
    }

    private static String json(Schema schema, Object value) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        write(schema, value, EncoderFactory.get().jsonEncoder(schema, out));
        return out.toString(java.nio.charset.StandardCharsets.UTF_8);
    }

    private static void write(Schema schema, Object value, Encoder encoder) throws IOException {
        new GenericDatumWriter<Object>(schema).write(value, encoder);
        encoder.flush();
    }
}
