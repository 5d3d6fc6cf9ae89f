import type { DatabaseSync } from 'node:sqlite'
import type { Header } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { Lru } from '../../memory/lru.ts'
import type { HeaderKind, HeaderOrigin } from './row.ts'

const KEPT = 20_000

/** Resolves interned ids to their values, for readers. */
export class InternedNames {
  readonly #kinds = new Map<number, HeaderKind>()
  readonly #origins = new Lru<number, HeaderOrigin>(KEPT)
  readonly #kindById
  readonly #originById

  constructor(db: DatabaseSync) {
    this.#kindById = db.prepare('SELECT type, version, format, media_type, place, min_reader FROM kinds WHERE id = ?')
    this.#originById = db.prepare(
      'SELECT o.*, s.name AS stream_name FROM origins o JOIN streams s ON s.id = o.stream WHERE o.id = ?',
    )
  }

  kind(id: number): HeaderKind {
    let kind = this.#kinds.get(id)
    if (!kind) {
      const row = this.#kindById.get(id) ?? missing('kind', id)
      kind = {
        type: String(row.type),
        version: Number(row.version),
        format: Number(row.format),
        mediaType: String(row.media_type),
        place: String(row.place),
        minReader: row.min_reader as number | null,
      }
      this.#kinds.set(id, kind)
    }
    return kind
  }

  origin(id: number): HeaderOrigin {
    let origin = this.#origins.get(id)
    if (!origin) {
      const row = this.#originById.get(id) ?? missing('origin', id)
      const claimed = row.actor_claimed === 1 && { claimed: true as const }
      origin = {
        stream: String(row.stream_name),
        runId: row.run_id as string | null,
        agentId: row.agent_id as string | null,
        actor: { kind: row.actor_kind as Header['actor']['kind'], id: String(row.actor_id), ...claimed },
        driver: row.driver_id === null ? undefined : { id: String(row.driver_id), epoch: Number(row.driver_epoch) },
        correlationId: row.correlation_id as string | null,
        cipher: row.cipher_alg === null ? null : { alg: String(row.cipher_alg), keyId: String(row.cipher_key) },
        keyId: row.key_id as string | null,
      }
      this.#origins.set(id, origin)
    }
    return origin
  }
}

function missing(what: string, id: number): never {
  throw new LogError('LOG_CORRUPT', `an event names ${what} ${id}, which the log does not have; restore a backup`)
}
