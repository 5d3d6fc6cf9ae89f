import { access, KEEPING_ID, RIGHTS_ID } from '../../../../domain/access/kind.ts'
import { allRolesOf, otherIdsOf } from '../../../../domain/access/state.ts'
import { AGGREGATES } from '../../../../domain/kinds.ts'
import { ownHistory } from '../../../../domain/stream/runtime/history.ts'
import { entries } from '../../../../domain/stream/table.ts'
import { sumsOfUses } from '../../../../projections/index.ts'
import { holdViews, retentionView } from '../../keeping/holds.ts'
import type { Services } from '../../services.ts'
import { keyStateOf } from '../principals.ts'
import type { LogReport } from './schemas.ts'

interface Span {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Who has which rights now, every change and failed use in a span, and how far back texts are kept. */
export async function reportOfLog(s: Services, span: Span): Promise<LogReport> {
  const [state, keeping] = [await s.access.state(), await s.keeping.state()]
  const { value } = await s.read.rows(async (db) => ({
    failed: await sumsOfUses(db, 'login_failed', span),
    refused: await sumsOfUses(db, 'request_refused', span),
    used: await sumsOfUses(db, 'key_used', {}),
  }))
  const lastUse = new Map(value.used.map(({ key, last }) => [key, last]))
  const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1)
  const principals = state === null ? [] : entries(state.principals).sort(byId)
  const keys = state === null ? [] : entries(state.keys).sort(byId)
  return {
    access: { on: state !== null, separation: state?.separation ?? false },
    principals: principals.map((one) => ({
      ...{ id: one.id, kind: one.kind, name: one.name, removed: one.removed },
      roles: allRolesOf(one),
      linked: otherIdsOf(state!, one.id),
    })),
    keys: keys.map((key) => ({
      ...{ id: key.id, principal: key.principal, expiresAt: key.expiresAt },
      ...{ state: keyStateOf(state!, key, s.clock.now()), lastUse: lastUse.get(key.id) ?? null },
    })),
    changes: (await Promise.all([RIGHTS_ID, KEEPING_ID].map((id) => changesIn(s, `${access.kind}-${id}`, span))))
      .flat()
      .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    ...{ failed: value.failed, refused: value.refused },
    keptSince: await keptSince(s),
    ...{ holds: holdViews(keeping, false), retention: retentionView(keeping) },
  }
}

async function changesIn(s: Services, stream: string, { since = '', until }: Span): Promise<LogReport['changes']> {
  const found: LogReport['changes'][number][] = []
  for await (const page of ownHistory(s, access, stream, 0, Number.POSITIVE_INFINITY))
    for (const { event, recorded } of page) {
      const { timestamp: at, actor, revision, type } = recorded.header
      if (at < since || (until !== undefined && at >= until)) continue
      if (event.type === 'residue' || event.type === 'erased') continue
      // The hash of a key is no news for a reader.
      const { hash: _, ...change } = event.body as { readonly hash?: string }
      found.push({ at, by: `${actor.kind}:${actor.id}`, stream, revision, type, change })
    }
  return found
}

/** By kind of stream, the oldest event with a text that is not erased. Kinds without one are left out. */
async function keptSince(s: Pick<Services, 'log'>): Promise<LogReport['keptSince']> {
  const found: LogReport['keptSince'][number][] = []
  for (const [kind, { erasing }] of AGGREGATES) {
    const oldest = await oldestOf(s, kind, (type) => erasing.says(type))
    if (oldest !== null) found.push({ kind, ...oldest })
  }
  return found
}

/** Streams come in order of creation, so a stream that begins after the oldest event found ends the search. */
async function oldestOf({ log }: Pick<Services, 'log'>, kind: string, says: (type: string) => boolean) {
  let oldest: { readonly stream: string; readonly revision: number; readonly at: string } | null = null
  for await (const names of log.streams(`${kind}-`))
    for (const stream of names) {
      look: for await (const page of log.read(stream, { bodies: false }))
        for (const { header, erased } of page) {
          const { revision, timestamp: at, type } = header
          if (oldest !== null && at >= oldest.at) {
            if (revision === 0) return oldest
            break look
          }
          if (erased || !says(type)) continue
          oldest = { stream, revision, at }
          break look
        }
    }
  return oldest
}
