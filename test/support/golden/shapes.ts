import { z } from 'zod'
import { bodies, type EventType, versions } from '../../../domain/agent/events/events.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import { Header } from '../../../domain/log/envelope.ts'
import { sha256 } from '../../../domain/log/ids.ts'

interface Checked {
  readonly _zod: { readonly def: { readonly checks?: readonly { _zod: { def: { check: string } } }[] } }
}

/** JSON Schema cannot say what a refinement asks for; it says how many there are. */
const refined = ({ zodSchema, jsonSchema }: { zodSchema: object; jsonSchema: object }) => {
  const checks = (zodSchema as Checked)._zod.def.checks ?? []
  const custom = checks.filter(({ _zod }) => _zod.def.check === 'custom').length
  if (custom > 0) Object.assign(jsonSchema, { 'x-refinements': custom })
}

/** The shape of every stored type: a hash of its JSON Schema, under `type@version`. */
export function shapes(): Record<string, string> {
  const schema = (type: z.ZodType) =>
    sha256(canonicalBytes(z.toJSONSchema(type, { io: 'output', unrepresentable: 'any', override: refined })))
  const found: Record<string, string> = { 'header@1': schema(Header) }
  for (const type of Object.keys(bodies).sort() as EventType[])
    found[`${type}@${versions[type]}`] = schema(bodies[type])
  return found
}
