import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes to Kafka whatever a log may hold, and prints it: what the producers sent, and what consumers
 * got. The arguments are the bootstrap address, and the round: later rounds find the topics of earlier ones.
 *
 * Lines: what TAB topic TAB offset TAB timestamp TAB key TAB value TAB headers, in hexadecimal, - for null.
 */
public final class Write {
    private static final String[] TOPICS = {"codecs", "transactions", "compacted"};
    private static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};

    private final String bootstrap;
    private final Random random;
    private final List<Sent> sent = new ArrayList<>();

    private record Sent(ProducerRecord<byte[], byte[]> record, Future<RecordMetadata> done) {}

    private Write(String bootstrap, int round) {
        this.bootstrap = bootstrap;
        this.random = new Random(round);
    }

    public static void main(String[] args) throws Exception {
        int round = Integer.parseInt(args[1]);
        Write write = new Write(args[0], round);
        if (round == 0) {
            write.create();
        }
        if (round >= 0) {
            write.codecs();
            write.transactions(round);
            int compacted = write.compacted();
            write.printSent();
            if (round == 0) {
                write.awaitCleaner(compacted);
            }
        }
        for (String topic : TOPICS) {
            write.printRead("read", topic, "read_uncommitted");
            write.printRead("committed", topic, "read_committed");
        }
        System.out.flush();
        // Past the threads of the producer that is still open.
        Runtime.getRuntime().halt(0);
    }

    private Properties properties() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        return properties;
    }

    private void create() throws Exception {
        Map<String, String> segments = Map.of("internal.segment.bytes", "20000", "index.interval.bytes", "1000");
        Map<String, String> compact = Map.of(
                "internal.segment.bytes", "20000", "cleanup.policy", "compact",
                "min.cleanable.dirty.ratio", "0.01", "delete.retention.ms", "100");
        try (Admin admin = Admin.create(properties())) {
            admin.createTopics(List.of(
                    new NewTopic("codecs", 1, (short) 1).configs(segments),
                    new NewTopic("transactions", 1, (short) 1).configs(segments),
                    new NewTopic("compacted", 1, (short) 1).configs(compact))).all().get();
        }
    }

    private KafkaProducer<byte[], byte[]> producer(String codec, boolean idempotent, String transactionalId) {
        Properties properties = properties();
        properties.put("compression.type", codec);
        properties.put("enable.idempotence", idempotent);
        properties.put("linger.ms", 3);
        properties.put("batch.size", 3000);
        if (transactionalId != null) {
            properties.put("transactional.id", transactionalId);
        }
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private void send(KafkaProducer<byte[], byte[]> producer, String topic, byte[] key, byte[] value, int n) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, 0, 1_750_000_000_000L + random.nextInt(100_000), key, value);
        for (int i = 0; i < n % 3; i++) {
            record.headers().add("name", i == 1 ? null : ("h" + n).getBytes(StandardCharsets.UTF_8));
        }
        sent.add(new Sent(record, producer.send(record)));
    }

    private byte[] bytes(int limit) {
        byte[] bytes = new byte[random.nextInt(limit)];
        // Half of it compresses.
        for (int i = 0; i < bytes.length; i += 2) {
            bytes[i] = (byte) random.nextInt();
        }
        return bytes;
    }

    private void codecs() {
        for (String codec : CODECS) {
            for (boolean idempotent : new boolean[] {false, true}) {
                try (var producer = producer(codec, idempotent, null)) {
                    for (int n = 0; n < 120; n++) {
                        byte[] key = n % 5 == 0 ? null : bytes(30);
                        byte[] value = n % 7 == 0 ? null : bytes(400);
                        send(producer, "codecs", key, value, n);
                    }
                }
            }
        }
    }

    /** Two producers at a time, so that transactions overlap. In later rounds one transaction stays open. */
    private void transactions(int round) {
        var first = producer("lz4", true, "first");
        var second = producer("none", true, "second");
        first.initTransactions();
        second.initTransactions();
        for (int n = 0; n < 12; n++) {
            first.beginTransaction();
            second.beginTransaction();
            for (int i = 0; i < 30; i++) {
                send(i % 2 == 0 ? first : second, "transactions", bytes(30), bytes(300), i);
                if (i % 7 == 0) {
                    first.flush();
                }
            }
            end(first, n % 3 != 0);
            end(second, n % 2 == 0);
        }
        second.close();
        if (round == 0) {
            first.close();
            return;
        }
        first.beginTransaction();
        for (int i = 0; i < 10; i++) {
            send(first, "transactions", bytes(30), bytes(300), i);
        }
        // Not closed: that would end the transaction. The process ends without.
        first.flush();
    }

    private static void end(KafkaProducer<byte[], byte[]> producer, boolean commit) {
        if (commit) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private int compacted() throws Exception {
        int count = 0;
        try (var producer = producer("zstd", true, null)) {
            for (int n = 0; n < 600; n++) {
                byte[] key = ("key-" + random.nextInt(40)).getBytes(StandardCharsets.UTF_8);
                byte[] value = n % 11 == 0 ? null : bytes(400);
                send(producer, "compacted", key, value, n);
                count++;
                if (n % 20 == 0) {
                    producer.flush();
                }
            }
        }
        return count;
    }

    private void awaitCleaner(int written) throws Exception {
        for (int n = 0; n < 120; n++) {
            if (read("compacted", "read_uncommitted").size() < written / 2) {
                return;
            }
            Thread.sleep(500);
        }
        throw new IllegalStateException("the cleaner did not run");
    }

    private void printSent() throws Exception {
        for (Sent one : sent) {
            RecordMetadata metadata = one.done.get();
            ProducerRecord<byte[], byte[]> record = one.record;
            print("sent", record.topic(), metadata.offset(), record.timestamp(), record.key(), record.value(),
                    record.headers());
        }
        sent.clear();
    }

    private List<ConsumerRecord<byte[], byte[]>> read(String topic, String isolation) {
        Properties properties = properties();
        properties.put("isolation.level", isolation);
        List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
        TopicPartition partition = new TopicPartition(topic, 0);
        try (var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(Set.of(partition));
            consumer.seekToBeginning(Set.of(partition));
            long end = consumer.endOffsets(Set.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(200)).forEach(all::add);
            }
        }
        return all;
    }

    private void printRead(String what, String topic, String isolation) {
        Set<Long> seen = new HashSet<>();
        for (var record : read(topic, isolation)) {
            if (seen.add(record.offset())) {
                print(what, topic, record.offset(), record.timestamp(), record.key(), record.value(),
                        record.headers());
            }
        }
    }

    private static void print(String what, String topic, long offset, long timestamp, byte[] key, byte[] value,
            Iterable<Header> headers) {
        StringBuilder text = new StringBuilder();
        for (Header header : headers) {
            text.append(header.key()).append('=').append(hex(header.value())).append(',');
        }
        System.out.println(String.join("\t", what, topic, Long.toString(offset), Long.toString(timestamp),
                hex(key), hex(value), text));
    }

    private static String hex(byte[] bytes) {
        if (bytes == null) {
            return "-";
        }
        StringBuilder text = new StringBuilder(bytes.length * 2);
        for (byte b : bytes) {
            text.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
        }
        return text.toString();
    }
}
