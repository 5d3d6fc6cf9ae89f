import type { LanguageModelMiddleware, Telemetry, ToolApprovalStatus, ToolSet } from 'ai'
import { boundMessage } from '../../../domain/external/bounds.ts'
import type { HostRules } from '../host-run.ts'
import type { KeepUp } from '../keepup.ts'
import { type KeepUpOptions, openKeepUp } from '../open-keepup.ts'
import { middlewareOf } from './middleware.ts'
import { approvalOf, type CallOfAi, toolsOf } from './tools.ts'

interface AiRun extends HostRules {
  /** The name of the run. A program that opens the same name again continues the run. */
  readonly run: string
  /** What the run is about, for lists. Default: its name. */
  readonly task?: string
  /** False: `approve` gives `user-approval` for a call that a person has to decide. Default: it waits for the decision. */
  readonly wait?: boolean
  /** The person who starts the run. */
  readonly by?: string
}

/** The data folder and its settings, or an open one, which stays open. */
export type KeepUpForAiOptions = AiRun &
  (
    | ({ readonly keepup: KeepUp } & { readonly [K in keyof Omit<KeepUpOptions, 'by'>]?: never })
    | ({ readonly keepup?: never } & Omit<KeepUpOptions, 'by' | 'tools'>)
  )

/** A run of a program of the AI SDK. Disposing it releases the run without ending it. */
export interface KeepUpForAi extends AsyncDisposable {
  readonly runId: string
  readonly keepup: KeepUp
  /** For `wrapLanguageModel`: records each model call, and gives recorded answers. */
  readonly middleware: LanguageModelMiddleware
  /** For `telemetry.integrations`: records errors and aborts, and refuses tools that were not passed through `tools`. */
  readonly telemetry: Telemetry
  /** For `toolApproval`: the policy's decision, or a person's. */
  readonly approve: (asked: { readonly toolCall: CallOfAi }) => Promise<ToolApprovalStatus>
  /** The tools of the program, each call recorded before and after it. */
  tools<Tools extends ToolSet>(tools: Tools): Tools
  /** Aborts when a person cancels the run. Pass it as `abortSignal`. */
  readonly signal: AbortSignal
  /** Records the end of the run. `text`: its result. */
  finish(text?: string): Promise<void>
  /** Records that the run failed. */
  fail(error: unknown): Promise<void>
  /** Releases the run without ending it, and closes the data folder unless the program opened it. */
  close(): Promise<void>
}

/**
 * Opens a run for a program of the AI SDK 7. Rejects as `openKeepUp` does, and with `RUN_EXISTS` if another kind of agent has the run.
 *
 *   const k = await keepupForAi({ data: './data', run: 'order-42', policy: { requiresApproval: ['refund'] } })
 *   const { text } = await generateText({
 *     model: wrapLanguageModel({ model, middleware: k.middleware }),
 *     tools: k.tools({ lookUp, refund }), toolApproval: k.approve, telemetry: { integrations: [k.telemetry] },
 *     prompt: 'Refund order 42', abortSignal: k.signal,
 *   })
 *   await k.finish(text)
 *   await k.close()
 */
export async function keepupForAi(options: KeepUpForAiOptions): Promise<KeepUpForAi> {
  const { run: name, task, wait = true, by, policy, effects, keepup: given, ...settings } = options
  if (typeof name !== 'string' || name.trim() === '')
    throw new TypeError('run: name the run; the same name continues it, so use the id of your order, ticket or session')
  const keepup = given ?? (await openKeepUp(settings as KeepUpOptions))
  const release = async () => {
    if (given === undefined) await keepup.close()
  }
  const rules = { ...(policy !== undefined && { policy }), ...(effects !== undefined && { effects }) }
  const host = { kind: 'ai_sdk', name, prompt: task ?? name, rules } as const
  const run = await keepup.host(host, by).catch(async (error: unknown) => {
    await release()
    throw error
  })
  const recorded = new Set<string>()
  const close = async () => {
    await run.detach()
    await release()
  }
  return {
    keepup,
    runId: run.runId,
    signal: run.signal,
    middleware: middlewareOf(run),
    telemetry: {
      onError: (error) => run.report({ kind: 'Error', message: boundMessage(messageOf(error)) }),
      onAbort: () => run.report({ kind: 'Status', message: 'the program aborted the generation' }),
      async executeTool({ execute, toolCall }) {
        if (toolCall !== undefined && !recorded.has(toolCall.toolName))
          throw new Error(
            `${toolCall.toolName} is not recorded; pass it through the tools of keepupForAi: tools: k.tools({ … })`,
          )
        return execute()
      },
    },
    approve: ({ toolCall: { toolCallId, toolName, input } }) =>
      approvalOf(run, { toolCallId, toolName, input }, { wait, signal: run.signal }),
    tools(tools) {
      for (const tool of Object.keys(tools)) recorded.add(tool)
      return toolsOf(run, tools)
    },
    finish: (text) => run.finish(true, text ?? null),
    async fail(error) {
      await run.report({ kind: 'Error', message: boundMessage(messageOf(error)) })
      await run.finish(false, null)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The SDK passes an error alone, or as a member of an event. */
function messageOf(error: unknown): string {
  if (error !== null && typeof error === 'object' && 'error' in error) return messageOf(error.error)
  return error instanceof Error ? error.message : String(error)
}
