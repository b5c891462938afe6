import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Prints the error codes whose exceptions Kafka's Java client treats as retriable. */
public final class Retriable {
    private Retriable() { }

    public static void main(String[] none) {
        for (Errors error : Errors.values()) {
            if (error.exception() instanceof RetriableException) {
                System.out.println(error);
            }
        }
    }
}
