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
import { isObject, type Link, type Member, membersBelow, membersIn, type Schema, typeOf } from './schemas.ts'

/** A text in a cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()

const rows = (head: readonly string[], body: readonly (readonly string[])[]): string =>
  body.length === 0
    ? ''
    : [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')

const schemaOf = (type: z.ZodType | undefined, io: 'input' | 'output'): Schema | null =>
  type === undefined ? null : (z.toJSONSchema(type, { io, unrepresentable: 'any' }) as Schema)

/** The definitions in a schema, by name. */
const definitionsIn = (schema: Schema | null) => (schema?.$defs ?? {}) as Readonly<Record<string, Schema>>

/** The members of a schema; `$ref` at the top is followed. */
function members(schema: Schema | null, link: Link): readonly Member[] {
  if (schema === null) return []
  const { $ref } = schema
  const found = typeof $ref === 'string' ? definitionsIn(schema)[$ref.split('/').at(-1)!] : undefined
  return membersIn(found ?? schema, link)
}

/** The types with a name that operations take and give, with the places that name them. */
class Types {
  readonly #known = new Map<string, Schema>()
  readonly #users = new Map<string, Set<string>>()

  /** A schema of an operation; its definitions become known. */
  schemaOf(type: z.ZodType | undefined, io: 'input' | 'output'): Schema | null {
    const schema = schemaOf(type, io)
    for (const [name, one] of Object.entries(definitionsIn(schema))) this.#known.set(name, one)
    return schema
  }

  /** Links to types from a place, which is Markdown. */
  from(place: string): Link {
    return (name) => {
      if (!this.#users.has(name)) this.#users.set(name, new Set())
      this.#users.get(name)!.add(place)
      return `[${name}](types.md#${name.toLowerCase()})`
    }
  }

  /** Each type that a place has named, also those of these types. */
  page(): SitePage {
    const bodies = new Map<string, string>()
    // Visits names that are added meanwhile.
    for (const name of this.#users.keys()) bodies.set(name, this.#body(name))
    const text = [...bodies.keys()].sort().map((name) => {
      const { description } = this.#known.get(name)!
      const about = typeof description === 'string' ? sentence(description) : ''
      return [`## ${name}`, about, bodies.get(name)!, `Named by: ${[...this.#users.get(name)!].join(', ')}.`]
    })
    const about =
      'Every type that [operations](operations.md) name, once. `[]` in a name: each value of a list. `NAME`: any name.'
    return {
      path: 'reference/types',
      title: 'Types',
      text: `# Types\n\n${about}\n\n${text.map(paragraphs).join('\n\n')}\n`,
    }
  }

  #body(name: string): string {
    const schema = this.#known.get(name)!
    const link = this.from(`[${name}](#${name.toLowerCase()})`)
    if (isObject(schema)) return memberRows(membersIn(schema, link))
    return paragraphs([`${typeOf(schema, link)}.`, memberRows(membersBelow(schema, link, ''))])
  }
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
const paragraphs = (parts: readonly string[]): string => parts.filter((one) => one !== '').join('\n\n')
const memberRows = (found: readonly Member[]): string =>
  rows(
    ['Member', 'Always', 'Type', 'Meaning'],
    found.map(({ name, needed, type, about }) => [`\`${name}\``, needed ? 'yes' : '', type, about]),
  )

function operationText({ name, http, right, summary, description, input, output }: AnyOperation, types: Types): string {
  const link = types.from(`[${name}](operations.md#${name.toLowerCase()})`)
  const given = (['params', 'query', 'body'] as const).flatMap((part) =>
    members(types.schemaOf(input[part], 'input'), link).map(({ name, needed, type, about }) => [
      `\`${name}\``,
      part === 'params' ? 'path' : part,
      needed ? 'yes' : '',
      type,
      about,
    ]),
  )
  const answer = members(types.schemaOf(output, 'output'), link)
  return paragraphs([
    `### ${name}`,
    `\`${http}\`${right === null ? ', for everyone' : `, needs the right \`${right}\``}`,
    [summary, description]
      .filter((one) => one !== undefined)
      .map(sentence)
      .join(' '),
    rows(['Input', 'In', 'Needed', 'Type', 'Meaning'], given),
    rows(
      ['Answer', 'Type', 'Meaning'],
      answer.map(({ name, type, about }) => [`\`${name}\``, type, about]),
    ),
  ])
}

/** Operations by the first word of their path, and the types that they name. */
function operations(): readonly SitePage[] {
  const types = new Types()
  const groups = Map.groupBy(OPERATIONS as readonly AnyOperation[], ({ http }) => http.split('/')[2]!)
  const parts = [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = parts
    .map(([group, all]) => `## ${group}\n\n${all.map((one) => operationText(one, types)).join('\n\n')}`)
    .join('\n\n')
  const about =
    'Every operation of keepup. The same operations are HTTP routes, methods of the library (`keepup.NAME({ … })`), `keepup call NAME` at the command line, and some are tools for MCP clients. [HTTP](../http.md) tells about keys, errors and pages. A type with a name is a link to its members on the page of [types](types.md). `[]` in a name: each value of a list.'
  return [
    { path: 'reference/operations', title: 'Operations', text: `# Operations\n\n${about}\n\n${text}\n` },
    types.page(),
  ]
}

function eventsPage(): SitePage {
  const kinds = Map.groupBy(eventTypes(), ({ kind }) => kind)
  const text = [...kinds].map(([kind, types]) => {
    const each = types.map((type) => {
      // The schemas of events have no names for their parts.
      const table = memberRows(members(eventSchema(type), (name) => name))
      return `### ${kind} ${type.type}\n\nVersion ${type.version}.\n\n${table}`
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
  ...operations(),
  eventsPage(),
]
