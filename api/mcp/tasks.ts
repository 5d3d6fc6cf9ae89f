import {
  CLIENT_CAPABILITIES_META_KEY,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Context } from '../cli/context.ts'
import { CliError, UsageError } from '../cli/exit.ts'
import { asOne, Refused, take } from '../http/answers.ts'
import type { AskView } from '../operations/approvals/schemas.ts'
import { type Detail, detailOf, goOn } from './go-on.ts'

// A run as a task of MCP (SEP-2663, revision 2026-07-28): its approvals and questions are the input that it requires.

/** The identifier of the extension. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** How often a client should ask, in ms. */
const POLL_MS = 1_000

interface Capabilities {
  readonly extensions?: Readonly<Record<string, object>>
  readonly elicitation?: object
}

/** The capabilities that the client has declared on this request. Those of earlier requests do not count. */
function capabilitiesOf({ mcpReq }: ServerContext): Capabilities {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  return (envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Capabilities
}

/** Whether the client of this request takes a task in place of a result. */
export const hasTasks = (asked: ServerContext): boolean => capabilitiesOf(asked).extensions?.[TASKS] !== undefined

/** The answer to a call that has started a run: a task with the id of the run. */
export async function createdTask(ctx: Context, runId: string) {
  const { run } = await detailOf(ctx, runId)
  // The server checks each answer to a call as a tool's result, which has `content`.
  return { resultType: 'task', ...baseOf(run), status: 'working' as const, content: [] }
}

/** Adds `tasks/get`, `tasks/update` and `tasks/cancel` to a server. */
export function serveTasks({ server }: McpServer, ctx: Context): void {
  const params = z.looseObject({ taskId: z.string() })
  const resumed = new Set<string>()
  server.setRequestHandler('tasks/get', { params }, ({ taskId }, asked) =>
    answered(asked, async () => {
      const stalled = await resumeOnce(ctx, taskId, resumed)
      return taskOf(ctx, taskId, { elicits: capabilitiesOf(asked).elicitation !== undefined, stalled })
    }),
  )
  server.setRequestHandler(
    'tasks/update',
    { params: params.extend({ inputResponses: Responses.optional() }) },
    ({ taskId, inputResponses }, asked) =>
      // The protocol layer moves `inputResponses` from the params to the context.
      answered(asked, () => update(ctx, taskId, inputResponses ?? responsesOf(asked))),
  )
  server.setRequestHandler('tasks/cancel', { params }, ({ taskId }, asked) =>
    answered(asked, async () => {
      const client = await ctx.client('write')
      const json = { by: ctx.by, reason: 'the task was cancelled' }
      await take(client.v1.runs[':id'].cancel.$post({ param: { id: taskId }, header: asOne(), json }))
      return {}
    }),
  )
}

async function answered<T>(asked: ServerContext, act: () => Promise<T>): Promise<T> {
  if (!hasTasks(asked))
    throw new ProtocolError(MISSING_CAPABILITY, `declare the extension ${TASKS} in the capabilities of the request`, {
      requiredCapabilities: { extensions: { [TASKS]: {} } },
    })
  try {
    return await act()
  } catch (error) {
    if (error instanceof CliError || error instanceof UsageError)
      throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
    if (!(error instanceof Refused)) throw error
    const code = error.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
    throw new ProtocolError(code, `${error.code}: ${error.message}`)
  }
}

const MISSING_CAPABILITY = -32021

const baseOf = ({ runId, createdAt, updatedAt }: Detail['run']) => ({
  taskId: runId,
  createdAt,
  lastUpdatedAt: updatedAt,
  ttlMs: null,
  pollIntervalMs: POLL_MS,
})

/**
 * Resumes a run without a driver, such as one whose process has ended. Returns the reason if the run cannot go on, otherwise
 * null. `resumed`: the runs that this server has resumed. It does not resume a run twice, because the drive may fail each time.
 */
async function resumeOnce(ctx: Context, runId: string, resumed: Set<string>): Promise<string | null> {
  const { run } = await detailOf(ctx, runId)
  if (run.interrupted !== true) return null
  if (resumed.has(runId)) return `no process drives the run; go on with: ${ctx.command('resume', runId)}`
  resumed.add(runId)
  try {
    await goOn(ctx, run)
    return null
  } catch (error) {
    if (error instanceof Refused) return `no process drives the run: ${error.message}`
    throw error
  }
}

interface Shown {
  readonly elicits: boolean
  /** The reason why the run has no driver; null: it has one, or needs none. */
  readonly stalled: string | null
}

/** A run as a `DetailedTask`. A run that failed is a task that completed with an error of its tool. */
async function taskOf(ctx: Context, runId: string, { elicits, stalled }: Shown) {
  const { run, asks, tree } = await detailOf(ctx, runId)
  const base = baseOf(run)
  const { status, summary, error, partialOutput } = run
  if (error?.code === 'CANCELLED') return { ...base, status: 'cancelled', statusMessage: error.message }
  if (status === 'completed') return { ...base, status: 'completed', result: result({ runId, status, summary }, false) }
  if (status === 'failed')
    return { ...base, status: 'completed', result: result({ runId, status, error, partialOutput }, true) }
  if (asks.length === 0) return { ...base, status: 'working', statusMessage: stalled ?? progress(run) }
  const questions = elicits ? await questionsOf(ctx, { asks, tree }) : []
  if (elicits && questions.length === 0)
    return { ...base, status: 'working', statusMessage: 'more people must approve a call' }
  return {
    ...base,
    status: 'input_required',
    statusMessage: `waits for: ${asks.map(({ for: what, toolName }) => toolName ?? what).join(', ')}`,
    inputRequests: Object.fromEntries(
      questions.map(({ key, message, requestedSchema }) => [
        key,
        { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
      ]),
    ),
  }
}

const result = (answer: object, isError: boolean) => ({
  content: [{ type: 'text', text: JSON.stringify(answer) }],
  isError,
})

function progress({ paused, turn, waiting }: Detail['run']): string {
  if (paused) return 'paused; resume the run to go on'
  if (waiting.some(({ for: what }) => what === 'model')) return 'waits for its model, which does not answer'
  return `turn ${turn}`
}

/** A question to the person, as input that the task requires. */
interface Question {
  /** Identifies the question and its content. Answers under other keys are ignored. */
  readonly key: string
  readonly message: string
  readonly requestedSchema: object
  /** Checks an answer, and returns how to record it; null: the person has not answered. */
  readonly record: (response: z.infer<typeof Response>) => (() => Promise<{ readonly driving: boolean }>) | null
}

const Response = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).optional(),
})
const Responses = z.record(z.string(), Response)
const responsesOf = ({ mcpReq }: ServerContext) => valid(Responses, mcpReq.inputResponses ?? {})

