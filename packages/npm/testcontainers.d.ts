import { AbstractStartedContainer, GenericContainer } from "testcontainers";
import { Broker, BrokerOptions } from "kafka-shim";

/** A running container; its broker is that of `start`, but for `stop`, which the container has. */
export class StartedKafkaShimContainer extends AbstractStartedContainer {
  readonly broker: Broker;
  getBootstrapServers(): string;
}

/** The image with a broker, whose control API has a token of its own. */
export class KafkaShimContainer extends GenericContainer {
  constructor(image?: string);
  /** Set the options of `start`, such as users, topics and ACLs. */
  withOptions(options: BrokerOptions): this;
  start(): Promise<StartedKafkaShimContainer>;
}
