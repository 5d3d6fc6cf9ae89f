import { ToolChanged, ToolError } from '../../../calls/errors.ts'
import type { JsonObject } from '../../../log/json.ts'
import type { Tool, ToolContext, ToolFailure, ToolResult } from '../../../ports/index.ts'
import { limited } from '../../../stream/runtime/time-limit.ts'
import { inSteps, type YieldToEventLoop, yielder } from '../../../stream/runtime/yield-to-event-loop.ts'
import type { OutcomeCommand } from '../../decide/commands.ts'
import { thrownByTool } from '../../decide/thrown-errors.ts'
import { readerOf, readOnNote } from '../../definition/tools.ts'
import { toolResult } from '../../events/tool-result.ts'
import { commandInRoot, sameCommand } from '../../rules/command-line.ts'
import { denial } from '../../rules/policy.ts'
import type { AgentState, Call } from '../../state/state.ts'
import { takes } from '../../tasks/plan.ts'
import { redactedSandbox, redactResult, thenRefreshed } from '../redact.ts'
import { changedSinceApproval } from './approved-files.ts'
import { ledElsewhere } from './paths.ts'
import { controlLimitMs, performControl } from './perform-control.ts'
import type { ToolAttempt } from './tool-attempt.ts'
import { apart, withWhole } from './whole-result.ts'

/** Performs an attempt whose intent is in the log. Returns its redacted outcome. */
export async function performTool(performed: ToolAttempt): Promise<OutcomeCommand> {
  const { ports, env, state, call, args, stream, signal } = performed
  const about = { toolCallId: call.id, toolName: call.toolName, attempt: call.attempt }
  const spec = state.spec.tools.find((one) => one.name === call.toolName)
  const tool = env.tool(call.toolName)
  const started = ports.clock.now()
  const took = () => Math.max(0, Math.round(ports.clock.now() - started))
  const failed = (error: ToolFailure, durationMs: number): OutcomeCommand => {
    const { transient, beforeEffect = false } = error
    const code = env.secrets.text(error.code) === error.code ? error.code : 'EXECUTION_FAILED'
    const message = env.secrets.text(error.message)
    return { kind: 'tool_failed', ...about, durationMs, error: { code, message, transient, beforeEffect } }
  }
  const inDoubt = (reason: string): OutcomeCommand => ({ kind: 'tool_in_doubt', ...about, reason })

  if (args === null) {
    const why = `the arguments of ${call.toolName} cannot be read from the answer in the log`
    // An earlier attempt may have happened.
    return isProbed(call) ? inDoubt(why) : failed(new ToolError('INVALID_ARGUMENTS', why, { beforeEffect: true }), 0)
  }
  if (spec === undefined) return failed(missing(call), 0)
  if (spec.control) {
    const limitMs = controlLimitMs(spec, state.spec)
    const ended = await limited(ports.clock, limitMs, signal, (own) =>
      performControl({ ...performed, signal: own }, args),
    )
    if (ended.end === 'value') return { kind: 'tool_succeeded', ...about, durationMs: ended.durationMs, ...ended.value }
    return failed(ended.end === 'hung' ? timeout(limitMs) : thrownByTool(ended.error), ended.durationMs)
  }
  if (tool === undefined) return failed(missing(call), 0)

  const { runId, agentId, turn } = state
  const output = env.secrets.stream()
  const publish = (text: string) => text !== '' && ports.feed.publish({ runId, agentId, turn, kind: 'output', text })
  const readOn = readingOn(state, call.id)
  const context = (own: AbortSignal): ToolContext => ({
    runId,
    agentId,
    toolCallId: call.id,
    attempt: call.attempt,
    tool: spec,
    causationId: `${stream}@${call.since}`,
    correlationId: state.correlation,
    signal: own,
    workspace: env.workspace,
    sandbox: env.sandbox && redactedSandbox(env.sandbox, env.secrets),
    redact: (text) => env.secrets.text(text),
    redactStream: () => env.secrets.stream(),
    ...(readOn && { readOn }),
    onOutput: (text) => publish(output.push(text)),
  })
  const ended = await limited(ports.clock, spec.timeLimitMs, signal, async (own) => {
    const yieldToEventLoop = yielder(ports.clock)
    await env.secrets.refresh()
    const elsewhere = await ledElsewhere(env, spec, call, args)
    // It is unknown whether an earlier attempt happened at the planned path.
    if (elsewhere !== null && isProbed(call))
      return { doubt: `${call.toolName} cannot be asked after: ${elsewhere.message}` }
    if (elsewhere !== null) throw elsewhere
    const resolved = await env.secrets.resolve(args, call.toolName)
    const probed = await probe(tool, call, resolved, context(own), yieldToEventLoop)
    if (probed !== null && 'doubt' in probed) return probed
    const changed = probed === null ? await changedSinceApproval(env.workspace, call) : null
    if (changed !== null) return { outdated: changed }
    const run = async () => inSteps(toolResult(await tool.run(resolved, context(own))), yieldToEventLoop)
    const { result } = probed ?? { result: await thenRefreshed(env.secrets, run) }
    // A failed redaction counts as a tool failure, like any other malformed result.
    await yieldToEventLoop()
    return redactResult(env.secrets, apart(result), yieldToEventLoop)
  })
  publish(output.end())
  if (ended.end === 'hung') {
    // The end was not observed, so only a call that is safe to repeat counts as failed.
    if (call.effect === 'pure' || call.effect === 'idempotent')
      return failed(timeout(spec.timeLimitMs), ended.durationMs)
    return inDoubt(
      `${call.toolName} had not ended ${ended.durationMs} ms after it began, and nothing tells whether it happened`,
    )
  }
  const change = ended.end === 'error' ? changeIn(ended.error) : null
  if (change !== null) {
    const { tool: changed, message } = change
    const fits = takes(changed.parameters, args)
    return {
      kind: 'tool_changed',
      ...about,
      durationMs: took(),
      tool: env.secrets.json(changed),
      fits,
      reason: env.secrets.text(message),
    }
  }
  if (ended.end === 'error') {
    const broken = ended.timedOut ? timeout(spec.timeLimitMs) : signal.aborted ? (signal.reason as ToolError) : null
    const itsOwn = broken === null || (isToolError(ended.error) && ended.error !== broken)
    return failed(itsOwn ? thrownByTool(ended.error) : broken, took())
  }
  if ('doubt' in ended.value) return inDoubt(ended.value.doubt)
  if ('outdated' in ended.value) {
    const reason = env.secrets.text(ended.value.outdated)
    return { kind: 'files_changed', ...about, durationMs: took(), reason }
  }
  const { durationMs, value } = ended
  try {
    const stored = await withWhole(ports, env.secrets, value, readOn)
    return { kind: 'tool_succeeded', ...about, durationMs, ...stored, ...testRun(state, call, args, value) }
  } catch (error) {
    return failed(thrownByTool(error), took())
  }
}

