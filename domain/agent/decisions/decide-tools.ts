import type { JsonObject } from '../../log/json.ts'
import type { ToolResult } from '../../ports.ts'
import { AdvancePhase, CompleteTask, SetContext } from '../definition/control-tools.ts'
import { graceIsOver } from '../rules/recovery.ts'
import { backoff, judgeRetry } from '../rules/retry.ts'
import { targetPhase } from '../state/phases.ts'
import { type Call, type CallStage, callsOf, recoveryOf } from '../state/state.ts'
import type { Findings, OutcomeCommand } from './commands.ts'
import { lateOutcome } from './decide-late.ts'
import type { Deciding } from './deciding.ts'
import { endCall, endTurn, failCall } from './endings.ts'

// Outcomes of tool calls.

type ToolFact = Extract<OutcomeCommand, { kind: 'tool_succeeded' | 'tool_failed' | 'tool_in_doubt' }>
type Succeeded = Extract<OutcomeCommand, { kind: 'tool_succeeded' }>

/** Where the last attempt's end is still of use. */
const UNSETTLED: ReadonlySet<CallStage['at']> = new Set<CallStage['at']>(['running', 'doubt', 'resolved'])

export function decideToolFact(d: Deciding, fact: ToolFact): void {
  const call = callsOf(d.state).find((one) => one.id === fact.toolCallId)
  // An outcome counts for the attempt it belongs to, whoever brings it: what a person has let run anew is not begun once its
  // end is known after all.
  if (call?.attempt !== fact.attempt || !UNSETTLED.has(call.stage.at)) return lateOutcome(d, fact)
  if (fact.kind === 'tool_succeeded') return succeeded(d, call, fact)
  if (fact.kind === 'tool_in_doubt') {
    const { attempt, reason } = fact
    if (call.stage.at === 'running') d.emit('tool_call_unknown', { attempt, reason }, { toolCallId: call.id })
    return
  }
  failed(d, call, fact)
}

function failed(d: Deciding, call: Call, fact: Extract<OutcomeCommand, { kind: 'tool_failed' }>): void {
  const { code, message } = fact.error
  const verdict = judgeRetry(d.state.spec.retry, call, fact.error)
  if (verdict.retry && call.stage.at === 'running' && d.state.cancel === null) {
    const delayMs = backoff(d.state.spec.retry, call.signatures.length + 1, d.context.jitter())
    const retry = { attempt: call.attempt + 1, error: { code, message }, delayMs, signature: verdict.signature }
    d.emit('tool_call_retry', retry, { toolCallId: call.id })
    return
  }
  const tried = call.attempt - call.lost
  const exhausted = !verdict.retry && verdict.exhausted && tried > 1
  const error = exhausted
    ? { code: 'RETRY_EXHAUSTED', message: `${tried} attempts failed, the last with ${code}: ${message}` }
    : { code, message: tried > 1 ? `${message} (attempt ${tried})` : message }
  failCall(d, call, error, { durationMs: fact.durationMs })
}

function succeeded(d: Deciding, call: Call, fact: Succeeded): void {
  switch (call.toolName) {
    case 'complete_task':
      return completed(d, call, fact)
    case 'advance_phase':
      return advanced(d, call, fact)
    case 'set_context': {
      const { key } = SetContext.parse(argumentsOf(fact.result))
      d.emit('context_set', { key, given: call.given }, { toolCallId: call.id })
      return endCall(d, call, { ...fact, result: { content: `"${key}" is set` } })
    }
    default:
      return endCall(d, call, fact)
  }
}

/** A control tool's performer hands its checked arguments on as `detail`. */
const argumentsOf = (result: ToolResult): JsonObject => result.detail ?? {}

const NOTHING_FOUND: Findings = { gates: [], artifacts: [] }

/** Seed 000, 5.1: the only way to DONE. Recovery asks for no gate and leaves input unread (CONTRACTS 1, 2). */
function completed(d: Deciding, call: Call, fact: Succeeded): void {
  const { summary, artifacts = [], nextSteps } = CompleteTask.parse(argumentsOf(fact.result))
  const findings = fact.findings ?? NOTHING_FOUND
  const recovering = recoveryOf(d.state.machine) !== null
  if (d.state.unread > 0 && !recovering) {
    failCall(d, call, {
      code: 'CONFLICT',
      message: 'the user has said something that you have not read; it is shown next',
    })
    return
  }
  if (graceIsOver(d.state, d.context.now)) {
    failCall(d, call, { code: 'TIMEOUT', message: 'the grace time has passed' })
    return
  }
  checkGates(d, call, findings)
  const unmet = findings.gates.filter((gate) => !gate.passed)
  if (unmet.length > 0 && !recovering) return failGate(d, call, unmet)
  for (const artifact of findings.artifacts) d.emit('artifact_registered', { artifact }, { toolCallId: call.id })
  endCall(d, call, { ...fact, result: { content: 'completed' } })
  endTurn(d, 'calls')
  const { turn, unread } = d.state
  if (recovering) d.emit('recovery', { phase: 'succeeded' }, { turn })
  const next = nextSteps === undefined ? {} : { nextSteps }
  const unmetGates = unmet.map((gate) => gate.gate)
  d.emit('completion', { summary, artifacts, ...next, unmetGates, unreadInput: unread }, { turn })
}

/** CONTRACTS 10: artifacts first, then the gates of what is left or jumped over, then the phase. */
function advanced(d: Deciding, call: Call, fact: Succeeded): void {
  const { summary, to } = AdvancePhase.parse(argumentsOf(fact.result))
  const findings = fact.findings ?? NOTHING_FOUND
  for (const artifact of findings.artifacts) d.emit('artifact_registered', { artifact }, { toolCallId: call.id })
  checkGates(d, call, findings)
  const unmet = findings.gates.filter((gate) => !gate.passed)
  if (unmet.length > 0) return failGate(d, call, unmet)
  const target = targetPhase(d.state, to)
  if ('refusal' in target) return failCall(d, call, { code: 'INVALID_ARGUMENTS', message: target.refusal })
  d.emit('phase_advanced', { from: d.state.phase, to: target.phase, summary }, { toolCallId: call.id })
  const tools = d.state.spec.role?.phases.find((phase) => phase.name === target.phase)?.allowedTools ?? []
  const content = `You are now in phase "${target.phase}". Its tools: ${tools.join(', ') || 'none; answer in text'}.`
  endCall(d, call, { ...fact, result: { content } })
}

function checkGates(d: Deciding, call: Call, { gates }: Findings): void {
  for (const { gate, after, passed, evidence } of gates) {
    d.emit('gate_checked', { gate, after, passed, evidence }, { toolCallId: call.id })
  }
}

function failGate(d: Deciding, call: Call, unmet: Findings['gates']): void {
  const why = unmet.map(({ gate, after, evidence }) => `${gate} (after ${after}): ${evidence}`).join('; ')
  failCall(d, call, { code: 'GATE_FAILED', message: `a quality gate does not hold: ${why}` })
}
