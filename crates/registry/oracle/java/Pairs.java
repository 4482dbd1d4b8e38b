/** What was chosen by hand. */
final class Pairs {
    private Pairs() {}

    private static String record(String head, String... fields) {
        return "{\"type\":\"record\"," + head + ",\"fields\":[" + String.join(",", fields) + "]}";
    }

    private static String field(String name, String type) {
        return "{\"name\":\"" + name + "\",\"type\":" + type + "}";
    }

    private static String symbols(String head, String... symbols) {
        return "{\"type\":\"enum\"," + head + ",\"symbols\":[\"" + String.join("\",\"", symbols) + "\"]}";
    }

    private static final String P = "\"name\":\"P\"";
    private static final String E = "\"name\":\"E\"";

    /** Each is compared both ways. */
    static final String[][] BY_HAND = {
        {"\"long\"", "\"int\""},
        {"\"float\"", "\"long\""},
        {"\"double\"", "\"float\""},
        {"\"string\"", "\"bytes\""},
        {"\"int\"", "\"boolean\""},
        {"[\"null\",\"int\"]", "\"int\""},
        {"[\"null\",\"long\"]", "[\"int\",\"null\"]"},
        {"[\"int\",\"string\"]", "[\"int\",\"string\",\"null\"]"},
        {"[]", "\"int\""},
        {"[]", "[]"},
        // A name's namespace does not matter; an alias is a full name.
        {record(P, field("a", "\"int\"")), record("\"name\":\"n.P\"", field("a", "\"int\""))},
        {record("\"name\":\"Q\",\"aliases\":[\"P\"]"), record(P)},
        {record("\"name\":\"n.Q\",\"aliases\":[\"P\"]"), record("\"name\":\"n.P\"")},
        {record("\"name\":\"n.Q\",\"aliases\":[\"P\"]"), record(P)},
        {record("\"name\":\"n.Q\",\"aliases\":[\".P\"]"), record(P)},
        // Fields.
        {record(P, field("a", "\"int\"")), record(P)},
        {record(P, "{\"name\":\"a\",\"type\":\"int\",\"default\":1}"), record(P)},
        {record(P, "{\"name\":\"a\",\"type\":[\"null\",\"int\"],\"default\":null}"), record(P)},
        {record(P, "{\"name\":\"a\",\"type\":\"int\",\"aliases\":[\"b\"]}"), record(P, field("b", "\"int\""))},
        {record(P, "{\"name\":\"a\",\"type\":\"int\",\"aliases\":[\"b\",\"c\"]}"),
            record(P, field("b", "\"int\""), field("c", "\"int\""))},
        {record(P, "{\"name\":\"a\",\"type\":\"int\",\"aliases\":[\"b\"]}"),
            record(P, field("a", "\"int\""), field("b", "\"int\""))},
        // An enum's own default is none of the field's.
        {record(P, field("a", symbols(E + ",\"default\":\"A\"", "A"))), record(P)},
        {symbols(E, "A", "B"), symbols(E, "A")},
        {symbols(E + ",\"default\":\"A\"", "A"), symbols(E, "A", "B", "C")},
        {symbols("\"name\":\"F\"", "A"), symbols(E, "A", "B")},
        {"{\"type\":\"fixed\",\"name\":\"X\",\"size\":1}", "{\"type\":\"fixed\",\"name\":\"Y\",\"size\":2}"},
        {"{\"type\":\"fixed\",\"name\":\"X\",\"size\":1}", "\"bytes\""},
        // Types that contain themselves.
        {record(P, field("next", "[\"null\",\"P\"]"), field("a", "\"long\"")),
            record(P, field("next", "[\"null\",\"P\"]"), field("a", "\"int\""))},
        {record(P, field("a", "{\"type\":\"array\",\"items\":\"P\"}"), field("b", "\"int\"")),
            record(P, field("a", "{\"type\":\"array\",\"items\":\"P\"}"))},
        {"{\"type\":\"map\",\"values\":[\"null\"," + record(P, field("a", "\"int\"")) + "]}",
            "{\"type\":\"map\",\"values\":" + record(P, field("b", "\"int\"")) + "}"},
        {"{\"type\":\"int\",\"logicalType\":\"date\"}", "\"int\""},
    };

    /** Printed, or refused. */
    static final String[] TEXTS = {
        "{\"type\" : \"record\", \"name\" : \"a.b.P\", \"fields\" : [ ]}",
        "{\"name\":\"P\",\"namespace\":\"a\",\"type\":\"record\",\"fields\":[{\"type\":\"P\",\"name\":\"p\"}]}",
        record("\"name\":\"a.P\"", field("x", record("\"name\":\"Q\"", field("y", "\"P\"")))),
        record("\"name\":\"a.P\"", field("x", record("\"name\":\"Q\",\"namespace\":\"\"", field("y", "\"a.P\"")))),
        record("\"name\":\"a.P\"", field("x", record("\"name\":\"b.Q\"", field("y", "\"a.P\"")))),
        // Before it is defined.
        record("\"name\":\"P\"", field("x", "\"Q\""), field("y", record("\"name\":\"Q\""))),
        // Found without the namespace around it.
        "[" + record("\"name\":\"Q\"") + "," + record("\"name\":\"a.P\"", field("x", "\"Q\"")) + "]",
        record(P + ",\"doc\":\"d\",\"aliases\":[\"O\",\"a.O\"],\"z\":1,\"y\":{\"c\":[1,null],\"b\":\"\"}",
            "{\"name\":\"a\",\"x\":1,\"order\":\"DESCENDING\",\"default\":1,\"doc\":\"e\",\"type\":\"int\",\"aliases\":[\"b\"]}"),
        "{\"type\":\"error\",\"name\":\"P\",\"fields\":[]}",
        "{\"type\":\"string\"}",
        "{\"type\":\"string\",\"avro.java.string\":\"String\"}",
        "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"default\":[]}",
        symbols(E + ",\"default\":\"A\",\"doc\":\"d\"", "A", "B"),
        record(P, "{\"name\":\"a\",\"type\":\"string\",\"default\":5}"),
        record(P, "{\"name\":\"a\",\"type\":\"double\",\"default\":1.5}"),
        record("\"name\":\"a.int\"", field("x", "\"a.int\"")),
        // No schemas.
        "{}",
        "[\"int\",\"int\"]",
        "[[\"int\"]]",
        "\"unknown\"",
        "{\"type\":\"record\",\"name\":\"P\"}",
        record("\"name\":\"1P\""),
        record("\"name\":\"int\""),
        record("\"name\":\"P-1\""),
        record(P, field("a", "\"int\""), field("a", "\"int\"")),
        record(P, field("a-b", "\"int\"")),
        record(P, "{\"name\":\"a\",\"type\":\"int\",\"order\":\"up\"}"),
        record(P, field("x", record(P))),
        symbols(E, "A", "A"),
        symbols(E, "A-B"),
        symbols(E + ",\"default\":\"B\"", "A"),
        "{\"type\":\"fixed\",\"name\":\"X\"}",
        "{\"type\":\"fixed\",\"name\":\"X\",\"size\":-1}",
        "{\"type\":\"fixed\",\"name\":\"X\",\"size\":1.5}",
        "[" + record("\"name\":\"a.P\"") + "," + record("\"name\":\"b.P\"") + "]",
    };
}
