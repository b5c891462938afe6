// Prints what the Kafka on the class path defines: its settings and features, as lines of JSON.
// Kafka's classes moved and changed between releases, so everything is found by reflection.

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

public class Facts {
    private static final int SAID_MAX = 100;
    private static final String[] BROKER = {
        "kafka.server.KafkaConfig$.configDef", "kafka.server.KafkaConfig$.kafka$server$KafkaConfig$$configDef",
        "org.apache.kafka.server.config.AbstractKafkaConfig.CONFIG_DEF"};
    private static final String[] TOPIC = {
        "kafka.log.LogConfig$.configDef", "kafka.log.LogConfig$.kafka$log$LogConfig$$configDef",
        "org.apache.kafka.storage.internals.log.LogConfig.CONFIG"};
    private static final String[] GROUP = {
        "kafka.coordinator.group.GroupConfig$.configDef", "org.apache.kafka.coordinator.group.GroupConfig.CONFIG_DEF",
        "org.apache.kafka.coordinator.group.GroupConfig.CONFIG"};
    private static final String[] CLIENT_METRICS = {
        "org.apache.kafka.server.metrics.ClientMetricsConfigs.CONFIG"};
    private static final String[] SYNONYMS = {
        "org.apache.kafka.server.config.ServerTopicConfigSynonyms.TOPIC_CONFIG_SYNONYMS",
        "org.apache.kafka.storage.internals.log.LogConfig.TOPIC_CONFIG_SYNONYMS",
        "kafka.log.LogConfig$.TopicConfigSynonyms"};
    private static final String[] DYNAMIC = {
        "org.apache.kafka.server.config.DynamicBrokerConfig.ALL_DYNAMIC_CONFIGS",
        "kafka.server.DynamicBrokerConfig$.AllDynamicConfigs"};

    public static void main(String[] arguments) throws Exception {
        Object dynamic = first(DYNAMIC);
        print("broker", first(BROKER), dynamic == null ? List.of() : names(dynamic));
        print("topic", first(TOPIC), List.of());
        print("group", first(GROUP), List.of());
        print("client_metrics", first(CLIENT_METRICS), List.of());
        features();
        System.exit(0);  // of some releases threads go on
    }

    private static void print(String kind, Object definitions, Collection<?> dynamic) throws Exception {
        if (definitions == null) return;
        Class<?> base = Class.forName("org.apache.kafka.common.config.ConfigDef");
        Field keysOf = base.getDeclaredField("configKeys");
        keysOf.setAccessible(true);
        Object none = base.getField("NO_DEFAULT_VALUE").get(null);
        Map<?, ?> keys = (Map<?, ?>) keysOf.get(definitions);
        for (Map.Entry<?, ?> entry : new TreeMap<>(keys).entrySet()) {
            Object key = entry.getValue();
            Object type = field(key, "type");
            Object value = field(key, "defaultValue");
            List<String> pairs = new ArrayList<>();
            pairs.add(pair("kind", kind));
            pairs.add(pair("name", entry.getKey()));
            pairs.add(pair("type", type.toString().toLowerCase()));
            if (value == none) pairs.add("\"required\": true");
            else if (value != null) pairs.add(pair("default", text(value)));
            Object valid = field(key, "validator");
            if (valid != null) pairs.add(pair("valid", validator(valid)));
            Object synonym = kind.equals("group") ? groupSynonym(entry.getKey())
                : kind.equals("topic") ? topicSynonym(definitions, entry.getKey()) : null;
            if (synonym != null) pairs.add(pair("broker", synonym));
            if (dynamic.contains(entry.getKey())) pairs.add("\"dynamic\": true");
            if (Boolean.TRUE.equals(field(key, "internalConfig"))) pairs.add("\"internal\": true");
            System.out.println("{" + String.join(", ", pairs) + "}");
        }
    }

    /** The setting of brokers that a topic's setting defaults to. */
    private static Object topicSynonym(Object definitions, Object name) throws Exception {
        Object synonyms = first(SYNONYMS);
        if (synonyms instanceof Map) return ((Map<?, ?>) synonyms).get(name);
        Object found = synonyms == null  // before KIP-226
            ? definitions.getClass().getMethod("serverConfigName", String.class).invoke(definitions, name)
            : synonyms.getClass().getMethod("get", Object.class).invoke(synonyms, name);
        return call(found, "isDefined").equals(true) ? call(found, "get") : null;
    }

    /** The setting of brokers that a group's setting defaults to. */
    private static Object groupSynonym(Object name) throws Exception {
        try {
            Class<?> owner = Class.forName("org.apache.kafka.coordinator.group.GroupConfig");
            return ((Optional<?>) owner.getMethod("brokerSynonym", String.class).invoke(null, name)).orElse(null);
        } catch (ClassNotFoundException | NoSuchMethodException e) { return null; }
    }

