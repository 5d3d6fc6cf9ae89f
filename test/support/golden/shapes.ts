import { z } from 'zod'
import * as access from '../../../domain/access/events.ts'
import { agentBodies, agentVersions } from '../../../domain/agent/events/events.ts'
import * as annotation from '../../../domain/annotation/events.ts'
import * as document from '../../../domain/document/stream/events.ts'
import * as external from '../../../domain/external/events.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import { Header } from '../../../domain/log/envelope.ts'
import { LogCreated } from '../../../domain/log/identity.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { LogLoss } from '../../../domain/log/loss/loss.ts'
import * as memory from '../../../domain/memory/events.ts'
import * as proof from '../../../domain/proof/events.ts'
import * as store from '../../../domain/store/events.ts'
import { erasureEvents } from '../../../domain/stream/erasure.ts'
import * as threads from '../../../domain/thread/events.ts'

interface Checked {
  readonly _zod: { readonly def: { readonly checks?: readonly { _zod: { def: { check: string } } }[] } }
}

/** JSON Schema cannot represent a refinement, so include the number of refinements. */
const refined = ({ zodSchema, jsonSchema }: { zodSchema: object; jsonSchema: object }) => {
  const checks = (zodSchema as Checked)._zod.def.checks ?? []
  const custom = checks.filter(({ _zod }) => _zod.def.check === 'custom').length
  if (custom > 0) Object.assign(jsonSchema, { 'x-refinements': custom })
}

const OF_SPECS = ['secrets.[].host', 'secrets.[].command', 'tools.[].sendsTo', 'policy.approvers']

/**
 * Optional members that types have gained since their shape was recorded; older stored events still match. Each is a
 * path of members; `[]` means the items of an array, `[0]` the first item of a tuple, `{}` the members of a record.
 */
const GAINED: Readonly<Record<string, readonly string[]>> = {
  'agent_started@1': OF_SPECS.map((member) => `spec.${member}`),
  'external_started@1': [...OF_SPECS.map((member) => `tools.spec.${member}`), 'hosting', 'continues'],
  'agent_events@1': ['events.[].continues'],
  'external.usage_reported@1': ['models'],
  'tool_call_requested@1': ['calls.[0].secrets.[].to'],
  'model_call_end@1': ['calls.[].secrets.[].to'],
  'approval_requested@1': ['approvers'],
  'approval_supported@1': ['lapsed'],
  'log.log_loss_accepted@1': ['kept'],
  'access.access_begun@1': ['version'],
  'access.principals_linked@1': ['reason'],
  'access.principals_unlinked@1': ['reason'],
  'access.roles_changed@1': ['version'],
}

interface Schema {
  properties?: Record<string, Schema>
  items?: Schema
  prefixItems?: Schema[]
  additionalProperties?: Schema
  required?: string[]
  $defs?: Record<string, Schema>
}

/** Removes a member from a schema. Throws if the member does not exist or is not optional. */
function withoutMember(schema: Schema, path: string): void {
  const steps = path.split('.')
  const last = steps.pop()!
  let at: Schema | undefined = schema
  for (const step of steps)
    at =
      step === '[]'
        ? at?.items
        : step === '[0]'
          ? at?.prefixItems?.[0]
          : step === '{}'
            ? at?.additionalProperties
            : at?.properties?.[step]
  if (at?.properties?.[last] === undefined || at.required?.includes(last))
    throw new Error(`${path} is no optional member; a shape may gain nothing else`)
  delete at.properties[last]
}

/** Removes definitions that only a removed member referred to. */
function dropUnnamed(schema: Schema): void {
  const { $defs = {}, ...rest } = schema
  for (const name of Object.keys($defs)) {
    const { [name]: _, ...others } = $defs
    if (!JSON.stringify([rest, others]).includes(`"#/$defs/${name}"`)) delete $defs[name]
  }
}

/** The shape of every stored type without gained members: a hash of its JSON Schema, under `type@version`. */
export function shapes(): Record<string, string> {
  return { 'header@1': shapeOf(Header), ...shapesOf(agentBodies, agentVersions) }
}

/** The shapes of external runs' events. */
export const externalShapes = (): Record<string, string> =>
  shapesOf(external.externalBodies, external.externalVersions, 'external')

const inVersion1 = (kind: string, types: Readonly<Record<string, z.ZodType>>) =>
  Object.fromEntries(
    Object.entries(types).map(([type, schema]) => {
      const name = `${kind}.${type}@1`
      return [name, shapeOf(schema, GAINED[name])]
    }),
  )

/** The shapes of the events of all other streams, under `kind.type@version`. */
export function otherShapes(): Record<string, string> {
  const documents = Object.entries(shapesOf(document.documentBodies, document.documentVersions))
  return {
    ...Object.fromEntries(documents.map(([name, hash]) => [`document.${name}`, hash])),
    ...inVersion1('memory', { ...memory.memoryBodies, ...erasureEvents }),
    ...inVersion1('context', { ...store.storeBodies, ...erasureEvents }),
    ...inVersion1('proof', { ...proof.proofBodies, ...erasureEvents }),
    ...inVersion1('access', { ...access.accessBodies, ...erasureEvents }),
    ...inVersion1('annotation', { ...annotation.annotationBodies, ...erasureEvents }),
    ...inVersion1('thread', { ...threads.threadBodies, ...erasureEvents }),
    ...inVersion1('log', { log_created: LogCreated, log_loss_accepted: LogLoss }),
  }
}

/** `kind`: of a type that has the name of a type of agents. */
function shapesOf<T extends string>(
  types: Readonly<Record<T, z.ZodType>>,
  versions: Readonly<Record<T, number>>,
  kind = 'agent',
) {
  const names = (Object.keys(types) as T[]).sort().map((type) => [`${type}@${versions[type]}`, types[type]] as const)
  return Object.fromEntries(
    names.map(([name, type]) => [name, shapeOf(type, GAINED[`${kind}.${name}`] ?? GAINED[name])]),
  )
}

function shapeOf(type: z.ZodType, gained: readonly string[] = []): string {
  const json = z.toJSONSchema(type, { io: 'output', unrepresentable: 'any', override: refined }) as Schema
  for (const path of gained) withoutMember(json, path)
  if (gained.length > 0) dropUnnamed(json)
  return sha256(canonicalBytes(json))
}
