import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;

/** Writes Double.toString of each number on the input, whose bits are in hexadecimal. */
public final class Doubles {
    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        PrintStream output = new PrintStream(System.out, false);
        String line;
        while ((line = input.readLine()) != null) {
            output.println(Double.longBitsToDouble(Long.parseUnsignedLong(line, 16)));
        }
        output.flush();
    }
}
