import type { Command } from 'commander'
import type { z } from 'zod'
import type { AnyOperation } from '../../operations/operation.ts'
import { ADDED_OPERATIONS, OPERATIONS } from '../../operations/table.ts'
import { asOne, refusal } from '../client.ts'
import type { Context } from '../context.ts'
import { EXIT, UsageError } from '../exit.ts'
import { jsonOrText, type Kit, mayMean } from './kit.ts'

const all = (): readonly AnyOperation[] => [...OPERATIONS, ...ADDED_OPERATIONS]

function list(ctx: Context): number {
  ctx.list(
    all().map(({ name, http, summary }) => ({ name, http, summary })),
    [
      { title: 'OPERATION', of: (one) => one.name },
      { title: 'HTTP', of: (one) => one.http, optional: true },
      { title: 'DOES', of: (one) => one.summary, flexible: true },
    ],
  )
  return EXIT.done
}

function named(ctx: Context, name: string): AnyOperation {
  const found = all().find((one) => one.name === name)
  if (found !== undefined) return found
  const near = all().find((one) => mayMean(name, one.name))
  const hint = near === undefined ? `"${ctx.command('call')}" lists them` : `did you mean ${near.name}?`
  throw new UsageError(`there is no operation "${name}"; ${hint}`)
}

/** The members of an object schema, also inside checks and transforms. */
function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  const { shape, def } = (schema ?? {}) as { shape?: Record<string, z.ZodType>; def?: { in?: z.ZodType } }
  return shape ?? (def?.in === undefined ? {} : shapeOf(def.in))
}

/** The request of an operation. `members`: `name=value` of its path, query and body; a value may be JSON. */
function requestOf(ctx: Context, { name, http, input }: AnyOperation, members: readonly string[]): Request {
  const [method, template] = http.split(' ') as [string, string]
  const parts = { query: shapeOf(input.query), body: shapeOf(input.body) }
  const body: Record<string, unknown> = 'by' in parts.body ? { by: ctx.by } : {}
  const query = new URLSearchParams()
  let path = template
  for (const member of members) {
    const [key = '', ...rest] = member.split('=')
    const text = rest.join('=')
    const schema = Object.hasOwn(parts.body, key) ? parts.body[key] : undefined
    if (path.includes(`{${key}}`)) path = path.replace(`{${key}}`, encodeURIComponent(text))
    else if (Object.hasOwn(parts.query, key)) query.set(key, text)
    else if (schema !== undefined) body[key] = schema.safeParse(text).success ? text : jsonOrText(text)
    else throw new UsageError(`${name} takes no "${key}"; give ${takes(template, parts)} as name=value`)
  }
  const missing = /\{(\w+)\}/.exec(path)?.[1]
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing}=…`)
  const headers = 'idempotency-key' in shapeOf(input.headers) ? asOne() : {}
  const sent = input.body === undefined ? {} : { body: JSON.stringify(body) }
  return new Request(`http://localhost${path}${query.size === 0 ? '' : `?${query}`}`, {
    method,
    headers: { ...headers, ...(input.body !== undefined && { 'content-type': 'application/json' }) },
    ...sent,
  })
}

const takes = (template: string, { query, body }: { readonly query: object; readonly body: object }): string =>
  [...[...template.matchAll(/\{(\w+)\}/g)].map(([, one]) => one!), ...Object.keys(query), ...Object.keys(body)].join(
    ', ',
  )

async function call(ctx: Context, name: string, members: readonly string[]): Promise<number> {
  const operation = named(ctx, name)
  const request = requestOf(ctx, operation, members)
  const backend = await ctx.backend(request.method === 'GET' ? 'read' : 'write')
  const response = await backend.fetch(request)
  if (!response.ok) throw await refusal(response)
  const answer: unknown = await response.json()
  ctx.show(answer, () => JSON.stringify(answer, null, 2).split('\n'))
  return EXIT.done
}

/** The command for every operation of the table, also of kinds without commands of their own. */
export function callCommand(program: Command, kit: Kit): void {
  program
    .command('call')
    .description('any operation of the HTTP API by its name; without a name: all of them')
    .argument('[operation]')
    .argument('[members...]', 'members of its path, query and body, such as id=a1 limit=10')
    .action(kit.action(async (ctx, [name, ...members]) => (name === undefined ? list(ctx) : call(ctx, name, members))))
}
