package outside;

import org.apache.kafka.common.security.auth.AuthenticationContext;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder;

/** Maps all clients of the harness's own listener to one principal, a super user. */
public class OutsidePrincipals extends DefaultKafkaPrincipalBuilder {
    static final KafkaPrincipal PRINCIPAL = new KafkaPrincipal(KafkaPrincipal.USER_TYPE, "outside");

    public OutsidePrincipals() {
        super(null, null);
    }

    @Override
    public KafkaPrincipal build(AuthenticationContext context) {
        return PRINCIPAL;
    }
}