async function questionsOf(ctx: Context, { asks, tree }: Pick<Detail, 'asks' | 'tree'>): Promise<Question[]> {
  const questions = await Promise.all(
    asks.map((ask) => {
      if (ask.for === 'approval') return approvalQuestion(ctx, ask)
      if (ask.for === 'doubt') return doubtQuestion(ctx, ask)
      return inputQuestion(ctx, ask, tree.find(({ agentId }) => agentId === ask.agentId)?.turn)
    }),
  )
  return questions.filter((question) => question !== null)
}

const reason = z.string().min(1).optional()
const Decision = z.strictObject({ decision: z.enum(['approved', 'rejected']), reason })

/** Null: nothing is asked any more, or this person has approved and others must too. */
async function approvalQuestion(ctx: Context, { toolCallId: id }: AskView): Promise<Question | null> {
  const client = (await ctx.client('write')).v1.approvals[':toolCallId']
  const param = { toolCallId: String(id) }
  const { approval, preview, questionHash } = await take(client.$get({ param }))
  if (approval.state !== 'pending' || approval.supporters.some(({ by }) => by === ctx.by)) return null
  const decide = (json: z.infer<typeof Decision>) => () =>
    take(client.$post({ param, header: asOne(), json: { ...json, questionHash, by: ctx.by } }))
  return {
    key: `approval:${id}:${questionHash}`,
    message: [`${approval.toolName}: ${approval.reason}`, preview.text, ...preview.notes].join('\n\n'),
    requestedSchema: schemaOf(Decision),
    record({ action, content }) {
      if (action === 'cancel') return null
      return decide(action === 'decline' ? { decision: 'rejected' } : valid(Decision, content))
    },
  }
}

