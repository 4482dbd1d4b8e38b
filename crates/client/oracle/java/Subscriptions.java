import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.nio.ByteBuffer;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;

/** Prints the bytes that members and leaders send. */
final class Subscriptions {
    private static final HexFormat HEX = HexFormat.of();

    private Subscriptions() {
    }

    static void run() {
        for (String assignor : new String[] {"range", "roundrobin", "sticky", "cooperative-sticky"}) {
            for (int generation : new int[] {-1, 0, 7, Integer.MAX_VALUE}) {
                for (int partitions = 0; partitions < (generation < 0 ? 1 : 4); partitions++) {
                    for (String rack : new String[] {null, "r1"}) {
                        Member member = new Member("a");
                        member.generation = generation;
                        member.rack = rack;
                        member.topics = List.of("B", "A").subList(partitions % 2, 2);
                        member.owned = owned(partitions);
                        ByteBuffer bytes = member.subscription(Leader.assignor(assignor));
                        System.out.println(assignor + "\t" + Table.member(member) + "\t"
                            + (rack == null ? "." : rack) + "\t" + hex(bytes));
                    }
                }
            }
        }
        for (int partitions = 0; partitions < 4; partitions++) {
            List<TopicPartition> owned = owned(partitions);
            System.out.println("assignment\t" + Table.partitions(owned) + "\t.\t"
                + hex(ConsumerProtocol.serializeAssignment(new Assignment(owned))));
        }
    }

    private static List<TopicPartition> owned(int count) {
        List<TopicPartition> owned = new ArrayList<>();
        for (int partition = 0; partition < count; partition++) {
            owned.add(new TopicPartition("A", partition * 70000));
            owned.add(new TopicPartition("B", partition));
        }
        return owned;
    }

    private static String hex(ByteBuffer bytes) {
        byte[] content = new byte[bytes.remaining()];
        bytes.get(content);
        return HEX.formatHex(content);
    }
}
