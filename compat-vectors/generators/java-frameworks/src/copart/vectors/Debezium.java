package copart.vectors;

import io.debezium.transforms.partitions.PartitionRouting;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Usage: Debezium KEYS_JSONL COUNTS OUT_DIR
 *
 * The transform PartitionRouting by one String field, which holds the key; for the null key the field is null.
 */
public final class Debezium implements Placer {
    private static final Schema ROW = SchemaBuilder.struct().name("t.Value")
        .field("key", Schema.OPTIONAL_STRING_SCHEMA).build();
    private static final Schema ENVELOPE = SchemaBuilder.struct().name("t.Envelope")
        .field("op", Schema.STRING_SCHEMA).field("after", ROW).build();

    private final Map<Integer, PartitionRouting<SourceRecord>> transforms = new HashMap<>();

    @Override
    public int place(byte[] key, int partitions) {
        Struct row = new Struct(ROW).put("key", key == null ? null : new String(key, StandardCharsets.UTF_8));
        Struct change = new Struct(ENVELOPE).put("op", "c").put("after", row);
        SourceRecord record = new SourceRecord(null, null, "t", null, null, ENVELOPE, change);
        Integer partition = transforms.computeIfAbsent(partitions, Debezium::transform).apply(record).kafkaPartition();
        return partition == null ? OPEN : partition;
    }

    @Override
    public String open() {
        return "the transform sets no partition, so the record goes to the producer's partitioner";
    }

    @Override
    public void close() {
        transforms.values().forEach(PartitionRouting::close);
    }

    private static PartitionRouting<SourceRecord> transform(int partitions) {
        PartitionRouting<SourceRecord> transform = new PartitionRouting<>();
        transform.configure(Map.of(
            "partition.payload.fields", "change.key", "partition.topic.num", String.valueOf(partitions)));
        return transform;
    }

    public static void main(String[] args) throws Exception {
        Run run = new Run();
        run.profile = "debezium/partition-routing";
        run.client = "debezium";
        run.version = io.debezium.Module.version();
        run.partitioner = "PartitionRouting";
        run.how = "debezium-core jar from Maven; the transform applied to change records with one String field that is the key read as UTF-8";
        int[] counts = Arrays.stream(args[1].split(",")).mapToInt(Integer::parseInt).toArray();
        run.write(Key.read(Path.of(args[0])), counts, Debezium::new, Path.of(args[2]));
    }
}
