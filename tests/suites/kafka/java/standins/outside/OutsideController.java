package outside;

import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.controller.Controller;
import org.apache.kafka.controller.ResultOrError;

/** The few methods of a controller that an admin client can implement. */
public final class OutsideController {
    private OutsideController() { }

    public static Controller of(Cluster cluster) {
        return (Controller) Proxy.newProxyInstance(
            Controller.class.getClassLoader(), new Class<?>[] {Controller.class}, (proxy, method, given) ->
                switch (method.getName()) {
                    case "isActive" -> true;
                    case "waitForReadyBrokers" -> ready(cluster);
                    case "findAllTopicIds" -> CompletableFuture.completedFuture(ids(cluster));
                    case "findTopicIds" -> CompletableFuture.completedFuture(found(cluster, (Collection<?>) given[1]));
                    default -> throw new Inside("Controller." + method.getName());
                });
    }

    private static CompletableFuture<Void> ready(Cluster cluster) {
        cluster.settle();
        return CompletableFuture.completedFuture(null);
    }

    private static Map<String, Uuid> ids(Cluster cluster) {
        return new OutsideMetadata(cluster, 0).topicNamesToIds();
    }

    private static Map<String, ResultOrError<Uuid>> found(Cluster cluster, Collection<?> names) {
        Map<String, Uuid> ids = ids(cluster);
        Map<String, ResultOrError<Uuid>> found = new HashMap<>();
        for (Object name : names)
            found.put((String) name, ids.containsKey(name)
                ? ResultOrError.of(ids.get(name))
                : new ResultOrError<>(Errors.UNKNOWN_TOPIC_OR_PARTITION, "no such topic"));
        return found;
    }
}
