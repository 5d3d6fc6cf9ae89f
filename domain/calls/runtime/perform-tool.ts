import type { JsonObject } from '../../log/json.ts'
import type { Tool, ToolContext, ToolFailure, ToolResult } from '../../ports/index.ts'
import type { Environment, RuntimePorts } from '../../ports/runtime.ts'
import { destinationOf } from '../../secrets/destinations.ts'
import { limited } from '../../stream/runtime/time-limit.ts'
import { inSteps, type YieldToEventLoop, yielder } from '../../stream/runtime/yield-to-event-loop.ts'
import type { Call } from '../call.ts'
import type { Caller, CallRules } from '../caller.ts'
import { commandInRoot, sameCommand } from '../command-line.ts'
import { ToolChanged, ToolError } from '../errors.ts'
import { takes } from '../plan-calls.ts'
import { thrownByTool } from '../thrown-errors.ts'
import type { ToolOutcome, ToolSucceeded } from '../tools/tool-outcome.ts'
import { toolResult } from '../tools/tool-result.ts'
import type { ToolSpec } from '../tools/tool-spec.ts'
import { changedSinceApproval } from './approved-files.ts'
import { ledElsewhere } from './paths.ts'
import { redactedSandbox, redactResult, thenRefreshed } from './redact-result.ts'
import { traceParentOf } from './trace-parent.ts'
import { apart, withWhole } from './whole-result.ts'

/** An attempt of a call whose intent is in the log. */
export interface CallAttempt {
  readonly ports: RuntimePorts
  readonly env: Environment
  readonly caller: Caller
  readonly call: Call
  /** The recorded arguments; null: they cannot be read. */
  readonly args: JsonObject | null
  readonly stream: string
  readonly signal: AbortSignal
}

/** How an agent performs its control tools, and how it reads on in a truncated result. */
export interface Performing<Performed> {
  /** The time limit of a control call, ms. */
  limitMs(tool: ToolSpec): number
  performControl(args: JsonObject, signal: AbortSignal): Promise<Performed>
  /** A note on how to read on from a byte offset; absent: the agent has no tool for it. */
  readonly readOn?: ((from: number) => string) | undefined
}

/** Performs an attempt whose intent is in the log. Returns its redacted outcome. */
export async function performTool<Performed extends Pick<ToolSucceeded, 'result'>>(
  { ports, env, caller, call, args, stream, signal }: CallAttempt,
  { limitMs, performControl, readOn }: Performing<Performed>,
): Promise<ToolOutcome | (ToolSucceeded & Performed)> {
  const about = { toolCallId: call.id, toolName: call.toolName, attempt: call.attempt }
  const spec = caller.spec.tools.find((one) => one.name === call.toolName)
  const tool = env.tool(call.toolName)
  const started = ports.clock.now()
  const took = () => Math.max(0, Math.round(ports.clock.now() - started))
  const failed = (error: ToolFailure, durationMs: number): ToolOutcome => {
    const { transient, beforeEffect = false } = error
    const code = env.secrets.text(error.code) === error.code ? error.code : 'EXECUTION_FAILED'
    const message = env.secrets.text(error.message)
    return { kind: 'tool_failed', ...about, durationMs, error: { code, message, transient, beforeEffect } }
  }
  const inDoubt = (reason: string): ToolOutcome => ({ kind: 'tool_in_doubt', ...about, reason })

  if (args === null) {
    const why = `the arguments of ${call.toolName} cannot be read from the answer in the log`
    // An earlier attempt may have happened.
    return isProbed(call) ? inDoubt(why) : failed(new ToolError('INVALID_ARGUMENTS', why, { beforeEffect: true }), 0)
  }
  if (spec === undefined) return failed(missing(call), 0)
  if (spec.control) {
    const limit = limitMs(spec)
    const ended = await limited(ports.clock, limit, signal, (own) => performControl(args, own))
    if (ended.end === 'value') return { kind: 'tool_succeeded', ...about, durationMs: ended.durationMs, ...ended.value }
    return failed(ended.end === 'hung' ? timeout(limit) : thrownByTool(ended.error), ended.durationMs)
  }
  if (tool === undefined) return failed(missing(call), 0)

  const { runId, agentId, turn = 0 } = caller
  const output = env.secrets.stream()
  let isOver = false
  const publish = (text: string) => {
    if (text !== '' && !isOver) ports.feed.publish({ runId, agentId, turn, kind: 'output', toolCallId: call.id, text })
  }
  const context = (own: AbortSignal): ToolContext => ({
    runId,
    agentId,
    toolCallId: call.id,
    attempt: call.attempt,
    tool: spec,
    causationId: `${stream}@${call.since}`,
    correlationId: caller.correlation,
    traceParent: () => traceParentOf(ports.log, runId, stream, call.since, ports.adoptsTraces ?? false),
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
    // No secret goes to a host that the settings have put in the place of the recorded one.
    const sendsTo = tool.spec.sendsTo === spec.sendsTo ? spec.sendsTo : undefined
    const resolved = await env.secrets.resolve(args, call.toolName, sendsTo)
    const to = resolved === args ? null : destinationOf({ name: call.toolName, sendsTo }, args)
    const forTool: ToolContext = {
      ...context(own),
      ...(to?.kind === 'host' && to.host !== null && { secretsTo: to.host }),
    }
    const probed = await probe(tool, call, resolved, forTool, yieldToEventLoop)
    if (probed !== null && 'doubt' in probed) return probed
    const changed = probed === null ? await changedSinceApproval(env.workspace, call, caller.hashSalt) : null
    if (changed !== null) return { outdated: changed }
    const run = async () => inSteps(toolResult(await tool.run(resolved, forTool)), yieldToEventLoop)
    const { result } = probed ?? { result: await thenRefreshed(env.secrets, run) }
    // A failed redaction counts as a tool failure, like any other malformed result.
    await yieldToEventLoop()
    return redactResult(env.secrets, apart(result), yieldToEventLoop)
  })
  publish(output.end())
  // A tool that did not stop at its time limit can still write.
  isOver = true
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
    return { kind: 'tool_succeeded', ...about, durationMs, ...stored, ...testRun(caller.spec, call, args, value) }
  } catch (error) {
    return failed(thrownByTool(error), took())
  }
}

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
  { testCommand }: CallRules,
  call: Call,
  args: JsonObject,
  { detail }: ToolResult,
): { tested?: { exitCode: number | null } } {
  if (!sameCommand(commandInRoot(call.toolName, args, call.reads), testCommand)) return {}
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
