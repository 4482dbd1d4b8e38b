import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;

/** The rows that are printed, with tabs between. How they are written is in README.md. */
final class Table {
    private Table() {
    }

    static String row(String assignor, Map<String, Integer> counts, Map<String, Member> members,
                      Map<String, List<TopicPartition>> given) {
        return String.join("\t", assignor,
            counts.entrySet().stream().map(it -> it.getKey() + " " + it.getValue()).collect(Collectors.joining("|")),
            members.values().stream().map(Table::member).collect(Collectors.joining("|")),
            given.entrySet().stream().map(it -> it.getKey() + " " + partitions(it.getValue()))
                .collect(Collectors.joining("|")));
    }

    static String member(Member member) {
        return String.join(" ", member.id, member.instance == null ? "." : member.instance,
            String.join(",", member.topics), String.valueOf(member.generation), partitions(member.owned));
    }

    /** In order: that of an assignment means nothing. */
    static String partitions(List<TopicPartition> partitions) {
        String sorted = partitions.stream()
            .sorted(Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition))
            .map(TopicPartition::toString).collect(Collectors.joining(","));
        return sorted.isEmpty() ? "." : sorted;
    }
}
