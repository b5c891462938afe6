import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.AclCommand;
import org.apache.kafka.tools.consumer.ConsoleConsumer;
import org.apache.kafka.tools.consumer.ConsoleShareConsumer;

/** Runs Kafka's tools as their scripts do, but in this JVM; returns exit code and output. */
final class KafkaTools {
    private KafkaTools() {}

    /** The main class of a script. */
    private interface Tool {
        void main(String[] words) throws Exception;
    }


    /** Thrown in place of ending the JVM. */
    private static final class Ended extends Error {
        private static final long serialVersionUID = 1L;
        private final int code;

        Ended(int code) {
            this.code = code;
        }
    }

    static Object acls(Driver.Request request) throws Exception {
        return run(request, AclCommand::main);
    }

    static Object consoleConsumer(Driver.Request request) throws Exception {
        return run(request, ConsoleConsumer::main);
    }

    static Object consoleShareConsumer(Driver.Request request) throws Exception {
        return run(request, ConsoleShareConsumer::main);
    }

    private static Object run(Driver.Request request, Tool tool) throws Exception {
        List<String> words = new ArrayList<>(List.of("--bootstrap-server", request.servers()));
        if (request.login() != null) {
            words.addAll(List.of("--command-config", settingsFile(request.login()).toString()));
        }
        for (JsonNode word : request.arguments().get("arguments")) {
            words.add(word.asText());
        }
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream catcher = new PrintStream(printed, true, StandardCharsets.UTF_8);
        System.setOut(catcher);
        System.setErr(catcher);
        Exit.setExitProcedure((code, message) -> { throw new Ended(code); });
        int code = 0;
        try {
            tool.main(words.toArray(new String[0]));
        } catch (Ended ended) {
            code = ended.code;
        } finally {
            Exit.resetExitProcedure();
            System.setOut(out);
            System.setErr(err);
        }
        return List.of(code, printed.toString(StandardCharsets.UTF_8));
    }

    private static Path settingsFile(Login login) throws Exception {
        Path file = Files.createTempFile("kafka-tools", ".properties");
        file.toFile().deleteOnExit();
        StringBuilder lines = new StringBuilder();
        login.settings().forEach((key, value) -> lines.append(key + "=" + value + "\n"));
        return Files.writeString(file, lines);
    }
}
