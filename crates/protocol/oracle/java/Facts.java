import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;


/**
 * Prints what the message classes of a kafka-clients jar say about themselves, one fact a line, so that a
 * schema written elsewhere can be compared with it by sorting and comparing lines.
 *
 * <pre>
 * api KEY NAME LOWEST HIGHEST HIGHEST_STABLE
 * header NAME VERSION REQUEST_HEADER RESPONSE_HEADER
 * field MESSAGE VERSION POSITION PATH TYPE NULLABLE TAG
 * default MESSAGE PATH VALUE
 * drop MESSAGE PATH ignored|refused      (what happens to a value that a version cannot carry)
 * error CODE NAME retriable|final
 * </pre>
 */
final class Facts {
    private final Class<?> message;
    private final String name;
    /** Versions in which each path is present, in order of first appearance. */
    private final Map<String, List<Short>> present = new TreeMap<>();

    private Facts(Class<?> message) {
        this.message = message;
        this.name = message.getSimpleName().replaceAll("Data$", "");
    }

    static void print(List<Class<?>> standalone) throws Exception {
        for (ApiMessageType api : ApiMessageType.values()) {
            if (api.highestSupportedVersion(true) < api.lowestSupportedVersion()) {
                continue;
            }
            short low = api.lowestSupportedVersion();
            short high = api.highestSupportedVersion(true);
            System.out.printf("api %d %s %d %d %d%n", api.apiKey(), api.name, low, high, api.highestSupportedVersion(false));
            for (short v = low; v <= high; v++) {
                System.out.printf("header %s %d %d %d%n", api.name, v, api.requestHeaderVersion(v), api.responseHeaderVersion(v));
            }
            new Facts(api.newRequest().getClass()).print();
            new Facts(api.newResponse().getClass()).print();
        }
        for (Class<?> message : standalone) {
            new Facts(message).print();
        }
        for (Errors error : Errors.values()) {
            boolean retriable = error.exception() instanceof RetriableException;
            System.out.printf("error %d %s %s%n", error.code(), error.name(), retriable ? "retriable" : "final");
        }
    }

    private void print() throws Exception {
        Schema[] schemas = (Schema[]) message.getField("SCHEMAS").get(null);
        short low = message.getField("LOWEST_SUPPORTED_VERSION").getShort(null);
        short high = message.getField("HIGHEST_SUPPORTED_VERSION").getShort(null);
        for (short v = low; v <= high; v++) {
            walk(v, "", schemas[v]);
        }
        defaults("", message);
        for (String path : present.keySet()) {
            drop(path);
        }
    }

