package outside;

/** Thrown for state that clients cannot observe; a test that needs such state cannot run. */
public final class Inside extends UnsupportedOperationException {
    public Inside(String part) {
        super("inside of the broker: " + part);
    }
}
