import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.common.utils.Bytes;

/** Runs the serializers and deserializers of kafka-clients on edge values, and on random ones of a fixed seed. */
final class Main {
    private static final int RANDOM_ROWS = 40;

    private Main() {
    }

    public static void main(String[] arguments) {
        integers();
        floats();
        booleans();
        strings();
        uuids();
        bytes();
        nulls();
        Lists.run();
    }

    private static void integers() {
        Random random = new Random(1);
        List<Long> values = new ArrayList<>(List.of(0L, 1L, -1L, 2L, 127L, 128L, 255L, 256L, -128L, -129L));
        for (int bits : new int[] {15, 16, 31, 32, 63}) {
            long power = 1L << bits;
            values.addAll(List.of(power - 1, power, power + 1, -power, -power - 1));
        }
        for (int i = 0; i < RANDOM_ROWS; i++) {
            values.add(random.nextLong());
        }
        for (long value : values) {
            if (value == (short) value) {
                Table.both("short", new ShortSerializer(), new ShortDeserializer(), (short) value);
            }
            if (value == (int) value) {
                Table.both("integer", new IntegerSerializer(), new IntegerDeserializer(), (int) value);
            }
            Table.both("long", new LongSerializer(), new LongDeserializer(), value);
        }
        for (int i = 0; i < RANDOM_ROWS; i++) {
            Table.both("short", new ShortSerializer(), new ShortDeserializer(), (short) random.nextInt());
            Table.both("integer", new IntegerSerializer(), new IntegerDeserializer(), random.nextInt());
        }
        everyLength("short", new ShortDeserializer());
        everyLength("integer", new IntegerDeserializer());
        everyLength("long", new LongDeserializer());
    }

    private static void floats() {
        Random random = new Random(2);
        int[] singles = {0, 1, 0x007fffff, 0x00800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fa00000,
            0x7fc00000, 0x7fc00001, 0x7fffffff};
        for (int bits : singles) {
            single(bits);
            single(bits | 0x80000000);
        }
        long[] doubles = {0, 1, 0x000fffffffffffffL, 0x0010000000000000L, 0x3ff0000000000000L, 0x7fefffffffffffffL,
            0x7ff0000000000000L, 0x7ff0000000000001L, 0x7ff4000000000000L, 0x7ff8000000000000L, 0x7ff8000000000001L,
            0x7fffffffffffffffL};
        for (long bits : doubles) {
            both(bits);
            both(bits | 0x8000000000000000L);
        }
        for (int i = 0; i < RANDOM_ROWS; i++) {
            single(random.nextInt());
            both(random.nextLong());
            // NaNs of any payload.
            single(random.nextInt() | 0x7f800000);
            both(random.nextLong() | 0x7ff0000000000000L);
        }
        everyLength("float", new FloatDeserializer());
        everyLength("double", new DoubleDeserializer());
    }

    private static void single(int bits) {
        Table.both("float", new FloatSerializer(), new FloatDeserializer(), Float.intBitsToFloat(bits));
    }

    private static void both(long bits) {
        Table.both("double", new DoubleSerializer(), new DoubleDeserializer(), Double.longBitsToDouble(bits));
        // What it would read had another client written the bits as they are.
        Table.deserialize("double", new DoubleDeserializer(), ByteBuffer.allocate(8).putLong(bits).array());
    }

    private static void booleans() {
        Table.both("boolean", new BooleanSerializer(), new BooleanDeserializer(), true);
        Table.both("boolean", new BooleanSerializer(), new BooleanDeserializer(), false);
        for (String hex : new String[] {"", "00", "01", "02", "7f", "80", "ff", "0000", "0001", "0100", "00000001"}) {
            Table.deserialize("boolean", new BooleanDeserializer(), Table.parse(hex));
        }
    }

    private static void strings() {
        String[] values = {"", "a", "customer-7", "42", "\0", "a\0b", "\n", "\r\n", " ", "caf\u00e9", "cafe\u0301",
            "\u007f", "\u0080", "\u07ff", "\u0800", "\u20ac", "\ud7ff", "\ue000", "\ufeffbom", "\ufffd", "\uffff",
            "\ud800\udc00", "\ud83d\ude00", "\udbff\udfff", "\ud800", "\udc00", "a\ud800b", "\udc00\ud800",
            "\ud83d\ud83d\ude00", "\u0416\u0438\u0442\u044c", "\u65e5\u672c\u8a9e", "{\"id\":42}", "x".repeat(1025)};
        for (String value : values) {
            Table.both("string", new StringSerializer(), new StringDeserializer(), value);
        }
        Random random = new Random(3);
        for (int i = 0; i < RANDOM_ROWS; i++) {
            StringBuilder value = new StringBuilder();
            for (int length = random.nextInt(20); length > 0; length--) {
                int point = random.nextInt(Character.MAX_CODE_POINT + 1) >> random.nextInt(15);
                value.appendCodePoint(point);
            }
            Table.both("string", new StringSerializer(), new StringDeserializer(), value.toString());
        }
        String[] malformed = {"80", "bf", "c0", "c080", "c1bf", "c2", "c328", "e0", "e08080", "e09fbf", "e282", "e28228",
            "eda080", "edb080", "eda080edb080", "f0", "f0808080", "f08fbfbf", "f09f98", "f4908080", "f5808080", "fe",
            "ff", "636166e9", "61ff62", "000000000000002a80", "0000000000000142ff"};
        for (String hex : malformed) {
            Table.deserialize("string", new StringDeserializer(), Table.parse(hex));
        }
    }

