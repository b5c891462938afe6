package io.github.kafkashim;

import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class, or one test, a parameter of type {@link KafkaShimBroker}. By default each test has a broker
 * of its own.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(AnnotatedBrokers.class)
public @interface KafkaShim {
    /** The Kafka release that the broker behaves as, such as "3.9"; by default the newest. */
    String kafkaVersion() default "";

    /** Users as NAME:PASSWORD, who log in at the listener SASL_PLAINTEXT. */
    String[] users() default {};

    /** Topics as NAME or NAME:PARTITIONS. */
    String[] topics() default {};

    /** ACLs as in a state file: "{principal: User:alice, allow: [Write], topic: orders}". */
    String[] acls() default {};

    /** Faults as in a state file: "{action: {error: NOT_LEADER_OR_FOLLOWER}, match: {api: Produce}}". */
    String[] faults() default {};

    /** Broker settings as KEY=VALUE, with Kafka's names. */
    String[] properties() default {};

    /** Other keys of the body of {@code POST /brokers}, in YAML, such as "brokers: 3". */
    String[] options() default {};

    /** Whether all tests of the class share a broker. */
    boolean perClass() default false;
}
