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

/** kafka-acls as its script calls it, in this JVM: its exit code and what it prints. */
final class KafkaAcls {
    private KafkaAcls() {}

    /** Thrown where the tool would end the JVM. */
    private static final class Ended extends Error {
        private static final long serialVersionUID = 1L;
        private final int code;

        Ended(int code) {
            this.code = code;
        }
    }

    static Object run(Driver.Request request) throws Exception {
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
            AclCommand.main(words.toArray(new String[0]));
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
        Path file = Files.createTempFile("kafka-acls", ".properties");
        file.toFile().deleteOnExit();
        StringBuilder lines = new StringBuilder();
        login.settings().forEach((key, value) -> lines.append(key + "=" + value + "\n"));
        return Files.writeString(file, lines);
    }
}
