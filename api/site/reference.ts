import { Command } from 'commander'
import { z } from 'zod'
import { GROUPS } from '../cli/commands/groups.ts'
import { register } from '../cli/commands/index.ts'
import { kitOf } from '../cli/commands/kit.ts'
import type { CliIo } from '../cli/context.ts'
import { EXIT_HELP } from '../cli/exit.ts'
import { eventSchema, eventTypes } from '../operations/events/event-schemas.ts'
import type { AnyOperation } from '../operations/operation.ts'
import { OPERATIONS } from '../operations/table.ts'
import type { SitePage } from './contents.ts'

type Schema = Readonly<Record<string, unknown>>

/** A text in a cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()

const rows = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  body.length === 0
    ? ''
    : [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')

/** The name of a JSON Schema's type, in a few words. */
function typeOf(schema: Schema, deep = 0): string {
  const { type, const: only, enum: some, anyOf, $ref, items } = schema
  if (typeof $ref === 'string') return $ref.split('/').at(-1)!
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(some)) return some.map((one) => JSON.stringify(one)).join(', ')
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map((one: Schema) => typeOf(one, deep)))].join(' or ')
  if (type === 'array') return `list of ${items === undefined ? 'values' : typeOf(items as Schema, deep + 1)}`
  if (type === 'object') return 'object'
  return typeof type === 'string' ? type : 'any value'
}

interface Member {
  readonly name: string
  readonly needed: boolean
  readonly type: string
  readonly about: string
}

function membersIn(schema: Schema): readonly Member[] {
  const {
    properties = {},
    required = [],
    allOf,
    anyOf,
  } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>
    readonly required?: readonly string[]
    readonly allOf?: readonly Schema[]
    readonly anyOf?: readonly Schema[]
  }
  const own = Object.entries(properties).map(([name, one]) => ({
    name,
    needed: required.includes(name),
    type: typeOf(one),
    about: typeof one.description === 'string' ? one.description : '',
  }))
  const more = [...(allOf ?? []), ...(anyOf ?? [])].flatMap(membersIn)
  return [...own, ...more.filter(({ name }) => !own.some((one) => one.name === name))]
}

const schemaOf = (type: z.ZodType | undefined, io: 'input' | 'output'): Schema | null =>
  type === undefined ? null : (z.toJSONSchema(type, { io, unrepresentable: 'any' }) as Schema)

/** The members of a schema; `$ref` at the top is followed. */
function members(schema: Schema | null): readonly Member[] {
  if (schema === null) return []
  const { $ref, $defs } = schema as { readonly $ref?: string; readonly $defs?: Readonly<Record<string, Schema>> }
  const found = $ref === undefined ? undefined : $defs?.[$ref.split('/').at(-1)!]
  return membersIn(found ?? schema)
}

function operationText({ name, http, right, summary, description, input, output }: AnyOperation): string {
  const given = (['params', 'query', 'body'] as const).flatMap((part) =>
    members(schemaOf(input[part], 'input')).map(({ name, needed, type, about }) => [
      `\`${name}\``,
      part === 'params' ? 'path' : part,
      needed ? 'yes' : '',
      type,
      about,
    ]),
  )
  const answer = members(schemaOf(output, 'output')).map(({ name, type, about }) => [`\`${name}\``, type, about])
  return [
    `### ${name}`,
    `\`${http}\`${right === null ? ', for everyone' : `, needs the right \`${right}\``}`,
    [summary, description]
      .filter((one) => one !== undefined)
      .map((one) => (/[.!?]$/.test(one) ? one : `${one}.`))
      .join(' '),
    rows(['Input', 'In', 'Needed', 'Type', 'Meaning'], given),
    rows(['Answer', 'Type', 'Meaning'], answer),
  ]
    .filter((one) => one !== '')
    .join('\n\n')
}

/** Operations by the first word of their path. */
function operations(): SitePage {
  const groups = Map.groupBy(OPERATIONS as readonly AnyOperation[], ({ http }) => http.split('/')[2]!)
  const parts = [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = parts.map(([group, all]) => `## ${group}\n\n${all.map(operationText).join('\n\n')}`).join('\n\n')
  const about =
    'Every operation of keepup. The same operations are HTTP routes, methods of the library (`keepup.NAME({ … })`), `keepup call NAME` at the command line, and some are tools for MCP clients. [HTTP](../http.md) tells about keys, errors and pages.'
  return { path: 'reference/operations', title: 'Operations', text: `# Operations\n\n${about}\n\n${text}\n` }
}

function eventsPage(): SitePage {
  const kinds = Map.groupBy(eventTypes(), ({ kind }) => kind)
  const text = [...kinds].map(([kind, types]) => {
    const each = types.map((type) => {
      const table = members(eventSchema(type)).map(({ name, needed, type, about }) => [
        `\`${name}\``,
        needed ? 'yes' : '',
        type,
        about,
      ])
      return `### ${kind} ${type.type}\n\nVersion ${type.version}.\n\n${rows(['Member', 'Always', 'Type', 'Meaning'], table)}`
    })
    return `## ${kind}\n\n${each.join('\n\n')}`
  })
  const about =
    'Every type of event by its kind of stream, with the members of its body. [Events](../events.md) tells about the envelope and the stored schemas.'
  return {
    path: 'reference/event-types',
    title: 'Event types',
    text: `# Event types\n\n${about}\n\n${text.join('\n\n')}\n`,
  }
}

function commandText(help: ReturnType<Command['createHelp']>, command: Command, path: string): string {
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help')
  const entries = [
    ...help.visibleArguments(command).map((one) => [`\`${help.argumentTerm(one)}\``, help.argumentDescription(one)]),
    ...options.map((one) => [`\`${help.optionTerm(one)}\``, help.optionDescription(one)]),
  ]
  const own = [
    `### ${path}`,
    `\`\`\`text\n${`${path} ${command.usage()}`.trim()}\n\`\`\``,
    `${command.description()}.`,
    rows(['Argument or option', 'Meaning'], entries),
  ]
  const below = help
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help')
    .map((one) => commandText(help, one, `${path} ${one.name()}`))
  return [...own, ...below].filter((one) => one !== '').join('\n\n')
}

async function commands(io: CliIo): Promise<SitePage> {
  const program = new Command('keepup').helpCommand(false)
  await register(
    program,
    kitOf({ io, likeIt: () => [], runCli: async () => 0 }, () => undefined),
    'all',
  )
  const help = program.createHelp()
  const text = GROUPS.map(({ name, purpose, commands: names }) => {
    const found = names.map((word) => program.commands.find((one) => one.name() === word)!)
    return `## ${name}\n\nCommands to ${purpose}.\n\n${found.map((one) => commandText(help, one, `keepup ${one.name()}`)).join('\n\n')}`
  })
  const about =
    'Every command and option, as `keepup COMMAND --help` shows them. [The command line](../command-line.md) tells how to work with them.'
  return {
    path: 'reference/commands',
    title: 'Commands',
    text: `# Commands\n\n${about}\n\n${text.join('\n\n')}\n\n## Exit codes\n\n\`\`\`text\n${EXIT_HELP.trim()}\n\`\`\`\n`,
  }
}

/** The pages that are made from the program: commands, operations and types of events. */
export const madePages = async (io: CliIo): Promise<readonly SitePage[]> => [
  await commands(io),
  operations(),
  eventsPage(),
]
