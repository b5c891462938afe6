package io.github.kafkashim.tck;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How the ACLs of a case come to the authorizer. */
interface AclStorage {
    /** createAcls of the authorizer. */
    AclStorage OWN = (authorizer, acls) -> {
        if (acls.isEmpty()) {
            return null;
        }
        Object answer = authorizer.answer(new Step(Map.of("create", acls)));
        boolean isStored = answer instanceof List<?> results && results.stream().allMatch("ok"::equals);
        return isStored ? null : "createAcls of valid ACLs returned " + answer + "; " + authorizer.lastError();
    };

    /** Replaces all ACLs; returns what went wrong, or null. */
    String store(StartedAuthorizer authorizer, List<String> acls) throws Exception;

    /** Returns the configuration of the next instance. */
    default Map<String, String> config(Map<String, String> own) throws Exception {
        return own;
    }

    /** createAcls of an authorizer that keeps ACLs in ZooKeeper, in another folder for each case. */
    static AclStorage inZooKeeper(LocalZooKeeper zooKeeper) {
        return new AclStorage() {
            @Override
            public String store(StartedAuthorizer authorizer, List<String> acls) throws Exception {
                return OWN.store(authorizer, acls);
            }

            @Override
            public Map<String, String> config(Map<String, String> own) throws Exception {
                Map<String, String> config = new HashMap<>(own);
                config.put("zookeeper.connect", zooKeeper.emptyFolder());
                return config;
            }
        };
    }

    /** A command that replaces the ACLs by those on its standard input, one JSON object in a line. */
    static AclStorage byCommand(String command) {
        List<String> keys = List.of(
                "permission", "principal", "host", "operation", "resource_type", "pattern_type", "resource_name");
        return (authorizer, acls) -> {
            StringBuilder lines = new StringBuilder();
            for (String acl : acls) {
                Map<String, String> row = new LinkedHashMap<>();
                for (String each : acl.split("\\|", -1)) {
                    row.put(keys.get(row.size()), each);
                }
                lines.append(Json.write(row)).append('\n');
            }
            Process process = new ProcessBuilder("sh", "-c", command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (var input = process.getOutputStream()) {
                input.write(lines.toString().getBytes(StandardCharsets.UTF_8));
            }
            if (process.waitFor() != 0) {
                throw new NotTried("the command for ACLs failed with exit code " + process.exitValue());
            }
            return null;
        };
    }
}