const Doubt = z.strictObject({ decision: z.enum(['happened', 'run', 'abandon']), reason })

async function doubtQuestion(ctx: Context, { toolCallId: id, toolName, text }: AskView): Promise<Question> {
  const client = (await ctx.client('write')).v1.doubts[':toolCallId']
  const param = { toolCallId: String(id) }
  const { questionHash } = await take(client.$get({ param }))
  return {
    key: `doubt:${id}:${questionHash}`,
    message: `Nobody knows whether this call of ${toolName} has happened. ${text}`,
    requestedSchema: schemaOf(Doubt),
    record({ action, content }) {
      if (action !== 'accept') return null
      const json = { ...valid(Doubt, content), questionHash, by: ctx.by }
      return () => take(client.$post({ param, header: asOne(), json }))
    },
  }
}

const Answer = z.strictObject({ text: z.string().trim().min(1) })

/** `turn`: the agent's last turn. It identifies a question that the agent asked without a call. */
async function inputQuestion(
  ctx: Context,
  { runId, agentId, toolCallId, text }: AskView,
  turn: number | undefined,
): Promise<Question> {
  const client = (await ctx.client('write')).v1.runs[':id'].input
  return {
    key: `input:${agentId}:${toolCallId ?? `turn-${turn}`}`,
    message: text === '' ? 'What is the task?' : text,
    requestedSchema: schemaOf(Answer),
    record({ action, content }) {
      if (action !== 'accept') return null
      const json = {
        ...valid(Answer, content),
        ...{ agent: agentId, by: ctx.by },
        ...(toolCallId !== null && { toolCallId }),
      }
      return () => take(client.$post({ param: { id: runId }, header: asOne(), json }))
    },
  }
}

/** The flat JSON Schema that elicitations have. */
function schemaOf(schema: z.ZodObject): object {
  const { type, properties, required } = z.toJSONSchema(schema)
  return { type, properties, required }
}

function valid<T extends z.ZodType>(schema: T, content: unknown): z.output<T> {
  const { success, data, error } = schema.safeParse(content)
  if (!success) throw new ProtocolError(ProtocolErrorCode.InvalidParams, z.prettifyError(error))
  return data
}

/**
 * Records the answers to open questions. Answers to others are ignored, as the extension says. Checks all answers before
 * the first is recorded. Drives the run after the last, also if one is refused because another person has decided.
 */
async function update(ctx: Context, runId: string, responses: z.infer<typeof Responses>) {
  const records = (await questionsOf(ctx, await detailOf(ctx, runId))).flatMap(({ key, record }) => {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined
    const act = response && record(response)
    return act ? [act] : []
  })
  let driving = true
  try {
    for (const record of records) driving = (await record().catch(unlessChanged))?.driving ?? driving
  } finally {
    const { run } = await detailOf(ctx, runId)
    if (!driving || run.interrupted === true) await goOn(ctx, run)
  }
  return {}
}

/** A question that has changed since it was shown is asked again under another key. */
function unlessChanged(error: unknown): null {
  if (error instanceof Refused && error.code === 'QUESTION_CHANGED') return null
  throw error
}
