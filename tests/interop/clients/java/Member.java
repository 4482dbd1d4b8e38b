import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a group. */
final class Member implements AutoCloseable {
    private final KafkaConsumer<byte[], byte[]> consumer;

    Member(String bootstrap, Request request) {
        Properties options = new Properties();
        options.put("bootstrap.servers", bootstrap);
        options.put("group.id", request.text("group"));
        options.put("enable.auto.commit", "false");
        options.put("auto.offset.reset", "earliest");
        if (request.text("instance") != null) options.put("group.instance.id", request.text("instance"));
        if (request.text("protocol").equals("consumer")) {
            options.put("group.protocol", "consumer");
        } else {
            options.put("session.timeout.ms", "10000");
            options.put("heartbeat.interval.ms", "500");
        }
        consumer = new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(request.text("topic")));
    }

    static Map<String, String> lacks(String version) {
        return version.startsWith("3.") ? Map.of("group-consumer", "release 3 has a preview of KIP-848 only") : Map.of();
    }

    Object poll(long seconds) {
        List<Object> records = new ArrayList<>();
        long until = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < until) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                records.add(List.of((long) record.partition(), record.offset()));
            }
        }
        List<Object> assigned = new ArrayList<>();
        for (TopicPartition partition : consumer.assignment()) assigned.add((long) partition.partition());
        return Map.of("records", records, "assigned", assigned);
    }

    void commit() {
        consumer.commitSync();
    }

    @Override
    public void close() {
        consumer.close();
    }
}
