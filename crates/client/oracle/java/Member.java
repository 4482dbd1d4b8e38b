import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;

/** A member of a group, and what it tells the leader. */
final class Member {
    final String id;
    String instance;
    String rack;
    List<String> topics = List.of();
    List<TopicPartition> owned = new ArrayList<>();
    int generation = -1;

    Member(String id) {
        this.id = id;
    }

    /** What Java's consumer sends as the metadata of this assignor. */
    // The constructor is said to go away some day; there is no other way to tell an assignor its generation.
    @SuppressWarnings("removal")
    ByteBuffer subscription(ConsumerPartitionAssignor assignor) {
        if (generation >= 0) {
            assignor.onAssignment(new Assignment(owned),
                new ConsumerGroupMetadata("group", generation, id, Optional.ofNullable(instance)));
        }
        // Others let go of everything before they join.
        boolean keeps = assignor.supportedProtocols().contains(ConsumerPartitionAssignor.RebalanceProtocol.COOPERATIVE);
        return ConsumerProtocol.serializeSubscription(new Subscription(topics,
            assignor.subscriptionUserData(new TreeSet<>(topics)), keeps ? owned : List.of(), generation,
            Optional.ofNullable(rack)));
    }
}
