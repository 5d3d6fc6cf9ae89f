import type { DatabaseSync } from 'node:sqlite'
import type { Header } from '../../../domain/log/envelope.ts'
import { Lru } from '../../memory/lru.ts'

const KEPT = 20_000

/** The writer's state of a stream. Before the first event, `id` is null and `revision` -1. */
export interface StreamHead {
  id: number | null
  revision: number
  hash: string | null
  at: number
  /** Origin key → id. */
  readonly origins: Map<string, number>
}

/**
 * The interned constants and stream heads, for the only writer. They are valid while no transaction is rolled back;
 * call {@link forget} after a rollback.
 */
export class Interned {
  readonly #kinds = new Map<string, number>()
  readonly #heads = new Lru<string, StreamHead>(KEPT)
  readonly #sql

  constructor(db: DatabaseSync) {
    this.#sql = {
      stream: db.prepare('SELECT id FROM streams WHERE name = ?'),
      addStream: db.prepare('INSERT INTO streams(name) VALUES (?)'),
      head: db.prepare(
        'SELECT revision, at, lower(hex(substr(proof, 1, 32))) AS hash FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1',
      ),
      kinds: db.prepare('SELECT * FROM kinds'),
      addKind: db.prepare(
        'INSERT INTO kinds(type, version, format, media_type, place, min_reader) VALUES (?, ?, ?, ?, ?, ?)',
      ),
      origins: db.prepare('SELECT * FROM origins WHERE stream = ?'),
      addOrigin: db.prepare(
        'INSERT INTO origins(stream, run_id, agent_id, actor_kind, actor_id, actor_claimed, driver_id, driver_epoch, ' +
          'correlation_id, cipher_alg, cipher_key, key_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ),
    }
  }

  forget(): void {
    this.#kinds.clear()
    this.#heads.clear()
  }

  head(name: string): StreamHead {
    let head = this.#heads.get(name)
    if (!head) {
      head = this.#load(name)
      this.#heads.set(name, head)
    }
    return head
  }

  #load(name: string): StreamHead {
    const id = this.#sql.stream.get(name)?.id
    if (typeof id !== 'number') return { id: null, revision: -1, hash: null, at: 0, origins: new Map() }
    const last = this.#sql.head.get(id)
    const origins = new Map<string, number>()
    for (const o of this.#sql.origins.all(id)) {
      const key = [o.run_id, o.agent_id, o.actor_kind, o.actor_id, o.actor_claimed, o.driver_id, o.driver_epoch]
      origins.set(JSON.stringify([...key, o.correlation_id, o.cipher_alg, o.cipher_key, o.key_id]), Number(o.id))
    }
    return {
      id,
      revision: Number(last?.revision ?? -1),
      hash: last ? String(last.hash) : null,
      at: Number(last?.at ?? 0),
      origins,
    }
  }

  /** The id of a stream. Adds the stream if it has none. */
  stream(name: string, head: StreamHead): number {
    head.id ??= Number(this.#sql.addStream.run(name).lastInsertRowid)
    return head.id
  }

  kind(h: Header): number {
    if (this.#kinds.size === 0)
      for (const k of this.#sql.kinds.all())
        this.#kinds.set(
          JSON.stringify([k.type, k.version, k.format, k.media_type, k.place, k.min_reader]),
          Number(k.id),
        )
    const values = [h.type, h.version, h.format, h.body.mediaType, h.body.place, h.minReader ?? null]
    return intern(this.#kinds, JSON.stringify(values), () => this.#sql.addKind.run(...values))
  }

  origin(h: Header, stream: number, head: StreamHead): number {
    const { actor, driver, body } = h
    const values = [
      h.runId ?? null,
      h.agentId ?? null,
      actor.kind,
      actor.id,
      actor.claimed ? 1 : 0,
      driver?.id ?? null,
      driver?.epoch ?? null,
      h.correlationId ?? null,
      body.cipher?.alg ?? null,
      body.cipher?.keyId ?? null,
      h.keyId ?? null,
    ]
    return intern(head.origins, JSON.stringify(values), () => this.#sql.addOrigin.run(stream, ...values))
  }
}

function intern(map: Map<string, number>, key: string, add: () => { lastInsertRowid: number | bigint }): number {
  const known = map.get(key)
  if (known !== undefined) return known
  const id = Number(add().lastInsertRowid)
  map.set(key, id)
  return id
}
