import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.coordinator.group.api.streams.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.streams.assignor.TopologyDescriber;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentConfigsImpl;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberMetadataAndStateImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;

/** Runs Kafka's assignor of streams groups: reads groups and writes tasks, a JSON line each. */
public class StickyTasks {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode group = JSON.readTree(line);
            Map<String, MemberMetadataAndStateImpl> members = new HashMap<>();
            for (JsonNode member : group.get("members")) {
                members.put(member.get("id").asText(), state(member));
            }
            GroupAssignment given =
                    new StickyTaskAssignor()
                            .assign(
                                    new GroupSpecImpl(
                                            members,
                                            AssignmentConfigsImpl.DEFAULT.withNumStandbyReplicas(
                                                    group.get("replicas").asInt())),
                                    new Topology(group.get("topics"), group.get("stateful")));
            ObjectNode answer = JSON.createObjectNode();
            given.members().forEach((id, tasks) -> {
                ObjectNode kinds = answer.putObject(id);
                write(kinds.putObject("active"), tasks.activeTasks());
                write(kinds.putObject("standby"), tasks.standbyTasks());
            });
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private static void write(ObjectNode node, Map<String, Set<Integer>> tasks) {
        tasks.forEach((subtopology, held) -> {
            ArrayNode numbers = node.putArray(subtopology);
            held.stream().sorted().forEach(numbers::add);
        });
    }

    private static MemberMetadataAndStateImpl state(JsonNode member) {
        Map<String, Map<Integer, Long>> offsets = new HashMap<>();
        for (JsonNode row : member.get("offsets")) {
            offsets.computeIfAbsent(row.get(0).asText(), name -> new HashMap<>())
                    .put(row.get(1).asInt(), row.get(2).asLong());
        }
        return new MemberMetadataAndStateImpl(
                Optional.empty(),
                Optional.empty(),
                member.get("process").asText(),
                Map.of(),
                tasks(member.get("active")),
                tasks(member.get("standby")),
                Map.of(),
                offsets,
                Map.of());
    }

    private static Map<String, Set<Integer>> tasks(JsonNode held) {
        Map<String, Set<Integer>> tasks = new HashMap<>();
        held.properties().forEach(entry -> {
            Set<Integer> numbers = new HashSet<>();
            entry.getValue().forEach(number -> numbers.add(number.asInt()));
            tasks.put(entry.getKey(), numbers);
        });
        return tasks;
    }

    private record Topology(JsonNode known, JsonNode stateful) implements TopologyDescriber {
        @Override
        public List<String> subtopologies() {
            List<String> names = new ArrayList<>();
            known.fieldNames().forEachRemaining(names::add);
            return names;
        }

        @Override
        public int maxNumInputPartitions(String subtopology) {
            return known.get(subtopology).asInt();
        }

        @Override
        public boolean isStateful(String subtopology) {
            for (JsonNode name : stateful) {
                if (name.asText().equals(subtopology)) {
                    return true;
                }
            }
            return false;
        }
    }
}
