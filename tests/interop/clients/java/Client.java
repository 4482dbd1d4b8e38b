import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** kafka-clients, of the release that is on the classpath. */
final class Client implements AutoCloseable {
    private final String bootstrap;
    private final Admin admin;
    private final Map<String, Member> members = new HashMap<>();

    Client(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
    }

    Object act(Request request) throws Exception {
        String topic = request.text("topic");
        switch (request.text("op")) {
            case "hello":
                return Map.of("version", version(), "lacks", Member.lacks(version()));
            case "enter":
                members.put(request.text("member"), new Member(bootstrap, request));
                return null;
            case "poll":
                return members.get(request.text("member")).poll(request.number("seconds"));
            case "commit":
                members.get(request.text("member")).commit();
                return null;
            case "exit":
                members.remove(request.text("member")).close();
                return null;
            case "create":
                NewTopic created = new NewTopic(topic, (int) request.number("partitions"), (short) 1);
                admin.createTopics(List.of(created.configs(request.map("configs")))).all().get();
                return null;
            case "produce":
                return produce(topic, request);
            case "read":
                return read(topic, request.map("ends"));
            case "offset":
                return offset(new TopicPartition(topic, (int) request.number("partition")), request.any("at"));
            case "describe":
                return describe(topic);
            case "configs":
                return configs(topic);
            case "alter":
                alter(topic, new ConfigEntry(request.text("name"), request.text("value")));
                return null;
            case "grow":
                admin.createPartitions(Map.of(topic, NewPartitions.increaseTo((int) request.number("partitions")))).all().get();
                return null;
            case "delete_records":
                TopicPartition partition = new TopicPartition(topic, (int) request.number("partition"));
                RecordsToDelete before = RecordsToDelete.beforeOffset(request.number("before"));
                long low = admin.deleteRecords(Map.of(partition, before)).lowWatermarks().get(partition).get().lowWatermark();
                return Map.of("low_watermark", low);
            case "delete":
                admin.deleteTopics(List.of(topic)).all().get();
                return null;
            default:
                throw new IllegalArgumentException("no operation " + request.text("op"));
        }
    }

    /** As the jar says; the class that reads this moved between the releases. */
    private static String version() throws IOException {
        Properties release = new Properties();
        try (InputStream file = Admin.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            release.load(file);
        }
        return release.getProperty("version");
    }

    private Object produce(String topic, Request request) throws Exception {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("acks", Long.toString(request.number("acks")));
        settings.put("compression.type", request.text("compression"));
        settings.put("enable.idempotence", request.flag("idempotent"));
        settings.put("linger.ms", 20);
        List<Object> placed = new ArrayList<>();
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (Request record : request.list("records")) {
                Long partition = record.perhaps("partition");
                sent.add(producer.send(new ProducerRecord<>(topic, partition == null ? null : partition.intValue(),
                        record.perhaps("timestamp"), record.bytes("key"), record.bytes("value"), record.headers())));
            }
            for (Future<RecordMetadata> one : sent) {
                placed.add(Map.of("partition", one.get().partition(), "offset", one.get().offset()));
            }
        }
        return placed;
    }

    private Object read(String topic, Map<String, Long> ends) {
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "auto.offset.reset", "none",
                "enable.auto.commit", false, "check.crcs", true);
        Map<TopicPartition, Long> wanted = new HashMap<>();
        ends.forEach((partition, end) -> {
            if (end > 0) wanted.put(new TopicPartition(topic, Integer.parseInt(partition)), end);
        });
        List<Object> found = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(wanted.keySet());
            consumer.seekToBeginning(wanted.keySet());
            long until = System.nanoTime() + 30_000_000_000L;
            while (!wanted.isEmpty() && System.nanoTime() < until) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    found.add(seen(record));
                    wanted.computeIfPresent(new TopicPartition(topic, record.partition()),
                            (partition, end) -> record.offset() + 1 >= end ? null : end);
                }
            }
        }
        return found;
    }

    private static Map<String, Object> seen(ConsumerRecord<byte[], byte[]> record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<Object> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(Request.hex(header.value()));
            headers.add(pair);
        }
        Map<String, Object> seen = new LinkedHashMap<>();
        seen.put("partition", record.partition());
        seen.put("offset", record.offset());
        seen.put("timestamp", record.timestamp());
        seen.put("key", Request.hex(record.key()));
        seen.put("value", Request.hex(record.value()));
        seen.put("headers", headers);
        return seen;
    }

    private Object offset(TopicPartition partition, Object at) throws Exception {
        OffsetSpec spec = at instanceof Long ? OffsetSpec.forTimestamp((Long) at)
                : at.equals("earliest") ? OffsetSpec.earliest()
                : at.equals("latest") ? OffsetSpec.latest() : OffsetSpec.maxTimestamp();
        ListOffsetsResultInfo found = admin.listOffsets(Map.of(partition, spec)).partitionResult(partition).get();
        return Map.of("offset", found.offset(), "timestamp", found.timestamp());
    }

    private Object describe(String topic) throws Exception {
        List<Object> partitions = new ArrayList<>();
        for (TopicPartitionInfo one : admin.describeTopics(Set.of(topic)).allTopicNames().get().get(topic).partitions()) {
            partitions.add(Map.of("partition", one.partition(), "leader", one.leader().id(),
                    "replicas", ids(one.replicas()), "isr", ids(one.isr())));
        }
        return Map.of("partitions", partitions);
    }

    private static List<Integer> ids(List<Node> nodes) {
        return nodes.stream().map(Node::id).toList();
    }

    private Object configs(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<String, Object> values = new LinkedHashMap<>();
        for (ConfigEntry entry : admin.describeConfigs(Set.of(resource)).all().get().get(resource).entries()) {
            values.put(entry.name(), entry.value());
        }
        return values;
    }

    private void alter(String topic, ConfigEntry entry) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET)))).all().get();
    }
}
