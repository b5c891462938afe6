package outside;

import com.typesafe.scalalogging.Logger;
import org.slf4j.LoggerFactory;

/** The logging trait of Kafka's servers. */
public class Log implements kafka.utils.Logging {
    private static final Logger LOGGER = Logger.apply(LoggerFactory.getLogger("outside"));
    private String ident = "";

    @Override
    public Logger logger() {
        return LOGGER;
    }

    @Override
    public String logIdent() {
        return ident;
    }

    @Override
    public void logIdent_$eq(String ident) {
        this.ident = ident;
    }
}
