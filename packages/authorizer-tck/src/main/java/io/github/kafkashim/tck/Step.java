package io.github.kafkashim.tck;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** One step of a case: accesses that are decided, or ACLs that are created, deleted, listed or counted. */
record Step(Map<String, Object> json) {
    private static final List<String> CIRCUMSTANCES = List.of("unlogged", "other_request", "own_class", "token", "threads");

    /** An access of one principal; without a name on any resource of the type. */
    record Access(String principal, String address, String operation, String type, String name) {
        @Override
        public String toString() {
            String resource = name == null ? "any " + type : type + " `" + name + "`";
            return principal + " from " + address + ", " + operation + " on " + resource;
        }
    }

    boolean has(String key) {
        return json.containsKey(key);
    }

    boolean isSet(String key) {
        return Boolean.TRUE.equals(json.get(key));
    }

    boolean hasCircumstance() {
        return CIRCUMSTANCES.stream().anyMatch(this::isSet);
    }

    Step withoutCircumstances() {
        Map<String, Object> plain = new HashMap<>(json);
        plain.keySet().removeAll(CIRCUMSTANCES);
        return new Step(plain);
    }

    List<Step> byPrincipal() {
        return texts("who").stream()
                .map(each -> {
                    Map<String, Object> part = new HashMap<>(json);
                    part.put("who", List.of(each));
                    return new Step(part);
                })
                .toList();
    }

    String text(String key) {
        return (String) json.get(key);
    }

    @SuppressWarnings("unchecked")
    static <T> List<T> list(Object json) {
        return (List<T>) json;
    }

    List<String> texts(String key) {
        return list(json.get(key));
    }

    /** Returns filters: the parts of an ACL, or null for any. */
    List<List<String>> rows(String key) {
        return list(json.get(key));
    }

    /** Returns all combinations, in the order of the answers: by principal, address, operation, name and type. */
    List<Access> accesses() {
        List<Access> accesses = new ArrayList<>();
        for (String principal : texts("who")) {
            for (String address : texts("from")) {
                accesses.addAll(accesses(principal, address));
            }
        }
        return accesses;
    }

    List<Access> accesses(String principal, String address) {
        List<String> names = has("names") ? texts("names") : Collections.singletonList(null);
        List<Access> accesses = new ArrayList<>();
        for (String operation : texts("operations")) {
            for (String name : names) {
                texts("types").forEach(type -> accesses.add(new Access(principal, address, operation, type, name)));
            }
        }
        return accesses;
    }

    /** Returns the answers of Kafka's authorizers in a release: one, or several if they differ. */
    List<Object> expected(String release) {
        return json.get("is") instanceof Map<?, ?> byRelease ? list(byRelease.get(release)) : List.of(json.get("is"));
    }

    /** Returns in words how an answer differs from Kafka's. */
    String difference(Object answer, Object expected) {
        if (has("who")) {
            return accessDifference((String) answer, (String) expected);
        }
        String method = has("create") ? "createAcls" : has("delete") ? "deleteAcls of " + json.get("delete")
                : has("count") ? "aclCount" : "acls of " + json.get("list");
        if (!(answer instanceof List<?> results && expected instanceof List<?> right && results.size() == right.size())) {
            return method + " returned " + answer + ", but Kafka " + expected;
        }
        List<Integer> different = IntStream.range(0, right.size())
                .filter(at -> !results.get(at).equals(right.get(at))).boxed().toList();
        int first = different.get(0);
        String what = has("create") ? " for " + texts("create").get(first) : "";
        return method + " returned " + results.get(first) + what + ", but Kafka " + right.get(first)
                + more(different.size(), right.size());
    }

    private static String more(int different, int all) {
        return different == 1 ? "" : " (and " + (different - 1) + " more of " + all + ")";
    }

    private String accessDifference(String answer, String expected) {
        List<Access> accesses = accesses();
        if (answer.length() != expected.length()) {
            return "authorize returned another number of results than the " + expected.length() + " actions";
        }
        List<Integer> different = new ArrayList<>();
        for (int at = 0; at < expected.length(); at++) {
            if (answer.charAt(at) != expected.charAt(at)) {
                different.add(at);
            }
        }
        int first = different.get(0);
        return accesses.get(first) + ": " + word(answer.charAt(first)) + (hasCircumstance() ? ", but otherwise " : ", but with Kafka ")
                + word(expected.charAt(first)) + more(different.size(), accesses.size());
    }

    private static String word(char answer) {
        return switch (answer) {
            case '1' -> "allowed";
            case '0' -> "denied";
            case 'x' -> "an exception";
            case '~' -> "not always the same result";
            default -> "no result";
        };
    }
}
