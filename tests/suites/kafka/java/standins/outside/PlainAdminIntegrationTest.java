package outside;

import java.util.Properties;
import kafka.api.SaslSslAdminIntegrationTest;
import kafka.security.JaasTestUtils;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The tests of SaslSslAdminIntegrationTest with PLAIN instead of Kerberos. */
public class PlainAdminIntegrationTest extends SaslSslAdminIntegrationTest {
    private static final String MECHANISM = "PLAIN";
    private static final Seq<String> MECHANISMS = CollectionConverters.asScala(java.util.List.of(MECHANISM)).toSeq();

    @Override
    public KafkaPrincipal kafkaPrincipal() {
        return new KafkaPrincipal(KafkaPrincipal.USER_TYPE, JaasTestUtils.KAFKA_PLAIN_ADMIN);
    }

    @Override
    public void setUpSasl() {
        startSasl(jaasSections(MECHANISMS, new Some<>(MECHANISM), jaasSections$default$3()));
        superuserClientConfig().put("sasl.jaas.config", jaasAdminLoginModule(MECHANISM, Option.empty()));
    }

    @Override
    public Option<Properties> serverSaslProperties() {
        return new Some<>(kafkaServerSaslProperties(MECHANISMS, MECHANISM));
    }

    @Override
    public Option<Properties> clientSaslProperties() {
        return new Some<>(kafkaClientSaslProperties(MECHANISM, false));
    }
}
