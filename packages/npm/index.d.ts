/** The name of a Kafka operation. */
export type Operation =
  | "All" | "Read" | "Write" | "Create" | "Delete" | "Alter" | "Describe" | "ClusterAction"
  | "DescribeConfigs" | "AlterConfigs" | "IdempotentWrite" | "CreateTokens" | "DescribeTokens"
  | "TwoPhaseCommit";

type Names = string | string[];
type Operations = Operation | Operation[];
type Resource =
  | { topic: Names } | { group: Names } | { cluster: "kafka-cluster" | null } | { user: Names }
  | { "transactional-id": Names } | { "delegation-token": Names };

/** A rule: principals that are allowed or denied operations on one resource. */
export type Acl = { principal: Names; host?: Names; pattern?: "literal" | "prefixed" } & Resource &
  ({ allow: Operations; deny?: undefined } | { deny: Operations; allow?: undefined });

/** What a test breaks: `{ action: { error: "NOT_LEADER_OR_FOLLOWER" }, match: { api: "Produce" } }`. */
export interface Fault {
  /** The effects, which can be combined; docs/guides/faults.md says what each does. */
  action: {
    error?: string | number; delayMs?: number; disconnect?: "before" | "after"; pause?: boolean;
    blackHole?: boolean; throttleTimeMs?: number; truncate?: number; corrupt?: boolean;
    correlationId?: number; size?: number; taggedBytes?: number; set?: Record<string, unknown>;
    apiVersions?: Record<string, [number, number] | null>; revoke?: Acl[]; grant?: Acl[];
    deny?: { operation?: Operation; resource_type?: string; resource_name?: string };
  };
  /** The requests; all that is set must hold. `api` is a name such as `Produce`. */
  match?: {
    api?: string; version?: number; clientId?: string; principal?: string; topic?: string;
    partition?: number; group?: string; transactionalId?: string; nodeId?: number;
  };
  /** One of the first four; default: the first request that matches. */
  trigger?: {
    onCall?: number; times?: number; everyTime?: boolean; withProbability?: number; seed?: number;
  };
}

/** The state and the settings of a broker: the keys of `POST /brokers`. */
export interface BrokerOptions {
  id?: string;
  /** The Kafka release that the broker behaves as; default: the newest. */
  kafkaVersion?: string;
  /** The number of brokers in the cluster; default: 1. */
  brokers?: number;
  firstBrokerId?: number;
  racks?: string[];
  /** Default: PLAINTEXT, where every client may do everything, and SASL_PLAINTEXT. */
  listeners?: string[];
  listenerPrincipals?: Record<string, string>;
  /** Passwords by user. */
  users?: Record<string, string>;
  superUsers?: string[];
  authorizer?: "standard" | "none";
  allowEveryoneIfNoAclFound?: boolean;
  aclPropagationDelay?: number;
  /** Names, or numbers of partitions by name. */
  topics?: string[] | Record<string, number | Record<string, unknown>>;
  acls?: Acl[];
  groups?: Record<string, unknown>;
  clientMetrics?: Record<string, unknown>;
  faults?: Fault[];
  /** Broker settings with Kafka's names. */
  properties?: Record<string, string>;
  clientTelemetry?: boolean;
  seed?: number;
  manualClock?: boolean;
}

/** A denial; `wouldAllow` is the smallest change of the ACLs after which the request would succeed. */
export interface Denial {
  number: number; api: string; principal: string; host: string; operation: string;
  resourceType: string; resourceName: string; because: string; count: number;
  wouldAllow: { remove: Acl[]; add: Acl[]; complete: boolean } | null;
}

export interface Topic {
  name: string; topicId: string; partitions: number; configs: Record<string, string>;
  leaders: number[]; startOffsets: number[]; endOffsets: number[];
}

/** A record; `key` and `value` are null where they are null or not UTF-8. */
export interface StoredRecord {
  partition: number; offset: number; timestampMs: number; key: string | null; value: string | null;
}

export interface ReceivedRequest {
  number: number; api: string; version: number; clientId: string | null; principal: string;
  errorNames: string[]; request: Record<string, unknown> | null;
}

/** A broker of a test's own. */
export class Broker implements AsyncDisposable {
  readonly id: string;
  /** The base path of its control API. */
  readonly path: string;
  /** `host:port,...` by listener: PLAINTEXT, SASL_PLAINTEXT. */
  readonly listeners: Record<string, string>;
  /** The addresses of the first listener, PLAINTEXT. */
  readonly bootstrapServers: string;

  /** Settings of kafkajs for this user; without a user, those of `bootstrapServers`. */
  kafkajs(user?: string): {
    brokers: string[];
    sasl?: { mechanism: "plain"; username: string; password: string };
  };
  /** Settings of librdkafka, such as for @confluentinc/kafka-javascript. */
  librdkafka(user?: string): Record<string, string>;

  /** Create a topic; a number is its number of partitions. */
  createTopic(name: string, options?: number | {
    partitions?: number; configs?: Record<string, string>; replicationFactor?: number;
  }): Promise<void>;
  topics(): Promise<Topic[]>;
  /** Return the newest records of a partition, oldest first. */
  records(topic: string, partition?: number): Promise<StoredRecord[]>;
  addUser(name: string, password: string): Promise<void>;
  addAcls(...acls: (Acl | Acl[])[]): Promise<void>;
  removeAcls(...acls: (Acl | Acl[])[]): Promise<void>;
  /** Add a fault and return its id. */
  addFault(fault: Fault): Promise<number>;
  /** Return how often a fault matched (`calls`) and was applied (`fired`). */
  fault(id: number): Promise<{ id: number; calls: number; fired: number; isDisabled: boolean }>;
  /** Return the denials that Kafka's audit log has, oldest first. */
  denials(): Promise<Denial[]>;
  /** Return the last requests, oldest first. */
  requests(filter?: { api?: string; principal?: string; after?: string }): Promise<ReceivedRequest[]>;
  /** Call the control API of this broker: `request("POST", "/nodes/1/stop")`. */
  request(method: string, path: string, body?: unknown): Promise<any>;
  /** Go back to the state in which the broker was started. */
  reset(): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Start a broker, in milliseconds: all brokers of a process share one kafka-shim process. */
export function start(options?: BrokerOptions): Promise<Broker>;
