import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.common.security.authenticator.CredentialCache;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.scram.internals.*;
import org.apache.kafka.common.security.token.delegation.internals.DelegationTokenCache;

/** Prints which nonces in the final message Kafka's SCRAM server accepts; the proofs are valid. */
public class ScramNonces {
    private static final String CLIENT_NONCE = "clientnonce";

    public static void main(String[] arguments) throws Exception {
        for (String kind : arguments) {
            System.out.println(kind + " " + accepts(kind));
        }
    }

    private static boolean accepts(String kind) throws Exception {
        ScramMechanism mechanism = ScramMechanism.SCRAM_SHA_256;
        ScramFormatter formatter = new ScramFormatter(mechanism);
        var credentials = new CredentialCache()
            .createCache(mechanism.mechanismName(), ScramCredential.class);
        credentials.put("alice", formatter.generateCredential("right", 4096));
        ScramServerCallbackHandler handler = new ScramServerCallbackHandler(
            credentials, new DelegationTokenCache(ScramMechanism.mechanismNames()));
        handler.configure(new HashMap<>(), mechanism.mechanismName(), new ArrayList<>());
        ScramSaslServer server = new ScramSaslServer(mechanism, new HashMap<>(), handler);
        var begin = new ScramMessages.ClientFirstMessage("alice", CLIENT_NONCE, new HashMap<>());
        var first = new ScramMessages.ServerFirstMessage(server.evaluateResponse(begin.toBytes()));
        byte[] header = "n,,".getBytes(StandardCharsets.UTF_8);
        var end = new ScramMessages.ClientFinalMessage(header, nonce(kind, first.nonce()));
        byte[] salted = formatter.saltedPassword("right", first.salt(), first.iterations());
        end.proof(formatter.clientProof(salted, begin, first, end));
        try {
            server.evaluateResponse(end.toBytes());
            return server.isComplete();
        } catch (javax.security.sasl.SaslException rejected) {
            return false;
        }
    }

    private static String nonce(String kind, String whole) {
        switch (kind) {
            case "whole": return whole;
            case "client-twice": return CLIENT_NONCE + whole;
            case "server-only": return whole.substring(CLIENT_NONCE.length());
            case "client-only": return CLIENT_NONCE;
            case "longer": return whole + "x";
            case "cut-off": return whole.substring(0, whole.length() - 1);
            default: throw new IllegalArgumentException(kind);
        }
    }
}
