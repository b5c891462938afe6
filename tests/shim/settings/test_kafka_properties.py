import pytest

from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.kafka_properties import (
    TranslatedSettings,
    describes_whole_broker,
    misspelt_variables_with_corrections,
    settings_in_environment,
    translate_settings,
    unknown_setting_names,
)

JAAS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required"
    ' username="admin" password="x" user_admin="admin-secret" user_alice="alice-secret";'
)


def translated(**settings: str) -> TranslatedSettings:
    found = {key.replace("_", "."): value for key, value in settings.items()}
    return translate_settings(found, found, "here")


def test_environment_variables_are_spelled_as_for_container_images() -> None:
    assert settings_in_environment(
        {
            "KAFKA_SUPER_USERS": "User:a",
            "KAFKA_LISTENER_NAME_SASL__PLAINTEXT_PLAIN_SASL_JAAS_CONFIG": JAAS,
            "KAFKA_CFG_NUM_PARTITIONS": "3",
            "KAFKA_NUM_PARTITIONS": "2",
            "KAFKA_LISTENER_NAME_A___B_SSL_CLIENT_AUTH": "required",
            "CLUSTER_ID": "abc",
        }
    ) == {
        "super.users": "User:a",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": JAAS,
        "num.partitions": "3",
        "listener.name.a-b.ssl.client.auth": "required",
        "cluster.id": "abc",
    }


def test_variables_that_are_not_settings_are_ignored() -> None:
    others = ("HEAP_OPTS", "OPTS", "VERSION", "HOME", "BOOTSTRAP_SERVERS", "LOG4J_LOGGERS", "URI")
    assert (
        settings_in_environment({f"KAFKA_{name}": "x" for name in others} | {"PATH": "/bin"}) == {}
    )


@pytest.mark.parametrize(
    ("mistake", "right"),
    [
        ("KAFKA_NUM_PARTITONS", "KAFKA_NUM_PARTITIONS"),
        ("KAFKA_CFG_NUM_PARTITION", "KAFKA_CFG_NUM_PARTITIONS"),
        ("KAFKA_AUTO_CREATE_TOPIC_ENABLE", "KAFKA_AUTO_CREATE_TOPICS_ENABLE"),
        ("KAFKA_SUPER_USER", "KAFKA_SUPER_USERS"),
    ],
)
def test_mistyped_variables_are_named(mistake: str, right: str) -> None:
    assert list(misspelt_variables_with_corrections({mistake: "3", right: "1"})) == [
        (mistake, right)
    ]


def test_known_variables_of_images_are_not_reported() -> None:
    """Variables of Apache's, Confluent's and Bitnami's images, and of Kubernetes services."""
    names = """
        HEAP_OPTS JVM_PERFORMANCE_OPTS GC_LOG_OPTS LOG4J_OPTS OPTS JMX_OPTS JMX_PORT
        JMX_HOSTNAME DEBUG LOG4J_ROOT_LOGLEVEL LOG4J_LOGGERS TOOLS_LOG4J_LOGLEVEL
        SSL_KEYSTORE_FILENAME VERSION HOME USER SSL_KEYSTORE_CREDENTIALS SSL_KEY_CREDENTIALS
        SSL_TRUSTSTORE_FILENAME SSL_TRUSTSTORE_CREDENTIALS KRAFT_CLUSTER_ID CLIENT_USERS
        CLIENT_PASSWORDS INTER_BROKER_USER INTER_BROKER_PASSWORD BASE_DIR CONTROLLER_USER
        CONTROLLER_PASSWORD ZOOKEEPER_PROTOCOL ZOOKEEPER_USER CERTIFICATE_PASSWORD URI TLS_TYPE
        TLS_CLIENT_AUTH EXTRA_FLAGS INITIAL_SCRAM_USERS VOLUME_DIR DAEMON_USER CREATE_TOPICS
        SERVICE_HOST SERVICE_PORT PORT_9092_TCP PORT_9092_TCP_ADDR BOOTSTRAP_SERVERS
        SHIM_CONTROL_URL CONNECT_BOOTSTRAP_SERVERS REST_URL SCHEMA_REGISTRY_URL TOPIC GROUP_ID
        CLIENT_ID BROKERS ZOOKEEPER_TLS_KEYSTORE_PASSWORD SHIM_READY_FILE
        LISTENER_NAME_A_SSL_KEYSTORE_LOCATIO
    """
    assert (
        list(misspelt_variables_with_corrections({f"KAFKA_{name}": "x" for name in names.split()}))
        == []
    )


