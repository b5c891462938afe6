package io.github.kafkashim.tck;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Plays the cases of rules with a class, and compares its answers with those of Kafka's own authorizers. */
final class Kit {
    private static final int SECONDS = 30;
    private static final int SECONDS_AFTER_ANOTHER = 2;
    private static final int ROUNDS = 300;

    /** A rule with its cases, as in the file of rules. */
    record Rule(String name, String text, String source, List<Map<String, Object>> cases) {}

    /** What came out of a case; `text` says what is wrong, or why it was not tried. */
    record CaseResult(String title, Outcome outcome, String text) {}

    enum Outcome {
        HELD,
        BROKEN,
        NOT_TRIED
    }

    private Class<?> type;
    private Callable<Class<?>> reloaded;
    private final Map<String, String> config;
    private final String release;
    private AclStorage storage = AclStorage.OWN;
    private boolean hasStarted;
    private int seconds = SECONDS;

    Kit(Class<?> type, Map<String, String> config, String release) {
        this.type = type;
        this.config = config;
        this.release = release == null ? newestRelease() : release;
    }

    void useStorage(AclStorage other) {
        storage = other;
    }

    /** Loads the class again, in a class loader of its own, whenever an instance does not start. */
    void reloadWith(Callable<Class<?>> other) {
        reloaded = other;
    }

    String release() {
        return release;
    }

    static List<Rule> rules() {
        Map<String, Rule> rules = new LinkedHashMap<>();
        Map<String, Object> file = file();
        for (Map<String, Object> each : Step.<Map<String, Object>>list(file.get("rules"))) {
            String name = (String) each.get("name");
            rules.put(name, new Rule(name, (String) each.get("text"), (String) each.get("source"), new ArrayList<>()));
        }
        Step.<Map<String, Object>>list(file.get("cases")).forEach(each -> rules.get(each.get("rule")).cases().add(each));
        return List.copyOf(rules.values());
    }

