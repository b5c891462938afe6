import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Runs Kafka's own assignors: reads groups and writes the assignments of members, a JSON line each.
 *
 * <p>Topics and partitions are written in the order of Java's maps and sets. A broker writes them to
 * its log in this order, and reads them from there before the next assignment.
 */
public class Assignors {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, PartitionAssignor> ASSIGNORS =
            Map.of("uniform", new UniformAssignor(), "range", new RangeAssignor(), "share", new SimpleAssignor());

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode group = JSON.readTree(line);
            String answer;
            try {
                PartitionAssignor assignor = ASSIGNORS.get(group.get("assignor").asText());
                answer = written(group, assignor.assign(spec(group), new Topics(group.get("topics"))));
            } catch (RuntimeException failure) {
                answer = JSON.writeValueAsString(failure.getClass().getSimpleName());
            }
            System.out.println(answer);
        }
    }

    private static String written(JsonNode group, GroupAssignment assignment) throws Exception {
        ObjectNode members = JSON.createObjectNode();
        for (JsonNode member : group.get("members")) {
            String id = member.get("id").asText();
            ObjectNode topics = members.putObject(id);
            if (assignment.members().containsKey(id)) {
                assignment.members().get(id).partitions().forEach((topic, held) -> {
                    ArrayNode numbers = topics.putArray(topic.toString());
                    held.forEach(numbers::add);
                });
            }
        }
        return JSON.writeValueAsString(members);
    }

    private static GroupSpecImpl spec(JsonNode group) {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (JsonNode member : group.get("members")) {
            String id = member.get("id").asText();
            Assignment held = assignment(member.get("has"));
            held.partitions()
                    .forEach(
                            (topic, partitions) ->
                                    partitions.forEach(
                                            partition ->
                                                    owners.computeIfAbsent(topic, key -> new HashMap<>())
                                                            .put(partition, id)));
            Set<Uuid> topics = new LinkedHashSet<>();
            member.get("topics").forEach(topic -> topics.add(Uuid.fromString(topic.asText())));
            members.put(
                    id,
                    new MemberSubscriptionAndAssignmentImpl(
                            text(member, "rack"), text(member, "instance"), topics, held));
        }
        Object[] parts = {
            Collections.unmodifiableMap(members),
            group.get("alike").asBoolean() ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS,
            owners,
            assignable(group.get("assignable"))
        };
        // up to 4.0 the constructor has no assignable partitions
        return Stream.of(GroupSpecImpl.class.getConstructors())
                .max(Comparator.comparing(Constructor::getParameterCount))
                .map(newest -> made(newest, Arrays.copyOf(parts, newest.getParameterCount())))
                .orElseThrow();
    }

    private static GroupSpecImpl made(Constructor<?> constructor, Object[] parts) {
        try {
            return (GroupSpecImpl) constructor.newInstance(parts);
        } catch (ReflectiveOperationException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    private static Assignment assignment(JsonNode held) {
        List<ConsumerGroupTargetAssignmentMemberValue.TopicPartition> rows = new ArrayList<>();
        held.properties()
                .forEach(
                        entry ->
                                rows.add(
                                        new ConsumerGroupTargetAssignmentMemberValue.TopicPartition()
                                                .setTopicId(Uuid.fromString(entry.getKey()))
                                                .setPartitions(numbers(entry.getValue()))));
        return Assignment.fromRecord(new ConsumerGroupTargetAssignmentMemberValue().setTopicPartitions(rows));
    }

    private static Optional<Map<Uuid, Set<Integer>>> assignable(JsonNode node) {
        if (node == null || node.isNull()) {
            return Optional.empty();
        }
        Map<Uuid, Set<Integer>> found = new HashMap<>();
        node.properties()
                .forEach(
                        entry ->
                                found.put(
                                        Uuid.fromString(entry.getKey()),
                                        new LinkedHashSet<>(numbers(entry.getValue()))));
        return Optional.of(found);
    }

    private static List<Integer> numbers(JsonNode node) {
        List<Integer> found = new ArrayList<>();
        node.forEach(number -> found.add(number.asInt()));
        return found;
    }

    private static Optional<String> text(JsonNode member, String name) {
        return member.hasNonNull(name) ? Optional.of(member.get(name).asText()) : Optional.empty();
    }

    private record Topics(JsonNode known) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topic) {
            JsonNode found = known.get(topic.toString());
            return found == null ? -1 : found.asInt();
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of("rack" + partition % 3);
        }
    }
}