    /** What a validator says of itself, or its class: some say nothing, some list every release. */
    private static String validator(Object valid) throws Exception {
        String said = valid.toString();
        String name = valid.getClass().getName();
        if (said.startsWith(name) || said.length() > SAID_MAX)
            return name.substring(name.lastIndexOf('.') + 1).replaceAll("\\$$", "");
        for (Field field : valid.getClass().getDeclaredFields())
            if (field.getName().equals("isEmptyAllowed")) {  // lists since 4.2, which do not say that
                field.setAccessible(true);
                said += field.getBoolean(valid) ? " distinct" : " distinct, not empty";
            }
        return said.trim();
    }

    private static String text(Object value) {
        if (value instanceof Class) return ((Class<?>) value).getName();
        if (value instanceof Collection) {
            List<String> parts = new ArrayList<>();
            for (Object part : (Collection<?>) value) parts.add(text(part));
            return String.join(",", parts);
        }
        return value.toString();
    }

    private static void features() throws Exception {
        Object all = null;
        for (String name : new String[] {"org.apache.kafka.server.BrokerFeatures", "kafka.server.BrokerFeatures"})
            try {
                Class<?> features = Class.forName(name);
                for (Method method : features.getMethods())
                    if (method.getName().equals("createDefault") && method.getParameterCount() == 0)
                        all = method.invoke(null);
                    else if (method.getName().equals("createDefault") && method.getParameterCount() == 1)
                        all = method.invoke(null, false);
            } catch (ClassNotFoundException e) { /* another release's */ }
        if (all == null) return;
        Map<?, ?> ranges = (Map<?, ?>) call(call(all, "supportedFeatures"), "features");
        for (Map.Entry<?, ?> entry : ranges.entrySet())
            System.out.println("{" + pair("kind", "feature") + ", " + pair("name", entry.getKey())
                + ", \"min\": " + call(entry.getValue(), "min") + ", \"max\": " + call(entry.getValue(), "max")
                + ", \"level\": " + level(entry.getKey()) + "}");
    }

    /** The level of a feature in a cluster formatted for a static quorum, without naming a level. */
    private static Object level(Object name) throws Exception {
        Class<?> versions = Class.forName("org.apache.kafka.server.common.MetadataVersion");
        Object newest;
        try { newest = versions.getMethod("latestProduction").invoke(null); }
        catch (NoSuchMethodException e) { newest = versions.getMethod("latest").invoke(null); }
        if (name.equals("kraft.version")) return 0;
        if (name.equals("metadata.version")) return call(newest, "featureLevel");
        Class<?> features;
        try { features = Class.forName("org.apache.kafka.server.common.Feature"); }
        catch (ClassNotFoundException e) { features = Class.forName("org.apache.kafka.server.common.Features"); }
        for (Object feature : features.getEnumConstants())
            if (call(feature, "featureName").equals(name)) {
                for (String method : new String[] {"defaultLevel", "defaultValue"})
                    try { return features.getMethod(method, versions).invoke(feature, newest); }
                    catch (NoSuchMethodException e) { /* another release's */ }
            }
        throw new IllegalStateException("no level of " + name);
    }

    /** The first of these fields (package.Class.field) that there is; of a Scala object its own. */
    private static Object first(String... paths) throws Exception {
        for (String path : paths)
            try {
                int at = path.lastIndexOf('.');
                Class<?> owner = Class.forName(path.substring(0, at));
                Field field = owner.getDeclaredField(path.substring(at + 1));
                field.setAccessible(true);
                Object object = path.contains("$.") ? owner.getField("MODULE$").get(null) : null;
                Object found = field.get(object);
                if (found != null) return found;
            } catch (ClassNotFoundException | NoSuchFieldException e) { /* another release's */ }
        return null;
    }

    private static List<String> names(Object set) throws Exception {
        if (set instanceof Collection) {
            List<String> found = new ArrayList<>();
            for (Object name : (Collection<?>) set) found.add(name.toString());
            return found;
        }
        Method mkString = set.getClass().getMethod("mkString", String.class);
        return List.of(((String) mkString.invoke(set, "\n")).split("\n"));
    }

    private static Object field(Object object, String name) throws Exception {
        try { return object.getClass().getField(name).get(object); }
        catch (NoSuchFieldException e) { return null; }
    }

    private static Object call(Object object, String name) throws Exception {
        Method method = object.getClass().getMethod(name);
        method.setAccessible(true);
        return method.invoke(object);
    }

    private static String pair(String key, Object value) {
        String said = value.toString().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
        return "\"" + key + "\": \"" + said + "\"";
    }
}
