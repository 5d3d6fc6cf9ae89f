import grpc from '@grpc/grpc-js'
import { batchAppend } from './append-service.ts'
import { gossipRead, supportedMethods } from './cluster-services.ts'
import { Gate } from './gate.ts'
import { Groups, persistentServices } from './persistent-service.ts'
import { features, gossip, persistent, streams } from './protocol.ts'
import { read } from './read-service.ts'
import { append, deleteStream, tombstone } from './single-services.ts'
import { Store } from './store.ts'
import { type Member, type Served, Switches } from './switches.ts'

/**
 * A stand-in for an EventStoreDB 23.10 node: serves its protocol from memory and can fail like real nodes. Its content
 * survives {@link kill} and {@link start}.
 */
export class StandIn implements Served {
  store: Store
  readonly switches = new Switches()
  readonly asked = { features: 0, gossips: 0, appends: 0, wrong: 0, subscriptions: 0, sent: 0, from: 0 }
  readonly #server = new grpc.Server({ 'grpc.max_receive_message_length': 16 * 1024 * 1024 })
  readonly #gate: Gate
  readonly #groups = new Groups()
  readonly #members: ((self: StandIn) => readonly Member[]) | null
  #inner = 0
  alive = false

  /** `members`: the members of its cluster; null: a single node. */
  constructor(store = new Store(), members: ((self: StandIn) => readonly Member[]) | null = null) {
    this.store = store
    this.#members = members
    this.#gate = new Gate(() => this.#inner)
    this.#server.addService(streams.StreamsService, {
      read: read(this),
      append: append(this),
      batchAppend: batchAppend(this),
      delete: deleteStream(this),
      tombstone: tombstone(this),
    })
    this.#server.addService(persistent.PersistentSubscriptionsService, persistentServices(this, this.#groups))
    this.#server.addService(features.ServerFeaturesService, { getSupportedMethods: supportedMethods(this) })
    this.#server.addService(gossip.GossipService, { read: gossipRead(this) })
  }

  /** Listens on its previous port or on `port`. */
  async start(port = this.port): Promise<this> {
    if (this.#inner === 0) this.#inner = await bind(this.#server)
    await this.#gate.open(port)
    this.alive = true
    return this
  }

  get port(): number {
    return this.#gate.port
  }

  /** The number of connections so far. */
  get accepted(): number {
    return this.#gate.accepted
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#gate.standing
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`
  }

  members(): readonly Member[] {
    return this.#members?.(this) ?? [{ port: this.port, state: 'leader', alive: true }]
  }

  isLeader(): boolean {
    return this.members().some(({ port, state }) => port === this.port && state === 'leader')
  }

  /** Acts like a stopped process: connections stay open, nothing answers. */
  freeze(): void {
    this.#gate.freeze()
  }

  thaw(): void {
    this.#gate.thaw()
  }

  /** Cuts all connections and accepts new ones. */
  drop(): void {
    this.#gate.drop()
  }

  /** Acts like a killed process. {@link start} restarts it with its stored content. */
  async kill(): Promise<void> {
    this.alive = false
    await this.#gate.shut()
    this.store.restarted()
    this.#groups.restarted()
  }

  /** Replaces the database, like a restored backup. */
  restore(store: Store): void {
    this.store = store
  }

  /** Stops it permanently. */
  async stop(): Promise<void> {
    await this.kill()
    this.#groups.end()
    this.#server.forceShutdown()
  }
}

function bind(server: grpc.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error)
      else resolve(port)
    })
  })
}