    private void walk(short version, String parent, Schema schema) {
        int position = 0;
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields) {
                for (Map.Entry<Integer, org.apache.kafka.common.protocol.types.Field> tagged
                        : ((TaggedFields) bound.def.type).fields().entrySet()) {
                    field(version, "-", parent, tagged.getValue().name, tagged.getValue().type, String.valueOf(tagged.getKey()));
                }
                continue;
            }
            field(version, String.valueOf(position++), parent, bound.def.name, bound.def.type, "-");
        }
    }

    private void field(short version, String position, String parent, String field, Type type, String tag) {
        String path = parent.isEmpty() ? field : parent + "." + field;
        present.computeIfAbsent(path, p -> new ArrayList<>()).add(version);
        System.out.printf("field %s %d %s %s %s %s %s%n", name, version, position, path, typeName(type),
            type.isNullable() ? "null" : "-", tag);
        Type inner = type.isArray() ? type.arrayElementType().get() : type;
        if (inner instanceof Schema) {
            walk(version, path, (Schema) inner);
        }
    }

    private static String typeName(Type type) {
        if (type.isArray()) {
            return "[]" + typeName(type.arrayElementType().get());
        }
        if (type instanceof Schema) {
            return "struct";
        }
        return type.toString().toLowerCase().replace("compact_", "").replace("nullable_", "").replace("boolean", "bool");
    }

    private void defaults(String parent, Class<?> owner) throws Exception {
        Object fresh = owner.getConstructor().newInstance();
        for (Field field : dataFields(owner)) {
            field.setAccessible(true);
            Object value = field.get(fresh);
            String path = parent.isEmpty() ? snake(field.getName()) : parent + "." + snake(field.getName());
            Class<?> inner = elementClass(field);
            String shown = value instanceof Collection ? "[]"
                : value instanceof byte[] ? "\"\""
                : value instanceof String ? "\"" + value + "\""
                : value instanceof Message ? "{}"
                : value instanceof Double ? String.valueOf(((Double) value).longValue())
                : String.valueOf(value);
            System.out.printf("default %s %s %s%n", name, path, shown);
            if (Message.class.isAssignableFrom(inner)) {
                System.out.printf("struct %s %s %s%n", name, path, inner.getSimpleName());
                defaults(path, inner);
            }
        }
    }

    /** Writes a value other than the default in each version that lacks the field but has its parent. */
    private void drop(String path) throws Exception {
        int dot = path.lastIndexOf('.');
        List<Short> parents = dot < 0 ? versions() : present.get(path.substring(0, dot));
        List<Short> lacking = new ArrayList<>(parents);
        lacking.removeAll(present.get(path));
        for (short version : lacking) {
            Message built = (Message) build(message, path.split("\\."), 0);
            String outcome;
            try {
                Wire.encode(built, version);
                outcome = "ignored";
            } catch (UnsupportedVersionException e) {
                outcome = "refused";
            }
            System.out.printf("drop %s %s %s%n", name, path, outcome);
            return;
        }
    }

    private List<Short> versions() throws Exception {
        List<Short> all = new ArrayList<>();
        for (short v = message.getField("LOWEST_SUPPORTED_VERSION").getShort(null);
                v <= message.getField("HIGHEST_SUPPORTED_VERSION").getShort(null); v++) {
            all.add(v);
        }
        return all;
    }

    @SuppressWarnings("unchecked")
    private static Object build(Class<?> owner, String[] path, int depth) throws Exception {
        Object fresh = owner.getConstructor().newInstance();
        for (Field field : dataFields(owner)) {
            if (!snake(field.getName()).equals(path[depth])) {
                continue;
            }
            field.setAccessible(true);
            Class<?> inner = elementClass(field);
            boolean list = Collection.class.isAssignableFrom(field.getType());
            Object value;
            if (depth + 1 < path.length) {
                value = build(inner, path, depth + 1);
            } else {
                value = other(inner, list ? null : field.get(fresh));
            }
            if (list) {
                Collection<Object> values = (Collection<Object>) field.get(fresh);
                if (values == null) {
                    values = new ArrayList<>();
                }
                values.add(value);
                value = values;
            }
            field.set(fresh, value);
            return fresh;
        }
        throw new IllegalStateException(owner + " has no field " + path[depth]);
    }

    private static Object other(Class<?> type, Object current) throws Exception {
        if (type == boolean.class) return !((Boolean) current);
        if (type == byte.class || type == Byte.class) return current == null ? (byte) 7 : (byte) ((Byte) current + 1);
        if (type == short.class || type == Short.class) return current == null ? (short) 7 : (short) ((Short) current + 1);
        if (type == int.class || type == Integer.class) return current == null ? 7 : ((Integer) current + 1);
        if (type == long.class || type == Long.class) return current == null ? 7L : ((Long) current + 1);
        if (type == double.class) return ((Double) current + 1);
        if (type == String.class) return "other";
        if (type == Uuid.class) return new Uuid(1, 2);
        if (type == byte[].class) return new byte[] {1};
        if (type == org.apache.kafka.common.record.internal.BaseRecords.class) {
            return org.apache.kafka.common.record.internal.MemoryRecords.readableRecords(java.nio.ByteBuffer.wrap(new byte[] {1}));
        }
        if (Message.class.isAssignableFrom(type)) {
            Object fresh = type.getConstructor().newInstance();
            for (Field field : dataFields(type)) {
                if (!Collection.class.isAssignableFrom(field.getType())) {
                    field.setAccessible(true);
                    field.set(fresh, other(field.getType(), field.get(fresh)));
                    break;
                }
            }
            return fresh;
        }
        throw new IllegalStateException("no other value for " + type);
    }

    private static List<Field> dataFields(Class<?> owner) {
        List<Field> fields = new ArrayList<>();
        for (Field field : owner.getDeclaredFields()) {
            boolean data = !java.lang.reflect.Modifier.isStatic(field.getModifiers())
                && !field.getName().startsWith("_") && !field.getName().equals("prev") && !field.getName().equals("next");
            if (data) {
                fields.add(field);
            }
        }
        return fields;
    }

    private static Class<?> elementClass(Field field) throws Exception {
        if (!Collection.class.isAssignableFrom(field.getType())) {
            return field.getType();
        }
        java.lang.reflect.Type generic = field.getGenericType();
        if (generic instanceof ParameterizedType) {
            return (Class<?>) ((ParameterizedType) generic).getActualTypeArguments()[0];
        }
        // FooCollection extends ImplicitLinkedHashMultiCollection<Foo>
        return (Class<?>) ((ParameterizedType) field.getType().getGenericSuperclass()).getActualTypeArguments()[0];
    }

    private static String snake(String camel) {
        return camel.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase();
    }
}
