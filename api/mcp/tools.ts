import { z } from 'zod'
import { asOne, take } from '../cli/client.ts'
import type { Context } from '../cli/context.ts'
import { resuming } from '../cli/follow/drive.ts'
import type { StartRunInput } from '../operations/runs/start-schemas.ts'

// The tools for MCP clients. They send the same API requests as the command line.

/** One tool of the server. `changes`: the tool records something. */
export interface ServedTool {
  readonly name: string
  readonly description: string
  readonly input: z.ZodObject
  readonly changes: boolean
  call(ctx: Context, args: never): Promise<unknown>
}

const tool = <I extends z.ZodObject>(
  name: string,
  description: string,
  input: I,
  call: (ctx: Context, args: z.infer<I>) => Promise<unknown>,
  changes = false,
): ServedTool => ({ name, description, input, changes, call })

const text = z.string().trim().min(1)
const Run = text.describe('The id of a run, or the beginning of one')
const Call = text.describe('The id of a call, <agent>.t<turn>.c<index>')
const page = {
  limit: z.int().min(1).max(200).default(50),
  after: z.string().optional().describe('`next` of the page before'),
}
const pageQuery = ({ limit, after }: { limit: number; after?: string | undefined }) => ({
  limit: `${limit}`,
  ...(after !== undefined && { after }),
})

const v1 = async (ctx: Context) => (await ctx.client('write')).v1

/** Drives the run. Otherwise a recorded command would wait for the next `keepup resume`. */
async function driven<T extends { readonly runId: string; readonly driving: boolean }>(
  ctx: Context,
  done: T,
): Promise<T> {
  if (done.driving) return done
  await resuming(ctx, done.runId)(await ctx.backend('write'))
  return { ...done, driving: true }
}

export const SERVED_TOOLS: readonly ServedTool[] = [
  tool(
    'list_runs',
    'Lists runs, the newest first: status, cost and what each one waits for.',
    z.strictObject(page),
    async (ctx, args) => take((await v1(ctx)).runs.$get({ query: pageQuery(args) })),
  ),
  tool(
    'get_run',
    'Shows a run: status, usage, and the approvals, questions and unknown outcomes that wait for a person.',
    z.strictObject({ run: Run }),
    async (ctx, { run }) => take((await v1(ctx)).runs[':id'].$get({ param: { id: await ctx.runId(run, 'write') } })),
  ),
  tool(
    'list_events',
    'Lists the events of a run in the order of the log, a page at a time.',
    z.strictObject({ run: Run, ...page }),
    async (ctx, { run, ...asked }) => {
      const id = await ctx.runId(run, 'write')
      return take((await v1(ctx)).runs[':id'].events.$get({ param: { id }, query: pageQuery(asked) }))
    },
  ),
  tool(
    'get_state',
    'Shows the state of a run at a step, folded from the log: nothing is performed.',
    z.strictObject({ run: Run, step: z.int().min(0).optional().describe('Absent: as it is now') }),
    async (ctx, { run, step }) => {
      const id = await ctx.runId(run, 'write')
      const query = step === undefined ? {} : { step: `${step}` }
      return take((await v1(ctx)).runs[':id'].state.$get({ param: { id }, query }))
    },
  ),
  tool(
    'list_approvals',
    'Lists the calls that wait for an approval, or those in another state.',
    z.strictObject({
      run: Run.optional(),
      state: z.enum(['pending', 'approved', 'rejected', 'expired', 'all']).default('pending'),
      ...page,
    }),
    async (ctx, { run, state, ...asked }) => {
      const of = run === undefined ? {} : { run: await ctx.runId(run, 'write') }
      return take((await v1(ctx)).approvals.$get({ query: { ...pageQuery(asked), state, ...of } }))
    },
  ),
  tool(
    'get_approval',
    'Shows an approval with what it is about (a diff, a command, or arguments), and the hash to decide it with.',
    z.strictObject({ call: Call }),
    async (ctx, { call }) => take((await v1(ctx)).approvals[':toolCallId'].$get({ param: { toolCallId: call } })),
  ),
  tool(
    'decide_approval',
    'Approves or rejects a call that waits. Decide only what your user has seen and decided.',
    z.strictObject({
      call: Call,
      decision: z.enum(['approved', 'rejected']),
      questionHash: text.describe('`questionHash` of get_approval: what was read is what is decided'),
      reason: text.optional().describe('Recorded, and told to the agent'),
    }),
    async (ctx, { call, reason, ...decided }) => {
      const json = { ...decided, by: ctx.by, ...(reason !== undefined && { reason }) }
      const param = { toolCallId: call }
      return driven(ctx, await take((await v1(ctx)).approvals[':toolCallId'].$post({ param, header: asOne(), json })))
    },
    true,
  ),
  tool(
    'start_run',
    'Starts a run and drives it; gives its id at once. Ask get_run how it goes on.',
    z.strictObject({
      task: text,
      role: text.optional().describe('The procedure that it follows; absent: none'),
      model: text.optional().describe('Absent: that of the settings'),
      agent: text.optional().describe("The kind of another agent, such as claude_code; absent: keepup's own"),
      workspace: text.startsWith('/').optional().describe('Absolute path of the folder to work in; absent: none'),
      mode: z
        .enum(['interactive', 'batch'])
        .default('interactive')
        .describe('interactive: writing files and commands ask'),
    }),
    async (ctx, { mode, ...asked }) => {
      const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
      const policy = asked.agent === undefined ? { policy: { mode } } : {}
      const json = { ...given, ...policy, by: ctx.by } as StartRunInput
      return take((await v1(ctx)).runs.$post({ header: asOne(), json }))
    },
    true,
  ),
  tool(
    'send_input',
    'Says something to a run, or answers its question; the agent reads it at its next turn.',
    z.strictObject({
      run: Run,
      text,
      call: Call.optional().describe('The question of get_run that the text answers; refused where it was answered'),
    }),
    async (ctx, { run, text, call }) => {
      const id = await ctx.runId(run, 'write')
      const json = { text, by: ctx.by, ...(call !== undefined && { toolCallId: call }) }
      return driven(ctx, await take((await v1(ctx)).runs[':id'].input.$post({ param: { id }, header: asOne(), json })))
    },
    true,
  ),
  tool(
    'cancel_run',
    'Ends a run.',
    z.strictObject({ run: Run, reason: text.optional() }),
    async (ctx, { run, reason }) => {
      const id = await ctx.runId(run, 'write')
      const json = { by: ctx.by, ...(reason !== undefined && { reason }) }
      return take((await v1(ctx)).runs[':id'].cancel.$post({ param: { id }, header: asOne(), json }))
    },
    true,
  ),
]