    static List<String> releases() {
        return Step.list(file().get("releases"));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> file() {
        try (InputStream file = Kit.class.getResourceAsStream("rules.json")) {
            return (Map<String, Object>) Json.read(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Returns the newest recorded release that is not newer than kafka-clients. */
    static String newestRelease() {
        Properties kafka = new Properties();
        try (InputStream file = Kit.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            kafka.load(file);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        int version = number(kafka.getProperty("version"));
        List<String> older = releases().stream().filter(each -> number(each) <= version).toList();
        return older.isEmpty() ? releases().get(0) : older.get(older.size() - 1);
    }

    private static int number(String version) {
        String[] parts = version.split("[^0-9]+");
        return Integer.parseInt(parts[0]) * 1000 + Integer.parseInt(parts[1]);
    }

    /** Returns the results of a rule's cases that exist in the release. */
    List<CaseResult> play(Rule rule) {
        List<CaseResult> results = new ArrayList<>();
        for (Map<String, Object> each : rule.cases()) {
            if (isInRelease(each)) {
                results.add(play(each));
            }
        }
        return results;
    }

    private boolean isInRelease(Map<String, Object> played) {
        return !played.containsKey("releases") || Step.list(played.get("releases")).contains(release);
    }

    private CaseResult play(Map<String, Object> played) {
        String title = (String) played.get("case");
        try {
            String difference = within(() -> difference(played));
            return new CaseResult(title, difference == null ? Outcome.HELD : Outcome.BROKEN, difference);
        } catch (NotTried reason) {
            return new CaseResult(title, Outcome.NOT_TRIED, reason.getMessage());
        } catch (TimeoutException error) {
            int waited = seconds;
            seconds = SECONDS_AFTER_ANOTHER; // or a mistake that many cases meet would take hours
            return new CaseResult(title, Outcome.BROKEN, "no answer within " + waited + " s");
        } catch (Exception error) {
            Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
            return new CaseResult(title, Outcome.BROKEN, "exception: " + cause);
        }
    }

    /** Returns the result of a call in another thread, since an authorizer can wait for ever. */
    private <T> T within(Callable<T> call) throws Exception {
        FutureTask<T> task = new FutureTask<>(call);
        Thread thread = new Thread(task, "case");
        thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(seconds, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception error ? error : failed;
        } finally {
            task.cancel(true);
        }
    }

    /** Returns the first difference from Kafka's answers, or null. */
    private String difference(Map<String, Object> played) throws Exception {
        try (StartedAuthorizer authorizer = start(played)) {
            String rejected = storage.store(authorizer, Step.list(played.get("acls")));
            if (rejected != null) {
                return rejected;
            }
            for (Step step : steps(played)) {
                // a circumstance that does not count is judged by the answer without it
                List<Object> expected = step.hasCircumstance()
                        ? List.of(authorizer.answer(step.withoutCircumstances()))
                        : step.expected(release);
                if (expected.isEmpty()) {
                    throw new NotTried("Kafka's authorizers of this release do not answer either");
                }
                Object answer = step.isSet("threads") ? answerInThreads(authorizer, step) : authorizer.answer(step);
                if (!expected.contains(answer)) {
                    String error = authorizer.lastError().isEmpty() ? "" : "; " + authorizer.lastError();
                    return step.difference(answer, expected.get(0)) + error;
                }
            }
            return null;
        }
    }

    /** Returns the answer to a step while a thread for each principal asks again and again. */
    private static String answerInThreads(StartedAuthorizer authorizer, Step step) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            StringBuilder answer = new StringBuilder();
            List<Callable<String>> calls = new ArrayList<>();
            step.byPrincipal().forEach(each -> calls.add(() -> repeatedAnswer(authorizer, each)));
            for (Future<String> each : threads.invokeAll(calls)) {
                answer.append(each.get());
            }
            return answer.toString();
        } finally {
            threads.shutdownNow();
        }
    }

    /** Returns the answer to a step, with `~` where it was not always the same. */
    private static String repeatedAnswer(StartedAuthorizer authorizer, Step step) throws Exception {
        StringBuilder answer = new StringBuilder((String) authorizer.answer(step));
        for (int round = 0; round < ROUNDS; round++) {
            String again = (String) authorizer.answer(step);
            for (int at = 0; at < answer.length(); at++) {
                if (again.charAt(at) != answer.charAt(at)) {
                    answer.setCharAt(at, '~');
                }
            }
        }
        return answer.toString();
    }

    /** Returns the answers to all steps of all cases, for the file of rules; the first is null if its ACLs were stored. */
    List<List<Object>> record() throws Exception {
        List<List<Object>> answers = new ArrayList<>();
        for (Map<String, Object> played : Step.<Map<String, Object>>list(file().get("cases"))) {
            List<Object> row = new ArrayList<>();
            try (StartedAuthorizer authorizer = start(played)) {
                row.add(storage.store(authorizer, Step.list(played.get("acls"))));
                for (Step step : steps(played)) {
                    row.add(recorded(authorizer, step));
                }
            } catch (Exception error) {
                row.add(0, error.toString());
            }
            answers.add(row);
        }
        return answers;
    }

    private static Object recorded(StartedAuthorizer authorizer, Step step) throws Exception {
        try {
            return authorizer.answer(step);
        } catch (NotTried reason) {
            return null;
        }
    }

    @SuppressWarnings("unchecked")
    private StartedAuthorizer start(Map<String, Object> played) throws Exception {
        Map<String, String> ofCase = (Map<String, String>) played.getOrDefault("config", Map.of());
        StartedAuthorizer authorizer;
        try {
            authorizer = startWith(ofCase);
        } catch (Exception error) {
            if (hasStarted && !ofCase.isEmpty()) {
                throw new IllegalStateException("the class does not start with " + ofCase + ": " + error, error);
            }
            throw new NotTried("the class does not start: " + error);
        }
        hasStarted = true;
        return authorizer;
    }

    private StartedAuthorizer startWith(Map<String, String> ofCase) throws Exception {
        try {
            return new StartedAuthorizer(type, StartedAuthorizer.config(storage.config(config), ofCase));
        } catch (Exception error) {
            if (reloaded == null) {
                throw error;
            }
        }
        type = reloaded.call(); // some classes can be configured only once
        return new StartedAuthorizer(type, StartedAuthorizer.config(storage.config(config), ofCase));
    }

    private static List<Step> steps(Map<String, Object> played) {
        return Step.<Map<String, Object>>list(played.get("steps")).stream().map(Step::new).toList();
    }
}
