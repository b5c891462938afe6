package outside;

/** What cannot be known from outside: a test that asks for it cannot be run. */
public final class Inside extends UnsupportedOperationException {
    public Inside(String part) {
        super("inside of the broker: " + part);
    }
}
