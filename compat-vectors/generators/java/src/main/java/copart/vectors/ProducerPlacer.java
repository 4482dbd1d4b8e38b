package copart.vectors;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;

/** Calls the private method in which a KafkaProducer chooses the partition of a record. The producer never connects. */
final class ProducerPlacer implements Placer {
    private static final byte[] VALUE = {1};

    private final KafkaProducer<byte[], byte[]> producer;
    private final Method partition;
    private final Cluster cluster;

    ProducerPlacer(Map<String, String> settings, Cluster cluster) throws ReflectiveOperationException {
        producer = new KafkaProducer<>(config(settings));
        partition = KafkaProducer.class.getDeclaredMethod(
            "partition", ProducerRecord.class, byte[].class, byte[].class, Cluster.class);
        partition.setAccessible(true);
        this.cluster = cluster;
    }

    @Override
    public int place(byte[] key, int partitions) throws Exception {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic(partitions), key, VALUE);
        try {
            return (int) partition.invoke(producer, record, key, VALUE, cluster);
        } catch (InvocationTargetException raised) {
            throw (Exception) raised.getCause();
        }
    }

    @Override
    public String open() {
        return "left open (RecordMetadata.UNKNOWN_PARTITION) for the accumulator, which picks a sticky partition";
    }

    @Override
    public Integer hash(byte[] key) {
        return Utils.murmur2(key);
    }

    @Override
    public void close() {
        producer.close();
    }

    private static Map<String, Object> config(Map<String, String> settings) {
        Map<String, Object> config = new HashMap<>(settings);
        config.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:1");
        config.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        config.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        config.put(ProducerConfig.RECONNECT_BACKOFF_MS_CONFIG, 3_600_000L);
        config.put("reconnect.backoff.max.ms", 3_600_000L); // unknown to 0.10, which only warns
        return config;
    }

    /** The partitioner of a producer with these settings, in Kafka's own words. */
    static String partitioner(Map<String, String> settings) throws ReflectiveOperationException {
        Constructor<ProducerConfig> constructor = ProducerConfig.class.getDeclaredConstructor(Map.class);
        constructor.setAccessible(true); // 0.10 keeps it to its own package
        Object configured = constructor.newInstance(config(settings)).values().get("partitioner.class");
        if (configured == null) // since 3.3 no class is configured, the producer itself chooses
            return settings.isEmpty() ? "KafkaProducer.partition" : "KafkaProducer.partition, " + settings;
        String name = configured instanceof Class ? ((Class<?>) configured).getName() : configured.toString();
        return name.substring(name.lastIndexOf('.') + 1);
    }

    /** A cluster with one topic for each count, all of whose partitions have a leader. */
    static Cluster cluster(int[] counts) {
        Node node = new Node(1, "127.0.0.1", 1);
        Node[] replicas = {node};
        List<PartitionInfo> partitions = new ArrayList<>();
        for (int count : counts)
            for (int p = 0; p < count; p++)
                partitions.add(new PartitionInfo(topic(count), p, node, replicas, replicas));
        return new Cluster("vectors", List.of(node), partitions, Collections.emptySet(), Collections.emptySet());
    }

    private static String topic(int partitions) {
        return "t" + partitions;
    }
}
