import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.kafka.common.serialization.*;

/** ListSerializer and ListDeserializer, over elements of fixed and of any length. */
final class Lists {
    private Lists() {
    }

    static void run() {
        both("list-short", Serdes.Short(), Arrays.asList((short) 1, null, (short) -1));
        both("list-integer", Serdes.Integer(), Arrays.asList());
        both("list-integer", Serdes.Integer(), Arrays.asList(7));
        both("list-integer", Serdes.Integer(), Arrays.asList(7, 8, -9));
        both("list-integer", Serdes.Integer(), Arrays.asList((Integer) null));
        both("list-integer", Serdes.Integer(), Arrays.asList(null, 7, null, null, 8, null));
        both("list-integer", Serdes.Integer(), null);
        both("list-long", Serdes.Long(), Arrays.asList(Long.MIN_VALUE, null, Long.MAX_VALUE));
        both("list-float", Serdes.Float(), Arrays.asList(1.5f, null, -0.0f));
        both("list-double", Serdes.Double(), Arrays.asList(1.5, null, Double.NaN));
        both("list-uuid", Serdes.UUID(), Arrays.asList(new UUID(1, 2), null, new UUID(-1, -2)));
        both("list-boolean", Serdes.Boolean(), Arrays.asList(true, null, false));
        both("list-string", Serdes.String(), Arrays.asList());
        both("list-string", Serdes.String(), Arrays.asList("", "a", null, "caf\u00e9"));
        both("list-bytearray", Serdes.ByteArray(), Arrays.asList(new byte[0], new byte[] {0, 1}, null));

        String[] integers = {
            // no list
            "", "00", "02 00000000 00000000", "ff 00000000 00000000", "00 000000", "00 00000000", "01", "01 000000",
            // counts that are not there
            "00 00000000 00000001", "00 00000000 00000002 00000007 000000", "00 00000000 ffffffff",
            "00 00000000 7fffffff 00000007", "00 ffffffff 00000000", "00 7fffffff 00000000", "00 00000002 00000000",
            "01 00000001", "01 ffffffff", "01 7fffffff 00000004 00000007",
            // each element with its length, although these have one
            "01 00000002 00000004 00000007 ffffffff", "01 00000001 00000002 0007", "01 00000001 00000000",
            "01 00000001 fffffffe", "01 00000001 7fffffff 00", "01 00000001 00000005 0000000007",
            // behind the last element
            "00 00000000 00000001 00000007 00", "01 00000000 00", "00 00000000 00000000 ff",
            // nulls that are out of order, twice there, or no elements
            "00 00000002 00000002 00000000 00000003 00000007", "00 00000002 00000000 00000000 00000001",
            "00 00000002 00000000 00000000 00000002 00000007", "00 00000001 00000001 00000001 00000007",
            "00 00000001 ffffffff 00000001 00000007", "00 00000001 00000000 00000001"};
        for (String hex : integers) {
            Table.deserialize("list-integer", deserializer(Serdes.Integer()), Table.parse(hex));
        }
        String[] strings = {"", "00 00000000 00000000", "00 00000000 00000001 61", "01 00000000", "01 00000001 00000001 61",
            "01 00000001 00000002 61", "01 00000002 00000001 61 ffffffff", "01 00000001 00000001 61 62",
            "01 00000001 00000001 ff"};
        for (String hex : strings) {
            Table.deserialize("list-string", deserializer(Serdes.String()), Table.parse(hex));
        }
    }

    private static <T> void both(String format, Serde<T> element, List<T> value) {
        Table.both(format, new ListSerializer<>(element.serializer()), deserializer(element), value);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static <T> Deserializer<List<T>> deserializer(Serde<T> element) {
        return new ListDeserializer(ArrayList.class, element.deserializer());
    }
}
