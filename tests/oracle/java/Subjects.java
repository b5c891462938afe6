import java.io.*;
import java.nio.charset.StandardCharsets;
import java.security.cert.*;
import java.util.*;

/** Prints, for each DER certificate in base64, its subject in base64, or "-" if Java rejects it. */
public class Subjects {
    public static void main(String[] arguments) throws Exception {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            byte[] der = Base64.getDecoder().decode(line);
            String text = "-";
            try {
                X509Certificate certificate =
                    (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der));
                byte[] name = certificate.getSubjectX500Principal().getName()
                    .getBytes(StandardCharsets.UTF_8);
                text = "=" + Base64.getEncoder().encodeToString(name);
            } catch (CertificateException rejected) {
                // the line says so
            }
            System.out.println(text);
        }
    }
}
