import com.fasterxml.jackson.databind.JsonNode;
import java.util.*;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Commands about groups. */
final class Groups {
    static final Map<String, Driver.Command> COMMANDS = new HashMap<>();

    static {
        COMMANDS.put("list_groups", (client, fields) -> Map.of("groups", Release.groups(client.admin())));
        COMMANDS.put("describe_groups", Groups::describe);
        COMMANDS.put("delete_groups", Groups::delete);
        COMMANDS.put("group_offsets", Groups::offsets);
        COMMANDS.put("alter_group_offsets", Groups::alterOffsets);
        COMMANDS.put("delete_group_offsets", Groups::deleteOffsets);
    }

    private Groups() {}

    private static Object describe(Client client, JsonNode fields) throws Exception {
        var options =
                new DescribeConsumerGroupsOptions()
                        .includeAuthorizedOperations(fields.get("operations").asBoolean());
        var found =
                client.admin()
                        .describeConsumerGroups(Driver.texts(fields, "names"), options)
                        .describedGroups();
        return Driver.items(found.keySet(), name -> {
            var group = found.get(name).get();
            Map<String, Object> shown = Topics.operations(group.authorizedOperations());
            shown.put("members", group.members().size());
            return shown;
        });
    }

    private static Object delete(Client client, JsonNode fields) throws Exception {
        return Driver.items(
                client.admin().deleteConsumerGroups(Driver.texts(fields, "names")).deletedGroups());
    }

    private static Object offsets(Client client, JsonNode fields) throws Exception {
        Map<String, TopicPartition> asked = partitions(Driver.texts(fields, "partitions"));
        var found =
                Release.groupOffsets(
                                client.admin(), Driver.text(fields, "group"), List.copyOf(asked.values()))
                        .get();
        return Driver.items(asked.keySet(), name -> offset(found.get(asked.get(name))));
    }

    private static Object alterOffsets(Client client, JsonNode fields) throws Exception {
        TopicPartition partition = partition(fields);
        var offset = new OffsetAndMetadata(fields.get("offset").asLong());
        client.admin()
                .alterConsumerGroupOffsets(Driver.text(fields, "group"), Map.of(partition, offset))
                .all()
                .get();
        return null;
    }

    private static Object deleteOffsets(Client client, JsonNode fields) throws Exception {
        Map<String, TopicPartition> asked = partitions(Driver.texts(fields, "partitions"));
        var done =
                client.admin()
                        .deleteConsumerGroupOffsets(Driver.text(fields, "group"), Set.copyOf(asked.values()));
        return Driver.items(asked.keySet(), name -> done.partitionResult(asked.get(name)).get());
    }

    static Map<String, TopicPartition> partitions(List<String> names) {
        Map<String, TopicPartition> found = new LinkedHashMap<>();
        for (String name : names) {
            int at = name.lastIndexOf('-');
            found.put(
                    name,
                    new TopicPartition(name.substring(0, at), Integer.parseInt(name.substring(at + 1))));
        }
        return found;
    }

    static TopicPartition partition(JsonNode fields) {
        return new TopicPartition(Driver.text(fields, "topic"), fields.get("partition").asInt());
    }

    static Object offset(OffsetAndMetadata committed) {
        return Collections.singletonMap("offset", committed == null ? null : committed.offset());
    }
}
