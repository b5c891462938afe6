import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/**
 * Reads lines of base64: mapping rules, a tab, the names separated by tabs. Prints for each line "!" if the
 * rules are invalid, otherwise the mapped names in base64, "-" where no rule applies.
 */
public class PrincipalRules {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split("\t", -1);
            StringJoiner mapped = new StringJoiner("\t");
            try {
                SslPrincipalMapper mapper = SslPrincipalMapper.fromRules(decoded(parts[0]));
                for (int at = 1; at < parts.length; at++) {
                    mapped.add(mapped(mapper, decoded(parts[at])));
                }
                System.out.println(mapped);
            } catch (IllegalArgumentException | StackOverflowError invalid) {
                System.out.println("!");
            }
        }
    }

    private static String mapped(SslPrincipalMapper mapper, String name) {
        try {
            byte[] text = mapper.getName(name).getBytes(StandardCharsets.UTF_8);
            return "=" + Base64.getEncoder().encodeToString(text);
        } catch (IOException | RuntimeException none) {
            return "-";
        }
    }

    private static String decoded(String text) {
        return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
    }
}
