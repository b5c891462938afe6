import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.acl.AclOperation;

/** Creates and deletes topics, and returns authorized operations. */
final class Operations {
    private Operations() {}

    static Object createTopic(Driver.Request request) throws Exception {
        NewTopic topic = new NewTopic(request.text("topic"), 1, (short) 1);
        return Connection.admin(request).createTopics(List.of(topic)).all().get();
    }

    static Object deleteTopic(Driver.Request request) throws Exception {
        return Connection.admin(request).deleteTopics(List.of(request.text("topic"))).all().get();
    }

    static Object listTopics(Driver.Request request) throws Exception {
        return List.copyOf(Connection.admin(request).listTopics().names().get());
    }

    static Object ofCluster(Driver.Request request) throws Exception {
        var options = new DescribeClusterOptions().includeAuthorizedOperations(true);
        return names(
                Connection.admin(request).describeCluster(options).authorizedOperations().get());
    }

    static Object ofTopic(Driver.Request request) throws Exception {
        String topic = request.text("topic");
        var options = new DescribeTopicsOptions().includeAuthorizedOperations(true);
        var described = Connection.admin(request).describeTopics(List.of(topic), options);
        return names(described.topicNameValues().get(topic).get().authorizedOperations());
    }

    static Object ofGroup(Driver.Request request) throws Exception {
        String group = request.text("group");
        var options = new DescribeConsumerGroupsOptions().includeAuthorizedOperations(true);
        var described = Connection.admin(request).describeConsumerGroups(List.of(group), options);
        return names(described.describedGroups().get(group).get().authorizedOperations());
    }

    private static List<String> names(Set<AclOperation> operations) {
        List<String> names = new ArrayList<>();
        operations.forEach(operation -> names.add(operation.name()));
        return names;
    }
}
