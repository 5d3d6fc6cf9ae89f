import type { Command } from 'commander'
import { refusal } from '../../http/answers.ts'
import { type AnyOperation, inputMembers } from '../../operations/operation.ts'
import { ADDED_OPERATIONS, OPERATIONS } from '../../operations/table.ts'
import type { Context } from '../context.ts'
import { EXIT, UsageError } from '../exit.ts'
import { operationRequest } from '../operation-request.ts'
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

/** The members of a request, given as `name=value`. A value of the body may be JSON. */
function membersGiven({ input }: AnyOperation, given: readonly string[]): Record<string, unknown> {
  const { body } = inputMembers(input)
  return Object.fromEntries(
    given.map((member) => {
      const [key = '', ...rest] = member.split('=')
      const text = rest.join('=')
      const isJson = Object.hasOwn(body, key) && body[key]?.safeParse(text).success === false
      return [key, isJson ? jsonOrText(text) : text]
    }),
  )
}

async function call(ctx: Context, name: string, members: readonly string[]): Promise<number> {
  const operation = named(ctx, name)
  const request = operationRequest(operation, membersGiven(operation, members), ctx.by)
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
