import type { ToolApprovalStatus, ToolSet } from 'ai'
import type { ToolErrorCode } from '../../../domain/calls/error-codes.ts'
import { ToolError } from '../../../domain/calls/errors.ts'
import type { CallEnd } from '../../../domain/external/hosted/record.ts'
import type { HostedCall, HostedRun, Waiting } from '../../../domain/external/runtime/hosted-run.ts'
import type { Json } from '../../../domain/log/json.ts'
import { fromTagged, toTagged } from './tagged-json.ts'

type Execute = NonNullable<Extract<ToolSet[string], { execute?: unknown }>['execute']>
type Options = Parameters<Execute>[1]

/** A call that the SDK is about to make. */
export interface CallOfAi {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

const askedOf = ({ toolCallId: id, toolName: name, input }: CallOfAi) => ({ id, name, input: toTagged(input) })

/** Wraps the tools that this program executes: each call is recorded before and after it. */
export function toolsOf<Tools extends ToolSet>(run: HostedRun, tools: Tools): Tools {
  const wrapped = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as { execute?: Execute }
    return [name, execute === undefined ? tool : { ...tool, execute: executing(run, name, execute.bind(tool)) }]
  })
  return Object.fromEntries(wrapped) as Tools
}

function executing(run: HostedRun, toolName: string, execute: Execute): Execute {
  const begin = async (input: unknown, { toolCallId, abortSignal: signal }: Options) => {
    const call = await run.ask(askedOf({ toolCallId, toolName, input }))
    const begun = await run.begin(call, signal === undefined ? {} : { signal })
    return { call, end: begun.at === 'ended' ? begun.end : null }
  }
  // The SDK shows the values of a generator as they come, so a generator stays one.
  if (execute.constructor.name === 'AsyncGeneratorFunction')
    return async function* (input: unknown, options: Options): AsyncGenerator<unknown> {
      const { call, end } = await begin(input, options)
      if (end !== null) {
        yield outcomeOf(end)
        return
      }
      let last: unknown
      try {
        for await (const output of execute(input as never, options) as AsyncIterable<unknown>) {
          last = output
          yield output
        }
      } catch (error) {
        await failed(run, call, error)
        throw error
      }
      await run.succeed(call, last, toTagged)
    } as unknown as Execute
  return (async (input: unknown, options: Options) => {
    const { call, end } = await begin(input, options)
    if (end !== null) return outcomeOf(end)
    return performed(run, call, async () => execute(input as never, options))
  }) as unknown as Execute
}

async function performed(run: HostedRun, call: HostedCall, work: () => Promise<unknown>): Promise<unknown> {
  let output: unknown
  try {
    const answer = await work()
    output = isAsyncIterable(answer) ? await lastOf(answer) : answer
  } catch (error) {
    await failed(run, call, error)
    throw error
  }
  await run.succeed(call, output, toTagged)
  return output
}

/** The recorded result. Throws the recorded error, which reads as the first one did. */
function outcomeOf({ success, result, error }: CallEnd): unknown {
  if (success) return fromTagged(result as Json)
  const { code, message } = error!
  if (code !== FAILED) throw new ToolError(code as ToolErrorCode, message)
  const [, name, rest] = NAMED.exec(message) ?? []
  throw name === undefined ? new Error(message) : Object.assign(new Error(rest), { name })
}

const FAILED = 'EXECUTION_FAILED'
/** The text of an error whose class has a name. The SDK shows the name to the model. */
const NAMED = /^([A-Za-z]\w*Error): (.*)$/s

/** Records the failure of a call. */
const failed = (run: HostedRun, call: HostedCall, error: unknown): Promise<void> =>
  run.fail(call, error instanceof Error && error.name !== 'Error' ? `${error.name}: ${error.message}` : error)

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  value !== null && typeof value === 'object' && Symbol.asyncIterator in value

async function lastOf(values: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown
  for await (const value of values) last = value
  return last
}

/** What keepup's policy, or a person, decides about a call. Waits for the person unless `wait` is false. */
export async function approvalOf(run: HostedRun, asked: CallOfAi, waiting: Waiting): Promise<ToolApprovalStatus> {
  const call = await run.ask(askedOf(asked))
  const judged = await run.judged(call, waiting)
  if (judged.at === 'waits') return { type: 'user-approval', reason: `keepup approve ${call.id}` }
  if (judged.at === 'ended' && judged.refused) {
    await run.leave(call)
    return { type: 'denied', reason: judged.end.error!.message }
  }
  if (judged.by === undefined) return undefined
  return { type: 'approved', reason: `approved by ${judged.by}` }
}
