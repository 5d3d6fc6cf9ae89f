import { z } from 'zod'
import { AGGREGATES } from '../../../domain/kinds.ts'

/** A type of event of a kind of stream, in its current version. */
export interface EventType {
  readonly kind: string
  readonly type: string
  readonly version: number
}

/** Every type of event that this program writes, sorted by kind and type. */
export function eventTypes(): EventType[] {
  const all = [...AGGREGATES.values()].flatMap(({ kind, versions }) =>
    Object.entries(versions).map(([type, version]) => ({ kind, type, version })),
  )
  const name = ({ kind, type }: EventType) => `${kind} ${type}`
  return all.sort((a, b) => (name(a) < name(b) ? -1 : 1))
}

/**
 * The JSON Schema (2020-12) of the body of a type of event. Null: this program does not write this type in this version.
 * The schema of a version never changes.
 */
export function eventSchema({ kind, type, version }: EventType): Readonly<Record<string, unknown>> | null {
  const aggregate = AGGREGATES.get(kind)
  const body = aggregate?.versions[type] === version ? aggregate.bodies[type] : undefined
  if (body === undefined) return null
  const { $schema, ...schema } = z.toJSONSchema(body, { io: 'output', unrepresentable: 'any' })
  return { $schema, $id: `urn:keepup:event:${kind}:${type}:${version}`, title: `${kind} ${type}`, ...schema }
}
