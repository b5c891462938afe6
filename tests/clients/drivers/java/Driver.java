import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.protocol.Errors;

/**
 * The driver of Kafka's own Java clients: reads calls and writes answers, one line of JSON each, as
 * driver.py of the tests describes.
 */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A call: address, log-in (null: anonymous) and arguments. */
    record Request(String servers, Login login, JsonNode arguments) {
        String text(String name) {
            JsonNode value = arguments.get(name);
            return value.isNull() ? null : value.asText();
        }

        Map<String, Object> settings() {
            return Connection.settings(servers, login);
        }
    }

    interface Call {
        Object answer(Request request) throws Exception;
    }

    static final Map<String, Call> CALLS = new HashMap<>();

    static {
        CALLS.put("create_topic", Operations::createTopic);
        CALLS.put("delete_topic", Operations::deleteTopic);
        CALLS.put("list_topics", Operations::listTopics);
        CALLS.put("create_acls", Acls::create);
        CALLS.put("list_acls", Acls::list);
        CALLS.put("delete_acls", Acls::delete);
        CALLS.put("cluster_operations", Operations::ofCluster);
        CALLS.put("topic_operations", Operations::ofTopic);
        CALLS.put("group_operations", Operations::ofGroup);
        CALLS.put("produce", Records::produce);
        CALLS.put("produce_transaction", Transactions::produce);
        CALLS.put("consume", Records::consume);
        CALLS.put("transact", Transactions::run);
        CALLS.put("commit_offset", Records::commitOffset);
        CALLS.put("offset_fetch", Records::offsetFetch);
        CALLS.put("share_from_the_start", Shares::readFromTheStart);
        CALLS.put("share_consume", Shares::consume);
        CALLS.put("share_offsets", Shares::offsets);
    }

    public static void main(String[] words) throws Exception {
        PrintStream answers =
                new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // so that other output is not read as an answer
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
        }
        Connection.closeAll();
    }

    private static Map<String, Object> answer(JsonNode asked) {
        Map<String, Object> answer = new LinkedHashMap<>();
        JsonNode login = asked.get("login");
        Request request =
                new Request(
                        asked.get("servers").asText(),
                        login.isNull() ? null : Login.of(login),
                        asked.get("arguments"));
        try {
            answer.put("result", CALLS.get(asked.get("call").asText()).answer(request));
        } catch (Exception error) {
            answer.put("error", failure(error));
        }
        return answer;
    }

    /**
     * Returns the Kafka error code of an exception, null for an error of the client itself. The code
     * may be that of a cause: a failed producer rejects the next record with the first error as cause.
     */
    static Map<String, Object> failure(Throwable error) {
        Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
        while (Errors.forException(cause) == Errors.UNKNOWN_SERVER_ERROR && cause.getCause() != null) {
            cause = cause.getCause();
        }
        Errors known = Errors.forException(cause);
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("code", known == Errors.UNKNOWN_SERVER_ERROR ? null : known.code());
        found.put("name", cause.getClass().getSimpleName());
        found.put("text", String.valueOf(cause.getMessage()));
        return found;
    }
}
