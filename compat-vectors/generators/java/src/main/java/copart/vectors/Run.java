package copart.vectors;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** One profile under one version of the client: places every key, and writes the rows and the line of runs.jsonl. */
final class Run {
    private static final int INSTANCES = 3;
    private static final int REPEATS = 3;

    String profile;
    String client;
    String version;
    String partitioner;
    String how;
    /** Why the run leaves keys out; null when it covers all of them. */
    String partial;

    void write(List<Key> keys, int[] counts, Callable<? extends Placer> fresh, Path outDir) throws Exception {
        List<Placer> placers = new ArrayList<>();
        StringBuilder rows = new StringBuilder();
        try {
            for (int i = 0; i < INSTANCES; i++)
                placers.add(fresh.call());
            for (Key key : keys)
                row(rows, key, counts, placers);
        } finally {
            placers.forEach(Placer::close);
        }
        String file = profile.replace("/", "__") + "-" + client + "-" + version + ".jsonl";
        Files.writeString(outDir.resolve(file), rows);
        appendTo(outDir.resolve("runs.jsonl"), file);
    }

    private static void row(StringBuilder out, Key key, int[] counts, List<Placer> placers) {
        out.append("{\"id\":").append(quote(key.id)).append(",\"key_hex\":").append(quote(key.hex));
        try {
            StringBuilder pinned = new StringBuilder();
            String open = null;
            for (int count : counts) {
                int first = placers.get(0).place(key.bytes, count);
                for (Placer placer : placers)
                    for (int r = 0; r < REPEATS; r++)
                        if (placer.place(key.bytes, count) != first)
                            open = "differs between fresh instances or from one record to the next";
                if (first == Placer.OPEN)
                    open = placers.get(0).open();
                pinned.append(pinned.length() == 0 ? "" : ",").append(quote(String.valueOf(count))).append(":").append(first);
            }
            if (open != null) {
                unplaced(out, "unpinned", open);
            } else {
                Integer hash = key.bytes == null ? null : placers.get(0).hash(key.bytes);
                if (hash != null)
                    out.append(",\"hash\":").append(hash);
                out.append(",\"partitions\":{").append(pinned).append("}}\n");
            }
        } catch (Exception raised) {
            String message = raised.getMessage() == null ? "" : ": " + raised.getMessage();
            unplaced(out, "rejected", raised.getClass().getSimpleName() + message);
        }
    }

    private static void unplaced(StringBuilder out, String outcome, String detail) {
        out.append(",\"partitions\":null,\"outcome\":").append(quote(outcome))
            .append(",\"detail\":").append(quote(detail)).append("}\n");
    }

    private void appendTo(Path runs, String file) throws IOException {
        String line = "{\"file\":" + quote(file) + ",\"profile\":" + quote(profile) + ",\"client\":" + quote(client)
            + ",\"version\":" + quote(version) + ",\"partitioner\":" + quote(partitioner) + ",\"how\":" + quote(how)
            + (partial == null ? "" : ",\"partial\":" + quote(partial)) + "}\n";
        Files.write(runs, line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static String quote(String text) {
        if (text == null)
            return "null";
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\')
                quoted.append('\\').append(c);
            else if (c < 0x20)
                quoted.append(String.format("\\u%04x", (int) c));
            else
                quoted.append(c);
        }
        return quoted.append('"').toString();
    }
}
