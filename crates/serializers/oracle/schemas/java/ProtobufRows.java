import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.TextFormat;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/** Messages with every type, as protobuf-java writes them: name, text format, bytes. */
final class ProtobufRows {
    private static final int MESSAGES = 60;

    private ProtobufRows() {
    }

    public static void main(String[] arguments) throws Exception {
        FileDescriptorSet set = FileDescriptorSet.parseFrom(Files.readAllBytes(Path.of(arguments[0])));
        FileDescriptor file = FileDescriptor.buildFrom(set.getFile(0), new FileDescriptor[0]);
        Descriptor scalars = file.findMessageTypeByName("Scalars");
        Random random = new Random(7);
        for (Descriptor type : List.of(scalars, scalars.findNestedTypeByName("Nested"))) {
            for (int i = 0; i < MESSAGES; i++) {
                DynamicMessage message = message(type, random, i, 3);
                String text = TextFormat.printer().emittingSingleLine(true).printToString(message);
                String hex = HexFormat.of().formatHex(message.toByteArray());
                System.out.println(type.getFullName() + "\t" + text + "\t" + (hex.isEmpty() ? "." : hex));
            }
        }
    }

    private static DynamicMessage message(Descriptor type, Random random, int turn, int depth) {
        DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
        for (FieldDescriptor field : type.getFields()) {
            // All fields in the first one, and then some.
            if (depth == 0 || turn > 0 && random.nextBoolean()) {
                continue;
            }
            if (!field.isRepeated()) {
                message.setField(field, value(field, random, turn, depth));
                continue;
            }
            // One of a map: the order of more is nobody's promise.
            for (int i = field.isMapField() ? 1 : random.nextInt(4); i > 0; i--) {
                message.addRepeatedField(field, value(field, random, turn, depth));
            }
        }
        return message.build();
    }

    private static Object value(FieldDescriptor field, Random random, int turn, int depth) {
        int[] ints = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 127, 128};
        long[] longs = {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 127, 128};
        switch (field.getJavaType()) {
            case INT:
                return turn > 0 && turn <= ints.length ? ints[turn - 1] : random.nextInt() >> random.nextInt(32);
            case LONG:
                return turn > 0 && turn <= longs.length ? longs[turn - 1] : random.nextLong() >> random.nextInt(64);
            case FLOAT:
                return turn == 1 ? -0f : (float) random.nextGaussian();
            case DOUBLE:
                return turn == 1 ? -0.0 : random.nextGaussian();
            case BOOLEAN:
                return random.nextBoolean();
            case STRING:
                String[] texts = {"", "a", "caf\u00e9", "\ud83d\ude00\u65e5\u672c", "\0\n\"", "x".repeat(200)};
                return texts[random.nextInt(texts.length)];
            case BYTE_STRING:
                byte[] bytes = new byte[random.nextInt(80)];
                random.nextBytes(bytes);
                return ByteString.copyFrom(bytes);
            case ENUM:
                EnumDescriptor type = field.getEnumType();
                return type.getValues().get(random.nextInt(type.getValues().size()));
            default:
                Descriptor inner = field.getMessageType();
                if (field.isMapField()) {
                    DynamicMessage.Builder entry = DynamicMessage.newBuilder(inner);
                    for (FieldDescriptor part : inner.getFields()) {
                        entry.setField(part, value(part, random, turn, depth - 1));
                    }
                    return entry.build();
                }
                return message(inner, random, turn, depth - 1);
        }
    }
}
