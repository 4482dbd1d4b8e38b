import java.util.ArrayList;
import java.util.List;

/** {@code facts} prints what the jar says of its messages; {@code exchange} answers what comes on stdin. */
public final class Main {
    private static final List<String> STANDALONE = List.of("ConsumerProtocolSubscription", "ConsumerProtocolAssignment",
        "RegisterBrokerRecord", "UnregisterBrokerRecord", "TopicRecord", "PartitionRecord", "ConfigRecord",
        "PartitionChangeRecord", "RemoveTopicRecord", "FeatureLevelRecord", "ProducerIdsRecord",
        "BrokerRegistrationChangeRecord",
        "OffsetCommitKey", "OffsetCommitValue",
        "GroupMetadataKey", "GroupMetadataValue",
        "ConsumerGroupMetadataKey", "ConsumerGroupMetadataValue",
        "ConsumerGroupMemberMetadataKey", "ConsumerGroupMemberMetadataValue",
        "ConsumerGroupTargetAssignmentMetadataKey", "ConsumerGroupTargetAssignmentMetadataValue",
        "ConsumerGroupTargetAssignmentMemberKey", "ConsumerGroupTargetAssignmentMemberValue",
        "ConsumerGroupCurrentMemberAssignmentKey", "ConsumerGroupCurrentMemberAssignmentValue",
        "ConsumerGroupRegularExpressionKey", "ConsumerGroupRegularExpressionValue");

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        switch (args.length == 1 ? args[0] : "") {
            case "facts":
                List<Class<?>> standalone = new ArrayList<>();
                for (String name : STANDALONE) {
                    standalone.add(Exchange.standalone(name));
                }
                Facts.print(standalone);
                break;
            case "exchange":
                Exchange.run();
                break;
            default:
                System.err.println("usage: Main facts|exchange");
                System.exit(2);
        }
    }
}
