package io.github.kafkashim.tck;

/** A case that cannot be tried with the tested class; the message has the reason. */
final class NotTried extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotTried(String reason) {
        super(reason);
    }
}
