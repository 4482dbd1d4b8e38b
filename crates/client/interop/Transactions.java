// Writes committed and aborted transactions of two producers, interleaved in one topic, plain records between
// them, and at last a transaction that stays open and a plain record behind it.
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.StringSerializer;

public class Transactions {
    static KafkaProducer<String, String> producer(String bootstrap, String id) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        if (id != null) {
            properties.put("transactional.id", id);
        }
        KafkaProducer<String, String> producer =
            new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
        if (id != null) {
            producer.initTransactions();
        }
        return producer;
    }

    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0], topic = arguments[1];
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all().get();
        }
        KafkaProducer<String, String> one = producer(bootstrap, "one"), two = producer(bootstrap, "two");
        KafkaProducer<String, String> plain = producer(bootstrap, null);
        for (int round = 0; round < 20; round++) {
            one.beginTransaction();
            two.beginTransaction();
            boolean commitsOne = round % 2 == 0;
            for (int record = 0; record < 20; record++) {
                int partition = record % 2;
                one.send(new ProducerRecord<>(topic, partition, "k", (commitsOne ? "committed " : "aborted ") + round));
                two.send(new ProducerRecord<>(topic, partition, "k", (commitsOne ? "aborted " : "committed ") + round));
                if (record % 4 == 0) {
                    one.flush();
                    two.flush();
                    plain.send(new ProducerRecord<>(topic, partition, "k", "plain " + round)).get();
                }
            }
            // An abort drops what was not sent yet.
            one.flush();
            two.flush();
            // Whoever began first ends last in every other round.
            KafkaProducer<String, String> first = round % 4 < 2 ? one : two, second = first == one ? two : one;
            for (KafkaProducer<String, String> producer : List.of(first, second)) {
                if ((producer == one) == commitsOne) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
        one.beginTransaction();
        for (int record = 0; record < 10; record++) {
            one.send(new ProducerRecord<>(topic, 0, "k", "open " + record));
        }
        one.flush();
        plain.send(new ProducerRecord<>(topic, 0, "k", "plain last")).get();
        plain.close();
        two.close();
        // Closing it would abort its transaction.
        Runtime.getRuntime().halt(0);
    }
}