/** How the agent reads on in a call's result; undefined: it has no tool for it. */
function readingOn(state: AgentState, toolCallId: string): ((from: number) => string) | undefined {
  const reader = readerOf(state.spec.tools)
  if (reader === undefined || denial(state, reader) !== null) return undefined
  return (from) => readOnNote(reader.name, toolCallId, from)
}

/** The error for an aborted attempt: a person cancelled the run, or the driver stops. */
export const brokenOff = ({ cancel }: AgentState): ToolError =>
  cancel === null
    ? new ToolError('INTERRUPTED', 'its driver had to leave it while it was at work; it may have done a part of it')
    : new ToolError('CANCELLED', 'the call was cancelled')

/** Probes a reconcilable call before it runs a second time. Null: the call may run. */
async function probe(
  tool: Tool,
  call: Call,
  args: JsonObject,
  context: ToolContext,
  yieldToEventLoop: YieldToEventLoop,
): Promise<{ result: ToolResult } | { doubt: string } | null> {
  if (!isProbed(call)) return null
  if (tool.probe === undefined) return { doubt: `${call.toolName} has no probe that could tell whether it happened` }
  const probed = await tool.probe(args, context).catch(() => ({ found: 'unknown' }) as const)
  if (probed?.found === 'absent') return null
  if (probed?.found !== 'happened') return { doubt: `a probe could not tell whether ${call.toolName} happened` }
  const happened = probed.result ?? { content: 'This call happened before the driver was lost.' }
  return { result: await inSteps(toolResult(happened), yieldToEventLoop) }
}

const isProbed = ({ effect, stage }: Call) => effect === 'reconcilable' && stage.at === 'running' && stage.probe

/** The end of the run's test command, which the gate `tests_pass` checks. */
function testRun(
  { spec }: AgentState,
  call: Call,
  args: JsonObject,
  { detail }: ToolResult,
): { tested?: { exitCode: number | null } } {
  if (!sameCommand(commandInRoot(call.toolName, args, call.reads), spec.testCommand)) return {}
  return { tested: { exitCode: Number.isSafeInteger(detail?.exitCode) ? (detail?.exitCode as number) : null } }
}

/** `thrown instanceof X` can itself throw if the tool threw a Proxy. */
function changeIn(thrown: unknown): ToolChanged | null {
  try {
    return thrown instanceof ToolChanged ? thrown : null
  } catch {
    return null
  }
}

const isToolError = (error: unknown) => error instanceof Error && error.name === 'ToolError'

const timeout = (ms: number) => new ToolError('TIMEOUT', `no end within ${ms} ms`, { transient: true })

const missing = (call: Call) =>
  new ToolError(
    'RESOURCE_NOT_FOUND',
    `this program has no tool "${call.toolName}"; the run was started with one that had`,
  )
