import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/** Prints what Avro makes of schemas: their texts, and whether data of one can be read with another. */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"};

    public static void main(String[] arguments) throws Exception {
        for (String[] pair : Pairs.BY_HAND) {
            compare(pair[0], pair[1]);
            compare(pair[1], pair[0]);
        }
        for (String text : Pairs.TEXTS) {
            print(text);
        }
        Random random = new Random(11);
        for (int row = 0; row < 250; row++) {
            print(JSON.writeValueAsString(new Generator(random).schema(3)));
        }
        int pairs = 0;
        while (pairs < 700) {
            JsonNode one = new Generator(random).schema(3);
            JsonNode other = pairs % 8 == 0 ? new Generator(random).schema(3) : Generator.mutated(random, one.deepCopy());
            if (compare(JSON.writeValueAsString(one), JSON.writeValueAsString(other))) {
                pairs++;
            }
        }
    }

    private static Schema parse(String text) {
        return new Schema.Parser().setValidateDefaults(false).parse(text);
    }

    private static void print(String text) {
        String printed;
        try {
            printed = parse(text).toString();
        } catch (RuntimeException error) {
            printed = "!";
        }
        row("text", text, printed);
    }

    /** Returns false if one of the two is no schema. */
    private static boolean compare(String reader, String writer) {
        Schema read;
        Schema written;
        try {
            read = parse(reader);
            written = parse(writer);
        } catch (RuntimeException error) {
            return false;
        }
        String result;
        try {
            Set<String> reasons = new TreeSet<>();
            SchemaCompatibility.checkReaderWriterCompatibility(read, written).getResult().getIncompatibilities()
                    .forEach(reason -> reasons.add(reason.getType() + "=" + reason.getMessage()));
            result = reasons.isEmpty() ? "compatible" : String.join("; ", reasons);
        } catch (RuntimeException error) {
            result = "!";
        }
        row("reads", reader, writer, result);
        return true;
    }

    private static void row(String... columns) {
        for (String column : columns) {
            if (column.contains("\t") || column.contains("\n")) {
                throw new IllegalStateException(column);
            }
        }
        System.out.println(String.join("\t", columns));
    }

    /** Makes schemas of few names, so that two of them have something in common. */
    private static final class Generator {
        private final Random random;
        private final List<String> defined = new ArrayList<>();

        Generator(Random random) {
            this.random = random;
        }

        private static <T> T one(Random random, T... of) {
            return of[random.nextInt(of.length)];
        }

        JsonNode schema(int depth) {
            int kind = random.nextInt(depth > 0 ? 14 : 5);
            switch (kind) {
                case 5:
                case 6:
                case 7:
                    return record(depth);
                case 8:
                case 9: {
                    Set<String> names = new LinkedHashSet<>();
                    ArrayNode union = JSON.createArrayNode();
                    for (int branch = 0; branch < 1 + random.nextInt(3); branch++) {
                        JsonNode type = schema(depth - 1);
                        String name = type.isTextual() ? type.asText() : type.path("name").asText(type.path("type").asText());
                        if (!type.isArray() && names.add(name)) {
                            union.add(type);
                        }
                    }
                    return union.isEmpty() ? JSON.getNodeFactory().textNode("null") : union;
                }
                case 10:
                    return JSON.createObjectNode().put("type", "array").set("items", schema(depth - 1));
                case 11:
                    return JSON.createObjectNode().put("type", "map").set("values", schema(depth - 1));
                case 12: {
                    ObjectNode symbols = named("enum", "E", "F");
                    if (symbols == null) {
                        return reference();
                    }
                    ArrayNode all = symbols.putArray("symbols");
                    for (String symbol : new String[] {"A", "B", "C", "D"}) {
                        if (random.nextBoolean()) {
                            all.add(symbol);
                        }
                    }
                    if (!all.isEmpty() && random.nextInt(3) == 0) {
                        symbols.put("default", all.get(0).asText());
                    }
                    return symbols;
                }
                case 13: {
                    ObjectNode fixed = named("fixed", "X", "Y");
                    return fixed == null ? reference() : fixed.put("size", 1 + random.nextInt(3));
                }
                default:
                    if (!defined.isEmpty() && random.nextInt(4) == 0) {
                        return reference();
                    }
                    if (random.nextInt(6) == 0) {
                        return JSON.createObjectNode().put("type", one(random, PRIMITIVES)).put("note", random.nextInt(3));
                    }
                    return JSON.getNodeFactory().textNode(one(random, PRIMITIVES));
            }
        }

        private JsonNode reference() {
            return JSON.getNodeFactory().textNode(defined.get(random.nextInt(defined.size())));
        }

        private ObjectNode named(String type, String... names) {
            String name = one(random, names);
            String space = random.nextInt(3) == 0 ? "n.s" : "";
            String full = space.isEmpty() ? name : space + "." + name;
            // A namespace is always said, so that references by full name are right wherever they are.
            for (String known : defined) {
                if (known.endsWith(name)) {
                    return null;
                }
            }
            defined.add(full);
            ObjectNode node = JSON.createObjectNode();
            if (random.nextBoolean()) {
                node.put("type", type).put("name", name).put("namespace", space);
            } else {
                node.put("name", name).put("namespace", space).put("type", type);
            }
            if (random.nextInt(5) == 0) {
                node.put("doc", "about it");
            }
            if (random.nextInt(5) == 0) {
                node.putArray("aliases").add(one(random, names)).add("n.s." + one(random, names));
            }
            if (random.nextInt(8) == 0) {
                node.put("b", 1).put("a", "x");
            }
            return node;
        }

        private JsonNode record(int depth) {
            ObjectNode record = named("record", "P", "Q", "R");
            if (record == null) {
                return reference();
            }
            ArrayNode fields = record.putArray("fields");
            for (String name : new String[] {"a", "b", "c", "d"}) {
                if (random.nextInt(3) == 0) {
                    continue;
                }
                ObjectNode field = fields.addObject();
                field.put("name", name);
                field.set("type", schema(depth - 1));
                if (random.nextInt(3) == 0) {
                    field.putNull("default");
                }
                if (random.nextInt(5) == 0) {
                    String alias = one(random, "a", "b", "c", "d", "e");
                    // With its own name for an alias, Java finds a field twice, and throws.
                    if (!alias.equals(name)) {
                        field.putArray("aliases").add(alias);
                    }
                }
                if (random.nextInt(8) == 0) {
                    field.put("order", one(random, "ascending", "descending", "ignore")).put("doc", "why").put("x", true);
                }
            }
            return record;
        }

        /** The same with some changes, as a next version has them. */
        static JsonNode mutated(Random random, JsonNode node) {
            if (node.isTextual()) {
                boolean primitive = List.of(PRIMITIVES).contains(node.asText());
                return primitive && random.nextInt(6) == 0 ? JSON.getNodeFactory().textNode(one(random, PRIMITIVES)) : node;
            }
            if (node.isArray()) {
                ArrayNode union = (ArrayNode) node;
                for (int index = 0; index < union.size(); index++) {
                    union.set(index, mutated(random, union.get(index)));
                }
                if (union.size() > 1 && random.nextInt(5) == 0) {
                    union.remove(random.nextInt(union.size()));
                }
                return union;
            }
            ObjectNode object = (ObjectNode) node;
            if (random.nextInt(12) == 0 && object.has("name")) {
                object.put("name", object.get("name").asText() + "2");
            }
            for (String part : new String[] {"items", "values"}) {
                if (object.has(part)) {
                    object.set(part, mutated(random, object.get(part)));
                }
            }
            if (object.has("size") && random.nextInt(4) == 0) {
                object.put("size", 1 + random.nextInt(3));
            }
            if (object.has("symbols") && random.nextInt(2) == 0) {
                ArrayNode symbols = (ArrayNode) object.get("symbols");
                symbols.add("N" + random.nextInt(3));
            }
            if (object.has("fields")) {
                ArrayNode fields = (ArrayNode) object.get("fields");
                for (JsonNode field : fields) {
                    ((ObjectNode) field).set("type", mutated(random, field.get("type")));
                    if (random.nextInt(10) == 0) {
                        ((ObjectNode) field).put("name", field.get("name").asText() + "2");
                    }
                }
                if (random.nextInt(4) == 0) {
                    ObjectNode field = fields.addObject();
                    field.put("name", "z").put("type", one(random, PRIMITIVES));
                    if (random.nextBoolean()) {
                        field.putNull("default");
                    }
                }
                if (!fields.isEmpty() && random.nextInt(4) == 0) {
                    fields.remove(random.nextInt(fields.size()));
                }
            }
            return object;
        }
    }
}