    private static void uuids() {
        Table.both("uuid", new UUIDSerializer(), new UUIDDeserializer(), new UUID(0, 0));
        Table.both("uuid", new UUIDSerializer(), new UUIDDeserializer(), new UUID(-1, -1));
        Table.both("uuid", new UUIDSerializer(), new UUIDDeserializer(), new UUID(0x0011223344556677L, 0x8899aabbccddeeffL));
        Random random = new Random(4);
        for (int i = 0; i < RANDOM_ROWS; i++) {
            UUID value = new UUID(random.nextLong(), random.nextLong());
            Table.both("uuid", new UUIDSerializer(), new UUIDDeserializer(), value);
        }
        String[] texts = {"", "-", "1-2-3-4-5", "00112233-4455-6677-8899-AABBCCDDEEFF", "00112233-4455-6677-8899-aAbBcCdDeEfF",
            "00112233445566778899aabbccddeeff", "{00112233-4455-6677-8899-aabbccddeeff}",
            "urn:uuid:00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeef",
            "00112233-4455-6677-8899-aabbccddeeff0", "00112233-4455-6677-8899-aabbccddeeff\n",
            "00112233-4455-6677-8899-aabbccddeefg", "0011223-34455-6677-8899-aabbccddeeff",
            "00112233-4455-6677-88990-abbccddeeff", "00112233 4455 6677 8899 aabbccddeeff",
            "+0112233-4455-6677-8899-aabbccddeeff", "0011223\u0663-4455-6677-8899-aabbccddeef", "not a uuid"};
        for (String text : texts) {
            Table.deserialize("uuid", new UUIDDeserializer(), text.getBytes(StandardCharsets.UTF_8));
        }
        Table.deserialize("uuid", new UUIDDeserializer(), Table.parse("00112233445566778899aabbccddeeff"));
    }

    private static void bytes() {
        for (String hex : new String[] {"", "00", "ff", "00ff80", "000000000000002a"}) {
            byte[] value = Table.parse(hex);
            Table.both("bytearray", new ByteArraySerializer(), new ByteArrayDeserializer(), value);
            Table.both("bytes", new BytesSerializer(), new BytesDeserializer(), Bytes.wrap(value));
            Table.deserialize("bytebuffer", new ByteBufferDeserializer(), value);
        }
        byte[] content = Table.parse("0102030405");
        for (int position = 0; position <= 5; position++) {
            for (int limit = position; limit <= 5; limit++) {
                ByteBuffer buffer = ByteBuffer.wrap(content.clone()).limit(limit).position(position);
                Table.serializeBuffer(new ByteBufferSerializer(), buffer);
            }
        }
        // A slice begins where the position was.
        Table.serializeBuffer(new ByteBufferSerializer(), ByteBuffer.wrap(content.clone()).position(2).slice());
        Table.serializeBuffer(new ByteBufferSerializer(), ByteBuffer.allocateDirect(5).put(content).flip());
    }

    private static void nulls() {
        Table.both("short", new ShortSerializer(), new ShortDeserializer(), null);
        Table.both("integer", new IntegerSerializer(), new IntegerDeserializer(), null);
        Table.both("long", new LongSerializer(), new LongDeserializer(), null);
        Table.both("float", new FloatSerializer(), new FloatDeserializer(), null);
        Table.both("double", new DoubleSerializer(), new DoubleDeserializer(), null);
        Table.both("boolean", new BooleanSerializer(), new BooleanDeserializer(), null);
        Table.both("string", new StringSerializer(), new StringDeserializer(), null);
        Table.both("uuid", new UUIDSerializer(), new UUIDDeserializer(), null);
        Table.both("bytearray", new ByteArraySerializer(), new ByteArrayDeserializer(), null);
        Table.both("bytes", new BytesSerializer(), new BytesDeserializer(), null);
        Table.both("void", new VoidSerializer(), new VoidDeserializer(), null);
        for (String hex : new String[] {"", "00", "6e756c6c"}) {
            Table.deserialize("void", new VoidDeserializer(), Table.parse(hex));
        }
    }

    private static void everyLength(String format, Deserializer<?> deserializer) {
        for (int length = 0; length <= 10; length++) {
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                bytes[i] = (byte) (0xf1 + i);
            }
            Table.deserialize(format, deserializer, bytes);
        }
    }
}
