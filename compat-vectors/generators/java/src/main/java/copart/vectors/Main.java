package copart.vectors;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.Cluster;

/**
 * Usage: Main KEYS_JSONL COUNTS OUT_DIR PROFILE[;SETTING=VALUE]...
 *
 * A profile java/... is a producer with the given settings, internal/... a coordinator of the broker.
 */
public final class Main {
    public static void main(String[] args) throws Exception {
        List<Key> keys = Key.read(Path.of(args[0]));
        int[] counts = Arrays.stream(args[1].split(",")).mapToInt(Integer::parseInt).toArray();
        Path outDir = Path.of(args[2]);
        Cluster cluster = ProducerPlacer.cluster(counts);
        for (String spec : Arrays.copyOfRange(args, 3, args.length)) {
            String[] words = spec.split(";");
            Run run = new Run();
            run.profile = words[0];
            run.version = version();
            if (run.profile.startsWith("internal/")) {
                String type = run.profile.endsWith("/__consumer_offsets")
                    ? CoordinatorPlacer.groupClass()
                    : CoordinatorPlacer.TRANSACTION_MANAGER;
                run.client = "kafka";
                run.partitioner = type.substring(type.lastIndexOf('.') + 1) + ".partitionFor";
                run.how = "broker jar (kafka_2.13) from Maven; " + run.partitioner + " called with each key read as UTF-8";
                run.write(keys, counts, () -> new CoordinatorPlacer(type), outDir);
            } else {
                Map<String, String> settings = settings(words);
                run.client = "kafka-clients";
                run.partitioner = ProducerPlacer.partitioner(settings);
                run.how = "kafka-clients jar from Maven; KafkaProducer's private method partition called on producers that never connect";
                run.write(keys, counts, () -> new ProducerPlacer(settings, cluster), outDir);
            }
        }
    }

    /** The version that the kafka-clients jar says of itself; the class that reads it has moved between versions. */
    private static String version() throws IOException {
        try (InputStream file = KafkaProducer.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            Properties properties = new Properties();
            properties.load(file);
            return properties.getProperty("version");
        }
    }

    private static Map<String, String> settings(String[] words) {
        Map<String, String> settings = new TreeMap<>();
        for (String word : Arrays.copyOfRange(words, 1, words.length))
            settings.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
        return settings;
    }
}
