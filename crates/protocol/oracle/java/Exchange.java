import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.util.HexFormat;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.Message;

/**
 * Reads lines of {@code MESSAGE VERSION HEX}, and answers each with what the message classes make of the bytes:
 * {@code LEFT VERSION:HEX VERSION:! …}, the bytes left after decoding and then the decoded message in each
 * version, or {@code !} where it is refused.
 */
final class Exchange {
    private Exchange() {
    }

    static void run() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintWriter out = new PrintWriter(System.out);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            out.println(answer(words[0], Short.parseShort(words[1]), HexFormat.of().parseHex(words[2])));
        }
        out.flush();
    }

    private static String answer(String name, short version, byte[] body) throws Exception {
        Message message = fresh(name);
        int left;
        try {
            left = Wire.decode(message, version, body);
        } catch (RuntimeException e) {
            return "undecodable " + e;
        }
        StringBuilder answer = new StringBuilder().append(left);
        for (short v = message.lowestSupportedVersion(); v <= message.highestSupportedVersion(); v++) {
            String encoded;
            try {
                encoded = HexFormat.of().formatHex(Wire.encode(message, v));
            } catch (RuntimeException e) {
                encoded = "!";
            }
            answer.append(' ').append(v).append(':').append(encoded);
        }
        return answer.toString();
    }

    private static Message fresh(String name) throws Exception {
        for (ApiMessageType api : ApiMessageType.values()) {
            if (name.equals(api.name + "Request")) {
                return api.newRequest();
            }
            if (name.equals(api.name + "Response")) {
                return api.newResponse();
            }
        }
        return (Message) standalone(name).getConstructor().newInstance();
    }

    /**
     * The class of a message without an API: clients have some, the metadata log its records, and __consumer_offsets
     * keys and values.
     */
    static Class<?> standalone(String name) throws ClassNotFoundException {
        String place = name.endsWith("Record") ? "common.metadata"
            : name.endsWith("Key") || name.endsWith("Value") ? "coordinator.group.generated" : "common.message";
        return Class.forName("org.apache.kafka." + place + "." + name);
    }
}