def test_users_of_bitnamis_variables_are_read() -> None:
    found = settings_in_environment(
        {"KAFKA_CLIENT_USERS": "a, b", "KAFKA_CLIENT_PASSWORDS": 'x"\\y,z', "KAFKA_OPTS": ""}
    )
    assert translate_settings(found, found, "here").config_fields["users"] == {
        "a": 'x"\\y',
        "b": "z",
    }
    with pytest.raises(ConfigError, match="differ in length"):
        settings_in_environment({"KAFKA_CLIENT_USERS": "a,b", "KAFKA_CLIENT_PASSWORDS": "x"})


def test_listeners_can_have_any_name() -> None:
    found = translated(
        listeners="OUTSIDE://:9092, inside://[::1]:9093,CONTROLLER://:9094",
        listener_security_protocol_map="OUTSIDE:SASL_SSL,INSIDE:plaintext,CONTROLLER:PLAINTEXT",
        controller_listener_names="CONTROLLER",
    )
    assert found.config_fields["listeners"] == (
        ListenerConfig("OUTSIDE", SecurityProtocol.SASL_SSL, "0.0.0.0", 9092),
        ListenerConfig("INSIDE", SecurityProtocol.PLAINTEXT, "::1", 9093),
    )
    assert set(found.other_settings) == {"controller.listener.names"}


def test_the_name_of_a_listener_may_be_its_protocol() -> None:
    (listener,) = translated(listeners="SASL_PLAINTEXT://127.0.0.1:0").config_fields["listeners"]
    assert listener.protocol is SecurityProtocol.SASL_PLAINTEXT


def test_settings_of_the_authorizer_and_users_are_translated() -> None:
    found = translated(
        authorizer_class_name="kafka.security.authorizer.AclAuthorizer",
        super_users="User:admin; User:CN=ops,O=x",
        allow_everyone_if_no_acl_found="True",
        listener_name_outside_plain_sasl_jaas_config=JAAS,
        cluster_id="abc",
        num_partitions="3",
    )
    assert found.config_fields == {
        "authorizer": "kafka.security.authorizer.AclAuthorizer",
        "super_users": ("User:CN=ops,O=x", "User:admin"),
        "allow_everyone_if_no_acl_found": True,
        "listener_users": {"OUTSIDE": {"admin": "admin-secret", "alice": "alice-secret"}},
        "cluster_id": "abc",
    }
    assert found.other_settings == {"num.partitions": "3"}


def test_an_empty_authorizer_class_disables_the_authorizer() -> None:
    assert translated(authorizer_class_name="").config_fields == {"authorizer": "none"}


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"listeners": "9092"}, "listener `9092`: expected NAME://HOST:PORT"),
        (
            {"listeners": "EXTERNAL://:9092"},
            "listener.security.protocol.map=EXTERNAL:SASL_PLAINTEXT",
        ),
        ({"super.users": "admin"}, "super user `admin`"),
        ({"allow.everyone.if.no.acl.found": "yes"}, "expected true or false"),
        ({"sasl.jaas.config": "user_a=b"}, "sasl.jaas.config: expected"),
    ],
)
def test_errors_are_reported(settings: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=f"^here: .*{complaint}"):
        translate_settings(settings, settings, "here")


def test_unknown_settings_are_listed_separately() -> None:
    known = {"process.roles": "", "log.dirs": "", "super.users": "", "zookeeper.connect": ""}
    free = {"listener.name.x.ssl.client.auth": "", "shim.tls.directory": ""}
    assert unknown_setting_names(known | free | {"my.setting": "", "a": ""}) == ["a", "my.setting"]


def test_listeners_or_a_broker_id_describe_a_broker() -> None:
    assert describes_whole_broker({"listeners": ""})
    assert describes_whole_broker({"broker.id": ""})
    assert not describes_whole_broker({"num.partitions": "", "super.users": ""})
