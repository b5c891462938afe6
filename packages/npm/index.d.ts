import type { ApiName, ErrorName, Operation } from "./kafka-names.js";

export type { ApiName, ErrorName, Operation };

type Names = string | string[];
type Operations = Operation | Operation[];
type Resource =
  | { topic: Names } | { group: Names } | { cluster: "kafka-cluster" | null } | { user: Names }
  | { "transactional-id": Names } | { "delegation-token": Names };

/** A resource as text, such as `topic:orders`. */
export type ResourceName =
  | `${"topic" | "group" | "user" | "transactional-id" | "delegation-token"}:${string}` | "cluster";

/** A rule: principals that are allowed or denied operations on one resource. */
export type Acl = { principal: Names; host?: Names; pattern?: "literal" | "prefixed" } & Resource &
  ({ allow: Operations; deny?: undefined } | { deny: Operations; allow?: undefined });

/** What a test breaks: `{ action: { error: "NOT_LEADER_OR_FOLLOWER" }, match: { api: "Produce" } }`. */
export interface Fault {
  /** The effects, which can be combined; docs/guides/faults.md says what each does. */
  action: {
    error?: ErrorName | number; delayMs?: number; disconnect?: "before" | "after"; pause?: boolean;
    blackHole?: boolean; throttleTimeMs?: number; truncate?: number; corrupt?: boolean;
    correlationId?: number; size?: number; taggedBytes?: number; set?: Record<string, unknown>;
    apiVersions?: Partial<Record<ApiName, [number, number] | null>>; revoke?: Acl[]; grant?: Acl[];
    deny?: { operation?: Operation; resourceType?: string; resourceName?: string };
  };
  /** The requests; all that is set must hold. `api` is a name such as `Produce`. */
  match?: {
    api?: ApiName; version?: number; clientId?: string; principal?: string; topic?: string;
    partition?: number; group?: string; transactionalId?: string; nodeId?: number;
  };
  /** One of the first four; default: the first request that matches. */
  trigger?: {
    onCall?: number; times?: number; everyTime?: boolean; withProbability?: number; seed?: number;
  };
  /** An error if it never fires when the broker stops; by default a warning. */
  mustFire?: boolean;
}

/** The state and the settings of a broker: the keys of `POST /brokers`. */
export interface BrokerOptions {
  /** Name of the cluster in paths, such as /brokers/{id} (default: b1, b2 and so on). */
  id?: string;
  /** Kafka release to emulate, from 0.11 to the newest (default). */
  kafkaVersion?: string;
  /** Names of topics, or partitions by name, or by name `{"partitions": 3, "configs": {...}}`. */
  topics?: string[] | Record<string, number | Record<string, unknown>>;
  /** Number of brokers (default: 1). */
  brokers?: number;
  /** Id of the first broker; further brokers have the next ids (default: node.id, else 1). */
  firstBrokerId?: number;
  /** One rack for each broker, or one rack for all brokers. */
  racks?: string[];
  /** Accept client metrics (KIP-714). */
  clientTelemetry?: boolean;
  /** Seed of the random numbers: generated ids are the same in each run. */
  seed?: number;
  /** Broker settings by Kafka's names. */
  properties?: Record<string, string>;
  /** Authorizer. standard: ACLs decide, as in Kafka (default). none: everything is allowed.
   * MODULE:CLASS: your own class decides. */
  authorizer?: string;
  /** Principals that are allowed everything, regardless of ACLs. */
  superUsers?: string[];
  /** Allow everybody to use resources without any ACL. */
  allowEveryoneIfNoAclFound?: boolean;
  /** Passwords by name of users, who can authenticate with any enabled SASL mechanism. */
  users?: Record<string, string>;
  /** Initial ACLs, as in a state file. */
  acls?: Acl[];
  /** Apply ACL changes on each broker after a random delay of up to this number of
   * milliseconds. */
  aclPropagationDelay?: number;
  /** Addresses to listen on, as NAME://HOST:PORT; port 0 is any free port. Default: PLAINTEXT,
   * without authentication, and SASL_PLAINTEXT, where users authenticate. */
  listeners?: string[];
  /** Principals of unauthenticated clients, by name of the listener. */
  listenerPrincipals?: Record<string, string>;
  /** Freeze the clock; only POST /clock/advance moves it. */
  manualClock?: boolean;
  /** Committed offsets by group, topic and partition, as in a state file. */
  groups?: Record<string, unknown>;
  /** Settings of subscriptions of client metrics by name, as in a state file. */
  clientMetrics?: Record<string, unknown>;
  /** Faults from the start, as in a state file. */
  faults?: Fault[];
}

/** A denial; `wouldAllow` is the smallest change of the ACLs after which the request would succeed. */
export interface Denial {
  number: number; api: ApiName; principal: string; host: string; operation: string;
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
  number: number; api: ApiName; version: number; clientId: string | null; principal: string;
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
  /** Return the denials that Kafka's audit log has, oldest first; equal ones once, with their `count`. */
  denials(): Promise<Denial[]>;
  /** Throw unless the principal was denied this: `assertDenied("alice", "Write", "topic:orders")`. */
  assertDenied(principal: string, operation: Operation, resource: ResourceName): Promise<void>;
  /** Return denials and refused authentications as text, with what would allow each. */
  report(): Promise<string>;
  /** Return the last requests, oldest first. */
  requests(filter?: { api?: ApiName; principal?: string; after?: string }): Promise<ReceivedRequest[]>;
  /** Call the control API of this broker: `request("POST", "/nodes/1/stop")`. */
  request(method: string, path: string, body?: unknown): Promise<any>;
  /** Go back to the state in which the broker was started. */
  reset(): Promise<void>;
  /** Stop the broker. Print the report if this test, a context of node:test or Vitest, has failed. */
  stop(test?: object): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Start a broker, in milliseconds: all brokers of a process share one kafka-shim process. */
export function start(options?: BrokerOptions): Promise<Broker>;
