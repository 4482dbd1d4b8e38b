package copart.vectors;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A key of keys.jsonl; {@code bytes} is null for the null key. */
final class Key {
    private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]+)\"");
    private static final Pattern HEX = Pattern.compile("\"key_hex\":(?:null|\"([0-9a-f]*)\")");

    final String id;
    final String hex;
    final byte[] bytes;

    private Key(String id, String hex) {
        this.id = id;
        this.hex = hex;
        this.bytes = hex == null ? null : decode(hex);
    }

    static List<Key> read(Path keysJsonl) throws IOException {
        List<Key> keys = new ArrayList<>();
        for (String line : Files.readAllLines(keysJsonl, StandardCharsets.UTF_8)) {
            Matcher id = ID.matcher(line);
            Matcher hex = HEX.matcher(line);
            if (!id.find() || !hex.find())
                throw new IOException(keysJsonl + ": no id and key_hex in: " + line);
            keys.add(new Key(id.group(1), hex.group(1)));
        }
        return keys;
    }

    private static byte[] decode(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++)
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }
}
