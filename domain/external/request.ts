import { z } from 'zod'
import { echo, firstIssue } from '../log/issues.ts'
import { checkCapabilities } from './capabilities.ts'
import { AgentError } from './errors.ts'
import { CORE_EXTENSIONS, type Extensions } from './extensions.ts'

/** The longest time limit in ms: the maximum of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

const noNul = (value: string) => !value.includes('\0')
const Name = z.string().regex(/^[^=\0]+$/, 'a name without "=" and NUL is expected')

const Request = z.strictObject({
  prompt: z.string().refine(noNul, 'may not hold a NUL character'),
  workingDir: z.string().startsWith('/', 'an absolute path is expected').refine(noNul, 'no path').optional(),
  timeoutMs: z.int().positive().max(MAX_TIMEOUT_MS).optional(),
  env: z.record(Name, z.string().refine(noNul, 'may not hold a NUL character')).optional(),
  extensions: z.record(z.string(), z.json()).optional(),
})

/** A request for a run (seed 002). `timeoutMs`: ms; absent: the request sets no limit. */
export interface AgentRunRequest {
  readonly prompt: string
  readonly workingDir?: string
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string>>
  readonly extensions?: Extensions
}

/** The facts about a backend that validation needs. */
export interface Advertised {
  readonly kind: string
  readonly capabilities: readonly string[]
  /** The backend's own extensions (`backend.<kind>.*`), with the types of their values. */
  readonly extensions?: Readonly<Record<string, z.ZodType>>
  /** Describes a contradiction in a request; null: no contradiction. */
  contradiction?(request: AgentRunRequest): string | null
}

/**
 * Validates a request. The order of checks is a contract: prompt not blank, unknown keys (the error names the
 * lexicographically smallest), value types, contradictions. Throws AgentError `InvalidRequest`, or
 * `UnsupportedCapability` for an extension that the backend does not advertise. No error repeats a value.
 */
export function checkRequest(asked: unknown, backend: Advertised): AgentRunRequest {
  if (!isObject(asked)) throw invalid('the request is not an object')
  if (typeof asked.prompt !== 'string' || asked.prompt.trim() === '')
    throw invalid('prompt: may not be blank; say what the agent is to do')
  checkKeys(asked, backend)
  const parsed = Request.safeParse(asked)
  if (!parsed.success) throw invalid(firstIssue(parsed.error, 'request'))
  const extensions = checkValues(parsed.data.extensions, backend)
  // Drops undefined members.
  const request = JSON.parse(JSON.stringify({ ...parsed.data, extensions })) as AgentRunRequest
  const wrong = contradictionOf(request) ?? backend.contradiction?.(request) ?? null
  if (wrong !== null) throw invalid(wrong)
  return request
}

function checkKeys(asked: Record<string, unknown>, backend: Advertised): void {
  const unknown = smallest(Object.keys(asked).filter((key) => !Object.hasOwn(Request.shape, key)))
  if (unknown !== undefined) throw invalid(`unknown key ${named(unknown)}; leave it out`)
  if (!isObject(asked.extensions)) return
  const types = extensionTypes(backend)
  const refused = smallest(Object.keys(asked.extensions).filter((id) => !types.has(id)))
  if (refused === undefined) return
  throw new AgentError(
    'UnsupportedCapability',
    `${backend.kind} does not advertise the extension ${named(refused)}; leave it out, or choose another backend`,
  )
}

function checkValues(given: Record<string, unknown> | undefined, backend: Advertised): Extensions | undefined {
  if (given === undefined) return undefined
  const types = extensionTypes(backend)
  const checked = Object.keys(given)
    .sort()
    .map((id) => {
      const parsed = types.get(id)!.safeParse(given[id])
      if (!parsed.success) throw invalid(`extension ${named(id)}: ${firstIssue(parsed.error, '')}`)
      return [id, parsed.data] as const
    })
  return Object.fromEntries(checked) as Extensions
}

/** The extensions that a backend advertises, with the types of their values. */
function extensionTypes({ capabilities, extensions = {} }: Advertised): Map<string, z.ZodType> {
  const all: Readonly<Record<string, z.ZodType>> = { ...CORE_EXTENSIONS, ...extensions }
  return new Map(capabilities.flatMap((id) => (Object.hasOwn(all, id) ? [[id, all[id]!] as const] : [])))
}

/** Throws if a backend advertises a foreign id, or has an extension that it does not advertise. */
export function checkAdvertised({ kind, capabilities, extensions = {} }: Advertised): void {
  checkCapabilities(kind, [...capabilities, ...Object.keys(extensions)])
  const hidden = smallest(Object.keys(extensions).filter((id) => !capabilities.includes(id)))
  if (hidden === undefined) return
  throw new AgentError('UnsupportedCapability', `${kind} has the extension ${named(hidden)} and does not advertise it`)
}

function contradictionOf({ extensions = {} }: AgentRunRequest): string | null {
  if (extensions['agent_api.session.resume.v1'] && extensions['agent_api.session.fork.v1'])
    return 'agent_api.session.resume.v1 and agent_api.session.fork.v1 exclude each other; give one of them'
  const interactive = extensions['agent_api.exec.non_interactive'] === false
  if (interactive && extensions['agent_api.exec.external_sandbox.v1'] === true)
    return 'agent_api.exec.external_sandbox.v1 needs agent_api.exec.non_interactive; do not set that to false'
  return null
}

const smallest = (keys: string[]): string | undefined => keys.sort()[0]
const named = (key: string): string => JSON.stringify(echo(key.toWellFormed()))
const invalid = (message: string) => new AgentError('InvalidRequest', message)
const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
