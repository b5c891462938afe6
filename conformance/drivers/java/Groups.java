import java.util.*;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Commands about groups. */
final class Groups {
    private Groups() {}

    static Object listGroups(Client client, Loop.Fields fields) throws Exception {
        return Map.of("groups", Release.groups(client.admin()));
    }

    static Object describeGroups(Client client, Loop.Fields fields) throws Exception {
        var options = new DescribeConsumerGroupsOptions();
        options.includeAuthorizedOperations(fields.flag("operations"));
        var names = fields.texts("names");
        var found = client.admin().describeConsumerGroups(names, options).describedGroups();
        return Loop.items(found.keySet(), name -> {
            var group = found.get(name).get();
            int count = group.members().size();
            return Topics.described(group.authorizedOperations(), "members", count);
        });
    }

    static Object deleteGroups(Client client, Loop.Fields fields) throws Exception {
        var done = client.admin().deleteConsumerGroups(fields.texts("names"));
        return Driver.items(done.deletedGroups());
    }

    static Object groupOffsets(Client client, Loop.Fields fields) throws Exception {
        Map<String, TopicPartition> asked = Driver.partitions(fields);
        var partitions = List.copyOf(asked.values());
        var found = Release.groupOffsets(client.admin(), fields.text("group"), partitions).get();
        return Loop.items(asked.keySet(), name -> offset(found.get(asked.get(name))));
    }

    static Object alterGroupOffsets(Client client, Loop.Fields fields) throws Exception {
        var offset = new OffsetAndMetadata(fields.number("offset"));
        var wanted = Map.of(Driver.partition(fields), offset);
        client.admin().alterConsumerGroupOffsets(fields.text("group"), wanted).all().get();
        return null;
    }

    static Object deleteGroupOffsets(Client client, Loop.Fields fields) throws Exception {
        Map<String, TopicPartition> asked = Driver.partitions(fields);
        var partitions = Set.copyOf(asked.values());
        var done = client.admin().deleteConsumerGroupOffsets(fields.text("group"), partitions);
        return Loop.items(asked.keySet(), name -> done.partitionResult(asked.get(name)).get());
    }

    static Object offset(OffsetAndMetadata committed) {
        return Collections.singletonMap("offset", committed == null ? null : committed.offset());
    }
}
