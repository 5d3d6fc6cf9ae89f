import { McpServer, type StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { JsonObject } from '../../domain/log/json.ts'
import type { Context } from '../cli/context.ts'
import { CliError, UsageError } from '../cli/exit.ts'
import { operationRequest } from '../cli/operation-request.ts'
import { Refused, refusal } from '../http/answers.ts'
import { type AnyOperation, inputMembers, membersOf } from '../operations/operation.ts'
import { ADDED_OPERATIONS, OPERATIONS } from '../operations/table.ts'
import { VERSION } from '../version.ts'
import { detailOf, goOn } from './go-on.ts'
import { shortAnswer } from './short-answer.ts'
import { createdTask, hasTasks, serveTasks, TASKS } from './tasks.ts'

/** The longest answer of one call, in bytes of JSON. */
const MAX_ANSWER = 1024 * 1024

/** keepup as an MCP server: the operations with `mcp`, by HTTP requests. `readOnly`: only those that record nothing. */
export function mcpServer(ctx: Context, { readOnly }: { readonly readOnly: boolean }): McpServer {
  const capabilities = readOnly ? {} : { extensions: { [TASKS]: {} } }
  const server = new McpServer({ name: 'keepup', version: VERSION }, { capabilities })
  if (!readOnly) serveTasks(server, ctx)
  for (const operation of [...OPERATIONS, ...ADDED_OPERATIONS] as readonly AnyOperation[]) {
    const { name, summary, http, mcp } = operation
    const changes = !http.startsWith('GET ')
    if (mcp === undefined || (changes && readOnly)) continue
    const tool = {
      description: mcp.description ?? summary,
      inputSchema: inputOf(operation),
      annotations: { readOnlyHint: !changes, openWorldHint: false },
    }
    server.registerTool(toolName(name), tool, async ({ full, ...args }, asked) => {
      try {
        const answer = await call(ctx, operation, namedAsHttp(operation, args))
        if (mcp.task === true && hasTasks(asked)) return await createdTask(ctx, String(answer.runId))
        return told(JSON.stringify(full === true || changes ? answer : shortOf(operation, answer)))
      } catch (error) {
        return { ...told(refusalOf(error)), isError: true }
      }
    })
  }
  return server
}

/** `listRuns` becomes `list_runs`. */
const toolName = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type Members = Readonly<Record<string, unknown>>

/** The answer of an operation for a model that does not ask for all of it. */
function shortOf({ mcp }: AnyOperation, answer: JsonObject): JsonObject {
  if (mcp?.short === 'whole') return answer
  return shortAnswer(mcp?.short?.(answer) ?? answer)
}

const Full = z.boolean().optional().meta({
  description: 'true: the whole answer, which may be long. Otherwise long texts and lists are cut, which `cut` marks',
})

/** The input of a tool with the names that path, query and body have. */
function namedAsHttp({ mcp }: AnyOperation, args: Members): Members {
  const names = new Map(Object.entries(mcp?.names ?? {}).map(([http, tool]) => [tool, http]))
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [names.get(key) ?? key, value]))
}

/**
 * The members of an operation's path, query and body, except the person. They are checked here and sent as given, because
 * the API parses them.
 */
function inputOf({ input, mcp, http }: AnyOperation): StandardSchemaWithJSON<Members> {
  const { params, query, body } = inputMembers(input)
  const { by: _, ...said } = mcp?.body === undefined ? body : membersOf(mcp.body)
  const text = (members: Readonly<Record<string, z.ZodType>>) =>
    Object.fromEntries(Object.entries(members).map(([key, schema]) => [key, z.preprocess(asText, schema)]))
  const shortens = http.startsWith('GET ') && mcp?.short !== 'whole'
  const members = Object.entries({ ...text(params), ...text(query), ...said, ...(shortens && { full: Full }) })
  const schema = z.strictObject(
    Object.fromEntries(members.map(([key, member]) => [mcp?.names?.[key] ?? key, member as z.ZodType])),
  )
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => ofNumber(jsonSchema),
  })
  const shown = () => json as Record<string, unknown>
  return {
    '~standard': {
      ...{ version: 1, vendor: 'keepup', jsonSchema: { input: shown, output: shown } },
      validate(value) {
        const { success, error } = schema.safeParse(value)
        return success ? { value: value as Members } : { issues: error.issues }
      },
    },
  }
}

/** Paths and queries contain text only. Models give whole numbers for it too. */
const asText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value)

/** The schema of a number that a query has as text. */
function ofNumber(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.type !== 'integer') return
  delete schema.pattern
  if (typeof schema.default === 'string') schema.default = Number(schema.default)
}

async function call(ctx: Context, operation: AnyOperation, args: Members): Promise<JsonObject> {
  const backend = await ctx.backend('write')
  const response = await backend.fetch(operationRequest(operation, args, ctx.by))
  if (!response.ok) throw await refusal(response)
  const answer = (await response.json()) as JsonObject
  if (operation.mcp?.drives !== true || answer.driving === true) return answer
  const { run } = await detailOf(ctx, String(answer.runId))
  return { ...answer, driving: await goOn(ctx, run) }
}

const told = (text: string) => {
  const shown = Buffer.byteLength(text) <= MAX_ANSWER ? text : `the answer is over ${MAX_ANSWER} bytes; ask for less`
  return { content: [{ type: 'text' as const, text: shown }], isError: shown !== text }
}

/** The message of a refusal. Rethrows any other error, so its details are not sent. */
function refusalOf(error: unknown): string {
  if (error instanceof Refused) return `${error.code}: ${error.message}`
  if (error instanceof CliError || error instanceof UsageError) return error.message
  throw error
}
