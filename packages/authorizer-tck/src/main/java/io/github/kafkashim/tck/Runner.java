package io.github.kafkashim.tck;

import io.github.kafkashim.tck.Kit.Outcome;
import io.github.kafkashim.tck.Kit.Rule;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs the kit as the command line says; loaded by Main beside the classes of Kafka. */
public final class Runner {
    private static final int USAGE = 2;
    private static final int BROKEN = 3;

    private Runner() {}

    /** Returns the exit code. */
    public static int run(Map<String, List<String>> options) throws Exception {
        if (options.containsKey("--list")) {
            Kit.rules().forEach(each -> System.out.printf("%-20s %s (%s)%n", each.name(), each.text(), each.source()));
            return 0;
        }
        String name = option(options, "--class");
        Class<?> type;
        try {
            type = Class.forName(name, true, Runner.class.getClassLoader());
            Class<?> contract = Class.forName("org.apache.kafka.server.authorizer.Authorizer");
            if (!contract.isAssignableFrom(type)) {
                return usage(name + " does not implement " + contract.getName());
            }
        } catch (ClassNotFoundException | NoClassDefFoundError missing) {
            return usage("the class path lacks " + missing.getMessage().replace('/', '.') + " (--classpath)");
        }
        String release = option(options, "--release");
        if (release != null && !Kit.releases().contains(release)) {
            return usage("unknown release " + release + "; there are rules of " + String.join(", ", Kit.releases()));
        }
        List<String> only = options.getOrDefault("--rule", List.of());
        List<String> names = Kit.rules().stream().map(Rule::name).toList();
        if (!names.containsAll(only)) {
            return usage("unknown rule " + only.stream().filter(each -> !names.contains(each)).findFirst().orElseThrow());
        }
        Map<String, String> config = config(options.getOrDefault("--config", List.of()));
        if (options.containsKey("--with-broker")) {
            return runBroker(name, release == null ? Kit.newestRelease() : release, options);
        }
        try (LocalZooKeeper zooKeeper = options.containsKey("--zookeeper") ? new LocalZooKeeper() : null) {
            Kit kit = new Kit(type, config, release);
            kit.reloadWith(() -> new PluginLoader().loadClass(name));
            if (zooKeeper != null) {
                kit.useStorage(AclStorage.inZooKeeper(zooKeeper));
            } else if (options.containsKey("--acl-command")) {
                kit.useStorage(AclStorage.byCommand(option(options, "--acl-command")));
            }
            return options.containsKey("--record") ? record(kit, options) : report(kit, name, only, options);
        }
    }

    private static int report(Kit kit, String name, List<String> only, Map<String, List<String>> options)
            throws Exception {
        Report report = new Report(name + ", rules of Kafka " + kit.release());
        for (Rule rule : Kit.rules()) {
            if (only.isEmpty() || only.contains(rule.name())) {
                report.add(rule, kit.play(rule));
            }
        }
        System.out.print(report.table());
        write(options, "--json", report.json());
        write(options, "--junit", report.junit());
        return report.count(Outcome.BROKEN) > 0 || report.count(Outcome.HELD) == 0 ? BROKEN : 0;
    }

    /** Runs the vectors of the rules on a real broker with the class, and returns the exit code. */
    private static int runBroker(String name, String release, Map<String, List<String>> options) throws Exception {
        Path clone = Path.of(option(options, "--with-broker")).toAbsolutePath();
        Path vectors;
        try (var found = Files.newDirectoryStream(clone.resolve("vectors"), release + ".*")) {
            vectors = found.iterator().next();
        }
        if (!Files.exists(vectors.resolve("rules.json"))) {
            return usage("no vectors of the rules of " + vectors.getFileName() + "; try --release 4.4");
        }
        List<String> command = new ArrayList<>(List.of(
                clone + "/.venv/bin/python", "-m", "tests.recordings.vectors_on_real_brokers",
                vectors.getFileName().toString(), "--subject", "rules", "--authorizer", name,
                "--classpath", absolute(options.getOrDefault("--classpath", List.of()))));
        options.getOrDefault("--config", List.of()).forEach(each -> command.addAll(List.of("--config", each)));
        return new ProcessBuilder(command).directory(clone.toFile()).inheritIO().start().waitFor();
    }

    private static String absolute(List<String> paths) {
        return Stream.of(String.join(File.pathSeparator, paths).split(File.pathSeparator))
                .map(each -> new File(each).getAbsolutePath())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static int record(Kit kit, Map<String, List<String>> options) throws Exception {
        write(options, "--record", Json.write(kit.record()));
        return 0;
    }

    private static void write(Map<String, List<String>> options, String option, String content) throws Exception {
        if (options.containsKey(option)) {
            Files.writeString(Path.of(option(options, option)), content);
        }
    }

    private static String option(Map<String, List<String>> options, String name) {
        List<String> values = options.get(name);
        return values == null ? null : values.get(values.size() - 1);
    }

    private static Map<String, String> config(List<String> settings) {
        Map<String, String> config = new LinkedHashMap<>();
        settings.forEach(each -> config.put(each.split("=", 2)[0], each.contains("=") ? each.split("=", 2)[1] : ""));
        return config;
    }

    private static int usage(String error) {
        System.err.println("error: " + error);
        return USAGE;
    }
}
