import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** What Java's consumer does when it leads a group: reads the members' bytes, and has its assignor assign. */
final class Leader {
    private Leader() {
    }

    static ConsumerPartitionAssignor assignor(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException(name);
        };
    }

    static Map<String, List<TopicPartition>> assign(String assignor, Map<String, Integer> counts,
                                                    Map<String, Member> members) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        members.forEach((id, member) -> {
            Subscription subscription =
                ConsumerProtocol.deserializeSubscription(member.subscription(assignor(assignor)));
            subscription.setGroupInstanceId(Optional.ofNullable(member.instance));
            subscriptions.put(id, subscription);
        });
        Map<String, List<TopicPartition>> given = new TreeMap<>();
        assignor(assignor).assign(cluster(counts), new GroupSubscription(subscriptions)).groupAssignment()
            .forEach((id, assignment) -> given.put(id, new ArrayList<>(assignment.partitions())));
        return given;
    }

    private static Cluster cluster(Map<String, Integer> counts) {
        Node node = new Node(1, "localhost", 9092);
        List<PartitionInfo> partitions = new ArrayList<>();
        counts.forEach((topic, count) -> {
            for (int partition = 0; partition < count; partition++) {
                partitions.add(new PartitionInfo(topic, partition, node, new Node[] {node}, new Node[] {node}));
            }
        });
        return new Cluster("cluster", List.of(node), partitions, Set.of(), Set.of());
    }
}
