import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * Leads groups through a few generations each with the assignors of kafka-clients, and prints what each was given.
 *
 * <p>Members and topics have names of one letter: the order of Java's hash maps, on which a sticky assignment depends,
 * is the letters' own then.
 */
final class Main {
    private static final String[] ASSIGNORS = {"range", "roundrobin", "sticky", "cooperative-sticky"};
    private static final int GROUPS = 30;
    private static final int GENERATIONS = 4;

    private Main() {
    }

    public static void main(String[] arguments) {
        if (arguments[0].equals("subscriptions")) {
            Subscriptions.run();
            return;
        }
        for (String assignor : ASSIGNORS) {
            for (int group = 0; group < GROUPS; group++) {
                // Every assignor sees the same groups, though members come to own other partitions.
                run(assignor, new Random(group), group % 2 == 0);
            }
        }
        claims();
    }

    /** Members join and leave, miss a generation, change what they want; topics come and grow. */
    private static void run(String assignor, Random random, boolean equal) {
        Map<String, Integer> counts = new TreeMap<>();
        int topics = 1 + random.nextInt(4);
        for (int topic = 0; topic < topics; topic++) {
            counts.put(letter('A', topic), random.nextInt(8));
        }
        // A topic that does not exist.
        List<String> names = new ArrayList<>(counts.keySet());
        names.add("E");
        Map<String, Member> members = new TreeMap<>();
        int ids = 0;
        for (int more = random.nextInt(5); more >= 0; more--) {
            join(members, ids++, random, names, equal);
        }
        for (int generation = 1; generation <= GENERATIONS; generation++) {
            Map<String, List<TopicPartition>> given = Leader.assign(assignor, counts, members);
            System.out.println(Table.row(assignor, counts, members, given));
            // In groups of different wants a member that has missed something is not told from one that has not, by
            // Java's cooperative assignor: see README.md.
            String misses = random.nextInt(3) == 0 && (equal || !assignor.startsWith("coop"))
                ? pick(members, random) : null;
            for (Member member : members.values()) {
                if (!member.id.equals(misses)) {
                    member.owned = given.get(member.id);
                    member.generation = generation;
                }
            }
            switch (random.nextInt(5)) {
                case 0 -> members.remove(pick(members, random));
                case 1 -> counts.computeIfPresent(pick(counts, random), (topic, count) -> count + random.nextInt(4));
                case 2 -> members.get(pick(members, random)).topics = equal ? names : some(names, random);
                default -> { }
            }
            if (members.isEmpty() || random.nextInt(2) == 0) {
                join(members, ids++, random, names, equal);
            }
        }
    }

    /** Two say that the same partitions are theirs, of one generation or of different ones. */
    private static void claims() {
        for (int seed = 0; seed < 12; seed++) {
            Random random = new Random(seed);
            Map<String, Integer> counts = new TreeMap<>(Map.of("A", 4, "B", 1 + random.nextInt(5)));
            for (String assignor : new String[] {"sticky", "cooperative-sticky"}) {
                Map<String, Member> members = new TreeMap<>();
                for (int i = 0; i < 3; i++) {
                    Member member = join(members, i, random, List.of("A", "B"), true);
                    member.generation = 5 + random.nextInt(2);
                }
                for (String topic : counts.keySet()) {
                    for (int partition = 0; partition < counts.get(topic); partition++) {
                        for (int claim = random.nextInt(3); claim > 0; claim--) {
                            Member member = members.get(pick(members, random));
                            TopicPartition claimed = new TopicPartition(topic, partition);
                            if (!member.owned.contains(claimed)) {
                                member.owned.add(claimed);
                            }
                        }
                    }
                }
                Map<String, List<TopicPartition>> given = Leader.assign(assignor, counts, members);
                System.out.println(Table.row(assignor, counts, members, given));
            }
        }
    }

    private static Member join(Map<String, Member> members, int number, Random random, List<String> names,
                               boolean equal) {
        Member member = new Member(letter('a', number));
        if (random.nextInt(3) == 0) {
            // Their order is not that of the member's ids.
            member.instance = letter('z', -number);
        }
        member.topics = equal ? names : some(names, random);
        members.put(member.id, member);
        return member;
    }

    private static List<String> some(List<String> names, Random random) {
        List<String> some = new ArrayList<>();
        while (some.isEmpty()) {
            for (String name : names) {
                if (random.nextBoolean()) {
                    some.add(name);
                }
            }
        }
        return some;
    }

    private static String pick(Map<String, ?> from, Random random) {
        return new ArrayList<>(from.keySet()).get(random.nextInt(from.size()));
    }

    private static String letter(char first, int further) {
        return String.valueOf((char) (first + further));
    }
}
