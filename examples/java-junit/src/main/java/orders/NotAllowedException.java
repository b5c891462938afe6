package orders;

/** The service lacks permission; an operator has to act, a retry does not help. */
public final class NotAllowedException extends Exception {
    private static final long serialVersionUID = 1L;

    NotAllowedException(String message, Throwable cause) {
        super(message, cause);
    }
}
